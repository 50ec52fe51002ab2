//! Gathering the fragments of a drive that compresses, whose units take several places each, some
//! more than others.
//!
//! Bits of live places do not tell where one unit ends and the next begins. So what is listed of
//! each block is looked through instead, and a fragment is made of neighbours that weigh the same.

use super::super::shape::Shape;
use super::{Entry, Fragment, Fragments, MOST, PhysicalUnit, SLOTS, Slot, most};

/// Where a unit is, and how many places it takes.
pub(in super::super) type Stored = (PhysicalUnit, u16);

/// Fragments in the order of their places.
#[derive(Debug)]
pub(in super::super) struct ByPlace {
    fragments: Vec<Fragment>,
    /// By block: its first fragment. One entry more than there are blocks.
    first: Vec<u32>,
    shape: Shape,
}

impl ByPlace {
    fn new(capacity: usize, shape: Shape) -> ByPlace {
        let mut first = Vec::with_capacity(shape.blocks() as usize + 1);
        first.push(0);
        ByPlace { fragments: Vec::with_capacity(capacity), first, shape }
    }

    /// Makes fragments of the units of the next block, in the order of their places.
    fn add_block(&mut self, units: &[Stored]) {
        let begins = self.first.last().map_or(0, |&first| first as usize);
        for &(place, weight) in units {
            let slot_in = |fragment: &Fragment| {
                let behind = place - fragment.at[0];
                let fits = fragment.weight == weight
                    && behind.is_multiple_of(u32::from(weight))
                    && behind / u32::from(weight) < SLOTS;
                fits.then(|| behind / u32::from(weight))
            };
            let last = self.fragments[begins..].last_mut();
            match last.and_then(|last| slot_in(last).map(|slot| (last, slot))) {
                Some((last, slot)) => last.live |= 1 << slot,
                None => self.fragments.push(Fragment::whole(1, u64::MAX, place, weight)),
            }
        }
        self.first.push(self.fragments.len() as u32);
    }

    /// The fragments of a block.
    fn of_block(&self, block: u32) -> std::ops::Range<u32> {
        self.first[block as usize]..self.first[block as usize + 1]
    }

    /// The slot of a unit at `place`, which is one of those added.
    pub(in super::super) fn slot(&self, place: PhysicalUnit) -> Slot {
        let of_block = self.of_block(self.shape.block_of(place).0);
        let fragments = &self.fragments[of_block.start as usize..of_block.end as usize];
        let index = fragments.partition_point(|fragment| fragment.at[0] <= place) - 1;
        let Fragment { at, weight, .. } = fragments[index];
        Slot::new(of_block.start + index as u32, (place - at[0]) / u32::from(weight))
    }
}

impl Fragments {
    /// Makes new fragments of what is live and points `map` to them, as [`Fragments::regroup`] does.
    pub(in super::super) fn regroup_stored(&mut self, map: &mut [Slot], shape: Shape) {
        let mut gathered = ByPlace::new(self.most, shape);
        let mut units = Vec::new();
        for block in 0..shape.blocks() {
            self.units_of_block(block, shape, &mut units);
            gathered.add_block(&units);
        }
        for entry in map.iter_mut().filter(|entry| **entry != Slot::NOWHERE) {
            *entry = gathered.slot(self.place(*entry));
        }
        self.take_gathered(gathered);
    }

    /// Makes fragments of `units`, in the order of their places, none of which lies in two blocks, in
    /// place of all there are. Returns what the map says of each of `places`.
    pub(in super::super) fn take_stored(
        &mut self,
        units: &[Stored],
        places: impl Iterator<Item = Option<PhysicalUnit>>,
        shape: Shape,
    ) -> Vec<Slot> {
        let mut gathered = ByPlace::new(self.most, shape);
        let mut left = units;
        for block in 0..shape.blocks() {
            let end = (block + 1) * shape.units_per_block;
            let (here, behind) = left.split_at(left.partition_point(|&(place, _)| place < end));
            gathered.add_block(here);
            left = behind;
        }
        let slot_of = |place| gathered.slot(place);
        let map = places.map(|place| place.map_or(Slot::NOWHERE, slot_of)).collect();
        self.take_gathered(gathered);
        map
    }

    /// The live units of a block in the order of their places.
    fn units_of_block(&self, block: u32, shape: Shape, units: &mut Vec<Stored>) {
        units.clear();
        let first = block * shape.units_per_block;
        let here = first..first + shape.units_per_block;
        for &id in &self.in_block[block as usize] {
            let Fragment { mut live, weight, .. } = self.fragments[id as usize];
            while live != 0 {
                let place = self.place(Slot::new(id, live.trailing_zeros()));
                if here.contains(&place) {
                    units.push((place, weight));
                }
                live &= live - 1;
            }
        }
        // A fragment with two parts here is listed twice.
        units.sort_unstable();
        units.dedup();
    }

    fn take_gathered(&mut self, gathered: ByPlace) {
        for (block, list) in (0..).zip(&mut self.in_block) {
            list.clear();
            list.extend(gathered.of_block(block));
        }
        // Where neighbours never weigh the same, gathering leaves a fragment a unit; it is not to be
        // done again at once.
        let least = most(gathered.shape).max(gathered.fragments.len() * 2);
        self.most = least.min(MOST as usize);
        self.replace(gathered.fragments);
    }
}
