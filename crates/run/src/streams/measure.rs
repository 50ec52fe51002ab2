//! The measurements of a stream.

use fourcorners_drive::Nanos;

use super::Stream;
use super::log::{Completed, Log};
use crate::histogram::Histogram;

/// Bandwidth and IOPS are sampled this often, as fio does (`bwavgtime`, `iopsavgtime`).
const SAMPLE: Nanos = Nanos(500_000_000);

/// The latencies and amounts of a direction.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Latency of every I/O: from when it was due, or without a pace from when the stream asked for it.
    pub latency: Histogram,
    /// Sum of the squares of the latencies, ns^2.
    squares: u128,
    /// Bytes moved.
    pub bytes: u64,
    /// KiB a second in each sample.
    pub kib_per_s: Samples,
    /// I/Os a second in each sample.
    pub iops: Samples,
    sample_ios: u64,
    sample_bytes: u64,
}

impl Tally {
    /// Counts one.
    #[inline]
    fn record(&mut self, latency: Nanos, bytes: u64) {
        self.latency.record(latency.0);
        // Latencies of days and more, of a pace that nothing keeps up with, can fill it.
        let square = u128::from(latency.0) * u128::from(latency.0);
        self.squares = self.squares.saturating_add(square);
        self.bytes += bytes;
        self.sample_ios += 1;
        self.sample_bytes += bytes;
    }

    /// Standard deviation of the latencies, nanoseconds; 0 for fewer than two.
    pub fn latency_deviation(&self) -> f64 {
        let count = self.latency.count() as f64;
        if count < 2.0 {
            return 0.0;
        }
        let mean = self.latency.mean();
        ((self.squares as f64 - count * mean * mean) / (count - 1.0)).max(0.0).sqrt()
    }

    /// Adds what another stream did meanwhile. Samples add up as rates do that go on at the same time.
    pub fn merge(&mut self, other: &Tally) {
        self.latency.merge(&other.latency);
        self.squares = self.squares.saturating_add(other.squares);
        self.bytes += other.bytes;
        self.kib_per_s.add(&other.kib_per_s);
        self.iops.add(&other.iops);
    }

    /// A sample is over, and after it came `idle` more in which nothing was done.
    fn end_samples(&mut self, idle: u64) {
        if self.latency.count() == 0 {
            return;
        }
        let a_second = 1e9 / SAMPLE.0 as f64;
        self.iops.record(self.sample_ios as f64 * a_second, idle);
        self.kib_per_s.record(self.sample_bytes as f64 * a_second / 1024.0, idle);
        (self.sample_ios, self.sample_bytes) = (0, 0);
    }
}

/// Minimum, maximum, mean and deviation of samples.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Samples {
    /// How many.
    pub count: u64,
    /// The smallest, 0 if there is none.
    pub min: f64,
    /// The largest.
    pub max: f64,
    mean: f64,
    /// Sum of the squares of the distances from the mean.
    spread: f64,
}

impl Samples {
    /// A value, and so many zeros after it.
    fn record(&mut self, value: f64, zeros: u64) {
        self.follow(value, 1);
        if zeros > 0 {
            self.follow(0.0, zeros);
        }
    }

    /// So many times the same value comes next (Chan, Golub and LeVeque 1979).
    fn follow(&mut self, value: f64, times: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        let before = self.count as f64;
        self.count += times;
        let times = times as f64;
        let distance = value - self.mean;
        self.mean += distance * times / (before + times);
        self.spread += distance * distance * before * times / (before + times);
    }

    /// Their mean.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Their standard deviation; 0 for fewer than two.
    pub fn deviation(&self) -> f64 {
        if self.count < 2 { 0.0 } else { (self.spread / (self.count - 1) as f64).sqrt() }
    }

    /// Adds the rates of another stream as fio does (`sum_stat` in its stat.c, `pure_sum`): sums of
    /// means, minima and maxima, the samples of both.
    fn add(&mut self, other: &Samples) {
        self.count += other.count;
        self.min += other.min;
        self.max += other.max;
        self.mean += other.mean;
        self.spread += other.spread;
    }
}

/// What a stream did.
#[derive(Clone, Debug)]
pub struct Measure {
    /// By direction.
    pub tallies: [Tally; 3],
    /// Of flushes.
    pub flushes: Tally,
    /// I/Os submitted when the stream then had 1, 2 to 3, 4 to 7, 8 to 15, 16 to 31, 32 to 63, 64
    /// and more in flight.
    pub depths: [u64; 7],
    /// The log, if one was asked for.
    pub log: Option<Log>,
    /// When measuring began.
    start: Nanos,
    sample_end: Nanos,
}

impl Measure {
    pub(super) fn new(stream: &Stream) -> Measure {
        Measure {
            tallies: Default::default(),
            flushes: Tally::default(),
            depths: [0; 7],
            log: stream.log.map(Log::new),
            start: Nanos::MAX,
            sample_end: Nanos::MAX,
        }
    }

    pub(super) fn begin(&mut self, start: Nanos) {
        self.start = start;
        self.sample_end = start.saturating_add(SAMPLE);
        if let Some(log) = &mut self.log {
            log.begin(start);
        }
    }

    /// What was measured until now does not count; the log goes on.
    pub(super) fn begin_anew(&mut self, start: Nanos) {
        (self.tallies, self.flushes, self.depths) = Default::default();
        self.start = start;
        self.sample_end = start.saturating_add(SAMPLE);
    }

    /// When measuring began.
    pub(super) fn start(&self) -> Nanos {
        self.start
    }

    /// I/Os of all directions.
    pub fn ios(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.latency.count()).sum()
    }

    /// Bytes of all directions.
    pub fn bytes(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.bytes).sum()
    }

    #[inline]
    pub(super) fn issued(&mut self, at: Nanos, in_flight: u32) {
        if at >= self.start {
            self.depths[(in_flight.max(1).ilog2() as usize).min(6)] += 1;
        }
    }

    #[inline]
    pub(super) fn completed(&mut self, done: Completed) {
        if done.at < self.start {
            return;
        }
        self.end_samples(done.at);
        self.tallies[done.direction as usize].record(done.latency, done.bytes);
        if let Some(log) = &mut self.log {
            log.record(done);
        }
    }

    pub(super) fn flushed(&mut self, at: Nanos, latency: Nanos) {
        if at >= self.start {
            self.flushes.record(latency, 0);
        }
    }

    /// Everything is over at `end`.
    pub(super) fn finish(&mut self, end: Nanos) {
        self.end_samples(end);
        if let Some(log) = &mut self.log {
            log.catch_up(end);
        }
    }

    /// Ends the samples that are over at `now`; a drive may have done nothing for years.
    #[inline]
    fn end_samples(&mut self, now: Nanos) {
        if now < self.sample_end || self.sample_end == Nanos::MAX {
            return;
        }
        let idle = (now - self.sample_end).0 / SAMPLE.0;
        self.tallies.iter_mut().for_each(|tally| tally.end_samples(idle));
        self.sample_end = self.sample_end.saturating_add(Nanos((1 + idle) * SAMPLE.0));
    }

    /// Adds what another stream did.
    pub fn merge(&mut self, other: &Measure) {
        for (mine, theirs) in self.tallies.iter_mut().zip(&other.tallies) {
            mine.merge(theirs);
        }
        self.flushes.merge(&other.flushes);
        for (mine, theirs) in self.depths.iter_mut().zip(other.depths) {
            *mine += theirs;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_the_mean_and_deviation_of_their_values() {
        let mut samples = Samples::default();
        samples.record(4.0, 0);
        samples.record(6.0, 2);
        // 4, 6, 0, 0: the squares of the distances from 2.5 add up to 27.
        assert_eq!((samples.count, samples.min, samples.max, samples.mean()), (4, 0.0, 6.0, 2.5));
        assert!((samples.deviation() - 3.0).abs() < 1e-12);
        // Equal rates, however large and many, do not deviate.
        let mut equal = Samples::default();
        (0..100_000).for_each(|_| equal.record(1e9 / 3.0, 0));
        assert!(equal.deviation() < 1e-3, "{}", equal.deviation());
    }

    #[test]
    fn rates_that_go_on_at_the_same_time_add_up() {
        let (mut one, mut other) = (Samples::default(), Samples::default());
        (0..4).for_each(|_| one.record(100.0, 0));
        (0..2).for_each(|turn| other.record(40.0 + 20.0 * f64::from(turn), 0));
        one.add(&other);
        assert_eq!((one.count, one.min, one.max, one.mean()), (6, 140.0, 160.0, 150.0));
        // 10^2 + 10^2 over 5.
        assert!((one.deviation() - 40f64.sqrt()).abs() < 1e-12);
    }
}
