//! The part of a drive that an entry's test uses.

use super::super::entry::Entry;

/// The part of a drive that is written and tested, in parts of 2^16; the rest stays as it left the factory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) struct Used(u32);

const ALL_OF_IT: u32 = 1 << 16;

impl Default for Used {
    fn default() -> Used {
        Used(ALL_OF_IT)
    }
}

impl Used {
    /// The span that an entry names, over its capacity; the whole drive where either is not told.
    pub(super) fn of(entry: &Entry) -> Used {
        let whole = entry.capacity_gb.map(|gb| gb * 1e9);
        let span = super::span_bytes(&entry.test.span);
        let share = span.zip(whole).map_or(1.0, |(span, whole)| span as f64 / whole);
        Used(((share * f64::from(ALL_OF_IT)).round() as u32).clamp(1, ALL_OF_IT))
    }

    /// The bytes of this part of a drive that has `bytes`, in whole MiB.
    pub(in super::super) fn bytes_of(self, bytes: u64) -> u64 {
        match self.0 {
            ALL_OF_IT => bytes,
            part => ((u128::from(bytes) * u128::from(part)) >> 16) as u64 >> 20 << 20,
        }
    }
}
