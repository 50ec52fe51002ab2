//! Metrics of reviews: those that were started from the page, or the one that is measuring here.

use super::exposition::{Exposition, Kind};
use crate::web::course::{Course, Part};

/// What a review can be.
const STATES: [&str; 4] = ["running", "done", "stopped", "failed"];

/// A review with its number and what became of it, one of [`STATES`].
pub(in crate::web) struct Numbered<'a> {
    pub(in crate::web) number: u64,
    pub(in crate::web) state: &'static str,
    pub(in crate::web) course: &'a Course,
}

/// How far reviews are.
pub(in crate::web) fn reviews(reviews: &[Numbered<'_>]) -> Exposition {
    let mut metrics = Exposition::default();
    let numbers: Vec<String> = reviews.iter().map(|review| review.number.to_string()).collect();
    let numbered = || reviews.iter().zip(numbers.iter().map(String::as_str));
    let help = "What became of a review";
    let name = "fourcorners_review_state";
    numbered()
        .fold(metrics.family(name, Kind::StateSet, None, help), |family, (review, number)| {
            family.state(&[("review", number)], &STATES, review.state)
        });
    let mut each = |name, kind, unit, help, value: fn(&Course) -> Option<f64>| {
        numbered().fold(metrics.family(name, kind, unit, help), |family, (review, number)| {
            family.maybe(&[("review", number)], value(review.course))
        });
    };
    let (gauge, ratio, seconds) = (Kind::Gauge, Some("ratio"), Some("seconds"));
    let help = "How much of a review is done, by the drives' clocks";
    each("fourcorners_review_done_ratio", gauge, ratio, help, |review| Some(review.done));
    let help = "How long a review has taken";
    each("fourcorners_review_elapsed_seconds", gauge, seconds, help, |it| Some(it.elapsed_s));
    let help = "How long a review will still take";
    each("fourcorners_review_remaining_seconds", gauge, seconds, help, |it| it.remaining_s);
    let help = "Figures that were measured";
    each("fourcorners_review_figures", Kind::Counter, None, help, |it| {
        Some(it.figures.len() as f64)
    });
    let parts = || {
        numbered()
            .flat_map(|(review, number)| review.course.parts.iter().map(move |part| (part, number)))
    };
    let mut each = |name, unit, help, value: fn(&Part) -> Option<f64>| {
        parts().fold(metrics.family(name, gauge, unit, help), |family, (part, number)| {
            family.maybe(&labels(part, number), value(part))
        });
    };
    let help = "How much of a method of a drive is done";
    each("fourcorners_review_method_done_ratio", ratio, help, |part| Some(part.done));
    let help = "How long a method takes on the drive's clock";
    each("fourcorners_review_method_planned_seconds", seconds, help, |part| Some(part.seconds));
    let help = "I/Os of the last whole second on the drive's clock";
    each("fourcorners_review_method_iops", None, help, |part| {
        part.iops.last().map(|iops| *iops as f64)
    });
    let help = "Bytes of the last whole second on the drive's clock";
    each("fourcorners_review_method_bytes_per_second", None, help, |part| {
        part.mb_per_s.last().map(|mb| mb * 1e6)
    });
    let help = "What a method is doing";
    let name = "fourcorners_review_method_phase";
    parts().fold(metrics.family(name, Kind::Info, None, help), |family, (part, number)| {
        let [review, drive, method] = labels(part, number);
        family.sample(&[review, drive, method, ("phase", &part.words)], 1_u64)
    });
    metrics
}

fn labels<'a>(part: &'a Part, number: &'a str) -> [(&'a str, &'a str); 3] {
    [("review", number), ("drive", &part.target), ("method", &part.method)]
}
