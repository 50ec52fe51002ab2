//! The closed loop: it keeps a job's I/Os in flight and waits for nothing but their answers.
//!
//! It is the hot path of every review. Whatever waits for a time of its own (a trace, a rate, think time, other
//! jobs) goes through the loop of [`crate::paced`].

#[cfg(test)]
mod tests;

use fourcorners_drive::{Clock, Done, Nanos, Tag, Target};
use fourcorners_record::Job;

use crate::account::Account;
use crate::look_ahead::LookAhead;
use crate::measured::{JobEnd, Measured};
use crate::observer::{LOOK_AFTER, Observer, WALL_TICK};
use crate::sync_writers::SyncWriters;
use crate::workload::{Stream, time_limit};

/// Runs `job` on `target`: keeps `queue_depth` I/Os in flight until the job's end, then waits for
/// those in flight.
///
/// The caller has checked that the job fits the target's geometry. A job of zero bytes does
/// nothing. The I/Os in flight at the end are waited for and counted, so that every I/O lies
/// within `elapsed`.
pub fn run<T: Target>(target: &mut T, job: &Job, observer: &mut dyn Observer) -> Measured {
    run_marked(target, job, u64::MAX, observer)
}

/// The same, and notes when each `mark_bytes` were done.
pub fn run_marked<T: Target>(
    target: &mut T,
    job: &Job,
    mark_bytes: u64,
    observer: &mut dyn Observer,
) -> Measured {
    match SyncWriters::<T>::are_in(job) {
        true => run_as_it_is(&mut SyncWriters::new(target, job), job, mark_bytes, observer),
        false => run_as_it_is(target, job, mark_bytes, observer),
    }
}

fn run_as_it_is<T: Target>(
    target: &mut T,
    job: &Job,
    mark_bytes: u64,
    observer: &mut dyn Observer,
) -> Measured {
    Loop::new(target, job, mark_bytes.max(1)).run(target, observer)
}

struct Loop {
    depth: u32,
    /// When to stop submitting.
    deadline: Nanos,
    most_bytes: u64,
    ahead: LookAhead<Stream>,
    account: Account,
    mark_bytes: u64,
    /// Bytes that are done at the next mark.
    next_mark: u64,
}

impl Loop {
    fn new<T: Target>(target: &T, job: &Job, mark_bytes: u64) -> Loop {
        let depth = job.in_flight().min(target.geometry().queue_depth);
        Loop {
            depth,
            deadline: target.now().saturating_add(time_limit(job.until)),
            most_bytes: job.until.bytes(),
            ahead: LookAhead::new(Stream::new(job)),
            account: Account::new(target, depth),
            mark_bytes,
            next_mark: mark_bytes,
        }
    }

    fn run<T: Target>(mut self, target: &mut T, observer: &mut dyn Observer) -> Measured {
        let tick = match T::CLOCK {
            Clock::Wall => WALL_TICK,
            Clock::Virtual => Nanos::MAX,
        };
        let mut next_tick = self.account.start.saturating_add(tick);
        let mut since_observed = 0u32;
        self.ahead.begin(target);
        self.submit_first(target);
        while self.account.flying > 0 {
            match target.reap(next_tick) {
                Ok(Some(done)) => {
                    self.complete(target, done);
                    if self.account.is_going_on() {
                        self.submit_next(target, done.tag);
                    }
                    since_observed += 1;
                    if since_observed < LOOK_AFTER && target.now() < next_tick {
                        continue;
                    }
                }
                Ok(None) => {}
                Err(fault) => {
                    self.account.failed(fault);
                    self.account.stop(JobEnd::Failed(fault));
                }
            }
            since_observed = 0;
            next_tick = target.now().saturating_add(tick);
            observer.seconds(&self.account.measured.seconds);
            if !observer.go_on(self.part_done(target.now())) {
                self.account.stop(JobEnd::Interrupted);
            }
        }
        observer.seconds(&self.account.measured.seconds);
        self.account.finish(target)
    }

    /// Fills the queue.
    #[inline(never)]
    fn submit_first<T: Target>(&mut self, target: &mut T) {
        for tag in 0..self.depth {
            self.submit_next(target, Tag(tag));
        }
    }

    #[inline(always)]
    fn submit_next<T: Target>(&mut self, target: &mut T, tag: Tag) {
        let now = target.now();
        if now >= self.deadline || self.account.submitted_bytes >= self.most_bytes {
            return;
        }
        let io = self.ahead.next(target);
        self.account.submitted(tag.0 as usize, io, now, now);
        target.submit(tag, io);
    }

    #[inline]
    fn complete<T: Target>(&mut self, target: &T, done: Done) {
        let (io, _) = self.account.completed(target, done.tag.0 as usize, done.at);
        self.account.measured.bytes += io.bytes();
        if self.account.measured.bytes >= self.next_mark {
            self.mark(done.at);
        }
    }

    #[cold]
    fn mark(&mut self, now: Nanos) {
        while self.account.measured.bytes >= self.next_mark {
            self.account.measured.marks.push(now - self.account.start);
            self.next_mark = self.next_mark.saturating_add(self.mark_bytes);
        }
    }

    fn part_done(&self, now: Nanos) -> f64 {
        let start = self.account.start;
        let by_time = now.since(start).0 as f64 / self.deadline.since(start).0.max(1) as f64;
        let by_bytes = self.account.submitted_bytes as f64 / self.most_bytes.max(1) as f64;
        by_time.max(by_bytes).min(1.0)
    }
}
