//! What a die does of its own accord, as counts: the FTL knows what, the NAND how long.

use serde::{Deserialize, Serialize};

use super::page_kinds::{PAGE_KINDS, PageKind, PageKinds};

/// Work of a die's own that it does before it can take the next program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Chores {
    /// Rows read.
    pub(crate) rows_read: u32,
    /// Rows read of blocks that are written with one bit a cell.
    pub(crate) slc_rows_read: u32,
    /// Pages moved out of the die over its channel.
    pub(crate) pages_out: u32,
    /// Rows programmed, by kind.
    pub(crate) programs: [u32; PAGE_KINDS],
    /// Blocks erased.
    pub(crate) blocks_erased: u32,
}

impl Chores {
    /// Whether a loaded list of chores can be reckoned with, a row having `units_per_row`.
    pub(crate) fn is_sane(&self, units_per_row: u32) -> bool {
        const MOST: u32 = 1 << 24;
        let Chores { rows_read, slc_rows_read, pages_out, programs, blocks_erased } = self;
        let most = programs.iter().max().max(Some(rows_read)).max(Some(pages_out));
        let most = most.max(Some(slc_rows_read));
        most.max(Some(blocks_erased)).is_none_or(|&most| most <= MOST)
            && self.rows_programmed() <= (1 << 30) / units_per_row
    }

    /// Adds the programs of a block's rows from `from` up to but not including `to`.
    #[inline]
    pub(crate) fn program_rows(&mut self, kinds: &PageKinds, from: u32, to: u32) {
        if kinds.are_alike() {
            self.programs[PageKind::Lower as usize] += to - from;
            return;
        }
        for (programs, more) in self.programs.iter_mut().zip(kinds.count(from, to)) {
            *programs += more;
        }
    }

    /// Whether there is nothing to do.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        // By reference: they may have been written one by one a moment ago, and a processor waits when
        // they are copied as one.
        let Chores { rows_read, slc_rows_read, pages_out, programs, blocks_erased } = self;
        let [lower, middle, upper] = programs;
        rows_read | slc_rows_read | pages_out | lower | middle | upper | blocks_erased == 0
    }

    /// Takes the next operation out of them: erases come first, then reads, then programs. `None`
    /// when there are none.
    pub(crate) fn take_one(&mut self) -> Option<Chores> {
        let mut one = Chores::default();
        if self.blocks_erased > 0 {
            self.blocks_erased -= 1;
            one.blocks_erased = 1;
        } else if self.slc_rows_read > 0 {
            let rows = self.rows_read + self.slc_rows_read;
            one.pages_out = self.pages_out.div_ceil(rows);
            one.slc_rows_read = 1;
            self.pages_out -= one.pages_out;
            self.slc_rows_read -= 1;
        } else if self.rows_read > 0 || self.pages_out > 0 {
            // What goes out of a row, if all give alike.
            one.pages_out = self.pages_out.div_ceil(self.rows_read.max(1));
            one.rows_read = self.rows_read.min(1);
            self.pages_out -= one.pages_out;
            self.rows_read -= one.rows_read;
        } else {
            let kind = self.programs.iter().position(|&rows| rows > 0)?;
            self.programs[kind] -= 1;
            one.programs[kind] = 1;
        }
        Some(one)
    }

    /// Rows programmed, of whatever kind.
    #[inline]
    pub(crate) fn rows_programmed(&self) -> u32 {
        self.programs.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_by_one_they_are_all() {
        let all = Chores {
            rows_read: 3,
            slc_rows_read: 2,
            pages_out: 7,
            programs: [2, 0, 1],
            blocks_erased: 2,
        };
        let (mut left, mut sum, mut operations) = (all, Chores::default(), 0);
        while let Some(one) = left.take_one() {
            sum.rows_read += one.rows_read;
            sum.slc_rows_read += one.slc_rows_read;
            sum.pages_out += one.pages_out;
            sum.blocks_erased += one.blocks_erased;
            sum.programs.iter_mut().zip(one.programs).for_each(|(sum, rows)| *sum += rows);
            operations += 1;
        }
        assert_eq!((sum, left, operations), (all, Chores::default(), 3 + 2 + 3 + 2));
        let mut pages_only = Chores { pages_out: 2, ..Chores::default() };
        assert_eq!(pages_only.take_one().map(|one| one.pages_out), Some(2));
        assert_eq!(pages_only.take_one(), None);
    }
}
