//! One die: its blocks, the two that are being written, and what it has to do.

use serde::{Deserialize, Serialize};

use super::blocks::{Block, DieBlocks};
use super::collect::Victim;
use super::pace::Pace;
use super::{NOWHERE, Shape};
use crate::nand::Chores;

/// One die's space and what is going on in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DieSpace {
    pub(super) blocks: DieBlocks,
    pub(super) host: WriteFront,
    pub(super) moves: WriteFront,
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

impl DieSpace {
    pub(super) fn new(shape: Shape) -> DieSpace {
        DieSpace {
            blocks: DieBlocks::all_free(shape.blocks_per_die),
            host: WriteFront::none(shape),
            moves: WriteFront::none(shape),
            victim: None,
            pace: Pace::default(),
            chores: Chores::default(),
        }
    }

    /// Units that can be written before a block has to be won back.
    pub(super) fn room(&self, units_per_block: u32) -> u64 {
        let open = 2 * units_per_block - self.host.filled - self.moves.filled;
        u64::from(self.blocks.free_blocks()) * u64::from(units_per_block) + u64::from(open)
    }
}

impl WriteFront {
    fn none(shape: Shape) -> WriteFront {
        WriteFront { block: NOWHERE, filled: shape.units_per_block }
    }

    /// Closes the full block and opens a free one, which is erased just before it is written.
    /// False when none is free.
    pub(super) fn renew(&mut self, blocks: &mut DieBlocks, chores: &mut Chores) -> bool {
        let Some(opened) = blocks.open() else {
            return false;
        };
        if self.block != NOWHERE {
            blocks.close(self.block);
        }
        chores.blocks_erased += 1;
        *self = WriteFront { block: opened, filled: 0 };
        true
    }
}
