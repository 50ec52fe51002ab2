//! The virtual SSD: link, controller, write buffer, map and NAND put together.
//!
//! There is no event engine. Every resource is a time until which it is busy, and a command walks
//! them to its finish time when it is submitted:
//!
//! ```text
//! write: host -> controller -> link -> write buffer (done) ...> row full: channel -> die
//! read:  host -> controller -> die -> channel -> link (done)
//! ```
//!
//! - **Lanes** (link, controller, channels) are charged in the order of submission; a command waits for
//!   the backlog it finds ([`crate::lane`] says why).
//! - **A row**, one page on every plane of a die, is the unit of programming. Host data fills row after
//!   row, die after die. Rows leave the write buffer in order, so a die that erases or collects delays
//!   the host as soon as the buffer is full. This causes the longest latencies.
//! - **Reads go ahead of waiting programs**, but not of the operation in progress.
//! - **Links**: SATA is one lane for both directions. PCIe has a lane each way; a packet costs 24 bytes
//!   besides its payload, and a command costs its queue entries, doorbells and interrupt. A host controller
//!   (`--host`, `[upstream]`) does not store and forward: data takes the time of the slower link. `--host`
//!   changes the drive's TOML before `--set` does, so values, sources and the profile's hash are those of
//!   the run.
//! - **Force unit access** programs the row in which a write ends, padded, and answers when the whole write
//!   is on the NAND. With power-loss protection it answers at once.
//! - **TRIM** (`trim.mode`) is instant, queued (controller time per range), blocking (it waits for all
//!   commands before it and holds back all commands after it) or ignored. A secure erase ([`Ssd::purge`])
//!   takes `trim.secure_erase_s`; [`Ssd::discard_all`] does the same by TRIM.
//! - **Erase before use**: a block is erased when it is opened, not when it is emptied, on a new and on a
//!   purged drive, too. A purge itself therefore takes no time.
//! - **Over-provisioning**: nameplate is raw over user space. Effective leaves out the space each die keeps
//!   free in whole blocks (`gc.start_free_blocks`) and its two open blocks, which are half full on average:
//!   one block more. Write amplification follows the effective value to within 0.5 % of theory, even on
//!   drives of 250 blocks. Space that the host never writes, and a smaller `capacity.sectors`, are spare
//!   area to collection.
//! - **Counters** ([`SsdCounters`]) are in 4 KiB units. `host_sectors` counts the host's own writes,
//!   `rmw_sectors` the rest of units that were written along with them.
//! - **Variation** (`[variation]`, `variation.rs`): factors on the times of flash, host and firmware. They are
//!   put on where a time is used, after the resource is chosen, so that both paths have them.
//! - **Optional mechanisms**, and what each leaves out, are in `docs/MECHANISMS.md`. A drive without a
//!   section behaves, to the bit, as if the mechanism did not exist. A drive whose map and buffer have none of
//!   them takes a short path for whole units (`ssd/plain.rs`, `ftl/plain.rs`). A change of common behaviour has
//!   to be made in both paths.
//!
//! `tests/reference/` is the same drive in plain code and decides what is right; `tests/theory/` holds
//! the model against closed forms, fixed points and queueing tables.

mod assembly;
mod checkpoint;
mod command_slots;
mod commands;
mod compression;
mod costs;
mod counters;
mod deferred;
mod heat;
mod idle;
mod in_order;
mod limited_map;
mod look_ahead;
mod one_unit;
mod persistence;
mod plain;
mod processes;
mod state;
mod submit;
mod tracking;
mod trim;
mod units;
mod wear;
mod write_limit;

use crate::consistency::Inconsistency;
use serde::{Deserialize, Serialize};

use crate::cache::WriteBuffer;
use crate::config::CompressionSection;
use crate::energy::{SsdEnergy, SsdMeter};
use crate::ftl::{FRONTS, MergeCounts, Translation};
use crate::heat::Heat;
use crate::lane::Lane;
use crate::link::Link;
use crate::nand::Nand;
use crate::queue::Queue;
use crate::read_ahead::ReadAhead;
use crate::variation::CommandVariation;
use crate::{Clock, Done, Fault, Geometry, Io, Lba, Nanos, Op, Tag, Target};
use checkpoint::Checkpoint;
use command_slots::CommandSlots;
use costs::{CommandCosts, HostCost};
use deferred::Deferred;
use idle::IdleTime;
use in_order::InOrder;
use limited_map::LimitedMap;
use look_ahead::LookAhead;
use one_unit::OneUnit;
use persistence::Persistence;
use processes::Processes;
use trim::Trim;
use units::Grain;
use write_limit::WriteLimit;

pub use counters::SsdCounters;
pub use persistence::{Persisted, RowProgram};
pub use state::SsdState;
pub use wear::Wear;

/// A virtual SSD.
#[derive(Clone, Debug)]
pub struct Ssd {
    geometry: Geometry,
    grain: Grain,
    raw_bytes: u64,
    trim: Trim,
    power_loss_protected: bool,
    /// Whether every write has to be safe before it is answered: the volatile write cache is off.
    writes_sync: bool,
    /// Whether that means to be on the NAND.
    writes_through: bool,
    /// Whether the write buffer coalesces.
    coalesces: bool,
    /// Whether writes in order that cover a unit in part are joined, and where the last of them ended.
    joins: bool,
    joined_to: Option<u64>,
    /// Sectors that one command moves at most.
    most_sectors: u32,
    /// Commands in work, where they are limited.
    command_slots: Option<CommandSlots>,
    /// Whether whole units are written the short way: see [`Ssd::write_plain`].
    plain: bool,
    one: OneUnit,
    /// By operation.
    host: [HostCost; 4],
    processes: Option<Box<Processes>>,
    costs: CommandCosts,
    link: Link,
    controller: Lane,
    nand: Nand,
    ftl: Translation,
    /// Only if the map does not fit in memory.
    limited_map: Option<Box<LimitedMap>>,
    buffer: WriteBuffer,
    /// By stream: when all of the row being filled is in the buffer, not before the row had space
    /// there.
    row_ready: [Nanos; FRONTS],
    /// By stream, die and row of its open block: when the row is on the NAND. A read before that is
    /// served from the buffer.
    row_ends: Vec<Nanos>,
    rows_per_block: usize,
    read_ahead: ReadAhead,
    /// Whether only what lies in order on the NAND is fetched ahead.
    ahead_contiguous: bool,
    /// Whether what was never written is read from the NAND all the same.
    reads_unwritten: bool,
    /// What a read of them takes where it touches no NAND.
    unwritten_read: Nanos,
    look_ahead: LookAhead,
    compression: Option<CompressionSection>,
    /// When its firmware saves the map, if that takes time.
    checkpoint: Option<Checkpoint>,
    /// How fast its firmware takes writes while collection moves data, if it minds.
    write_limit: Option<WriteLimit>,
    host_writes: HostWrites,
    /// When the last of all commands so far is answered.
    answered_until: Nanos,
    /// Until when a TRIM that is not queued keeps all others out.
    blocked_until: Nanos,
    /// What was trimmed and is to be forgotten later, if it is later.
    deferred: Option<Box<Deferred>>,
    /// What it does with idle time, if anything.
    idle: Option<IdleTime>,
    /// Whether the host writes in order, where that matters.
    in_order: Option<InOrder>,
    queue: Queue,
    power: Option<SsdMeter>,
    /// How warm that makes it, if anybody knows.
    heat: Option<Box<Heat>>,
    /// How the times of its host and its firmware vary, if they do.
    variation: Option<CommandVariation>,
    /// When what is written is on the NAND, if somebody asks.
    persistence: Option<Box<Persistence>>,
}

/// Sectors written since the drive was made.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct HostWrites {
    /// By the host.
    sectors: u64,
    /// Along with them, to make whole units of them.
    rmw_sectors: u64,
}

impl HostWrites {
    /// The host wrote `io`, in whole units.
    #[inline]
    fn add(&mut self, grain: Grain, io: Io) {
        if io.sectors > 0 {
            let sectors = u64::from(io.sectors);
            self.sectors += sectors;
            self.rmw_sectors += grain.sectors_of(grain.units_of(io)) - sectors;
        }
    }
}

impl Ssd {
    /// Merges since the drive was made; `None` for a drive that maps by page.
    pub fn merges(&self) -> Option<MergeCounts> {
        self.ftl.merges()
    }

    /// What it has used since it was made until `at`, which is not before the last submit nor after
    /// [`Target::now`]. `None` for a drive whose config has no `[power]`. An operation counts from
    /// when it is ordered, though it may end later.
    pub fn energy(&self, at: Nanos) -> Option<SsdEnergy> {
        self.power.as_ref().map(|meter| meter.energy(at, self.nand.counts()))
    }

    /// Bytes that the fixed part of its SLC buffer holds; 0 without one.
    pub fn fixed_slc_bytes(&self) -> u64 {
        self.ftl.fixed_slc_units() * u64::from(self.ftl.shape().unit_bytes)
    }

    /// Raw NAND beyond the user's space over the user's space: what a data sheet allows to infer.
    pub fn nameplate_op(&self) -> f64 {
        self.raw_bytes as f64 / self.geometry.bytes() as f64 - 1.0
    }

    /// The same without what is kept free, in free blocks and in open ones (half full on average), or
    /// for the fixed part of an SLC buffer: what collection has to work with. Of a drive that
    /// compresses, without parity and with data that does not compress; nameplate counts both as any
    /// raw space and any user data.
    pub fn effective_op(&self) -> f64 {
        self.ftl.usable_units() as f64 / self.ftl.most_user_units() as f64 - 1.0
    }

    /// Walks the whole map: every mapped unit is where the map says, no place holds two, every
    /// block counts its valid units right, and memory holds the map pages it says. For tests; takes a second for 256 GB.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check_map(&self) -> Result<(), Inconsistency> {
        self.ftl.check()?;
        self.limited_map.as_ref().map_or(Ok(()), |map| map.check())
    }

    /// Whether the unit of the map that holds a sector was written and not purged since, nor trimmed
    /// with an effect by now. Beyond the drive nothing is.
    pub fn is_mapped(&self, lba: Lba) -> bool {
        let unit = self.grain.unit_of(lba);
        lba.0 < self.geometry.sectors
            && self.ftl.find(unit).is_some()
            && !(self.trim.frees(unit) && self.is_due(unit))
    }

    /// Waits until all rows that are full, and pages of the map that left memory, are on the NAND.
    /// Nothing may be in flight.
    pub fn settle(&mut self) {
        debug_assert!(self.queue.is_idle(), "settling with I/Os in flight");
        let drained = self.buffer.drained(self.queue.now());
        let map = self.limited_map.as_ref();
        self.queue.idle_until(map.map_or(drained, |map| map.written_back(drained)));
    }

    /// Secure erase: the drive is as new but for its counters and its clock. It takes the time the
    /// buffer needs to drain and the config's `trim.secure_erase_s`; without that no more, because
    /// a block is erased when it is opened, and that is charged then. Blocks stay as worn as they
    /// are, and a read-only drive stays as it is. Nothing may be in flight.
    pub fn purge(&mut self) {
        self.settle();
        if self.is_read_only() {
            return;
        }
        self.queue.idle_until(self.queue.now().saturating_add(self.trim.secure_erase));
        self.ftl.erase_all();
        self.buffer.clear();
        self.read_ahead.clear();
        if let Some(deferred) = &mut self.deferred {
            deferred.clear();
        }
        if let Some(map) = &mut self.limited_map {
            map.clear();
        }
        self.joined_to = None;
        self.row_ready = [Nanos::ZERO; FRONTS];
        self.row_ends.fill(Nanos::ZERO);
        if let Some(persistence) = &mut self.persistence {
            persistence.clear();
        }
        if let Some(checkpoint) = &mut self.checkpoint {
            checkpoint.begin_anew();
        }
        if let Some(limit) = &mut self.write_limit {
            limit.begin_anew();
        }
    }
}

impl Target for Ssd {
    const CLOCK: Clock = Clock::Virtual;

    fn geometry(&self) -> Geometry {
        self.geometry
    }

    #[inline]
    fn now(&self) -> Nanos {
        self.queue.now()
    }

    fn hint(&mut self, ahead: &[Io]) {
        let grain = self.grain;
        let units = ahead.iter().map(|io| grain.unit_of(io.lba));
        self.look_ahead.hint(&self.ftl, units);
    }

    #[inline]
    fn submit(&mut self, tag: Tag, io: Io) {
        match io.op {
            Op::Write if self.is_one_unit(io) && !io.fua => self.submit_write(tag, io),
            Op::Read if self.is_one_unit(io) => self.submit_read(tag, io),
            _ => self.submit_any(tag, io),
        }
    }

    #[inline]
    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        self.queue.reap(until)
    }

    fn due(&mut self) -> Option<Nanos> {
        self.queue.due()
    }

    fn catch_up(&mut self) {
        let now = self.queue.now();
        if self.heat.is_some() {
            self.warm_up(now);
        } else if let Some(idle) = self.idle {
            self.work_while_idle(idle, now);
        }
    }

    fn energy_j(&self, at: Nanos) -> Option<f64> {
        self.energy(at).map(|energy| energy.total_j())
    }

    fn is_read_only(&self) -> bool {
        Ssd::is_read_only(self)
    }
}
