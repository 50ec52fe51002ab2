//! An SLC buffer: blocks that are written with one bit a cell, and folded into the main ones.
//!
//! To the map they are places like any other, of which a block has fewer. To a die they are a third
//! front for host data, whose full blocks are never candidates of collection: they are counted as not
//! closed and stand in a list of their own. Folding is what collection does with a victim.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::blocks::{Block, DieBlocks, NO_BLOCK};
use super::shape::Shape;
use crate::config::{SlcBufferSection, SsdConfig, WhenSlcFull};
use crate::nand::Chores;

/// The SLC buffer of a drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlcBuffer {
    /// Units that a block holds when it is used so.
    pub(super) units_per_block: u32,
    /// Blocks of each die that are used for nothing else.
    pub(super) fixed_blocks: u32,
    /// Others of each die that are used so at most, and how many are left free.
    pub(super) dynamic_blocks: u32,
    pub(super) left_free: u32,
    pub(super) waits_for_folding: bool,
    /// No die had room for a row, and nothing was folded since.
    pub(super) exhausted: bool,
}

/// A die's part of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DieSlc {
    /// Blocks from this one on are used for nothing else.
    fixed_from: Block,
    /// Those of them that hold nothing.
    pub(super) free: VecDeque<Block>,
    /// Written, the one closed longest ago first.
    pub(super) full: VecDeque<Block>,
    /// By block: used so although it is not one of those. Empty when there are none.
    pub(super) dynamic: Vec<bool>,
    pub(super) dynamic_blocks: u32,
}

/// What a die would have to do to fold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoldWork {
    pub(crate) chores: Chores,
    /// Units that leave the SLC buffer with it; 0 when space is won first for those to come.
    pub(crate) units: u32,
}

impl SlcBuffer {
    /// `config` has passed its check.
    pub(super) fn new(config: &SsdConfig, section: &SlcBufferSection, shape: Shape) -> SlcBuffer {
        SlcBuffer {
            units_per_block: section.rows_per_block(config) * shape.units_per_row,
            fixed_blocks: section.fixed_blocks(config),
            dynamic_blocks: section.dynamic_blocks(config),
            left_free: config.gc.start_free_blocks + config.open_blocks_per_die(),
            waits_for_folding: section.when_full == WhenSlcFull::Fold,
            exhausted: false,
        }
    }

    /// The same of a loaded drive.
    pub(super) fn restored(self, exhausted: bool) -> SlcBuffer {
        SlcBuffer { exhausted, ..self }
    }

    /// The part of a die whose blocks are all free; takes its own out of them.
    pub(super) fn of_die(&self, blocks: &mut DieBlocks) -> DieSlc {
        let all = blocks.count();
        let fixed_from = all - self.fixed_blocks;
        blocks.set_apart(fixed_from);
        DieSlc {
            fixed_from,
            free: (fixed_from..all).collect(),
            full: VecDeque::new(),
            dynamic: vec![false; if self.dynamic_blocks > 0 { all as usize } else { 0 }],
            dynamic_blocks: 0,
        }
    }
}

impl DieSlc {
    /// Whether a block is written with one bit a cell.
    #[inline]
    pub(super) fn holds(&self, block: Block) -> bool {
        block >= self.fixed_from || self.dynamic.get(block as usize) == Some(&true)
    }

    /// Whether a block is used for nothing else.
    pub(super) fn is_fixed(&self, block: Block) -> bool {
        block >= self.fixed_from
    }

    pub(super) fn fixed_from(&self) -> Block {
        self.fixed_from
    }

    /// Blocks that are its own and hold nothing, and those that are full.
    pub(super) fn roles(&self) -> impl Iterator<Item = Block> + '_ {
        self.free.iter().chain(&self.full).copied()
    }

    /// A block is empty. False when it stays one of the SLC buffer's; otherwise it is one of all
    /// from now on.
    pub(super) fn give_back(&mut self, block: Block) -> bool {
        if self.is_fixed(block) {
            self.free.push_back(block);
            return false;
        }
        if let Some(dynamic) = self.dynamic.get_mut(block as usize)
            && std::mem::take(dynamic)
        {
            self.dynamic_blocks -= 1;
        }
        true
    }

    /// Forgets all data; all of the die's blocks are free.
    pub(super) fn erase_all(&mut self, blocks: &mut DieBlocks) {
        blocks.set_apart(self.fixed_from);
        self.free = (self.fixed_from..blocks.count()).collect();
        self.full.clear();
        self.dynamic.fill(false);
        self.dynamic_blocks = 0;
    }

    /// Those of its own that hold nothing.
    pub(super) fn free(&self) -> impl Iterator<Item = Block> + '_ {
        self.free.iter().copied()
    }

    /// Whether a loaded part is one that `made`, which is new, could have become on a die that has
    /// `written` to one and has `folding` as its victim.
    pub(super) fn fits(&self, made: &DieSlc, written: Block, folding: Option<Block>) -> bool {
        let DieSlc { fixed_from, free, full, dynamic, dynamic_blocks } = self;
        let taken =
            full.iter().copied().chain(folding).chain((written != NO_BLOCK).then_some(written));
        let is_dynamic = |block: &Block| *block < *fixed_from && self.holds(*block);
        let in_use = taken.filter(is_dynamic).count();
        *fixed_from == made.fixed_from
            && dynamic.len() == made.dynamic.len()
            && free.iter().all(|&block| self.is_fixed(block))
            && full.iter().all(|&block| self.holds(block))
            && (written == NO_BLOCK || self.holds(written))
            && dynamic.iter().filter(|&&is| is).count() == *dynamic_blocks as usize
            && in_use == *dynamic_blocks as usize
    }
}
