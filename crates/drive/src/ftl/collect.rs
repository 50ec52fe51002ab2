//! Garbage collection: winning space back, within a die, by moving what is valid out of a block.

use super::blocks::Block;
use super::die::DieSpace;
use super::emptying::Victim;
use super::fragments::Target;
use super::pace::Pace;
use super::schedule::Ahead;
use super::shape::Shape;
use super::stream::Stream;
use super::temperature::Space;
use super::{Ftl, live};
use crate::config::Pacing;
use crate::nand::{Chores, PageKinds};

impl Ftl {
    /// The next die, in turn, that can take a row of host data.
    ///
    /// One always can while blocks do not fail: the config's check leaves more space than the user
    /// can fill beyond what every die keeps open or free, so not every die can be full of valid
    /// data. `None` once the drive is worn out.
    #[inline]
    pub(super) fn die_with_room(&mut self, stream: Stream) -> Option<u32> {
        let (dies, first) = (self.shape.dies, self.rows[stream.index()].die);
        if !self.end_of_life.is_reached() && self.is_open(first, stream) {
            return Some(first);
        }
        let mut in_turn = (first..dies).chain(0..first);
        let found = match self.end_of_life.is_reached() {
            false => in_turn.find(|&die| self.make_room(die, stream)),
            true => None,
        };
        self.end_of_life.note_room(found.is_some());
        found
    }

    /// Whether the block that host data of a die goes into has room. One of an SLC buffer has: it was
    /// seen to when the stream was chosen.
    #[inline]
    fn is_open(&self, die: u32, stream: Stream) -> bool {
        let host = &self.dies[die as usize].fronts[stream.index()].host;
        host.filled < self.shape.units_per_block
    }

    /// Sees to it that `die` has a block open for host data; false when it can have none.
    fn make_room(&mut self, die: u32, stream: Stream) -> bool {
        if self.is_open(die, stream) {
            return true;
        }
        while self.dies[die as usize].blocks.free_blocks()
            <= match self.pacing {
                Pacing::Paced | Pacing::Batched => self.dies[die as usize].left_to_collection(),
                Pacing::Delayed | Pacing::DelayedUntilSequential if self.by_victim => {
                    self.dies[die as usize].left_to_collection()
                }
                Pacing::Delayed | Pacing::DelayedUntilSequential => self.start_free_blocks,
            }
            && self.collect_one(die)
        {}
        let space = &mut self.dies[die as usize];
        if space.blocks.free_blocks() <= space.left_to_collection() {
            return false;
        }
        // A block is erased just before it is written.
        space.chores.blocks_erased += 1;
        space.open_for_host(stream)
    }

    /// Does the part of collection that is due with the row just filled.
    #[inline(always)]
    pub(super) fn collect_at_pace(&mut self, die: u32) {
        let units = self.shape.units_per_block;
        let reserve = self.reserve(self.start_free_blocks);
        let space = &mut self.dies[die as usize];
        let room = space.room(units);
        if space.victim.is_none() && room > reserve {
            space.pace = Pace::default();
            return;
        }
        let valid = space.victim.as_ref().map_or(0, |victim| u64::from(victim.valid));
        let behind = room + valid + space.pace.owed_units() < reserve;
        space.pace.owe(self.shape.units_per_row, behind);
        // Mostly a die goes on with its victim, and is not done with it.
        if let Some(victim) = &space.victim {
            let due = victim.due(space.pace, units);
            if due < victim.valid {
                let now = due.saturating_sub(victim.charged);
                let parity = space.charge(now, &self.shape, &self.page_kinds);
                self.counts.parity_units += u64::from(parity * self.shape.units_per_row);
                return;
            }
        }
        self.collect_what_is_owed(die, reserve);
    }

    /// Whether collection moves much for what the host writes to a die: whether two fifths of its victim were
    /// valid or more. Without a victim it does not if the die has a block more than its reserve; else nobody knows.
    #[inline]
    pub(crate) fn moves_much(&self, die: u32) -> Option<bool> {
        let (space, units) = (&self.dies[die as usize], self.shape.units_per_block);
        match &space.victim {
            Some(victim) => Some(u64::from(victim.valid) * 5 >= u64::from(units) * 2),
            None => (space.room(units) > self.reserve(self.start_free_blocks + 1)).then_some(false),
        }
    }

    /// Does the part of collection that is due with a row just filled in order: more than it used,
    /// until there is as much as is to be kept.
    pub(super) fn collect_ahead(&mut self, die: u32, ahead: Ahead) {
        let space = &mut self.dies[die as usize];
        space.pace.owe(self.shape.units_per_row * ahead.gain, false);
        self.collect_what_is_owed(die, self.reserve(ahead.free_blocks));
    }

    /// Empties victims whole when the die's space is down to its reserve: one mostly.
    pub(super) fn collect_by_victim(&mut self, die: u32) {
        let reserve = self.reserve(self.start_free_blocks);
        while self.dies[die as usize].room(self.shape.units_per_block) <= reserve
            && self.collect_one(die)
        {}
    }

    /// Units that can be written to a die which keeps so many blocks free. Blocks being written
    /// are half full on average.
    pub(super) fn reserve(&self, free_blocks: u32) -> u64 {
        u64::from(free_blocks + self.open_blocks / 2) * u64::from(self.shape.units_per_block)
    }

    #[inline(never)]
    fn collect_what_is_owed(&mut self, die: u32, reserve: u64) {
        let units = self.shape.units_per_block;
        loop {
            let space = &self.dies[die as usize];
            if space.victim.is_none() && space.room(units) <= reserve {
                self.choose_victim(die);
            }
            let space = &mut self.dies[die as usize];
            let Some(victim) = &space.victim else {
                // There is space enough, or none to be won.
                space.pace = Pace::default();
                return;
            };
            let now = victim.due(space.pace, units).saturating_sub(victim.charged);
            self.charge(die, now);
            if self.dies[die as usize].victim.is_some() {
                return;
            }
        }
    }

    /// What the die would have to do to empty its victim, which is chosen if it has none. `None` when
    /// it has so many free blocks, or there is no space to be won.
    pub(crate) fn idle_work(&mut self, die: u32, free_blocks: u32) -> Option<Chores> {
        if self.dies[die as usize].blocks.free_blocks() >= free_blocks || self.is_worn_out() {
            return None;
        }
        if self.dies[die as usize].victim.is_none() {
            self.choose_victim(die);
        }
        let space = &self.dies[die as usize];
        let victim = space.victim?;
        Some(self.work_left(die, victim))
    }

    /// What the die has to do to empty its victim.
    pub(super) fn work_left(&self, die: u32, mut victim: Victim) -> Chores {
        let space = &self.dies[die as usize];
        let (left, mut chores) = (victim.uncharged(), space.chores);
        victim.charge_reads(left, &mut chores);
        let mut fronts = space.fronts[victim.stream.index()];
        fronts.charge_programs(left, self.shape, &self.page_kinds, &mut chores);
        chores
    }

    /// Takes what `units` of the victim have the die do.
    pub(crate) fn charge_idle(&mut self, die: u32, units: u32) -> Chores {
        self.charge(die, units);
        std::mem::take(&mut self.dies[die as usize].chores)
    }

    /// Gives back what there was no time for: the die does it before its next row.
    pub(crate) fn leave_chores(&mut self, die: u32, left: Chores) {
        debug_assert_eq!(self.dies[die as usize].chores, Chores::default(), "they were taken");
        self.dies[die as usize].chores = left;
    }

    /// Empties one block whole; false when none would give any space.
    #[inline(never)]
    fn collect_one(&mut self, die: u32) -> bool {
        if self.dies[die as usize].victim.is_none() {
            self.choose_victim(die);
        }
        let chosen = self.dies[die as usize].victim.is_some();
        self.charge(die, u32::MAX);
        chosen
    }

    /// Chooses the die's next victim, if there is space to be won, and moves what is valid there.
    pub(super) fn choose_victim(&mut self, die: u32) {
        self.level_wear(die);
        let folded = if self.has_dead_block(die) { None } else { self.next_dynamic_fold(die) };
        if let Some(block) = folded.or_else(|| self.next_victim(die)) {
            let victim = self.move_out(die, block);
            self.dies[die as usize].victim = Some(victim);
        }
    }

    pub(super) fn next_victim(&mut self, die: u32) -> Option<Block> {
        let (units, full) = (self.shape.units_per_block, self.shape.full_from());
        let space = &mut self.dies[die as usize];
        let Some(streams) = &self.streams else {
            return space.next_victim(&mut self.victims, [units, full], None);
        };
        let mut held = Space::of(space, units);
        let age = streams.cold_age(&held);
        if let Some(labels) = &mut space.labels
            && labels.cool(&space.blocks, age)
        {
            held = Space::of(space, units);
        }
        let over = streams.over_share(&held);
        let chosen = space.next_victim(&mut self.victims, [units, full], over);
        // A stream of which every block is all valid has nothing to give.
        chosen.or_else(|| space.next_victim(&mut self.victims, [units, full], Some(over?.other())))
    }

    /// Moves all that is valid in a closed block to where collection writes, for which nothing is
    /// charged yet.
    pub(super) fn move_out(&mut self, die: u32, block: Block) -> Victim {
        let shape = self.shape;
        let stream = self.dies[die as usize].stream_of(block);
        let slc = self.dies[die as usize].is_slc(block);
        let blocks = &mut self.dies[die as usize].blocks;
        let valid = blocks.valid(block);
        blocks.begin_collecting(block);
        let (rows, pages) = self.rows_and_pages_in_use(shape.block_of_die(die, block));
        let left_over = self.empty(die, block, stream);
        self.counts.moved_units += u64::from(valid);
        self.counts.folded_units += if slc { u64::from(valid) } else { 0 };
        let valid = valid + left_over;
        let pages = pages * shape.pages_per_unit;
        Victim { block, stream, slc, valid, charged: 0, rows, pages, read: Some((0, 0)) }
    }

    /// How many rows and pages of a block of the drive hold something that is valid.
    fn rows_and_pages_in_use(&mut self, block: u32) -> (u32, u32) {
        let shape = self.shape;
        self.fragments.prefetch_block(block);
        self.live.fill(0);
        self.fragments.note_live(block, &shape.places_of(block), &mut self.live);
        let rows = live::groups_in_use(&self.live, shape.units_per_row);
        let pages = match shape.units_per_page {
            page if page == shape.units_per_row => rows,
            page => live::groups_in_use(&self.live, page),
        };
        (rows, pages)
    }

    /// Moves all that is valid in a block to where collection writes. Returns how many places were
    /// left over at the end of a block, too few for the next unit.
    fn empty(&mut self, die: u32, block: Block, stream: Stream) -> u32 {
        let shape = self.shape;
        let space = &mut self.dies[die as usize];
        let source = shape.block_of_die(die, block);
        let from = shape.places_of(source);
        let list = self.fragments.take_block(source);
        let (mut done, mut left, mut left_over) = (0, space.blocks.valid(block), 0);
        while left > 0 {
            if space.fronts[stream.index()].moves.filled == shape.units_per_block {
                // The host leaves collection a free block whenever it has no victim.
                let opened = space.open_for_moves(stream);
                debug_assert!(opened, "collection always has a free block");
            }
            let front = &mut space.fronts[stream.index()].moves;
            let first = shape.first_unit(die, front.block);
            let mut to = Target {
                block: shape.block_of_die(die, front.block),
                at: first + front.filled,
                end: first + shape.units_per_block,
            };
            done += self.fragments.move_some(&list[done..], &from, &mut to);
            let moved = to.at - first - front.filled;
            front.filled += moved;
            space.blocks.remove_valid(block, moved);
            space.blocks.add_valid(front.block, moved);
            if let Some(labels) = &mut space.labels {
                labels.moved(block, moved);
            }
            left -= moved;
            if left > 0 {
                // Only what does not fit is left: the block is full, or as good as full.
                let front = &mut space.fronts[stream.index()].moves;
                let room = shape.units_per_block - front.filled;
                debug_assert!(room < shape.most_granules, "what is counted is listed");
                front.filled = shape.units_per_block;
                left_over += room;
            }
        }
        self.counts.padded_units += u64::from(left_over);
        self.fragments.drop_dead(&list[done..], &from);
        self.fragments.give_back(source, list);
        left_over
    }

    /// Charges the die with the moves of up to `units` of its victim, and frees it after the last.
    #[inline(always)]
    pub(super) fn charge(&mut self, die: u32, units: u32) {
        let space = &mut self.dies[die as usize];
        let parity = space.charge(units, &self.shape, &self.page_kinds);
        self.counts.parity_units += u64::from(parity * self.shape.units_per_row);
        if let Some(Victim { block, valid, charged, .. }) = space.victim
            && charged == valid
        {
            space.victim = None;
            self.emptied(die, block, valid);
        }
    }
}

impl DieSpace {
    /// Charges the moves of up to `units` of its victim, if it has one. Returns how many rows of parity are
    /// among the programs.
    #[inline(always)]
    fn charge(&mut self, units: u32, shape: &Shape, kinds: &PageKinds) -> u32 {
        // In its place: copied as a whole, it would wait for what was written of it a moment ago.
        let Some(victim) = &mut self.victim else {
            return 0;
        };
        let units = units.min(victim.valid - victim.charged);
        victim.charge_reads(units, &mut self.chores);
        let fronts = &mut self.fronts[victim.stream.index()];
        fronts.charge_programs(units, *shape, kinds, &mut self.chores)
    }
}
