//! How much more than the host a drive writes for a work.
//!
//! What a preparation leaves undone, an SLC buffer to be folded or blocks to be collected, is done in the pauses of the work, and what the
//! work leaves undone is done after it. So a drive that works while it is idle is left alone before the counting begins and before it ends.
//!
//! Drives that were overwritten at random need more: a work of some megabytes makes collection move what the preparation left, for as
//! long as that is spread over all blocks. A Crucial m4 256 GB in the used state wrote 66 bytes for each byte of a recording of 19 MB of
//! small writes, 18 for each when it was repeated until 1.2 GB were written, and 3 from there to 4.8 GB. So the work is repeated, twice
//! as often each time and once at least, until the host has written half of the spare area, and the last of these rounds counts.
//!
//! Where places are drawn, a repetition draws others ([`repetition_seed`]). With the same places in the same order, a round would
//! overwrite what the one before wrote, block by block: collection would find blocks without valid data, and random writes would cost
//! no more than writes in order.

use fourcorners_drive::{Nanos, SECTOR_BYTES, Ssd, SsdCounters, Target};

use super::candidate::Candidate;
use super::obstacle::Obstacle;
use super::state::State;
use crate::drive::{Drive, write_amplification};
use crate::review::seed_of;
use crate::virtual_drive::Virtual;

/// How long a drive is left alone. An SLC buffer of some GB is folded in a minute; what a drive has not done after an hour is the work's.
const REST: Nanos = Nanos::from_secs(3600);
/// Share of the spare area that is written before the amplification is that of the work.
const ENOUGH: f64 = 0.5;
/// Most I/Os of all repetitions but the first: some seconds of CPU time a drive. The first takes no longer than the work itself did.
const MOST_REPEATED_IOS: u64 = 4_000_000;
/// Most repetitions. Each opens the recording again.
const MOST_REPETITIONS: u64 = 1 << 12;
/// Longest time of all repetitions on the drive's clock; a recording may take years.
const LONGEST: Nanos = Nanos::from_secs(10 * 365 * 86_400);

/// What a drive wrote for a work.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Amplification {
    /// NAND writes over host writes; `None` where nothing was written, and of what has a hard disk in it.
    pub(super) ratio: Option<f64>,
    /// Whether that is the work's, and no more the preparation's.
    pub(super) is_of_the_work: bool,
}

impl Amplification {
    /// It, where years may be concluded from it.
    pub(super) fn of_the_work(self) -> Option<f64> {
        self.ratio.filter(|_| self.is_of_the_work)
    }
}

/// Leaves a drive alone until its background work is done. Does nothing for a drive that has none, nor in a state that is measured
/// without a pause.
pub(super) fn rest(drive: &mut Drive, candidate: &Candidate, state: State) {
    // A replay on a new or a filled drive follows at once, on one drive as on all.
    if matches!(state, State::Written | State::Used) && candidate.works_while_idle() {
        drive.idle(REST);
    }
}

/// The seed of a repetition of what has this one; the work itself is repetition 0. Hashed rather than added: the jobs of a job file have
/// seeds at fixed distances, and none is to get another's.
pub(super) fn repetition_seed(seed: u64, repetition: u64) -> u64 {
    match repetition {
        0 => seed,
        _ => seed_of(seed, &format!("repetition {repetition}")),
    }
}

/// Does a work on a drive that has rested, and counts. The work is told which repetition it is, from 0, and says how many I/Os it has.
///
/// # Errors
/// Those of the work.
pub(super) fn amplified<T>(
    drive: &mut Drive,
    (candidate, state): (&Candidate, State),
    mut work: impl FnMut(&mut Drive, u64) -> Result<(T, u64), Obstacle>,
) -> Result<(T, Amplification), Obstacle> {
    let ended = |drive: &mut Drive| -> Result<Vec<SsdCounters>, Obstacle> {
        drive.settle()?;
        rest(drive, candidate, state);
        Ok(drive.all_counters())
    };
    let (begun, first) = (drive.now(), drive.all_counters());
    let (did, ios) = work(drive, 0)?;
    let (mut from, mut until) = (first.clone(), ended(drive)?);
    let enough = match state {
        State::Used => (spare_bytes(drive) * ENOUGH) as u64,
        State::Empty | State::Written | State::Full => 0,
    };
    let written = |until: &[SsdCounters]| host_bytes(&first, until);
    // A first time is the preparation's in part, however much it writes.
    let least = if state == State::Used { 2 } else { 1 };
    let mut times = 1u64;
    while written(&until) > 0
        && (times < least || written(&until) < enough)
        && times <= MOST_REPETITIONS / 2
        && (times < least || times.saturating_mul(ios) <= MOST_REPEATED_IOS / 2)
        && drive.now().since(begun) <= Nanos(LONGEST.0 / 2)
    {
        from = until;
        // As many as all before them.
        for repetition in times..2 * times {
            work(drive, repetition)?;
        }
        until = ended(drive)?;
        times *= 2;
    }
    let ratio = write_amplification(&from, &until);
    let is_of_the_work = times >= least && written(&until) >= enough;
    Ok((did, Amplification { ratio, is_of_the_work }))
}

fn host_bytes(from: &[SsdCounters], until: &[SsdCounters]) -> u64 {
    let sectors =
        from.iter().zip(until).map(|(from, until)| until.host_sectors - from.host_sectors);
    sectors.sum::<u64>() * SECTOR_BYTES
}

/// What collection has to work with, of all SSDs of a drive.
fn spare_bytes(drive: &Drive) -> f64 {
    let of_one = |ssd: &Ssd| ssd.effective_op().max(0.0) * ssd.geometry().bytes() as f64;
    match drive {
        Drive::Array(array) => {
            let of_member = |member: &Virtual| match member {
                Virtual::Ssd(ssd) => of_one(ssd),
                Virtual::Hdd(_) => 0.0,
            };
            array.members().map(of_member).sum()
        }
        drive => drive.ssd().map_or(0.0, of_one),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use fourcorners_catalogue::built_in;
    use fourcorners_record::{Data, Job, Pattern, Until};
    use fourcorners_run::Unobserved;

    use super::*;

    const M4: &str = "crucial-m4-64gb";
    const EVO: &str = "samsung-840-evo-120gb";

    fn candidate(name: &str) -> Candidate {
        Candidate::of(built_in(name, &[]).expect("it is built in"))
    }

    fn job(read_percent: u8, bytes: u64) -> Job {
        Job {
            pattern: Pattern::Random,
            read_percent,
            block_bytes: 131_072,
            queue_depth: 4,
            span_start_bytes: 0,
            span_bytes: 8_000_000_000,
            data: Data::Incompressible,
            until: Until::Bytes(bytes),
            seed: 1,
            fua: false,
            flush: false,
            jobs: 1,
        }
    }

    /// What the flash is written for 1 MB after 500 MB, which rested in between or not.
    fn amplification_after(name: &str, state: State) -> f64 {
        let candidate = candidate(name);
        let mut drive = candidate.drive();
        drive.run(&job(0, 500_000_000), &mut Unobserved);
        drive.settle().expect("it is virtual");
        rest(&mut drive, &candidate, state);
        let work = |drive: &mut Drive, _| {
            // A pause first, in which the drive does what it has not done yet.
            drive.idle(Nanos::from_secs(60));
            Ok(((), drive.run(&job(0, 1 << 20), &mut Unobserved).measured.latency.count()))
        };
        let ((), found) = amplified(&mut drive, (&candidate, state), work).expect("it does it");
        found.ratio.expect("it wrote")
    }

    #[test]
    fn what_a_preparation_left_to_be_done_is_not_the_works() {
        // 500 MB wait in its SLC buffer; 1 MB is written twice, into the buffer and out of it, and rows are filled up.
        let rested = amplification_after(EVO, State::Written);
        assert!((1.0..10.0).contains(&rested), "{rested}");
        // A replay on a filled drive follows at once, and then it is seen.
        let at_once = amplification_after(EVO, State::Full);
        assert!(at_once > 100.0, "{at_once}");
        // What does nothing while it is idle has nothing to rest from.
        let [rested, at_once] = [State::Written, State::Full].map(|it| amplification_after(M4, it));
        assert_eq!(rested, at_once);
        let mut drive = candidate(M4).drive();
        rest(&mut drive, &candidate(M4), State::Used);
        assert_eq!(drive.now(), Nanos::ZERO);
    }

    #[test]
    fn a_work_on_an_overwritten_drive_is_repeated_until_it_wrote_enough() {
        let done = |state: State, read_percent: u8, bytes: u64, ios: u64| {
            let candidate = candidate(M4);
            let mut times = 0u64;
            let work = |drive: &mut Drive, repetition| {
                assert_eq!(repetition, times);
                times += 1;
                drive.run(&job(read_percent, bytes), &mut Unobserved);
                Ok(((), ios))
            };
            let mut drive = candidate.drive();
            let enough = spare_bytes(&drive) * ENOUGH;
            let (_, found) = amplified(&mut drive, (&candidate, state), work).expect("it does it");
            (times, found, enough)
        };
        let (times, found, enough) = done(State::Used, 0, 100_000_000, 1000);
        let least = (enough / 1e8).ceil() as u64;
        assert!(times.is_power_of_two() && (least..2 * least).contains(&times), "{times} {least}");
        assert!(found.is_of_the_work, "{found:?}");
        // One that writes enough at once is done a second time, and that counts.
        assert_eq!(done(State::Used, 0, 2 * enough as u64, 1000).0, 2);
        // So is one that has more I/Os than are repeated otherwise.
        let (times, found, _) = done(State::Used, 0, 2 * enough as u64, 3_000_000);
        assert_eq!((times, found.is_of_the_work), (2, true));
        // In another state it is done once, and so is what writes nothing.
        assert_eq!(done(State::Written, 0, 100_000_000, 1000).0, 1);
        let (times, found, _) = done(State::Used, 100, 100_000_000, 1000);
        assert_eq!((times, found.ratio), (1, None));
        // Too many I/Os for what they write: how much the work costs the flash is not known.
        let (times, found, _) = done(State::Used, 0, 1_000_000, 1_500_000);
        assert_eq!((times, found.is_of_the_work, found.of_the_work()), (2, false, None));
        assert!(found.ratio.is_some(), "{found:?}");
    }

    #[test]
    fn what_is_not_repeated_at_all_is_the_preparations_in_part() {
        let mut times = 0;
        let work = |drive: &mut Drive, _| {
            times += 1;
            drive.run(&job(0, 4_000_000_000), &mut Unobserved);
            // As a recording of six years does.
            drive.idle(Nanos(LONGEST.0 / 10 * 6));
            Ok(((), 1000))
        };
        let mut drive = candidate(M4).drive();
        assert!(spare_bytes(&drive) * ENOUGH < 4e9);
        let state = (&candidate(M4), State::Used);
        let ((), found) = amplified(&mut drive, state, work).expect("it does it");
        assert_eq!((times, found.of_the_work()), (1, None));
        assert!(found.ratio.is_some(), "{found:?}");
    }

    #[test]
    fn every_repetition_of_every_job_has_a_seed_of_its_own() {
        // As the jobs of a file have them.
        let jobs = [1u64, 1u64.wrapping_add(0x9e37_79b9_7f4a_7c15)];
        assert_eq!(jobs.map(|seed| repetition_seed(seed, 0)), jobs);
        let of = |seed: u64| (0..MOST_REPETITIONS).map(move |it| repetition_seed(seed, it));
        let seeds: HashSet<u64> = jobs.into_iter().flat_map(of).collect();
        assert_eq!(seeds.len() as u64, 2 * MOST_REPETITIONS);
    }
}
