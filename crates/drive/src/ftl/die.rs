//! One die: its blocks, those that are being written, and what it has to do.

use serde::{Deserialize, Serialize};

use super::blocks::{Block, DieBlocks, NO_BLOCK};
use super::emptying::Victim;
use super::fragments::Filling;
use super::labels::Labels;
use super::pace::Pace;
use super::shape::Shape;
use super::slc::DieSlc;
use super::stream::{FRONTS, STREAMS, Stream};
use super::wear::DieWear;
use crate::nand::{Chores, PageKinds};

/// One die's space and what is going on in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DieSpace {
    pub(super) blocks: DieBlocks,
    /// By stream. Nothing is opened for one that is not used.
    pub(super) fronts: [Fronts; FRONTS],
    /// Of a drive with streams, which has no state.
    #[serde(skip)]
    pub(super) labels: Option<Labels>,
    /// Of a drive with an SLC buffer; others have no need to pass over it.
    pub(super) slc: Option<Box<DieSlc>>,
    pub(super) victim: Option<Victim>,
    pub(super) pace: Pace,
    /// Done since the last program of host data.
    pub(super) chores: Chores,
}

/// The blocks of a stream that are being written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Fronts {
    pub(super) host: WriteFront,
    /// The fragment that host data goes into; a loaded die begins another.
    #[serde(skip)]
    pub(super) filling: Filling,
    pub(super) moves: WriteFront,
    /// Units of collection's block that have been charged; a whole block's worth before the first.
    pub(super) charged: u32,
}

/// A block being written; none while `filled` says it is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct WriteFront {
    pub(super) block: Block,
    /// Units written so far; a whole block's worth before the first block is opened.
    pub(super) filled: u32,
}

impl DieSpace {
    pub(super) fn new(shape: Shape, wear: DieWear) -> DieSpace {
        DieSpace {
            blocks: DieBlocks::all_free(wear),
            fronts: [Fronts::none(shape); FRONTS],
            labels: None,
            slc: None,
            victim: None,
            pace: Pace::default(),
            chores: Chores::default(),
        }
    }

    /// Forgets all data; the blocks stay as worn as they are.
    pub(super) fn erase_all(&mut self, shape: Shape) {
        self.blocks.erase_all();
        self.fronts = [Fronts::none(shape); FRONTS];
        if self.labels.is_some() {
            self.labels = Some(Labels::new(shape.blocks_per_die));
        }
        if let Some(slc) = &mut self.slc {
            slc.erase_all(&mut self.blocks);
        }
        self.victim = None;
        self.pace = Pace::default();
        self.chores = Chores::default();
    }

    /// Units that can be written to main blocks before one has to be won back.
    #[inline]
    pub(super) fn room(&self, units_per_block: u32) -> u64 {
        let open_in =
            |fronts: &Fronts| 2 * units_per_block - fronts.host.filled - fronts.moves.filled;
        let open: u32 = self.fronts[..STREAMS].iter().map(open_in).sum();
        u64::from(self.blocks.free_blocks()) * u64::from(units_per_block) + u64::from(open)
    }

    /// The stream of a block.
    pub(super) fn stream_of(&self, block: Block) -> Stream {
        self.labels.as_ref().map_or(Stream::Cold, |labels| labels.stream(block))
    }

    /// Opens another block for host data. False when none is free.
    pub(super) fn open_for_host(&mut self, stream: Stream) -> bool {
        let fronts = &mut self.fronts[stream.index()];
        fronts.filling = Filling::NONE;
        let Some(full) = fronts.host.renew(&mut self.blocks) else {
            return false;
        };
        if let Some(labels) = &mut self.labels
            && full != NO_BLOCK
        {
            labels.close_host(full, stream);
        }
        true
    }

    /// Opens another block for what collection moves. False when none is free.
    pub(super) fn open_for_moves(&mut self, stream: Stream) -> bool {
        let front = &mut self.fronts[stream.index()].moves;
        let units = front.filled;
        let Some(full) = front.renew(&mut self.blocks) else {
            return false;
        };
        if let Some(labels) = &mut self.labels
            && full != NO_BLOCK
        {
            labels.close_moves(full, stream, units);
        }
        true
    }
}

impl Fronts {
    pub(super) fn none(shape: Shape) -> Fronts {
        Fronts {
            host: WriteFront::none(shape),
            filling: Filling::NONE,
            moves: WriteFront::none(shape),
            charged: shape.units_per_block,
        }
    }

    /// Charges the programs of `units` that collection has moved, and the erase of each block they
    /// begin. Returns how many rows of parity are among the programs.
    #[inline(always)]
    pub(super) fn charge_programs(
        &mut self,
        units: u32,
        shape: Shape,
        kinds: &PageKinds,
        chores: &mut Chores,
    ) -> u32 {
        let (mut left, mut parity) = (units, 0);
        while left > 0 {
            if self.charged == shape.units_per_block {
                chores.blocks_erased += 1;
                self.charged = 0;
            }
            let now = left.min(shape.units_per_block - self.charged);
            let (from, to) = (shape.row_of(self.charged).0, shape.row_of(self.charged + now).0);
            let (nand_from, nand_to) = (shape.nand_row(from), shape.nand_row(to));
            chores.program_rows(kinds, nand_from, nand_to);
            parity += (nand_to - nand_from) - (to - from);
            self.charged += now;
            left -= now;
        }
        parity
    }
}

impl WriteFront {
    fn none(shape: Shape) -> WriteFront {
        WriteFront { block: NO_BLOCK, filled: shape.units_per_block }
    }

    /// Whether a block was ever opened here.
    pub(super) fn is_opened(&self) -> bool {
        self.block != NO_BLOCK
    }

    /// Closes the full block, which is returned ([`NO_BLOCK`] before the first), and opens a free one.
    /// `None` when none is free.
    fn renew(&mut self, blocks: &mut DieBlocks) -> Option<Block> {
        let opened = blocks.open()?;
        let full = std::mem::replace(self, WriteFront { block: opened, filled: 0 }).block;
        if full != NO_BLOCK {
            blocks.close(full);
        }
        Some(full)
    }
}
