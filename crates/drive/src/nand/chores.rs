//! What a die does of its own accord, as counts: the FTL knows what, the NAND how long.

use super::page_kinds::{PAGE_KINDS, PageKinds};

/// Work of a die's own that it does before it can take the next program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
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
