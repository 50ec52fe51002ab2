//! Gathering: few fragments of many that overwriting has made sparse.

use super::super::live::LiveBits;
use super::super::shape::Shape;
use super::{Entry, Fragment, Fragments, NONE, PhysicalUnit, SLOTS, Slot};

/// Entries of the map that [`Fragments::regroup`] looks ahead.
const AHEAD: usize = 32;

impl Fragments {
    /// Makes new fragments of what is live, one for every 64 places that hold something, and points
    /// `map` to them. No place changes. Nothing may be filling any more.
    ///
    /// One pass over the map, which at [`super::GATHER_AT`] times the fewest fragments there can be comes
    /// once in several drive writes at most.
    pub(in super::super) fn regroup(&mut self, map: &mut [Slot], shape: Shape) {
        let (fragments, slots) = self.gathered(&self.live(shape), shape);
        for index in 0..map.len() {
            // The next ones are anywhere in memory.
            if let Some(&ahead) = map.get(index + AHEAD) {
                self.prefetch(ahead);
            }
            let slot = map[index];
            if slot != Slot::NOWHERE {
                map[index] = slots.of(self.place(slot));
            }
        }
        self.replace(fragments);
    }

    /// Makes fragments of what is live in place of all there are. Returns which slot of them each
    /// live place is.
    pub(in super::super) fn of_live(&mut self, live: &LiveBits, shape: Shape) -> SlotsByPlace {
        let (fragments, slots) = self.gathered(live, shape);
        self.replace(fragments);
        slots
    }

    /// One fragment for every 64 places that hold something, listed by their blocks.
    fn gathered(&mut self, live: &LiveBits, shape: Shape) -> (Vec<Fragment>, SlotsByPlace) {
        let mut fragments = Vec::with_capacity(self.most);
        let per_block = shape.units_per_block.div_ceil(SLOTS);
        let mut ids = vec![NONE; (shape.blocks() * per_block) as usize];
        for block in 0..shape.blocks() {
            let list = &mut self.in_block[block as usize];
            list.clear();
            for (index, &live) in (0..).zip(live.of_block(block)) {
                if live != 0 {
                    let id = fragments.len() as u32;
                    let at = block * shape.units_per_block + index * SLOTS;
                    fragments.push(Fragment::whole(live, u64::MAX, at, 1));
                    list.push(id);
                    ids[(block * per_block + index) as usize] = id;
                }
            }
        }
        (fragments, SlotsByPlace { ids, per_block, shape })
    }
}

/// Which slot each live place is, right after gathering.
#[derive(Debug)]
pub(in super::super) struct SlotsByPlace {
    /// By 64 places: their fragment.
    ids: Vec<u32>,
    per_block: u32,
    shape: Shape,
}

impl SlotsByPlace {
    #[inline]
    pub(in super::super) fn of(&self, place: PhysicalUnit) -> Slot {
        let (block, within) = self.shape.block_of(place);
        let id = self.ids[(block * self.per_block + within / SLOTS) as usize];
        Slot::new(id, within % SLOTS)
    }
}
