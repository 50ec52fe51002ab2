//! The hybrid log-block map: data blocks mapped by block, log blocks mapped by page.
//!
//! A *logical block* is as many units of the user's space as a block holds. Its data block keeps
//! every unit at the unit's own offset, so the map needs one entry a block. What the host writes
//! is appended to a log block, and merged with the data block when log blocks run out:
//!
//! ```text
//! switch merge    the log block holds the logical block in order     it is the data block now
//! partial merge   it holds the first units in order                  the rest is copied behind
//! full merge      anything else                                      all goes to a free block
//! ```
//!
//! A full merge of a log block copies every logical block that has something valid in it, so
//! random writes cost one block's worth of copies for each of the k logical blocks of a log
//! block: a write amplification of 1 + k, and that of a whole block a write where a log block is
//! merged before it has taken a second write to the same logical block.

mod check;
mod errands;
mod merge;
mod pool;
mod stripe;
#[cfg(test)]
mod tests;

use super::blocks::Block;
use super::{FtlCounts, LogicalUnit, PhysicalUnit, Placed, Shape, Stream};
use crate::config::{LogBlocksSection, SsdConfig};
use crate::divide::Divider;
use crate::nand::{Chores, PageKinds};
use crate::prefetch::prefetch;
use errands::Errands;
use pool::{LogId, LogPlace, LogPool};
use std::collections::VecDeque;
use stripe::{Stripe, Superblock};

pub use merge::MergeCounts;

/// Neither a place nor a block, a log or a unit.
const NOWHERE: u32 = u32::MAX;

/// Map, log and merges of a drive.
#[derive(Clone, Debug)]
pub(crate) struct LogBlockMap {
    stripe: Stripe,
    by_units: Divider,
    user_units: u32,
    associativity: u32,
    sequential: bool,
    /// By logical block: its data block.
    data: Vec<Superblock>,
    /// A bit a logical unit: its data block holds it.
    in_data: Vec<u64>,
    /// By logical unit: where in the log it is; nowhere, if it is in the data block or nowhere.
    logged: Vec<LogPlace>,
    /// By logical block: the log block its next unit goes to, unless that is full.
    current: Vec<LogId>,
    pool: LogPool,
    /// The log block opened last that any logical block may share.
    shared: LogId,
    /// Written last to first, so that every block is used in turn.
    free: VecDeque<Superblock>,
    /// By superblock: how often it was erased.
    erases: Vec<u32>,
    /// The log block whose last row is not full.
    open: LogId,
    /// Units that row still takes; 0 when the next unit begins a row.
    row_left: u32,
    /// By die: the block that took host data last and the row in it that is to be filled next.
    fronts: Vec<(Block, u32)>,
    errands: Errands,
    counts: FtlCounts,
    merges: MergeCounts,
}

/// Where a unit of host data goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Destination {
    /// The log block its logical block writes to already.
    Current(LogId),
    /// One that has a place left for another logical block.
    Shared(LogId),
    /// One that has to be opened; with the logical block's first unit, maybe to be filled in order.
    New { in_order: bool },
}

impl LogBlockMap {
    /// The map of a drive that was never written. `config` has passed its check.
    pub(crate) fn new(config: &SsdConfig, section: &LogBlocksSection) -> LogBlockMap {
        let shape = Shape::new(config);
        let stripe = Stripe::new(shape, section.stripe_dies);
        let units = stripe.units_per_superblock;
        let user_units = config.user_units() as u32;
        let logical_blocks = user_units.div_ceil(units) as usize;
        let count = section.count;
        let page_kinds = PageKinds::new(config.nand_cells.as_ref(), config.nand.pages_per_block);
        LogBlockMap {
            stripe,
            by_units: Divider::new(units),
            user_units,
            associativity: section.associativity,
            sequential: section.sequential,
            data: vec![NOWHERE; logical_blocks],
            in_data: vec![0; (user_units as usize).div_ceil(64)],
            logged: vec![NOWHERE; user_units as usize],
            current: vec![NOWHERE; logical_blocks],
            pool: LogPool::new(count, units, section.replacement),
            shared: NOWHERE,
            free: (0..stripe.superblocks()).collect(),
            erases: vec![0; stripe.superblocks() as usize],
            open: NOWHERE,
            row_left: 0,
            fronts: vec![(NOWHERE, 0); shape.dies as usize],
            errands: Errands::none(shape.dies, page_kinds),
            counts: FtlCounts::default(),
            merges: MergeCounts::default(),
        }
    }

    pub(crate) fn shape(&self) -> Shape {
        self.stripe.shape
    }

    pub(crate) fn counts(&self) -> FtlCounts {
        self.counts
    }

    pub(crate) fn merges(&self) -> MergeCounts {
        self.merges
    }

    /// Units the user can address.
    pub(crate) fn user_units(&self) -> u32 {
        self.user_units
    }

    /// Units that data can occupy: the user's and the log's. Blocks beyond them only share the
    /// wear.
    pub(crate) fn usable_units(&self) -> u64 {
        u64::from(self.user_units) + self.pool.units()
    }

    /// By block of a die: how often it was erased.
    pub(crate) fn erases(&self) -> impl Iterator<Item = u32> + '_ {
        let dies = self.stripe.dies as usize;
        self.erases.iter().flat_map(move |&erases| std::iter::repeat_n(erases, dies))
    }

    /// Forgets everything, as a secure erase does; the counts go on.
    pub(crate) fn erase_all(&mut self) {
        self.data.fill(NOWHERE);
        self.in_data.fill(0);
        self.logged.fill(NOWHERE);
        self.current.fill(NOWHERE);
        self.pool.clear();
        self.shared = NOWHERE;
        self.free.clear();
        self.free.extend(0..self.stripe.superblocks());
        self.open = NOWHERE;
        self.row_left = 0;
        self.fronts.fill((NOWHERE, 0));
        self.errands.clear();
    }

    /// Where a unit is, if it was ever written.
    #[inline]
    pub(crate) fn find(&self, unit: LogicalUnit) -> Option<PhysicalUnit> {
        let logged = self.logged[unit as usize];
        if logged != NOWHERE {
            return Some(self.place_of(logged));
        }
        self.is_in_data(unit).then(|| {
            let (logical, offset) = self.by_units.divide(unit);
            self.stripe.place(self.data[logical as usize], offset)
        })
    }

    /// Asks the processor for what the next use of a unit will need.
    #[inline]
    pub(crate) fn prefetch(&self, unit: LogicalUnit) {
        prefetch(&self.logged, unit as usize);
    }

    /// The block that took host data of `die` last and the row of it that is filled next.
    #[inline]
    pub(crate) fn open_row(&self, die: u32) -> (Block, u32) {
        self.fronts[die as usize]
    }

    /// Whether the next unit of host data begins a row, once the row was cut that it does not go to.
    #[inline]
    pub(crate) fn at_row_start(&self) -> bool {
        self.row_left == 0
    }

    /// Whether a unit is in the row that is not full.
    pub(crate) fn is_in_open_row(&self, unit: LogicalUnit) -> bool {
        let logged = self.logged[unit as usize];
        if self.at_row_start() || logged == NOWHERE {
            return false;
        }
        let (log, position) = self.by_units.divide(logged);
        let row_of = |position| self.stripe.shape.row_of(position).0;
        log == self.open && row_of(position) == row_of(self.pool.get(log).filled)
    }

    /// Units of that row were written again and keep their places. No log block was written later
    /// than its own, so the order in which they are merged is what it was.
    pub(crate) fn absorb(&mut self, units: u32) {
        self.counts.absorb(units);
    }

    /// Units that are placed and not programmed yet: in the row that is not full, and in those that
    /// merges fill while it is open.
    pub(crate) fn pending_units(&self) -> u64 {
        let row = self.stripe.shape.units_per_row;
        let open = if self.row_left == 0 { 0 } else { row - self.row_left };
        u64::from(open) + self.errands.rows_to_program() * u64::from(row)
    }

    /// A die, and what it has to do before the row that was filled last is programmed. To be asked
    /// for until it is `None`.
    #[inline]
    pub(crate) fn next_chores(&mut self) -> Option<(u32, Chores)> {
        self.errands.next()
    }

    /// Fills up the open row if `unit` goes to another log block. One row is open at a time: a
    /// drive that keeps many in its buffer would lose less to writes of less than a row.
    pub(crate) fn cut_row_before(&mut self, unit: LogicalUnit) -> Option<Placed> {
        if self.at_row_start() {
            return None;
        }
        match self.destination_of(unit) {
            Destination::Current(log) | Destination::Shared(log) if log == self.open => None,
            _ => self.pad(),
        }
    }

    /// Writes a unit of host data, before which the row was cut that it does not go to.
    pub(crate) fn write(&mut self, unit: LogicalUnit) -> Placed {
        let (logical, offset) = self.by_units.divide(unit);
        let log = match self.destination_of(unit) {
            Destination::Current(log) => log,
            Destination::Shared(log) => {
                self.pool.get_mut(log).owners += 1;
                log
            }
            Destination::New { in_order } => self.open_log(logical, in_order),
        };
        self.current[logical as usize] = log;
        if self.at_row_start() {
            self.open = log;
            self.row_left = self.stripe.shape.units_per_row;
            let (die, block, row) = self.row_of_next_unit(log);
            self.fronts[die as usize] = (block, row);
        }
        debug_assert_eq!(log, self.open, "the row was cut");
        self.forget(unit);
        let (die, ..) = self.row_of_next_unit(log);
        self.logged[unit as usize] = self.pool.append(log, unit, offset);
        self.counts.host_units += 1;
        self.row_left -= 1;
        let placed = self.row_done(die);
        if self.pool.get(log).in_order && !self.pool.has_room(log) {
            self.merge_in_order(log);
        }
        placed
    }

    /// Fills up the open row with nothing, so that it can be programmed. `None` when none is open.
    pub(crate) fn pad(&mut self) -> Option<Placed> {
        if self.at_row_start() {
            return None;
        }
        let (die, ..) = self.row_of_next_unit(self.open);
        let padding = std::mem::take(&mut self.row_left);
        self.pool.pad(self.open, padding);
        self.counts.padded_units += u64::from(padding);
        Some(self.row_done(die))
    }

    /// The unit holds nothing of value any more.
    pub(crate) fn trim(&mut self, unit: LogicalUnit) {
        self.forget(unit);
    }

    fn destination_of(&self, unit: LogicalUnit) -> Destination {
        let (logical, offset) = self.by_units.divide(unit);
        let in_order = self.sequential && offset == 0;
        let current = self.current[logical as usize];
        if current != NOWHERE && self.pool.has_room(current) {
            // A log block of its own takes its first unit again: else a logical block whose first
            // unit is written over and over would open a log block with every write.
            if !in_order || self.pool.get(current).owners == 1 {
                return Destination::Current(current);
            }
        } else if !in_order && self.can_share() {
            return Destination::Shared(self.shared);
        }
        Destination::New { in_order }
    }

    fn can_share(&self) -> bool {
        self.shared != NOWHERE
            && self.pool.has_room(self.shared)
            && self.pool.get(self.shared).owners < self.associativity
    }

    /// Opens a log block for a unit of `logical`, merging another if none is idle.
    fn open_log(&mut self, logical: u32, in_order: bool) -> LogId {
        if self.pool.all_in_use() {
            let current = self.current[logical as usize];
            let victim = self.pool.victim(current).expect("there is a log block, and all are used");
            self.merge(victim);
        }
        let superblock = self.open_superblock();
        let log = self.pool.open(superblock, logical, in_order).expect("a merge leaves one idle");
        if !in_order {
            self.shared = log;
        }
        log
    }

    /// Takes a free block, which is erased just before it is written.
    fn open_superblock(&mut self) -> Superblock {
        let superblock = self.free.pop_front().expect(
            "the config's check leaves one block beyond all data blocks and log blocks to merge into",
        );
        self.erases[superblock as usize] += 1;
        self.errands.erase(self.stripe, superblock);
        superblock
    }

    /// Die, block and row that the next unit of a log block with room goes to.
    fn row_of_next_unit(&self, log: LogId) -> (u32, Block, u32) {
        let log = self.pool.get(log);
        self.stripe.row(log.superblock, self.stripe.shape.row_of(log.filled).0)
    }

    fn row_done(&mut self, die: u32) -> Placed {
        let row_full = self.at_row_start();
        if row_full {
            self.fronts[die as usize].1 += 1;
        }
        // What the die has to do comes with what the others have, in `next_chores`.
        Placed { die, stream: Stream::Cold, row_full }
    }

    /// The old place of a unit is dead.
    fn forget(&mut self, unit: LogicalUnit) {
        let logged = std::mem::replace(&mut self.logged[unit as usize], NOWHERE);
        if logged != NOWHERE {
            let (log, _) = self.by_units.divide(logged);
            self.pool.get_mut(log).live -= 1;
        }
        self.in_data[unit as usize / 64] &= !(1 << (unit % 64));
    }

    #[inline]
    fn is_in_data(&self, unit: LogicalUnit) -> bool {
        self.in_data[unit as usize / 64] & (1 << (unit % 64)) != 0
    }

    #[inline]
    fn place_of(&self, logged: LogPlace) -> PhysicalUnit {
        let (log, position) = self.by_units.divide(logged);
        self.stripe.place(self.pool.get(log).superblock, position)
    }
}
