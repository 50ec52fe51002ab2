//! Carries out a plan, phase by phase: which is next, on which drive, and from where it could go on.

use fourcorners_linux::device::Erase;
use fourcorners_record::{ClockName, Ended, HealthReading, Host, Record, TargetInfo};
use fourcorners_run::{Observer, Second};

use super::past::Past;
use super::phase::preparation;
use super::under_way::Review;
use super::{Checkpoint, Phase, Protocol, Scope, StateCache};
use crate::drive::Drive;
use crate::heat;

/// Who watches a review.
pub trait Watch {
    /// A phase begins.
    fn step(&mut self, step: &Step<'_>);
    /// How far the review is, 0 to 1. `false` stops it.
    fn go_on(&mut self, part_done: f64) -> bool;
    /// What the job that is running did in the whole seconds that are over, from its first on.
    fn seconds(&mut self, _so_far: &[Second]) {}
    /// A figure was measured; the record so far, sealed.
    fn measured(&mut self, so_far: &Record);
    /// A place was reached from which the review could go on.
    fn reached(&mut self, checkpoint: &Checkpoint);
}

/// A phase that begins.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// What it is.
    pub phase: &'a Phase,
}

/// What is to be reviewed, and how.
#[derive(Clone, Debug)]
pub struct Reviewed {
    /// The method.
    pub protocol: Protocol,
    /// What is done, step by step.
    pub plan: Vec<Phase>,
    /// What the plan was made for.
    pub scope: Scope,
    /// What the record says of the target.
    pub target: TargetInfo,
    /// What the record says of the machine (wall clock only).
    pub host: Option<Host>,
    /// Who reviews it, if that is to be said.
    pub author: Option<String>,
    /// What the drive said of its health before (block devices).
    pub health: Option<HealthReading>,
    /// How a real drive is purged, if not by a discard.
    pub erase: Option<Erase>,
}

/// What is under test.
pub enum DriveSource<'a> {
    /// A virtual SSD: every purge takes a new one, in the state the phases after it ask for.
    Cached(&'a StateCache<'a>),
    /// The one drive there is, and what was done to it since it was purged.
    One(&'a mut Drive, &'a mut Past),
}

/// Runs a plan, or what is left of it after a checkpoint of an earlier run. A record always comes
/// back: of all that was planned, or of what was measured before it was stopped or failed.
pub fn review(
    reviewed: Reviewed,
    source: &mut DriveSource<'_>,
    from: Option<Checkpoint>,
    watch: &mut dyn Watch,
) -> Record {
    let (protocol, scope) = (reviewed.protocol.clone(), reviewed.scope);
    let mut phases = reviewed.plan.clone();
    let clock = match source {
        DriveSource::Cached(_) => ClockName::Virtual,
        DriveSource::One(drive, _) => drive.clock(),
    };
    let mut review = Review::new(reviewed, clock);
    let seconds = |phases: &[Phase]| phases.iter().map(Phase::estimated_seconds).sum::<f64>();
    let mut total = seconds(&phases).max(1e-9);
    // From here on phases are not those of the plan, and nothing can go on at their numbers.
    let mut planned = phases.len();
    let mut taken = None;
    let mut next = 0;
    if let Some(reached) = from.and_then(|from| from.into_next(&phases)) {
        next = reached.next;
        review.go_on(reached);
    }
    let mut before: f64 = phases[..next].iter().map(Phase::estimated_seconds).sum();
    let mut purged = review.reached(next);
    while let Some(phase) = phases.get(next) {
        if let Phase::AfterLongTrim { seconds: rest, again } = phase {
            let again = review.after_long_trim(*rest, again);
            planned = planned.min(next);
            phases.splice(next..=next, again);
            total = seconds(&phases).max(1e-9);
            continue;
        }
        // The longest that begins here: of a purge and what follows it, the last is the one to name.
        let at_once = match source {
            DriveSource::Cached(_) if *phase == Phase::Purge => {
                1 + preparation(&phases[next + 1..]).len()
            }
            DriveSource::One(_, past) => past.spares(&phases[next..]),
            DriveSource::Cached(_) => 0,
        };
        if *phase == Phase::Purge {
            purged = review.reached(next);
        }
        // A virtual drive that is not made anew by a purge goes through all of it again: it is fast.
        let can_go_on = match source {
            DriveSource::Cached(_) => *phase == Phase::Purge,
            DriveSource::One(drive, _) => matches!(drive, Drive::Real(_)),
        };
        if can_go_on && next > 0 && next < planned {
            let reached = review.reached(next);
            watch.reached(&Checkpoint { purged: purged.clone(), reached });
        }
        let now = &phases[next..next + at_once.max(1)];
        let shown = now.last().unwrap_or(phase);
        watch.step(&Step { number: next + now.len(), of: phases.len(), phase: shown });
        let weight: f64 = now.iter().map(Phase::estimated_seconds).sum();
        let part = Part { from: before / total, share: weight / total };
        let observer = &mut Scaled { watch, part };
        match source {
            DriveSource::Cached(states) if at_once > 0 => {
                // The one before is gone before the next is made: two would take twice the memory.
                drop(taken.take());
                taken = review.take(states, now, observer);
                taken.iter().for_each(|drive| heat::begin(&mut review.record, drive));
            }
            DriveSource::Cached(states) => {
                let mut drive = taken.take().unwrap_or_else(|| states.new_drive());
                heat::begin(&mut review.record, &drive);
                review.carry_out(phase, &mut drive, observer);
                taken = Some(drive);
            }
            DriveSource::One(..) if at_once > 0 => review.is_in_state(shown),
            DriveSource::One(drive, past) => {
                heat::begin(&mut review.record, drive);
                review.carry_out(phase, drive, observer);
                past.went_through(phase);
                if review.record.ended != Ended::Complete {
                    **past = Past::default();
                }
            }
        }
        next += now.len();
        before += weight;
        if phase.measures() {
            review.record.finish();
            watch.measured(&review.record);
        }
        if review.record.ended != Ended::Complete {
            break;
        }
    }
    protocol.conclude(&mut review.record, &scope);
    match source {
        DriveSource::Cached(_) => {
            taken.iter().for_each(|drive| heat::conclude(&mut review.record, drive));
        }
        DriveSource::One(drive, _) => heat::conclude(&mut review.record, drive),
    }
    review.record.finish();
    review.record
}

/// The record of a real target that could not be opened, where others were measured.
pub fn not_begun(reviewed: Reviewed, why: String) -> Record {
    let mut review = Review::new(reviewed, ClockName::Wall);
    review.record.ended = Ended::Failed(why);
    review.record.finish();
    review.record
}

/// The part of the whole that a phase is.
#[derive(Clone, Copy, Debug)]
struct Part {
    from: f64,
    share: f64,
}

/// Tells a watch of the whole what a job tells of itself.
struct Scaled<'a> {
    watch: &'a mut dyn Watch,
    part: Part,
}

impl Observer for Scaled<'_> {
    fn go_on(&mut self, part_done: f64) -> bool {
        self.watch.go_on(self.part.from + self.part.share * part_done)
    }

    fn seconds(&mut self, so_far: &[Second]) {
        self.watch.seconds(so_far);
    }
}
