//! The flash translation layer: where each unit of the user's space is on the NAND, and how
//! space is won back. It knows no time.
//!
//! Placement: host data fills one row (one page on every plane of a die) after the other, die
//! after die, so that consecutive data lies on as many dies as there are. Collection moves data
//! within a die, into a block of its own. Words: a *unit* is the grain of the map, 4
//! KiB mostly; a *row* is what one program operation writes; a *block* is what one erase frees.

mod blocks;
mod collect;
mod die;
mod fragments;
mod live;
mod log_block;
mod pace;
mod restore;
mod shape;
mod translation;
mod victim;
mod wear;

use serde::{Deserialize, Serialize};

use crate::nand::{Chores, PageKinds};
use crate::prefetch::prefetch;
use crate::profile::{OPEN_BLOCKS_PER_DIE, Pacing, SsdProfile};
use blocks::Block;
use die::DieSpace;
use fragments::{Filling, Fragments, Slot};
use live::LiveBits;
use victim::VictimChooser;
use wear::EndOfLife;

pub use log_block::MergeCounts;
pub(crate) use restore::FtlState;
pub(crate) use shape::Shape;
pub(crate) use translation::Translation;

/// A unit of the user's space: byte offset / bytes of a unit.
pub(crate) type LogicalUnit = u32;

/// A unit of the NAND: global block number x units a block + unit within the block.
pub(crate) type PhysicalUnit = u32;

/// Map, blocks and collection of a drive.
#[derive(Clone, Debug)]
pub(crate) struct Ftl {
    shape: Shape,
    page_kinds: PageKinds,
    start_free_blocks: u32,
    pacing: Pacing,
    /// By logical unit: the slot of the fragment that knows where it is.
    map: Vec<Slot>,
    fragments: Fragments,
    /// By place: the map leads here.
    live: LiveBits,
    dies: Vec<DieSpace>,
    victims: VictimChooser,
    end_of_life: EndOfLife,
    /// The die whose open row host data goes into.
    host_die: u32,
    /// Units that row still takes; 0 when the next unit begins a row.
    host_row_left: u32,
    counts: FtlCounts,
}

/// Units moved since the drive was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FtlCounts {
    /// Units the host wrote.
    pub(crate) host_units: u64,
    /// Units collection moved.
    pub(crate) moved_units: u64,
    /// Units of rows that were programmed before they were full.
    pub(crate) padded_units: u64,
}

/// See [`Ftl::prefetch`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PrefetchStep {
    Map,
    Fragment,
    Place,
}

/// What became of a unit the host wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Placed {
    /// The die it went to.
    pub(crate) die: u32,
    /// Whether it filled its row, which is now to be programmed.
    pub(crate) row_full: bool,
    /// What the die has to do before that program.
    pub(crate) chores: Chores,
}

impl Ftl {
    /// The map of a drive that was never written. `profile` has passed its check.
    pub(crate) fn new(profile: &SsdProfile) -> Ftl {
        let shape = Shape::new(profile);
        let pages = profile.nand.pages_per_block.value;
        Ftl {
            shape,
            page_kinds: PageKinds::new(profile.nand_cells.as_ref(), pages),
            start_free_blocks: profile.gc.start_free_blocks.value,
            pacing: profile.gc.pacing.value,
            map: vec![Slot::NOWHERE; profile.user_units() as usize],
            fragments: Fragments::none(shape),
            live: LiveBits::none(shape),
            dies: wear::new_dies(shape, profile.wear.as_ref()),
            victims: VictimChooser::new(&profile.gc),
            end_of_life: EndOfLife::new(profile),
            host_die: 0,
            host_row_left: 0,
            counts: FtlCounts::default(),
        }
    }

    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    pub(crate) fn counts(&self) -> FtlCounts {
        self.counts
    }

    /// Whether map, live bits and counts agree; the first place where they do not.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut found = LiveBits::none(self.shape);
        for (unit, &slot) in self.map.iter().enumerate().filter(|&(_, &at)| at != Slot::NOWHERE) {
            let place = self.fragments.place(slot);
            let (block, within) = self.shape.block_of(place);
            if found.is_set(block, within) {
                return Err(format!("unit {unit} is mapped to {place}, as another one is"));
            }
            found.set(block, within);
        }
        for block in 0..self.shape.blocks() {
            let (die, of_die) = self.shape.die_of(block);
            if found.of_block(block) != self.live.of_block(block) {
                return Err(format!("die {die} block {of_die}: the map and the live bits differ"));
            }
            let live = self.live.groups_in_use(block, 1);
            let counted = self.dies[die as usize].blocks.valid(of_die);
            if live != counted {
                return Err(format!("die {die} block {of_die}: {live} live, {counted} counted"));
            }
        }
        self.check_blocks()
    }

    /// Units the user can address.
    pub(crate) fn user_units(&self) -> u32 {
        self.map.len() as u32
    }

    /// Units that data can occupy: all but failed blocks and what every die keeps free, in whole
    /// blocks and in its open ones. Those are half full on average, so of two open blocks one is
    /// kept free.
    ///
    /// This is when a paced die begins to collect, to the unit, and with it the closed forms of
    /// write amplification hold for drives of a few hundred blocks; counting open blocks as
    /// empty puts the spare of such a drive off by a block. (Delayed collection has half a block
    /// a die more, because it chooses its victims only when the host's block is full.)
    pub(crate) fn usable_units(&self) -> u64 {
        let kept = u64::from(OPEN_BLOCKS_PER_DIE / 2 + self.start_free_blocks);
        let per_die = u64::from(self.shape.blocks_per_die) - kept;
        let usable = per_die * u64::from(self.shape.dies);
        usable.saturating_sub(self.retired_blocks()) * u64::from(self.shape.units_per_block)
    }

    /// Forgets everything, as a secure erase does; the counts go on.
    pub(crate) fn erase_all(&mut self) {
        self.map.fill(Slot::NOWHERE);
        self.fragments.clear_all();
        self.live.clear_all();
        self.erase_dies();
        self.host_die = 0;
        self.host_row_left = 0;
    }

    /// Where a unit is, if it was ever written.
    #[inline]
    pub(crate) fn find(&self, unit: LogicalUnit) -> Option<PhysicalUnit> {
        let slot = self.map[unit as usize];
        (slot != Slot::NOWHERE).then(|| self.fragments.place(slot))
    }

    /// What will be used soon, in three steps that each need what the one before brought into the
    /// processor's cache: the map's entry of a unit, then the fragment it leads to, then what is
    /// written when the unit is overwritten. The caller leaves time between them.
    #[inline]
    pub(crate) fn prefetch(&self, units: impl Iterator<Item = LogicalUnit>, step: PrefetchStep) {
        for unit in units {
            if step == PrefetchStep::Map {
                prefetch(&self.map, unit as usize);
                continue;
            }
            let Some(&slot) = self.map.get(unit as usize).filter(|&&slot| slot != Slot::NOWHERE)
            else {
                continue;
            };
            if step == PrefetchStep::Fragment {
                self.fragments.prefetch(slot);
            } else {
                let (block, within) = self.shape.block_of(self.fragments.place(slot));
                self.live.prefetch(block, within);
            }
        }
    }

    /// The block host data of `die` goes into and the row of it that is being filled.
    #[inline]
    pub(crate) fn open_row(&self, die: u32) -> (Block, u32) {
        let host = self.dies[die as usize].host;
        (host.block, self.shape.row_of(host.filled).0)
    }

    /// Whether the next unit of host data begins a row.
    #[inline]
    pub(crate) fn at_row_start(&self) -> bool {
        self.host_row_left == 0
    }

    /// Units that are placed and not programmed yet: in rows that are not full, in those that
    /// collection fills while the host's row is still open, and those whose move is not charged yet.
    pub(crate) fn pending_units(&self) -> u64 {
        let row = self.shape.units_per_row;
        let of_die = |die: &DieSpace| {
            let uncharged = die.victim.map_or(0, |victim| victim.uncharged());
            let moving = die.charged % row + die.chores.rows_programmed() * row + uncharged;
            u64::from(die.host.filled % row + moving)
        };
        self.dies.iter().map(of_die).sum()
    }

    /// Writes a unit of host data; `None` when the drive is worn out.
    #[inline]
    pub(crate) fn write(&mut self, unit: LogicalUnit) -> Option<Placed> {
        if self.at_row_start() {
            if self.fragments.are_many() {
                self.gather();
            }
            self.host_die = self.die_with_room()?;
            self.host_row_left = self.shape.units_per_row;
        }
        let die = self.host_die;
        self.counts.host_units += 1;
        self.forget(unit);
        let space = &mut self.dies[die as usize];
        let (block, within) = (self.shape.block_of_die(die, space.host.block), space.host.filled);
        let place = block * self.shape.units_per_block + within;
        space.host.filled += 1;
        space.blocks.add_valid(space.host.block, 1);
        self.map[unit as usize] = self.fragments.append(&mut space.filling, block, place);
        self.live.set(block, within);
        self.host_row_left -= 1;
        Some(self.row_done(die))
    }

    /// Fills up the row that host data goes into with nothing, so that it can be programmed.
    /// `None` when no row is begun.
    pub(crate) fn pad(&mut self) -> Option<Placed> {
        if self.at_row_start() {
            return None;
        }
        let padding = std::mem::take(&mut self.host_row_left);
        let space = &mut self.dies[self.host_die as usize];
        space.host.filled += padding;
        // The places of a fragment lie one behind the other.
        space.filling = Filling::NONE;
        self.counts.padded_units += u64::from(padding);
        Some(self.row_done(self.host_die))
    }

    /// The unit holds nothing of value any more.
    #[inline]
    pub(crate) fn trim(&mut self, unit: LogicalUnit) {
        self.forget(unit);
        self.map[unit as usize] = Slot::NOWHERE;
    }

    #[inline]
    fn row_done(&mut self, die: u32) -> Placed {
        if !self.at_row_start() {
            return Placed { die, row_full: false, chores: Chores::default() };
        }
        if self.pacing == Pacing::Paced {
            self.collect_at_pace(die);
        }
        self.host_die = if die + 1 == self.shape.dies { 0 } else { die + 1 };
        let chores = std::mem::take(&mut self.dies[die as usize].chores);
        Placed { die, row_full: true, chores }
    }

    /// The old place of a unit is dead.
    #[inline]
    fn forget(&mut self, unit: LogicalUnit) {
        let slot = self.map[unit as usize];
        if slot == Slot::NOWHERE {
            return;
        }
        let (die, block, within) = self.shape.locate(self.fragments.place(slot));
        self.fragments.clear(slot);
        self.live.clear(self.shape.block_of_die(die, block), within);
        self.dies[die as usize].blocks.remove_valid(block, 1);
    }

    /// Makes few fragments of many.
    #[cold]
    fn gather(&mut self) {
        self.dies.iter_mut().for_each(|die| die.filling = Filling::NONE);
        self.fragments.regroup(&mut self.map, &self.live, self.shape);
    }
}

#[cfg(test)]
fn test_shape(dies: u32, blocks_per_die: u32, units_per_block: u32) -> Shape {
    Shape::of(dies, blocks_per_die, [1, 1, units_per_block])
}
