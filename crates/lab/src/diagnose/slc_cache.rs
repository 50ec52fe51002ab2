//! The SLC cache: after how many bytes written in order a drive becomes slower for good.

use fourcorners_drive::{Geometry, Target};

use super::finding::{Finding, Series};
use super::probe::{Probe, Stopped};
use super::statistics::{change, quantile};

/// Pieces that a third of the drive is written in.
const PIECES: u64 = 600;
/// A drop of the rate by less is none.
const LEAST_DROP: f64 = 0.15;
/// How much better two rates have to be than one.
const LEAST_BIC: f64 = 10.0;
/// Pieces that a cache has at least: less is a buffer.
const LEAST_PIECES: usize = 3;

/// Bytes that are written.
pub(super) fn bytes(geometry: Geometry) -> u64 {
    let piece = piece(geometry);
    piece * PIECES
}

fn piece(geometry: Geometry) -> u64 {
    const BLOCK: u64 = 128 << 10;
    (geometry.bytes() / 3 / PIECES / BLOCK).max(1) * BLOCK
}

pub(super) fn measure<T: Target>(probe: &mut Probe<'_, T>) -> Result<Vec<Series>, Stopped> {
    let geometry = probe.geometry();
    let (piece, all) = (piece(geometry), bytes(geometry));
    if all > geometry.bytes() {
        return Err(Stopped::Lacks("the target is too small".into()));
    }
    probe.flush()?;
    let times = probe.write_in_order(0, all, (128 << 10, 8), piece)?;
    let samples = times.iter().zip(1..).map(|(us, index)| [(index * piece) as f64, *us]);
    let what = "bytes written in order; microseconds of the last of them".into();
    Ok(vec![Series { what, samples: samples.collect() }])
}

pub(super) fn estimate(series: &[Series]) -> Vec<Finding> {
    const KEY: &str = "slc_cache_mib";
    let Some(samples) = series.first().map(|series| &series.samples) else {
        return vec![Finding::undetermined(KEY, "nothing was measured")];
    };
    let times: Vec<f64> = samples.iter().map(|[_, us]| *us).collect();
    // What is very late once is late for another reason.
    let high = quantile(&times, 0.99);
    let times: Vec<f64> = times.iter().map(|us| us.min(high)).collect();
    let (Some(change), Some(last)) = (change(&times), samples.last()) else {
        return vec![Finding::undetermined(KEY, "too little was written")];
    };
    let mib = |bytes: f64| bytes / f64::from(1 << 20);
    let piece = samples[0][0];
    let [before, after] = change.levels;
    let rate = |us: f64| piece / us;
    let drop = 1.0 - before / after;
    if change.bic < LEAST_BIC || drop < LEAST_DROP {
        let reason = format!(
            "written in order, {:.0} MiB went at one rate, {:.0} MB/s; a cache that holds more is not excluded",
            mib(last[0]),
            rate(times.iter().sum::<f64>() / times.len() as f64)
        );
        return vec![Finding::number(KEY, 0.0, "MiB", [0.0, mib(8.0 * piece)]).because(reason)];
    }
    if change.at < LEAST_PIECES {
        let reason = "the rate drops so early that it may be the write buffer's";
        return vec![Finding::undetermined(KEY, reason)];
    }
    // Before and after, the rate has to be one: a slope is no cliff.
    let steady = |part: &[f64], level: f64| {
        let near =
            part.iter().filter(|us| (**us / level - 1.0).abs() < 0.5 * drop.min(0.5)).count();
        near as f64 > 0.8 * part.len() as f64
    };
    if !steady(&times[..change.at], before) || !steady(&times[change.at..], after) {
        let reason = "the rate falls, but not from one level to another";
        return vec![Finding::undetermined(KEY, reason)];
    }
    // The piece in which it changed is of both: by its time, how much of it is of the first.
    let at = (change.at as f64) * piece;
    let reason = format!(
        "written in order, the rate drops from {:.0} to {:.0} MB/s after {:.0} MiB",
        rate(before),
        rate(after),
        mib(at)
    );
    let interval = [mib(at - piece) * 0.985, mib(at + piece) * 1.005];
    vec![Finding::number(KEY, mib(at), "MiB", interval).because(reason)]
}
