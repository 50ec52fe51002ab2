//! TRIM and the secure erase: four ways to take the one, and the time of the other.

use std::ops::Range;

use super::Ssd;
use super::deferred::Deferred;
use crate::config::{TrimMode, TrimSection};
use crate::ftl::LogicalUnit;
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
    /// Of 2^32 units, how many it frees.
    frees: u64,
    pub(super) secure_erase: Nanos,
}

impl Trim {
    pub(super) fn new(section: &TrimSection, pcie: bool) -> Trim {
        let value = |key: Option<f64>| key.unwrap_or(0.0);
        Trim {
            supported: section.supported,
            mode: section.mode.unwrap_or_default(),
            // A range of an NVMe Dataset Management command has a length of 32 bits.
            range_sectors: if pcie { u32::MAX } else { ATA_RANGE_SECTORS },
            range: Nanos::from_micros(value(section.range_us)),
            command: Nanos::from_micros(value(section.command_us)),
            ns_per_byte: value(section.us_per_mib) * 1e3 / f64::from(1 << 20),
            frees: section
                .partial_percent
                .map_or(1 << 32, |percent| (percent / 100.0 * (1_u64 << 32) as f64).round() as u64),
            secure_erase: Nanos::from_micros(value(section.secure_erase_s) * 1e6),
        }
    }

    /// What there is to remember of a TRIM that takes effect later, if it does.
    pub(super) fn deferred(section: &TrimSection) -> Option<Box<Deferred>> {
        let seconds = section.deferred_s.unwrap_or(0.0);
        let wait = Nanos::from_micros(seconds * 1e6);
        (wait > Nanos::ZERO).then(|| Box::new(Deferred::new(wait)))
    }

    /// Whether a TRIM frees a unit. Fibonacci hashing: those it frees lie as evenly as any of their
    /// number can.
    pub(super) fn frees(&self, unit: LogicalUnit) -> bool {
        u64::from(unit.wrapping_mul(0x9e37_79b9)) < self.frees
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
        let units = self.grain.whole_units_of(io);
        let forgotten = match (trim.mode, &mut self.deferred) {
            (TrimMode::Ignored, _) => handled,
            (_, Some(deferred)) => {
                deferred.add(units, handled);
                handled
            }
            (_, None) => self.forget(units, handled),
        };
        let answered = self.link.answer(arrives, forgotten);
        if trim.mode == TrimMode::Blocking {
            self.blocked_until = answered;
        }
        answered
    }

    /// Drops units, whole ones only: the rest of one may still hold data. Returns when the map is in
    /// memory to be told, from `at`.
    fn forget(&mut self, units: Range<LogicalUnit>, at: Nanos) -> Nanos {
        let mapped = match &mut self.limited_map {
            None => at,
            Some(map) => map.trim(units.clone(), at, &mut self.nand),
        };
        let trim = self.trim;
        units.filter(|&unit| trim.frees(unit)).for_each(|unit| self.ftl.trim(unit));
        self.ftl.retry_slc();
        self.read_ahead.clear();
        mapped
    }

    /// Whether the time is over after which a unit is forgotten.
    pub(super) fn is_due(&self, unit: LogicalUnit) -> bool {
        let now = self.queue.now();
        self.deferred.as_ref().is_some_and(|deferred| deferred.is_due(unit, now))
    }

    /// Before a command that comes at `arrives`: what was to be forgotten by then is, and what the
    /// command writes is not to be forgotten any more.
    pub(super) fn forget_what_is_due(&mut self, io: Io, arrives: Nanos) {
        while let Some((due, ranges)) =
            self.deferred.as_mut().and_then(|deferred| deferred.take_due(arrives))
        {
            for units in ranges {
                self.forget(units, due);
            }
        }
        if let Some(deferred) = &mut self.deferred
            && io.op == Op::Write
            && io.sectors > 0
        {
            let units = self.grain.units_of(io);
            deferred.keep(units.first..units.first + units.count);
        }
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
            let io = Io::trim(Lba(next), piece);
            self.submit(Tag(0), io);
            self.reap(Nanos::MAX)?;
            next += u64::from(piece);
        }
        Ok(())
    }
}
