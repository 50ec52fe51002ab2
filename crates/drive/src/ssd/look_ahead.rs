//! What the host has said it will ask for.

use crate::ftl::{LogicalUnit, Translation};

/// I/Os that are remembered, a power of two.
const REMEMBERED: usize = 64;

/// I/Os between two steps of a look-up in memory. Each step needs what the one before brought into the
/// processor's cache, which takes some hundred nanoseconds.
const STEP: usize = 20;

/// The I/Os of the last hints.
#[derive(Clone, Copy, Debug)]
pub(super) struct LookAhead {
    ios: [Ahead; REMEMBERED],
    /// The place of the next one.
    next: usize,
}

/// An I/O to come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ahead {
    /// The unit it begins with.
    pub(super) unit: LogicalUnit,
    /// It will change what is there.
    pub(super) changes: bool,
}

impl Default for LookAhead {
    fn default() -> LookAhead {
        LookAhead { ios: [Ahead::default(); REMEMBERED], next: 0 }
    }
}

impl LookAhead {
    /// Takes note of I/Os, for each of which it brings the map's entry, the fragment of the one a step
    /// before and what is written when the unit of the one two steps before is overwritten.
    #[inline]
    pub(super) fn hint(&mut self, ftl: &Translation, ios: impl Iterator<Item = Ahead>) {
        for ahead in ios {
            ftl.prefetch_map(ahead.unit);
            self.ios[self.next % REMEMBERED] = ahead;
            ftl.prefetch_fragment(self.before(STEP).unit);
            let last = self.before(2 * STEP);
            if last.changes {
                ftl.prefetch_place(last.unit);
            }
            self.next += 1;
        }
    }

    /// The I/O so many before the latest.
    #[inline]
    fn before(&self, by: usize) -> Ahead {
        self.ios[self.next.wrapping_sub(by) % REMEMBERED]
    }
}
