//! The document of how near the virtual drives are to measured distributions: `docs/DISTRIBUTIONS.md`.

use std::collections::BTreeMap;

use super::{KindSummary, Part, PathGroup, ShapeRow, ShapesValidation};
use crate::validate::{Standing, catalogue_hash};

/// Paths with a column of their own.
const COLUMNS: [&str; 8] =
    ["iops", "mean_us", "p50", "p99", "p999", "p9999", "read.p99", "read.p999"];

/// How many entries are named as the worst.
const WORST: usize = 10;

/// The largest median error that is asked of a group; of variation a factor of two is.
pub fn bound(group: PathGroup) -> Option<f64> {
    match group {
        PathGroup::RatesAndMedians => Some(0.08),
        PathGroup::P90ToP99 => Some(0.15),
        PathGroup::P999AndP9999 => Some(0.30),
        PathGroup::Variation => Some(1.0),
        PathGroup::Others => None,
    }
}

/// `fitted`, `predicted`, `reported`, or `not run`.
pub fn standing(row: &ShapeRow) -> &'static str {
    match (row.standing, row.kept_out) {
        (Standing::Predicted, _) if row.reported => "reported",
        (Standing::Fitted, _) => "fitted",
        (Standing::Predicted, true) => "predicted, kept out",
        (Standing::Predicted, false) => "predicted",
        (Standing::NotRun, _) => "not run",
    }
}

/// An error in per cent, or from ten times on as a factor.
pub fn percent(error: f64) -> String {
    match error {
        far if far >= 9.0 => format!("{:.0} x", far + 1.0),
        near => format!("{:+.0} %", near * 100.0),
    }
}

/// The document as Markdown. Pictures are those of `charts`, by kind.
pub fn markdown(validation: &ShapesValidation, charts: &BTreeMap<String, String>) -> String {
    let mut text = INTRODUCTION.to_string();
    let mut line = |content: String| {
        text.push_str(content.trim_end_matches(' '));
        text.push('\n');
    };
    let summary = &validation.summary;
    line(format!(
        "{} of {} distributions were run. Made at the catalogue `{}`.\n",
        summary.run,
        summary.entries,
        catalogue_hash()
    ));
    line("## In sum\n".into());
    line("Median absolute errors of all numbers of a group, and in brackets the median that is aimed at. For variation it \
          is a factor of two, and the share of numbers within it is given.\n".into());
    let groups = PathGroup::ALL.map(|group| match (group, bound(group)) {
        (PathGroup::Variation, _) => "variation (within 2 x)".to_string(),
        (_, Some(bound)) => format!("{} ({:.0} %)", group.words(), bound * 100.0),
        (_, None) => group.words().to_string(),
    });
    line(format!("| kind | standing | entries | not run | {} |", groups.join(" | ")));
    line(format!("|---|---|---|---|{}", "---|".repeat(groups.len())));
    for (kind, of) in &summary.by_kind {
        sums(kind, of).into_iter().for_each(&mut line);
    }
    if !summary.measured_twice.is_empty() {
        line("\n## The same test, measured twice\n".into());
        line("By how much the second of two measurements differs from the first, in the numbers that were compared. Both are of \
              one source and of drives of one model, and their tests differ by the day, the unit, the processor or a tenth of their length \
              at most; those \
              of `read-beside-readers` and `-writers` are of a reader beside nothing. Tests of another state of the drive \
              (`randread-bs`, `randread-jobs-qd1`) are left out.\n".into());
        line(format!("| kind | pairs | {} |", groups.join(" | ")));
        line(format!("|---|---|{}", "---|".repeat(groups.len())));
        for (kind, part) in &summary.measured_twice {
            let sums = PathGroup::ALL.map(|group| sum(part, group)).join(" | ");
            line(format!("| {kind} | {} | {sums} |", part.entries));
        }
    }
    line("\n## The worst\n\n| entry | drive | number | measured | simulated | error |\n|---|---|---|---|---|---|".into());
    worst(validation).into_iter().for_each(&mut line);
    for kind in summary.by_kind.keys() {
        line(format!("\n## {kind}\n"));
        if charts.contains_key(kind) {
            line(format!("![{kind}, measured and virtual](distributions/{kind}.svg)\n"));
        }
        let of_kind = || validation.entries.iter().filter(|row| row.kind == *kind);
        let run: Vec<&ShapeRow> =
            of_kind().filter(|row| row.standing != Standing::NotRun).collect();
        if !run.is_empty() {
            line(format!(
                "| entry | drive | standing | numbers | median error | {} |",
                COLUMNS.join(" | ")
            ));
            line(format!("|---|---|---|---|---|{}", "---|".repeat(COLUMNS.len())));
            run.iter().map(|row| entry_line(row)).for_each(&mut line);
        }
        // Entries of one reason in one line.
        let mut notes: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
        for row in of_kind() {
            let Some(why) = &row.why else { continue };
            let what = if row.standing == Standing::NotRun { "Not run" } else { "Note" };
            notes.entry((what, why)).or_default().push(&row.id);
        }
        for ((what, why), ids) in notes {
            line(format!("\n{what}: {} ({})", cell(why), ids.join(", ")));
        }
    }
    text
}

/// A line for each standing of a kind.
fn sums(kind: &str, of: &KindSummary) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, part) in of.parts() {
        if part.entries > 0 {
            let groups = PathGroup::ALL.map(|group| sum(part, group)).join(" | ");
            lines.push(format!(
                "| {kind} | {name} | {} | {} | {groups} |",
                part.entries, of.not_run
            ));
        }
    }
    if lines.is_empty() {
        let dashes = "- | ".repeat(PathGroup::ALL.len());
        lines.push(format!("| {kind} | not run | 0 | {} | {dashes}", of.not_run));
    }
    lines
}

fn sum(part: &Part, group: PathGroup) -> String {
    match (group, part.groups.get(&group), part.within_factor_two.get(&group)) {
        (PathGroup::Variation, Some(_), Some(share)) => format!("{:.0} %", share * 100.0),
        (_, Some(error), _) => format!("{:.0} %", error * 100.0),
        _ => "-".into(),
    }
}

fn entry_line(row: &ShapeRow) -> String {
    let mut errors: Vec<f64> =
        row.compared.values().filter_map(|compared| Some(compared.error?.abs())).collect();
    errors.sort_by(f64::total_cmp);
    let median = crate::validate::quantile(&errors, 0.5);
    let columns = COLUMNS.map(|path| {
        row.compared.get(path).and_then(|compared| compared.error).map_or("-".into(), percent)
    });
    format!(
        "| {} | {} | {} | {} | {} | {} |",
        row.id,
        row.drive.as_deref().unwrap_or("-"),
        standing(row),
        row.compared.len(),
        median.map_or("-".into(), |median| format!("{:.0} %", median * 100.0)),
        columns.join(" | ")
    )
}

/// The numbers that are furthest off, one of each entry, by how many times they are too large or too small.
fn worst(validation: &ShapesValidation) -> Vec<String> {
    let mut numbers = Vec::new();
    for row in &validation.entries {
        let bounded = row.compared.iter().filter(|(path, _)| bound(PathGroup::of(path)).is_some());
        let far = bounded.filter_map(|(path, compared)| {
            let ratio = 1.0 + compared.error?;
            (ratio > 0.0).then(|| (ratio.max(1.0 / ratio), path, compared))
        });
        numbers.extend(far.max_by(|a, b| a.0.total_cmp(&b.0)).map(|far| (far, row)));
    }
    numbers.sort_by(|a, b| b.0.0.total_cmp(&a.0.0));
    let shown = numbers.iter().take(WORST).map(|((_, path, compared), row)| {
        format!(
            "| {} | {} | {path} | {} | {} | {} |",
            row.id,
            row.drive.as_deref().unwrap_or("-"),
            compared.published,
            compared.simulated,
            compared.error.map_or("-".into(), percent)
        )
    });
    shown.collect()
}

/// Text that cannot break a table.
fn cell(text: &str) -> String {
    text.replace('|', "/").replace('\n', " ")
}

const INTRODUCTION: &str = "# How near the virtual drives are to measured distributions

Made by `scripts/evidence distributions`; do not edit. Every distribution that was measured on a real drive (`figures/shapes.json`,
each with its source) is held against the drive of the catalogue it is about, in the test it was measured in: the same jobs and
depths, several drives behind one loop where there were several, a probe beside writers at their pace, writes from empty to steady.
Every number of the result that the test gives, and that was not put in, is compared; an error is simulated over measured, less one.

*Fitted*: the drive has fitted latencies or variation, and the entry is among those that they may be fitted to. *Predicted*: all others.
*Reported*: the test measures more than the drive, a file system or a depth that is not told, and nothing is asked of it. One value is fitted to such a
test for want of another: the P4510's program time.
One entry in three of each kind is *kept out* of every fit, by a hash of drive, kind and id (`crates/lab/src/validate/shapes/split.rs`).

- A drive is run at a part of its capacity, with as many dies and as much spare in proportion, so that hours of writes take
  seconds; times in drive writes are as many times shorter (`scale.rs`).
- The host is what the entry's engine says: microseconds a command, and those for which one process is busy (`host.rs`).
  The last of eight drives of `icpe24` is given a slow link: the sums over all eight say that one has it (`host.rs`).
- Several drives behind one loop are not equally fast: the controller of the slowest takes 0.7 % longer than that of the fastest,
  and I/Os gather there, as in the tests of three and four drives that it is fitted to (`host.rs`).
- Past the kernel (SPDK) drive and host vary slowly by 0.43 of what they do through it: fitted to two tests (`host.rs`).
- Some reads of the 980 PRO take less than 50 us and so touch no flash. What answers them is told nowhere, and their share differs from
  test to test, from 0.6 to 33 %. Where an entry tells it and reads a filled drive and nothing else, it is put in and not compared, also in
  entries that are kept out of fits; rates, means and low percentiles follow from it in part, most where it is large. That it changes
  within a test, as the variation of `randread-bs` tells, is not modelled (`question.rs`).
- A run is as long as its highest percentile needs, 100 I/Os for each beyond the 99.99th, and no longer than the test that was
  published, nor than 6 million I/Os of 4 KiB of all its jobs, except that a variation is of 30 half-seconds, 60 seconds or 20 minutes
  (`question.rs`, `writes.rs`). A percentile is compared where ten I/Os or more lie beyond it.
- A variation from one minute to the next below 0.002 % is the source's clock's, which counts seconds in 32 bits, and is taken as that much
  (`numbers.rs`).
- Latencies of fio's sources exclude the time before submission, as those that were published do.

";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::shapes::{Compared, ShapesSummary, built_in};

    const DOCUMENT: &str = include_str!("../../../../../docs/DISTRIBUTIONS.md");

    #[test]
    fn the_document_is_of_this_catalogue_and_of_these_entries() {
        let made = format!("Made at the catalogue `{}`.", catalogue_hash());
        assert!(DOCUMENT.contains(&made), "{made}: scripts/evidence distributions");
        for entry in built_in() {
            assert!(DOCUMENT.contains(&entry.id), "{}: scripts/evidence distributions", entry.id);
        }
    }

    #[test]
    fn fitted_and_predicted_are_apart_and_the_worst_come_first() {
        let row = |id: &str, standing, error: f64| {
            let simulated = 100.0 * (1.0 + error);
            let compared = Compared { published: 100.0, simulated, error: Some(error) };
            ShapeRow {
                id: id.into(),
                kind: "a-kind".into(),
                drive: Some("a-drive".into()),
                published_drive: "A Drive".into(),
                standing,
                kept_out: standing == Standing::Predicted,
                reported: id == "d",
                why: None,
                compared: [("p99".to_string(), compared)].into(),
            }
        };
        let entries = vec![
            row("a", Standing::Fitted, 0.1),
            row("b", Standing::Predicted, -0.8),
            row("c", Standing::Predicted, 2.0),
            row("d", Standing::Predicted, 3.0),
        ];
        let mut summary = ShapesSummary::of(&entries);
        let twice = [&entries[0].compared, &entries[1].compared];
        summary.measured_twice.insert("a-kind".into(), Part::of(twice.into_iter()));
        let validation = ShapesValidation { entries, summary, stopped: false };
        let text = markdown(&validation, &BTreeMap::new());
        assert!(text.contains("| a-kind | fitted | 1 | 0 | - | 10 % | - | - | - |"), "{text}");
        assert!(text.contains("| a-kind | predicted | 2 | 0 | - | 140 % | - | - | - |"), "{text}");
        assert!(text.contains("| a-kind | reported | 1 | 0 | - | 300 % | - | - | - |"), "{text}");
        assert!(text.contains("| a-kind | 2 | - | 45 % | - | - | - |"), "{text}");
        // A fifth is further off than four times.
        let worst: Vec<usize> = ["b", "d", "c", "a"]
            .map(|id| format!("| {id} | a-drive | p99"))
            .map(|line| text.find(&line).expect(&line))
            .into();
        assert!(worst.is_sorted(), "{text}");
        assert!(text.contains("| b | a-drive | predicted, kept out | 1 | 80 % |"), "{text}");
        assert!(text.contains("| d | a-drive | reported | 1 | 300 % |"), "{text}");
    }
}
