//! Empties a drive by a TRIM of all of it, and reads whether it is empty; or reads whether it is so without one.
//!
//! What a drive has no data for is not read from the flash, and so it is read sooner than what was written: most of a few
//! hundred reads anywhere have to be sooner than those of a region that was written, and hardly any of them as late. That
//! is the control: a TRIM that does nothing leaves all of them late, and one of a part leaves some.

use std::cmp::Ordering;

use fourcorners_drive::{Nanos, Target};
use fourcorners_record::diagnosis::Series;

use super::probe::{Probe, Stopped};
use super::region::{Region, UNIT};
use super::statistics::{median, quantile};

/// Series that it measures.
pub(super) const SERIES: usize = 3;
/// Places that are read, and how often each: the soonest counts, as what is late is the host's.
const PLACES: u64 = 400;
const ROUNDS: usize = 3;
/// A read this far before each has what the map says of both put into memory, and neither is in the other's page.
const BEFORE: u64 = 256 << 10;
/// What a TRIM may take to act, before the reads and once more after them.
const RESTS: [Nanos; 2] = [Nanos(2_000_000_000), Nanos(60_000_000_000)];
/// Three in four of the reads have to be sooner than all but a twentieth of those of what was written, by this share.
const LEAST_SOONER: f64 = 0.04;
/// So large a share of the reads may be late at most.
const LATE: f64 = 0.005;

fn series(what: &str, samples: Vec<[f64; 2]>) -> Series {
    Series { what: what.into(), samples }
}

/// Empties a drive, unless only the region was ever written.
pub(super) fn measure_unless_new<T: Target>(
    probe: &mut Probe<'_, T>,
    region: Region,
) -> Result<Vec<Series>, Stopped> {
    let written = read(probe, region.start, region.bytes)?;
    let behind = region.start + region.bytes;
    let rest = read(probe, behind, probe.geometry().bytes() - behind)?;
    let found = vec![
        series("no TRIM, as nothing but a region was written", Vec::new()),
        series("place of a read of 4 KiB in what was written; microseconds", written),
        series("place of a read of 4 KiB anywhere behind it; microseconds", rest),
    ];
    match is_not(&found) {
        None => Ok(found),
        Some(_) => measure(probe, region),
    }
}

/// Writes nothing.
pub(super) fn measure<T: Target>(
    probe: &mut Probe<'_, T>,
    region: Region,
) -> Result<Vec<Series>, Stopped> {
    let all = probe.geometry().bytes();
    let what = "place of a read of 4 KiB in what was written; microseconds";
    let written = series(what, read(probe, region.start, region.bytes)?);
    let taken = probe.trim_all(0, all)?;
    let offered = series(
        "TRIMs of all of the drive; those that were taken",
        vec![[1.0, f64::from(u8::from(taken))]],
    );
    if !taken {
        return Ok(vec![offered, written, series("nothing was read", Vec::new())]);
    }
    probe.flush()?;
    let what = "place of a read of 4 KiB anywhere after a TRIM of all; microseconds";
    let mut found = vec![offered, written];
    for rest in RESTS {
        found.truncate(SERIES - 1);
        probe.idle(rest)?;
        found.push(series(what, read(probe, 0, all)?));
        if is_not(&found).is_none() {
            break;
        }
    }
    Ok(found)
}

/// Reads random places in a range of a drive a few times each; the shortest time of each place counts.
pub(super) fn read<T: Target>(
    probe: &mut Probe<'_, T>,
    start: u64,
    bytes: u64,
) -> Result<Vec<[f64; 2]>, Stopped> {
    let units = (bytes - BEFORE) / UNIT;
    let places: Vec<u64> = (0..PLACES).map(|_| start + probe.below(units) * UNIT).collect();
    let mut samples: Vec<[f64; 2]> =
        places.iter().map(|place| [(place + BEFORE) as f64, f64::INFINITY]).collect();
    for _ in 0..ROUNDS {
        for (place, sample) in places.iter().zip(&mut samples) {
            probe.read_us(*place, UNIT)?;
            sample[1] = sample[1].min(probe.read_us(place + BEFORE, UNIT)?);
        }
    }
    Ok(samples)
}

/// Whether a quarter of the reads at least are of places that the drive has no data for, by reads of others that were written.
pub(super) fn forgets_some(written: &Series, maybe: &Series) -> bool {
    let [written, maybe] = [written, maybe].map(times);
    !written.is_empty()
        && !maybe.is_empty()
        && is_sooner(quantile(&maybe, 0.25), quantile(&written, 0.05))
}

fn times(series: &Series) -> Vec<f64> {
    series.samples.iter().map(|[_, us]| *us).collect()
}

/// Whether a read is sooner by more than chance; what is not a number is sooner than nothing.
fn is_sooner(us: f64, before: f64) -> bool {
    (before - us).partial_cmp(&(LEAST_SOONER * before)) == Some(Ordering::Greater)
}

/// Why the drive is not empty, or is not known to be, by these series.
pub(super) fn is_not(series: &[Series]) -> Option<String> {
    let [offered, written, after] = series else { return Some("nothing was measured".into()) };
    if offered.samples.iter().any(|[_, taken]| *taken == 0.0) {
        return Some(
            "the drive answers a TRIM with an error: what was written before is not undone".into(),
        );
    }
    let [written, after] = [written, after].map(times);
    if written.is_empty() || after.is_empty() {
        return Some("nothing was measured".into());
    }
    let (before, sooner) = (quantile(&written, 0.05), quantile(&after, 0.75));
    if !is_sooner(sooner, before) {
        return Some(format!(
            "after a TRIM of all of the drive reads take {:.0} us, and {:.0} us of what was written: nothing says that it is empty",
            median(&after),
            median(&written)
        ));
    }
    let middle = (before + sooner) / 2.0;
    let late = after.iter().filter(|us| **us > middle).count() as f64 / after.len() as f64;
    (late > LATE).then(|| {
        format!(
            "after a TRIM of all of the drive {:.1} % of it are still read from the flash: it is not empty",
            100.0 * late
        )
    })
}

/// Series of a drive that is empty.
#[cfg(test)]
pub(super) fn emptied() -> Vec<Series> {
    tests::series(true, &|_| 150.0, &|_| 60.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn series(
        taken: bool,
        written: &dyn Fn(u64) -> f64,
        after: &dyn Fn(u64) -> f64,
    ) -> Vec<Series> {
        let of = |samples| Series { what: String::new(), samples };
        let reads = |us: &dyn Fn(u64) -> f64| (0..PLACES).map(|at| [at as f64, us(at)]).collect();
        vec![of(vec![[1.0, f64::from(u8::from(taken))]]), of(reads(written)), of(reads(after))]
    }

    #[test]
    fn some_is_forgotten_if_a_quarter_is_read_sooner() {
        let said = |after: &dyn Fn(u64) -> f64| {
            let made = series(true, &|at| 150.0 + (at % 7) as f64, after);
            forgets_some(&made[1], &made[2])
        };
        assert!(said(&|_| 60.0));
        assert!(said(&|at| if at % 10 < 3 { 60.0 } else { 150.0 }));
        assert!(!said(&|at| if at % 10 < 1 { 60.0 } else { 150.0 }));
        assert!(!said(&|at| 148.0 + (at % 7) as f64));
        assert!(!said(&|_| f64::NAN));
        let made = series(true, &|_| 150.0, &|_| 60.0);
        let none = Series { what: String::new(), samples: Vec::new() };
        assert!(!forgets_some(&made[1], &none) && !forgets_some(&none, &made[2]));
    }

    #[test]
    fn a_drive_is_empty_only_if_all_of_it_is_read_sooner_than_what_was_written() {
        let said = |taken, after: &dyn Fn(u64) -> f64| {
            is_not(&series(taken, &|at| 150.0 + (at % 7) as f64, after))
        };
        assert_eq!(said(true, &|_| 60.0), None);
        assert_eq!(said(true, &|at| if at == 7 { 9_000.0 } else { 60.0 }), None, "one is late");
        let part = said(true, &|at| if at % 50 == 0 { 150.0 } else { 60.0 });
        assert!(part.expect("a part is left").contains("2.0 %"));
        assert!(said(true, &|_| 150.0).is_some(), "nothing was done");
        assert!(said(true, &|at| 148.0 + (at % 7) as f64).is_some(), "or not so that it is seen");
        assert!(said(false, &|_| 60.0).expect("none is offered").contains("error"));
        assert!(said(true, &|_| f64::INFINITY).is_some());
        assert!(is_not(&[]).is_some());
        assert_eq!(is_not(&emptied()), None);
    }
}
