//! The blocks of one die: which are free, which is written, which to collect.

use serde::{Deserialize, Serialize};

use crate::state::MOST_COUNTED;

/// A block of a die: one on every plane, erased together.
pub(crate) type Block = u32;

/// Set beside the count of valid units while a block is free or open, so that the search for the
/// block with the fewest passes over it without a second look-up.
const NOT_CLOSED: u32 = 1 << 31;

/// The blocks of one die.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DieBlocks {
    /// By block: number of valid units, and [`NOT_CLOSED`].
    valid: Vec<u32>,
    /// By block: how many blocks had been closed before it was. Written once a block, so that
    /// policies that go by age cost an overwrite nothing.
    closed_at: Vec<u64>,
    /// Blocks closed so far.
    closings: u64,
    /// Erased last to first, so that the block freed longest ago is taken next: every block is
    /// used in turn, which is the plainest of wear levelling.
    free: std::collections::VecDeque<Block>,
}

impl DieBlocks {
    pub(super) fn all_free(blocks: u32) -> DieBlocks {
        DieBlocks {
            valid: vec![NOT_CLOSED; blocks as usize],
            closed_at: vec![0; blocks as usize],
            closings: 0,
            free: (0..blocks).collect(),
        }
    }

    pub(super) fn free_blocks(&self) -> u32 {
        self.free.len() as u32
    }

    /// Takes a free block to write into.
    pub(super) fn open(&mut self) -> Option<Block> {
        self.free.pop_front()
    }

    /// The block is full: from now on it may be collected.
    pub(super) fn close(&mut self, block: Block) {
        self.valid[block as usize] &= !NOT_CLOSED;
        self.closed_at[block as usize] = self.closings;
        self.closings += 1;
    }

    /// Nothing in the block is valid any more: it may be erased and written again.
    pub(super) fn release(&mut self, block: Block) {
        debug_assert_eq!(self.valid(block), 0);
        self.valid[block as usize] = NOT_CLOSED;
        self.free.push_back(block);
    }

    /// Takes a closed block out of the candidates while it is collected.
    pub(super) fn begin_collecting(&mut self, block: Block) {
        self.valid[block as usize] |= NOT_CLOSED;
    }

    #[inline]
    pub(super) fn add_valid(&mut self, block: Block, units: u32) {
        self.valid[block as usize] += units;
    }

    #[inline]
    pub(super) fn remove_valid(&mut self, block: Block, units: u32) {
        self.valid[block as usize] -= units;
    }

    pub(super) fn valid(&self, block: Block) -> u32 {
        self.valid[block as usize] & !NOT_CLOSED
    }

    /// Whether loaded blocks are those of a die of `count`, of which those in `taken` are being
    /// written or collected: each is free, taken or closed, and no two of these.
    pub(super) fn fit(&self, count: u32, taken: &[Block]) -> bool {
        let DieBlocks { valid, closed_at, closings, free } = self;
        if valid.len() != count as usize || closed_at.len() != count as usize {
            return false;
        }
        let mut open = vec![false; count as usize];
        for &block in free.iter().chain(taken) {
            match open.get_mut(block as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => return false,
            }
        }
        let aged = |&block: &Block| {
            self.is_closed(block) != open[block as usize]
                && (open[block as usize] || closed_at[block as usize] < *closings)
        };
        (0..count).all(|block| aged(&block))
            && free.iter().all(|&block| self.valid(block) == 0)
            && *closings <= MOST_COUNTED
    }

    /// All blocks, whatever their state.
    pub(super) fn count(&self) -> u32 {
        self.valid.len() as u32
    }

    /// Whether the block may be collected.
    pub(super) fn is_closed(&self, block: Block) -> bool {
        self.valid[block as usize] & NOT_CLOSED == 0
    }

    /// The blocks that may be collected, by number.
    pub(super) fn closed(&self) -> impl Iterator<Item = Block> + '_ {
        (0..self.count()).filter(|&block| self.is_closed(block))
    }

    /// How many blocks had been closed before this one was, which is closed.
    pub(super) fn closed_at(&self, block: Block) -> u64 {
        self.closed_at[block as usize]
    }

    /// Blocks closed so far.
    pub(super) fn closings(&self) -> u64 {
        self.closings
    }

    /// The closed block with the fewest valid units, the lowest-numbered of equals.
    ///
    /// A scan: it runs once for every block's worth of collected space, reads a few KiB and
    /// vectorises, where lists by valid count would cost every overwrite two cache misses.
    pub(super) fn fewest_valid(&self) -> Option<(Block, u32)> {
        let fewest = self.valid.iter().copied().min()?;
        if fewest & NOT_CLOSED != 0 {
            return None;
        }
        let block = self.valid.iter().position(|&valid| valid == fewest)?;
        Some((block as Block, fewest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_closed_blocks_are_collected_fewest_valid_first() {
        let mut blocks = DieBlocks::all_free(4);
        assert_eq!(blocks.fewest_valid(), None);
        for valid in [3, 1, 2] {
            let block = blocks.open().expect("free blocks are left");
            blocks.add_valid(block, valid);
            if valid != 1 {
                blocks.close(block);
            }
        }
        assert_eq!(blocks.fewest_valid(), Some((2, 2)));
        blocks.close(1);
        assert_eq!(blocks.fewest_valid(), Some((1, 1)));
        blocks.begin_collecting(1);
        blocks.remove_valid(1, 1);
        blocks.release(1);
        assert_eq!((blocks.free_blocks(), blocks.fewest_valid()), (2, Some((2, 2))));
    }
}
