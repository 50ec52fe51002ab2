//! Suspension: whether a read waits until a program of its die is over, or the program makes way.
//!
//! A burst of writes goes into the buffer and is flushed, so that dies program, and something else is read in the last half of
//! a program before the flush is over: all data is at its die by then, so that no read waits for wires. One that finds its die
//! idle takes as long as at rest. One that finds a program in progress waits for what is left of it, and of those on the die
//! that is done last, until the flush is over: the sooner before that a read comes, the longer it waits. Where programs make way
//! all reads wait for as long as that takes.
//!
//! How long a program takes is known from a flush of one unit, but for what the drive does behind the last program before it
//! says that the flush is over, as noting where data is: no read waits in that time, so that it ends where the first ones do. The
//! end of a flush is seen late, through noise by a share of the time that it took, so that not the waits themselves count but
//! by how much they grow.
//!
//! Over slow wires the rest of a row comes as slowly as it is programmed, and where programs make way it is the wires that reads wait
//! for. So long a read of as much as a row may have takes at rest, too: where that is much of a program, no wait is said to be for one.

use fourcorners_drive::{Nanos, Target};
use fourcorners_record::diagnosis::{Finding, Series};

use super::probe::{Probe, Stopped};
use super::region::{Region, UNIT};
use super::statistics::{median, quantile};

const KEY: &str = "suspension";
/// Bytes of a burst. Small ones leave most of many dies idle, and large ones fill a cache: larger ones follow where smaller ones
/// do not tell.
const SIZES: [u64; 3] = [32 << 10, 128 << 10, 512 << 10];
/// Bursts of each size that are only flushed, bursts anywhere in whose flush something is read, and bursts late in whose last
/// programs something is read.
const FLUSHED: u64 = 20;
const ANYWHERE: u64 = 120;
const BURSTS: u64 = 300;
const BLOCK: u64 = 16 << 10;
/// Units that are written and flushed alone.
const ALONE: u64 = 40;
/// Reads of as much as comes over the wires of a die for one program at most.
const WIDE: u64 = 20;
const ROW: u64 = 64 << 10;
/// Long enough for what was written to leave the buffer, and too short to begin work for itself.
const PAUSE: Nanos = Nanos(5_000_000);
/// A flush that takes less than this, microseconds, waits for no program.
const LEAST_PROGRAM_US: f64 = 100.0;
/// Reads are sent so long before the last program is expected to be over, in programs, and count if it was.
const AIMED: [f64; 2] = [0.1, 0.6];
const LEFT: [f64; 2] = [0.15, 0.5];
/// The share of reads behind the last program that take longer by chance at most, and the least number of others that do.
const MOST_BY_CHANCE: f64 = 0.04;
const LEAST_CERTAIN: usize = 8;
/// A read has met something if it takes longer by this, microseconds, and by more than reads at rest differ by, but for one in
/// a hundred.
const LEAST_WAIT_US: f64 = 5.0;
/// The least reads that have met something, and the least share of those that count.
const LEAST_MET: usize = 40;
const LEAST_SHARE: f64 = 0.1;
/// By how much the longest waits of those with more left of the flush are longer, over how much more is left, where programs are
/// waited for at least and where they make way at most.
const LATEST: f64 = 0.9;
const GROW: f64 = 0.5;
const STAY: f64 = 0.25;
/// So much more is left, times what reads at rest differ by, or it is not seen whether they grow.
const LEAST_MORE: f64 = 3.0;
/// Programs are waited for if the longest waits are longer than this, microseconds: to make way may take almost as long. All but a
/// few waits are over when the flush is.
const LEAST_LATEST_US: f64 = 250.0;
/// So much of what is left of the last program the longest of them wait at least, both later and sooner: what comes over wires
/// is waited for only before that, and then less as it ends.
const OF_LEFT: f64 = 0.65;
/// The wires take less than this share of a program, or they are what is waited for.
const MOST_OF_WIRES: f64 = 0.5;
const ALL_BUT: f64 = 0.97;
/// Where programs make way the longest waits are less than this share of one, or they may be for one that takes less than is known,
/// and the middle one is more than this, microseconds and times what reads at rest differ by.
const MAKES_WAY: f64 = 0.2;
const LEAST_MIDDLE_US: f64 = 20.0;
const LEAST_MIDDLE: f64 = 1.5;

/// Bytes that it writes.
pub(super) fn bytes() -> u64 {
    (FLUSHED + ANYWHERE + BURSTS) * SIZES.iter().sum::<u64>() + ALONE * UNIT
}

/// Seconds that it rests.
pub(super) const RESTS_S: f64 =
    ((SIZES.len() as u64 * (FLUSHED + 2 * (ANYWHERE + BURSTS)) + ALONE) * PAUSE.0) as f64 / 1e9;

pub(super) fn measure<T: Target>(
    probe: &mut Probe<'_, T>,
    region: Region,
) -> Result<Vec<Series>, Stopped> {
    let empty = |what: &str| Series { what: what.into(), samples: Vec::new() };
    let mut alone = empty("place of a write of 4 KiB; microseconds of the flush behind it");
    // What is written lies in one half, and what is read in the other, so that none of it is in the buffer.
    let half = region.bytes / 2 / UNIT * UNIT;
    for _ in 0..ALONE {
        probe.idle(PAUSE)?;
        let place = region.start + probe.below(half / UNIT) * UNIT;
        probe.write_us(place, UNIT)?;
        alone.samples.push([place as f64, probe.flush()?.as_micros()]);
    }
    let flush_us = median_us(&alone.samples);
    let mut series = vec![alone];
    let mut wide = empty("place of a read of 64 KiB; microseconds");
    for _ in 0..if flush_us > LEAST_PROGRAM_US { WIDE } else { 0 } {
        probe.idle(PAUSE)?;
        let place = region.start + half + probe.below(half / ROW) * ROW;
        wide.samples.push([place as f64, probe.read_us(place, ROW)?]);
    }
    for size in SIZES {
        let what = format!("beside the flush of {} KiB", size >> 10);
        let mut flushes =
            empty(&format!("place of {} KiB; microseconds of their flush", size >> 10));
        let mut rest = empty(&format!("place of a read between those {what}; microseconds"));
        let mut beside = empty(&format!(
            "microseconds from a read {what} to the end of that; microseconds of the read"
        ));
        let tells = |series: &[Series]| {
            found(&series[0], &series[1..], Some(&wide))[0].as_class().is_some()
        };
        if flush_us > LEAST_PROGRAM_US && !tells(&series) {
            let mut bursts = Bursts { probe: &mut *probe, start: region.start, half, size };
            [flushes.samples, rest.samples, beside.samples] = bursts.reads(flush_us)?;
        }
        series.extend([flushes, rest, beside]);
    }
    series.push(wide);
    Ok(series)
}

/// Bursts of one size in the first half of a region, and reads in the second.
struct Bursts<'a, 'p, T> {
    probe: &'a mut Probe<'p, T>,
    start: u64,
    half: u64,
    size: u64,
}

impl<T: Target> Bursts<'_, '_, T> {
    /// Flushes of bursts and reads between bursts, by their place, and reads beside their flushes, by the microseconds to the end
    /// of the flush.
    fn reads(&mut self, of_one_us: f64) -> Result<[Vec<[f64; 2]>; 3], Stopped> {
        let mut flushes = Vec::new();
        for _ in 0..FLUSHED {
            let place = self.write()?;
            flushes.push([place as f64, self.probe.flush()?.as_micros()]);
        }
        let flush_us = median_us(&flushes);
        let least_us = of_one_us.min(flush_us);
        let [mut rest, mut beside] = [Vec::new(), Vec::new()];
        for _ in 0..ANYWHERE {
            self.read((flush_us, [0.0, least_us]), &mut rest, &mut beside)?;
        }
        // Until reads wait, nothing is aimed at.
        if let Some(known) = Known::of(least_us, &rest, &beside) {
            let left = AIMED.map(|share| known.behind_us + share * known.program_us);
            for _ in 0..BURSTS {
                self.read((flush_us, left), &mut rest, &mut beside)?;
            }
        }
        Ok([flushes, rest, beside])
    }

    fn write(&mut self) -> Result<u64, Stopped> {
        self.probe.idle(PAUSE)?;
        let place = self.start + self.probe.below(self.half / self.size) * self.size;
        self.probe.write_in_order(place, self.size, (BLOCK as u32, 8), u64::MAX)?;
        Ok(place)
    }

    fn place_to_read(&mut self) -> u64 {
        self.start + self.half + self.probe.below(self.half / UNIT) * UNIT
    }

    /// A read beside the flush of a burst, so long before its end, and one at rest.
    fn read(
        &mut self,
        (flush_us, [least, most]): (f64, [f64; 2]),
        rest: &mut Vec<[f64; 2]>,
        beside: &mut Vec<[f64; 2]>,
    ) -> Result<(), Stopped> {
        self.write()?;
        let left = least + (most - least) * self.probe.below(1000) as f64 / 1e3;
        let after = Nanos::from_micros((flush_us - left).max(0.0));
        let place = self.place_to_read();
        beside.extend(self.probe.read_beside_flush(place, after)?);
        self.probe.idle(PAUSE)?;
        let place = self.place_to_read();
        rest.push([place as f64, self.probe.read_us(place, UNIT)?]);
        Ok(())
    }
}

fn median_us(samples: &[[f64; 2]]) -> f64 {
    median(&samples.iter().map(|[_, us]| *us).collect::<Vec<f64>>())
}

pub(super) fn estimate(series: &[Series]) -> Vec<Finding> {
    match series {
        [alone, sizes @ .., wide] if sizes.len() % 3 == 0 => found(alone, sizes, Some(wide)),
        // What was stored before these reads were made.
        [alone, sizes @ ..] => found(alone, sizes, None),
        [] => vec![Finding::undetermined(KEY, "nothing was measured".to_string())],
    }
}

/// From flushes of a unit alone, the three series of each size, and reads of as much as a row may have.
fn found(alone: &Series, sizes: &[Series], wide: Option<&Series>) -> Vec<Finding> {
    let undetermined = |reason: String| vec![Finding::undetermined(KEY, reason)];
    if alone.samples.is_empty() {
        return undetermined("nothing was measured".into());
    }
    let flush_us = median_us(&alone.samples);
    if flush_us < LEAST_PROGRAM_US {
        return undetermined(format!(
            "a flush takes {flush_us:.0} us: it waits for no program, so that how long one takes is not known"
        ));
    }
    // The smallest burst that tells, or why the last one did not.
    let mut why = "no read was sent beside a flush".to_string();
    for size in sizes.chunks_exact(3).filter(|it| it.iter().all(|it| !it.samples.is_empty())) {
        let [flushes, rest, beside] = [0, 1, 2].map(|which| &size[which].samples[..]);
        // A unit alone may have to wait for more than a program, as for the rest of its row.
        let flush_us = flush_us.min(median_us(flushes));
        let judged = match Known::of(flush_us, rest, beside) {
            Some(known) => known.judge(beside, wide.map(|wide| median_us(&wide.samples))),
            None => Err(format!(
                "of {} reads beside a flush too few take longer than at rest: few meet a program, or what makes way is not seen",
                beside.len()
            )),
        };
        match judged {
            Ok(finding) => return vec![finding],
            Err(reason) => why = reason,
        }
    }
    undetermined(why)
}

/// What reads beside flushes are judged by, microseconds.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// A read at rest.
    read_us: f64,
    /// A read that takes longer by more has met something.
    differ_us: f64,
    /// A flush is over so long after its last program.
    behind_us: f64,
    program_us: f64,
}

impl Known {
    /// `flush_us` is of a flush of one unit. Nothing if no end of the programs is seen.
    fn of(flush_us: f64, rest: &[[f64; 2]], beside: &[[f64; 2]]) -> Option<Known> {
        let reads: Vec<f64> = rest.iter().map(|[_, us]| *us).collect();
        let read_us = median(&reads);
        let differ_us = (quantile(&reads, 0.99) - read_us).max(LEAST_WAIT_US);
        let mut met: Vec<(f64, bool)> =
            beside.iter().map(|[left, us]| (*left, us - read_us > differ_us)).collect();
        met.sort_by(|one, other| one.0.total_cmp(&other.0));
        let behind_us = begin(&met)?;
        let program_us = flush_us - behind_us;
        (program_us > LEAST_PROGRAM_US).then_some(Known {
            read_us,
            differ_us,
            behind_us,
            program_us,
        })
    }

    /// Whether reads late in the last program wait for all that is left of it. `wide_us` is a read of a row at rest.
    fn judge(&self, beside: &[[f64; 2]], wide_us: Option<f64>) -> Result<Finding, String> {
        let Known { read_us, differ_us, behind_us, program_us } = *self;
        let counts = |left: f64| (LEFT[0]..LEFT[1]).contains(&((left - behind_us) / program_us));
        let late = beside.iter().filter(|[left, _]| counts(*left));
        let mut met: Vec<[f64; 2]> = late.map(|[left, us]| [*left, us - read_us]).collect();
        let all = met.len();
        met.retain(|[_, wait]| *wait > differ_us);
        if met.len() < LEAST_MET || (met.len() as f64) < LEAST_SHARE * all as f64 {
            return Err(format!(
                "{} of {all} reads late in a flush take longer than at rest: too few meet a program, or what makes way is not seen",
                met.len()
            ));
        }
        met.sort_by(|one, other| one[0].total_cmp(&other[0]));
        let [later, sooner] = [&met[..met.len() / 2], &met[met.len() / 2..]].map(|reads| {
            let of = |which: usize| reads.iter().map(|read| read[which]).collect::<Vec<f64>>();
            [median(&of(0)), quantile(&of(1), LATEST)]
        });
        let more_us = sooner[0] - later[0];
        let grow = (sooner[1] - later[1]) / more_us;
        let reason = format!(
            "a program takes {program_us:.0} us, and of {all} reads late in a flush {} wait: {:.0} us before its end for up to {:.0}, and {:.0} before it for up to {:.0}",
            met.len(),
            later[0],
            later[1],
            sooner[0],
            sooner[1]
        );
        if more_us < LEAST_MORE * differ_us {
            return Err(format!("{reason}, where reads at rest differ by {differ_us:.0}"));
        }
        if grow > GROW {
            if sooner[1] < LEAST_LATEST_US {
                return Err(format!("{reason}: to make way may take as long"));
            }
            if [later, sooner].iter().any(|[left, us]| *us < OF_LEFT * (left - behind_us)) {
                return Err(format!("{reason}: not for all of the program"));
            }
            let wires_us = wide_us.map_or(0.0, |wide_us| wide_us - read_us);
            if wires_us > MOST_OF_WIRES * program_us {
                return Err(format!(
                    "{reason}, but {} KiB come over the wires in {wires_us:.0}",
                    ROW >> 10
                ));
            }
            let longer: Vec<f64> = met.iter().map(|[left, wait]| wait - left).collect();
            if quantile(&longer, ALL_BUT) > differ_us {
                return Err(format!("{reason}: beyond its end"));
            }
            return Ok(Finding::class(KEY, "no", format!("{reason}, so for what is left of it")));
        }
        if grow.abs() > STAY {
            return Err(format!("{reason}: neither equally long nor until its end"));
        }
        if sooner[1].max(later[1]) > MAKES_WAY * program_us {
            return Err(format!("{reason}, which may be for a short one"));
        }
        if median_us(&met) < LEAST_MIDDLE_US.max(LEAST_MIDDLE * differ_us) {
            return Err(format!("{reason}, which may be for something else"));
        }
        Ok(Finding::class(KEY, "yes", format!("{reason}: it makes way")))
    }
}

/// How much has to be left of a flush for reads to meet something. `met` has what was left and whether a read met something, the
/// least first. Of all places it is the one that parts most likely those that do from those that do not, and the lowest one if all
/// do. Nothing if too few do.
fn begin(met: &[(f64, bool)]) -> Option<f64> {
    let all = met.iter().filter(|it| it.1).count();
    let likely = |count: usize, met: usize| {
        let share = met as f64 / count.max(1) as f64;
        let of = |part: usize, share: f64| if part == 0 { 0.0 } else { part as f64 * share.ln() };
        of(met, share) + of(count - met, 1.0 - share)
    };
    let mut best: Option<(f64, f64)> = None;
    let mut before = 0;
    for (count, (left, is_met)) in met.iter().enumerate() {
        let (rest, of_rest) = (met.len() - count, all - before);
        let [early, late] =
            [(count, before), (rest, of_rest)].map(|(count, met)| met as f64 / count.max(1) as f64);
        let likelihood = likely(count, before) + likely(rest, of_rest);
        let parts = late > LEAST_SHARE && early < MOST_BY_CHANCE && of_rest >= LEAST_CERTAIN;
        if parts && best.is_none_or(|(most, _)| likelihood > most) {
            best = Some((likelihood, *left));
        }
        before += usize::from(*is_met);
    }
    best.map(|(_, left)| left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disturbed::Random;

    const PROGRAM_US: f64 = 1300.0;

    /// What is said of reads beside flushes that end `behind_us` after the last program, with `noise` microseconds of noise. `wait` is
    /// given what is left of that program, and two numbers by chance between 0 and 1.
    fn found_of(
        noise: f64,
        [program_us, behind_us]: [f64; 2],
        wires_us: Option<f64>,
        wait: impl Fn(f64, f64, f64) -> f64,
    ) -> Option<String> {
        let mut random = Random(5);
        let mut chance = || random.next() as f64 / u64::MAX as f64;
        let mut of = |count: u64, us: &dyn Fn(f64, f64, f64) -> f64| {
            let mut one = || {
                let left = (program_us + behind_us) * chance();
                let (first, second) = (chance(), chance());
                [left, us(left, first, second) + noise * chance()]
            };
            Series { what: String::new(), samples: (0..count).map(|_| one()).collect() }
        };
        let waits = |left: f64, first: f64, second: f64| match left - behind_us {
            over if over < 0.0 => 100.0,
            left => 100.0 + wait(left, first, second),
        };
        let mut series = vec![
            of(ALONE, &|_, _, _| program_us + behind_us),
            of(FLUSHED, &|_, _, _| program_us + behind_us),
            of(BURSTS, &|_, _, _| 100.0),
            of(4 * BURSTS, &waits),
        ];
        series.extend(wires_us.map(|us| of(WIDE, &|_, _, _| 100.0 + us)));
        estimate(&series)[0].as_class().map(String::from)
    }

    fn found(noise: f64, program_us: f64, wait: impl Fn(f64, f64, f64) -> f64) -> Option<String> {
        found_of(noise, [program_us, 0.0], None, wait)
    }

    /// One read in two waits.
    fn of_half(wait: impl Fn(f64, f64) -> f64) -> impl Fn(f64, f64, f64) -> f64 {
        move |left, first, second| if first < 0.5 { wait(left, second) } else { 0.0 }
    }

    #[test]
    fn programs_that_are_waited_for_and_programs_that_make_way_are_told() {
        for noise in [0.0, 20.0] {
            // Dies that end together, and dies that end one after the other.
            let together = found(noise, PROGRAM_US, of_half(|left, _| left));
            assert_eq!(together.as_deref(), Some("no"), "{noise} us of noise");
            let in_turn = found(noise, PROGRAM_US, |left, _, chance| left * chance);
            assert_eq!(in_turn.as_deref(), Some("no"), "{noise} us of noise");
            let makes_way = found(noise, PROGRAM_US, of_half(|_, _| 60.0));
            assert_eq!(makes_way.as_deref(), Some("yes"), "{noise} us of noise");
        }
    }

    #[test]
    fn what_a_flush_does_behind_the_last_program_is_no_part_of_one() {
        for behind in [200.0, 3600.0] {
            let of = |wait: &dyn Fn(f64) -> f64| {
                found_of(5.0, [PROGRAM_US, behind], None, of_half(|left, _| wait(left)))
            };
            assert_eq!(of(&|left| left).as_deref(), Some("no"), "{behind} us behind it");
            assert_eq!(
                of(&|left: f64| left.min(60.0)).as_deref(),
                Some("yes"),
                "{behind} us behind it"
            );
        }
    }

    #[test]
    fn where_wires_take_as_long_as_a_program_no_wait_is_said_to_be_for_one() {
        let of = |wires, wait: fn(f64) -> f64| {
            let wait = of_half(move |left, _| wait(left));
            found_of(5.0, [PROGRAM_US, 0.0], Some(wires), wait)
        };
        assert_eq!(of(0.3 * PROGRAM_US, |left| left).as_deref(), Some("no"));
        assert_eq!(of(0.9 * PROGRAM_US, |left| left), None);
        // What makes way does, whatever comes over them.
        assert_eq!(of(0.9 * PROGRAM_US, |left| left.min(60.0)).as_deref(), Some("yes"));
    }

    #[test]
    fn where_nothing_waits_or_something_else_is_waited_for_nothing_is_said() {
        assert_eq!(found(20.0, PROGRAM_US, |_, _, _| 0.0), None);
        // Less than is seen.
        assert_eq!(found(20.0, PROGRAM_US, of_half(|_, _| 10.0)), None);
        // A few late reads.
        let few = |_: f64, first: f64, _: f64| if first < 0.03 { 60.0 } else { 0.0 };
        assert_eq!(found(5.0, PROGRAM_US, few), None);
        // Beyond the end of the flush.
        assert_eq!(found(5.0, PROGRAM_US, |left, _, chance| left + 500.0 * chance), None);
        // By half as much longer as more is left.
        assert_eq!(found(5.0, PROGRAM_US, |left, _, _| 0.35 * left), None);
        // For wires, until a quarter of a program before its end.
        let wires = |left: f64, _: f64, _: f64| (left - 0.25 * PROGRAM_US).max(30.0);
        assert_eq!(found(5.0, PROGRAM_US, wires), None);
        // Until its end, but a program that makes way may take as long.
        assert_eq!(found(5.0, 300.0, |left, _, _| left), None);
        // How long a program takes is not known of a drive whose flushes do not wait.
        assert_eq!(found(5.0, 20.0, of_half(|_, _| 60.0)), None);
        assert_eq!(found(5.0, 20.0, |left, _, _| left), None);
        assert_eq!(estimate(&[])[0].as_class(), None);
    }
}
