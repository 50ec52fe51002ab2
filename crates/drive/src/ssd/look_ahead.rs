//! What the host has said it will ask for.

use crate::ftl::{LogicalUnit, PrefetchStep, Translation};

/// The I/Os of one hint that are looked at.
const BATCH: usize = 16;

/// The hints before the last one: their look-ups in memory go on, a step a hint.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LookAhead {
    before: Batch,
    before_that: Batch,
}

#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    units: [LogicalUnit; BATCH],
    len: usize,
    /// By place in `units`, a bit: it will be changed.
    changed: u32,
}

impl Batch {
    fn iter(&self) -> impl Iterator<Item = LogicalUnit> + '_ {
        self.units[..self.len].iter().copied()
    }

    fn changed(&self) -> impl Iterator<Item = LogicalUnit> + '_ {
        (0..self.len).filter(|index| self.changed & 1 << index != 0).map(|index| self.units[index])
    }
}

impl LookAhead {
    /// Takes note of I/Os that begin at these units, and of which of them change what is there.
    #[inline]
    pub(super) fn hint(
        &mut self,
        ftl: &Translation,
        units: impl Iterator<Item = (LogicalUnit, bool)>,
    ) {
        let mut batch = Batch::default();
        for (unit, changed) in units.take(BATCH) {
            batch.units[batch.len] = unit;
            batch.changed |= u32::from(changed) << batch.len;
            batch.len += 1;
        }
        ftl.prefetch(batch.iter(), PrefetchStep::Map);
        ftl.prefetch(self.before.iter(), PrefetchStep::Fragment);
        ftl.prefetch(self.before_that.changed(), PrefetchStep::Place);
        self.before_that = self.before;
        self.before = batch;
    }
}
