//! Garbage collection: winning space back, within a die, by moving what is valid out of a block.

use serde::{Deserialize, Serialize};

use super::blocks::Block;
use super::fragments::{Filling, Target};
use super::pace::Pace;
use super::{Ftl, Shape};
use crate::profile::{OPEN_BLOCKS_PER_DIE, Pacing};

/// A block that was emptied, and is free once the time for that has been spent.
///
/// Its units are moved in the map at once, and the die's work is charged little by little. What the
/// host overwrites in between is copied all the same: a few units in a million.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Victim {
    pub(super) block: Block,
    /// Its valid units when it was chosen, and of how many the moves have been charged.
    valid: u32,
    charged: u32,
    /// Rows and pages to be read for them.
    rows: u32,
    pages: u32,
}

impl Ftl {
    /// The next die, in turn, that can take a row of host data.
    ///
    /// One always can while blocks do not fail: the profile's check leaves more space than the user
    /// can fill beyond what every die keeps open or free, so not every die can be full of valid
    /// data. `None` once the drive is worn out.
    pub(super) fn die_with_room(&mut self) -> Option<u32> {
        let (dies, first) = (self.shape.dies, self.host_die);
        let mut in_turn = (first..dies).chain(0..first);
        let found = match self.end_of_life.is_reached() {
            false => in_turn.find(|&die| self.make_room(die)),
            true => None,
        };
        self.end_of_life.note_room(found.is_some());
        found
    }

    /// Sees to it that `die` has a block open for host data; false when it can have none.
    fn make_room(&mut self, die: u32) -> bool {
        let full = self.shape.units_per_block;
        let space = &mut self.dies[die as usize];
        if space.host.filled < full {
            return true;
        }
        while self.dies[die as usize].blocks.free_blocks()
            <= match self.pacing {
                Pacing::Paced => self.dies[die as usize].left_to_collection(),
                Pacing::Delayed => self.start_free_blocks,
            }
            && self.collect_one(die)
        {}
        let space = &mut self.dies[die as usize];
        if space.blocks.free_blocks() <= space.left_to_collection() {
            return false;
        }
        space.filling = Filling::NONE;
        // A block is erased just before it is written.
        space.chores.blocks_erased += 1;
        space.host.renew(&mut space.blocks)
    }

    /// Does the part of collection that is due with the row just filled.
    pub(super) fn collect_at_pace(&mut self, die: u32) {
        let units = self.shape.units_per_block;
        let kept = self.start_free_blocks + OPEN_BLOCKS_PER_DIE / 2;
        let reserve = u64::from(kept) * u64::from(units);
        let space = &mut self.dies[die as usize];
        let victim = space.victim.map_or(0, |victim| u64::from(victim.valid));
        let behind = space.room(units) + victim + space.pace.owed_units() < reserve;
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
            self.charge(die, due.saturating_sub(victim.charged));
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
        self.charge(die, u32::MAX);
        chosen
    }

    /// Chooses the die's next victim, if there is space to be won, and moves what is valid there.
    fn choose_victim(&mut self, die: u32) {
        self.level_wear(die);
        let space = &self.dies[die as usize];
        if let Some(block) = space.next_victim(&mut self.victims, self.shape.units_per_block) {
            let victim = self.move_out(die, block);
            self.dies[die as usize].victim = Some(victim);
        }
    }

    /// Moves all that is valid in a closed block to where collection writes, for which nothing is
    /// charged yet.
    pub(super) fn move_out(&mut self, die: u32, block: Block) -> Victim {
        let shape = self.shape;
        let blocks = &mut self.dies[die as usize].blocks;
        let valid = blocks.valid(block);
        blocks.begin_collecting(block);
        let of_drive = shape.block_of_die(die, block);
        let rows = self.live.groups_in_use(of_drive, shape.units_per_row);
        let pages = match shape.units_per_page {
            page if page == shape.units_per_row => rows,
            page => self.live.groups_in_use(of_drive, page),
        };
        self.empty(die, block);
        self.counts.moved_units += u64::from(valid);
        Victim { block, valid, charged: 0, rows, pages: pages * shape.pages_per_unit }
    }

    /// Moves all that is valid in a block to where collection writes.
    fn empty(&mut self, die: u32, block: Block) {
        let shape = self.shape;
        let space = &mut self.dies[die as usize];
        let source = shape.block_of_die(die, block);
        let from = shape.first_unit(die, block)..shape.first_unit(die, block + 1);
        let list = self.fragments.take_block(source);
        let (mut done, mut left) = (0, space.blocks.valid(block));
        while left > 0 {
            if space.moves.filled == shape.units_per_block {
                // The host leaves collection a free block whenever it has no victim.
                let opened = space.moves.renew(&mut space.blocks);
                debug_assert!(opened, "collection always has a free block");
            }
            let first = shape.first_unit(die, space.moves.block);
            let mut to = Target {
                block: shape.block_of_die(die, space.moves.block),
                at: first + space.moves.filled,
                end: first + shape.units_per_block,
            };
            done += self.fragments.move_some(&list[done..], &from, &mut to);
            let moved = to.at - first - space.moves.filled;
            self.live.set_range(to.block, space.moves.filled, moved);
            space.moves.filled += moved;
            space.blocks.remove_valid(block, moved);
            space.blocks.add_valid(space.moves.block, moved);
            debug_assert!(moved > 0, "what is counted is listed");
            left -= moved;
        }
        self.fragments.drop_dead(&list[done..], &from);
        self.fragments.give_back(source, list);
        self.live.of_block_mut(source).fill(0);
    }

    /// Charges the die with the moves of up to `units` of its victim, and frees it after the last.
    fn charge(&mut self, die: u32, units: u32) {
        let shape = self.shape;
        let space = &mut self.dies[die as usize];
        let Some(mut victim) = space.victim else {
            return;
        };
        let units = units.min(victim.valid - victim.charged);
        let (rows, pages) = victim.reads_to(victim.charged + units);
        let (rows_before, pages_before) = victim.reads_to(victim.charged);
        victim.charged += units;
        space.chores.rows_read += rows - rows_before;
        space.chores.pages_out += pages - pages_before;
        space.charge_programs(units, shape, &self.page_kinds);
        if victim.charged == victim.valid {
            space.victim = None;
            self.emptied(die, victim.block, victim.valid);
        } else {
            space.victim = Some(victim);
        }
    }
}

impl Victim {
    /// Whether a loaded one is one of a die of this shape.
    pub(super) fn is_sane(&self, shape: Shape) -> bool {
        let Victim { block: _, valid, charged, rows, pages } = *self;
        let units = shape.units_per_block;
        charged <= valid && valid.max(rows) <= units && pages <= units * shape.pages_per_unit
    }

    pub(super) fn block(&self) -> Block {
        self.block
    }

    /// Units whose moves are not charged yet.
    pub(super) fn uncharged(&self) -> u32 {
        self.valid - self.charged
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
