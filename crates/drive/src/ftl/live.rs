//! Which places hold what the map points to: a bit each.

use super::shape::Shape;
use crate::prefetch::prefetch;

/// A bit a unit of the NAND; every block begins with a word of its own.
#[derive(Clone, Debug)]
pub(super) struct LiveBits {
    words: Vec<u64>,
    words_per_block: usize,
}

impl LiveBits {
    pub(super) fn none(shape: Shape) -> LiveBits {
        let words_per_block = shape.units_per_block.div_ceil(64) as usize;
        LiveBits { words: vec![0; words_per_block * shape.blocks() as usize], words_per_block }
    }

    pub(super) fn of_block(&self, block: u32) -> &[u64] {
        &self.words[block as usize * self.words_per_block..][..self.words_per_block]
    }

    pub(super) fn of_block_mut(&mut self, block: u32) -> &mut [u64] {
        &mut self.words[block as usize * self.words_per_block..][..self.words_per_block]
    }

    #[cfg(test)]
    pub(super) fn set(&mut self, block: u32, within: u32) {
        let word = block as usize * self.words_per_block + within as usize / 64;
        self.words[word] |= 1 << (within % 64);
    }

    #[inline]
    pub(super) fn clear(&mut self, block: u32, within: u32) {
        let word = block as usize * self.words_per_block + within as usize / 64;
        self.words[word] &= !(1 << (within % 64));
    }

    pub(super) fn is_set(&self, block: u32, within: u32) -> bool {
        self.of_block(block)[within as usize / 64] & (1 << (within % 64)) != 0
    }

    /// Sets `count` bits of a block from `first` on.
    #[inline]
    pub(super) fn set_range(&mut self, block: u32, first: u32, count: u32) {
        self.change(block, first, count, |word, bits| *word |= bits);
    }

    /// Clears `count` bits of a block from `first` on.
    #[inline]
    pub(super) fn clear_range(&mut self, block: u32, first: u32, count: u32) {
        self.change(block, first, count, |word, bits| *word &= !bits);
    }

    #[inline]
    fn change(&mut self, block: u32, first: u32, count: u32, change: impl Fn(&mut u64, u64)) {
        let start = block as usize * self.words_per_block;
        let (mut from, end) = (first, first + count);
        while from < end {
            let word_end = (from / 64 + 1) * 64;
            let bits = end.min(word_end) - from;
            let mask = (u64::MAX >> (64 - bits)) << (from % 64);
            change(&mut self.words[start + from as usize / 64], mask);
            from = word_end;
        }
    }

    pub(super) fn clear_all(&mut self) {
        self.words.fill(0);
    }

    #[inline]
    pub(super) fn prefetch(&self, block: u32, within: u32) {
        let word = block as usize * self.words_per_block + within as usize / 64;
        prefetch(&self.words, word);
    }

    /// How many groups of `size` neighbouring places of a block hold something: pages, or rows.
    pub(super) fn groups_in_use(&self, block: u32, size: u32) -> u32 {
        let words = self.of_block(block);
        if 64 % size == 0 {
            return words.iter().map(|&word| lowest_of_groups(word, size).count_ones()).sum();
        }
        let any = |first: u32| {
            let end = (first + size).min(words.len() as u32 * 64);
            (first..end).any(|bit| words[bit as usize / 64] & (1 << (bit % 64)) != 0)
        };
        (0..words.len() as u32 * 64).step_by(size as usize).filter(|&first| any(first)).count()
            as u32
    }
}

/// The lowest bit of each group of `size` bits, a power of two, that has one set.
fn lowest_of_groups(mut word: u64, size: u32) -> u64 {
    let mut width = 1;
    while width < size {
        word |= word >> width;
        width *= 2;
    }
    // 1 in the lowest place of every group.
    let lowest = if size == 64 { 1 } else { u64::MAX / ((1 << size) - 1) };
    word & lowest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::test_shape;
    use proptest::prelude::*;

    #[test]
    fn a_range_is_what_single_bits_are() {
        let shape = test_shape(1, 9, 200);
        for (first, count) in [(0, 200), (3, 61), (60, 70), (63, 1), (64, 64), (199, 1), (5, 0)] {
            let (mut one, mut other) = (LiveBits::none(shape), LiveBits::none(shape));
            one.set_range(2, first, count);
            (first..first + count).for_each(|within| other.set(2, within));
            assert_eq!(one.words, other.words, "{first} + {count}");
        }
    }

    proptest! {
        #[test]
        fn groups_are_counted(bits in prop::collection::vec(0u32..200, 0..200), size in 1u32..70) {
            let mut live = LiveBits::none(test_shape(1, 9, 200));
            bits.iter().for_each(|&bit| live.set(1, bit));
            let groups: std::collections::BTreeSet<u32> = bits.iter().map(|bit| bit / size).collect();
            prop_assert_eq!(live.groups_in_use(1, size), groups.len() as u32);
        }
    }
}
