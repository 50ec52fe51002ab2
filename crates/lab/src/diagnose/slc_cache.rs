//! The SLC cache: after how many bytes written in order a drive becomes slower for good.
//!
//! A write buffer also takes the first of what is written faster. It does so again after a moment's rest, and a cache
//! that is full does not: what is written then is the control.

use fourcorners_drive::{Geometry, Nanos, Target};
use fourcorners_record::diagnosis::{Finding, Series};

use super::probe::{Probe, Stopped};
use super::statistics::change;

/// A drive at rest for so long has emptied its cache.
const REST: Nanos = Nanos(60_000_000_000);
/// A write buffer is empty after so long and a flush, and a cache is not.
const MOMENT: Nanos = Nanos(50_000_000);
/// Pieces that a third of the drive is written in, and pieces of the same size that are written after that.
const PIECES: u64 = 600;
const AGAIN: u64 = 100;
/// The first of them are the write buffer's in part: so many bytes, and no more than so many pieces.
const FIRST_BYTES: f64 = 64.0 * 1024.0 * 1024.0;
const MOST_FIRST: usize = 12;
/// A drop of the rate by less is none.
const LEAST_DROP: f64 = 0.15;
/// How much better two rates have to be than one.
const LEAST_BIC: f64 = 10.0;
/// Pieces at each of the two rates at least.
const LEAST_PIECES: usize = 12;
/// Whether there are two rates is told by so many pieces together: a drive that folds takes some at once and then none.
const TOGETHER: usize = 6;
/// More than this share of the pieces after a moment's rest at the higher rate are a buffer's.
const MOST_BUFFERED: f64 = 0.4;
/// The link limits if the first pieces take at least this share of the time of those after them.
const LINK_LIMITS: f64 = 0.9;
/// Each third of the pieces at a rate may be off by this share of the difference.
const STEADY: f64 = 0.3;

/// Bytes that are written.
pub(super) fn bytes(geometry: Geometry) -> u64 {
    piece(geometry) * (PIECES + AGAIN)
}

fn piece(geometry: Geometry) -> u64 {
    const BLOCK: u64 = 128 << 10;
    (geometry.bytes() / 3 / PIECES / BLOCK).max(1) * BLOCK
}

pub(super) fn measure<T: Target>(probe: &mut Probe<'_, T>) -> Result<Vec<Series>, Stopped> {
    let geometry = probe.geometry();
    let piece = piece(geometry);
    if bytes(geometry) > geometry.bytes() {
        return Err(Stopped::Lacks("the target is too small".into()));
    }
    probe.flush()?;
    // What was written before has to leave the cache.
    probe.idle(REST)?;
    let mut written = |start: u64, pieces: u64, what: &str| {
        let times = probe.write_in_order(start, pieces * piece, (128 << 10, 8), piece)?;
        let samples = times.iter().zip(1..).map(|(us, index)| [(index * piece) as f64, *us]);
        let series = Series { what: what.into(), samples: samples.collect() };
        probe.flush()?;
        probe.idle(MOMENT)?;
        Ok(series)
    };
    Ok(vec![
        written(0, PIECES, "bytes written in order; microseconds of the last of them")?,
        written(PIECES * piece, AGAIN, "the same after a moment's rest")?,
    ])
}

pub(super) fn estimate(series: &[Series]) -> Vec<Finding> {
    const KEY: &str = "slc_cache_mib";
    let [Series { samples, .. }, again] = series else {
        return vec![Finding::undetermined(KEY, "nothing was measured")];
    };
    let Some(piece) = samples.first().map(|[bytes, _]| *bytes).filter(|bytes| *bytes >= 1.0) else {
        return vec![Finding::undetermined(KEY, "too little was written")];
    };
    let first = ((FIRST_BYTES / piece).ceil() as usize).min(MOST_FIRST);
    let times: Vec<f64> = samples.iter().skip(first).map(|[_, us]| *us).collect();
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
    let together: Vec<f64> = times.chunks(TOGETHER).map(mean).collect();
    let (Some(at), Some(rough), Some(last)) = (change(&times), change(&together), samples.last())
    else {
        return vec![Finding::undetermined(KEY, "too little was written")];
    };
    let mib = |bytes: f64| bytes / f64::from(1 << 20);
    let [before, after] = at.levels;
    let rate = |us: f64| piece / us;
    if rough.bic < LEAST_BIC || 1.0 - before / after < LEAST_DROP {
        let reason = format!(
            "written in order, {:.0} MiB went at one rate, {:.0} MB/s: no cache is seen, and a larger one, or one whose end the link hides, would not be seen either",
            mib(last[0]),
            rate(mean(&times))
        );
        return vec![Finding::undetermined(KEY, reason)];
    }
    let (fast, slow) = times.split_at(at.at);
    if fast.len() < LEAST_PIECES || slow.len() < LEAST_PIECES {
        let reason = format!(
            "the rate drops from {:.0} to {:.0} MB/s at an end of what was written: there it may be the write buffer's",
            rate(before),
            rate(after)
        );
        return vec![Finding::undetermined(KEY, reason)];
    }
    // A slope is no cliff: at its beginning, in its middle and at its end a rate is the same.
    let is_steady = |part: &[f64], level: f64| {
        let mut thirds = part.chunks(part.len().div_ceil(3));
        thirds.all(|third| (mean(third) - level).abs() < STEADY * (after - before))
    };
    if at.at.abs_diff(rough.at * TOGETHER) > 2 * TOGETHER
        || !is_steady(fast, before)
        || !is_steady(slow, after)
    {
        let reason = "the rate falls, but not from one level to another";
        return vec![Finding::undetermined(KEY, reason)];
    }
    // How many of the pieces after a moment's rest were faster than the flash, in pieces at the higher rate.
    let again: Vec<f64> = again.samples.iter().map(|[_, us]| *us).collect();
    let as_long = &again[..again.len().min(first + at.at)];
    let buffered = as_long.iter().map(|us| (after - us) / (after - before)).sum::<f64>().max(0.0);
    if as_long.is_empty() || buffered > MOST_BUFFERED * as_long.len() as f64 {
        let reason = format!(
            "the rate drops from {:.0} to {:.0} MB/s, and is the higher one again after a moment's rest: a write buffer's",
            rate(before),
            rate(after)
        );
        return vec![Finding::undetermined(KEY, reason)];
    }
    let end = (first + at.at) as f64;
    // Where the link limits, the buffer is empty when the cache is full, and takes some at the higher rate then.
    let begins = mean(&samples.iter().take(2).map(|[_, us]| *us).collect::<Vec<f64>>());
    let size = if begins > LINK_LIMITS * before { end - buffered } else { end };
    let reason = format!(
        "written in order, the rate drops from {:.0} to {:.0} MB/s after {:.0} MiB, and stays there after a moment's rest",
        rate(before),
        rate(after),
        mib(end * piece)
    );
    let interval =
        [mib((end - buffered - 2.0).max(0.0) * piece) * 0.98, mib((end + 1.0) * piece) * 1.01];
    vec![Finding::number(KEY, mib(size * piece), "MiB", interval).because(reason)]
}
