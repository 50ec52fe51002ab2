//! What the host has said it will ask for.

use crate::ftl::{LogicalUnit, Translation};

/// The I/Os of one hint that are looked at.
const BATCH: usize = 16;

/// Hints whose look-ups in memory are under way: each needs what the step before brought into the
/// processor's cache, so every hint takes the ones before it a step on.
const STEPS: usize = 3;

/// The last hints.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LookAhead {
    hints: [Hint; STEPS],
    /// The place of the last one.
    last: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Hint {
    ios: [Ahead; BATCH],
    len: usize,
}

/// An I/O to come.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ahead {
    /// The unit it begins with.
    pub(super) unit: LogicalUnit,
    /// It will change what is there.
    pub(super) changes: bool,
}

impl LookAhead {
    /// Takes note of I/Os: brings the map's entries of this hint, the fragments of the one before
    /// and what is written when the units of the one before that are overwritten.
    #[inline]
    pub(super) fn hint(&mut self, ftl: &Translation, ios: impl Iterator<Item = Ahead>) {
        let before = self.last;
        self.last = next(before);
        let hint = &mut self.hints[self.last];
        hint.len = 0;
        for ahead in ios.take(BATCH) {
            ftl.prefetch_map(ahead.unit);
            hint.ios[hint.len] = ahead;
            hint.len += 1;
        }
        for ahead in self.hints[before].ios() {
            ftl.prefetch_fragment(ahead.unit);
        }
        for ahead in self.hints[next(self.last)].ios() {
            if ahead.changes {
                ftl.prefetch_place(ahead.unit);
            }
        }
    }
}

impl Hint {
    #[inline]
    fn ios(&self) -> &[Ahead] {
        &self.ios[..self.len]
    }
}

/// The place after this one, in turn.
#[inline]
fn next(place: usize) -> usize {
    if place + 1 == STEPS { 0 } else { place + 1 }
}
