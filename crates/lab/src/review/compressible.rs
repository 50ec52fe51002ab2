//! What compression does: writes of data of which 0, 10, ... 100 % can be removed, in order and at
//! random, each on a purged drive, and where the gap between the two ends closes.

use fourcorners_record::note::{finished, note};
use fourcorners_record::{Curve, Data, Job, Record, Until, Verdict};
use fourcorners_words::three_digits;

use super::difference::{MATTERS, Slower};
use super::{Phase, Scope};

pub(super) const METHOD: &str = "compressible";

const SPAN_BYTES: u64 = 8_000_000_000;
const SECONDS: u64 = 20;
const QUICK_SECONDS: u64 = 2;

/// The verdict's id, what the figures' names begin with, and what they measure.
const JOBS: [(&str, &str, &str); 2] = [
    ("compressible-sequential-write", "sequential_write_128k_qd1", "Sequential writes"),
    ("compressible-random-write", "random_write_4k_qd32", "Random writes"),
];

fn percents() -> impl Iterator<Item = u8> {
    (0..=100).step_by(10)
}

fn name(prefix: &str, percent: u8) -> String {
    format!("{prefix}_compressible{percent}")
}

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    let span = scope.span(SPAN_BYTES);
    let seconds = scope.either(SECONDS, QUICK_SECONDS);
    let jobs =
        [scope.sequential(0, 1, span, Until::Seconds(seconds)), scope.random(0, 32, span, seconds)];
    let mut phases = Vec::new();
    for ((_, prefix, _), job) in JOBS.into_iter().zip(jobs) {
        for percent in percents() {
            phases.push(Phase::Purge);
            // The same places for all of them: only the data differs.
            let job =
                scope.seeded(prefix, Job { data: Data::Compressible(percent), ..job.clone() });
            phases.push(Phase::Measure { figure: name(prefix, percent), job });
        }
    }
    phases
}

pub(super) fn conclude(record: &mut Record) {
    for (id, prefix, what) in JOBS {
        let point = |percent: u8| {
            let figure = finished(record, &name(prefix, percent))?;
            Some((f64::from(percent), figure.mb_per_s))
        };
        let points: Vec<(f64, f64)> = percents().filter_map(point).collect();
        if points.len() == percents().count() {
            record.verdicts.extend(slower(record, id, prefix, what));
            record.notes.push(gap(what, &points));
        }
        if points.len() > 1 {
            let (x, y) = ("% of the data that compression removes".into(), "MB/s".into());
            record.curves.insert(format!("{prefix}_by_compressibility"), Curve { x, y, points });
        }
    }
}

/// Whether the two ends are apart.
fn slower(record: &Record, id: &str, prefix: &str, what: &str) -> Option<Verdict> {
    let slower = Slower {
        id,
        claim: format!(
            "{what} are slower with incompressible data than with fully compressible data"
        ),
        control: "the same job on the purged drive with fully compressible data",
        figures: [&name(prefix, 0), &name(prefix, 100)],
        of: "the rate with fully compressible data",
        threshold: MATTERS,
        open: None,
    };
    slower.verdict(record)
}

/// How far the two ends are apart, and where the gap closes.
fn gap(what: &str, points: &[(f64, f64)]) -> fourcorners_record::Note {
    let (worst, best) = (points[0].1, points[points.len() - 1].1);
    let kept = worst / best;
    let mut text = format!(
        "{what} run at {} MB/s with incompressible data, {:.0} % of the {} with fully compressible data",
        three_digits(worst),
        kept * 100.0,
        three_digits(best)
    );
    if kept < MATTERS {
        // From the first on that all the rest stay with.
        let short = points.iter().rposition(|&(_, speed)| speed < best * MATTERS).unwrap_or(0);
        let closes = points.get(short + 1).map_or(100.0, |&(percent, _)| percent);
        let least = MATTERS * 100.0;
        text += &format!("; from {closes:.0} % compressible on, at {least:.0} % of that or more");
    }
    note("compressible", text + ".", kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_found_where_it_closes() {
        let curve = |speed: fn(f64) -> f64| -> Vec<(f64, f64)> {
            percents().map(|percent| (f64::from(percent), speed(f64::from(percent)))).collect()
        };
        // As a controller that is fast from 46 % on, as office data is.
        let found = gap("Writes", &curve(|percent| (70.0 + percent * 4.0).min(250.0)));
        assert!(
            found.text.contains("28 % of the 250 with") && found.text.contains("from 40 %"),
            "{}",
            found.text
        );
        let none = gap("Writes", &curve(|percent| 200.0 + percent / 10.0));
        assert!(none.text.ends_with("data."), "{}", none.text);
    }
}
