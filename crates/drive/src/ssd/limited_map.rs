//! A map that does not fit in memory: what it costs a command to have the entries it needs.

use crate::consistency::Inconsistency;
use std::ops::Range;

use crate::Nanos;
use crate::config::MapLayout;
use crate::divide::Divider;
use crate::ftl::LogicalUnit;
use crate::map_memory::{Access, MapMemory, MapPage, Miss};
use crate::nand::Nand;

/// The pages of the map in memory, and those on the NAND.
///
/// A page lies on the die its number says, consecutive pages on consecutive dies, in blocks that
/// the map has to itself. A page written back is kept beside the memory until its program operation
/// ends, one for each die. So a miss waits for its own page to be read and not for the one that makes
/// room for it, unless the die of that one is still busy with an earlier one.
#[derive(Clone, Debug)]
pub(super) struct LimitedMap {
    memory: MapMemory,
    layout: MapLayout,
    by_units_per_page: Divider,
    by_dies: Divider,
    /// By slot: when its page is there.
    ready: Vec<Nanos>,
    /// By die.
    write_backs: Vec<WriteBack>,
}

/// What a die was last given to write back.
#[derive(Clone, Copy, Debug, Default)]
struct WriteBack {
    /// The page, until then kept in the controller.
    page: MapPage,
    until: Nanos,
    /// Pages that the die's open map block still takes.
    block_left: u32,
}

/// What commands asked of the map since the drive was made.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LimitedMapCounts {
    /// Map pages looked up.
    pub(super) lookups: u64,
    /// Of these, pages that were not in memory.
    pub(super) misses: u64,
    pub(super) nand_pages_read: u64,
    pub(super) nand_pages_written: u64,
}

impl LimitedMap {
    pub(super) fn new(layout: MapLayout, dies: u32) -> LimitedMap {
        LimitedMap {
            memory: MapMemory::new(layout.pages, layout.slots),
            layout,
            by_units_per_page: Divider::new(layout.units_per_page),
            by_dies: Divider::new(dies),
            ready: vec![Nanos::ZERO; layout.slots as usize],
            write_backs: vec![WriteBack::default(); dies as usize],
        }
    }

    pub(super) fn counts(&self) -> LimitedMapCounts {
        let counts = self.memory.counts();
        let nand_pages = u64::from(self.layout.nand_pages);
        LimitedMapCounts {
            lookups: counts.lookups,
            misses: counts.misses,
            nand_pages_read: counts.reads * nand_pages,
            nand_pages_written: counts.write_backs * nand_pages,
        }
    }

    /// When all entries of `units` are in memory that a command handled at `at` reads or, if it
    /// `updates` them, changes.
    pub(super) fn look_up(
        &mut self,
        units: Range<LogicalUnit>,
        updates: bool,
        at: Nanos,
        nand: &mut Nand,
    ) -> Nanos {
        let mut ready = at;
        for page in self.pages_of(&units) {
            let access = match updates {
                false => Access::Read,
                true if self.covers(&units, page) => Access::Replace,
                true => Access::Update,
            };
            ready = ready.max(self.have(page, access, at, nand));
        }
        ready
    }

    /// The same for units that are unmapped: a page of which no entry is left is forgotten.
    pub(super) fn trim(&mut self, units: Range<LogicalUnit>, at: Nanos, nand: &mut Nand) -> Nanos {
        let mut ready = at;
        for page in self.pages_of(&units) {
            if self.covers(&units, page) {
                self.memory.empty(page);
            } else if !self.memory.is_empty(page) {
                ready = ready.max(self.have(page, Access::Update, at, nand));
            }
        }
        ready
    }

    /// When all pages that left memory are on the NAND, from `at`.
    pub(super) fn written_back(&self, at: Nanos) -> Nanos {
        self.write_backs.iter().map(|back| back.until).fold(at, Nanos::max)
    }

    /// No unit is mapped any more, in memory or on the NAND. Nothing may be being written.
    pub(super) fn clear(&mut self) {
        self.memory.clear();
        self.ready.fill(Nanos::ZERO);
        self.write_backs.fill(WriteBack::default());
    }

    /// Whether memory and map agree about which page is where.
    pub(super) fn check(&self) -> Result<(), Inconsistency> {
        self.memory.check()
    }

    #[inline]
    fn pages_of(&self, units: &Range<LogicalUnit>) -> Range<MapPage> {
        if units.is_empty() {
            return 0..0;
        }
        let last = self.by_units_per_page.quotient(units.end - 1);
        self.by_units_per_page.quotient(units.start)..last + 1
    }

    /// Whether `units` are all that the page has entries for.
    #[inline]
    fn covers(&self, units: &Range<LogicalUnit>, page: MapPage) -> bool {
        let first = u64::from(page) * u64::from(self.layout.units_per_page);
        let end = first + u64::from(self.layout.units_per_page);
        u64::from(units.start) <= first
            && end.min(u64::from(self.layout.user_units)) <= u64::from(units.end)
    }

    /// When a page is in memory.
    #[inline]
    fn have(&mut self, page: MapPage, access: Access, at: Nanos, nand: &mut Nand) -> Nanos {
        let Some(found) = self.memory.look_up(page, access) else {
            return at;
        };
        let slot = found.slot as usize;
        if let Some(miss) = found.miss {
            // The slot's old page may still be on its way.
            let free = self.ready[slot].max(at);
            self.ready[slot] = self.load(page, miss, at, free, nand);
        }
        self.ready[slot].max(at)
    }

    /// When a page that was not in memory is there, into a slot that is `free` then.
    fn load(
        &mut self,
        page: MapPage,
        miss: Miss,
        at: Nanos,
        free: Nanos,
        nand: &mut Nand,
    ) -> Nanos {
        let free = match miss.write_back {
            Some(dirty) => free.max(self.write_backs[self.die_of(dirty)].until),
            None => free,
        };
        // The die is charged in the order commands come in, like every shared resource.
        let read = if miss.read { self.read(page, at, nand) } else { at };
        if let Some(dirty) = miss.write_back {
            self.write_back(dirty, at, nand);
        }
        free + read.since(at)
    }

    fn read(&self, page: MapPage, at: Nanos, nand: &mut Nand) -> Nanos {
        let die = self.die_of(page);
        let last = self.write_backs[die];
        if last.page == page && last.until > at {
            return at;
        }
        let mut arrived = nand.read(die as u32, None, at, at);
        for _ in 1..self.layout.nand_pages {
            arrived = nand.read_more(die as u32, at, arrived);
        }
        arrived
    }

    fn write_back(&mut self, page: MapPage, at: Nanos, nand: &mut Nand) {
        let die = self.die_of(page);
        let back = &mut self.write_backs[die];
        let begins_block = back.block_left == 0;
        if begins_block {
            back.block_left = self.layout.pages_per_block;
        }
        back.block_left -= 1;
        back.page = page;
        back.until = nand.program_pages(die as u32, self.layout.nand_pages, begins_block, at);
    }

    fn die_of(&self, page: MapPage) -> usize {
        self.by_dies.divide(page).1 as usize
    }
}
