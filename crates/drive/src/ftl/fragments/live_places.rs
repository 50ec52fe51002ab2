//! Which places of a block the map leads to, told from the fragments that lie there. Nothing keeps them:
//! an overwrite would have to look after a bit anywhere in memory.

use std::ops::Range;

use super::super::live::{self, LiveBits};
use super::super::shape::Shape;
use super::{Fragment, Fragments, NONE, PhysicalUnit, SCATTERED, WHOLE};

impl Fragments {
    /// Sets the bits of what is live in `block`, whose places are `here`.
    pub(in super::super) fn note_live(
        &self,
        block: u32,
        here: &Range<PhysicalUnit>,
        bits: &mut [u64],
    ) {
        for &id in &self.in_block[block as usize] {
            let fragment = &self.fragments[id as usize];
            if fragment.ends == WHOLE && fragment.weight == 1 {
                // What is in one place is here.
                if fragment.live != 0 {
                    let live = packed(fragment.live, fragment.placed);
                    live::add(bits, fragment.at[0] - here.start, live);
                }
                continue;
            }
            let mut note = |slots: u64, at: PhysicalUnit| {
                if fragment.live & slots != 0 && here.contains(&at) {
                    fragment.note_live(slots, at - here.start, bits);
                }
            };
            if fragment.ends == SCATTERED {
                let mut next = fragment.next();
                while next != NONE {
                    let part = self.parts.get(next);
                    note(part.placed, part.at);
                    next = part.more;
                }
            } else {
                for piece in 0..fragment.pieces() {
                    note(fragment.placed & fragment.slots_of(piece), fragment.at[piece]);
                }
            }
        }
    }

    /// What of the drive's blocks is live.
    pub(in super::super) fn live(&self, shape: Shape) -> LiveBits {
        let mut live = LiveBits::none(shape);
        for block in 0..shape.blocks() {
            if block + 1 < shape.blocks() {
                self.prefetch_block(block + 1);
            }
            self.note_live(block, &shape.places_of(block), live.of_block_mut(block));
        }
        live
    }
}

impl Fragment {
    /// Sets the bits of what is live of some of its slots, which lie one behind the other from `within`
    /// on.
    #[inline]
    fn note_live(&self, placed: u64, within: u32, bits: &mut [u64]) {
        if self.weight == 1 {
            return live::add(bits, within, packed(self.live & placed, placed));
        }
        let weight = u32::from(self.weight);
        let mut left = self.live & placed;
        while left != 0 {
            let lowest = left & left.wrapping_neg();
            let before = (placed & (lowest - 1)).count_ones();
            live::set_range(bits, within + before * weight, weight);
            left &= left - 1;
        }
    }
}

/// The bits of `mask` that are in `places`, moved together to the lowest.
#[inline]
fn packed(mask: u64, places: u64) -> u64 {
    if places == u64::MAX {
        return mask;
    }
    let mut packed = !(u64::MAX.checked_shl(places.count_ones()).unwrap_or(0));
    // Mostly few are missing.
    let mut missing = places & !mask;
    while missing != 0 {
        let lowest = missing & missing.wrapping_neg();
        packed &= !(1 << (places & (lowest - 1)).count_ones());
        missing ^= lowest;
    }
    packed
}
