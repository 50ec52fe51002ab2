//! Wear: how often each block was erased, which is written next for that, which fail, and when
//! too few are left.
//!
//! Everything here happens when a block is opened, chosen for collection or freed, never when a
//! unit is written.

mod end_of_life;
#[cfg(test)]
mod tests;

use crate::consistency::Inconsistency;
use std::collections::VecDeque;
use std::mem::replace;

use serde::{Deserialize, Serialize};

use super::blocks::{Block, DieBlocks};
use super::collect::Victim;
use super::die::{DieSpace, WriteFront};
use super::streams::Stream;
use super::victim::VictimChooser;
use super::{Ftl, Shape};
use crate::config::{Levelling, WearSection};
use crate::random::SplitMix64;

pub(super) use end_of_life::EndOfLife;

/// The wear of one die's blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DieWear {
    /// By block: how often it was erased.
    erases: Vec<u32>,
    /// By block: how many erases it bears, or [`RETIRED`]. Empty when blocks do not wear out.
    endurance: Vec<u32>,
    retired: u32,
    levelling: Levelling,
    threshold_cycles: u32,
    interval_blocks: u64,
    /// Blocks the die had closed when cold data had last been moved.
    levelled_at: u64,
}

/// Stands for the endurance of a block that has failed and is used no more.
const RETIRED: u32 = 0;

/// Most erases of a loaded block, so that there are as many again before a count overflows.
const MOST_ERASES: u32 = 1 << 31;

impl DieWear {
    /// Blocks that never fail and are used in turn.
    pub(super) fn lasting(blocks: u32) -> DieWear {
        DieWear {
            erases: vec![0; blocks as usize],
            endurance: Vec::new(),
            retired: 0,
            levelling: Levelling::None,
            threshold_cycles: 0,
            interval_blocks: 0,
            levelled_at: 0,
        }
    }

    fn new(blocks: u32, section: &WearSection, random: &mut SplitMix64) -> DieWear {
        DieWear {
            endurance: (0..blocks).map(|_| draw_endurance(section, random)).collect(),
            levelling: section.levelling,
            threshold_cycles: section.threshold_cycles,
            interval_blocks: u64::from(section.interval_blocks),
            ..DieWear::lasting(blocks)
        }
    }

    pub(super) fn blocks(&self) -> u32 {
        self.erases.len() as u32
    }

    /// Counts an erase.
    pub(super) fn erased(&mut self, block: Block) {
        self.erases[block as usize] += 1;
    }

    /// Whether a block that holds nothing may be written again; retires it if not.
    pub(super) fn survives(&mut self, block: Block) -> bool {
        let Some(endurance) = self.endurance.get_mut(block as usize) else {
            return true;
        };
        if self.erases[block as usize] < *endurance {
            return true;
        }
        self.retired += u32::from(*endurance != RETIRED);
        *endurance = RETIRED;
        false
    }

    fn is_retired(&self, block: Block) -> bool {
        self.endurance.get(block as usize) == Some(&RETIRED)
    }

    /// Whether the block may not be written again once it is empty.
    pub(super) fn is_worn_out(&self, block: Block) -> bool {
        self.endurance.get(block as usize).is_some_and(|&most| self.erases[block as usize] >= most)
    }

    /// Where in the list of free blocks, freed longest ago to last, the one is that is written next.
    pub(super) fn next_free(&self, free: &VecDeque<Block>) -> Option<usize> {
        match self.levelling {
            Levelling::None => (!free.is_empty()).then_some(0),
            Levelling::Dynamic | Levelling::Static => {
                (0..free.len()).min_by_key(|&place| self.erases[free[place] as usize])
            }
        }
    }

    /// The same for the data of `cold`, which will stay where it is: the most worn one, which it lets
    /// rest. If it does not stay, such a block comes back soon and is taken for this again; beyond
    /// two thresholds it has had enough of that, and blocks take turns.
    pub(super) fn resting_free(&self, free: &VecDeque<Block>, cold: Block) -> Option<usize> {
        let most = self.erases[cold as usize].saturating_add(2 * self.threshold_cycles);
        let erases = |place: &usize| self.erases[free[*place] as usize];
        let within = (0..free.len()).filter(|place| erases(place) <= most);
        within.max_by_key(erases).or((!free.is_empty()).then_some(0))
    }

    /// The closed block whose data is to move although that wins nothing: the least worn of those
    /// with cold data, if the most worn of the die is too far ahead of it.
    ///
    /// Cold is what has stayed while the die closed as many blocks as it has twice over. A block
    /// that is younger is hot, or has just begun to catch up. One that is worn out itself keeps its
    /// data: to move that would cost the die a block.
    fn cold_block(&self, blocks: &DieBlocks) -> Option<Block> {
        if self.levelling != Levelling::Static
            || blocks.closings() - self.levelled_at < self.interval_blocks
        {
            return None;
        }
        let erases = |block: &Block| self.erases[*block as usize];
        let in_use = (0..self.blocks()).filter(|&block| !self.is_retired(block));
        let most = in_use.map(|block| erases(&block)).max()?;
        let two_turns = 2 * u64::from(self.blocks());
        let is_cold = |block: &Block| {
            blocks.closings() - blocks.closed_at(*block) > two_turns && blocks.valid(*block) > 0
        };
        let cold = blocks.closed().filter(|block| is_cold(block) && !self.is_worn_out(*block));
        let least = cold.min_by_key(erases)?;
        (most - erases(&least) > self.threshold_cycles).then_some(least)
    }

    /// Whether loaded wear is one that `made`, which is new, could have become on a die that has
    /// closed so many blocks.
    pub(super) fn fits(&self, made: &DieWear, closings: u64) -> bool {
        let DieWear {
            erases,
            endurance,
            retired,
            levelling,
            threshold_cycles,
            interval_blocks,
            levelled_at,
        } = self;
        let levels_alike = (*levelling, *threshold_cycles, *interval_blocks)
            == (made.levelling, made.threshold_cycles, made.interval_blocks);
        let as_many = (erases.len(), endurance.len()) == (made.erases.len(), made.endurance.len());
        let bears = |((&most, &made), &erases): ((&u32, &u32), &u32)| match most {
            RETIRED => erases == made,
            most => most == made && erases <= made,
        };
        let failed = endurance.iter().filter(|&&most| most == RETIRED).count();
        levels_alike
            && as_many
            && *levelled_at <= closings
            && *retired as usize == failed
            && erases.iter().all(|&erases| erases <= MOST_ERASES)
            && endurance.iter().zip(&made.endurance).zip(erases).all(bears)
    }

    /// The blocks that have failed.
    pub(super) fn retired(&self) -> impl Iterator<Item = Block> + '_ {
        (0..self.blocks()).filter(|&block| self.is_retired(block))
    }

    /// Whether blocks that failed are counted right, and none was erased more often than it bears.
    pub(super) fn check(&self, die: usize) -> Result<(), Inconsistency> {
        if self.retired().count() != self.retired as usize {
            return Err(format!("die {die}: {} blocks counted as failed", self.retired).into());
        }
        let over = |block: &Block| {
            let most = self.endurance.get(*block as usize);
            most.is_some_and(|&most| most != RETIRED && self.erases[*block as usize] > most)
        };
        if let Some(block) = (0..self.blocks()).find(over) {
            return Err(
                format!("die {die} block {block} was erased more often than it bears").into()
            );
        }
        Ok(())
    }

    /// Begins to count the interval between two levelled blocks.
    pub(super) fn restart_levelling(&mut self) {
        self.levelled_at = 0;
    }
}

/// The erases that a block bears: normally distributed, as the sum of twelve uniform numbers is
/// closely enough, whose variance is 1. Unlike logarithm and cosine, additions give the same
/// number on every machine.
fn draw_endurance(section: &WearSection, random: &mut SplitMix64) -> u32 {
    let sum: u64 = (0..12).map(|_| random.next() >> 32).sum();
    let deviations = sum as f64 / (1u64 << 32) as f64 - 6.0;
    let sigma = section.endurance_sigma_percent / 100.0;
    let cycles = f64::from(section.endurance_cycles) * (1.0 + sigma * deviations);
    cycles.round().max(1.0) as u32
}

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
