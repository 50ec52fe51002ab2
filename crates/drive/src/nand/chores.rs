//! What a die does of its own accord, as counts: the FTL knows what, the NAND how long.

use serde::{Deserialize, Serialize};

use super::page_kinds::{PAGE_KINDS, PageKinds};

/// Work of a die's own that it does before it can take the next program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Chores {
    /// Rows read.
    pub(crate) rows_read: u32,
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
        let Chores { rows_read, pages_out, programs, blocks_erased } = self;
        let most = programs.iter().max().max(Some(rows_read)).max(Some(pages_out));
        most.max(Some(blocks_erased)).is_none_or(|&most| most <= MOST)
            && self.rows_programmed() <= (1 << 30) / units_per_row
    }

    /// Adds the programs of a block's rows from `from` up to but not including `to`.
    #[inline]
    pub(crate) fn program_rows(&mut self, kinds: &PageKinds, from: u32, to: u32) {
        for (programs, more) in self.programs.iter_mut().zip(kinds.count(from, to)) {
            *programs += more;
        }
    }

    /// Rows programmed, of whatever kind.
    #[inline]
    pub(crate) fn rows_programmed(&self) -> u32 {
        self.programs.iter().sum()
    }
}
