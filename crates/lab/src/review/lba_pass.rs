//! The pass across the LBAs ("HD Tach"): all of a full drive read and then written in order, and its
//! speed at 200 places.

use fourcorners_record::note::note;
use fourcorners_record::{Curve, Record, Until};
use fourcorners_words::three_digits;

use super::{Phase, Scope};

pub(super) const METHOD: &str = "lba-pass";

/// Places at which the speed is noted.
pub(super) const POINTS: u64 = 200;

pub(super) fn plan(scope: &Scope) -> Vec<Phase> {
    let whole = scope.whole();
    vec![
        Phase::Purge,
        scope.fill("filled", whole),
        pass(scope, "sequential_read_128k_qd1_pass", 100),
        pass(scope, "sequential_write_128k_qd1_pass", 0),
    ]
}

/// A pass over all that may be touched.
pub(super) fn pass(scope: &Scope, figure: &str, read_percent: u8) -> Phase {
    let whole = scope.whole();
    let job = scope.sequential(read_percent, 1, whole, Until::Bytes(whole));
    Phase::Pass { figure: figure.into(), job: scope.seeded(figure, job), points: POINTS }
}

pub(super) fn conclude(record: &mut Record) {
    let mut notes = Vec::new();
    for (what, name) in
        [("reads", "sequential_read_128k_qd1_pass"), ("writes", "sequential_write_128k_qd1_pass")]
    {
        let (Some(figure), Some(curve)) = (record.figures.get(name), record.curves.get(name))
        else {
            continue;
        };
        let Some((low, high)) = extremes(curve) else { continue };
        let mean = figure.mb_per_s;
        notes.push(note(
            "lba-pass",
            format!(
                "Sequential {what} across the tested LBAs run at {} MB/s on average, {} at the slowest of {} \
                 places and {} at the fastest.",
                three_digits(mean),
                three_digits(low),
                curve.points.len(),
                three_digits(high),
            ),
            low / high,
        ));
    }
    record.notes.extend(notes);
}

/// The lowest and the highest of a curve.
pub(super) fn extremes(curve: &Curve) -> Option<(f64, f64)> {
    let values = || curve.points.iter().map(|&(_, y)| y);
    let (low, high) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
    (high > 0.0).then_some((low, high))
}
