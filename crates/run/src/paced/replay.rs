//! I/Os that are due one after the other, as a recording has them.

use fourcorners_drive::{Done, Fault, Io, Nanos, Op, Tag, Target};

use super::{Due, Paced, Source, Work, carry_out};
use crate::account::Account;
use crate::look_ahead::LookAhead;
use crate::measured::{JobEnd, Measured};
use crate::observer::Observer;

/// Submits what `source` has when it is due, at most `queue_depth` at a time, to its end, and waits
/// for all of it. `ios` is how many there will be, for the observer.
///
/// The caller has checked that every I/O fits the target's geometry.
pub fn run_source<T: Target, S: Source>(
    target: &mut T,
    source: S,
    (queue_depth, ios): (u32, u64),
    observer: &mut dyn Observer,
) -> Measured {
    let depth = queue_depth.min(target.geometry().queue_depth);
    let start = target.now();
    let mut replay = Replay {
        ahead: LookAhead::new(source),
        ios,
        account: Account::new(target, depth),
        paced: Box::default(),
        free: (0..depth).rev().map(Tag).collect(),
        wake: Nanos::MAX,
        last_submit: start,
        submitted: vec![start; depth as usize],
        few_enough: None,
    };
    carry_out(target, &mut replay, observer);
    observer.seconds(&replay.account.measured.seconds);
    let mut measured = replay.account.finish(target);
    measured.paced = Some(replay.paced);
    measured
}

struct Replay<S> {
    ahead: LookAhead<S>,
    /// How many there will be.
    ios: u64,
    account: Account,
    paced: Box<Paced>,
    free: Vec<Tag>,
    /// When the next I/O is due, as far as that is known.
    wake: Nanos,
    /// When the last one was submitted.
    last_submit: Nanos,
    /// By tag: when an I/O was submitted, which is later than it was due if it had to wait.
    submitted: Vec<Nanos>,
    /// When few enough were left in flight for the next I/O.
    few_enough: Option<Nanos>,
}

impl<S: Source> Replay<S> {
    /// When an I/O is due; `None` while too many are in flight to know.
    fn due_at(&mut self, due: Due, now: Nanos) -> Option<Nanos> {
        match due {
            Due::Now => Some(now),
            Due::At(after) => Some(self.account.start.saturating_add(after)),
            Due::AfterSubmit(think) => Some(self.last_submit.saturating_add(think)),
            Due::After { in_flight, .. } if self.account.flying > in_flight => None,
            Due::After { think, .. } => {
                let since =
                    *self.few_enough.get_or_insert(self.account.last_event.max(self.last_submit));
                Some(since.saturating_add(think))
            }
        }
    }

    /// Counts the time up to `at` in which something was in flight.
    #[inline]
    fn note_busy(&mut self, at: Nanos) {
        if self.account.flying > 0 {
            self.paced.busy += at - self.account.last_event;
        }
    }
}

impl<T: Target, S: Source> Work<T> for Replay<S> {
    fn begin(&mut self, target: &mut T) {
        self.ahead.begin(target);
        self.go_on(target);
    }

    fn is_over(&self) -> bool {
        self.account.flying == 0 && !(self.account.is_going_on() && self.ahead.due().is_some())
    }

    fn wake(&self) -> Nanos {
        self.wake
    }

    #[inline]
    fn completed(&mut self, target: &mut T, done: Done) {
        self.note_busy(done.at);
        let place = done.tag.0 as usize;
        let (io, latency) = self.account.completed(target, place, done.at);
        self.paced.completed(io, latency, done.at - self.submitted[place]);
        // Neither a TRIM nor a flush moves anything.
        if matches!(io.op, Op::Read | Op::Write) {
            self.account.measured.bytes += io.bytes();
        }
        self.free.push(done.tag);
    }

    fn failed(&mut self, _target: &mut T, fault: Fault) {
        self.note_busy(fault.at.max(self.account.last_event));
        self.account.failed(fault);
        self.account.stop(JobEnd::Failed(fault));
    }

    /// Submits all that is due and has a place in the queue, and finds out when the next is.
    fn go_on(&mut self, target: &mut T) {
        self.wake = Nanos::MAX;
        if !self.account.is_going_on() {
            return;
        }
        while let (Some(&tag), Some(due)) = (self.free.last(), self.ahead.due()) {
            let now = target.now();
            let Some(at) = self.due_at(due, now) else { return };
            if at > now {
                self.wake = at;
                return;
            }
            self.free.pop();
            let io: Io = self.ahead.next(target);
            let since = if matches!(due, Due::At(_)) { at } else { now };
            self.note_busy(now);
            self.account.submitted(tag.0 as usize, io, since, now);
            // What waited for a place in the queue was in flight for whoever asked for it.
            self.account.measured.in_flight_ns += u128::from((now - since).0);
            self.submitted[tag.0 as usize] = now;
            (self.last_submit, self.few_enough) = (now, None);
            target.submit(tag, io);
        }
    }

    fn is_to_go_on(&self, _now: Nanos, observer: &mut dyn Observer) -> bool {
        observer.seconds(&self.account.measured.seconds);
        observer.go_on((self.ahead.taken() as f64 / self.ios.max(1) as f64).min(1.0))
    }

    fn stop(&mut self, _target: &mut T) {
        self.account.stop(JobEnd::Interrupted);
        self.wake = Nanos::MAX;
    }
}
