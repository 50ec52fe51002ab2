//! The map, the blocks and their collection in the reference: one unit at a time.

use std::collections::VecDeque;

use fourcorners_drive::config::{Pacing, SsdConfig};

use crate::flash::Chores;
use crate::policy::{Candidate, Policy};

/// Where a unit is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) die: usize,
    pub(crate) block: usize,
    /// The unit within the block.
    pub(crate) position: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Free,
    /// Being written.
    Open,
    /// Full; how many blocks of the die had been closed before.
    Closed(u64),
    /// Being emptied.
    Victim,
}

#[derive(Clone)]
struct Block {
    state: State,
    /// By position: the unit that is there and valid.
    holds: Vec<Option<usize>>,
    /// How many are.
    valid: usize,
}

/// A block being written and the position that is written next.
#[derive(Clone, Copy)]
struct Front {
    block: usize,
    next: usize,
}

/// One unit's way out of a victim.
struct Move {
    /// It is the first unit of a block, which is erased before it.
    begins_block: bool,
    /// It is the last unit of a row, which is programmed after it.
    fills_row: bool,
}

/// A block whose valid units have all been moved in the map. The time of it is charged at the pace
/// of collection, of what was overwritten meanwhile, too; it is free after that.
struct Victim {
    block: usize,
    /// Valid units when it was chosen.
    valid: usize,
    /// Moves charged.
    charged: usize,
    /// Moves not charged yet.
    planned: VecDeque<Move>,
    /// Rows and pages that held something valid: all of them are read by the last move, and in
    /// proportion by the others.
    rows: usize,
    pages: usize,
}

struct Die {
    blocks: Vec<Block>,
    /// The one freed longest ago first.
    free: VecDeque<usize>,
    host: Option<Front>,
    moves: Option<Front>,
    victim: Option<Victim>,
    /// Space to be won back, in sixteenths of a unit.
    owed: usize,
    /// Blocks closed so far.
    closings: u64,
    chores: Chores,
}

/// The sizes of things, in units.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) page: usize,
    pub(crate) row: usize,
    pub(crate) block: usize,
}

/// What became of a unit that was written.
pub(crate) enum Written {
    /// It replaced what was in the row being filled.
    Absorbed,
    /// It has a place.
    Placed,
    /// It has the last place of a row.
    RowFull(FullRow),
}

/// A row that is to be programmed.
pub(crate) struct FullRow {
    pub(crate) die: usize,
    pub(crate) row: usize,
    /// What the die has to do before.
    pub(crate) chores: Chores,
}

pub(crate) struct Space {
    /// A write to a unit that lies in the row being filled takes its place there.
    pub(crate) absorbs: bool,
    sizes: Sizes,
    start_free_blocks: usize,
    pacing: Pacing,
    /// While the host writes in order: free blocks that each die works to, and how many units it
    /// wins back for each that is written.
    ahead: (usize, usize),
    pub(crate) in_order: bool,
    policy: Policy,
    map: Vec<Option<Place>>,
    dies: Vec<Die>,
    /// The die whose row is being filled.
    filling: Option<usize>,
    /// The die whose turn is next.
    next_die: usize,
    pub(crate) host_units: u64,
    pub(crate) absorbed_units: u64,
    pub(crate) moved_units: u64,
    pub(crate) padded_units: u64,
}

impl Space {
    pub(crate) fn new(profile: &SsdConfig) -> Space {
        let nand = &profile.nand;
        let page = nand.page_bytes as usize / 4096;
        let row = page * nand.planes as usize;
        let block = row * nand.pages_per_block as usize;
        let blocks = nand.blocks_per_plane as usize;
        Space {
            absorbs: profile.buffer.coalesce == Some(true),
            sizes: Sizes { page, row, block },
            start_free_blocks: profile.gc.start_free_blocks as usize,
            pacing: profile.gc.pacing,
            ahead: (
                profile
                    .gc
                    .sequential_free_blocks
                    .map_or(0, |blocks| profile.free_blocks_worked_to(blocks) as usize),
                profile.gc.sequential_gain.map_or(0, |gain| gain as usize),
            ),
            in_order: false,
            policy: Policy::new(&profile.gc),
            map: vec![None; profile.capacity.sectors as usize / 8],
            dies: (0..nand.dies).map(|_| Die::new(blocks, block)).collect(),
            filling: None,
            next_die: 0,
            host_units: 0,
            absorbed_units: 0,
            moved_units: 0,
            padded_units: 0,
        }
    }

    pub(crate) fn sizes(&self) -> Sizes {
        self.sizes
    }

    pub(crate) fn user_units(&self) -> usize {
        self.map.len()
    }

    pub(crate) fn find(&self, unit: usize) -> Option<Place> {
        self.map[unit]
    }

    /// Whether the next unit begins a row.
    pub(crate) fn at_row_start(&self) -> bool {
        self.filling.is_none()
    }

    /// The block host data of a die goes into, and the row of it that is filled next.
    pub(crate) fn open_row(&self, die: usize) -> Option<(usize, usize)> {
        self.dies[die].host.map(|front| (front.block, front.next / self.sizes.row))
    }

    pub(crate) fn erase_all(&mut self) {
        self.map.fill(None);
        let blocks = self.dies[0].blocks.len();
        for die in &mut self.dies {
            *die = Die::new(blocks, self.sizes.block);
        }
        self.filling = None;
        self.next_die = 0;
    }

    pub(crate) fn write(&mut self, unit: usize) -> Written {
        self.host_units += 1;
        if self.absorbs && self.lies_in_row_being_filled(unit) {
            self.absorbed_units += 1;
            return Written::Absorbed;
        }
        let die = match self.filling {
            Some(die) => die,
            None => self.die_with_room(),
        };
        self.filling = Some(die);
        self.forget(unit);
        let front = self.dies[die].host.as_mut().expect("a die with room has a block open");
        let place = Place { die, block: front.block, position: front.next };
        front.next += 1;
        self.put(unit, place);
        match (place.position + 1).is_multiple_of(self.sizes.row) {
            true => Written::RowFull(self.row_is_full(die)),
            false => Written::Placed,
        }
    }

    /// Leaves the rest of the row being filled empty.
    pub(crate) fn pad(&mut self) -> Option<FullRow> {
        let die = self.filling?;
        let front = self.dies[die].host.as_mut().expect("its row is being filled");
        while !front.next.is_multiple_of(self.sizes.row) {
            front.next += 1;
            self.padded_units += 1;
        }
        Some(self.row_is_full(die))
    }

    pub(crate) fn trim(&mut self, unit: usize) {
        self.forget(unit);
    }

    /// Units placed by host, collection and padding.
    pub(crate) fn placed_units(&self) -> u64 {
        self.host_units - self.absorbed_units + self.moved_units + self.padded_units
    }

    /// Panics unless the map and the blocks say the same.
    pub(crate) fn check(&self) {
        let mut mapped = 0;
        for (unit, place) in self.map.iter().enumerate() {
            let Some(place) = place else { continue };
            mapped += 1;
            assert_eq!(self.dies[place.die].blocks[place.block].holds[place.position], Some(unit));
        }
        let mut held = 0;
        for block in self.dies.iter().flat_map(|die| &die.blocks) {
            let valid = block.holds.iter().flatten().count();
            assert_eq!(valid, block.valid);
            assert!(block.state != State::Free || valid == 0);
            held += valid;
        }
        assert_eq!(mapped, held);
    }

    /// Whether two fifths of what collection empties on a die are valid, or more; with no victim, no once the die
    /// has a block more than its reserve.
    pub(crate) fn moves_much(&self, die: usize) -> Option<bool> {
        let (space, block) = (&self.dies[die], self.sizes.block);
        match &space.victim {
            Some(victim) => Some(victim.valid * 5 >= block * 2),
            None if space.room(block) > (self.start_free_blocks + 2) * block => Some(false),
            None => None,
        }
    }

    fn lies_in_row_being_filled(&self, unit: usize) -> bool {
        let (Some(die), Some(place)) = (self.filling, self.map[unit]) else { return false };
        let row = place.position / self.sizes.row;
        place.die == die && self.open_row(die) == Some((place.block, row))
    }

    fn put(&mut self, unit: usize, place: Place) {
        let block = &mut self.dies[place.die].blocks[place.block];
        block.holds[place.position] = Some(unit);
        block.valid += 1;
        self.map[unit] = Some(place);
    }

    fn forget(&mut self, unit: usize) {
        if let Some(place) = self.map[unit].take() {
            let block = &mut self.dies[place.die].blocks[place.block];
            block.holds[place.position] = None;
            block.valid -= 1;
        }
    }

    fn row_is_full(&mut self, die: usize) -> FullRow {
        match self.pacing {
            Pacing::Paced => self.collect_at_pace(die),
            Pacing::DelayedUntilSequential if self.in_order => {
                let (free_blocks, gain) = self.ahead;
                self.dies[die].owed += self.sizes.row * gain * 16;
                self.work_off(die, (free_blocks + 1) * self.sizes.block);
            }
            _ => {}
        }
        self.filling = None;
        self.next_die = (die + 1) % self.dies.len();
        let front = self.dies[die].host.expect("its row is full");
        let row = front.next / self.sizes.row - 1;
        FullRow { die, row, chores: std::mem::take(&mut self.dies[die].chores) }
    }

    /// The next die in turn that has or can make room for a row.
    fn die_with_room(&mut self) -> usize {
        for step in 0..self.dies.len() {
            let die = (self.next_die + step) % self.dies.len();
            if self.make_room(die) {
                return die;
            }
        }
        panic!("no die has room")
    }

    fn make_room(&mut self, die: usize) -> bool {
        if self.dies[die].host.is_some_and(|front| front.next < self.sizes.block) {
            return true;
        }
        loop {
            let keep = match self.pacing {
                Pacing::Paced => self.left_to_collection(die),
                _ => self.start_free_blocks,
            };
            if self.dies[die].free.len() > keep {
                break;
            }
            if self.dies[die].victim.is_none() && !self.choose_victim(die) {
                break;
            }
            self.charge(die, usize::MAX);
        }
        if self.dies[die].free.len() <= self.left_to_collection(die) {
            return false;
        }
        let before = self.dies[die].host;
        self.dies[die].host = Some(self.dies[die].open_after(before));
        self.dies[die].chores.blocks_erased += 1;
        true
    }

    /// Free blocks the host must not take: the last one, but for a die whose victim has been moved
    /// and needs no other.
    fn left_to_collection(&self, die: usize) -> usize {
        usize::from(self.dies[die].victim.is_none())
    }

    /// The die has filled a row of host data: collection does its share.
    fn collect_at_pace(&mut self, die: usize) {
        let reserve = (self.start_free_blocks + 1) * self.sizes.block;
        let space = &mut self.dies[die];
        // What the victim's moves have taken comes back with its block.
        let taken = space.victim.as_ref().map_or(0, |victim| victim.valid);
        let behind = space.room(self.sizes.block) + taken + space.owed / 16 < reserve;
        space.owed += self.sizes.row * if behind { 17 } else { 16 };
        self.work_off(die, reserve);
    }

    /// Collects what is owed, as long as the die has less room than the reserve.
    fn work_off(&mut self, die: usize, reserve: usize) {
        loop {
            if self.dies[die].victim.is_none() {
                let wanted = self.dies[die].room(self.sizes.block) <= reserve;
                if !wanted || !self.choose_victim(die) {
                    self.dies[die].owed = 0;
                    return;
                }
            }
            let space = &self.dies[die];
            let victim = space.victim.as_ref().expect("one was chosen");
            let won = self.sizes.block - victim.valid;
            let due = match won {
                _ if space.owed == 0 => 0,
                0 => victim.valid,
                _ => (space.owed * victim.valid / (won * 16)).min(victim.valid),
            };
            self.charge(die, due.saturating_sub(victim.charged));
            if self.dies[die].victim.is_some() {
                return;
            }
        }
    }

    fn choose_victim(&mut self, die: usize) -> bool {
        let space = &self.dies[die];
        let mut closed = Vec::new();
        for (number, block) in space.blocks.iter().enumerate() {
            if let State::Closed(at) = block.state {
                let age = space.closings - at;
                closed.push(Candidate { block: number, valid: block.valid as u64, age });
            }
        }
        let (blocks, units) = (space.blocks.len(), self.sizes.block as u64);
        let Some(block) = self.policy.choose(&closed, blocks, units) else { return false };
        let chosen = &mut self.dies[die].blocks[block];
        chosen.state = State::Victim;
        let holding = |places: usize| {
            chosen.holds.chunks(places).filter(|places| places.iter().any(Option::is_some)).count()
        };
        let (rows, pages) = (holding(self.sizes.row), holding(self.sizes.page));
        let valid = chosen.valid;
        let planned = (0..valid).map(|_| self.move_next(die, block)).collect();
        self.dies[die].victim = Some(Victim { block, valid, charged: 0, planned, rows, pages });
        true
    }

    /// Charges up to `most` moves of the die's victim, and frees it after the last.
    fn charge(&mut self, die: usize, most: usize) {
        let space = &mut self.dies[die];
        let mut victim = space.victim.take().expect("the caller looked");
        for _ in 0..most {
            let Some(unit) = victim.planned.pop_front() else { break };
            let (before, chores) = (victim.charged, &mut space.chores);
            victim.charged += 1;
            let read = |of: usize, moves: usize| (of * moves / victim.valid) as u64;
            chores.rows_read += read(victim.rows, victim.charged) - read(victim.rows, before);
            chores.pages_out += read(victim.pages, victim.charged) - read(victim.pages, before);
            chores.blocks_erased += u64::from(unit.begins_block);
            chores.rows_programmed += u64::from(unit.fills_row);
        }
        if !victim.planned.is_empty() {
            space.victim = Some(victim);
            return;
        }
        space.blocks[victim.block].state = State::Free;
        space.free.push_back(victim.block);
        space.owed = space.owed.saturating_sub((self.sizes.block - victim.valid) * 16);
    }

    /// Moves the first valid unit of a block to the die's collection block.
    fn move_next(&mut self, die: usize, block: usize) -> Move {
        let space = &mut self.dies[die];
        let from = space.blocks[block].holds.iter().position(Option::is_some);
        let from = from.expect("the caller looked");
        let unit = space.blocks[block].holds[from].expect("it was found");
        let front = match space.moves {
            Some(front) if front.next < self.sizes.block => front,
            before => space.open_after(before),
        };
        space.moves = Some(Front { next: front.next + 1, ..front });
        self.forget(unit);
        self.put(unit, Place { die, block: front.block, position: front.next });
        self.moved_units += 1;
        Move {
            begins_block: front.next == 0,
            fills_row: (front.next + 1).is_multiple_of(self.sizes.row),
        }
    }
}

impl Die {
    fn new(blocks: usize, units: usize) -> Die {
        Die {
            blocks: vec![Block { state: State::Free, holds: vec![None; units], valid: 0 }; blocks],
            free: (0..blocks).collect(),
            host: None,
            moves: None,
            victim: None,
            owed: 0,
            closings: 0,
            chores: Chores::default(),
        }
    }

    /// Units that can be written before a block has to be won back.
    fn room(&self, units: usize) -> usize {
        let left = |front: Option<Front>| front.map_or(0, |front| units - front.next);
        self.free.len() * units + left(self.host) + left(self.moves)
    }

    /// Opens a free block and closes the one that was written before, which is full.
    fn open_after(&mut self, before: Option<Front>) -> Front {
        let block = self.free.pop_front().expect("one free block is always left to collection");
        self.blocks[block].state = State::Open;
        if let Some(front) = before {
            self.blocks[front.block].state = State::Closed(self.closings);
            self.closings += 1;
        }
        Front { block, next: 0 }
    }
}
