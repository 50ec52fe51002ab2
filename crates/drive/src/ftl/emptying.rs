//! A block that collection empties, and what that still costs.

use serde::{Deserialize, Serialize};

use super::blocks::Block;
use super::pace::Pace;
use super::shape::Shape;
use super::stream::Stream;
use crate::nand::Chores;

/// A block that was emptied, and is free once the time for that has been spent.
///
/// Its units are moved in the map at once, and the die's work is charged little by little. What the
/// host overwrites in between is copied all the same: a few units in a million.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Victim {
    pub(super) block: Block,
    /// Not of a loaded one: only a drive without streams has a state.
    #[serde(skip)]
    pub(super) stream: Stream,
    /// Whether it was written with one bit a cell.
    pub(super) slc: bool,
    /// Its valid units when it was chosen, with what was left over at the end of a block they went
    /// to, and of how many the moves have been charged.
    pub(super) valid: u32,
    pub(super) charged: u32,
    /// Rows and pages to be read for them.
    pub(super) rows: u32,
    pub(super) pages: u32,
    /// How many of them have been read, unless it was loaded: they follow from what has been charged.
    #[serde(skip)]
    pub(super) read: Option<(u32, u32)>,
}

impl Victim {
    /// Whether a loaded one is one of a die of this shape.
    pub(super) fn is_sane(&self, shape: Shape) -> bool {
        let Victim { block: _, stream: _, slc: _, valid, charged, rows, pages, read: _ } = *self;
        let units = shape.units_per_block;
        charged <= valid
            && valid < units + shape.most_granules
            && rows <= units
            && pages <= units * shape.pages_per_unit
    }

    pub(super) fn block(&self) -> Block {
        self.block
    }

    /// Its valid units when it was chosen.
    pub(super) fn valid(&self) -> u32 {
        self.valid
    }

    /// Whether it was written with one bit a cell.
    pub(super) fn is_slc(&self) -> bool {
        self.slc
    }

    /// Of how many of its units the moves are due by now, in a die whose blocks have `units`.
    #[inline(always)]
    pub(super) fn due(&self, pace: Pace, units: u32) -> u32 {
        pace.moves_due(self.valid, units.saturating_sub(self.valid))
    }

    /// Units whose moves are not charged yet.
    pub(super) fn uncharged(&self) -> u32 {
        self.valid - self.charged
    }

    /// Charges the reads of `units` more of it.
    pub(super) fn charge_reads(&mut self, units: u32, chores: &mut Chores) {
        let (rows_before, pages_before) = match self.read {
            Some(read) => read,
            None => self.reads_to(self.charged),
        };
        self.charged += units;
        let (rows, pages) = self.reads_to(self.charged);
        self.read = Some((rows, pages));
        let rows = rows - rows_before;
        if self.slc {
            chores.slc_rows_read += rows;
        } else {
            chores.rows_read += rows;
        }
        chores.pages_out += pages - pages_before;
    }

    /// Rows and pages that have been read when this many units have been moved: their share.
    pub(super) fn reads_to(&self, units: u32) -> (u32, u32) {
        let share = |of: u32| match u64::from(self.valid) {
            0 => 0,
            valid => (u64::from(of) * u64::from(units) / valid) as u32,
        };
        (share(self.rows), share(self.pages))
    }
}
