//! A figure of one side, from all its repeats, and how it stands to that of the first.

use std::borrow::Cow;

use fourcorners_record::{Job, Latency, Record};
use serde::Serialize;

use super::measure::Measure;

/// Amounts that differ by less than this share are the same: they are cut to whole blocks.
const SAME_AMOUNT: f64 = 0.01;

/// A figure of one side.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Cell {
    /// How many results it is of.
    pub repeats: usize,
    /// Average data rate, 10^6 bytes per second.
    pub mb_per_s: Measure,
    /// Mean latency, microseconds.
    pub latency_mean_us: Measure,
    /// Its 99.9th percentile.
    pub latency_p999_us: Measure,
    /// The longest, of all repeats.
    pub latency_max_us: f64,
    /// False if one of the results was cut short.
    pub complete: bool,
    /// Whether what was run is what was run on the first side that has the figure.
    pub same_job: bool,
}

/// A figure of one record.
#[derive(Clone, Debug)]
pub(super) struct Value<'a> {
    pub(super) name: Cow<'a, str>,
    mb_per_s: f64,
    latency: Latency,
    complete: bool,
    /// Not of a replay, whose trace and pace are what was run.
    job: Option<&'a Job>,
    capacity_bytes: u64,
    /// What a replay was of.
    replayed: Option<(&'a str, &'a str, u32)>,
}

/// All figures of a record.
pub(super) fn values(record: &Record) -> impl Iterator<Item = Value<'_>> {
    let measured = record.figures.iter().map(|(name, figure)| Value {
        name: name.into(),
        mb_per_s: figure.mb_per_s,
        latency: figure.latency_us,
        complete: figure.complete,
        job: Some(&figure.job),
        capacity_bytes: record.target.capacity_bytes,
        replayed: None,
    });
    let replayed = record.replayed().map(|(name, replay, figure)| Value {
        name,
        mb_per_s: figure.mb_per_s,
        latency: figure.all.latency_us,
        complete: figure.complete,
        job: None,
        capacity_bytes: record.target.capacity_bytes,
        replayed: Some((&replay.card.trace, &replay.pace, replay.queue_depth)),
    });
    measured.chain(replayed)
}

/// Whether another record of a drive is of the same work as one, but for its random numbers: of the same method, at
/// the same length, by the same version, and every figure that both have of the same job.
pub fn is_repeat(one: &Record, other: &Record) -> bool {
    let same_kind =
        (&one.method, one.quick, &one.version) == (&other.method, other.quick, &other.version);
    let others: Vec<Value<'_>> = values(other).collect();
    let same = |value: Value<'_>| {
        let other = others.iter().find(|other| other.name == value.name);
        other.is_none_or(|other| same_job(&value, other))
    };
    same_kind && values(one).all(same)
}

/// The cells of a row: the values of each side, all of whose repeats are of one job.
pub(super) fn row(sides: &[Vec<Value<'_>>]) -> Vec<Option<Cell>> {
    let repeats: Vec<Vec<&Value<'_>>> = sides
        .iter()
        .map(|values| {
            // Without those that were run otherwise than the one that stands for the side.
            values.iter().filter(|it| same_job(it, &values[0])).collect()
        })
        .collect();
    let base = &repeats[0];
    let first = repeats.iter().find_map(|values| values.first());
    let cell = |(place, values): (usize, &Vec<&Value<'_>>)| {
        let one = values.first()?;
        let against = if place > 0 { &base[..] } else { &[] };
        let measure = |of: &dyn Fn(&Value<'_>) -> f64| {
            let all = |values: &[&Value<'_>]| values.iter().map(|it| of(it)).collect::<Vec<f64>>();
            Measure::of(&all(values), &all(against))
        };
        Some(Cell {
            repeats: values.len(),
            mb_per_s: measure(&|it| it.mb_per_s),
            latency_mean_us: measure(&|it| it.latency.mean),
            latency_p999_us: measure(&|it| it.latency.p999),
            latency_max_us: values.iter().map(|it| it.latency.max).fold(0.0, f64::max),
            complete: values.iter().all(|it| it.complete),
            same_job: first.is_none_or(|first| same_job(one, first)),
        })
    };
    repeats.iter().enumerate().map(cell).collect()
}

/// Whether two figures of one name are of the same work, but for its random numbers and, where it is
/// over a share of the drive, the drive's size.
fn same_job(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left.job, right.job) {
        (Some(a), Some(b)) => same_work((a, left.capacity_bytes), (b, right.capacity_bytes)),
        (None, None) => left.replayed == right.replayed,
        _ => false,
    }
}

/// Whether two jobs, each with the size of its drive in bytes, are the same work. Their random numbers may differ, and so may the
/// sizes of the drives where both cover the same share of them.
pub fn same_work((left, left_bytes): (&Job, u64), (right, right_bytes): (&Job, u64)) -> bool {
    let kind = |job: &Job| {
        let place = (job.pattern, job.block_bytes, job.queue_depth, job.jobs);
        (place, job.read_percent, job.data, job.fua, job.flush)
    };
    let alike = |a: f64, b: f64| a == b || (a - b).abs() <= SAME_AMOUNT * a.max(b);
    // The same number of bytes, or the same share of both drives.
    let same_amount = |of: &dyn Fn(&Job) -> u64| {
        let (a, b) = (of(left) as f64, of(right) as f64);
        alike(a, b) || alike(a / left_bytes as f64, b / right_bytes as f64)
    };
    kind(left) == kind(right)
        && left.until.seconds() == right.until.seconds()
        && same_amount(&|job| job.until.bytes())
        && same_amount(&|job| job.span_bytes)
}
