//! How times are spread, in few numbers: what a histogram of a monitoring system is made of.

use fourcorners_run::Histogram;

/// The lowest bound is below 2^10 ns, a microsecond; the highest below 2^34 ns, 17 s.
const OCTAVES: std::ops::RangeInclusive<u32> = 10..=34;

/// Counts of times up to each of a few bounds. The bounds are those at which [`Histogram`] parts its buckets, so that the counts are
/// exact.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Distribution {
    /// How many took at most so many nanoseconds, ascending; those that took longer are in `count` alone.
    pub at_most: Vec<(u64, u64)>,
    /// All.
    pub count: u64,
    /// Their sum, nanoseconds.
    pub sum_ns: u128,
}

impl From<&Histogram> for Distribution {
    fn from(histogram: &Histogram) -> Distribution {
        let mut at_most: Vec<(u64, u64)> = OCTAVES.map(|octave| ((1 << octave) - 1, 0)).collect();
        for (low, count) in Histogram::bucket_lows().zip(histogram.counts()) {
            // No bucket reaches over a power of two.
            let octave = u64::BITS - low.leading_zeros();
            let place = octave.saturating_sub(*OCTAVES.start()) as usize;
            if let Some((_, counted)) = at_most.get_mut(place) {
                *counted += count;
            }
        }
        let mut below = 0;
        for (_, count) in &mut at_most {
            below += *count;
            *count = below;
        }
        Distribution { at_most, count: histogram.count(), sum_ns: histogram.sum() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_values_themselves() {
        let values = [0, 1, 1023, 1024, 2047, 2048, 999_999, (1 << 34) - 1, 1 << 34, u64::MAX];
        let mut histogram = Histogram::new();
        values.iter().for_each(|value| histogram.record(*value));
        let found = Distribution::from(&histogram);
        for (bound, count) in &found.at_most {
            let expected = values.iter().filter(|value| *value <= bound).count() as u64;
            assert_eq!(*count, expected, "at most {bound} ns");
        }
        assert_eq!((found.count, found.at_most.len()), (10, 25));
        assert_eq!(found.sum_ns, values.iter().map(|value| u128::from(*value)).sum());
        // Two took longer than the highest bound, and are counted.
        assert_eq!(found.at_most.last().map(|(_, count)| *count), Some(8));
    }
}
