//! Latency histograms: log-linear buckets, cheap enough for every I/O.

use fourcorners_record::Latency;

/// Each power of two is cut into this many equal buckets, so a bucket is at most 1/128 = 0.78 %
/// wide and its highest value at most that far above any value in it.
const BUCKETS_PER_OCTAVE: usize = 1 << OCTAVE_BITS;
const OCTAVE_BITS: u32 = 7;
/// Values below two octaves' worth have a bucket each; every u64 has one.
const BUCKETS: usize = BUCKETS_PER_OCTAVE * (64 - OCTAVE_BITS as usize + 1);

/// Counts of values in nanoseconds, with exact count, sum, minimum and maximum.
///
/// ```
/// use fourcorners_run::Histogram;
/// let mut latencies = Histogram::new();
/// for ns in 1..=1000 {
///     latencies.record(ns * 1_000);
/// }
/// assert_eq!((latencies.count(), latencies.max()), (1000, 1_000_000));
/// let median = latencies.percentile(50.0) as f64;
/// assert!((median / 500_000.0 - 1.0).abs() < 0.01);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    buckets: Box<[u64; BUCKETS]>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram::new()
    }
}

impl Histogram {
    /// An empty histogram (58 KiB; only the buckets that are hit are ever touched again).
    pub fn new() -> Histogram {
        let buckets = vec![0; BUCKETS].into_boxed_slice().try_into().expect("BUCKETS long");
        Histogram { buckets, count: 0, sum: 0, min: u64::MAX, max: 0 }
    }

    /// Counts one value.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.buckets[bucket_of(ns)] += 1;
        self.count += 1;
        self.sum += u128::from(ns);
        // Hardly any value is one of these: a branch that is foreseen, and nothing stored.
        if ns < self.min {
            self.min = ns;
        }
        if ns > self.max {
            self.max = ns;
        }
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Exact sum of the values, nanoseconds.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Exact mean, nanoseconds; 0 when empty.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// Exact smallest value, nanoseconds; 0 when empty.
    pub fn min(&self) -> u64 {
        if self.count == 0 { 0 } else { self.min }
    }

    /// Exact largest value, nanoseconds; 0 when empty.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The value that `percent` % of all values do not exceed, at most 0.8 % too high and never
    /// too low; 0 when empty.
    ///
    /// It is the highest value of the bucket (or the exact maximum, if that is lower), as
    /// HdrHistogram tells it: a percentile that is too low would flatter the drive. The rank is the nearest-rank rule: the smallest value with at least `percent` % of the
    /// values at or below it. 0 and 100 give the exact minimum and maximum.
    pub fn percentile(&self, percent: f64) -> u64 {
        if percent >= 100.0 || self.count == 0 {
            return self.max();
        }
        // In whole millionths: 99.9 / 100.0 in binary is a little more than it, and its product
        // with a count rounded up is then one rank too many.
        let millionths = (percent.max(0.0) * 1e4).round() as u128;
        let rank = (millionths * u128::from(self.count)).div_ceil(1_000_000).max(1) as u64;
        if rank == 1 {
            return self.min;
        }
        let mut below = 0;
        for (bucket, &count) in self.buckets.iter().enumerate() {
            below += count;
            if below >= rank {
                let (low, width) = bucket_range(bucket);
                return (low + (width - 1)).min(self.max);
            }
        }
        self.max
    }

    /// The buckets that hold anything, ascending: lowest value of the bucket in nanoseconds, count.
    pub fn bins(&self) -> Vec<(u64, u64)> {
        let held = self.buckets.iter().enumerate().filter(|&(_, &count)| count > 0);
        held.map(|(bucket, &count)| (bucket_range(bucket).0, count)).collect()
    }

    /// How often each bucket was hit, whether it holds anything or not; [`Histogram::bucket_lows`]
    /// says what is in them.
    pub fn counts(&self) -> &[u64] {
        &*self.buckets
    }

    /// Lowest value of each bucket, nanoseconds; the same for every histogram.
    pub fn bucket_lows() -> impl ExactSizeIterator<Item = u64> {
        (0..BUCKETS).map(|bucket| bucket_range(bucket).0)
    }

    /// Adds everything `other` counted.
    pub fn merge(&mut self, other: &Histogram) {
        for (mine, theirs) in self.buckets.iter_mut().zip(other.buckets.iter()) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

/// The bucket of a value: the value itself while it is small, then the top eight bits of it
/// beneath its power of two.
#[inline]
fn bucket_of(ns: u64) -> usize {
    // The lowest bits are set, so that small values have the shift 0.
    let shift = (ns | (2 * BUCKETS_PER_OCTAVE as u64 - 1)).ilog2() - OCTAVE_BITS;
    (shift as usize) * BUCKETS_PER_OCTAVE + (ns >> shift) as usize
}

/// Lowest value and width of a bucket, the inverse of [`bucket_of`].
fn bucket_range(bucket: usize) -> (u64, u64) {
    let shift = (bucket / BUCKETS_PER_OCTAVE).saturating_sub(1);
    let top = (bucket - shift * BUCKETS_PER_OCTAVE) as u64;
    (top << shift, 1 << shift)
}

impl From<&Histogram> for Latency {
    fn from(histogram: &Histogram) -> Latency {
        let micros = |ns: u64| ns as f64 / 1e3;
        Latency {
            min: micros(histogram.min()),
            mean: histogram.mean() / 1e3,
            p50: micros(histogram.percentile(50.0)),
            p90: micros(histogram.percentile(90.0)),
            p99: micros(histogram.percentile(99.0)),
            p999: micros(histogram.percentile(99.9)),
            p9999: micros(histogram.percentile(99.99)),
            max: micros(histogram.max()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_values_and_the_ends_are_exact() {
        let mut histogram = Histogram::new();
        assert_eq!((histogram.min(), histogram.max(), histogram.percentile(50.0)), (0, 0, 0));
        for ns in [0, 7, 255, u64::MAX] {
            histogram.record(ns);
        }
        assert_eq!((histogram.min(), histogram.max()), (0, u64::MAX));
        assert_eq!(histogram.percentile(50.0), 7);
        assert_eq!(histogram.percentile(75.0), 255);
        assert_eq!(histogram.percentile(100.0), u64::MAX);
    }

    #[test]
    fn a_percentile_is_not_a_rank_too_many() {
        let mut histogram = Histogram::new();
        (1..=100).for_each(|ns| histogram.record(ns));
        for (percent, rank) in [(1.0, 1), (29.0, 29), (55.0, 55), (57.0, 57), (99.0, 99)] {
            assert_eq!(histogram.percentile(percent), rank, "{percent} %");
        }
    }

    #[test]
    fn the_bins_are_the_buckets_that_were_hit() {
        let mut histogram = Histogram::new();
        [0, 300, 300, 1 << 40].into_iter().for_each(|ns| histogram.record(ns));
        let hit = Histogram::bucket_lows().zip(histogram.counts().iter().copied());
        let hit: Vec<(u64, u64)> = hit.filter(|&(_, count)| count > 0).collect();
        assert_eq!(hit, histogram.bins());
        assert_eq!(Histogram::bucket_lows().len(), histogram.counts().len());
    }

    proptest! {
        #[test]
        fn every_value_is_in_a_bucket_under_one_percent_wide(ns in any::<u64>()) {
            let (low, width) = bucket_range(bucket_of(ns));
            prop_assert!(low <= ns && ns - low < width);
            prop_assert!(width == 1 || (width as f64) / (low as f64) < 0.01);
        }

        #[test]
        fn percentiles_are_within_one_percent_of_the_sorted_values(
            mut values in prop::collection::vec(0u64..10_000_000_000, 1..400),
            millionths in 0u64..1_000_000,
        ) {
            let mut histogram = Histogram::new();
            values.iter().for_each(|&ns| histogram.record(ns));
            values.sort_unstable();
            let percent = millionths as f64 / 1e4;
            let rank = (millionths as usize * values.len()).div_ceil(1_000_000).max(1);
            let exact = values[rank - 1] as f64;
            let told = histogram.percentile(percent) as f64;
            prop_assert!(told >= exact && told <= exact * 1.008, "{told} for {exact}");
        }

        #[test]
        fn merging_is_recording_into_one(
            left in prop::collection::vec(any::<u64>(), 0..50),
            right in prop::collection::vec(any::<u64>(), 0..50),
        ) {
            let count = |values: &[u64]| {
                let mut histogram = Histogram::new();
                values.iter().for_each(|&ns| histogram.record(ns));
                histogram
            };
            let mut merged = count(&left);
            merged.merge(&count(&right));
            prop_assert_eq!(merged, count(&[left, right].concat()));
        }
    }
}
