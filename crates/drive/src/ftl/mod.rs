//! The flash translation layer: where each 4 KiB of the user's space is on the NAND, and how
//! space is won back. It knows no time.
//!
//! Placement: host data fills one row (one page on every plane of a die) after the other, die
//! after die, so that consecutive data lies on as many dies as there are. Collection moves data
//! within a die, into a block of its own. Words: a *unit* is 4 KiB, the grain of the map; a *row*
//! is what one program operation writes; a *block* is what one erase frees.

mod blocks;
mod collect;
mod die;
mod pace;
mod restore;
mod shape;
mod victim;

use serde::{Deserialize, Serialize};

use crate::nand::Chores;
use crate::profile::{OPEN_BLOCKS_PER_DIE, Pacing, SsdProfile, UNIT_BYTES};
use blocks::Block;
use die::{DieSpace, WriteFront};
use victim::VictimChooser;

pub(crate) use shape::Shape;

/// A unit of the user's space: byte offset / 4096.
pub(crate) type LogicalUnit = u32;

/// A unit of the NAND: global block number x units a block + unit within the block.
pub(crate) type PhysicalUnit = u32;

/// Where no unit is.
const NOWHERE: u32 = u32::MAX;

/// Map, blocks and collection of a drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ftl {
    shape: Shape,
    start_free_blocks: u32,
    pacing: Pacing,
    /// By logical unit: where it is.
    map: Vec<PhysicalUnit>,
    /// By physical unit: what was last written there; whether it still is there, `live` says.
    holds: Vec<LogicalUnit>,
    /// A bit a physical unit: the map points here.
    live: Vec<u64>,
    dies: Vec<DieSpace>,
    victims: VictimChooser,
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
        let user_units = profile.capacity.sectors.value / (UNIT_BYTES / 512);
        Ftl {
            shape,
            start_free_blocks: profile.gc.start_free_blocks.value,
            pacing: profile.gc.pacing.value,
            map: vec![NOWHERE; user_units as usize],
            holds: vec![NOWHERE; shape.units() as usize],
            live: vec![0; (shape.units() as usize).div_ceil(64)],
            dies: vec![DieSpace::new(shape); shape.dies as usize],
            victims: VictimChooser::new(&profile.gc),
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
        let mut mapped = 0u64;
        for (unit, &place) in self.map.iter().enumerate().filter(|&(_, &place)| place != NOWHERE) {
            mapped += 1;
            if self.holds[place as usize] as usize != unit || !self.is_live(place) {
                return Err(format!("unit {unit} is mapped to {place}, which does not hold it"));
            }
        }
        let live: u64 = self.live.iter().map(|word| u64::from(word.count_ones())).sum();
        if live != mapped {
            return Err(format!("{mapped} units are mapped and {live} places live"));
        }
        for (die, space) in (0..).zip(&self.dies) {
            for block in 0..self.shape.blocks_per_die {
                let first = self.shape.first_unit(die, block);
                let places = first..first + self.shape.units_per_block;
                let live = places.filter(|&place| self.is_live(place)).count() as u32;
                if live != space.blocks.valid(block) {
                    let counted = space.blocks.valid(block);
                    return Err(format!("die {die} block {block}: {live} live, {counted} counted"));
                }
            }
        }
        Ok(())
    }

    fn is_live(&self, place: PhysicalUnit) -> bool {
        self.live[place as usize / 64] & (1 << (place % 64)) != 0
    }

    /// Units the user can address.
    pub(crate) fn user_units(&self) -> u32 {
        self.map.len() as u32
    }

    /// Units that data can occupy: all but what every die keeps free in whole blocks and in its
    /// open ones. Those are half full on average, so of two open blocks one is kept free.
    ///
    /// This is when a paced die begins to collect, to the unit, and with it the closed forms of
    /// write amplification hold for drives of a few hundred blocks; counting open blocks as
    /// empty puts the spare of such a drive off by a block. (Delayed collection has half a block
    /// a die more, because it chooses its victims only when the host's block is full.)
    pub(crate) fn usable_units(&self) -> u64 {
        let kept = u64::from(OPEN_BLOCKS_PER_DIE / 2 + self.start_free_blocks);
        let per_die = u64::from(self.shape.blocks_per_die) - kept;
        per_die * u64::from(self.shape.dies) * u64::from(self.shape.units_per_block)
    }

    /// Forgets everything, as a secure erase does; the counts go on.
    pub(crate) fn erase_all(&mut self) {
        self.map.fill(NOWHERE);
        self.live.fill(0);
        self.dies.fill(DieSpace::new(self.shape));
        self.host_die = 0;
        self.host_row_left = 0;
    }

    /// Where a unit is, if it was ever written.
    #[inline]
    pub(crate) fn find(&self, unit: LogicalUnit) -> Option<PhysicalUnit> {
        let place = self.map[unit as usize];
        (place != NOWHERE).then_some(place)
    }

    /// Brings into the processor's cache what the next use of these units will need. Independent
    /// loads overlap, where each on its own would wait for memory.
    #[inline]
    pub(crate) fn prefetch(&self, units: impl Iterator<Item = LogicalUnit>) {
        let mut seen = 0;
        for unit in units {
            let place = self.map.get(unit as usize).copied().unwrap_or(NOWHERE);
            seen ^= self.live.get(place as usize / 64).copied().unwrap_or(0);
        }
        std::hint::black_box(seen);
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

    /// Units that are placed and not programmed yet: in rows that are not full, and in those that
    /// collection fills while the host's row is still open.
    pub(crate) fn pending_units(&self) -> u64 {
        let row = self.shape.units_per_row;
        let open = |front: WriteFront| u64::from(front.filled % row);
        let chores = |die: &DieSpace| u64::from(die.chores.rows_programmed * row);
        self.dies.iter().map(|die| open(die.host) + open(die.moves) + chores(die)).sum()
    }

    /// Writes a unit of host data.
    #[inline]
    pub(crate) fn write(&mut self, unit: LogicalUnit) -> Placed {
        if self.at_row_start() {
            self.host_die = self.die_with_room();
            self.host_row_left = self.shape.units_per_row;
        }
        self.forget(unit);
        let die = self.host_die;
        let space = &mut self.dies[die as usize];
        let place = self.shape.first_unit(die, space.host.block) + space.host.filled;
        space.host.filled += 1;
        space.blocks.add_valid(space.host.block, 1);
        self.map[unit as usize] = place;
        self.holds[place as usize] = unit;
        self.live[place as usize / 64] |= 1 << (place % 64);
        self.counts.host_units += 1;
        self.host_row_left -= 1;
        self.row_done(die)
    }

    /// Fills up the row that host data goes into with nothing, so that it can be programmed.
    /// `None` when no row is begun.
    pub(crate) fn pad(&mut self) -> Option<Placed> {
        if self.at_row_start() {
            return None;
        }
        let padding = std::mem::take(&mut self.host_row_left);
        self.dies[self.host_die as usize].host.filled += padding;
        self.counts.padded_units += u64::from(padding);
        Some(self.row_done(self.host_die))
    }

    /// The unit holds nothing of value any more.
    #[inline]
    pub(crate) fn trim(&mut self, unit: LogicalUnit) {
        self.forget(unit);
        self.map[unit as usize] = NOWHERE;
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
        if let Some(place) = self.find(unit) {
            let (die, block, _) = self.shape.locate(place);
            self.live[place as usize / 64] &= !(1 << (place % 64));
            self.dies[die as usize].blocks.remove_valid(block, 1);
        }
    }
}
