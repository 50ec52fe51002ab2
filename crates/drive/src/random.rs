//! Random numbers of a drive's own: few, and the same on every machine.

use serde::{Deserialize, Serialize};

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA
/// 2014). Eight lines that will never change are worth more here than a dependency: whatever
/// numbers a record was made with are part of the record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SplitMix64 {
    state: u64,
}

/// From one state to the next: 2^64 over the golden ratio.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number that [`SplitMix64`] gives in a state: equally likely any, and nothing like that of its
/// neighbour.
#[inline(always)]
pub(crate) fn scramble(state: u64) -> u64 {
    let mut z = state.wrapping_add(STEP);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl SplitMix64 {
    pub(crate) fn new(seed: u64) -> SplitMix64 {
        SplitMix64 { state: seed }
    }

    pub(crate) fn next(&mut self) -> u64 {
        let number = scramble(self.state);
        self.state = self.state.wrapping_add(STEP);
        number
    }

    /// A number below `bound`, 1 or more. The share of the 64 random bits that decides favours no
    /// number by more than bound / 2^64.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_first_numbers_are_the_published_ones() {
        // Seed 1234567, from the reference implementation (Vigna, splitmix64.c).
        let mut random = SplitMix64::new(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut random = SplitMix64::new(0);
        assert!((0..1000).all(|_| random.below(3) < 3));
        assert_eq!(random.below(1), 0);
    }
}
