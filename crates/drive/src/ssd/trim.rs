//! TRIM and the secure erase: four ways to take the one, and the time of the other.

use super::Ssd;
use crate::profile::{Sourced, TrimMode, TrimSection};
use crate::{Fault, Io, Lba, Nanos, Op, Tag, Target};

/// Sectors a range of an ATA DATA SET MANAGEMENT command can have: a count of 16 bits.
const ATA_RANGE_SECTORS: u32 = 65_535;

/// Ranges in one data block of that command, 8 bytes each.
const ATA_RANGES: u32 = 64;

/// What a drive does with a TRIM.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trim {
    pub(super) supported: bool,
    mode: TrimMode,
    range_sectors: u32,
    range: Nanos,
    command: Nanos,
    ns_per_byte: f64,
    pub(super) secure_erase: Nanos,
}

impl Trim {
    pub(super) fn new(section: &TrimSection, pcie: bool) -> Trim {
        let value = |key: &Option<Sourced<f64>>| key.as_ref().map_or(0.0, |it| it.value);
        Trim {
            supported: section.supported.value,
            mode: section.mode.as_ref().map_or(TrimMode::default(), |mode| mode.value),
            // A range of an NVMe Dataset Management command has a length of 32 bits.
            range_sectors: if pcie { u32::MAX } else { ATA_RANGE_SECTORS },
            range: Nanos::from_micros(value(&section.range_us)),
            command: Nanos::from_micros(value(&section.command_us)),
            ns_per_byte: value(&section.us_per_mib) * 1e3 / f64::from(1 << 20),
            secure_erase: Nanos::from_micros(value(&section.secure_erase_s) * 1e6),
        }
    }

    /// How long a blocking one occupies the drive.
    fn blocks_for(&self, io: Io) -> Nanos {
        self.command + Nanos((io.bytes() as f64 * self.ns_per_byte).round() as u64)
    }
}

impl Ssd {
    pub(super) fn trim(&mut self, io: Io, arrives: Nanos) -> Nanos {
        let trim = self.trim;
        let ranges = u64::from(io.sectors.div_ceil(trim.range_sectors));
        let handled = match trim.mode {
            TrimMode::Immediate | TrimMode::Ignored => {
                self.controller.serve(arrives, self.costs.write)
            }
            TrimMode::Queued => {
                let cost = self.costs.write + Nanos(trim.range.0 * ranges);
                self.controller.serve(arrives, cost)
            }
            TrimMode::Blocking => arrives.max(self.answered_until) + trim.blocks_for(io),
        };
        let forgotten = match trim.mode {
            TrimMode::Ignored => handled,
            _ => self.forget(io, handled),
        };
        let answered = self.link.answer(arrives, forgotten);
        if trim.mode == TrimMode::Blocking {
            self.blocked_until = answered;
        }
        answered
    }

    /// Drops what lies within `io` whole: the rest of a unit may still hold data. Returns when the
    /// map is in memory to be told, from `at`.
    fn forget(&mut self, io: Io, at: Nanos) -> Nanos {
        let units = self.grain.whole_units_of(io);
        let mapped = match &mut self.limited_map {
            None => at,
            Some(map) => map.trim(units.clone(), at, &mut self.nand),
        };
        units.for_each(|unit| self.ftl.trim(unit));
        self.read_ahead.clear();
        mapped
    }

    /// TRIMs all of the drive, in commands of 2 GiB one after the other, and waits for them: what a
    /// host does to have a drive as new where it cannot secure erase it. Nothing may be in flight.
    ///
    /// # Errors
    /// The first fault: the drive takes no TRIM.
    pub fn discard_all(&mut self) -> Result<(), Fault> {
        let sectors = self.geometry.sectors;
        // Each range is cut to whole units of the map.
        let range = ATA_RANGE_SECTORS - ATA_RANGE_SECTORS % self.grain.unit_sectors();
        let mut next = 0;
        while next < sectors {
            let piece = (sectors - next).min(u64::from(ATA_RANGES * range)) as u32;
            let io = Io { op: Op::Trim, lba: Lba(next), sectors: piece, ..Io::FLUSH };
            self.submit(Tag(0), io);
            self.reap(Nanos::MAX)?;
            next += u64::from(piece);
        }
        Ok(())
    }
}
