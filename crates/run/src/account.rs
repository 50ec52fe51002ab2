//! What a run comes to while it is under way: the number in flight, latencies, seconds, energy.

use fourcorners_drive::{Fault, Io, Nanos, Op, Target};

use crate::histogram::Histogram;
use crate::measured::{EnergyUsed, JobEnd, Measured, Second};

/// One second of a series.
const SECOND: Nanos = Nanos::from_secs(1);

/// Most seconds of a series, twelve days: a trace may say that its next I/O comes in years.
const MOST_SECONDS: usize = 1 << 20;

/// The account of one run, which whoever submits its I/Os keeps.
pub(crate) struct Account {
    pub(crate) start: Nanos,
    /// When the number in flight last changed.
    pub(crate) last_event: Nanos,
    pub(crate) flying: u32,
    pub(crate) submitted_bytes: u64,
    pub(crate) measured: Measured,
    /// By tag: the I/O and since when it is in flight.
    in_flight: Vec<(Io, Nanos)>,
    second: Begun,
    second_end: Nanos,
    meter: Option<Meter>,
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

impl Account {
    /// An account that begins now, of a run with at most `depth` I/Os in flight.
    pub(crate) fn new<T: Target>(target: &T, depth: u32) -> Account {
        let start = target.now();
        Account {
            start,
            last_event: start,
            flying: 0,
            submitted_bytes: 0,
            measured: Measured::of_latencies(Histogram::new()),
            in_flight: vec![(Io::FLUSH, start); depth as usize],
            second: Begun::default(),
            second_end: start + SECOND,
            meter: target.energy_j(start).map(Meter::new),
        }
    }

    /// An I/O is submitted at `now`, of which somebody has waited since `since`.
    #[inline(always)]
    pub(crate) fn submitted(&mut self, place: usize, io: Io, since: Nanos, now: Nanos) {
        // In virtual time it is submitted the moment another was answered.
        if now != self.last_event {
            self.count_in_flight(now);
        }
        self.flying += 1;
        self.submitted_bytes += io.bytes();
        self.in_flight[place] = (io, since);
    }

    /// An I/O was answered at `at`. Returns it with its latency.
    #[inline(always)]
    pub(crate) fn completed<T: Target>(
        &mut self,
        target: &T,
        place: usize,
        at: Nanos,
    ) -> (Io, Nanos) {
        let (io, since) = self.in_flight[place];
        let latency = at - since;
        self.settle(at);
        while at >= self.second_end {
            self.end_second(target);
        }
        if latency > self.second.latency_max {
            self.second.latency_max = latency;
        }
        self.measured.latency.record(latency.0);
        // Without a branch: read or write is random, so one would be mispredicted.
        self.measured.reads += u64::from(io.op == Op::Read);
        (io, latency)
    }

    /// A failed I/O has no latency, so its time in the queue does not count either: Little's law
    /// is one of the I/Os that were measured.
    pub(crate) fn failed(&mut self, fault: Fault) {
        let at = fault.at.max(self.last_event);
        let (_, since) = self.in_flight[fault.tag.0 as usize];
        self.settle(at);
        self.measured.in_flight_ns -= u128::from((at - since).0);
    }

    /// The first reason to stop stands.
    pub(crate) fn stop(&mut self, reason: JobEnd) {
        if self.is_going_on() {
            self.measured.ended = reason;
        }
    }

    /// Whether nothing has stopped it.
    #[inline(always)]
    pub(crate) fn is_going_on(&self) -> bool {
        self.measured.ended == JobEnd::Complete
    }

    /// An I/O left the queue at `at`.
    #[inline(always)]
    fn settle(&mut self, at: Nanos) {
        self.count_in_flight(at);
        self.flying -= 1;
    }

    /// Brings the integral of the number in flight up to `at`.
    #[inline(always)]
    fn count_in_flight(&mut self, at: Nanos) {
        self.measured.in_flight_ns +=
            u128::from((at - self.last_event).0) * u128::from(self.flying);
        self.last_event = at;
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

    /// What it came to.
    pub(crate) fn finish<T: Target>(mut self, target: &T) -> Measured {
        self.measured.elapsed = self.last_event - self.start;
        self.measured.writes = self.measured.latency.count() - self.measured.reads;
        let at_end = target.energy_j(self.last_event);
        self.measured.energy = self.meter.zip(at_end).map(|(meter, at_end)| meter.used(at_end));
        self.measured
    }
}
