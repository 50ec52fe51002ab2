//! The memory a limited map is held in: which pages of the map are there, and which has to leave.
//! It knows no time.
//!
//! Replacement is CLOCK, the approximation of least recently used that takes one bit a page
//! (Corbató 1968). A hit sets the bit, where a list in order of use would be relinked, three cache
//! lines a command. A page just loaded has its bit clear: it leaves again with the next turn of the
//! hand unless it is used once more, so that a single pass over the drive does not empty the
//! memory. For accesses that are uniform over more pages than fit, every policy hits the same
//! share: memory over span.

use crate::consistency::Inconsistency;

/// A page of the map: number of the unit / units a map page.
pub(crate) type MapPage = u32;

/// A place in memory for a map page.
pub(crate) type Slot = u32;

/// In place of a slot: the page is not in memory and is on the NAND.
const STORED: u32 = u32::MAX;

/// In place of a slot: none of the page's units is mapped, so there is nothing to load.
const EMPTY: u32 = u32::MAX - 1;

/// Which pages of the map are in memory.
#[derive(Clone, Debug)]
pub(crate) struct MapMemory {
    /// By map page: its slot, [`STORED`] or [`EMPTY`].
    places: Vec<u32>,
    slots: Vec<Held>,
    /// Slots without a page.
    free: Vec<Slot>,
    /// The slot to be looked at first when one is wanted.
    hand: Slot,
    counts: MapCounts,
}

/// The page in a slot.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    page: MapPage,
    /// Used since the hand passed.
    used: bool,
    /// Other than what the NAND holds of it.
    dirty: bool,
    /// The NAND holds a version of it.
    stored: bool,
}

/// What commands asked of the map since the drive was made, in map pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct MapCounts {
    /// Pages looked up.
    pub(crate) lookups: u64,
    /// Of these, pages that were not in memory.
    pub(crate) misses: u64,
    /// Pages read from the NAND.
    pub(crate) reads: u64,
    /// Pages written back to the NAND.
    pub(crate) write_backs: u64,
}

/// What a command does with a page of the map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// Reads entries.
    Read,
    /// Changes some of its entries.
    Update,
    /// Gives all of its entries a new value, so that its old ones are not needed.
    Replace,
}

/// A page that is in memory now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    pub(crate) slot: Slot,
    /// It was not, and this is what it takes.
    pub(crate) miss: Option<Miss>,
}

/// What it takes to have a page in memory that was not there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Miss {
    /// It has to be read from the NAND.
    pub(crate) read: bool,
    /// The page that gave up its slot and has to be written to the NAND.
    pub(crate) write_back: Option<MapPage>,
}

impl MapMemory {
    /// A map of `pages`, none with an entry yet, in a memory for `slots` of them, at least one.
    pub(crate) fn new(pages: u32, slots: u32) -> MapMemory {
        MapMemory {
            places: vec![EMPTY; pages as usize],
            slots: vec![Held::default(); slots as usize],
            free: (0..slots).rev().collect(),
            hand: 0,
            counts: MapCounts::default(),
        }
    }

    pub(crate) fn counts(&self) -> MapCounts {
        self.counts
    }

    /// Has a page in memory for `access`; `None` when that reads entries of a page without any.
    #[inline]
    pub(crate) fn look_up(&mut self, page: MapPage, access: Access) -> Option<Found> {
        self.counts.lookups += 1;
        let place = self.places[page as usize];
        if place >= EMPTY {
            return self.load(page, access, place == STORED);
        }
        let held = &mut self.slots[place as usize];
        held.used = true;
        held.dirty |= access != Access::Read;
        Some(Found { slot: place, miss: None })
    }

    fn load(&mut self, page: MapPage, access: Access, stored: bool) -> Option<Found> {
        if !stored && access == Access::Read {
            return None;
        }
        let read = stored && access != Access::Replace;
        self.counts.misses += 1;
        self.counts.reads += u64::from(read);
        let (slot, write_back) = match self.free.pop() {
            Some(slot) => (slot, None),
            None => self.evict(),
        };
        self.slots[slot as usize] =
            Held { page, used: false, dirty: access != Access::Read, stored };
        self.places[page as usize] = slot;
        Some(Found { slot, miss: Some(Miss { read, write_back }) })
    }

    /// Takes the slot of the first page that was not used since the hand passed it; also that
    /// page, if it has to be written back. All slots hold a page.
    fn evict(&mut self) -> (Slot, Option<MapPage>) {
        loop {
            let slot = self.hand;
            self.hand = if slot + 1 == self.slots.len() as u32 { 0 } else { slot + 1 };
            let held = &mut self.slots[slot as usize];
            if std::mem::take(&mut held.used) {
                continue;
            }
            let Held { page, dirty, stored, .. } = *held;
            self.counts.write_backs += u64::from(dirty);
            self.places[page as usize] = if dirty || stored { STORED } else { EMPTY };
            return (slot, dirty.then_some(page));
        }
    }

    /// No unit of the page is mapped any more: neither memory nor NAND need hold it.
    pub(crate) fn empty(&mut self, page: MapPage) {
        let place = std::mem::replace(&mut self.places[page as usize], EMPTY);
        if place < EMPTY {
            self.free.push(place);
        }
    }

    /// Whether any entry of the page may be in use.
    pub(crate) fn is_empty(&self, page: MapPage) -> bool {
        self.places[page as usize] == EMPTY
    }

    /// No unit of the drive is mapped any more; the counts go on.
    pub(crate) fn clear(&mut self) {
        let counts = self.counts;
        *self = MapMemory::new(self.places.len() as u32, self.slots.len() as u32);
        self.counts = counts;
    }

    /// Whether slots and pages agree; the first that do not.
    pub(crate) fn check(&self) -> Result<(), Inconsistency> {
        let mut held = 0;
        for (page, &place) in (0..).zip(&self.places).filter(|&(_, &place)| place < EMPTY) {
            held += 1;
            if self.slots[place as usize].page != page || self.free.contains(&place) {
                return Err(format!("map page {page} is not in its slot {place}").into());
            }
        }
        if held + self.free.len() != self.slots.len() {
            let (free, slots) = (self.free.len(), self.slots.len());
            return Err(
                format!("{held} map pages and {free} free slots are not {slots} slots").into()
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Access::*;
    use super::*;
    use proptest::prelude::*;

    /// Looks up a page that has to be loaded: whether it is read, and what is written back.
    fn miss(memory: &mut MapMemory, page: MapPage, access: Access) -> (bool, Option<MapPage>) {
        let found = memory.look_up(page, access).expect("it has entries");
        let miss = found.miss.expect("it is not in memory");
        (miss.read, miss.write_back)
    }

    #[test]
    fn the_page_not_used_for_longest_leaves_and_is_written_if_changed() {
        let mut memory = MapMemory::new(9, 3);
        assert_eq!([0, 1, 2].map(|page| miss(&mut memory, page, Update)), [(false, None); 3]);
        assert_eq!(memory.look_up(0, Read).expect("it is there").miss, None);
        // 0 was used again and gets a second chance, so 1 leaves, then 2, then 0.
        assert_eq!(miss(&mut memory, 3, Update), (false, Some(1)));
        assert_eq!(miss(&mut memory, 1, Read), (true, Some(2)));
        assert_eq!(miss(&mut memory, 2, Update), (true, Some(0)));
        assert_eq!(miss(&mut memory, 0, Read), (true, Some(3)));
        // 1 is as the NAND has it.
        assert_eq!(miss(&mut memory, 3, Read), (true, None));
        let counts = memory.counts();
        assert_eq!((counts.lookups, counts.misses), (9, 8));
        assert_eq!((counts.reads, counts.write_backs), (4, 4));
        memory.check().expect("sound");
    }

    #[test]
    fn what_has_no_entries_or_loses_them_all_is_not_read() {
        let mut memory = MapMemory::new(4, 1);
        assert_eq!(memory.look_up(0, Read), None);
        assert_eq!(miss(&mut memory, 0, Update), (false, None));
        assert_eq!(miss(&mut memory, 1, Update), (false, Some(0)));
        assert_eq!(miss(&mut memory, 0, Replace), (false, Some(1)));
        memory.empty(0);
        memory.empty(1);
        assert!(memory.is_empty(0) && memory.is_empty(1));
        assert_eq!(miss(&mut memory, 1, Update), (false, None));
        assert_eq!(memory.look_up(0, Read), None);
        memory.clear();
        assert!(memory.is_empty(1));
        memory.check().expect("sound");
    }

    proptest! {
        /// Against a memory that is a list of pages and a map that is a list of versions.
        #[test]
        fn the_nand_always_has_the_version_that_memory_lost(
            slots in 1u32..6, steps in prop::collection::vec((0u32..12, 0u32..4), 1..400),
        ) {
            let mut memory = MapMemory::new(12, slots);
            // By page: the version of its entries (0 for none), in memory and on the NAND.
            let (mut newest, mut stored, mut held) = ([0u32; 12], [0u32; 12], [None; 12]);
            for (page, step) in steps {
                let access = [Read, Update, Replace, Read][step as usize];
                let index = page as usize;
                if step == 3 {
                    memory.empty(page);
                    (newest[index], held[index]) = (0, None);
                    continue;
                }
                let Some(found) = memory.look_up(page, access) else {
                    prop_assert_eq!(newest[index], 0);
                    continue;
                };
                prop_assert_eq!(found.miss.is_none(), held[index].is_some());
                if let Some(miss) = found.miss {
                    if let Some(lost) = miss.write_back {
                        stored[lost as usize] = newest[lost as usize];
                    }
                    for other in held.iter_mut().filter(|other| **other == Some(found.slot)) {
                        *other = None;
                    }
                    if miss.read {
                        prop_assert_eq!(stored[index], newest[index]);
                    } else {
                        prop_assert!(newest[index] == 0 || access == Replace);
                    }
                }
                held[index] = Some(found.slot);
                newest[index] += u32::from(access != Read);
                memory.check().map_err(|wrong| TestCaseError::fail(wrong.to_string()))?;
            }
        }
    }
}
