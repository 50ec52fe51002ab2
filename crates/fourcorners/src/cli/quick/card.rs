//! The card: the numbers in the order in which CrystalDiskMark and KDiskMark have them, to paste.

use fourcorners_lab::review::{QUICK_ROWS, QUICK_RUNS, QuickRow, READ_SHARE, runs_of};
use fourcorners_record::{ClockName, Data, Ended, Figure, Record, TargetKind};
use serde_json::{Value, json};

use super::full_review::FullReview;
use crate::cli::terminal::paragraph;

/// One direction of a row.
struct Side {
    mb_per_s: f64,
    iops: f64,
    mean_us: f64,
    p99_us: f64,
    /// How far the slowest run is below the fastest, percent.
    spread_percent: Option<f64>,
    runs_mb_per_s: Vec<f64>,
}

struct Row {
    name: &'static str,
    read: Option<Side>,
    write: Option<Side>,
}

/// What a quick record says, in the forms in which it is printed.
pub(super) struct Card<'a> {
    record: &'a Record,
    more: Option<&'a FullReview>,
    rows: Vec<Row>,
}

impl<'a> Card<'a> {
    /// `more` is what a full review would add, where that could be told.
    pub(super) fn of(record: &'a Record, more: Option<&'a FullReview>) -> Card<'a> {
        let rows = QUICK_ROWS.iter().map(|row| row_of(record, row)).collect();
        Card { record, more, rows }
    }

    /// Text for a terminal and for a forum.
    pub(super) fn plain(&self) -> String {
        let mut text =
            format!("{}\n{}\n\n", paragraph(&self.title()), paragraph(&self.conditions()));
        let heading = ["", "read MB/s", "write MB/s", "read IOPS", "write IOPS", "read", "write"];
        text += &line(heading.map(String::from), "spread");
        for row in &self.rows {
            let [read, write] = [&row.read, &row.write].map(|side| cells(side.as_ref()));
            let [[read_mb, read_iops, read_us], [write_mb, write_iops, write_us]] = [read, write];
            let cells =
                [row.name.into(), read_mb, write_mb, read_iops, write_iops, read_us, write_us];
            text += &line(cells, &spread(row));
        }
        let legend = "read, write: mean latency, of MIX70 that of both; spread: by how much the slowest run is \
                      below the fastest";
        text += &format!("\n{}\n", paragraph(legend));
        for note in self.notes() {
            text += &format!("{}\n", paragraph(note));
        }
        if let Some(FullReview { sentence, command }) = self.more {
            text += &format!("\n{}\n  {command}\n", paragraph(&format!("{sentence}:")));
        }
        text
    }

    /// The same as Markdown.
    pub(super) fn markdown(&self) -> String {
        let mut text = format!("**{}**\n\n{}\n\n", self.title(), self.conditions());
        text += "| | read MB/s | write MB/s | read IOPS | write IOPS | read latency | write latency | spread |\n";
        text += "|---|--:|--:|--:|--:|--:|--:|--:|\n";
        for row in &self.rows {
            let [read, write] = [&row.read, &row.write].map(|side| cells(side.as_ref()));
            let cells = [
                row.name,
                &read[0],
                &write[0],
                &read[1],
                &write[1],
                &read[2],
                &write[2],
                &spread(row),
            ];
            text += &format!("| {} |\n", cells.join(" | "));
        }
        for note in self.notes() {
            text += &format!("\n{note}\n");
        }
        if let Some(FullReview { sentence, command }) = self.more {
            text += &format!("\n{sentence}: `{command}`\n");
        }
        text
    }

    /// The same as JSON, `fourcorners.quick/1`.
    pub(super) fn json(&self) -> String {
        let side = |side: &Option<Side>| {
            side.as_ref().map(|side| {
                json!({
                    "mb_per_s": side.mb_per_s, "iops": side.iops, "latency_mean_us": side.mean_us,
                    "latency_p99_us": side.p99_us, "spread_percent": side.spread_percent,
                    "runs_mb_per_s": side.runs_mb_per_s,
                })
            })
        };
        let rate = |side: &Option<Side>| side.as_ref().map(|side| side.mb_per_s);
        let row = |row: &Row| {
            json!({
                "name": row.name, "read_mb_per_s": rate(&row.read),
                "write_mb_per_s": rate(&row.write), "read": side(&row.read),
                "write": side(&row.write),
            })
        };
        let record = self.record;
        let document = json!({
            "schema": "fourcorners.quick/1",
            "target": record.target,
            "clock": record.clock,
            "span_bytes": self.any_figure().map(|figure| figure.job.span_bytes),
            "runs": QUICK_RUNS,
            "rows": self.rows.iter().map(row).collect::<Vec<Value>>(),
            "ended": record.ended,
            "notes": self.notes().collect::<Vec<_>>(),
            "full_review": self.more.map(|more| format!("{}: {}", more.sentence, more.command)),
            "record": record.id,
            "version": record.version,
            "started_at": record.started_at,
        });
        format!("{document:#}")
    }

    fn title(&self) -> String {
        let target = &self.record.target;
        let mut parts = vec![target.title_as_set_up()];
        if target.title != target.name {
            parts.push(target.name.clone());
        }
        parts.extend(target.serial.as_ref().map(|serial| format!("serial {serial}")));
        parts.extend(target.firmware.as_ref().map(|firmware| format!("firmware {firmware}")));
        parts.push(fourcorners_words::size(target.capacity_bytes));
        parts.join(", ")
    }

    fn conditions(&self) -> String {
        let record = self.record;
        let kind = match (record.target.kind, record.clock) {
            (TargetKind::Virtual, _) => "virtual drive, its own clock",
            (TargetKind::Device, _) => "block device",
            (TargetKind::File, _) => "file",
        };
        let span = self.any_figure().map(|figure| {
            let data = match figure.job.data {
                Data::Incompressible => ", incompressible data",
                Data::Repeating | Data::Compressible(_) => "",
            };
            format!(", {} tested{data}", fourcorners_words::size(figure.job.span_bytes))
        });
        let host = match (&record.host, record.clock) {
            (Some(host), ClockName::Wall) => format!(", Linux {}", host.kernel),
            _ => String::new(),
        };
        let (span, version) = (span.unwrap_or_default(), &record.version);
        format!("{kind}{span}, best of {QUICK_RUNS} runs, fourcorners {version}{host}")
    }

    fn any_figure(&self) -> Option<&Figure> {
        self.record.figures.values().next()
    }

    /// What is left out or limited, and was not said by the numbers.
    fn notes(&self) -> impl Iterator<Item = &str> {
        let told = self.record.notes.iter().filter(|note| note.about != READ_SHARE);
        let stopped = match self.record.ended {
            Ended::Complete => None,
            _ => Some("Not all of it was measured."),
        };
        told.map(|note| note.text.as_str()).chain(stopped)
    }
}

fn row_of(record: &Record, row: &QuickRow) -> Row {
    let side = |figure: Option<&str>| side_of(record, figure?, 1.0);
    match row.mixed {
        None => Row { name: row.name, read: side(row.read), write: side(row.write) },
        Some(mixed) => {
            let share = record.notes.iter().find(|note| note.about == READ_SHARE);
            let share = share.and_then(|note| note.value);
            let part = |share: Option<f64>| side_of(record, mixed, share?);
            Row { name: row.name, read: part(share), write: part(share.map(|reads| 1.0 - reads)) }
        }
    }
}

/// A share of a figure's rates; the latency of a mixed figure is that of both kinds.
fn side_of(record: &Record, name: &str, share: f64) -> Option<Side> {
    let figure = record.figures.get(name)?;
    let runs = record.curves.get(&runs_of(name)).map(|curve| &curve.points[..]).unwrap_or(&[]);
    let runs: Vec<f64> = runs.iter().map(|&(_, mb_per_s)| mb_per_s * share).collect();
    let (slowest, fastest) = runs
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), &run| (low.min(run), high.max(run)));
    let spread = (runs.len() > 1 && fastest > 0.0).then(|| (fastest - slowest) / fastest * 100.0);
    Some(Side {
        mb_per_s: figure.mb_per_s * share,
        iops: figure.iops * share,
        mean_us: figure.latency_us.mean,
        p99_us: figure.latency_us.p99,
        spread_percent: spread,
        runs_mb_per_s: runs,
    })
}

const NOT_RUN: &str = "-";

/// MB/s, IOPS and mean latency.
fn cells(side: Option<&Side>) -> [String; 3] {
    match side {
        None => [NOT_RUN; 3].map(String::from),
        Some(side) => {
            let latency = fourcorners_words::time(side.mean_us);
            [format!("{:.2}", side.mb_per_s), format!("{:.0}", side.iops), latency]
        }
    }
}

/// That of the reads, and that of the writes.
fn spread(row: &Row) -> String {
    let spread = |side: &Option<Side>| side.as_ref().and_then(|side| side.spread_percent);
    match (spread(&row.read), spread(&row.write)) {
        (None, None) => NOT_RUN.into(),
        (Some(one), None) | (None, Some(one)) => format!("{one:.0} %"),
        (Some(read), Some(write)) => format!("{read:.0}, {write:.0} %"),
    }
}

/// A line of the plain card, 80 characters at most.
fn line(cells: [String; 7], spread: &str) -> String {
    let [name, read_mb, write_mb, read_iops, write_iops, read_us, write_us] = cells;
    let line = format!(
        "{name:<11}{read_mb:>10}{write_mb:>11}{read_iops:>10}{write_iops:>11}{read_us:>9}{write_us:>9}{spread:>9}"
    );
    format!("{}\n", line.trim_end())
}
