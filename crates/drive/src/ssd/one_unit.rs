//! The commands that are about one whole unit, on a drive without optional mechanisms.

use super::costs::CommandCosts;
use super::units::{Grain, in_4k};
use crate::link::Link;
use crate::{Io, Lba, Nanos, SECTOR_BYTES};

/// The commands that are about one whole unit, and what controller and link spend on one.
#[derive(Clone, Copy, Debug)]
pub(super) struct OneUnit {
    /// Their length; 0 if the drive has none, because it has streams, an SLC buffer, compression, a limited
    /// map, a buffer that coalesces or units of several pages.
    pub(super) sectors: u32,
    /// They begin where these bits of the sector's number are 0, and before `end`.
    pub(super) within: u64,
    pub(super) end: u64,
    /// 4 KiB that they touch.
    pub(super) touched_4k: u64,
    pub(super) read: Nanos,
    /// The link's time for the data of a read, without the command's own frames.
    pub(super) data: Nanos,
    pub(super) write: WriteTimes,
}

/// What a write takes of controller and link.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteTimes {
    pub(super) controller: Nanos,
    /// The part of it that is for its data.
    pub(super) handling: Nanos,
    /// With the command's own frames.
    pub(super) link: Nanos,
}

impl OneUnit {
    /// Those of a drive that has none.
    pub(super) const NONE: OneUnit = OneUnit {
        sectors: 0,
        within: 0,
        end: 0,
        touched_4k: 0,
        read: Nanos::ZERO,
        data: Nanos::ZERO,
        write: WriteTimes { controller: Nanos::ZERO, handling: Nanos::ZERO, link: Nanos::ZERO },
    };

    /// Those of a drive of so many sectors, `plain` or not.
    pub(super) fn new(
        plain: bool,
        (grain, drive): (Grain, u64),
        costs: &CommandCosts,
        link: &mut Link,
    ) -> OneUnit {
        let unit = grain.unit_sectors();
        let has_them = plain && grain.pages_per_unit == 1 && drive >= u64::from(unit);
        let touched = in_4k(Io::write(Lba(0), unit));
        let touched_4k = touched.end - touched.start;
        // What is handled in parts goes the long way.
        let has_them = has_them && (touched_4k == 1 || !costs.read_pipelined);
        let handling = Nanos(costs.write_4k.0 * touched_4k);
        let data = link.data(u64::from(unit) * SECTOR_BYTES);
        OneUnit {
            sectors: if has_them { unit } else { 0 },
            within: u64::from(unit) - 1,
            end: if has_them { drive - u64::from(unit) + 1 } else { 0 },
            touched_4k,
            read: costs.read + Nanos(costs.read_4k.0 * touched_4k),
            data,
            write: WriteTimes {
                controller: costs.write + handling,
                handling,
                link: link.frames() + data,
            },
        }
    }
}
