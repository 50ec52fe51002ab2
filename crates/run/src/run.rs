//! The one loop that runs a job on a target, whatever the target is.
//!
//! It keeps one closed loop full and is the hot path of every review; [`crate::streams`] also waits for rates,
//! think time and other jobs. A replay gives it a [`Source`] with due times; for jobs that waiting is compiled
//! out, and a latency then counts from the recorded time.

#[cfg(test)]
mod tests;

use fourcorners_drive::{Clock, Done, Fault, Io, Nanos, Op, Tag, Target};
use fourcorners_record::Job;

use crate::arrival::{Due, Source};
use crate::histogram::Histogram;
use crate::look_ahead::LookAhead;
use crate::measured::{EnergyUsed, JobEnd, Measured, Second};
use crate::observer::Observer;
use crate::sync_writers::SyncWriters;
use crate::workload::{Stream, time_limit};

/// On a real drive the loop wakes up this often to notice an interrupt while nothing completes.
const WALL_TICK: Nanos = Nanos(100_000_000);

/// One second of a series.
const SECOND: Nanos = Nanos::from_secs(1);

/// Most seconds of a series, twelve days: a trace may say that its next I/O comes in years.
const MOST_SECONDS: usize = 1 << 20;

/// Runs `job` on `target`: keeps `queue_depth` I/Os in flight until the job's end, then waits for
/// those in flight.
///
/// The caller has checked that the job fits the target's geometry. A job of zero bytes does
/// nothing. The I/Os in flight at the end are waited for and counted, so that every I/O lies
/// within `elapsed`.
pub fn run<T: Target>(target: &mut T, job: &Job, observer: &mut impl Observer) -> Measured {
    run_marked(target, job, u64::MAX, observer)
}

/// The same, and notes when each `mark_bytes` were done.
pub fn run_marked<T: Target>(
    target: &mut T,
    job: &Job,
    mark_bytes: u64,
    observer: &mut impl Observer,
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
    observer: &mut impl Observer,
) -> Measured {
    let mark_bytes = mark_bytes.max(1);
    let start = target.now();
    let limits = Limits {
        deadline: start.saturating_add(time_limit(job.until)),
        bytes: job.until.bytes(),
        ios: u64::MAX,
    };
    let mut marked = Loop::new(target, Stream::new(job), job.in_flight(), limits);
    (marked.mark_bytes, marked.next_mark) = (mark_bytes, mark_bytes);
    marked.run(target, observer)
}

/// Submits what `source` has when it is due, at most `queue_depth` at a time, to its end, and waits
/// for all of it. `ios` is how many there will be, for the observer.
///
/// The caller has checked that every I/O fits the target's geometry.
pub fn run_source<T: Target, S: Source>(
    target: &mut T,
    source: S,
    (queue_depth, ios): (u32, u64),
    observer: &mut impl Observer,
) -> Measured {
    let limits = Limits { deadline: Nanos::MAX, bytes: u64::MAX, ios };
    Loop::new(target, source, queue_depth, limits).run(target, observer)
}

/// When to stop submitting.
struct Limits {
    deadline: Nanos,
    bytes: u64,
    /// The end that a source has of its own; it is not enforced.
    ios: u64,
}

struct Loop<S> {
    depth: u32,
    limits: Limits,
    ahead: LookAhead<S>,
    start: Nanos,
    submitted_bytes: u64,
    /// By tag: the I/O and when it was submitted.
    in_flight: Vec<(Io, Nanos)>,
    flying: u32,
    /// When `flying` last changed.
    last_event: Nanos,
    measured: Measured,
    mark_bytes: u64,
    /// Bytes that are done at the next mark.
    next_mark: u64,
    second: Begun,
    second_end: Nanos,
    meter: Option<Meter>,
    /// Tags that are free, if I/Os are paced.
    free: Vec<Tag>,
    /// When the next I/O is due, as far as that is known.
    wake: Nanos,
    /// When the last one was submitted.
    last_submit: Nanos,
    /// By tag: when a paced I/O was submitted, which is later than it was due if it had to wait.
    submitted: Vec<Nanos>,
    /// When few enough were left in flight for the next I/O.
    few_enough: Option<Nanos>,
}

/// A second under way: what all seconds before it came to. What completed in it is what the totals have
/// grown by when it ends, so that no I/O has to be counted twice.
#[derive(Clone, Copy, Default)]
struct Begun {
    ios: u64,
    bytes: u64,
    latency_sum: u128,
    /// Its own longest latency.
    latency_max: Nanos,
}

/// Readings of a target's energy, in joules since some time of its own.
struct Meter {
    at_start: f64,
    /// At the end of each whole second.
    at_seconds: Vec<f64>,
}

impl Meter {
    fn new(at_start: f64) -> Meter {
        Meter { at_start, at_seconds: Vec::new() }
    }

    /// What was used, with the reading at the end.
    fn used(&self, at_end: f64) -> EnergyUsed {
        let befores = std::iter::once(&self.at_start).chain(&self.at_seconds);
        let seconds = self.at_seconds.iter().zip(befores).map(|(after, before)| after - before);
        EnergyUsed { joules: at_end - self.at_start, seconds: seconds.collect() }
    }
}

impl<S: Source> Loop<S> {
    fn new<T: Target>(target: &T, source: S, queue_depth: u32, limits: Limits) -> Loop<S> {
        let start = target.now();
        Loop {
            depth: queue_depth.min(target.geometry().queue_depth),
            limits,
            ahead: LookAhead::new(source),
            start,
            submitted_bytes: 0,
            in_flight: Vec::new(),
            flying: 0,
            last_event: start,
            measured: Measured {
                elapsed: Nanos::ZERO,
                reads: 0,
                writes: 0,
                bytes: 0,
                latency: Histogram::new(),
                in_flight_ns: 0,
                seconds: Vec::new(),
                marks: Vec::new(),
                energy: None,
                paced: S::PACED.then(Box::default),
                ended: JobEnd::Complete,
            },
            mark_bytes: u64::MAX,
            next_mark: u64::MAX,
            second: Begun::default(),
            second_end: start + SECOND,
            meter: target.energy_j(start).map(Meter::new),
            free: Vec::new(),
            wake: Nanos::MAX,
            last_submit: start,
            submitted: Vec::new(),
            few_enough: None,
        }
    }

    fn run<T: Target>(mut self, target: &mut T, observer: &mut impl Observer) -> Measured {
        self.in_flight = vec![(Io::FLUSH, self.start); self.depth as usize];
        let tick = match T::CLOCK {
            Clock::Wall => WALL_TICK,
            Clock::Virtual => Nanos::MAX,
        };
        let mut next_tick = self.start.saturating_add(tick);
        let mut since_observed = 0u32;
        self.ahead.begin(target);
        if S::PACED {
            self.free.extend((0..self.depth).rev().map(Tag));
            self.submitted = vec![self.start; self.depth as usize];
            self.submit_due(target);
        } else {
            self.submit_first(target);
        }
        while self.flying > 0 || (S::PACED && self.is_waiting()) {
            let until = if S::PACED { next_tick.min(self.wake) } else { next_tick };
            match target.reap(until) {
                Ok(Some(done)) => {
                    self.complete(target, done);
                    if self.measured.ended == JobEnd::Complete {
                        if S::PACED {
                            self.free.push(done.tag);
                            self.submit_due(target);
                        } else {
                            self.submit_next(target, done.tag);
                        }
                    }
                    since_observed += 1;
                    if since_observed < 8192 && target.now() < next_tick {
                        continue;
                    }
                }
                Ok(None) if S::PACED && target.now() < next_tick => {
                    if self.measured.ended == JobEnd::Complete {
                        self.submit_due(target);
                    } else {
                        self.wake = Nanos::MAX;
                    }
                    since_observed += 1;
                    if since_observed < 8192 {
                        continue;
                    }
                }
                Ok(None) => {}
                Err(fault) => {
                    self.fail(fault);
                    self.stop(JobEnd::Failed(fault));
                }
            }
            since_observed = 0;
            next_tick = target.now().saturating_add(tick);
            observer.seconds(&self.measured.seconds);
            if !observer.go_on(self.part_done(target.now())) {
                self.stop(JobEnd::Interrupted);
            }
        }
        observer.seconds(&self.measured.seconds);
        self.finish(target)
    }

    /// The first reason to stop stands.
    fn stop(&mut self, reason: JobEnd) {
        if self.measured.ended == JobEnd::Complete {
            self.measured.ended = reason;
        }
    }

    /// Whether there is a paced I/O to come.
    fn is_waiting(&self) -> bool {
        self.measured.ended == JobEnd::Complete && self.ahead.due().is_some()
    }

    /// Submits all that is due and has a place in the queue, and says when the next is.
    fn submit_due<T: Target>(&mut self, target: &mut T) {
        self.wake = Nanos::MAX;
        while let (Some(&tag), Some(due)) = (self.free.last(), self.ahead.due()) {
            let now = target.now();
            let Some(at) = self.due_at(due, now) else { return };
            if at > now {
                self.wake = at;
                return;
            }
            self.free.pop();
            let io = self.ahead.next(target);
            self.count_in_flight(now);
            self.flying += 1;
            self.submitted_bytes += io.bytes();
            let from = if matches!(due, Due::At(_)) { at } else { now };
            // What waited for a place in the queue was in flight for whoever asked for it.
            self.measured.in_flight_ns += u128::from((now - from).0);
            self.in_flight[tag.0 as usize] = (io, from);
            self.submitted[tag.0 as usize] = now;
            (self.last_submit, self.few_enough) = (now, None);
            target.submit(tag, io);
        }
    }

    /// When an I/O is due; `None` while too many are in flight to know.
    fn due_at(&mut self, due: Due, now: Nanos) -> Option<Nanos> {
        match due {
            Due::Now => Some(now),
            Due::At(after) => Some(self.start.saturating_add(after)),
            Due::AfterSubmit(think) => Some(self.last_submit.saturating_add(think)),
            Due::After { in_flight, .. } if self.flying > in_flight => None,
            Due::After { think, .. } => {
                let since = *self.few_enough.get_or_insert(self.last_event.max(self.last_submit));
                Some(since.saturating_add(think))
            }
        }
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
        if now >= self.limits.deadline || self.submitted_bytes >= self.limits.bytes {
            return;
        }
        let io = self.ahead.next(target);
        // In virtual time it is submitted the moment another was answered.
        if now != self.last_event {
            self.count_in_flight(now);
        }
        self.flying += 1;
        self.submitted_bytes += io.bytes();
        self.in_flight[tag.0 as usize] = (io, now);
        target.submit(tag, io);
    }

    #[inline]
    fn complete<T: Target>(&mut self, target: &T, done: Done) {
        let (io, submitted) = self.in_flight[done.tag.0 as usize];
        let latency = done.at - submitted;
        self.settle(done.at);
        while done.at >= self.second_end {
            self.end_second(target);
        }
        if latency > self.second.latency_max {
            self.second.latency_max = latency;
        }
        self.measured.latency.record(latency.0);
        if let (true, Some(paced)) = (S::PACED, &mut self.measured.paced) {
            let service = done.at - self.submitted[done.tag.0 as usize];
            paced.completed(io, latency, service);
        }
        // Which it is, is not to be foreseen: added, for a branch would be guessed wrong.
        self.measured.reads += u64::from(io.op == Op::Read);
        // Neither a TRIM nor a flush moves anything.
        let moves = matches!(io.op, Op::Read | Op::Write);
        let moved = if S::PACED && !moves { 0 } else { io.bytes() };
        self.measured.bytes += moved;
        if self.measured.bytes >= self.next_mark {
            self.mark(done.at);
        }
    }

    /// A failed I/O has no latency, so its time in the queue does not count either: Little's law
    /// is one of the I/Os that were measured.
    fn fail(&mut self, fault: Fault) {
        let at = fault.at.max(self.last_event);
        let (_, submitted) = self.in_flight[fault.tag.0 as usize];
        self.settle(at);
        self.measured.in_flight_ns -= u128::from((at - submitted).0);
    }

    /// An I/O left the queue at `at`.
    #[inline]
    fn settle(&mut self, at: Nanos) {
        self.count_in_flight(at);
        self.flying -= 1;
    }

    /// Brings the integral of the number in flight up to `at`.
    #[inline]
    fn count_in_flight(&mut self, at: Nanos) {
        if let (true, Some(paced)) = (S::PACED && self.flying > 0, &mut self.measured.paced) {
            paced.busy += at - self.last_event;
        }
        self.measured.in_flight_ns +=
            u128::from((at - self.last_event).0) * u128::from(self.flying);
        self.last_event = at;
    }

    #[cold]
    fn mark(&mut self, now: Nanos) {
        while self.measured.bytes >= self.next_mark {
            self.measured.marks.push(now - self.start);
            self.next_mark = self.next_mark.saturating_add(self.mark_bytes);
        }
    }

    fn end_second<T: Target>(&mut self, target: &T) {
        if self.measured.seconds.len() == MOST_SECONDS {
            self.second_end = Nanos::MAX;
            return;
        }
        let (began, latency) = (self.second, &self.measured.latency);
        self.second = Begun {
            ios: latency.count(),
            bytes: self.measured.bytes,
            latency_sum: latency.sum(),
            latency_max: Nanos::ZERO,
        };
        self.measured.seconds.push(Second {
            ios: self.second.ios - began.ios,
            bytes: self.second.bytes - began.bytes,
            latency_sum: Nanos((self.second.latency_sum - began.latency_sum) as u64),
            latency_max: began.latency_max,
        });
        if let (Some(meter), Some(joules)) = (&mut self.meter, target.energy_j(self.second_end)) {
            meter.at_seconds.push(joules);
        }
        self.second_end += SECOND;
    }

    fn part_done(&self, now: Nanos) -> f64 {
        let by_time =
            now.since(self.start).0 as f64 / self.limits.deadline.since(self.start).0.max(1) as f64;
        let by_bytes = self.submitted_bytes as f64 / self.limits.bytes.max(1) as f64;
        let by_ios = self.ahead.taken() as f64 / self.limits.ios.max(1) as f64;
        by_time.max(by_bytes).max(by_ios).min(1.0)
    }

    fn finish<T: Target>(mut self, target: &T) -> Measured {
        self.measured.elapsed = self.last_event - self.start;
        self.measured.writes = self.measured.latency.count() - self.measured.reads;
        let at_end = target.energy_j(self.last_event);
        self.measured.energy = self.meter.zip(at_end).map(|(meter, at_end)| meter.used(at_end));
        self.measured
    }
}
