//! Host writes of a drive whose units take one place each and go into one stream: the same as
//! [`Ftl::write`], without asking for what such a drive has not. Most drives are like that, and a
//! simulated write is so short that the questions are a large part of it.

use super::fragments::Forgotten;
use super::{Block, Entry, Fronts, Ftl, LogicalUnit, OpenRow, Slot, Stream};
use crate::nand::Chores;

/// The one stream there is.
const ONLY: usize = 0;

/// Units of a command that are asked for at once; more would drive each other out of the cache.
const MOST_AHEAD: u32 = 64;

impl Ftl {
    /// Whether the drive is one of these.
    pub(crate) fn is_plain(&self) -> bool {
        self.streams.is_none() && self.slc.is_none() && !self.shape.compresses()
    }

    /// Writes a unit of host data. Returns the die if that filled its row, which is to be taken by
    /// [`Ftl::plain_row_filled`]; `None` when the drive is worn out.
    #[inline(always)]
    pub(crate) fn write_one(&mut self, unit: LogicalUnit) -> Option<Option<u32>> {
        if self.rows[ONLY].left == 0 {
            self.begin_row(Stream::Cold)?;
        }
        let OpenRow { die, left } = self.rows[ONLY];
        self.counts.host_units += 1;
        let entry = &mut self.map[unit as usize];
        if *entry != Slot::NOWHERE {
            // The old place of the unit is dead.
            let Forgotten { at, .. } = self.fragments.forget_one(*entry);
            let (die, block) = self.shape.die_of(self.shape.block_of(at).0);
            self.dies[die as usize].blocks.remove_valid(block, 1);
        }
        let space = &mut self.dies[die as usize];
        let Fronts { host, filling, .. } = &mut space.fronts[ONLY];
        space.blocks.add_valid(host.block, 1);
        match self.fragments.fill_one(filling) {
            Some(slot) => *entry = slot,
            None => {
                let block = self.shape.block_of_die(die, host.block);
                let place = block * self.shape.units_per_block + host.filled;
                let entry = std::slice::from_mut(entry);
                self.fragments.append(filling, block, place, entry, 1);
            }
        }
        host.filled += 1;
        self.rows[ONLY].left = left - 1;
        Some((left == 1).then_some(die))
    }

    /// Writes host data, `count` units from `first` on or as many as the row takes. Returns how many,
    /// and the die if that filled its row, which is to be taken by [`Ftl::plain_row_filled`]; `None` when
    /// the drive is worn out.
    #[inline(always)]
    pub(crate) fn write_plain(
        &mut self,
        first: LogicalUnit,
        count: u32,
    ) -> Option<(u32, Option<u32>)> {
        if self.rows[ONLY].left == 0 {
            self.begin_row(Stream::Cold)?;
        }
        let OpenRow { die, left } = self.rows[ONLY];
        let count = count.min(left);
        self.counts.host_units += u64::from(count);
        if !are_unwritten(&self.map[first as usize..(first + count) as usize]) {
            self.forget_run(first, count);
        }
        let space = &mut self.dies[die as usize];
        let Fronts { host, filling, .. } = &mut space.fronts[ONLY];
        space.blocks.add_valid(host.block, count);
        let entries = &mut self.map[first as usize..(first + count) as usize];
        if !self.fragments.fill_some(filling, entries) {
            let block = self.shape.block_of_die(die, host.block);
            let place = block * self.shape.units_per_block + host.filled;
            self.fragments.append(filling, block, place, entries, 1);
        }
        host.filled += count;
        self.rows[ONLY].left = left - count;
        Some((count, (count == left).then_some(die)))
    }

    /// Die, block and row of a unit, if it was ever written.
    #[inline(always)]
    pub(crate) fn row_with(&self, unit: LogicalUnit) -> Option<(u32, Block, u32)> {
        let slot = self.map[unit as usize];
        if slot == Slot::NOWHERE {
            return None;
        }
        let (block, within) = self.shape.block_of(self.fragments.place(slot));
        let (die, block) = self.shape.die_of(block);
        Some((die, block, self.shape.row_of(within).0))
    }

    /// The block host data of a die goes into.
    #[inline(always)]
    pub(crate) fn open_block(&self, die: u32) -> Block {
        self.dies[die as usize].fronts[ONLY].host.block
    }

    /// Asks for what a write of many units will change: what was written at random is anywhere.
    #[inline]
    pub(crate) fn prefetch_run(&self, first: LogicalUnit, count: u32) {
        let count = count.min(MOST_AHEAD);
        let entries = &self.map[first as usize..(first + count) as usize];
        if entries.first() != Some(&Slot::NOWHERE) {
            entries.iter().for_each(|&slot| self.fragments.prefetch(slot));
        }
    }

    /// The number in its block of the row that a write filled on a die. What the die does before it is
    /// programmed is in [`Ftl::chores_of`].
    #[inline(always)]
    pub(crate) fn plain_row_filled(&mut self, die: u32) -> u32 {
        self.collect_for_row(die);
        self.turn_to_next_die(die, Stream::Cold);
        self.shape.row_of(self.dies[die as usize].fronts[ONLY].host.filled).0 - 1
    }

    /// What a die has to do before its next row; to be emptied by whoever has it done.
    #[inline(always)]
    pub(crate) fn chores_of(&mut self, die: u32) -> &mut Chores {
        &mut self.dies[die as usize].chores
    }
}

/// Whether there is nothing to forget of units: they were never written, or trimmed.
#[inline(always)]
fn are_unwritten(entries: &[Slot]) -> bool {
    let all = |entries: &[Slot]| entries.iter().fold(u32::MAX, |all, slot| all & slot.bits());
    let together = match entries.first_chunk::<4>().filter(|_| entries.len() == 4) {
        // Rows have a few units: what a compiler makes of a loop over any number is for many.
        Some(four) => all(four),
        None => all(entries),
    };
    together == u32::MAX
}
