//! The one loop for work that waits: for times of a trace, rates, think time, the beginnings and ends of others.
//!
//! A [`Work`] says when it next has something to do that no answer brings about; the loop waits for that, for an
//! answer, and on a real drive for the observer's turn, whichever comes first. There are two: a [`replay`] of I/Os that are due
//! one after the other, and the jobs of a job file at once ([`crate::streams`]).

mod arrival;
mod parts;
mod replay;

use fourcorners_drive::{Clock, Done, Fault, Nanos, Target};

pub use arrival::{Due, Source};
pub use parts::{Paced, PacedPart, SLOW};
pub use replay::run_source;

use crate::observer::{LOOK_AFTER, Observer, WALL_TICK};

/// What is to be done on a target, some of it at times of its own.
pub(crate) trait Work<T: Target> {
    /// Submits what is due at the beginning.
    fn begin(&mut self, target: &mut T);

    /// Whether nothing is in flight and nothing is to come.
    fn is_over(&self) -> bool;

    /// When it has something to do next that no answer brings about; [`Nanos::MAX`] if never.
    fn wake(&self) -> Nanos;

    /// An I/O was answered.
    fn completed(&mut self, target: &mut T, done: Done);

    /// The target failed an I/O.
    fn failed(&mut self, target: &mut T, fault: Fault);

    /// After an answer, or without one when it was to wake up: submits what has become due.
    fn go_on(&mut self, target: &mut T);

    /// Tells the observer how far it is; whether to go on.
    fn is_to_go_on(&self, now: Nanos, observer: &mut dyn Observer) -> bool;

    /// Submits nothing any more.
    fn stop(&mut self, target: &mut T);
}

/// Carries out a work to its end.
pub(crate) fn carry_out<T: Target>(
    target: &mut T,
    work: &mut impl Work<T>,
    observer: &mut dyn Observer,
) {
    let tick = match T::CLOCK {
        Clock::Wall => WALL_TICK,
        Clock::Virtual => Nanos::MAX,
    };
    let mut next_tick = target.now().saturating_add(tick);
    let mut since_observed = 0;
    work.begin(target);
    while !work.is_over() {
        // What wakes up without an answer counts, too: in virtual time that may be all there is.
        since_observed += 1;
        match target.reap(work.wake().min(next_tick)) {
            Ok(Some(done)) => work.completed(target, done),
            Ok(None) => {}
            Err(fault) => work.failed(target, fault),
        }
        work.go_on(target);
        let now = target.now();
        if since_observed >= LOOK_AFTER || now >= next_tick {
            since_observed = 0;
            next_tick = now.saturating_add(tick);
            if !work.is_to_go_on(now, observer) {
                work.stop(target);
            }
        }
    }
}
