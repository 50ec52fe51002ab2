//! What merges have the dies do before they take host data again.

use super::stripe::{Stripe, Superblock};
use crate::ftl::PhysicalUnit;
use crate::nand::{Chores, PageKinds};

/// Chores by die, and which dies have any: a merge touches all dies of its blocks.
#[derive(Clone, Debug)]
pub(super) struct Errands {
    page_kinds: PageKinds,
    by_die: Vec<Chores>,
    /// Dies that have chores, each once.
    due: Vec<u32>,
    rows_programmed: u64,
}

/// The row and the page read last; their other units need no second read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastRead {
    row: Option<PhysicalUnit>,
    page: Option<PhysicalUnit>,
}

impl Errands {
    pub(super) fn none(dies: u32, page_kinds: PageKinds) -> Errands {
        Errands {
            page_kinds,
            by_die: vec![Chores::default(); dies as usize],
            due: Vec::with_capacity(dies as usize),
            rows_programmed: 0,
        }
    }

    #[inline]
    fn of(&mut self, die: u32) -> &mut Chores {
        let chores = &mut self.by_die[die as usize];
        if *chores == Chores::default() {
            self.due.push(die);
        }
        chores
    }

    /// Reads the unit at `place`; units of the same row or page, one after the other, are read
    /// together.
    #[inline]
    pub(super) fn read(&mut self, stripe: Stripe, place: PhysicalUnit, last: &mut LastRead) {
        let (die, _, within) = stripe.shape.locate(place);
        let row = Some(place - stripe.shape.row_of(within).1);
        let page = Some(place - within + stripe.shape.page_of(within));
        if last.page == page && last.row == row {
            return;
        }
        let chores = self.of(die);
        chores.rows_read += u32::from(last.row != row);
        chores.pages_out += stripe.shape.pages_per_unit;
        *last = LastRead { row, page };
    }

    /// Programs a row of a block of a die.
    pub(super) fn program(&mut self, die: u32, row: u32) {
        self.of(die);
        self.by_die[die as usize].program_rows(&self.page_kinds, row, row + 1);
        self.rows_programmed += 1;
    }

    /// Erases a superblock on all its dies.
    pub(super) fn erase(&mut self, stripe: Stripe, superblock: Superblock) {
        for die in stripe.dies_of(superblock).0 {
            self.of(die).blocks_erased += 1;
        }
    }

    /// A die and what it has to do; `None` once all is handed out.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(u32, Chores)> {
        let die = self.due.pop()?;
        let chores = std::mem::take(&mut self.by_die[die as usize]);
        self.rows_programmed -= u64::from(chores.rows_programmed());
        Some((die, chores))
    }

    /// Rows to be programmed that were not handed out yet.
    pub(super) fn rows_to_program(&self) -> u64 {
        self.rows_programmed
    }

    pub(super) fn clear(&mut self) {
        while self.next().is_some() {}
    }
}
