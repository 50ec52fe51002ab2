//! Garbage collection: winning space back, within a die, by moving what is valid out of a block.

use serde::{Deserialize, Serialize};

use super::pace::Pace;
use super::{Block, Ftl, PhysicalUnit, Shape};
use crate::nand::Chores;
use crate::profile::{OPEN_BLOCKS_PER_DIE, Pacing};

/// A block being emptied.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Victim {
    pub(super) block: Block,
    /// The next unit to look at.
    pub(super) next: u32,
    /// Its valid units when it was chosen, and how many have been moved since.
    pub(super) valid: u32,
    pub(super) moved: u32,
    /// The row and the page read last; their other units need no second read.
    row_read: Option<u32>,
    page_read: Option<u32>,
}

impl Ftl {
    /// The next die, in turn, that can take a row of host data.
    ///
    /// One always can: the profile's check leaves more space than the user can fill beyond what
    /// every die keeps open or free, so not every die can be full of valid data.
    pub(super) fn die_with_room(&mut self) -> u32 {
        let (dies, first) = (self.shape.dies, self.host_die);
        (0..dies)
            .map(|step| (first + step) % dies)
            .find(|&die| self.make_room(die))
            .expect("the user's space is smaller than what the dies can hold")
    }

    /// Sees to it that `die` has a block open for host data; false when it can have none.
    fn make_room(&mut self, die: u32) -> bool {
        let full = self.shape.units_per_block;
        let space = &mut self.dies[die as usize];
        if space.host.filled < full {
            return true;
        }
        // The last free block is collection's: without it nothing could be won back.
        let keep = match self.pacing {
            Pacing::Paced => 1,
            Pacing::Delayed => self.start_free_blocks,
        };
        while self.dies[die as usize].blocks.free_blocks() <= keep && self.collect_one(die) {}
        let space = &mut self.dies[die as usize];
        if space.blocks.free_blocks() <= 1 {
            return false;
        }
        space.host.renew(&mut space.blocks, &mut space.chores)
    }

    /// Does the part of collection that is due with the row just filled.
    pub(super) fn collect_at_pace(&mut self, die: u32) {
        let units = self.shape.units_per_block;
        let kept = self.start_free_blocks + OPEN_BLOCKS_PER_DIE / 2;
        let reserve = u64::from(kept) * u64::from(units);
        let space = &mut self.dies[die as usize];
        let moved = space.victim.map_or(0, |victim| u64::from(victim.moved));
        let behind = space.room(units) + moved + space.pace.owed_units() < reserve;
        space.pace.owe(self.shape.units_per_row, behind);
        loop {
            let space = &self.dies[die as usize];
            if space.victim.is_none() && space.room(units) <= reserve {
                self.choose_victim(die);
            }
            let space = &mut self.dies[die as usize];
            let Some(victim) = space.victim else {
                // There is space enough, or none to be won.
                space.pace = Pace::default();
                return;
            };
            let due = space.pace.moves_due(victim.valid, units - victim.valid);
            self.collect(die, due.saturating_sub(victim.moved));
            if self.dies[die as usize].victim.is_some() {
                return;
            }
        }
    }

    /// Empties one block whole; false when none would give any space.
    fn collect_one(&mut self, die: u32) -> bool {
        if self.dies[die as usize].victim.is_none() {
            self.choose_victim(die);
        }
        let chosen = self.dies[die as usize].victim.is_some();
        self.collect(die, u32::MAX);
        chosen
    }

    fn choose_victim(&mut self, die: u32) {
        let units = self.shape.units_per_block;
        let space = &mut self.dies[die as usize];
        if let Some((block, valid)) = self.victims.choose(&space.blocks, units) {
            space.blocks.begin_collecting(block);
            space.victim =
                Some(Victim { block, next: 0, valid, moved: 0, row_read: None, page_read: None });
        }
    }

    /// Moves up to `moves` units out of the die's victim, and frees it once it is empty.
    fn collect(&mut self, die: u32, moves: u32) {
        let Some(mut victim) = self.dies[die as usize].victim else {
            return;
        };
        let mut left = moves.min(self.dies[die as usize].blocks.valid(victim.block));
        while left > 0 {
            let moved = self.move_some(die, &mut victim, left);
            victim.moved += moved;
            left -= moved;
        }
        let space = &mut self.dies[die as usize];
        if space.blocks.valid(victim.block) == 0 {
            space.blocks.release(victim.block);
            space.pace.won(self.shape.units_per_block - victim.valid);
            space.victim = None;
        } else {
            space.victim = Some(victim);
        }
    }

    /// Moves some of the victim's units, at most `most`, which it has; returns how many.
    ///
    /// In passes over a batch, each a loop of few instructions. The map's entries are anywhere in
    /// memory, and a pass of loads before the stores fetches them: missing loads overlap, where
    /// missing stores leave the processor's store buffer one by one, in order.
    fn move_some(&mut self, die: u32, victim: &mut Victim, most: u32) -> u32 {
        let shape = self.shape;
        let space = &mut self.dies[die as usize];
        if space.moves.filled == shape.units_per_block {
            // Collection frees a block for every block it fills, and the host leaves it one.
            let opened = space.moves.renew(&mut space.blocks, &mut space.chores);
            debug_assert!(opened, "collection always has a free block");
        }
        let room = shape.units_per_block - space.moves.filled;
        let mut batch = [0; BATCH];
        let batch = &mut batch[..BATCH.min(most.min(room) as usize)];

        let first = shape.first_unit(die, victim.block);
        for source in batch.iter_mut() {
            let place = next_live(&self.live, first + victim.next);
            self.live[place as usize / 64] &= !(1 << (place % 64));
            victim.next = place - first + 1;
            victim.count_reads(shape, place - first, &mut space.chores);
            *source = place;
        }
        let mut seen = 0;
        for source in batch.iter_mut() {
            *source = self.holds[*source as usize];
            seen ^= self.map[*source as usize];
        }
        std::hint::black_box(seen);
        let target = shape.first_unit(die, space.moves.block) + space.moves.filled;
        for (place, &mut unit) in (target..).zip(batch.iter_mut()) {
            self.holds[place as usize] = unit;
            self.map[unit as usize] = place;
        }

        let moved = batch.len() as u32;
        set_live(&mut self.live, target, moved);
        let rows_before = shape.row_of(space.moves.filled).0;
        space.moves.filled += moved;
        space.chores.rows_programmed += shape.row_of(space.moves.filled).0 - rows_before;
        space.blocks.remove_valid(victim.block, moved);
        space.blocks.add_valid(space.moves.block, moved);
        self.counts.moved_units += u64::from(moved);
        moved
    }
}

/// Units moved at once: two words of live bits, and few enough to stay in the first-level cache.
const BATCH: usize = 128;

/// The first live place at or after `from`; the caller knows there is one in the block.
#[inline]
fn next_live(live: &[u64], from: PhysicalUnit) -> PhysicalUnit {
    let mut word = from as usize / 64;
    let mut bits = live[word] & (u64::MAX << (from % 64));
    while bits == 0 {
        word += 1;
        bits = live[word];
    }
    word as u32 * 64 + bits.trailing_zeros()
}

/// Marks `count` places from `first` on as live.
#[inline]
fn set_live(live: &mut [u64], first: PhysicalUnit, count: u32) {
    let mut from = first;
    let end = first + count;
    while from < end {
        let word_end = (from / 64 + 1) * 64;
        let bits = end.min(word_end) - from;
        live[from as usize / 64] |= (u64::MAX >> (64 - bits)) << (from % 64);
        from = word_end;
    }
}

impl Victim {
    /// Counts the row and the page that have to be read to have the unit at `within`.
    #[inline]
    fn count_reads(&mut self, shape: Shape, within: u32, chores: &mut Chores) {
        let (row, page) = (shape.row_of(within).0, shape.page_of(within));
        chores.rows_read += u32::from(self.row_read != Some(row));
        chores.pages_out += u32::from(self.page_read != Some(page));
        self.row_read = Some(row);
        self.page_read = Some(page);
    }
}
