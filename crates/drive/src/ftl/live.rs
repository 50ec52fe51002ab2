//! Which places hold what the map points to: a bit each. They are told from the fragments when they
//! are asked for, so that no write has to look after them.

use super::shape::Shape;

/// A bit a unit of the NAND; every block begins with a word of its own.
#[derive(Clone, Debug)]
pub(super) struct LiveBits {
    words: Vec<u64>,
    words_per_block: usize,
}

impl LiveBits {
    pub(super) fn none(shape: Shape) -> LiveBits {
        let words_per_block = words_of_block(shape);
        LiveBits { words: vec![0; words_per_block * shape.blocks() as usize], words_per_block }
    }

    pub(super) fn of_block(&self, block: u32) -> &[u64] {
        &self.words[block as usize * self.words_per_block..][..self.words_per_block]
    }

    pub(super) fn of_block_mut(&mut self, block: u32) -> &mut [u64] {
        &mut self.words[block as usize * self.words_per_block..][..self.words_per_block]
    }

    pub(super) fn is_set(&self, block: u32, within: u32) -> bool {
        is_set(self.of_block(block), within)
    }

    /// Sets `count` bits of a block from `first` on.
    pub(super) fn set_range(&mut self, block: u32, first: u32, count: u32) {
        set_range(self.of_block_mut(block), first, count);
    }
}

/// Words of a block's bits.
pub(super) fn words_of_block(shape: Shape) -> usize {
    shape.units_per_block.div_ceil(64) as usize
}

/// Whether a bit of a block is set.
pub(super) fn is_set(words: &[u64], within: u32) -> bool {
    words[within as usize / 64] & (1 << (within % 64)) != 0
}

/// Sets `count` bits of a block from `first` on.
#[inline]
pub(super) fn set_range(words: &mut [u64], first: u32, count: u32) {
    let (mut from, end) = (first, first + count);
    while from < end {
        let word_end = (from / 64 + 1) * 64;
        let bits = end.min(word_end) - from;
        words[from as usize / 64] |= (u64::MAX >> (64 - bits)) << (from % 64);
        from = word_end;
    }
}

/// Sets those bits of a block that are set in `bits`, the lowest of which is for place `first`.
#[inline]
pub(super) fn add(words: &mut [u64], first: u32, bits: u64) {
    let (word, shift) = (first as usize / 64, first % 64);
    words[word] |= bits << shift;
    // What is beyond the word, in two steps because no shift is by all 64 bits.
    let beyond = bits >> 1 >> (63 - shift);
    if beyond != 0 {
        words[word + 1] |= beyond;
    }
}

/// How many groups of `size` neighbouring places of a block hold something: pages, or rows.
pub(super) fn groups_in_use(words: &[u64], size: u32) -> u32 {
    if 64 % size == 0 {
        return words.iter().map(|&word| lowest_of_groups(word, size).count_ones()).sum();
    }
    let bits = words.len() as u32 * 64;
    let any = |first: u32| (first..(first + size).min(bits)).any(|bit| is_set(words, bit));
    (0..bits).step_by(size as usize).filter(|&first| any(first)).count() as u32
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
    use proptest::prelude::*;

    #[test]
    fn a_range_is_what_single_bits_are() {
        for (first, count) in [(0, 200), (3, 61), (60, 70), (63, 1), (64, 64), (199, 1), (5, 0)] {
            let (mut range, mut single, mut added) = ([0; 4], [0; 4], [0; 4]);
            set_range(&mut range, first, count);
            (first..first + count).for_each(|within| set_range(&mut single, within, 1));
            (first..first + count).for_each(|within| add(&mut added, within, 1));
            assert_eq!((range, range), (single, added), "{first} + {count}");
        }
    }

    proptest! {
        #[test]
        fn groups_are_counted(bits in prop::collection::vec(0u32..200, 0..200), size in 1u32..70) {
            let mut words = [0; 4];
            bits.iter().for_each(|&bit| set_range(&mut words, bit, 1));
            let groups: std::collections::BTreeSet<u32> = bits.iter().map(|bit| bit / size).collect();
            prop_assert_eq!(groups_in_use(&words, size), groups.len() as u32);
        }

        #[test]
        fn what_is_added_is_what_its_bits_are(first in 0u32..136, bits: u64) {
            let (mut added, mut single) = ([0; 4], [0; 4]);
            add(&mut added, first, bits);
            (0..64).filter(|bit| bits & (1 << bit) != 0).for_each(|bit| set_range(&mut single, first + bit, 1));
            prop_assert_eq!(added, single);
        }
    }
}
