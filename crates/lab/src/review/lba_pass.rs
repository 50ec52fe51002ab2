//! The pass across the LBAs ("HD Tach"): all of a full drive read and then written in order, and its
//! speed at 200 places, of a small target at fewer.

use fourcorners_drive::Nanos;
use fourcorners_record::note::note;
use fourcorners_record::{Curve, Job, Record, Until};
use fourcorners_run::Measured;
use fourcorners_words::{counted, three_digits};

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
                 and {} at the fastest.",
                three_digits(mean),
                three_digits(low),
                counted(curve.points.len() as u64, "place"),
                three_digits(high),
            ),
            low / high,
        ));
    }
    record.notes.extend(notes);
}

/// I/Os that a piece of a pass has at least for each that is in flight. As many are done at one moment at most, and those at the
/// end of a piece may be of the next: an eighth of its time.
const LEAST_IOS_OF_A_PIECE: u64 = 8;

/// The pieces of a pass whose speed is noted: as many as were asked for, or of a small span fewer.
pub(super) fn pieces(job: &Job, points: u64) -> u64 {
    let at_once = u64::from(job.block_bytes) * u64::from(job.in_flight());
    let most = job.span_bytes / (LEAST_IOS_OF_A_PIECE * at_once);
    points.min(most).max(1)
}

/// Data rate against the place, from when each piece was done.
pub(super) fn curve(measured: &Measured, job: &Job, points: u64) -> Curve {
    let piece = (job.span_bytes / points) as f64;
    let mut before = Nanos::ZERO;
    let point = |(index, &mark): (usize, &Nanos)| {
        let seconds = (mark - before).as_secs().max(1e-9);
        before = mark;
        let middle = job.span_start_bytes as f64 + (index as f64 + 0.5) * piece;
        (middle / 1e9, piece / 1e6 / seconds)
    };
    let points = measured.marks.iter().take(points as usize).enumerate().map(point).collect();
    Curve { x: "GB from the first LBA".into(), y: "MB/s".into(), points }
}

/// The lowest and the highest of a curve.
pub(super) fn extremes(curve: &Curve) -> Option<(f64, f64)> {
    let values = || curve.points.iter().map(|&(_, y)| y);
    let (low, high) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
    (high > 0.0).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use fourcorners_catalogue::{Model, built_in};
    use fourcorners_drive::{Geometry, Ssd};
    use fourcorners_run::{Unobserved, run_marked};

    use super::*;
    use crate::review::Medium;

    #[test]
    fn a_small_span_has_fewer_places_and_none_where_no_time_passed() {
        let Model::Ssd(m4) = built_in("crucial-m4-64gb", &[]).expect("it is ours").model else {
            panic!("an SSD")
        };
        let bytes = 17_000_000;
        let geometry = Geometry { sectors: bytes / 512, logical_block_bytes: 512, queue_depth: 32 };
        let scope = Scope::whole_of(geometry, Medium::Ssd);
        let Phase::Pass { job, points, .. } = pass(&scope, "a pass", 0) else { panic!("a pass") };
        let noted = |points: u64| {
            let mut ssd = Ssd::new(&m4).expect("it was checked");
            let measured = run_marked(&mut ssd, &job, job.span_bytes / points, &mut Unobserved);
            curve(&measured, &job, points)
        };
        let fastest = |curve: &Curve| extremes(curve).expect("it has places").1;
        let few = noted(pieces(&job, points));
        assert_eq!(few.points.len(), 16);
        assert!(fastest(&few) < 1e3, "{} MB/s", fastest(&few));
        // Places that are smaller than the I/Os of the pass are done by the same I/O.
        assert!(fastest(&noted(points)) > 1e6);
        // Where several are in flight, several may be done at one moment.
        let deep = Job { queue_depth: 16, ..job.clone() };
        assert_eq!(
            (pieces(&deep, points), pieces(&Job { queue_depth: 64, ..job }, points)),
            (1, 1)
        );
        // A drive's span has all of them.
        let whole = scope.sequential(0, 1, 64 << 30, Until::Bytes(64 << 30));
        assert_eq!(pieces(&whole, points), points);
    }
}
