//! Fragments that lie in more places than they have pieces for: their parts then say where they are. They are
//! one in some hundreds, and each look-up of a part is one more miss of the processor's cache.

use std::ops::Range;

use super::{Fragment, Fragments, NONE, PhysicalUnit, SCATTERED, Target, split};

/// Units of a scattered fragment that lie one behind the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// By slot: it is in this part. Its place is that many behind `at` as slots before it are.
    pub(super) placed: u64,
    pub(super) at: PhysicalUnit,
    /// The next part, or [`NONE`].
    pub(super) more: u32,
}

impl Part {
    fn place(self, bit: u64, weight: u16) -> PhysicalUnit {
        self.at + (self.placed & (bit - 1)).count_ones() * u32::from(weight)
    }
}

/// The parts of a drive's scattered fragments.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    parts: Vec<Part>,
    /// Parts that may be used again, chained through `more`.
    free: u32,
}

impl Parts {
    pub(super) fn none() -> Parts {
        Parts { parts: Vec::new(), free: NONE }
    }

    pub(super) fn get(&self, id: u32) -> Part {
        self.parts[id as usize]
    }

    fn get_mut(&mut self, id: u32) -> &mut Part {
        &mut self.parts[id as usize]
    }

    fn add(&mut self, part: Part) -> u32 {
        if self.free == NONE {
            self.parts.push(part);
            return self.parts.len() as u32 - 1;
        }
        let added = self.free;
        self.free = self.get(added).more;
        *self.get_mut(added) = part;
        added
    }

    fn remove(&mut self, id: u32) {
        self.get_mut(id).more = self.free;
        self.free = id;
    }

    pub(super) fn clear(&mut self) {
        self.parts.clear();
        self.free = NONE;
    }
}

impl Fragments {
    #[cold]
    pub(super) fn place_in_parts(&self, fragment: &Fragment, bit: u64) -> PhysicalUnit {
        let mut part = self.parts.get(fragment.next());
        while part.placed & bit == 0 {
            part = self.parts.get(part.more);
        }
        part.place(bit, fragment.weight)
    }

    /// Makes parts of a fragment's pieces.
    #[cold]
    pub(super) fn scatter(&mut self, id: u32) {
        let mut fragment = self.fragments[id as usize];
        let first = (0..fragment.pieces()).rev().fold(NONE, |more, piece| {
            let placed = fragment.placed & fragment.slots_of(piece);
            self.parts.add(Part { placed, at: fragment.at[piece], more })
        });
        fragment.ends = SCATTERED;
        fragment.set_next(first);
        self.fragments[id as usize] = fragment;
    }

    /// Moves the part of a scattered fragment that comes first at `from`.
    #[cold]
    pub(super) fn move_part(
        &mut self,
        id: u32,
        from: &Range<PhysicalUnit>,
        to: &mut Target,
        arrived: &mut Vec<u32>,
    ) -> bool {
        let fragment = self.fragments[id as usize];
        let Fragment { live, weight, .. } = fragment;
        let head = fragment.next();
        let (mut here, mut before) = (NONE, NONE);
        let (mut next, mut last) = (head, NONE);
        while next != NONE {
            let part = self.parts.get(next);
            if from.contains(&part.at) && (here == NONE || part.at < self.parts.get(here).at) {
                (here, before) = (next, last);
            }
            (next, last) = (part.more, next);
        }
        let part = self.parts.get(here);
        let (fits, rest) = split(part.placed & live, (to.end - to.at) / u32::from(weight));
        match (fits, rest) {
            (0, 0) => self.remove_part(id, here, before),
            (0, _) => {}
            (_, 0) => *self.parts.get_mut(here) = Part { placed: fits, at: to.at, ..part },
            _ => {
                // What is left stays where it is, and is what comes first there.
                let first = rest & rest.wrapping_neg();
                let placed = part.placed & !(first - 1);
                *self.parts.get_mut(here) = Part { placed, at: part.place(first, weight), ..part };
                let moved = Part { placed: fits, at: to.at, more: head };
                let moved = self.parts.add(moved);
                self.fragments[id as usize].set_next(moved);
            }
        }
        if fits != 0 {
            to.at += fits.count_ones() * u32::from(weight);
            arrived.push(id);
        }
        rest == 0
    }

    /// Takes a part that comes behind `before` out of a scattered fragment. With one part left it is
    /// whole again.
    fn remove_part(&mut self, id: u32, part: u32, before: u32) {
        let more = self.parts.get(part).more;
        self.parts.remove(part);
        match before {
            NONE => self.fragments[id as usize].set_next(more),
            before => self.parts.get_mut(before).more = more,
        }
        let fragment = self.fragments[id as usize];
        let only = self.parts.get(fragment.next());
        if only.more == NONE {
            self.parts.remove(fragment.next());
            self.fragments[id as usize] =
                Fragment::whole(fragment.live, only.placed, only.at, fragment.weight);
        }
    }
}
