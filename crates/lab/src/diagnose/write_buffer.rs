//! The write buffer: after how many bytes, written into a drive at rest, the first write has to wait.

use fourcorners_drive::{Nanos, Target};

use super::finding::{Finding, Series};
use super::probe::{Probe, Stopped};
use super::region::{Region, UNIT};
use super::statistics::{deviation, median};

/// How often a drive at rest is written to.
const TRIALS: u64 = 24;
const FLUSHES: u32 = 9;
/// Bytes of a write, but for the first of a trial: that shifts the others by a unit more each time.
const WRITE: u64 = 32 << 10;
/// Most bytes of a trial.
const MOST: u64 = 32 << 20;
/// A write waits that takes longer than others by this many of their deviations, and this many microseconds.
const DEVIATIONS: f64 = 6.0;
const LEAST_US: f64 = 100.0;
/// Waits that end a trial.
const WAITS: usize = 6;
/// The drive is at rest after so long.
const REST: Nanos = Nanos(200_000_000);
/// Waits are rare that are fewer than this share of the writes: a host's, not a drive's.
const RARE: f64 = 0.02;
/// What is written in a longer share of the time that a little takes to the flash may have left the buffer in part.
const EMPTIES: f64 = 1.0;
/// Bytes of a row, where nobody knows.
const UNKNOWN_ROW: f64 = 32.0 * 1024.0;
/// Share of the trials that must agree.
const AGREE: f64 = 0.75;

/// Bytes that all trials write at most.
pub(super) fn most_bytes(capacity: u64) -> u64 {
    TRIALS * of_trial(capacity) + u64::from(FLUSHES) * WRITE
}

/// Bytes of a trial: all of them write a fiftieth of the target at most.
fn of_trial(capacity: u64) -> u64 {
    (capacity / 50 / TRIALS).min(MOST) / WRITE * WRITE
}

pub(super) fn measure<T: Target>(
    probe: &mut Probe<'_, T>,
    region: Region,
) -> Result<Vec<Series>, Stopped> {
    let most = of_trial(probe.geometry().bytes());
    let mut place = 0;
    let mut all = Vec::new();
    // How long the flash takes for a little: what is written in less has not left the buffer.
    let mut flushes = Vec::new();
    for flush in 0..FLUSHES {
        probe.idle(REST)?;
        let write = probe.write_us(region.start + place, WRITE)?;
        place += WRITE;
        flushes.push([f64::from(flush), write + probe.flush()?.as_micros()]);
    }
    for trial in 0..TRIALS {
        probe.flush()?;
        probe.idle(REST)?;
        let mut samples: Vec<[f64; 2]> = Vec::new();
        let (mut written, mut waits) = (0, 0);
        while written < most && waits < WAITS {
            let bytes = if written == 0 { (trial % 8 + 1) * UNIT } else { WRITE };
            if place + bytes > region.bytes {
                place = 0;
            }
            let us = probe.write_us(region.start + place, bytes)?;
            place += bytes;
            written += bytes;
            if let Some(usual) = usual(&samples)
                && us > usual
            {
                waits += 1;
            }
            samples.push([written as f64, us]);
        }
        all.push(Series { what: "bytes written with this write; microseconds".into(), samples });
    }
    let what = "number of a write of 32 KiB and a flush; microseconds of both".into();
    all.push(Series { what, samples: flushes });
    Ok(all)
}

/// More than the writes so far take, the first one aside; of fewer than three nobody knows.
fn usual(samples: &[[f64; 2]]) -> Option<f64> {
    let times: Vec<f64> = samples.iter().skip(1).map(|[_, us]| *us).collect();
    (times.len() >= 3).then(|| median(&times) + (DEVIATIONS * deviation(&times)).max(LEAST_US))
}

/// Between how many bytes writes of a trial waited.
fn waits(samples: &[[f64; 2]]) -> impl Iterator<Item = [f64; 2]> {
    (4..samples.len())
        .filter(|&index| usual(&samples[..index]).is_some_and(|usual| samples[index][1] > usual))
        .map(|index| [samples[index - 1][0], samples[index][0]])
}

pub(super) fn estimate(series: &[Series], row_bytes: Option<f64>) -> Vec<Finding> {
    const KEY: &str = "write_buffer_kib";
    let Some((flushes, series)) = series.split_last() else {
        return vec![Finding::undetermined(KEY, "nothing was measured")];
    };
    let trials = series.len();
    let waits: Vec<Vec<[f64; 2]>> =
        series.iter().map(|trial| waits(&trial.samples).collect()).collect();
    let writes: usize = series.iter().map(|trial| trial.samples.len()).sum();
    let least = series
        .iter()
        .filter_map(|trial| trial.samples.last())
        .map(|sample| sample[0])
        .fold(f64::INFINITY, f64::min);
    if writes == 0 {
        return vec![Finding::undetermined(KEY, "nothing was measured")];
    }
    // The first bytes that most trials agree on: there something changes that is the drive's. Later waits repeat it.
    let mut borders: Vec<f64> = waits.iter().flatten().flatten().copied().collect();
    borders.sort_by(f64::total_cmp);
    borders.dedup();
    let agree = |low: f64, high: f64| {
        let in_it =
            |trial: &&Vec<[f64; 2]>| trial.iter().any(|[from, to]| *from <= low && high <= *to);
        waits.iter().filter(in_it).count()
    };
    let spans: Vec<(usize, [f64; 2])> =
        borders.windows(2).map(|pair| (agree(pair[0], pair[1]), [pair[0], pair[1]])).collect();
    let enough = (AGREE * trials as f64).ceil() as usize;
    let Some(first) = spans.iter().position(|(agree, _)| *agree >= enough) else {
        let waited: usize = waits.iter().map(Vec::len).sum();
        let most = spans.iter().map(|(agree, _)| *agree).max().unwrap_or(0);
        let reason = if (waited as f64) < RARE * writes as f64 && 4 * most < trials {
            format!(
                "no write had to wait, of {:.0} KiB: what empties the buffer is as fast as the link, or it holds more",
                least / 1024.0
            )
        } else {
            format!(
                "of {trials} times, a write had to wait after the same number of bytes {most} times only"
            )
        };
        return vec![Finding::undetermined(KEY, reason)];
    };
    // Where they go on to agree no less, the border lies there as well.
    let (most, _) = spans[first..]
        .iter()
        .take_while(|(agree, _)| *agree >= enough)
        .copied()
        .max_by_key(|(agree, _)| *agree)
        .unwrap_or(spans[first]);
    let same: Vec<[f64; 2]> = spans[first..]
        .iter()
        .skip_while(|(agree, _)| *agree < most)
        .take_while(|(agree, _)| *agree == most)
        .map(|(_, span)| *span)
        .collect();
    let (low, high) = (same[0][0], same[same.len() - 1][1]);
    // Until then nothing may have left the buffer: it took less time than a little takes to the flash.
    let times: Vec<f64> = flushes.samples.iter().map(|[_, us]| *us).collect();
    let flash_us = median(&times);
    let until = |trial: &Series| -> f64 {
        trial.samples.iter().take_while(|[bytes, _]| *bytes <= low).map(|[_, us]| us).sum()
    };
    let until_us = median(&series.iter().map(until).collect::<Vec<f64>>());
    if until_us > EMPTIES * flash_us {
        let reason = format!(
            "a write waits after {:.0} KiB and {until_us:.0} us, and 32 KiB are on the flash after {flash_us:.0} us: some of it had left the buffer",
            high / 1024.0
        );
        return vec![Finding::undetermined(KEY, reason)];
    }
    // A row that is being filled may be in the buffer or out of it.
    let row = row_bytes.unwrap_or(UNKNOWN_ROW);
    let reason = format!(
        "written into a drive at rest, the first write that waits is the one with byte {:.0} to {:.0} KiB, {most} of {trials} times, before 32 KiB would be on the flash",
        low / 1024.0,
        high / 1024.0,
    );
    let interval = [low / 1024.0, (high + row) / 1024.0];
    let finding = Finding::number(KEY, (low + high + row) / 2048.0, "KiB", interval);
    vec![finding.because(reason)]
}
