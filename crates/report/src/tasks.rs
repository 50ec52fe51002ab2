//! Replays of a review: the storage bench and the tasks, for the page and for a terminal.
//!
//! Both are compared side by side, drives of one clock only: the bench in minutes, the tasks by what a
//! person notices. Within a tenth of each other two drives make no difference to who waits: that is said,
//! because bars do not say it.

use comfy_table::{Attribute, Cell, CellAlignment, Color, LineStyle, Table};
use fourcorners_record::{ClockName, Record, Replay, ReplayFigure};
use maud::{Markup, html};

use super::entries::{Entries, Entry};
use super::table::plain;
use super::words::{bytes, clock_words, figure_words, micros, percent, rate, thousands};

/// The method whose replays are told in seconds.
const TASKS: &str = "tasks";
/// Drives this near to each other are the same to a person who waits.
const NOTICED: f64 = 0.10;

/// Minutes from which on hours of work are told in them.
const LEAST_MINUTES: f64 = 2.0;

/// Whether two drives were given the same to do.
fn are_alike(one: &Replay, other: &Replay) -> bool {
    (&one.card, &one.pace, one.idle_cap_ms) == (&other.card, &other.pace, other.idle_cap_ms)
}

/// Whether the replays of a record are tasks.
pub(super) fn are_tasks(record: &Record) -> bool {
    record.method == TASKS
}

/// The name of a replay among those of its record.
fn title<'a>(name: &'a str, replay: &'a Replay) -> &'a str {
    replay.title.as_deref().unwrap_or(name)
}

fn seconds(value: f64) -> String {
    micros(value * 1e6)
}

/// The replays of a record by name, `trace replay`'s own among them.
pub(super) fn replays(record: &Record) -> impl Iterator<Item = (&str, &Replay)> {
    let one = record.replay.iter().map(|replay| (replay.card.trace.as_str(), replay));
    one.chain(record.replays.iter().map(|(name, replay)| (name.as_str(), replay)))
}

/// Tasks of one record: a line each.
pub(super) fn task_table(record: &Record, mut table: Table) -> Table {
    table.style_mut().header_separator = LineStyle::none().fill('─').junction('─');
    let headings =
        ["", "takes", "drive\nworks", "read", "written", "I/Os", "service\nmean", "over\n10 ms"];
    table.set_header(headings.map(|heading| {
        Cell::new(heading).set_alignment(CellAlignment::Right).add_attribute(Attribute::Bold)
    }));
    for (name, replay) in &record.replays {
        for figure in replay.figures.values() {
            let words = plain(title(name, replay));
            let name = match figure.complete {
                true => Cell::new(words),
                false => Cell::new(format!("{words} (incomplete)")).fg(Color::Yellow),
            };
            let numbers = cells(figure).map(|text| right(&text));
            table.add_row(std::iter::once(name).chain(numbers));
        }
    }
    padded(table)
}

/// What is told of a task, as [`task_table`] heads it.
fn cells(figure: &ReplayFigure) -> [String; 7] {
    [
        seconds(figure.elapsed_s),
        seconds(figure.busy_s),
        bytes(figure.reads.bytes),
        bytes(figure.writes.bytes),
        thousands(figure.all.ios),
        micros(figure.all.service_us),
        percent(figure.all.over_10_ms),
    ]
}

fn right(text: &str) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

fn padded(mut table: Table) -> Table {
    for column in table.column_iter_mut().skip(1) {
        column.set_padding((1, 0));
    }
    table
}

/// What is put side by side.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// What a person waits for.
    Tasks,
    /// Hours of work.
    Bench,
}

impl Kind {
    fn is_of(self, record: &Record) -> bool {
        are_tasks(record) == (self == Kind::Tasks) && replays(record).next().is_some()
    }

    fn heading(self) -> &'static str {
        match self {
            Kind::Tasks => "Tasks side by side",
            Kind::Bench => "Storage bench side by side",
        }
    }
}

/// The drives of one clock side by side.
struct Side<'e, 'a> {
    kind: Kind,
    clock: ClockName,
    quick: bool,
    entries: Vec<&'e Entry<'a>>,
    rows: Vec<Row<'a>>,
}

/// A task, or a trace from one state, on each of the drives.
struct Row<'a> {
    kind: Kind,
    title: String,
    /// At the recorded pace all drives take as long as the recording: what differs is how long they worked.
    at_its_pace: bool,
    figures: Vec<Option<&'a ReplayFigure>>,
}

impl Row<'_> {
    /// What the difference from the fastest to the slowest is to a person; nothing with less than two drives that finished.
    fn difference(&self) -> Option<String> {
        let done = self.figures.iter().flatten().filter(|figure| figure.complete);
        let times: Vec<f64> = done.map(|figure| self.took(figure)).collect();
        let least = times.iter().copied().reduce(f64::min)?;
        let most = times.iter().copied().reduce(f64::max)?;
        if times.len() < 2 || least <= 0.0 {
            return None;
        }
        let more = most / least - 1.0;
        Some(match self.kind {
            Kind::Tasks if more <= NOTICED => {
                format!("no difference you would notice ({})", percent(more))
            }
            _ if more < 1.0 => {
                format!("{} longer, {} more", self.time(most - least), percent(more))
            }
            _ => format!("{} longer, {:.1} times", self.time(most - least), most / least),
        })
    }

    /// The seconds that are compared.
    fn took(&self, figure: &ReplayFigure) -> f64 {
        if self.at_its_pace { figure.busy_s } else { figure.elapsed_s }
    }

    fn time(&self, value: f64) -> String {
        let longest = self.figures.iter().flatten().map(|it| self.took(it)).fold(0.0, f64::max);
        match self.kind {
            Kind::Bench if longest >= LEAST_MINUTES * 60.0 => format!("{:.1} min", value / 60.0),
            _ => seconds(value),
        }
    }

    /// How long it took.
    fn told(&self, figure: Option<&ReplayFigure>) -> String {
        match figure {
            Some(figure) if figure.complete && self.at_its_pace => {
                format!("{} busy", self.time(figure.busy_s))
            }
            Some(figure) if figure.complete => self.time(figure.elapsed_s),
            Some(_) => "incomplete".into(),
            None => "not run".into(),
        }
    }
}

/// All that two or more drives did on one clock, in quick reviews or in full ones, and did alike: the same I/Os of a trace, at one
/// pace.
fn side_by_side<'e, 'a>(all: &'e Entries<'a>, kind: Kind) -> Vec<Side<'e, 'a>> {
    let mut sides: Vec<Side<'e, 'a>> = Vec::new();
    for entry in all.all.iter().filter(|entry| kind.is_of(entry.record)) {
        let (clock, quick) = (entry.record.clock, entry.record.quick);
        match sides.iter_mut().find(|side| (side.clock, side.quick) == (clock, quick)) {
            Some(side) => side.entries.push(entry),
            None => {
                sides.push(Side { kind, clock, quick, entries: vec![entry], rows: Vec::new() });
            }
        }
    }
    sides.retain(|side| side.entries.len() > 1);
    for side in &mut sides {
        let mut wanted: Vec<(&str, &str, &Replay)> = Vec::new();
        for (name, replay) in side.entries.iter().flat_map(|entry| replays(entry.record)) {
            for state in replay.figures.keys() {
                let known = |(other, of, as_here): &(&str, &str, &Replay)| {
                    (*other, *of) == (name, state.as_str()) && are_alike(as_here, replay)
                };
                if !wanted.iter().any(known) {
                    wanted.push((name, state, replay));
                }
            }
        }
        let row = |(name, state, replay): (&str, &str, &Replay)| Row {
            kind,
            title: match kind {
                Kind::Tasks => title(name, replay).to_string(),
                Kind::Bench => format!("{}, {}", title(name, replay), figure_words(state)),
            },
            at_its_pace: replay.pace == "recorded",
            figures: side
                .entries
                .iter()
                .map(|entry| {
                    let mut own = replays(entry.record);
                    let (_, own) = own.find(|it| it.0 == name && are_alike(it.1, replay))?;
                    own.figures.get(state)
                })
                .collect(),
        };
        side.rows = wanted.into_iter().map(row).collect();
    }
    sides
}

/// The tables of what is side by side for a terminal: a heading, and the table.
pub(super) fn compared(all: &Entries, new: impl Fn() -> Table) -> Vec<(String, Table)> {
    let table = |side: Side<'_, '_>| {
        let mut table = new();
        table.style_mut().header_separator = LineStyle::none().fill('─').junction('─');
        let labels = side.entries.iter().map(|entry| plain(&entry.label));
        let headings = std::iter::once(String::new()).chain(labels).chain(["difference".into()]);
        table.set_header(headings.map(|it| Cell::new(it).add_attribute(Attribute::Bold)));
        for row in &side.rows {
            let times = row.figures.iter().map(|figure| right(&row.told(*figure)));
            let difference = Cell::new(row.difference().unwrap_or_default());
            let title = std::iter::once(Cell::new(plain(&row.title)));
            table.add_row(title.chain(times).chain([difference]));
        }
        let quick = if side.quick { ", quick" } else { "" };
        let heading = format!("{}, {}{quick}", side.kind.heading(), clock_words(side.clock));
        (heading, padded(table))
    };
    let sides = [Kind::Bench, Kind::Tasks].into_iter().flat_map(|kind| side_by_side(all, kind));
    sides.map(table).collect()
}

/// The chapter of the tasks; nothing without any.
pub(super) fn sections(all: &Entries) -> Option<Markup> {
    let entries: Vec<&Entry> = all
        .all
        .iter()
        .filter(|entry| are_tasks(entry.record) && !entry.record.replays.is_empty())
        .collect();
    (!entries.is_empty()).then(|| {
        html! {
            p {
                "What a person waits for, from the first I/O to the last, with the time in which the \
                 computer thinks. In that time no drive makes a difference."
                @if let Some(cap) = quick_pause_ms(&entries) {
                    " A quick review cuts each pause to " (cap) " ms: its times are not what a person waits for, and stand apart."
                }
            }
            @for side in side_by_side(all, Kind::Tasks) { (side_table(all, &side)) }
            @for entry in entries {
                div.wide tabindex="0" role="region" aria-label=(format!("Tasks of {}", entry.label)) {
                    table {
                        caption { span { strong { (entry.label_with_clock(all)) } } }
                        thead { tr {
                            th scope="col" { "Task" }
                            @for heading in
                                ["takes", "drive works", "read", "written", "I/Os", "service, mean", "over 10 ms"]
                            { th scope="col" { (heading) } }
                        } }
                        tbody { @for (name, replay) in &entry.record.replays {
                            @for figure in replay.figures.values() { tr {
                                th scope="row" {
                                    (title(name, replay))
                                    @if !figure.complete { " " span.badge.warn { "incomplete" } }
                                }
                                @for cell in cells(figure) { td { (cell) } }
                            } }
                        } }
                    }
                }
            }
            (cards(all, true))
        }
    })
}

/// The longest pause of the quick reviews, milliseconds; `None` where there are none.
fn quick_pause_ms(entries: &[&Entry]) -> Option<f64> {
    let quick = entries.iter().filter(|entry| entry.record.quick);
    quick.flat_map(|entry| replays(entry.record)).find_map(|(_, replay)| replay.idle_cap_ms)
}

fn side_table(all: &Entries, side: &Side<'_, '_>) -> Markup {
    html! {
        div.wide tabindex="0" role="region" aria-label=(side.kind.heading()) {
            table {
                caption { span {
                    "Side by side: how long each takes"
                    @if all.mixed_clocks { ", " (clock_words(side.clock)) }
                    @if side.quick { ", quick reviews" }
                } }
                thead { tr {
                    th scope="col" { @if side.kind == Kind::Tasks { "Task" } @else { "Trace" } }
                    @for entry in &side.entries { th scope="col" { (entry.label) } }
                    th.text scope="col" { "Difference" }
                } }
                tbody { @for row in &side.rows { tr {
                    th scope="row" { (row.title) }
                    @for figure in &row.figures { td { (row.told(*figure)) } }
                    td.text { (row.difference().unwrap_or_default()) }
                } } }
            }
        }
    }
}

/// The chapter of the storage bench; nothing without any.
pub(super) fn bench_sections(all: &Entries) -> Option<Markup> {
    let has = |entry: &&Entry| !are_tasks(entry.record) && replays(entry.record).next().is_some();
    let entries: Vec<&Entry> = all.all.iter().filter(has).collect();
    (!entries.is_empty()).then(|| {
        html! {
            p {
                "Data rate is bytes over busy time, the time with at least one I/O in the drive. \
                 Service time is from submission to completion."
            }
            @for side in side_by_side(all, Kind::Bench) { (side_table(all, &side)) }
            @for entry in entries { (bench_table(all, entry)) }
            (cards(all, false))
        }
    })
}

fn bench_table(all: &Entries, entry: &Entry) -> Markup {
    html! {
        div.wide tabindex="0" role="region" aria-label=(format!("Storage bench of {}", entry.label)) {
            table {
                caption { span { strong { (entry.label_with_clock(all)) } } }
                thead { tr {
                    th scope="col" { "Trace" }
                    @for heading in [
                        "MB/s", "read", "written", "service, mean", "busy", "over 1 ms", "10 ms",
                        "100 ms", "p50", "p99", "p99.9", "max",
                    ] { th scope="col" { (heading) } }
                } }
                tbody { @for (name, replay) in replays(entry.record) {
                    @for (state, figure) in &replay.figures { tr {
                        th scope="row" {
                            (title(name, replay)) br; small { (figure_words(state)) }
                            @if !figure.complete { " " span.badge.warn { "incomplete" } }
                        }
                        td.main { (rate(figure.mb_per_s)) }
                        td { (rate(figure.reads.mb_per_s)) }
                        td { (rate(figure.writes.mb_per_s)) }
                        td { (micros(figure.all.service_us)) }
                        td { (seconds(figure.busy_s)) }
                        @for share in
                            [figure.all.over_1_ms, figure.all.over_10_ms, figure.all.over_100_ms]
                        { td { (percent(share)) } }
                        @let latency = figure.all.latency_us;
                        @for us in [latency.p50, latency.p99, latency.p999, latency.max] {
                            td { (micros(us)) }
                        }
                    } }
                } }
            }
        }
    }
}

/// What is in the traces, each once, whatever number of drives it was replayed on.
fn cards(all: &Entries, of_tasks: bool) -> Markup {
    let mut shown: Vec<(&str, &Replay)> = Vec::new();
    for entry in all.all.iter().filter(|entry| are_tasks(entry.record) == of_tasks) {
        for (name, replay) in replays(entry.record) {
            if shown.iter().all(|(_, known)| known.card != replay.card) {
                shown.push((name, replay));
            }
        }
    }
    html! {
        details {
            summary { span { "What is in them" } }
            div.wide tabindex="0" role="region" aria-label="Cards of the traces" {
                table {
                    thead { tr {
                        th.text scope="col" { "Trace" }
                        @for heading in [
                            "reads", "read", "writes", "written", "flushes", "sequential",
                            "at most 4 KiB", "queue depth", "think time",
                        ] { th scope="col" { (heading) } }
                    } }
                    tbody { @for (name, replay) in shown { (card_row(name, replay)) } }
                }
            }
        }
    }
}

fn card_row(name: &str, replay: &Replay) -> Markup {
    let card = &replay.card;
    let small = card.sizes.iter().filter(|bin| bin.up_to.is_some_and(|up_to| up_to <= 4096));
    let small = small.map(|bin| bin.reads.saturating_add(bin.writes)).fold(0, u64::saturating_add);
    let share = small as f64 / card.reads.saturating_add(card.writes).max(1) as f64;
    html! {
        tr {
            th.text scope="row" { (title(name, replay)) br; small { (card.trace) } }
            td { (thousands(card.reads)) }
            td { (bytes(card.read_bytes)) }
            td { (thousands(card.writes)) }
            td { (bytes(card.write_bytes)) }
            td { (thousands(card.flushes)) }
            td { (percent(card.sequential.all)) }
            td { (percent(share)) }
            td { @match card.mean_queue_depth {
                Some(depth) => (format!("{depth:.2}")),
                None => "not known",
            } }
            td { (seconds(card.think_us.sum_s)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourcorners_record::{Latency, ReplayPart};

    fn took(elapsed_s: f64, complete: bool) -> ReplayFigure {
        let zero = Latency {
            min: 0.0,
            mean: 0.0,
            p50: 0.0,
            p90: 0.0,
            p99: 0.0,
            p999: 0.0,
            p9999: 0.0,
            max: 0.0,
        };
        let part = ReplayPart {
            ios: 1,
            bytes: 4096,
            mb_per_s: 1.0,
            service_us: 1.0,
            latency_us: zero,
            over_1_ms: 0.0,
            over_10_ms: 0.0,
            over_100_ms: 0.0,
        };
        ReplayFigure {
            state: "filled".into(),
            mb_per_s: 1.0,
            busy_s: 1.0,
            elapsed_s,
            mean_queue_depth: 1.0,
            waited_s: 0.0,
            all: part.clone(),
            reads: part.clone(),
            writes: part,
            write_amplification: None,
            joules: None,
            cache: None,
            members: Vec::new(),
            cpu_us_per_io: None,
            complete,
        }
    }

    #[test]
    fn a_tenth_is_not_noticed_and_more_is() {
        let difference_at = |at_its_pace, kind, times: &[(f64, bool)]| {
            let figures: Vec<ReplayFigure> =
                times.iter().map(|&(seconds, complete)| took(seconds, complete)).collect();
            let figures = figures.iter().map(Some).collect();
            Row { kind, title: "Boot".into(), at_its_pace, figures }.difference()
        };
        let difference_of = |kind, times: &[(f64, bool)]| difference_at(false, kind, times);
        let difference = |times: &[(f64, bool)]| difference_of(Kind::Tasks, times);
        let words = difference(&[(10.0, true), (10.9, true)]).expect("two");
        assert_eq!(words, "no difference you would notice (9.0 %)");
        let words = difference(&[(10.0, true), (12.5, true), (11.0, true)]).expect("three");
        assert_eq!(words, "2.50 s longer, 25.0 % more");
        let words = difference(&[(10.0, true), (157.0, true)]).expect("two");
        assert_eq!(words, "147 s longer, 15.7 times");
        assert_eq!(difference(&[(10.0, true), (10.9, false)]), None, "one was cut short");
        assert_eq!(difference(&[(10.0, true)]), None);
        // Hours of work differ by minutes, however small a part of them.
        let words = difference_of(Kind::Bench, &[(6000.0, true), (6300.0, true)]).expect("two");
        assert_eq!(words, "5.0 min longer, 5.0 % more");
        let words = difference_of(Kind::Bench, &[(1.0, true), (1.5, true)]).expect("two");
        assert_eq!(words, "500 ms longer, 50.0 % more", "and seconds by less");
        // At the recorded pace both were busy for a second, whatever they took.
        let words = difference_at(true, Kind::Bench, &[(6000.0, true), (6300.0, true)]);
        assert_eq!(words.expect("two"), "0 µs longer, 0.0 % more");
    }
}
