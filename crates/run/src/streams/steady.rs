//! Ending streams when what they do has stopped drifting.

use std::collections::VecDeque;

use fourcorners_drive::Nanos;

/// What has to be steady.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Watched {
    /// I/Os a second.
    Iops,
    /// Bandwidth.
    Bandwidth,
    /// Mean latency.
    Latency,
}

/// When it is steady.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Criterion {
    /// What is watched.
    pub watched: Watched,
    /// The least-squares slope counts, an interval being the unit; otherwise the largest deviation
    /// from the mean.
    pub slope: bool,
    /// Steady below this.
    pub limit: f64,
    /// The limit is in per cent of the mean.
    pub percent: bool,
}

/// A group of streams that end together when they are steady.
#[derive(Clone, PartialEq, Debug)]
pub struct SteadySpec {
    /// The streams, by their places in the plan.
    pub members: Vec<usize>,
    /// When.
    pub criterion: Criterion,
    /// Length of the window that has to be steady.
    pub window: Nanos,
    /// From the first stream's beginning, not looked at.
    pub ramp: Nanos,
    /// One value of the window.
    pub interval: Nanos,
}

/// What a group did over its last window.
#[derive(Clone, PartialEq, Debug)]
pub struct SteadyResult {
    /// Whether it became steady.
    pub attained: bool,
    /// What was held against the limit last.
    pub value: f64,
    /// The largest deviation from the mean, in the unit of what is watched.
    pub deviation: f64,
    /// The slope, in that unit for an interval.
    pub slope: f64,
    /// I/Os a second, by interval.
    pub iops: Vec<u64>,
    /// KiB a second.
    pub kib_per_s: Vec<u64>,
    /// Mean latencies, nanoseconds.
    pub latency_ns: Vec<u64>,
}

/// Totals of the members of a group so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Totals {
    pub(super) ios: u64,
    pub(super) bytes: u64,
    pub(super) latency_ns: u128,
    /// When that was; of an interval, how long it was.
    pub(super) time: Nanos,
}

impl Totals {
    /// An amount of this interval, per second of the time that it really took.
    fn a_second(&self, amount: u64) -> f64 {
        amount as f64 * 1e9 / self.time.0.max(1) as f64
    }
}

/// A group that is being watched.
#[derive(Clone, Debug)]
pub(super) struct Steady {
    pub(super) spec: SteadySpec,
    before: Totals,
    window: VecDeque<Totals>,
    length: usize,
    result: SteadyResult,
}

impl Steady {
    pub(super) fn new(spec: SteadySpec) -> Steady {
        let result = SteadyResult {
            attained: false,
            value: 0.0,
            deviation: 0.0,
            slope: 0.0,
            iops: Vec::new(),
            kib_per_s: Vec::new(),
            latency_ns: Vec::new(),
        };
        let length = (spec.window.0 / spec.interval.0.max(1)).max(2) as usize;
        let window = VecDeque::new();
        Steady { spec, before: Totals::default(), window, length, result }
    }

    /// What was done until now does not count.
    pub(super) fn begin(&mut self, totals: Totals) {
        self.before = totals;
    }

    /// An interval has ended. Whether the group is steady now.
    pub(super) fn interval(&mut self, totals: Totals) -> bool {
        self.window.push_back(Totals {
            ios: totals.ios - self.before.ios,
            bytes: totals.bytes - self.before.bytes,
            latency_ns: totals.latency_ns - self.before.latency_ns,
            time: totals.time.since(self.before.time),
        });
        self.before = totals;
        if self.window.len() > self.length {
            self.window.pop_front();
        }
        if self.window.len() < self.length {
            return false;
        }
        let Criterion { watched, slope, limit, percent } = self.spec.criterion;
        let values: Vec<f64> = match watched {
            Watched::Iops => self.window.iter().map(|t| t.a_second(t.ios)).collect(),
            Watched::Bandwidth => self.window.iter().map(|t| t.a_second(t.bytes)).collect(),
            Watched::Latency => self.window.iter().map(mean_latency).collect(),
        };
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let middle = (count - 1.0) / 2.0;
        let places = (0..values.len()).map(|place| place as f64 - middle);
        let spread: f64 = places.clone().map(|place| place * place).sum();
        let product: f64 = places.zip(&values).map(|(place, value)| place * (value - mean)).sum();
        self.result.slope = product / spread;
        self.result.deviation = values.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
        let value = if slope { self.result.slope } else { self.result.deviation };
        self.result.value = match percent {
            true if mean > 0.0 => 100.0 * value / mean,
            true => f64::INFINITY,
            false => value,
        };
        self.result.attained = self.result.value.abs() < limit;
        self.result.attained
    }

    pub(super) fn finish(mut self) -> SteadyResult {
        let window = std::mem::take(&mut self.window);
        SteadyResult {
            iops: window.iter().map(|totals| totals.a_second(totals.ios) as u64).collect(),
            kib_per_s: window
                .iter()
                .map(|totals| totals.a_second(totals.bytes) as u64 / 1024)
                .collect(),
            latency_ns: window.iter().map(|totals| mean_latency(totals) as u64).collect(),
            ..self.result
        }
    }
}

fn mean_latency(totals: &Totals) -> f64 {
    totals.latency_ns as f64 / totals.ios.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(slope: bool, limit: f64) -> Steady {
        let second = Nanos::from_secs(1);
        let criterion = Criterion { watched: Watched::Iops, slope, limit, percent: true };
        let (members, ramp) = (vec![0], Nanos::ZERO);
        let window = Nanos::from_secs(4);
        Steady::new(SteadySpec { members, criterion, window, ramp, interval: second })
    }

    /// After which interval it was steady.
    fn attained(mut steady: Steady, rates: &[u64]) -> Option<usize> {
        let mut totals = Totals::default();
        rates.iter().position(|rate| {
            totals.ios += rate;
            totals.time += Nanos::from_secs(1);
            steady.interval(totals)
        })
    }

    #[test]
    fn an_interval_that_a_stall_made_longer_has_the_rate_of_its_own_time() {
        let mut watched = steady(false, 1.0);
        let mut totals = Totals::default();
        for (ios, seconds) in [(100, 1), (300, 3), (100, 1), (200, 2)] {
            totals.ios += ios;
            totals.time += Nanos::from_secs(seconds);
            watched.interval(totals);
        }
        assert!(watched.result.attained, "{:?}", watched.result);
        assert_eq!(watched.finish().iops, [100; 4]);
    }

    #[test]
    fn the_largest_deviation_from_the_mean_decides() {
        // The mean of the last four is 100, the largest deviation 4.
        assert_eq!(attained(steady(false, 4.1), &[500, 102, 98, 104, 96]), Some(4));
        assert_eq!(attained(steady(false, 4.0), &[500, 102, 98, 104, 96]), None);
    }

    #[test]
    fn the_slope_does_not_see_what_goes_up_and_down() {
        assert_eq!(attained(steady(true, 1.0), &[500, 300, 100, 100, 50]), None);
        assert_eq!(attained(steady(true, 0.1), &[500, 50, 150, 150, 50]), Some(4));
        // 97, 99, 101, 103: two a second, 2 % of the mean.
        assert_eq!(attained(steady(true, 2.01), &[97, 99, 101, 103]), Some(3));
        assert_eq!(attained(steady(true, 2.0), &[97, 99, 101, 103]), None);
    }

    #[test]
    fn nothing_at_all_is_not_steady() {
        assert_eq!(attained(steady(false, 50.0), &[0; 10]), None);
    }
}
