//! What the host has said it will ask for.

use crate::ftl::{LogicalUnit, Translation};

/// I/Os that are remembered, a power of two.
const REMEMBERED: usize = 64;

/// I/Os between two steps of a look-up in memory. Each step needs what the one before brought into the
/// processor's cache, which takes some hundred nanoseconds.
const STEP: usize = 20;

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
    /// Takes note of I/Os, for each of which it brings the map's entry, the fragment of the one a step
    /// before and, if it is scattered, what that of the one two steps before leads to.
    ///
    /// One after the other for all of them: what is asked for may have to be looked up in the page tables,
    /// and the processor does that for as many at a time as are near enough together.
    #[inline]
    pub(super) fn hint(&mut self, ftl: &Translation, units: impl Iterator<Item = LogicalUnit>) {
        let first = self.next;
        for unit in units {
            ftl.prefetch_map(unit);
            self.units[self.next % REMEMBERED] = unit;
            self.next = self.next.wrapping_add(1);
        }
        let count = self.next.wrapping_sub(first);
        for i in 0..count {
            ftl.prefetch_fragment(self.before(first, STEP, i));
        }
        for i in 0..count {
            ftl.prefetch_parts(self.before(first, 2 * STEP, i));
        }
    }

    /// The unit of the I/O so many before the one with number `first` + `i`.
    #[inline]
    fn before(&self, first: usize, by: usize, i: usize) -> LogicalUnit {
        self.units[first.wrapping_add(i).wrapping_sub(by) % REMEMBERED]
    }
}
