//! What lies on the SSD: which block is in which slot, and which units of it are there and newer than on the disk.

use std::collections::BTreeSet;

use super::config::{CacheConfig, Replacement};
use super::order::Order;

/// Slots that are looked at for one that may leave. Who finds none does without.
const LOOKED_AT: usize = 64;
/// Blocks of a leaf of the index.
const LEAF: usize = 1024;
/// No slot.
const NONE: u32 = u32::MAX;

/// A place for a block on the SSD. A bit is a unit of 4 KiB.
#[derive(Clone, Copy, Default)]
pub(super) struct Slot {
    pub(super) block: u64,
    /// Units that are there.
    pub(super) valid: u64,
    /// Of these: units that are newer than on the disk.
    pub(super) dirty: u64,
    /// Units on their way here.
    pub(super) arriving: u64,
    /// Jobs that use it: it stays.
    users: u32,
    in_use: bool,
}

/// All slots.
#[derive(Clone)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    most: u32,
    free: Vec<u32>,
    /// Block to slot; leaves are made when a block of theirs is cached first.
    index: Vec<Option<Box<[u32]>>>,
    order: Order,
    /// Blocks with dirty units, and all of those units.
    dirty_blocks: BTreeSet<u64>,
    dirty_units: u64,
    /// Dirty blocks that should leave.
    held_up: BTreeSet<u64>,
    evictions: u64,
}

impl Slots {
    pub(super) fn new(replacement: Replacement, slots: u32, blocks: u64) -> Slots {
        Slots {
            slots: Vec::new(),
            most: slots,
            free: Vec::new(),
            index: vec![None; (blocks / LEAF as u64 + 1) as usize],
            order: Order::new(replacement, slots),
            dirty_blocks: BTreeSet::new(),
            dirty_units: 0,
            held_up: BTreeSet::new(),
            evictions: 0,
        }
    }

    pub(super) fn get(&self, slot: u32) -> &Slot {
        &self.slots[slot as usize]
    }

    pub(super) fn dirty_units(&self) -> u64 {
        self.dirty_units
    }

    /// Slots that hold anything newer than the disk: none of them can leave.
    pub(super) fn dirty_slots(&self) -> u64 {
        self.dirty_blocks.len() as u64
    }

    pub(super) fn evictions(&self) -> u64 {
        self.evictions
    }

    /// The slot of a block.
    pub(super) fn find(&self, block: u64) -> Option<u32> {
        let leaf = self.index[block as usize / LEAF].as_ref()?;
        Some(leaf[block as usize % LEAF]).filter(|&slot| slot != NONE)
    }

    fn set_index(&mut self, block: u64, slot: u32) {
        let leaf = self.index[block as usize / LEAF].get_or_insert_with(|| vec![NONE; LEAF].into());
        leaf[block as usize % LEAF] = slot;
    }

    /// Slots with a block, and which.
    pub(super) fn blocks_in(&self, blocks: std::ops::Range<u64>) -> Vec<(u64, u32)> {
        if blocks.end - blocks.start < self.slots.len() as u64 {
            return blocks.filter_map(|block| Some((block, self.find(block)?))).collect();
        }
        let taken = self.slots.iter().enumerate().filter(|(_, slot)| slot.in_use);
        let inside = taken.filter(|(_, slot)| blocks.contains(&slot.block));
        let mut found: Vec<(u64, u32)> =
            inside.map(|(number, slot)| (slot.block, number as u32)).collect();
        found.sort_unstable();
        found
    }

    /// The slot of a block, which is used again.
    pub(super) fn touch(&mut self, slot: u32) {
        self.order.touch(slot);
    }

    /// A slot for a block that has none; `None` when none may leave now.
    pub(super) fn place(&mut self, block: u64) -> Option<u32> {
        let slot = self.take()?;
        self.put(slot, block);
        self.order.insert(slot, block);
        Some(slot)
    }

    /// Puts a block into a slot of a new cache: all of its units are there, and it counts as used.
    pub(super) fn place_warm(&mut self, slot: u32, block: u64, valid: u64) {
        while self.slots.len() <= slot as usize {
            self.slots.push(Slot::default());
        }
        self.put(slot, block);
        self.order.insert_used(slot);
        self.slots[slot as usize].valid = valid;
    }

    fn put(&mut self, slot: u32, block: u64) {
        self.slots[slot as usize] = Slot { block, in_use: true, ..Slot::default() };
        self.set_index(block, slot);
    }

    fn take(&mut self) -> Option<u32> {
        if let Some(slot) = self.free.pop() {
            return Some(slot);
        }
        if (self.slots.len() as u64) < u64::from(self.most) {
            self.slots.push(Slot::default());
            return Some(self.slots.len() as u32 - 1);
        }
        let mut held_up = Vec::new();
        let may_leave = |&slot: &u32| {
            let it = &self.slots[slot as usize];
            if it.users == 0 && it.dirty != 0 {
                held_up.push(it.block);
            }
            it.users == 0 && it.dirty == 0
        };
        let found = self.order.leaving().take(LOOKED_AT).find(may_leave);
        self.held_up.extend(held_up);
        let slot = found?;
        self.evictions += 1;
        let block = self.slots[slot as usize].block;
        self.order.remove(slot, Some(block));
        self.set_index(block, NONE);
        Some(slot)
    }

    /// A job uses a slot.
    pub(super) fn hold(&mut self, slot: u32) {
        self.slots[slot as usize].users += 1;
    }

    /// A job that used a slot has ended. A slot with nothing in it is free.
    pub(super) fn let_go(&mut self, slot: u32) {
        let it = &mut self.slots[slot as usize];
        it.users -= 1;
        if it.users == 0 && it.valid | it.arriving == 0 {
            it.in_use = false;
            let block = it.block;
            self.order.remove(slot, None);
            self.set_index(block, NONE);
            self.free.push(slot);
        }
    }

    /// Units are on their way.
    pub(super) fn announce(&mut self, slot: u32, units: u64) {
        self.slots[slot as usize].arriving |= units;
    }

    /// They are there, or will not come.
    pub(super) fn arrived(&mut self, slot: u32, units: u64, there: bool) {
        let it = &mut self.slots[slot as usize];
        it.arriving &= !units;
        if there {
            it.valid |= units;
        }
    }

    /// Units are written on the SSD, as new as on the disk or newer.
    pub(super) fn write(&mut self, slot: u32, units: u64, newer: bool) {
        self.slots[slot as usize].valid |= units;
        if newer {
            let it = &mut self.slots[slot as usize];
            self.dirty_units += u64::from((units & !it.dirty).count_ones());
            it.dirty |= units;
            if it.dirty != 0 {
                self.dirty_blocks.insert(it.block);
            }
        }
    }

    /// Units that are on the disk as they are here.
    pub(super) fn clean(&mut self, slot: u32, units: u64) {
        let it = &mut self.slots[slot as usize];
        self.dirty_units -= u64::from((units & it.dirty).count_ones());
        it.dirty &= !units;
        if it.dirty == 0 {
            self.dirty_blocks.remove(&it.block);
            self.held_up.remove(&it.block);
        }
    }

    /// Units are here no more.
    pub(super) fn drop(&mut self, slot: u32, units: u64) {
        self.clean(slot, units);
        self.slots[slot as usize].valid &= !units;
    }

    /// The next block to be written back, none of `under_way`: one that is to leave, else in the order of the disk
    /// from `from` on, round and round.
    pub(super) fn next_dirty(&self, from: u64, all: bool, under_way: &[u64]) -> Option<u64> {
        let free = |block: &&u64| !under_way.contains(block);
        if let Some(&block) = self.held_up.iter().find(free) {
            return Some(block);
        }
        if !all {
            return None;
        }
        let mut around = self.dirty_blocks.range(from..).chain(self.dirty_blocks.range(..from));
        around.find(free).copied()
    }
}

impl CacheConfig {
    /// Bytes of memory that the table of a cache takes, for an SSD of `ssd_bytes` in front of a disk of `disk_bytes`.
    pub fn memory_bytes(&self, ssd_bytes: u64, disk_bytes: u64) -> u64 {
        // A slot and its links; a remembered name for every second one.
        let a_slot = size_of::<Slot>() as u64 + 16 + 24;
        let slots = self.slots(ssd_bytes).unwrap_or(0);
        u64::from(slots) * a_slot + disk_bytes / self.block_bytes.max(1) * 4
    }
}
