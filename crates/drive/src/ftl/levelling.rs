//! What wear does to a drive: cold data is moved to worn blocks, blocks fail, and the drive ends.

use std::mem::replace;

use super::Ftl;
use super::blocks::Block;
use super::die::{DieSpace, WriteFront};
use super::emptying::Victim;
use super::shape::Shape;
use super::stream::Stream;
use super::victim::VictimChooser;
use super::wear::DieWear;
use crate::config::WearSection;
use crate::random::SplitMix64;

/// The dies of a new drive.
pub(super) fn new_dies(shape: Shape, section: Option<&WearSection>) -> Vec<DieSpace> {
    let blocks = shape.blocks_per_die;
    let mut random = SplitMix64::new(section.map_or(0, |section| section.seed));
    let mut wear = || match section {
        Some(section) => DieWear::new(blocks, section, &mut random),
        None => DieWear::lasting(blocks),
    };
    (0..shape.dies).map(|_| DieSpace::new(shape, wear())).collect()
}

impl DieSpace {
    /// The block to collect next, as the policy chooses, of one stream or of all.
    ///
    /// A block that is worn out takes space for its data and gives none back. It may not take the
    /// last free block, or nothing could be won back from any other; where it would, the block with
    /// the fewest valid units of those that do not is next.
    pub(super) fn next_victim(
        &self,
        policy: &mut VictimChooser,
        [units, full_from]: [u32; 2],
        among: Option<Stream>,
    ) -> Option<Block> {
        let (blocks, wear) = (&self.blocks, self.blocks.wear());
        let room = |block| units - self.fronts[self.stream_of(block).index()].moves.filled;
        let leaves_one = |&block: &Block| {
            blocks.free_blocks() > 1
                || !wear.is_worn_out(block)
                || blocks.valid(block) <= room(block)
        };
        let (chosen, _) = match among {
            None => policy.choose(blocks, full_from)?,
            Some(stream) => {
                let closed = blocks.closed();
                let closed: Vec<Block> = closed.filter(|&b| self.stream_of(b) == stream).collect();
                policy.choose_of(blocks, full_from, &closed)?
            }
        };
        if leaves_one(&chosen) {
            return Some(chosen);
        }
        let wins = |block: &Block| blocks.valid(*block) < full_from;
        let others = blocks.closed().filter(|block| wins(block) && leaves_one(block));
        others.min_by_key(|&block| blocks.valid(block))
    }

    /// Free blocks that the host leaves to collection: one for the next victim, unless there is one
    /// now, which has been moved already and will be free itself, if it is not worn out.
    pub(super) fn left_to_collection(&self) -> u32 {
        let slc = self.slc.as_ref();
        let will_be_free = |victim: &Victim| {
            !self.blocks.wear().is_worn_out(victim.block())
                && !slc.is_some_and(|slc| slc.is_fixed(victim.block()))
        };
        1 - u32::from(self.victim.as_ref().is_some_and(will_be_free))
    }
}

impl Ftl {
    /// Moves cold data of a die to a worn block, if its blocks are worn too differently.
    ///
    /// It gets a block of its own. In the block that collection fills it would be mixed with data
    /// that is overwritten soon, be collected again with that, and before long all of the cold data
    /// would lie in all of the blocks: write amplification would be as if none were cold.
    ///
    /// The block is moved at once, which holds up the die for as long, and wins no space: what was
    /// invalid in the old block is left unwritten in the new one.
    pub(super) fn level_wear(&mut self, die: u32) {
        let shape = self.shape;
        let space = &mut self.dies[die as usize];
        let Some(cold) = space.blocks.wear().cold_block(&space.blocks) else {
            return;
        };
        let Some(resting) = space.blocks.open_for_rest(cold) else {
            return;
        };
        let stream = space.stream_of(cold).index();
        let rest = WriteFront { block: resting, filled: 0 };
        let moves = replace(&mut space.fronts[stream].moves, rest);
        let moved = self.move_out(die, cold);

        let space = &mut self.dies[die as usize];
        let filled = replace(&mut space.fronts[stream].moves, moves).filled;
        if let Some(labels) = &mut space.labels {
            labels.moved_alone(cold, resting, filled);
        }
        let (full_rows, in_row) = shape.row_of(filled);
        let rows = full_rows + u32::from(in_row > 0);
        let nand_rows = shape.nand_row(rows) + u32::from(shape.cuts_parity(rows));
        self.counts.parity_units += u64::from((nand_rows - rows) * shape.units_per_row);
        self.counts.padded_units += u64::from(rows * shape.units_per_row - filled);
        let (rows_read, pages_out) = moved.reads_to(filled);
        space.chores.blocks_erased += 1;
        space.chores.rows_read += rows_read;
        space.chores.pages_out += pages_out;
        space.chores.program_rows(&self.page_kinds, 0, nand_rows);
        space.blocks.close(resting);
        let released = space.blocks.release(cold);
        debug_assert!(released, "a block that is worn out keeps its cold data");
        let closings = space.blocks.closings();
        space.blocks.wear_mut().levelled_at = closings;
    }

    /// All moves of a victim have been charged, which held `valid` units: the block is free, or it
    /// has failed.
    pub(super) fn emptied(&mut self, die: u32, block: Block, valid: u32) {
        let space = &mut self.dies[die as usize];
        if let Some(slc) = &mut space.slc
            && !slc.give_back(block)
        {
            return;
        }
        if space.blocks.release(block) {
            space.pace.won(self.shape.units_per_block.saturating_sub(valid));
        } else {
            // What was moved has used space, and none was won.
            space.pace.owe(valid, false);
            self.end_of_life.note_failure(space.blocks.wear());
        }
    }

    /// All dies forget their data; worn-out blocks fail now that they are empty.
    pub(super) fn erase_dies(&mut self) {
        for space in &mut self.dies {
            space.erase_all(self.shape);
            self.end_of_life.note_failure(space.blocks.wear());
        }
    }

    /// By block that is not used for an SLC buffer only: how often it was erased.
    pub(crate) fn erases(&self) -> impl Iterator<Item = u32> + '_ {
        self.dies.iter().flat_map(|space| {
            let counted = space.slc.as_ref().map_or(Block::MAX, |slc| slc.fixed_from());
            space.blocks.wear().erases.iter().copied().take(counted as usize)
        })
    }

    /// Blocks that have failed.
    pub(crate) fn retired_blocks(&self) -> u64 {
        self.dies.iter().map(|space| u64::from(space.blocks.wear().retired)).sum()
    }

    /// The cycles a block is rated for, if blocks wear out.
    pub(crate) fn rated_cycles(&self) -> Option<u32> {
        self.end_of_life.rated_cycles()
    }

    /// Whether the drive takes no more writes.
    pub(crate) fn is_worn_out(&self) -> bool {
        self.end_of_life.is_reached()
    }
}
