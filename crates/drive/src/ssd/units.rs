//! The units of the map that a command touches.

use std::ops::Range;

use crate::ftl::{LogicalUnit, Shape};
use crate::{Io, Lba, SECTOR_BYTES};

/// Sectors of the 4 KiB that the controller's cost counts by.
const SECTORS_OF_4K: u64 = 4096 / SECTOR_BYTES;

/// How the host's sectors lie in the map's units and the NAND's pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grain {
    /// Sectors of a unit, as a power of two.
    unit_shift: u32,
    /// Sectors of a page, as a power of two, where a unit takes several pages; else of a unit.
    page_shift: u32,
    /// NAND pages that a unit takes.
    pub(super) pages_per_unit: u32,
    /// Sectors of the drive.
    sectors: u64,
}

/// The units a command touches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    pub(super) first: LogicalUnit,
    pub(super) count: u32,
    /// The first and the last are touched in part only.
    head_partial: bool,
    tail_partial: bool,
}

impl Grain {
    pub(super) fn new(shape: Shape, sectors: u64) -> Grain {
        let unit_shift = (u64::from(shape.unit_bytes) / SECTOR_BYTES).ilog2();
        let page_shift = unit_shift - shape.pages_per_unit.ilog2();
        Grain { unit_shift, page_shift, pages_per_unit: shape.pages_per_unit, sectors }
    }

    /// Sectors of a unit.
    pub(super) fn unit_sectors(self) -> u32 {
        1 << self.unit_shift
    }

    #[inline]
    pub(super) fn unit_of(self, lba: Lba) -> LogicalUnit {
        (lba.0 >> self.unit_shift) as LogicalUnit
    }

    /// The units `io` touches, which lies within the drive.
    #[inline]
    pub(super) fn units_of(self, io: Io) -> Units {
        let first = self.unit_of(io.lba);
        let last = self.unit_of(Lba(io.end() - 1));
        Units {
            first,
            count: last - first + 1,
            head_partial: !self.begins_unit(io.lba.0),
            tail_partial: !self.ends_unit(io.end()),
        }
    }

    /// The units that lie within `io` whole.
    pub(super) fn whole_units_of(self, io: Io) -> Range<LogicalUnit> {
        let first = self.unit_of(io.lba) + u32::from(!self.begins_unit(io.lba.0));
        let last = self.unit_of(Lba(io.end() - 1));
        first..last + u32::from(self.ends_unit(io.end()))
    }

    /// Sectors that `units` hold.
    #[inline]
    pub(super) fn sectors_of(self, units: Units) -> u64 {
        u64::from(units.count) << self.unit_shift
    }

    /// NAND pages of `unit` that `io` touches.
    #[inline]
    pub(super) fn pages_touched(self, io: Io, unit: LogicalUnit) -> u32 {
        if self.pages_per_unit == 1 {
            return 1;
        }
        let part = self.part_of(io, unit);
        (((part.end - 1) >> self.page_shift) - (part.start >> self.page_shift) + 1) as u32
    }

    /// NAND pages of `unit` that `io` does not cover whole.
    #[inline]
    pub(super) fn pages_to_keep(self, io: Io, unit: LogicalUnit) -> u32 {
        if self.pages_per_unit == 1 {
            return 1;
        }
        let part = self.part_of(io, unit);
        let first_whole = part.start.div_ceil(1 << self.page_shift);
        let whole = (part.end >> self.page_shift).saturating_sub(first_whole);
        self.pages_per_unit - whole as u32
    }

    /// The sectors of `unit` that `io` touches.
    fn part_of(self, io: Io, unit: LogicalUnit) -> Range<u64> {
        let start = u64::from(unit) << self.unit_shift;
        let end = start + (1 << self.unit_shift);
        start.max(io.lba.0)..end.min(io.end())
    }

    /// What `io` touches of the units before `unit`, which it touches, too.
    pub(super) fn part_before(self, io: Io, unit: LogicalUnit) -> Io {
        let begin = u64::from(unit) << self.unit_shift;
        Io { sectors: begin.saturating_sub(io.lba.0) as u32, ..io }
    }

    /// The unit that begins with or holds the 4 KiB with number `number`.
    #[inline]
    pub(super) fn unit_of_4k(self, number: u64) -> LogicalUnit {
        self.unit_of(Lba(number * SECTORS_OF_4K))
    }

    #[inline]
    fn begins_unit(self, lba: u64) -> bool {
        lba & ((1 << self.unit_shift) - 1) == 0
    }

    /// The drive's last unit ends where the drive does: what may be left of it holds no data.
    #[inline]
    fn ends_unit(self, end: u64) -> bool {
        self.begins_unit(end) || end == self.sectors
    }
}

impl Units {
    pub(super) fn iter(self) -> Range<LogicalUnit> {
        self.first..self.first + self.count
    }

    /// Whether all are touched whole.
    #[inline]
    pub(super) fn are_whole(self) -> bool {
        !(self.head_partial || self.tail_partial)
    }

    /// How many units from `unit` on, one of them, are touched whole; 0 when it is touched in part.
    #[inline]
    pub(super) fn whole_from(self, unit: LogicalUnit) -> u32 {
        let first = self.first + u32::from(self.head_partial);
        let end = self.first + self.count - u32::from(self.tail_partial);
        if unit < first { 0 } else { end.saturating_sub(unit) }
    }
}

/// The numbers of the 4 KiB that a command touches.
#[inline]
pub(super) fn in_4k(io: Io) -> Range<u64> {
    io.lba.0 / SECTORS_OF_4K..io.end().div_ceil(SECTORS_OF_4K)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(lba: u64, sectors: u32) -> Io {
        Io::write(Lba(lba), sectors)
    }

    /// Units of 16 KiB on pages of 8 KiB; the last unit lies in the drive by half.
    const GRAIN: Grain = Grain { unit_shift: 5, page_shift: 4, pages_per_unit: 2, sectors: 1008 };

    #[test]
    fn units_and_how_far_they_are_covered() {
        let units = GRAIN.units_of(io(40, 56));
        assert_eq!(units.iter(), 1..3);
        assert_eq!([1, 2].map(|unit| units.whole_from(unit)), [0, 1]);
        assert_eq!(GRAIN.sectors_of(units), 64);
        assert_eq!(GRAIN.whole_units_of(io(40, 56)), 2..3);
        assert!(GRAIN.whole_units_of(io(33, 30)).is_empty());
        assert_eq!(in_4k(io(40, 56)), 5..12);
        assert_eq!(in_4k(io(7, 2)), 0..2);
    }

    #[test]
    fn pages_of_a_unit() {
        let pages = |lba, sectors| {
            let io = io(lba, sectors);
            (GRAIN.pages_touched(io, 1), GRAIN.pages_to_keep(io, 1))
        };
        assert_eq!(pages(32, 8), (1, 2));
        assert_eq!(pages(32, 16), (1, 1));
        assert_eq!(pages(47, 2), (2, 2));
        assert_eq!(pages(40, 24), (2, 1));
        assert_eq!(pages(0, 1000), (2, 0));
    }

    #[test]
    fn the_end_of_the_drive_ends_a_unit() {
        let units = GRAIN.units_of(io(992, 16));
        assert_eq!(units.whole_from(31), 1);
        assert_eq!(GRAIN.whole_units_of(io(992, 16)), 31..32);
        assert_eq!(GRAIN.units_of(io(992, 15)).whole_from(31), 0);
    }
}
