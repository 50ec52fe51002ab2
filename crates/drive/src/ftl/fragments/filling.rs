//! Fragments being filled: units written one after the other take the next slots of one, and the map
//! points to those.

use super::{Entry, Fragment, Fragments, NONE, PhysicalUnit, SLOTS, Slot, ones};

/// A fragment that is being filled, place after place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) struct Filling {
    fragment: u32,
    slots: u32,
    weight: u16,
}

impl Filling {
    /// None yet: the next unit begins a fragment.
    pub(in super::super) const NONE: Filling = Filling { fragment: NONE, slots: SLOTS, weight: 1 };
}

impl Default for Filling {
    fn default() -> Filling {
        Filling::NONE
    }
}

impl Fragments {
    /// Adds the units of `entries` of the map, each of `weight` places, written from `place` on,
    /// which lies in `block` and behind the unit added last.
    pub(in super::super) fn append(
        &mut self,
        filling: &mut Filling,
        block: u32,
        place: PhysicalUnit,
        entries: &mut [Slot],
        weight: u16,
    ) {
        let (mut place, mut entries) = (place, entries);
        if filling.weight != weight {
            *filling = Filling { weight, ..Filling::NONE };
        }
        while !entries.is_empty() {
            if filling.slots == SLOTS {
                // All its places are known; slots that will never be written are never asked for.
                let fragment = self.add(Fragment::whole(0, u64::MAX, place, weight));
                *filling = Filling { fragment, slots: 0, weight };
                self.in_block[block as usize].push(filling.fragment);
            }
            let count = (SLOTS - filling.slots).min(entries.len() as u32);
            self.fragments[filling.fragment as usize].live |= ones(count) << filling.slots;
            let (now, later) = entries.split_at_mut(count as usize);
            fill_slots(now, Slot::new(filling.fragment, filling.slots));
            filling.slots += count;
            place += count * u32::from(weight);
            entries = later;
        }
    }

    /// The slot of a unit that takes one place, behind the unit added last; `None` if a fragment is to be begun
    /// for it.
    #[inline(always)]
    pub(in super::super) fn fill_one(&mut self, filling: &mut Filling) -> Option<Slot> {
        let Filling { fragment, slots, .. } = *filling;
        if slots == SLOTS {
            return None;
        }
        self.fragments[fragment as usize].live |= 1 << (slots % SLOTS);
        filling.slots = slots + 1;
        Some(Slot::new(fragment, slots))
    }

    /// The same of some units that take one place each; false if a fragment is to be begun for one of them.
    #[inline(always)]
    pub(in super::super) fn fill_some(
        &mut self,
        filling: &mut Filling,
        entries: &mut [Slot],
    ) -> bool {
        let Filling { fragment, slots, .. } = *filling;
        let count = entries.len() as u32;
        if count > SLOTS - slots || count == 0 {
            return false;
        }
        self.fragments[fragment as usize].live |= ones(count) << slots;
        let first = Slot::new(fragment, slots);
        match entries.first_chunk_mut::<4>() {
            Some(four) if count == 4 => fill_slots(four, first),
            _ => fill_slots(entries, first),
        }
        filling.slots = slots + count;
        true
    }
}

/// Points entries of the map to the slots of a fragment from `first` on.
#[inline]
fn fill_slots(entries: &mut [Slot], first: Slot) {
    // Rows have a few units: what a compiler makes of a loop over any number is for many.
    let (fours, rest) = entries.as_chunks_mut::<4>();
    let mut next = first.bits();
    for four in fours {
        *four = [0, 1, 2, 3].map(|by| Slot::numbered(next + by));
        next += 4;
    }
    for entry in rest {
        *entry = Slot::numbered(next);
        next += 1;
    }
}
