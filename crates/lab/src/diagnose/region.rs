//! The part of a target that detectors write in order once and read then.

use fourcorners_drive::{Geometry, Target};
use fourcorners_record::diagnosis::Series;

pub(super) use super::probe::UNIT;
use super::probe::{Probe, Stopped};

const MIB: u64 = 1 << 20;

/// A range of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Region {
    /// First byte.
    pub(super) start: u64,
    /// How long it is.
    pub(super) bytes: u64,
}

/// Bytes of the region of a target of this capacity.
pub(crate) fn bytes_of(capacity: u64) -> u64 {
    (capacity / 40).min(4 << 30) / MIB * MIB
}

impl Region {
    /// A fortieth of the target from its beginning, 4 GiB at most; none of a target that is too small.
    pub(super) fn of(geometry: Geometry) -> Option<Region> {
        let bytes = bytes_of(geometry.bytes());
        (bytes >= 16 * MIB).then_some(Region { start: 0, bytes })
    }

    /// Units of 4 KiB in it.
    pub(super) fn units(self) -> u64 {
        self.bytes / UNIT
    }
}

/// Writes it in order, from the beginning of a row on: a flush ends the row that was begun before.
pub(super) fn write<T: Target>(
    probe: &mut Probe<'_, T>,
    region: Region,
) -> Result<Vec<Series>, Stopped> {
    probe.flush()?;
    probe.write_in_order(region.start, region.bytes, (128 << 10, 1), u64::MAX)?;
    probe.flush()?;
    Ok(Vec::new())
}
