//! Wear: how often each block was erased, which is written next for that, which fail, and when
//! too few are left.
//!
//! Everything here happens when a block is opened, chosen for collection or freed, never when a
//! unit is written.

#[cfg(test)]
mod tests;

use crate::consistency::Inconsistency;
use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::blocks::{Block, DieBlocks};
use crate::config::{Levelling, WearSection};
use crate::random::SplitMix64;

/// The wear of one die's blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DieWear {
    /// By block: how often it was erased.
    pub(super) erases: Vec<u32>,
    /// By block: how many erases it bears, or [`RETIRED`]. Empty when blocks do not wear out.
    endurance: Vec<u32>,
    pub(super) retired: u32,
    levelling: Levelling,
    threshold_cycles: u32,
    interval_blocks: u64,
    /// Blocks the die had closed when cold data had last been moved.
    pub(super) levelled_at: u64,
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

    pub(super) fn new(blocks: u32, section: &WearSection, random: &mut SplitMix64) -> DieWear {
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
    pub(super) fn cold_block(&self, blocks: &DieBlocks) -> Option<Block> {
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
