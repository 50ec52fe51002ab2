//! The virtual SSD: link, controller, write buffer, map and NAND put together.
//!
//! There is no event engine. Every resource is a time until which it is busy, and a command walks
//! them to its finish time when it is submitted:
//!
//! ```text
//! write: host -> controller -> link -> write buffer (done) ...> row full: channel -> die
//! read:  host -> controller -> die -> channel -> link (done)
//! ```

mod commands;
mod counters;
mod idle;
mod in_order;
mod look_ahead;
mod units;
mod wear;

use crate::cache::WriteBuffer;
use crate::ftl::{LogicalUnit, MergeCounts, STREAMS, Translation};
use crate::lane::Lane;
use crate::link::Link;
use crate::nand::Nand;
use crate::profile::{ControllerSection, ProfileError, SsdProfile, UNIT_BYTES};
use crate::queue::Queue;
use crate::read_ahead::ReadAhead;
use crate::{
    Clock, Done, Fault, FaultCause, Geometry, Io, Lba, Nanos, Op, SECTOR_BYTES, Tag, Target,
};
use idle::IdleTime;
use in_order::InOrder;
use look_ahead::LookAhead;
use units::UNIT_SECTORS;

pub use counters::SsdCounters;
pub use wear::Wear;

/// A virtual SSD.
#[derive(Clone, Debug)]
pub struct Ssd {
    geometry: Geometry,
    raw_bytes: u64,
    trim_supported: bool,
    power_loss_protected: bool,
    host: HostCost,
    costs: CommandCosts,
    link: Link,
    link_lane: Lane,
    controller: Lane,
    nand: Nand,
    ftl: Translation,
    buffer: WriteBuffer,
    /// By stream: when all of the row being filled is in the buffer, not before the row had space
    /// there.
    row_ready: [Nanos; STREAMS],
    /// By stream, die and row of its open block: when the row is on the NAND. A read before that is
    /// served from the buffer.
    row_ends: Vec<Nanos>,
    rows_per_block: usize,
    read_ahead: ReadAhead,
    look_ahead: LookAhead,
    /// What it does with idle time, if anything.
    idle: Option<IdleTime>,
    /// Whether the host writes in order, where that matters.
    in_order: Option<InOrder>,
    queue: Queue,
}

/// The host's time before a command reaches the drive and after it left.
#[derive(Clone, Copy, Debug)]
struct HostCost {
    before: Nanos,
    after: Nanos,
}

/// What the controller spends on a command.
#[derive(Clone, Copy, Debug)]
struct CommandCosts {
    read: Nanos,
    write: Nanos,
    read_unit: Nanos,
    write_unit: Nanos,
}

impl Ssd {
    /// A drive as it left the factory: never written, at time zero.
    ///
    /// # Errors
    /// When [`SsdProfile::check`] refuses the profile.
    pub fn new(profile: &SsdProfile) -> Result<Ssd, ProfileError> {
        profile.check()?;
        let ftl = Translation::new(profile);
        let open_rows = if ftl.has_streams() { STREAMS } else { 1 };
        let shape = ftl.shape();
        let rows_per_block = (shape.units_per_block / shape.units_per_row) as usize;
        let host = Nanos::from_micros(profile.host.command_us.value);
        let geometry = Geometry {
            sectors: profile.capacity.sectors.value,
            logical_block_bytes: SECTOR_BYTES as u32,
            queue_depth: profile.capacity.queue_depth.value,
        };
        Ok(Ssd {
            geometry,
            raw_bytes: profile.raw_bytes(),
            trim_supported: profile.trim.supported.value,
            power_loss_protected: profile.buffer.power_loss_protected.value,
            host: HostCost { before: Nanos(host.0 / 2), after: Nanos(host.0 - host.0 / 2) },
            costs: CommandCosts::new(&profile.controller),
            link: Link::new(&profile.link),
            link_lane: Lane::default(),
            controller: Lane::default(),
            nand: Nand::new(profile),
            buffer: WriteBuffer::new(
                u64::from(profile.buffer.write_kib.value) * 1024,
                u64::from(shape.units_per_row) * UNIT_BYTES,
                open_rows,
            ),
            row_ready: [Nanos::ZERO; STREAMS],
            row_ends: vec![Nanos::ZERO; rows_per_block * shape.dies as usize * open_rows],
            rows_per_block,
            read_ahead: ReadAhead::new(profile.controller.read_ahead_kib.value),
            look_ahead: LookAhead::default(),
            idle: IdleTime::new(&profile.gc),
            in_order: InOrder::new(&profile.gc),
            queue: Queue::with_depth(geometry.queue_depth),
            ftl,
        })
    }

    /// What happened inside since the drive was made.
    pub fn counters(&self) -> SsdCounters {
        let ftl = self.ftl.counts();
        let nand = self.nand.counts();
        SsdCounters {
            host_units: ftl.host_units,
            moved_units: ftl.moved_units,
            padded_units: ftl.padded_units,
            pending_units: self.ftl.pending_units(),
            programmed_units: nand.rows_programmed * u64::from(self.ftl.shape().units_per_row),
            blocks_erased: nand.blocks_erased,
        }
    }

    /// Merges since the drive was made; `None` for a drive that maps by page.
    pub fn merges(&self) -> Option<MergeCounts> {
        self.ftl.merges()
    }

    /// Raw NAND beyond the user's space over the user's space: what a data sheet allows to infer.
    pub fn nameplate_op(&self) -> f64 {
        self.raw_bytes as f64 / self.geometry.bytes() as f64 - 1.0
    }

    /// The same without what is kept free, in free blocks and in open ones (half full on average):
    /// what collection has to work with.
    pub fn effective_op(&self) -> f64 {
        self.ftl.usable_units() as f64 / f64::from(self.ftl.user_units()) - 1.0
    }

    /// Walks the whole map: every mapped unit is where the map says, no place holds two, and every
    /// block counts its valid units right. For tests; takes a second for 256 GB.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check_map(&self) -> Result<(), String> {
        self.ftl.check()
    }

    /// Whether the 4 KiB that hold a sector were written and not trimmed or purged since. Beyond
    /// the drive nothing is.
    pub fn is_mapped(&self, lba: Lba) -> bool {
        lba.0 < self.geometry.sectors
            && self.ftl.find((lba.0 / UNIT_SECTORS) as LogicalUnit).is_some()
    }

    /// Waits until all rows that are full are on the NAND. Nothing may be in flight.
    pub fn settle(&mut self) {
        debug_assert!(self.queue.is_idle(), "settling with I/Os in flight");
        self.queue.idle_until(self.buffer.drained(self.queue.now()));
    }

    /// Secure erase: the drive is as new but for its counters and its clock. It takes no time
    /// beyond what the buffer needs to drain, because a block is erased when it is opened, and
    /// that is charged then. Blocks stay as worn as they are, and a read-only drive stays as it is.
    /// Nothing may be in flight.
    pub fn purge(&mut self) {
        self.settle();
        if self.is_read_only() {
            return;
        }
        self.ftl.erase_all();
        self.buffer.clear();
        self.read_ahead.clear();
        self.row_ready = [Nanos::ZERO; STREAMS];
        self.row_ends.fill(Nanos::ZERO);
    }
}

impl Target for Ssd {
    const CLOCK: Clock = Clock::Virtual;

    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn now(&self) -> Nanos {
        self.queue.now()
    }

    fn hint(&mut self, ahead: &[Io]) {
        let units = ahead.iter().map(|io| (io.lba.0 / UNIT_SECTORS) as LogicalUnit);
        self.look_ahead.hint(&self.ftl, units);
    }

    fn submit(&mut self, tag: Tag, io: Io) {
        if let Some(cause) = self.geometry.refuses(io) {
            return self.queue.refuse(tag, io, cause);
        }
        let arrives = self.queue.now() + self.host.before;
        if let Some(idle) = self.idle {
            self.collect_while_idle(idle, arrives);
        }
        let answered = match io.op {
            Op::Read => Ok(self.read(io, arrives)),
            Op::Flush => Ok(self.flush(arrives)),
            Op::Trim if !self.trim_supported => Err(FaultCause::Unsupported),
            Op::Write | Op::Trim if self.is_read_only() => Err(FaultCause::WornOut),
            Op::Write => self.write(io, arrives).ok_or(FaultCause::WornOut),
            Op::Trim => Ok(self.trim(io, arrives)),
        };
        let answered = match answered {
            Ok(answered) => answered,
            Err(cause) => return self.queue.refuse(tag, io, cause),
        };
        if let Some(idle) = &mut self.idle {
            idle.answered(answered);
        }
        self.queue.finish(tag, answered + self.host.after);
    }

    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        self.queue.reap(until)
    }
}

impl CommandCosts {
    fn new(section: &ControllerSection) -> CommandCosts {
        CommandCosts {
            read: Nanos::from_micros(section.read_command_us.value),
            write: Nanos::from_micros(section.write_command_us.value),
            read_unit: Nanos::from_micros(section.read_4k_us.value),
            write_unit: Nanos::from_micros(section.write_4k_us.value),
        }
    }
}
