//! TRIM: whether it makes a used drive faster, and whether reads wait for it.
//!
//! The drive is filled in order, and its lower half written at random until all of it is used. Then the lower half is
//! written at random twice more: the upper half is trimmed before the second time and not before the first, which is one
//! control. Another is the drive when it was only filled: a TRIM can win nothing back where nothing was lost, and that
//! it did nothing is then not said. The third control is to read what was trimmed: places without data are read sooner than
//! others (`empty.rs`). If they are not, a faster drive may owe it to the pause or to chance. If they are and writes are no
//! faster, a cache may cost what the TRIM gains. In both cases nothing is said.

use fourcorners_drive::{Geometry, Nanos, Target};
use fourcorners_record::diagnosis::{Finding, Series};

use super::empty::{self, forgets_some};
use super::probe::{Probe, Stopped, part};
use super::region::UNIT;
use super::statistics::{capped_mean, median};

const WORKS: &str = "trim";
const HOLDS_UP: &str = "trim_holds_up_reads";
const MIB: u64 = 1 << 20;
/// Pieces of the drive, by which times are taken, and how many of them are written at random until it is used, and then
/// with and without a TRIM.
const PIECES: u64 = 128;
const TO_USE: u64 = 128;
const EACH_ARM: u64 = 40;
/// The second half of an arm is judged: by then what the idle time before it gave is used up.
const JUDGED: usize = 20;
/// Those first written at random come from a drive that is filled and no more; the very first are the write buffer's.
const FILLED: std::ops::Range<usize> = 1..6;
/// Commands that the upper half is trimmed by, at least, and MiB of one at most.
const COMMANDS: u64 = 32;
const MOST_OF_ONE: u64 = 1 << 30;
const REST: Nanos = Nanos(2_000_000_000);
/// A TRIM that works makes the drive faster by this factor at least, and one that does nothing by no more than that.
pub(crate) const LEAST_GAIN: f64 = 1.05;
const NO_GAIN: f64 = 1.04;
/// A gain has to be above so many of its standard errors, and one that is none below them: pieces differ, as a cache that is
/// folded makes writes faster and slower by turns.
const ERRORS: f64 = 3.0;
/// A drive that was only filled is faster by this factor at least, or there is nothing to win back.
pub(crate) const LEAST_LOST: f64 = 1.25;
/// Where that much was lost, so large a share of it has to be won back: half of the drive that is free makes up for nearly all,
/// and a drive that is not yet steady becomes faster or slower by less.
const LEAST_WON: f64 = 1.0 / 3.0;
/// A read waits for a TRIM if it takes longer than alone by this factor; less than the other is no wait.
const WAITS: f64 = 5.0;
const WAITS_NOT: f64 = 2.5;

/// Bytes that are written at most.
pub(super) fn bytes(geometry: Geometry) -> u64 {
    geometry.bytes() + bytes_at_random(geometry)
}

/// Bytes of them that are written at random.
pub(super) fn bytes_at_random(geometry: Geometry) -> u64 {
    piece(geometry) * (TO_USE + 2 * EACH_ARM)
}

fn piece(geometry: Geometry) -> u64 {
    part(geometry, PIECES)
}

pub(super) fn measure<T: Target>(probe: &mut Probe<'_, T>) -> Result<Vec<Series>, Stopped> {
    let geometry = probe.geometry();
    if geometry.queue_depth < 2 {
        return Err(Stopped::Lacks("the target takes one command at a time".into()));
    }
    let half = geometry.bytes() / 2 / MIB * MIB;
    let series = |what: &str, samples: Vec<[f64; 2]>| Series { what: what.into(), samples };
    let taken = probe.trim(half, UNIT)?;
    let offered = series(
        "TRIMs that were tried; those that were taken",
        vec![[1.0, f64::from(u8::from(taken))]],
    );
    if !taken {
        return Ok(vec![offered]);
    }
    probe.flush()?;
    probe.fill()?;
    let piece = piece(geometry);
    let at_random = |probe: &mut Probe<'_, T>, pieces: u64, what: &str| {
        let times = probe.write_at_random(half, pieces * piece, piece)?;
        let samples = times.iter().zip(1..).map(|(us, number)| [(number * piece) as f64, *us]);
        Ok(series(what, samples.collect()))
    };
    let used =
        at_random(probe, TO_USE, "bytes written at random; microseconds of the last of them")?;
    probe.flush()?;
    probe.idle(REST)?;
    let without = at_random(probe, EACH_ARM, "the same without a TRIM")?;
    probe.flush()?;
    probe.idle(REST)?;
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    let one = (half / COMMANDS).min(MOST_OF_ONE) / MIB * MIB;
    let mut start = half;
    while start < geometry.bytes() / MIB * MIB {
        let bytes = one.min(geometry.bytes() / MIB * MIB - start);
        let mut place = || probe.below(half / UNIT) * UNIT;
        let [before, meanwhile] = [place(), place()];
        alone.push([before as f64, probe.read_us(before, UNIT)?]);
        let read = probe.read_beside_trim(meanwhile, (start, bytes))?;
        beside.push([meanwhile as f64, read]);
        start += bytes;
    }
    probe.idle(REST)?;
    let with = at_random(probe, EACH_ARM, "the same after a TRIM of the upper half")?;
    let alone = series("place of a read of 4 KiB; microseconds", alone);
    let beside = series("place of a read of 4 KiB beside a TRIM; microseconds", beside);
    let what = "place of a read of 4 KiB in what was written; microseconds";
    let written = series(what, empty::read(probe, 0, half)?);
    let what = "place of a read of 4 KiB in what was trimmed; microseconds";
    let trimmed = series(what, empty::read(probe, half, half)?);
    Ok(vec![offered, used, without, with, alone, beside, written, trimmed])
}

pub(super) fn estimate(series: &[Series]) -> Vec<Finding> {
    let both =
        |reason: &str| [WORKS, HOLDS_UP].map(|key| Finding::undetermined(key, reason)).to_vec();
    let takes_none =
        |it: &Series| it.samples.iter().all(|[tried, taken]| *tried == 1.0 && *taken == 0.0);
    let (used, without, with, alone, beside, forgets) = match series {
        [offered] if !offered.samples.is_empty() && takes_none(offered) => {
            let reason = "the drive answers a TRIM with an error";
            return vec![
                Finding::class(WORKS, "not offered", reason),
                Finding::undetermined(HOLDS_UP, reason),
            ];
        }
        [_, used, without, with, alone, beside, written, trimmed] => {
            (used, without, with, alone, beside, forgets_some(written, trimmed))
        }
        [_, _, _, _, _, _] => {
            return both("an earlier version measured it, and did not read what was trimmed");
        }
        _ => return both("nothing was measured"),
    };
    let times = |series: &Series| series.samples.iter().map(|[_, us]| *us).collect::<Vec<f64>>();
    let last = |series: &Series| {
        let times = times(series);
        times[times.len().saturating_sub(JUDGED)..].to_vec()
    };
    let filled = Arm::of(times(used).get(FILLED).unwrap_or_default());
    let [without, with] = [Arm::of(&last(without)), Arm::of(&last(with))];
    let [alone, beside] = [median(&times(alone)), median(&times(beside))];
    // Of none the median is no number, which is above nothing.
    if ![filled.us, without.us, with.us, alone, beside].iter().all(|us| *us > 0.0) {
        return both("nothing was measured");
    }
    vec![works([filled, without, with], forgets), holds_up(alone, beside)]
}

/// What pieces that were written at random take.
#[derive(Clone, Copy)]
struct Arm {
    /// Microseconds of one in the mean: a middle one would leave out the turns at which a cache is folded.
    us: f64,
    /// Its standard error, a share of that.
    error: f64,
}

impl Arm {
    fn of(times: &[f64]) -> Arm {
        let (us, error) = capped_mean(times, f64::INFINITY);
        Arm { us, error: error / us }
    }

    /// How many times as long as the other one a piece takes, and how far off that may be.
    fn over(self, other: Arm) -> (f64, f64) {
        let times = self.us / other.us;
        (times, ERRORS * times * self.error.hypot(other.error))
    }
}

/// By a piece written at random to a drive that was filled and no more, to a used one, and after a TRIM; and whether what was
/// trimmed is read as what holds no data is.
fn works([filled, without, with]: [Arm; 3], forgets: bool) -> Finding {
    let ((gain, unsure), (lost, lost_unsure)) = (without.over(with), without.over(filled));
    let reason = format!(
        "a used drive writes {gain:.2} times as fast after a TRIM of half of it, and one that was only filled {lost:.2} times"
    );
    let won = (without.us - with.us) / (without.us - filled.us);
    let is_enough = lost < LEAST_LOST || won >= LEAST_WON;
    match gain {
        _ if gain >= LEAST_GAIN.max(1.0 + unsure) && is_enough && forgets => {
            Finding::class(WORKS, "works", reason)
        }
        _ if gain >= LEAST_GAIN.max(1.0 + unsure) && is_enough => Finding::undetermined(
            WORKS,
            format!("{reason}, but what was trimmed is read as late as what was written"),
        ),
        _ if lost < LEAST_LOST => {
            Finding::undetermined(WORKS, format!("{reason}: there is too little to win back"))
        }
        _ if forgets => Finding::undetermined(
            WORKS,
            format!("{reason}, but what was trimmed is read sooner than what was written"),
        ),
        _ if (1.0 / NO_GAIN..NO_GAIN).contains(&gain) && gain + unsure < lost - lost_unsure => {
            Finding::class(WORKS, "does nothing", reason)
        }
        _ => Finding::undetermined(
            WORKS,
            format!("{reason}: that is known to {:.0} %, and tells neither", 100.0 * unsure),
        ),
    }
}

/// By microseconds of a read alone and of one beside a TRIM.
fn holds_up(alone: f64, beside: f64) -> Finding {
    let reason =
        format!("a read takes {alone:.0} us alone and {beside:.0} us right after a TRIM was sent");
    match beside / alone {
        waits if waits >= WAITS => Finding::class(HOLDS_UP, "yes", reason),
        waits if waits < WAITS_NOT => Finding::class(HOLDS_UP, "no", reason),
        _ => Finding::undetermined(HOLDS_UP, format!("{reason}: neither quick nor held up")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(us: [f64; 3], error: f64, forgets: bool) -> Option<String> {
        works(us.map(|us| Arm { us, error }), forgets).as_class().map(String::from)
    }

    /// What is said where reads do not contradict it.
    fn said(us: [f64; 3], error: f64) -> Option<String> {
        let [remembering, forgetting] = [false, true].map(|forgets| found(us, error, forgets));
        assert!(remembering.is_none() || forgetting.is_none(), "both are said of {us:?}");
        remembering.or(forgetting)
    }

    #[test]
    fn reads_of_what_was_trimmed_have_to_say_the_same() {
        let (faster, no_faster) = ([100.0, 300.0, 120.0], [100.0, 300.0, 300.0]);
        assert_eq!(found(faster, 0.01, true), Some("works".into()));
        assert_eq!(found(faster, 0.01, false), None);
        assert_eq!(found(no_faster, 0.01, false), Some("does nothing".into()));
        assert_eq!(found(no_faster, 0.01, true), None);
    }

    #[test]
    fn that_it_does_nothing_is_said_only_where_something_was_lost() {
        assert_eq!(said([100.0, 300.0, 120.0], 0.01), Some("works".into()));
        assert_eq!(said([100.0, 300.0, 300.0], 0.01), Some("does nothing".into()));
        assert_eq!(said([290.0, 300.0, 300.0], 0.01), None);
        assert_eq!(said([100.0, 300.0, 287.0], 0.003), None);
        assert_eq!(said([100.0, 300.0, 400.0], 0.01), None);
        // A drive that is not yet steady becomes faster by itself, and wins nothing like all of it back.
        assert_eq!(said([100.0, 216.0, 193.0], 0.003), None);
        // Where the pieces of an arm differ by as much, a gain may be chance.
        assert_eq!(said([130.0, 150.0, 125.0], 0.01), Some("works".into()));
        assert_eq!(said([130.0, 150.0, 125.0], 0.15), None);
    }

    #[test]
    fn a_read_waits_for_a_trim_or_does_not_and_between_nothing_is_said() {
        let said = |beside| holds_up(100.0, beside).as_class().map(String::from);
        assert_eq!(said(10_000.0), Some("yes".into()));
        assert_eq!(said(110.0), Some("no".into()));
        assert_eq!(said(400.0), None);
    }
}
