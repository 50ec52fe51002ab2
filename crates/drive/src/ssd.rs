//! The virtual SSD: link, controller, write buffer, map and NAND put together.
//!
//! There is no event engine. Every resource is a time until which it is busy, and a command walks
//! them to its finish time when it is submitted:
//!
//! ```text
//! write: host -> controller -> link -> write buffer (done) ...> row full: channel -> die
//! read:  host -> controller -> die -> channel -> link (done)
//! ```

use crate::cache::WriteBuffer;
use crate::ftl::{Ftl, LogicalUnit, Placed};
use crate::lane::Lane;
use crate::link::Link;
use crate::nand::Nand;
use crate::profile::{ControllerSection, ProfileError, SsdProfile, UNIT_BYTES};
use crate::queue::Queue;
use crate::read_ahead::ReadAhead;
use crate::{Clock, Done, Fault, FaultCause, Geometry, Io, Nanos, Op, SECTOR_BYTES, Tag, Target};

const UNIT_SECTORS: u64 = UNIT_BYTES / SECTOR_BYTES;

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
    ftl: Ftl,
    buffer: WriteBuffer,
    /// When all of the row being filled is in the buffer: not before the row had space there.
    row_ready: Nanos,
    /// By die and row of its open block: when the row is on the NAND. A read before that is
    /// served from the buffer.
    row_ends: Vec<Nanos>,
    rows_per_block: usize,
    read_ahead: ReadAhead,
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

/// What happened inside a drive since it was made, in units of 4 KiB unless named otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SsdCounters {
    /// Written by the host.
    pub host_units: u64,
    /// Moved by garbage collection.
    pub moved_units: u64,
    /// Left empty in rows that were programmed before they were full.
    pub padded_units: u64,
    /// In rows that are not full yet, and so in the buffer only.
    pub pending_units: u64,
    /// Programmed: host + moved + padded - pending, counted at the NAND.
    pub programmed_units: u64,
    /// Blocks erased (one a plane counts as one).
    pub blocks_erased: u64,
}

impl SsdCounters {
    /// NAND writes over host writes since `before`; `None` when the host wrote nothing.
    pub fn write_amplification_since(&self, before: &SsdCounters) -> Option<f64> {
        let host = self.host_units - before.host_units;
        let nand = host
            + (self.moved_units - before.moved_units)
            + (self.padded_units - before.padded_units);
        (host > 0).then(|| nand as f64 / host as f64)
    }
}

impl Ssd {
    /// A drive as it left the factory: never written, at time zero.
    ///
    /// # Errors
    /// When [`SsdProfile::check`] refuses the profile.
    pub fn new(profile: &SsdProfile) -> Result<Ssd, ProfileError> {
        profile.check()?;
        let ftl = Ftl::new(profile);
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
            nand: Nand::new(&profile.nand),
            buffer: WriteBuffer::new(
                u64::from(profile.buffer.write_kib.value) * 1024,
                u64::from(shape.units_per_row) * UNIT_BYTES,
            ),
            row_ready: Nanos::ZERO,
            row_ends: vec![Nanos::ZERO; rows_per_block * shape.dies as usize],
            rows_per_block,
            read_ahead: ReadAhead::new(profile.controller.read_ahead_kib.value),
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

    /// Waits until all rows that are full are on the NAND. Nothing may be in flight.
    pub fn settle(&mut self) {
        debug_assert!(self.queue.is_idle(), "settling with I/Os in flight");
        self.queue.idle_until(self.buffer.drained(self.queue.now()));
    }

    /// Secure erase: the drive is as new but for its counters and its clock. It takes no time
    /// beyond what the buffer needs to drain, because a block is erased when it is opened, and
    /// that is charged then. Nothing may be in flight.
    pub fn purge(&mut self) {
        self.settle();
        self.ftl.erase_all();
        self.buffer.clear();
        self.read_ahead.clear();
        self.row_ready = Nanos::ZERO;
        self.row_ends.fill(Nanos::ZERO);
    }

    fn write(&mut self, io: Io, arrives: Nanos) -> Nanos {
        let units = units_of(io);
        let handling = Nanos(self.costs.write_unit.0 * u64::from(units.count));
        let handled = self.controller.serve(arrives, self.costs.write + handling);
        let accepted = handled - handling;
        let transfer = self.link.command() + self.link.data(io.bytes());
        let received = self.link_lane.serve_when_ready(arrives, accepted, transfer);
        self.read_ahead.clear();
        // The controller handles the data while the rest of it arrives.
        let mut admitted = received.max(handled);
        for unit in units.iter() {
            if self.ftl.at_row_start() {
                self.row_ready = self.buffer.admit(admitted);
            }
            if units.covers_partly(unit) {
                admitted = admitted.max(self.fetch_unit(unit, accepted));
            }
            // A command that adds to a row waits for the row's space like the one that began it.
            admitted = admitted.max(self.row_ready);
            self.row_ready = admitted;
            let placed = self.ftl.write(unit);
            self.program_if_full(placed, arrives, admitted);
        }
        admitted
    }

    #[inline]
    fn program_if_full(&mut self, placed: Placed, at: Nanos, ready: Nanos) {
        if !placed.row_full {
            return;
        }
        self.nand.chores(placed.die, placed.chores, at, ready);
        let end = self.nand.program(placed.die, at, ready);
        self.buffer.programming_until(end);
        let (_, next_row) = self.ftl.open_row(placed.die);
        self.row_ends[placed.die as usize * self.rows_per_block + next_row as usize - 1] = end;
    }

    fn read(&mut self, io: Io, arrives: Nanos) -> Nanos {
        let units = units_of(io);
        let cost = self.costs.read + Nanos(self.costs.read_unit.0 * u64::from(units.count));
        let accepted = self.controller.serve(arrives, cost);
        // Data crosses the link in order, each part as soon as it and the link are there, and the
        // command's own frames close it.
        let transfer = self.link.command() + self.link.data(io.bytes());
        let mut sent = self.link_lane.backlog_ends(arrives).max(accepted);
        self.link_lane.serve(arrives, transfer);
        let sequential = self.read_ahead.begins(units.first);
        let mut row = RowRead::default();
        let per_unit = Nanos(self.link.data(io.bytes()).0 / u64::from(units.count));
        for unit in units.iter() {
            let ready = match self.read_ahead.take(unit) {
                Some(fetched) => fetched,
                None => self.read_unit(unit, accepted, &mut row),
            };
            sent = sent.max(ready) + per_unit;
        }
        if sequential {
            self.fetch_ahead(units.first + units.count, accepted);
        }
        self.read_ahead.expect(units.first + units.count);
        sent + self.link.command()
    }

    /// When a unit that may share its row's read with the one before it is in the controller.
    #[inline]
    fn read_unit(&mut self, unit: LogicalUnit, at: Nanos, row: &mut RowRead) -> Nanos {
        let shape = self.ftl.shape();
        let Some(place) = self.ftl.find(unit) else {
            // Nothing was ever written there: the map says so, and no NAND is read.
            return at;
        };
        let (die, block, within) = shape.locate(place);
        let (row_in_block, in_row) = shape.row_of(within);
        if self.is_buffered(die, block, row_in_block, at) {
            return at;
        }
        let page = place - within + shape.page_of(within);
        let row_id = place - in_row;
        if row.row != Some(row_id) {
            *row = RowRead { row: Some(row_id), page, ready: self.nand.read(die, at) };
        } else if row.page != page {
            row.page = page;
            row.ready = self.nand.read_more(die, at, row.ready);
        }
        row.ready
    }

    fn fetch_unit(&mut self, unit: LogicalUnit, at: Nanos) -> Nanos {
        self.read_unit(unit, at, &mut RowRead::default())
    }

    /// Whether a row is still in the write buffer at `at`.
    #[inline]
    fn is_buffered(&self, die: u32, block: u32, row: u32, at: Nanos) -> bool {
        let (open_block, open_row) = self.ftl.open_row(die);
        block == open_block
            && (row >= open_row
                || self.row_ends[die as usize * self.rows_per_block + row as usize] > at)
    }

    /// Fetches what a sequential reader will ask for next.
    fn fetch_ahead(&mut self, from: LogicalUnit, at: Nanos) {
        let mut row = RowRead::default();
        let end = from.saturating_add(self.read_ahead.window()).min(self.ftl.user_units());
        for unit in self.read_ahead.fetched_to(from)..end {
            let ready = self.read_unit(unit, at, &mut row);
            self.read_ahead.put(unit, ready);
        }
    }

    fn trim(&mut self, io: Io, arrives: Nanos) -> Nanos {
        let accepted = self.controller.serve(arrives, self.costs.write);
        // Only units that lie within it whole: the rest of a unit may still hold data.
        let first = io.lba.0.div_ceil(UNIT_SECTORS);
        let end = io.end() / UNIT_SECTORS;
        (first..end).for_each(|unit| self.ftl.trim(unit as LogicalUnit));
        self.read_ahead.clear();
        self.link_lane.serve_when_ready(arrives, accepted, self.link.command())
    }

    fn flush(&mut self, arrives: Nanos) -> Nanos {
        let accepted = self.controller.serve(arrives, self.costs.write);
        let answered = self.link_lane.serve_when_ready(arrives, accepted, self.link.command());
        if self.power_loss_protected {
            return answered;
        }
        if let Some(placed) = self.ftl.pad() {
            self.program_if_full(placed, arrives, accepted.max(self.row_ready));
        }
        self.buffer.drained(answered)
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
        self.ftl.prefetch(ahead.iter().map(|io| (io.lba.0 / UNIT_SECTORS) as LogicalUnit));
    }

    fn submit(&mut self, tag: Tag, io: Io) {
        if let Some(cause) = self.geometry.refuses(io) {
            return self.queue.refuse(tag, io, cause);
        }
        let arrives = self.queue.now() + self.host.before;
        let answered = match io.op {
            Op::Read => self.read(io, arrives),
            Op::Write => self.write(io, arrives),
            Op::Trim if !self.trim_supported => {
                return self.queue.refuse(tag, io, FaultCause::Unsupported);
            }
            Op::Trim => self.trim(io, arrives),
            Op::Flush => self.flush(arrives),
        };
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

/// The row that was read last within a command.
#[derive(Clone, Copy, Debug, Default)]
struct RowRead {
    row: Option<u32>,
    page: u32,
    ready: Nanos,
}

/// The units a command touches.
#[derive(Clone, Copy, Debug)]
struct Units {
    first: LogicalUnit,
    count: u32,
    /// The first and the last are touched in part only.
    head_partial: bool,
    tail_partial: bool,
}

#[inline]
fn units_of(io: Io) -> Units {
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
    fn iter(self) -> std::ops::Range<LogicalUnit> {
        self.first..self.first + self.count
    }

    #[inline]
    fn covers_partly(self, unit: LogicalUnit) -> bool {
        (self.head_partial && unit == self.first)
            || (self.tail_partial && unit + 1 == self.first + self.count)
    }
}
