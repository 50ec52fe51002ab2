//! The units of the map that a command touches.

use crate::ftl::LogicalUnit;
use crate::profile::UNIT_BYTES;
use crate::{Io, SECTOR_BYTES};

/// Sectors of a unit.
pub(super) const UNIT_SECTORS: u64 = UNIT_BYTES / SECTOR_BYTES;

/// The units a command touches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    pub(super) first: LogicalUnit,
    pub(super) count: u32,
    /// The first and the last are touched in part only.
    head_partial: bool,
    tail_partial: bool,
}

/// The units `io` touches.
#[inline]
pub(super) fn units_of(io: Io) -> Units {
    let first = io.lba.0 / UNIT_SECTORS;
    let last = (io.end() - 1) / UNIT_SECTORS;
    Units {
        first: first as LogicalUnit,
        count: (last - first + 1) as u32,
        head_partial: !io.lba.0.is_multiple_of(UNIT_SECTORS),
        tail_partial: !io.end().is_multiple_of(UNIT_SECTORS),
    }
}

impl Units {
    pub(super) fn iter(self) -> std::ops::Range<LogicalUnit> {
        self.first..self.first + self.count
    }

    #[inline]
    pub(super) fn covers_partly(self, unit: LogicalUnit) -> bool {
        (self.head_partial && unit == self.first)
            || (self.tail_partial && unit + 1 == self.first + self.count)
    }
}
