//! Every number below a bound once, in random order, without a table.

/// A random order of `0..count`, computed and not stored, so that a drive of any size costs nothing.
///
/// The number of a turn is mixed by steps that can each be undone (an odd factor, a shifted
/// exclusive or), within the next power of two; what falls outside of the bound is mixed again
/// until it is inside (Black and Rogaway 2002, cycle walking: less than two rounds on average).
#[derive(Clone, Debug)]
pub(super) struct Permutation {
    count: u64,
    mask: u64,
    shift: u32,
    keys: [(u64, u64); ROUNDS],
}

const ROUNDS: usize = 4;

impl Permutation {
    /// An order of `0..count`, which holds at least one number, from random `keys`.
    pub(super) fn new(count: u64, mut random: impl FnMut() -> u64) -> Permutation {
        let bits = (64 - (count.max(1) - 1).leading_zeros()).max(1);
        Permutation {
            count: count.max(1),
            mask: u64::MAX >> (64 - bits),
            shift: bits.div_ceil(2),
            keys: std::array::from_fn(|_| (random() | 1, random())),
        }
    }

    /// The number in place `place`, which is below the count.
    #[inline]
    pub(super) fn at(&self, place: u64) -> u64 {
        let mut x = place;
        loop {
            for (factor, offset) in self.keys {
                x = x.wrapping_mul(factor).wrapping_add(offset) & self.mask;
                x ^= x >> self.shift;
            }
            if x < self.count {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    proptest! {
        #[test]
        fn every_number_comes_once(count in 1u64..5000, seed in any::<u64>()) {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let order = Permutation::new(count, || random.next_u64());
            let mut all: Vec<u64> = (0..count).map(|place| order.at(place)).collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn neighbours_in_time_are_no_neighbours_in_space() {
        let count = 100_000;
        let mut distances = 0.0;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..20 {
            let order = Permutation::new(count, || random.next_u64());
            for place in 1..1000 {
                distances += order.at(place).abs_diff(order.at(place - 1)) as f64;
            }
        }
        // Two uniform numbers below n are n / 3 apart on average.
        let mean = distances / (20.0 * 999.0) / count as f64;
        assert!((mean - 1.0 / 3.0).abs() < 0.02, "{mean}");
    }
}
