//! What the host has said it will ask for.

use crate::ftl::{LogicalUnit, Translation};

/// I/Os that are remembered, a power of two.
const REMEMBERED: usize = 64;

/// I/Os between the two steps of a look-up in memory. The second needs what the first brought into the
/// processor's cache, which takes some hundred nanoseconds.
const STEP: usize = 24;

/// The units that the I/Os of the last hints begin with.
#[derive(Clone, Copy, Debug)]
pub(super) struct LookAhead {
    units: [LogicalUnit; REMEMBERED],
    /// The place of the next one.
    next: usize,
}

impl Default for LookAhead {
    fn default() -> LookAhead {
        LookAhead { units: [0; REMEMBERED], next: 0 }
    }
}

impl LookAhead {
    /// Takes note of I/Os by the unit each begins with. For each it brings the map's entry and, for the one
    /// a step before, the fragment that leads to. The few that are scattered are not worth a third
    /// step, which every I/O would pay for.
    ///
    /// One after the other for all of them: what is asked for may have to be looked up in the page tables,
    /// and the processor does that for as many at a time as are near enough together.
    #[inline]
    pub(super) fn hint(&mut self, ftl: &Translation, units: impl Iterator<Item = LogicalUnit>) {
        let map = match ftl {
            Translation::PageMap(map) => map,
            Translation::LogBlock(map) => return units.for_each(|unit| map.prefetch(unit)),
        };
        let (first, mut next) = (self.next, self.next);
        for unit in units {
            map.prefetch_map(unit);
            self.units[next % REMEMBERED] = unit;
            next = next.wrapping_add(1);
        }
        self.next = next;
        let mut before = first.wrapping_sub(STEP);
        while before != next.wrapping_sub(STEP) {
            map.prefetch_fragment(self.units[before % REMEMBERED]);
            before = before.wrapping_add(1);
        }
    }
}
