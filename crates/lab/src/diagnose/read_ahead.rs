//! Read-ahead: whether a drive fetches what a reader in order will ask for next.
//!
//! Two reads in order, a pause, and the third one: a drive that reads ahead has it by then. The control is the same done
//! backwards. The third read is near the two before it then, too, so that whatever a drive keeps of what it has read,
//! a page or a part of its map, makes both as fast.

use fourcorners_drive::{Nanos, Target};
use fourcorners_record::diagnosis::{Finding, Series};

use super::probe::{Probe, Stopped};
use super::region::{Region, UNIT};
use super::statistics::{deviation, median, quantile};

const KEY: &str = "read_ahead";
/// Times that it is tried each way.
const TRIES: u64 = 400;
/// Long enough to read a page, and too short to begin work for itself.
const PAUSE: Nanos = Nanos(5_000_000);
/// The middle one of the third reads in order is faster by this share, or there is no read-ahead.
const GAIN: f64 = 0.1;
/// And what it spares is less than any flash takes to be read, microseconds: behind a door that takes longer than the drive a
/// share is little. Times that differ among themselves by so much that it would not be seen tell nothing.
const LEAST_SPARED_US: f64 = 10.0;
/// Those that are faster than all but this share of the ones backwards were fetched ahead: of all there must be so many of
/// them, and without read-ahead there are no more than that. Pages that are faster than others may move the middle.
const FASTEST: f64 = 0.1;
const MOST: f64 = 0.75;
const FEW: f64 = 0.25;
/// Third reads each way at least.
const LEAST: usize = 20;

pub(super) fn measure<T: Target>(
    probe: &mut Probe<'_, T>,
    region: Region,
) -> Result<Vec<Series>, Stopped> {
    let mut series = ["in order", "backwards"].map(|way| Series {
        what: format!("unit of 4 KiB; microseconds of a read of it, the third of three {way}"),
        samples: Vec::new(),
    });
    let mut ways: Vec<usize> = (0..2 * TRIES as usize).map(|which| which % 2).collect();
    // In an order by chance: what changes with time is not taken for a way's.
    probe.shuffle(&mut ways);
    for way in ways {
        let third = 2 + probe.below(region.units() - 4);
        let before = if way == 0 { [third - 2, third - 1] } else { [third + 2, third + 1] };
        for unit in before {
            probe.read_us(region.start + unit * UNIT, UNIT)?;
        }
        probe.idle(PAUSE)?;
        let us = probe.read_us(region.start + third * UNIT, UNIT)?;
        series[way].samples.push([third as f64, us]);
    }
    Ok(series.into())
}

pub(super) fn estimate(series: &[Series]) -> Vec<Finding> {
    let undetermined = |reason: String| vec![Finding::undetermined(KEY, reason)];
    let [in_order, backwards] = series else {
        return undetermined("nothing was measured".into());
    };
    let times = |series: &Series| series.samples.iter().map(|[_, us]| *us).collect::<Vec<f64>>();
    let [in_order, backwards] = [in_order, backwards].map(times);
    if in_order.len().min(backwards.len()) < LEAST {
        return undetermined("too little was measured".into());
    }
    let [ahead, behind] = [&in_order, &backwards].map(|times| median(times));
    if ahead <= 0.0 || behind <= 0.0 {
        return undetermined("its times are no times".into());
    }
    let gain = 1.0 - ahead / behind;
    let limit = quantile(&backwards, FASTEST);
    let hits = in_order.iter().filter(|us| **us < limit).count() as f64 / in_order.len() as f64;
    let reason = format!(
        "the third of three reads takes {ahead:.0} us in order and {behind:.0} us backwards"
    );
    let as_fast = gain.abs() < GAIN && (behind - ahead).abs() < LEAST_SPARED_US && hits <= FEW;
    let by_chance = by_chance_us(&in_order).hypot(by_chance_us(&backwards));
    match gain {
        _ if gain >= GAIN && hits >= MOST => vec![Finding::class(KEY, "yes", reason)],
        _ if as_fast && by_chance < LEAST_SPARED_US => vec![Finding::class(KEY, "no", reason)],
        _ if as_fast => undetermined(format!(
            "{reason}, and so many as differ so much among themselves may differ by {by_chance:.0} us by chance"
        )),
        _ => undetermined(format!(
            "{reason}, {:.0} % of them faster: too little to tell",
            100.0 * hits
        )),
    }
}

/// By how much the median of such times may be off, nineteen times of twenty and were they normal, microseconds.
fn by_chance_us(times: &[f64]) -> f64 {
    2.0 * (std::f64::consts::PI / 2.0 / times.len() as f64).sqrt() * deviation(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(in_order: &[f64], backwards: &[f64]) -> Option<String> {
        let series = |times: &[f64]| Series {
            what: String::new(),
            samples: times.iter().map(|us| [0.0, *us]).collect(),
        };
        let found = estimate(&[series(in_order), series(backwards)]);
        found[0].as_class().map(String::from)
    }

    #[test]
    fn reads_that_are_as_fast_backwards_are_no_read_ahead_and_half_of_them_are_nothing() {
        assert_eq!(said(&[50.0; 40], &[100.0; 40]), Some("yes".into()));
        assert_eq!(said(&[50.0; 40], &[50.0; 40]), Some("no".into()));
        assert_eq!(said(&[100.0; 40], &[50.0; 40]), None);
        let half: Vec<f64> = (0..41).map(|read| if read % 2 == 0 { 50.0 } else { 100.0 }).collect();
        assert_eq!(said(&half, &[100.0; 40]), None);
        // Behind a door of 300 us to 690 a fetched page spares 36 of them, a small share and not nothing.
        let door = |us: f64, each: f64| {
            (0..40).map(|read| us + f64::from(read) * each).collect::<Vec<f64>>()
        };
        assert_eq!(said(&door(300.0, 10.0), &door(336.0, 10.0)), None);
        // And by chance it spares nothing, which so few that differ so much cannot tell from those.
        assert_eq!(said(&door(300.0, 10.0), &door(300.0, 10.0)), None);
        assert_eq!(said(&door(300.0, 0.5), &door(300.0, 0.5)), Some("no".into()));
        // Pages of two kinds differ among themselves, and are enough to see that none was fetched.
        let kinds: Vec<f64> =
            (0..400).map(|read| if read % 2 == 0 { 50.0 } else { 68.0 }).collect();
        assert_eq!(said(&kinds, &kinds), Some("no".into()));
        assert_eq!(said(&[], &[]), None);
        assert_eq!(said(&[50.0], &[100.0]), None);
    }
}
