//! Method `fill-level`: random write while 10, 20, ... 100 % of the LBAs hold data.
//!
//! At each level the next tenth of the drive is written in order, then as much again at random over all
//! that is written so far, and then the figure is taken for a minute. So the drive comes to each
//! level used, and is written twice in all.

use fourcorners_record::note::{finished, note};
use fourcorners_record::{Curve, Job, Note, Outcome, Record, Until, Verdict};
use fourcorners_words::count;

use super::difference::{Slower, left_open};
use super::past::is_not_purged;
use super::{Phase, Scope};

pub(super) const METHOD: &str = "fill-level";

const SECONDS: u64 = 60;
const QUICK_SECONDS: u64 = 3;
/// Below this part of the best speed a drive is too full.
const TOO_SLOW: f64 = 0.5;

fn levels() -> impl Iterator<Item = u64> {
    (10..=100).step_by(10)
}

fn name(level: u64) -> String {
    format!("random_write_4k_qd32_incompressible_full{level}")
}

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    if let Some(left_out) = scope.without_flash("The fill level") {
        return vec![left_out];
    }
    let whole = scope.whole();
    let up_to = |level: u64| super::scope::whole_blocks(whole / 100 * level);
    let mut phases = vec![Phase::Purge];
    for level in levels() {
        let (before, now) = (up_to(level - 10), up_to(level));
        let part = now - before;
        let next = scope.sequential(0, 32, part, Until::Bytes(part));
        phases.push(Phase::Prepare {
            state: "partly filled".into(),
            job: Job { span_start_bytes: before, ..next },
        });
        let overwrite = Job { until: Until::Bytes(part), ..scope.random(0, 32, now, 0) };
        let job = scope.seeded(&format!("overwrite{level}"), overwrite);
        phases.push(Phase::Prepare { state: "partly used".into(), job });
        let seconds = scope.either(SECONDS, QUICK_SECONDS);
        phases.push(scope.measure(name(level), scope.random(0, 32, now, seconds)));
    }
    phases
}

pub(super) fn conclude(record: &mut Record) {
    let point =
        |level: u64| finished(record, &name(level)).map(|figure| (level as f64, figure.iops));
    let points: Vec<(f64, f64)> = levels().filter_map(point).collect();
    if points.len() == levels().count() {
        record.notes.push(how_full(&points, record.quick, is_not_purged(record)));
        let best = points.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(10.0, |best| best.0);
        record.verdicts.extend(too_full(record, best as u64));
    }
    if points.len() > 1 {
        let x = match is_not_purged(record) {
            true => "% of the LBAs that the review has written",
            false => "% of the LBAs that hold data",
        };
        let (x, y) = (x.into(), "IOPS".into());
        record.curves.insert("random_write_4k_qd32_by_fill".into(), Curve { x, y, points });
    }
}

/// From which level on the drive is too full, and how fast it is when full.
fn how_full(points: &[(f64, f64)], quick: bool, not_purged: bool) -> Note {
    let best = points.iter().map(|&(_, iops)| iops).fold(0.0, f64::max);
    let last = points[points.len() - 1].1;
    let from = points.iter().find(|&&(_, iops)| iops < best * TOO_SLOW);
    let what = match from {
        Some((level, iops)) => format!(
            "At {level:.0} % full, random writes run at {} IOPS, less than half of the best rate ({} IOPS)",
            count(*iops),
            count(best)
        ),
        None => format!(
            "At every fill level, random writes run at half of the best rate ({} IOPS) or more",
            count(best)
        ),
    };
    let text = format!(
        "{what}; when full, at {} IOPS ({:.0} % of the best).",
        count(last),
        last / best * 100.0
    );
    let text = match quick {
        true => format!("Of the part of the drive that a quick review fills: {text}"),
        false => text,
    };
    let text = match not_purged {
        true => format!(
            "The drive was not purged, and what the review had not written may have held data all the same. \
             Of what it had written: {text}"
        ),
        false => text,
    };
    note("fill-level", text, last / best)
}

/// Whether the drive is too full when all of it holds data.
fn too_full(record: &Record, best: u64) -> Option<Verdict> {
    let slower = Slower {
        id: "too-full",
        claim: "Random writes to the full drive run at less than half of the best rate".into(),
        control: "the same job at the fill level where it is fastest",
        figures: [&name(100), &name(best)],
        of: "the best rate",
        threshold: TOO_SLOW,
        open: is_not_purged(record).then(|| {
            "the drive was not purged, so that all of it may have held data at every level".into()
        }),
    };
    let verdict = slower.verdict(record)?;
    let a_part = "a quick review fills only a part of the drive";
    Some(if record.quick { left_open(verdict, &[Outcome::No], a_part) } else { verdict })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_gets_too_full_at_a_level_or_at_none_and_a_quick_review_says_of_what() {
        let points = |full: f64| [(10.0, 1000.0), (50.0, full.max(900.0)), (100.0, full)];
        let text = |full: f64, quick| how_full(&points(full), quick, false).text;
        let slow = text(400.0, false);
        assert!(slow.starts_with("At 100 % full, random writes run at 400 IOPS, less"), "{slow}");
        assert!(slow.ends_with("when full, at 400 IOPS (40 % of the best)."), "{slow}");
        assert!(text(500.0, false).starts_with("At every fill level, random writes run at half"));
        assert_eq!(
            text(400.0, true),
            format!("Of the part of the drive that a quick review fills: {slow}")
        );
        let not_purged = how_full(&points(400.0), false, true).text;
        assert!(not_purged.starts_with("The drive was not purged") && not_purged.ends_with(&slow));
    }
}
