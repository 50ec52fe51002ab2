//! Merges: log blocks and data blocks become new data blocks.

use super::errands::LastRead;
use super::pool::LogId;
use super::stripe::Superblock;
use super::{LogBlockMap, NOWHERE};

/// Merges carried out since the drive was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MergeCounts {
    /// Log blocks that became data blocks as they were.
    pub switch_merges: u64,
    /// Log blocks that became data blocks once the rest was copied behind what they had.
    pub partial_merges: u64,
    /// Logical blocks copied to a free block; a log block may need several.
    pub full_merges: u64,
}

impl LogBlockMap {
    /// Wins a log block back; its row is not open.
    pub(super) fn merge(&mut self, log: LogId) {
        if self.pool.get(log).in_order && self.pool.get(log).live > 0 {
            return self.merge_in_order(log);
        }
        for position in 0..self.pool.get(log).filled {
            let place = self.pool.place(log, position);
            let unit = self.pool.holds(place);
            if self.logged.get(unit as usize) == Some(&place) {
                self.merge_fully(self.by_units.quotient(unit));
            }
        }
        self.free.push_back(self.pool.get(log).superblock);
        self.retire(log);
    }

    /// The log block becomes the data block of the logical block whose first units it holds in
    /// order; what is valid of the others is copied behind them.
    pub(super) fn merge_in_order(&mut self, log: LogId) {
        let block = *self.pool.get(log);
        let (first, _) = self.units_of(block.logical);
        let rows = self.stripe.rows_per_superblock;
        let rows_filled = self.stripe.shape.row_of(block.filled).0;
        if rows_filled == rows {
            self.merges.switch_merges += 1;
        } else {
            self.merges.partial_merges += 1;
            self.forget_fronts(block.superblock);
        }
        let mut last_read = LastRead::default();
        for row in rows_filled..rows {
            if self.gather_row(block.logical, row, &mut last_read) {
                let (die, _, row_in_block) = self.stripe.row(block.superblock, row);
                self.errands.program(die, row_in_block);
            }
        }
        // A unit that was written again since is in another log block, or trimmed.
        for position in 0..block.filled {
            let unit = first + position;
            if self.logged[unit as usize] == self.pool.place(log, position) {
                self.forget(unit);
                self.in_data[unit as usize / 64] |= 1 << (unit % 64);
            }
        }
        self.replace_data(block.logical, block.superblock);
        self.retire(log);
    }

    /// Copies all that is valid of a logical block to a free block.
    fn merge_fully(&mut self, logical: u32) {
        self.merges.full_merges += 1;
        let mut target = NOWHERE;
        let mut last_read = LastRead::default();
        for row in 0..self.stripe.rows_per_superblock {
            if self.gather_row(logical, row, &mut last_read) {
                if target == NOWHERE {
                    target = self.open_superblock();
                    self.forget_fronts(target);
                }
                let (die, _, row_in_block) = self.stripe.row(target, row);
                self.errands.program(die, row_in_block);
            }
        }
        self.replace_data(logical, target);
    }

    /// Reads what is valid of one row of a logical block, wherever it is, so that it can be
    /// programmed into a data block; false when nothing is.
    fn gather_row(&mut self, logical: u32, row: u32, last_logged: &mut LastRead) -> bool {
        let shape = self.stripe.shape;
        let (first, end) = self.units_of(logical);
        let first = first + row * shape.units_per_row;
        let mut last_data = LastRead::default();
        let mut moved = 0;
        for unit in first..end.min(first + shape.units_per_row) {
            let logged = self.logged[unit as usize];
            if logged != NOWHERE {
                let place = self.place_of(logged);
                self.errands.read(self.stripe, place, last_logged);
                self.forget(unit);
                self.in_data[unit as usize / 64] |= 1 << (unit % 64);
            } else if self.is_in_data(unit) {
                let offset = row * shape.units_per_row + unit - first;
                let place = self.stripe.place(self.data[logical as usize], offset);
                self.errands.read(self.stripe, place, &mut last_data);
            } else {
                continue;
            }
            moved += 1;
        }
        if moved == 0 {
            return false;
        }
        self.counts.moved_units += moved;
        // Units of the row that hold nothing are programmed with it.
        self.counts.padded_units += u64::from(shape.units_per_row) - moved;
        true
    }

    /// A logical block's units: the first, and the one after the last.
    fn units_of(&self, logical: u32) -> (u32, u32) {
        let units = self.stripe.units_per_superblock;
        let first = logical * units;
        (first, first.saturating_add(units).min(self.user_units))
    }

    fn replace_data(&mut self, logical: u32, superblock: Superblock) {
        let old = std::mem::replace(&mut self.data[logical as usize], superblock);
        if old != NOWHERE {
            self.free.push_back(old);
        }
    }

    /// A log block without anything valid is idle from now on.
    fn retire(&mut self, log: LogId) {
        for position in 0..self.pool.get(log).filled {
            let unit = self.pool.holds(self.pool.place(log, position));
            if unit == NOWHERE {
                continue;
            }
            let current = &mut self.current[self.by_units.quotient(unit) as usize];
            if *current == log {
                *current = NOWHERE;
            }
        }
        if self.shared == log {
            self.shared = NOWHERE;
        }
        if self.open == log {
            self.open = NOWHERE;
        }
        self.pool.release(log);
    }

    /// A block that merges write to is not one whose last rows are in the write buffer.
    fn forget_fronts(&mut self, superblock: Superblock) {
        let (dies, block) = self.stripe.dies_of(superblock);
        for front in &mut self.fronts[dies.start as usize..dies.end as usize] {
            if front.0 == block {
                *front = (NOWHERE, 0);
            }
        }
    }
}
