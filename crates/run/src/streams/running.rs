//! A stream that is being run: its phase, what it has in flight, and when it stops.

use fourcorners_drive::{Fault, Io, Nanos};

use super::depth_search::{DepthSearch, Step};
use super::measure::Measure;
use super::source::{Next, Source};
use super::steady::Steady;
use super::{Direction, Stream, StreamResult};

/// No stream goes on beyond 292 years, half of what a clock can tell: due times and pauses may add up
/// to more, and then nothing would ever happen again.
const END_OF_TIME: Nanos = Nanos(u64::MAX / 2);

/// A stream with a pace goes on for at most this part of its time, so that what was due within that is
/// submitted, too: a target or a machine that stalled near the end would otherwise have been asked less
/// than one that stalled before.
const OVERTIME: u64 = 100;

/// An I/O on its way.
#[derive(Clone, Copy)]
pub(super) struct Flight {
    pub(super) stream: u32,
    pub(super) io: Io,
    /// `None` is a flush.
    pub(super) direction: Option<Direction>,
    /// From when its latency counts.
    pub(super) since: Nanos,
}

impl Flight {
    pub(super) const NONE: Flight =
        Flight { stream: 0, io: Io::FLUSH, direction: None, since: Nanos::ZERO };
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Its beginning has not come.
    Waiting,
    /// It submits.
    Running,
    /// It waits for what is in flight.
    Draining,
    /// Its last flush is in flight.
    Flushing,
    Ended,
}

pub(super) struct Running {
    pub(super) stream: Stream,
    pub(super) source: Source,
    pub(super) phase: Phase,
    pub(super) began: Nanos,
    /// When its time is over.
    pub(super) deadline: Nanos,
    /// Until when it may submit what was due before.
    pub(super) overtime: Nanos,
    pub(super) end: Nanos,
    /// Made already, and not submitted yet.
    pub(super) next: Option<Next>,
    pub(super) flying: u32,
    /// How many may be at present.
    pub(super) most_flying: u32,
    /// The search for that number, and whether it ended the stream.
    search: Option<DepthSearch>,
    search_ended: bool,
    pub(super) issued_bytes: u64,
    pub(super) issued_ios: u64,
    pub(super) writes_since_flush: u64,
    pub(super) thinks_until: Nanos,
    pub(super) last_done: Nanos,
    pub(super) measure: Measure,
    pub(super) failed: Option<(Fault, u64)>,
    pub(super) failures_in_a_row: u32,
}

impl Running {
    pub(super) fn new(stream: Stream) -> Running {
        Running {
            source: Source::new(&stream),
            measure: Measure::new(&stream),
            most_flying: stream.depth,
            search: None,
            search_ended: false,
            stream,
            phase: Phase::Waiting,
            began: Nanos::MAX,
            deadline: Nanos::MAX,
            overtime: Nanos::MAX,
            end: Nanos::MAX,
            next: None,
            flying: 0,
            issued_bytes: 0,
            issued_ios: 0,
            writes_since_flush: 0,
            thinks_until: Nanos::ZERO,
            last_done: Nanos::ZERO,
            failed: None,
            failures_in_a_row: 0,
        }
    }

    pub(super) fn begin(&mut self, now: Nanos) {
        self.phase = Phase::Running;
        self.began = now;
        let measured = now.saturating_add(self.stream.ramp);
        let time = self.stream.limits.time;
        self.deadline = measured.saturating_add(time).min(END_OF_TIME);
        self.overtime = self.deadline.saturating_add(Nanos(time.0 / OVERTIME)).min(END_OF_TIME);
        self.source.begin(now);
        self.measure.begin(measured);
        let search = |target| DepthSearch::new(target, self.stream.depth, measured);
        self.search = self.stream.latency_target.map(search);
        self.most_flying = self.search.as_ref().map_or(self.stream.depth, DepthSearch::in_flight);
    }

    /// An I/O came back. `latency` is `None` if it failed, and of a flush.
    #[inline]
    pub(super) fn searches(&mut self, at: Nanos, latency: Option<Nanos>) {
        let Some(search) = &mut self.search else { return };
        // What is done in the ramp is not looked at.
        if self.phase != Phase::Running || at < self.measure.start() {
            return;
        }
        let step = search.landed(at, latency, self.flying);
        self.most_flying = search.in_flight();
        match step {
            Step::GoOn => {}
            Step::MeasureAnew => self.measure.begin_anew(at),
            Step::End => {
                self.search_ended = true;
                self.stop(at);
            }
        }
    }

    /// Submits no more. `at` is when that was decided.
    pub(super) fn stop(&mut self, at: Nanos) {
        match self.phase {
            Phase::Waiting => {
                (self.phase, self.began, self.end) = (Phase::Ended, at, at);
            }
            Phase::Running => {
                self.phase = Phase::Draining;
                self.end = at.max(self.last_done);
            }
            Phase::Draining | Phase::Flushing | Phase::Ended => {}
        }
    }

    /// What it does next; the same until it is taken.
    #[inline]
    pub(super) fn peek(&mut self, now: Nanos) -> Next {
        match self.next {
            Some(next) => next,
            None => *self.next.insert(self.source.next(now)),
        }
    }

    /// Whether its time is over, and all that was due within it submitted.
    #[inline]
    pub(super) fn is_over(&mut self, now: Nanos) -> bool {
        if now < self.deadline {
            return false;
        }
        if now >= self.overtime || !self.stream.is_timed() {
            return true;
        }
        self.peek(now).due.is_none_or(|due| due >= self.deadline)
    }

    /// When its time is over, or what it may take beyond that.
    #[inline]
    pub(super) fn latest(&self, now: Nanos) -> Nanos {
        if now < self.deadline { self.deadline } else { self.overtime }
    }

    pub(super) fn at_limit(&self, bytes: u32) -> bool {
        let limits = self.stream.limits;
        self.issued_ios >= limits.ios || self.issued_bytes + u64::from(bytes) > limits.bytes
    }

    pub(super) fn part_done(&self, now: Nanos) -> f64 {
        match self.phase {
            Phase::Waiting => 0.0,
            Phase::Ended => 1.0,
            _ => {
                let limits = self.stream.limits;
                let time = self.deadline.since(self.began).0.max(1) as f64;
                let by_time = now.since(self.began).0 as f64 / time;
                let by_bytes = self.issued_bytes as f64 / limits.bytes.max(1) as f64;
                let by_ios = self.issued_ios as f64 / limits.ios.max(1) as f64;
                by_time.max(by_bytes).max(by_ios).min(1.0)
            }
        }
    }

    pub(super) fn result(self, origin: Nanos) -> StreamResult {
        StreamResult {
            began: self.began.since(origin),
            ended: self.end.since(origin),
            elapsed: self.end.since(self.measure.start()),
            measure: self.measure,
            failed: self.failed,
            depth_found: self.search.map(|search| search.found(self.search_ended)),
            verified: None,
        }
    }
}

/// A steady group and when its next interval ends.
pub(super) struct Watch {
    pub(super) steady: Steady,
    /// `None` before its first member began.
    pub(super) next: Option<Nanos>,
    pub(super) begun: bool,
}

impl Watch {
    pub(super) fn new(steady: Steady) -> Watch {
        Watch { steady, next: None, begun: false }
    }
}
