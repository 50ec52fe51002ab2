//! Folding: the blocks of an SLC buffer are filled, emptied into the main ones, and used again.

use super::Ftl;
use super::blocks::{Block, DieBlocks, NO_BLOCK};
use super::die::{DieSpace, Fronts};
use super::emptying::Victim;
use super::shape::Shape;
use super::slc::{FoldWork, SlcBuffer};
use super::stream::Stream;
use super::wear::DieWear;
use crate::consistency::Inconsistency;

impl DieSpace {
    /// Whether a block is written with one bit a cell.
    #[inline]
    pub(super) fn is_slc(&self, block: Block) -> bool {
        self.slc.as_ref().is_some_and(|slc| slc.holds(block))
    }

    /// The SLC block that host data went into takes no more.
    fn close_slc(&mut self, shape: Shape) {
        let front = &mut self.fronts[Stream::Slc.index()];
        let block = std::mem::replace(front, Fronts::none(shape)).host.block;
        if block == NO_BLOCK {
            return;
        }
        if let Some(slc) = &mut self.slc {
            slc.full.push_back(block);
        }
        if let Some(labels) = &mut self.labels {
            labels.close_host(block, Stream::Cold);
        }
    }

    /// The oldest full SLC block that there is room to fold, or that gives the die a block back.
    fn next_fold(&mut self, units_per_block: u32, only_dynamic: bool) -> Option<Block> {
        let slc = self.slc.as_ref()?;
        let mut full = slc.full.iter().enumerate();
        let (place, block) = full.find(|&(_, &b)| !only_dynamic || !slc.is_fixed(b))?;
        let room = units_per_block - self.fronts[self.stream_of(*block).index()].moves.filled;
        let gives_one = !slc.is_fixed(*block) && !self.blocks.wear().is_worn_out(*block);
        // What collection needs for its next victim stays.
        let spare = self.blocks.free_blocks() + u32::from(gives_one);
        if self.blocks.valid(*block) > room && spare < 2 {
            return None;
        }
        self.slc.as_mut()?.full.remove(place)
    }
}

impl Ftl {
    /// Where a unit goes that the host writes, and would otherwise write to `stream`.
    #[inline(never)]
    pub(super) fn slc_or(&mut self, stream: Stream) -> Stream {
        let row = self.rows[Stream::Slc.index()];
        if row.left > 0 {
            return Stream::Slc;
        }
        let exhausted = self.slc.is_some_and(|slc| slc.exhausted);
        if exhausted && !self.at_row_start(stream) {
            return stream;
        }
        let dies = self.shape.dies;
        // What is overwritten may have emptied a block. That is looked for on a die a row.
        let tries = if exhausted { 1 } else { dies };
        for die in (row.die..dies).chain(0..row.die).take(tries as usize) {
            if self.open_slc(die) {
                self.rows[Stream::Slc.index()].die = die;
                return Stream::Slc;
            }
        }
        self.rows[Stream::Slc.index()].die = if row.die + 1 == dies { 0 } else { row.die + 1 };
        self.set_slc_exhausted(true);
        stream
    }

    fn set_slc_exhausted(&mut self, exhausted: bool) {
        if let Some(slc) = &mut self.slc {
            slc.exhausted = exhausted;
        }
    }

    /// Room for an SLC block is looked for on all dies again: what was valid is not any more.
    pub(crate) fn retry_slc(&mut self) {
        self.set_slc_exhausted(false);
    }

    /// Sees to it that a die has an SLC block with room for a row. False when it can have none.
    fn open_slc(&mut self, die: u32) -> bool {
        let Some(slc) = self.slc else {
            return false;
        };
        let space = &mut self.dies[die as usize];
        if space.fronts[Stream::Slc.index()].host.filled < slc.units_per_block {
            return true;
        }
        space.close_slc(self.shape);
        if self.end_of_life.is_reached() {
            return false;
        }
        let mut found = self.free_slc_block(die, !slc.exhausted);
        if found.is_none() && self.recycle_slc(die) {
            // Of a drive that writes past a full buffer each die that has room again takes its turn's row: were it looked for on
            // all dies, everything would be written to these few.
            if slc.waits_for_folding {
                self.retry_slc();
            }
            found = self.free_slc_block(die, true);
        }
        // Folding one block may take another, at most.
        let mut tries = if slc.waits_for_folding { 2 * self.shape.blocks_per_die } else { 0 };
        while found.is_none() && tries > 0 && self.fold_one(die) {
            found = self.free_slc_block(die, true);
            tries -= 1;
        }
        let Some(block) = found else {
            return false;
        };
        let space = &mut self.dies[die as usize];
        // A block is erased just before it is written.
        space.chores.blocks_erased += 1;
        let front = &mut space.fronts[Stream::Slc.index()].host;
        (front.block, front.filled) = (block, 0);
        true
    }

    /// A block that can be written with one bit a cell.
    fn free_slc_block(&mut self, die: u32, dynamic: bool) -> Option<Block> {
        let buffer = self.slc?;
        let space = &mut self.dies[die as usize];
        let slc = space.slc.as_mut()?;
        if let Some(block) = slc.free.pop_front() {
            return Some(block);
        }
        if !dynamic || slc.dynamic_blocks >= buffer.dynamic_blocks {
            return None;
        }
        // Blocks of which nothing is valid cost nothing to have.
        while self.dies[die as usize].blocks.free_blocks() <= buffer.left_free {
            let (block, valid) = self.dies[die as usize].blocks.fewest_valid()?;
            if valid > 0 {
                return None;
            }
            self.emptied(die, block, 0);
        }
        let space = &mut self.dies[die as usize];
        let (slc, block) = (space.slc.as_mut()?, space.blocks.open()?);
        slc.dynamic[block as usize] = true;
        slc.dynamic_blocks += 1;
        Some(block)
    }

    /// Takes back the full blocks of which nothing is valid any more. Whether there were any.
    fn recycle_slc(&mut self, die: u32) -> bool {
        let mut some = false;
        while let Some(block) = self.take_dead_slc(die) {
            self.emptied(die, block, 0);
            some = true;
        }
        some
    }

    /// Takes a full block without valid data out of the list.
    fn take_dead_slc(&mut self, die: u32) -> Option<Block> {
        let space = &mut self.dies[die as usize];
        let slc = space.slc.as_mut()?;
        let dead = slc.full.iter().position(|&block| space.blocks.valid(block) == 0);
        slc.full.remove(dead?)
    }

    /// Chooses an SLC block to fold, or a main block to collect so that there is room for it.
    fn choose_fold(&mut self, die: u32) {
        if self.recycle_slc(die) {
            self.retry_slc();
        }
        let units = self.shape.units_per_block;
        let open = self.rows[Stream::Slc.index()];
        let space = &mut self.dies[die as usize];
        let Some(slc) = &space.slc else {
            return;
        };
        if slc.full.is_empty() {
            let front = space.fronts[Stream::Slc.index()].host;
            // A row that is being filled is finished first.
            if !front.is_opened() || front.filled == 0 || (open.left > 0 && open.die == die) {
                return;
            }
            space.close_slc(self.shape);
            if self.recycle_slc(die) {
                self.retry_slc();
            }
        }
        let space = &mut self.dies[die as usize];
        if space.slc.as_ref().is_none_or(|slc| slc.full.is_empty()) {
            return;
        }
        let has_room = space.blocks.free_blocks() > self.start_free_blocks;
        let fold = if has_room { space.next_fold(units, false) } else { None };
        let chosen = fold
            .or_else(|| self.next_victim(die))
            .or_else(|| self.dies[die as usize].next_fold(units, false));
        if let Some(block) = chosen {
            let victim = self.move_out(die, block);
            self.dies[die as usize].victim = Some(victim);
        }
    }

    /// The next block to collect that is written with one bit a cell and would be one of all then: it
    /// wins more than another does.
    #[inline]
    pub(super) fn next_dynamic_fold(&mut self, die: u32) -> Option<Block> {
        self.slc?;
        let units = self.shape.units_per_block;
        self.dies[die as usize].next_fold(units, true)
    }

    /// Whether a main block of a drive with an SLC buffer holds nothing that is valid: it costs less to win back than a block of
    /// the buffer.
    pub(super) fn has_dead_block(&self, die: u32) -> bool {
        let fewest = || self.dies[die as usize].blocks.fewest_valid();
        self.slc.is_some() && fewest().is_some_and(|(_, valid)| valid == 0)
    }

    /// Empties one SLC block, or one other to make room for it. False when there is nothing to win.
    fn fold_one(&mut self, die: u32) -> bool {
        if self.dies[die as usize].victim.is_none() {
            self.choose_fold(die);
        }
        let chosen = self.dies[die as usize].victim.is_some();
        self.charge(die, u32::MAX);
        chosen
    }

    /// What the die would have to do to empty the next SLC block, which is chosen if it has no victim.
    /// `None` when there is nothing to fold, or no room for it.
    pub(crate) fn fold_work(&mut self, die: u32) -> Option<FoldWork> {
        self.slc?;
        if self.is_worn_out() {
            return None;
        }
        if self.dies[die as usize].victim.is_none() {
            self.choose_fold(die);
        }
        let space = &self.dies[die as usize];
        let victim = space.victim?;
        let holds_data = space.slc.as_ref().is_some_and(|slc| !slc.full.is_empty());
        if !victim.is_slc() && !holds_data {
            return None;
        }
        self.retry_slc();
        let units = if victim.is_slc() { victim.uncharged() } else { 0 };
        Some(FoldWork { chores: self.work_left(die, victim), units })
    }

    /// Whether a place is written with one bit a cell.
    #[inline]
    pub(crate) fn is_slc(&self, die: u32, block: Block) -> bool {
        self.slc.is_some() && self.dies[die as usize].is_slc(block)
    }

    /// Whether there is an SLC buffer.
    #[inline]
    pub(crate) fn has_slc(&self) -> bool {
        self.slc.is_some()
    }

    /// Units that the blocks hold which are used for nothing else.
    pub(crate) fn fixed_slc_units(&self) -> u64 {
        let units = |slc: SlcBuffer| u64::from(slc.units_per_block) * u64::from(slc.fixed_blocks);
        self.slc.map_or(0, units) * u64::from(self.shape.dies)
    }

    /// Whether what each die says of its SLC blocks agrees with what they are used for.
    pub(super) fn check_slc(&self) -> Result<(), Inconsistency> {
        let Some(buffer) = self.slc else {
            return Ok(());
        };
        let live = self.fragments.live(self.shape);
        for (die, space) in (0..).zip(&self.dies) {
            let Some(slc) = &space.slc else {
                return Err(format!("die {die} has no part of the SLC buffer").into());
            };
            let front = space.fronts[Stream::Slc.index()].host.block;
            let victim = space.victim.as_ref().filter(|victim| victim.is_slc());
            let made = buffer
                .of_die(&mut DieBlocks::all_free(DieWear::lasting(self.shape.blocks_per_die)));
            if !slc.fits(&made, front, victim.map(Victim::block)) {
                return Err(format!("die {die}: its SLC blocks are used for something else").into());
            }
            for &block in &slc.full {
                let of_drive = self.shape.block_of_die(die, block);
                let beyond = buffer.units_per_block..self.shape.units_per_block;
                if beyond.into_iter().any(|within| live.is_set(of_drive, within)) {
                    return Err(
                        format!("die {die} block {block} holds more than an SLC block").into()
                    );
                }
            }
        }
        Ok(())
    }
}
