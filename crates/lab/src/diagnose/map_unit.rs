//! The unit of the map: how much a drive writes at least, whatever it is asked to.
//!
//! A write that covers units of the map whole is taken at once. One that covers a unit in part has to wait until the rest of it is
//! read, which takes as long as a read of the flash. Writes of each size lie at multiples of that size, and half of it
//! off: both send as much over the link and cost the firmware as much. The largest size that takes longer half off is the unit,
//! and writes of half of it take longer than it wherever they lie.
//!
//! The rest is read while the data comes over the link, and behind a large write the read of it is not seen. If that is why no
//! larger size takes longer, this one has waited as well, and takes longer than what larger ones take for each byte more.

use fourcorners_drive::{Nanos, Target};
use fourcorners_record::diagnosis::{Finding, Series};

use super::probe::{Probe, Stopped};
use super::region::Region;
use super::statistics::{deviation, median};

const KEY: &str = "map_unit_bytes";
/// Sizes of the writes; some are larger than any unit that is looked for.
const SIZES: [u64; 6] = [2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10];
/// Writes of each size, at its multiples and half of it off.
const WRITES: u64 = 50;
/// Long enough for what was written to leave the buffer, and too short to begin work for itself.
const PAUSE: Nanos = Nanos(5_000_000);
/// A write that waits for a read of flash takes longer by more than this, microseconds, and by more than so many standard errors.
const LEAST_US: f64 = 10.0;
const ERRORS: f64 = 5.0;
/// A write of the unit takes what larger ones let expect, within this many microseconds and this share.
const EXPECTED_US: f64 = 4.0;
const EXPECTED_SHARE: f64 = 0.05;

/// Bytes that it writes.
pub(super) fn bytes() -> u64 {
    2 * WRITES * SIZES.iter().sum::<u64>()
}

/// Seconds that it rests.
pub(super) const RESTS_S: f64 = (2 * WRITES * SIZES.len() as u64 * PAUSE.0) as f64 / 1e9;

pub(super) fn measure<T: Target>(
    probe: &mut Probe<'_, T>,
    region: Region,
) -> Result<Vec<Series>, Stopped> {
    let block = u64::from(probe.geometry().logical_block_bytes);
    let mut writes: Vec<(usize, u64)> = (0..2)
        .flat_map(|off| SIZES.into_iter().map(move |size| (off, size)))
        .filter(|(off, size)| (size >> off).is_multiple_of(block))
        .flat_map(|kind| (0..WRITES).map(move |_| kind))
        .collect();
    // In an order by chance: what changes with time is not taken for a size's.
    probe.shuffle(&mut writes);
    let mut series = ["at a multiple of them", "half of them off"].map(|where_it_is| Series {
        what: format!("bytes of a write {where_it_is}; microseconds"),
        samples: Vec::new(),
    });
    for (off, size) in writes {
        let place = probe.below(region.bytes / size - 1) * size + off as u64 * size / 2;
        probe.idle(PAUSE)?;
        let us = probe.write_us(region.start + place, size)?;
        series[off].samples.push([size as f64, us]);
    }
    Ok(series.into())
}

/// What writes of one size take.
#[derive(Clone, Copy, Debug)]
struct Times {
    us: f64,
    /// The standard error of it.
    error: f64,
}

fn of_size(series: &Series, size: u64) -> Option<Times> {
    let of_it = series.samples.iter().filter(|[bytes, _]| *bytes == size as f64);
    let times: Vec<f64> = of_it.map(|[_, us]| *us).collect();
    // Few writes have no standard error that means anything.
    (times.len() >= WRITES as usize / 2).then(|| Times {
        us: median(&times),
        error: 1.25 * deviation(&times) / (times.len() as f64).sqrt(),
    })
}

/// How much longer the first takes, if it does for certain.
fn longer(one: Times, other: Times) -> Option<f64> {
    let by = one.us - other.us;
    (by > LEAST_US.max(ERRORS * one.error.hypot(other.error))).then_some(by)
}

pub(super) fn estimate(series: &[Series]) -> Vec<Finding> {
    let undetermined = |reason: String| vec![Finding::undetermined(KEY, reason)];
    let [whole, off] = series else {
        return undetermined("nothing was measured".into());
    };
    let both = |size: u64| of_size(whole, size).zip(of_size(off, size));
    if SIZES.into_iter().filter_map(both).count() < 2 {
        return undetermined("too little was measured".into());
    }
    let waits = |size: u64| both(size).and_then(|(whole, off)| longer(off, whole));
    let Some(unit) = SIZES.into_iter().rev().find(|size| waits(*size).is_some()) else {
        return undetermined(
            "no write waits for the rest of a unit: half of its size off it takes as long as at a multiple of it".into(),
        );
    };
    let by = waits(unit).unwrap_or_default();
    let kib = |bytes: u64| bytes as f64 / 1024.0;
    let reason = format!(
        "a write of {} KiB takes {by:.0} us longer if it lies half of that off, and larger ones do not",
        kib(unit)
    );
    let [half, one, two, four] =
        [unit / 2, unit, 2 * unit, 4 * unit].map(|size| of_size(whole, size));
    let Some((one, (two, four))) = one.zip(two.zip(four)) else {
        return undetermined(format!("{reason}: too few larger writes were tried"));
    };
    // A byte more costs as much from one unit to two as from two to four.
    let expected = two.us - (four.us - two.us) / 2.0;
    let within = EXPECTED_US.max(EXPECTED_SHARE * expected) + 2.0 * one.error.hypot(two.error);
    if (one.us - expected).abs() > within {
        return undetermined(format!(
            "{reason}, but at a multiple of them it takes {:.0} us, and {expected:.0} as larger ones let expect: some wait unseen",
            one.us
        ));
    }
    let Some(us) = half.and_then(|half| longer(half, one)) else {
        return undetermined(format!(
            "{reason}, but one of {} KiB does not take longer than one of {}",
            kib(unit / 2),
            kib(unit)
        ));
    };
    let reason = format!(
        "{reason}; one of {} KiB takes {us:.0} us longer than one of {}",
        kib(unit / 2),
        kib(unit)
    );
    vec![Finding::number(KEY, unit as f64, "bytes", [unit as f64; 2]).because(reason)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disturbed::Random;

    /// Writes from `from` bytes on, with so many microseconds of noise. `waits` is given the size of a write and whether it is half
    /// off, and says how long it waits.
    fn measured(noise: f64, from: u64, waits: impl Fn(u64, bool) -> f64) -> Vec<Series> {
        let mut random = Random(3);
        let mut chance = || random.next() as f64 / u64::MAX as f64;
        let mut series = [false, true].map(|_| Series { what: String::new(), samples: Vec::new() });
        for (off, series) in series.iter_mut().enumerate() {
            for size in SIZES.into_iter().filter(|size| *size >= from << off) {
                for _ in 0..WRITES {
                    let us = 20.0 + size as f64 / 500.0 + waits(size, off == 1);
                    series.samples.push([size as f64, us + noise * chance()]);
                }
            }
        }
        series.into()
    }

    fn found(series: &[Series]) -> Option<f64> {
        estimate(series)[0].determined()
    }

    /// Waits of a drive that reads the rest of a unit.
    fn of_unit(unit: u64, us: f64) -> impl Fn(u64, bool) -> f64 {
        move |size, off| {
            let whole = if off { size / 2 } else { size };
            if whole.is_multiple_of(unit) { 0.0 } else { us }
        }
    }

    #[test]
    fn the_unit_is_the_largest_write_that_waits_half_off() {
        for noise in [0.0, 20.0] {
            for unit in [4096, 8192, 16_384] {
                let series = measured(noise, 0, of_unit(unit, 60.0));
                assert_eq!(found(&series), Some(unit as f64), "{noise} us of noise");
            }
        }
        // Of a drive that takes no less than 4 KiB, the unit of 4 KiB is not seen, and one of 8 is.
        assert_eq!(found(&measured(5.0, 4096, of_unit(4096, 60.0))), None);
        assert_eq!(found(&measured(5.0, 4096, of_unit(8192, 60.0))), Some(8192.0));
    }

    #[test]
    fn where_nothing_waits_or_something_else_does_there_is_no_unit() {
        assert_eq!(found(&measured(20.0, 0, |_, _| 0.0)), None);
        // Less than a read of flash.
        assert_eq!(found(&measured(0.0, 0, of_unit(8192, 5.0))), None);
        // Writes that are half off take longer whatever their size, or one size does alone.
        assert_eq!(found(&measured(0.0, 0, |_, off| if off { 60.0 } else { 0.0 })), None);
        let alone = |size: u64, off: bool| if off && size == 8192 { 60.0 } else { 0.0 };
        assert_eq!(found(&measured(0.0, 0, alone)), None);
        // Of 16 KiB, where the link takes longer than the read: of smaller ones the wait is seen, and less if half is kept.
        let unseen = |size: u64, off: bool| match (size, off) {
            (2048..8192, _) => 40.0,
            (8192, false) => 12.0,
            (8192, true) => 30.0,
            _ => 0.0,
        };
        assert_eq!(found(&measured(0.0, 0, unseen)), None);
        assert_eq!(found(&[]), None);
        assert_eq!(found(&measured(0.0, 1 << 20, |_, _| 0.0)), None);
    }
}
