//! The flash translation layer: where each 4 KiB of the user's space is on the NAND, and how
//! space is won back. It knows no time.
//!
//! Placement: host data fills one row (one page on every plane of a die) after the other, die
//! after die, so that consecutive data lies on as many dies as there are. Collection moves data
//! within a die, into a block of its own. Words: a *unit* is 4 KiB, the grain of the map; a *row*
//! is what one program operation writes; a *block* is what one erase frees.

mod blocks;
mod pace;
mod victim;

use crate::nand::Chores;
use crate::profile::{OPEN_BLOCKS_PER_DIE, Pacing, SsdProfile, UNIT_BYTES};
use blocks::{Block, DieBlocks};
use pace::Pace;
use victim::VictimChooser;

/// A unit of the user's space: byte offset / 4096.
pub(crate) type LogicalUnit = u32;

/// A unit of the NAND: global block number x units a block + unit within the block.
pub(crate) type PhysicalUnit = u32;

/// Where no unit is.
const NOWHERE: u32 = u32::MAX;

/// Map, blocks and collection of a drive.
#[derive(Clone, Debug)]
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
    counts: FtlCounts,
}

/// Units moved since the drive was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct FtlCounts {
    /// Units the host wrote.
    pub(crate) host_units: u64,
    /// Units collection moved.
    pub(crate) moved_units: u64,
    /// Units of rows that were programmed before they were full.
    pub(crate) padded_units: u64,
}

/// How the NAND's space is cut up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) dies: u32,
    pub(crate) blocks_per_die: u32,
    pub(crate) units_per_page: u32,
    pub(crate) units_per_row: u32,
    pub(crate) units_per_block: u32,
}

impl Shape {
    fn new(profile: &SsdProfile) -> Shape {
        let nand = &profile.nand;
        let units_per_page = nand.page_bytes.value / UNIT_BYTES as u32;
        let units_per_row = units_per_page * nand.planes.value;
        Shape {
            dies: nand.dies.value,
            blocks_per_die: nand.blocks_per_plane.value,
            units_per_page,
            units_per_row,
            units_per_block: units_per_row * nand.pages_per_block.value,
        }
    }

    pub(crate) fn units(self) -> u32 {
        self.dies * self.blocks_per_die * self.units_per_block
    }

    /// Die, block within the die and unit within the block.
    #[inline]
    pub(crate) fn locate(self, unit: PhysicalUnit) -> (u32, Block, u32) {
        let block = unit / self.units_per_block;
        (block / self.blocks_per_die, block % self.blocks_per_die, unit % self.units_per_block)
    }

    fn first_unit(self, die: u32, block: Block) -> PhysicalUnit {
        (die * self.blocks_per_die + block) * self.units_per_block
    }
}

/// One die's space and what is going on in it.
#[derive(Clone, Debug)]
struct DieSpace {
    blocks: DieBlocks,
    host: WriteFront,
    moves: WriteFront,
    victim: Option<Victim>,
    pace: Pace,
    /// Done since the last program of host data.
    chores: Chores,
}

/// A block being written; none while `filled` says it is full.
#[derive(Clone, Copy, Debug)]
struct WriteFront {
    block: Block,
    /// Units written so far; a whole block's worth before the first block is opened.
    filled: u32,
}

/// A block being emptied.
#[derive(Clone, Copy, Debug)]
struct Victim {
    block: Block,
    /// The next unit to look at.
    next: u32,
    /// Its valid units when it was chosen, and how many have been moved since.
    valid: u32,
    moved: u32,
    /// The row and the page read last; their other units need no second read.
    row_read: Option<u32>,
    page_read: Option<u32>,
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
        (host.block, host.filled / self.shape.units_per_row)
    }

    /// Whether the next unit of host data begins a row.
    #[inline]
    pub(crate) fn at_row_start(&self) -> bool {
        self.dies[self.host_die as usize].host.filled.is_multiple_of(self.shape.units_per_row)
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
        }
        self.forget(unit);
        let die = self.host_die;
        let front = self.dies[die as usize].host;
        self.dies[die as usize].host.filled += 1;
        self.put(die, front, unit);
        self.counts.host_units += 1;
        self.row_done(die)
    }

    /// Fills up the row that host data goes into with nothing, so that it can be programmed.
    /// `None` when no row is begun.
    pub(crate) fn pad(&mut self) -> Option<Placed> {
        if self.at_row_start() {
            return None;
        }
        let host = &mut self.dies[self.host_die as usize].host;
        let padding = self.shape.units_per_row - host.filled % self.shape.units_per_row;
        host.filled += padding;
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
            self.dies[die as usize].blocks.remove_valid(block);
        }
    }

    /// The unit is at `front` from now on.
    #[inline]
    fn put(&mut self, die: u32, front: WriteFront, unit: LogicalUnit) {
        let place = self.shape.first_unit(die, front.block) + front.filled;
        self.map[unit as usize] = place;
        self.holds[place as usize] = unit;
        self.live[place as usize / 64] |= 1 << (place % 64);
        self.dies[die as usize].blocks.add_valid(front.block);
    }

    /// The next die, in turn, that can take a row of host data.
    ///
    /// One always can: the profile's check leaves more space than the user can fill beyond what
    /// every die keeps open or free, so not every die can be full of valid data.
    fn die_with_room(&mut self) -> u32 {
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
    fn collect_at_pace(&mut self, die: u32) {
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
        let first = self.shape.first_unit(die, victim.block);
        let mut left = moves;
        while left > 0 && self.dies[die as usize].blocks.valid(victim.block) > 0 {
            victim.next = self.next_live(first + victim.next) - first;
            self.move_unit(die, &mut victim);
            victim.next += 1;
            victim.moved += 1;
            left -= 1;
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

    /// The first live unit at or after `from`; the caller knows there is one in the block.
    #[inline]
    fn next_live(&self, from: PhysicalUnit) -> PhysicalUnit {
        let mut word = from as usize / 64;
        let mut bits = self.live[word] & (u64::MAX << (from % 64));
        while bits == 0 {
            word += 1;
            bits = self.live[word];
        }
        word as u32 * 64 + bits.trailing_zeros()
    }

    #[inline]
    fn move_unit(&mut self, die: u32, victim: &mut Victim) {
        let shape = self.shape;
        let space = &mut self.dies[die as usize];
        let row = victim.next / shape.units_per_row;
        let page = victim.next / shape.units_per_page;
        if victim.row_read != Some(row) {
            victim.row_read = Some(row);
            space.chores.rows_read += 1;
        }
        if victim.page_read != Some(page) {
            victim.page_read = Some(page);
            space.chores.pages_out += 1;
        }
        if space.moves.filled == shape.units_per_block {
            // Collection frees a block for every block it fills, and the host leaves it one.
            let opened = space.moves.renew(&mut space.blocks, &mut space.chores);
            debug_assert!(opened, "collection always has a free block");
        }
        let from = shape.first_unit(die, victim.block) + victim.next;
        let front = space.moves;
        space.moves.filled += 1;
        if space.moves.filled.is_multiple_of(shape.units_per_row) {
            space.chores.rows_programmed += 1;
        }
        space.blocks.remove_valid(victim.block);
        self.live[from as usize / 64] &= !(1 << (from % 64));
        let unit = self.holds[from as usize];
        self.put(die, front, unit);
        self.counts.moved_units += 1;
    }
}

impl DieSpace {
    fn new(shape: Shape) -> DieSpace {
        DieSpace {
            blocks: DieBlocks::all_free(shape.blocks_per_die),
            host: WriteFront::none(shape),
            moves: WriteFront::none(shape),
            victim: None,
            pace: Pace::default(),
            chores: Chores::default(),
        }
    }

    /// Units that can be written before a block has to be won back.
    fn room(&self, units_per_block: u32) -> u64 {
        let open = 2 * units_per_block - self.host.filled - self.moves.filled;
        u64::from(self.blocks.free_blocks()) * u64::from(units_per_block) + u64::from(open)
    }
}

impl WriteFront {
    fn none(shape: Shape) -> WriteFront {
        WriteFront { block: NOWHERE, filled: shape.units_per_block }
    }

    /// Closes the full block and opens a free one, which is erased just before it is written.
    /// False when none is free.
    fn renew(&mut self, blocks: &mut DieBlocks, chores: &mut Chores) -> bool {
        let Some(opened) = blocks.open() else {
            return false;
        };
        if self.block != NOWHERE {
            blocks.close(self.block);
        }
        chores.blocks_erased += 1;
        *self = WriteFront { block: opened, filled: 0 };
        true
    }
}
