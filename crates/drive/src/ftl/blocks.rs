//! The blocks of one die: which are free, which is written, which to collect.

use serde::{Deserialize, Serialize};

use super::wear::DieWear;
use crate::state::MOST_COUNTED;

/// A block of a die: one on every plane, erased together.
pub(crate) type Block = u32;

/// Before the first block is opened.
pub(super) const NO_BLOCK: Block = Block::MAX;

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
    /// Freed longest ago to last.
    free: std::collections::VecDeque<Block>,
    wear: DieWear,
}

impl DieBlocks {
    pub(super) fn all_free(wear: DieWear) -> DieBlocks {
        let blocks = wear.blocks();
        DieBlocks {
            valid: vec![NOT_CLOSED; blocks as usize],
            closed_at: vec![0; blocks as usize],
            closings: 0,
            free: (0..blocks).collect(),
            wear,
        }
    }

    /// Forgets all data, so that every block is free that can be written again.
    pub(super) fn erase_all(&mut self) {
        self.valid.fill(NOT_CLOSED);
        self.closed_at.fill(0);
        self.closings = 0;
        self.free.clear();
        for block in 0..self.count() {
            if self.wear.survives(block) {
                self.free.push_back(block);
            }
        }
        self.wear.restart_levelling();
    }

    /// Blocks from `first` on are not free to be written by others than the caller.
    pub(super) fn set_apart(&mut self, first: Block) {
        self.free.retain(|&block| block < first);
    }

    /// How its blocks are worn.
    pub(super) fn wear(&self) -> &DieWear {
        &self.wear
    }

    pub(super) fn wear_mut(&mut self) -> &mut DieWear {
        &mut self.wear
    }

    pub(super) fn free_blocks(&self) -> u32 {
        self.free.len() as u32
    }

    /// The free blocks, freed longest ago to last.
    pub(super) fn free(&self) -> impl Iterator<Item = Block> + '_ {
        self.free.iter().copied()
    }

    /// Takes a free block to write into, which wear levelling chooses, and erases it.
    pub(super) fn open(&mut self) -> Option<Block> {
        let place = self.wear.next_free(&self.free)?;
        self.take_free(place)
    }

    /// The same for the data of `cold`, which will stay where it is.
    pub(super) fn open_for_rest(&mut self, cold: Block) -> Option<Block> {
        let place = self.wear.resting_free(&self.free, cold)?;
        self.take_free(place)
    }

    fn take_free(&mut self, place: usize) -> Option<Block> {
        let block = self.free.remove(place)?;
        self.wear.erased(block);
        Some(block)
    }

    /// The block is full: from now on it may be collected.
    pub(super) fn close(&mut self, block: Block) {
        self.valid[block as usize] &= !NOT_CLOSED;
        self.closed_at[block as usize] = self.closings;
        self.closings += 1;
    }

    /// Nothing in the block is valid any more: it may be erased and written again. False when it
    /// is worn out and must not.
    pub(super) fn release(&mut self, block: Block) -> bool {
        debug_assert_eq!(self.valid(block), 0);
        self.valid[block as usize] = NOT_CLOSED;
        let survives = self.wear.survives(block);
        if survives {
            self.free.push_back(block);
        }
        survives
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

    /// The valid units of a block, if there is one of that number.
    pub(super) fn known_valid(&self, block: Block) -> Option<u32> {
        self.valid.get(block as usize).map(|valid| valid & !NOT_CLOSED)
    }

    /// Whether loaded blocks are those of a die that `made`, which is new, is the wear of. Of these,
    /// those in `taken` are being written or collected: each is free, taken, closed or failed, and
    /// no two of these.
    pub(super) fn fit(&self, made: &DieWear, taken: &[Block]) -> bool {
        let DieBlocks { valid, closed_at, closings, free, wear } = self;
        let count = made.blocks();
        if [valid.len(), closed_at.len()] != [count as usize; 2] || !wear.fits(made, *closings) {
            return false;
        }
        let failed: Vec<Block> = wear.retired().collect();
        let mut open = vec![false; count as usize];
        for &block in free.iter().chain(taken).chain(&failed) {
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
            && free.iter().chain(&failed).all(|&block| self.valid(block) == 0)
            && !free.iter().any(|&block| wear.is_worn_out(block))
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
        // Some at a time, for a search that may end anywhere does not vectorise.
        let (some, _) = self.valid.as_chunks::<32>();
        let holds =
            |some: &[u32; 32]| some.iter().fold(false, |any, &valid| any | (valid == fewest));
        let from = 32 * some.iter().position(holds).unwrap_or(some.len());
        let block = from + self.valid[from..].iter().position(|&valid| valid == fewest)?;
        Some((block as Block, fewest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_closed_blocks_are_collected_fewest_valid_first() {
        let mut blocks = DieBlocks::all_free(DieWear::lasting(4));
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
        assert!(blocks.release(1));
        assert_eq!((blocks.free_blocks(), blocks.fewest_valid()), (2, Some((2, 2))));
    }
}
