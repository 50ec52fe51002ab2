//! One die: its blocks, the two that are being written, and what it has to do.

use serde::{Deserialize, Serialize};

use super::Shape;
use super::blocks::{Block, DieBlocks};
use super::collect::Victim;
use super::fragments::Filling;
use super::pace::Pace;
use super::wear::DieWear;
use crate::nand::{Chores, PageKinds};

/// One die's space and what is going on in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DieSpace {
    pub(super) blocks: DieBlocks,
    pub(super) host: WriteFront,
    /// The fragment that host data goes into; a loaded die begins another.
    #[serde(skip)]
    pub(super) filling: Filling,
    pub(super) moves: WriteFront,
    /// Units of collection's block that have been charged; a whole block's worth before the first.
    pub(super) charged: u32,
    pub(super) victim: Option<Victim>,
    pub(super) pace: Pace,
    /// Done since the last program of host data.
    pub(super) chores: Chores,
}

/// A block being written; none while `filled` says it is full.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct WriteFront {
    pub(super) block: Block,
    /// Units written so far; a whole block's worth before the first block is opened.
    pub(super) filled: u32,
}

/// Before the first block is opened.
pub(super) const NO_BLOCK: Block = Block::MAX;

impl DieSpace {
    pub(super) fn new(shape: Shape, wear: DieWear) -> DieSpace {
        DieSpace {
            blocks: DieBlocks::all_free(wear),
            host: WriteFront::none(shape),
            filling: Filling::NONE,
            moves: WriteFront::none(shape),
            charged: shape.units_per_block,
            victim: None,
            pace: Pace::default(),
            chores: Chores::default(),
        }
    }

    /// Charges the programs of `units` that collection has moved, and the erase of each block they
    /// begin.
    pub(super) fn charge_programs(&mut self, units: u32, shape: Shape, kinds: &PageKinds) {
        let mut left = units;
        while left > 0 {
            if self.charged == shape.units_per_block {
                self.chores.blocks_erased += 1;
                self.charged = 0;
            }
            let now = left.min(shape.units_per_block - self.charged);
            let (from, to) = (shape.row_of(self.charged).0, shape.row_of(self.charged + now).0);
            self.chores.program_rows(kinds, from, to);
            self.charged += now;
            left -= now;
        }
    }

    /// Forgets all data; the blocks stay as worn as they are.
    pub(super) fn erase_all(&mut self, shape: Shape) {
        self.blocks.erase_all();
        self.host = WriteFront::none(shape);
        self.filling = Filling::NONE;
        self.moves = WriteFront::none(shape);
        self.charged = shape.units_per_block;
        self.victim = None;
        self.pace = Pace::default();
        self.chores = Chores::default();
    }

    /// Units that can be written before a block has to be won back.
    pub(super) fn room(&self, units_per_block: u32) -> u64 {
        let open = 2 * units_per_block - self.host.filled - self.moves.filled;
        u64::from(self.blocks.free_blocks()) * u64::from(units_per_block) + u64::from(open)
    }
}

impl WriteFront {
    fn none(shape: Shape) -> WriteFront {
        WriteFront { block: NO_BLOCK, filled: shape.units_per_block }
    }

    /// Closes the full block and opens a free one. False when none is free.
    pub(super) fn renew(&mut self, blocks: &mut DieBlocks) -> bool {
        let Some(opened) = blocks.open() else {
            return false;
        };
        if self.block != NO_BLOCK {
            blocks.close(self.block);
        }
        *self = WriteFront { block: opened, filled: 0 };
        true
    }
}
