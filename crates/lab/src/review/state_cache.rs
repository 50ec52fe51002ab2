//! States that several tests of a virtual drive begin in, made once and handed out as copies.
//!
//! A purged virtual drive is a new one of its profile, so the jobs since then say all of its state.
//! Whether a state comes from here or is made anew changes no figure.

use std::sync::{Mutex, PoisonError};

use fourcorners_drive::Ssd;
use fourcorners_record::Job;
use fourcorners_run::{JobEnd, Observer};

use super::Phase;
use super::phase::preparation;
use crate::drive::Drive;

/// The states of one virtual drive.
pub struct StateCache<'a> {
    new: Box<dyn Fn() -> Drive + Sync + 'a>,
    states: Vec<State>,
}

/// A state, by the jobs that lead to it.
struct State {
    jobs: Vec<Job>,
    kept: Mutex<Kept>,
}

struct Kept {
    /// How many more will ask for it.
    wanted: usize,
    ssd: Option<Box<Ssd>>,
}

impl<'a> StateCache<'a> {
    /// A cache for all the states that these plans begin in. `new` makes the drive as it left the
    /// factory. Where memory is short, `keep` is false: every state is then made when it is wanted.
    pub fn new(
        plans: &[Vec<Phase>],
        keep: bool,
        new: impl Fn() -> Drive + Sync + 'a,
    ) -> StateCache<'a> {
        let mut wanted: Vec<(Vec<Job>, usize)> = Vec::new();
        let purges = plans.iter().flat_map(|plan| {
            let is_purge = |(_, phase): &(usize, &Phase)| matches!(phase, Phase::Purge);
            plan.iter()
                .enumerate()
                .filter(is_purge)
                .map(move |(at, _)| preparation(&plan[at + 1..]))
        });
        for jobs in purges {
            want(&mut wanted, &jobs);
        }
        let states = wanted.into_iter().map(|(jobs, wanted)| {
            let wanted = if keep { wanted } else { 1 };
            State { jobs, kept: Mutex::new(Kept { wanted, ssd: None }) }
        });
        StateCache { new: Box::new(new), states: states.collect() }
    }

    /// How many states are kept at most at a time.
    pub fn most_kept(&self) -> usize {
        let shared = |state: &&State| state.lock().wanted > 1;
        self.states.iter().filter(shared).count()
    }

    /// The drive as it left the factory.
    pub(super) fn new_drive(&self) -> Drive {
        (self.new)()
    }

    /// The drive after these jobs. The observer is told of what has to be run for it.
    pub(super) fn take(
        &self,
        jobs: &[Job],
        observer: &mut dyn Observer,
    ) -> Result<Drive, (Drive, JobEnd)> {
        let Some((last, before)) = jobs.split_last() else { return Ok((self.new)()) };
        let Some(state) = self.states.iter().find(|state| state.jobs == jobs) else {
            return then(self.take(before, observer)?, last, observer);
        };
        // Whoever wants it too waits here until it is made.
        let mut kept = state.lock();
        let more = kept.wanted > 1;
        kept.wanted = kept.wanted.saturating_sub(1);
        match (kept.ssd.take(), more) {
            (Some(ssd), false) => Ok(Drive::Ssd(ssd)),
            (Some(ssd), true) => {
                kept.ssd = Some(ssd.clone());
                Ok(Drive::Ssd(ssd))
            }
            (None, more) => {
                let drive = then(self.take(before, observer)?, last, observer)?;
                if let (Drive::Ssd(ssd), true) = (&drive, more) {
                    kept.ssd = Some(ssd.clone());
                }
                Ok(drive)
            }
        }
    }
}

impl State {
    /// What a worker that panicked left is a whole state or none.
    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts one more wish for a state, and for the one it is made from if it is new.
fn want(wanted: &mut Vec<(Vec<Job>, usize)>, jobs: &[Job]) {
    let Some((_, before)) = jobs.split_last() else { return };
    match wanted.iter_mut().find(|(known, _)| known == jobs) {
        Some((_, count)) => *count += 1,
        None => {
            wanted.push((jobs.to_vec(), 1));
            want(wanted, before);
        }
    }
}

/// The drive after one more job.
fn then(
    mut drive: Drive,
    job: &Job,
    observer: &mut dyn Observer,
) -> Result<Drive, (Drive, JobEnd)> {
    match drive.run(job, observer).measured.ended {
        JobEnd::Complete => {
            // A virtual drive settles without fail.
            drive.settle().map_err(drop).unwrap_or(());
            Ok(drive)
        }
        end => Err((drive, end)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use fourcorners_catalogue as catalogue;
    use fourcorners_run::Unobserved;

    use super::*;
    use crate::review::Scope;
    use crate::review::scope::Medium;

    #[test]
    fn a_state_is_made_once_and_is_the_same_from_the_cache() {
        let profile = catalogue::built_in("crucial-m4-256gb", &[]).expect("it is in the catalogue");
        let scope =
            Scope { spare_percent: 99.0, ..Scope::whole_of(profile.geometry(), Medium::Ssd) };
        let span = scope.usable_bytes();
        let filled = vec![Phase::Purge, scope.fill("filled", span)];
        let used = [filled.clone(), vec![scope.torture(span)]].concat();
        let plans = [filled.clone(), used.clone(), filled.clone()];
        let made = AtomicUsize::new(0);
        let answers = |keep: bool| {
            made.store(0, Ordering::Relaxed);
            let cache = StateCache::new(&plans, keep, || {
                made.fetch_add(1, Ordering::Relaxed);
                Drive::from_profile(&profile)
            });
            let latencies: Vec<u128> = plans
                .iter()
                .map(|plan| {
                    let taken = cache.take(&preparation(&plan[1..]), &mut Unobserved);
                    let mut drive = taken.ok().expect("a small part of it can be written");
                    let job = scope.random(50, 4, span, 1);
                    drive.run(&job, &mut Unobserved).measured.latency.sum()
                })
                .collect();
            assert!(cache.states.iter().all(|state| state.lock().ssd.is_none()), "all were taken");
            (latencies, made.load(Ordering::Relaxed))
        };
        let (kept, once) = answers(true);
        let (anew, thrice) = answers(false);
        assert_eq!((once, thrice), (1, 3));
        assert_eq!(kept, anew);
        assert_eq!(kept[0], kept[2]);
        assert_ne!(kept[0], kept[1]);
    }
}
