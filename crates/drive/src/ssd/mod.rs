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
mod tracking;
mod trim;
mod units;
mod wear;
mod write_limit;

use crate::consistency::Inconsistency;
use serde::{Deserialize, Serialize};

use crate::cache::WriteBuffer;
use crate::config::{CompressionSection, ConfigError, SsdConfig};
use crate::energy::{SsdEnergy, SsdMeter};
use crate::ftl::{FRONTS, MergeCounts, Translation};
use crate::heat::Heat;
use crate::lane::Lane;
use crate::link::Link;
use crate::nand::Nand;
use crate::queue::Queue;
use crate::read_ahead::ReadAhead;
use crate::variation::CommandVariation;
use crate::{
    Clock, Done, Fault, FaultCause, Geometry, Io, Lba, Nanos, Op, SECTOR_BYTES, Tag, Target,
};
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
    /// A drive as it left the factory: never written, at time zero.
    ///
    /// # Errors
    /// When [`SsdConfig::check`] refuses the config.
    pub fn new(config: &SsdConfig) -> Result<Ssd, ConfigError> {
        config.check()?;
        Ok(Ssd::around(config, Translation::new(config)))
    }

    /// A drive with this map and nothing else in its past. `config` has passed its check.
    fn around(config: &SsdConfig, ftl: Translation) -> Ssd {
        let open_rows = 1 + usize::from(ftl.has_streams()) + usize::from(ftl.has_slc());
        let fronts = if open_rows > 1 { FRONTS } else { 1 };
        let shape = ftl.shape();
        let rows_per_block = (shape.units_per_block / shape.units_per_row) as usize;
        let mut link = Link::new(&config.link, config.upstream.as_ref());
        let geometry = Geometry {
            sectors: config.capacity.sectors,
            logical_block_bytes: SECTOR_BYTES as u32,
            queue_depth: config.capacity.queue_depth,
        };
        let grain = Grain::new(shape, geometry.sectors);
        let costs = CommandCosts::new(config);
        let power_loss_protected = config.buffer.power_loss_protected;
        let writes_sync = !config.buffer.write_cache_is_on();
        let writes_through = writes_sync && !power_loss_protected;
        let plain = config.map_layout().is_none()
            && !writes_sync
            && config.checkpoint.is_none()
            && !config.buffer.coalesces()
            && matches!(&ftl, Translation::PageMap(map) if map.is_plain());
        let deferred = Trim::deferred(&config.trim);
        Ssd {
            geometry,
            grain,
            raw_bytes: config.raw_bytes(),
            trim: Trim::new(&config.trim, link.is_pcie()),
            power_loss_protected,
            writes_sync,
            writes_through,
            coalesces: config.buffer.coalesces(),
            joins: config.buffer.joins(),
            joined_to: None,
            most_sectors: config.capacity.transfer_kib.map_or(u32::MAX, |kib| kib * 2),
            command_slots: config.controller.command_slots.map(CommandSlots::new),
            plain,
            // Others ask for what is deferred, and have no short way.
            one: OneUnit::new(
                plain && deferred.is_none(),
                (grain, geometry.sectors),
                &costs,
                &mut link,
            ),
            host: HostCost::by_operation(&config.host),
            processes: Processes::new(&config.host),
            costs,
            link,
            controller: Lane::default(),
            nand: Nand::new(config),
            limited_map: config
                .map_layout()
                .map(|layout| Box::new(LimitedMap::new(layout, shape.dies))),
            buffer: WriteBuffer::new(
                u64::from(config.buffer.write_kib) * 1024,
                config.row_bytes(),
                open_rows,
            ),
            row_ready: [Nanos::ZERO; FRONTS],
            row_ends: vec![Nanos::ZERO; rows_per_block * shape.dies as usize * fronts],
            rows_per_block,
            read_ahead: ReadAhead::new(config.read_ahead_units()),
            ahead_contiguous: is_on(config.controller.read_ahead_contiguous),
            reads_unwritten: is_on(config.nand.reads_unwritten),
            look_ahead: LookAhead::default(),
            compression: config.compression.clone(),
            checkpoint: config.checkpoint.as_ref().map(Checkpoint::new),
            write_limit: config.write_limit.as_ref().map(|section| {
                let varies = config.variation_that_is_on();
                WriteLimit::new(section, varies.map(|variation| variation.seed))
            }),
            host_writes: HostWrites::default(),
            answered_until: Nanos::ZERO,
            blocked_until: Nanos::ZERO,
            deferred,
            idle: IdleTime::new(config),
            in_order: InOrder::new(&config.gc),
            queue: Queue::with_depth(geometry.queue_depth),
            power: config.power.as_ref().map(|power| SsdMeter::new(power, &config.nand)),
            heat: config
                .heat
                .as_ref()
                .zip(config.power.as_ref())
                .map(|(heat, power)| Box::new(Heat::new(heat, power.idle_w))),
            variation: config.variation_that_is_on().map(CommandVariation::new),
            persistence: None,
            ftl,
        }
    }

    /// What happened inside since the drive was made.
    pub fn counters(&self) -> SsdCounters {
        let ftl = self.ftl.counts();
        let nand = self.nand.counts();
        let shape = self.ftl.shape();
        // What is stored of a unit may be any number of sectors.
        let counted = if shape.compresses() { SECTOR_BYTES as u32 } else { 4096 };
        let each = u64::from(shape.granule_bytes() / counted);
        let page = u64::from(shape.page_bytes() / counted);
        let map = self.limited_map.as_ref().map(|map| map.counts()).unwrap_or_default();
        let rows = nand.rows_programmed * u64::from(shape.units_per_row) * each;
        SsdCounters {
            unit_bytes: counted,
            host_sectors: self.host_writes.sectors,
            rmw_sectors: self.host_writes.rmw_sectors,
            host_units: ftl.host_units * each,
            absorbed_units: ftl.absorbed_units * each,
            moved_units: ftl.moved_units * each,
            folded_units: ftl.folded_units * each,
            padded_units: ftl.padded_units * each,
            parity_units: ftl.parity_units * each,
            pending_units: self.ftl.pending_units() * each,
            map_units: map.nand_pages_written * page,
            map_read_units: map.nand_pages_read * page,
            map_lookups: map.lookups,
            map_misses: map.misses,
            programmed_units: rows + nand.single_pages_programmed * page,
            blocks_erased: nand.blocks_erased,
        }
    }

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

impl Ssd {
    /// [`Target::submit`] of any command. Apart from [`Ssd::submit_write`] and [`Ssd::submit_read`], so that those
    /// need no room for what it keeps.
    #[inline(never)]
    fn submit_any(&mut self, tag: Tag, io: Io) {
        if let Some(cause) = self.geometry.refuses(io) {
            return self.queue.refuse(tag, io, cause);
        }
        if io.op == Op::Trim && !self.trim.supported {
            return self.queue.refuse(tag, io, FaultCause::Unsupported);
        }
        let arrives = self.arrival(io.op);
        if self.deferred.is_some() {
            self.forget_what_is_due(io, arrives);
        }
        if let (Op::Write, Some(persistence)) = (io.op, &mut self.persistence) {
            persistence.begin_write();
        }
        let answered = match io.op {
            Op::Flush => Ok(self.flush(arrives)),
            Op::Write | Op::Trim if self.is_read_only() => Err(FaultCause::WornOut),
            Op::Read | Op::Write => self.transfer(io, arrives).ok_or(FaultCause::WornOut),
            Op::Trim => Ok(self.trim(io, arrives)),
        };
        match answered {
            Ok(answered) => {
                let moves_data = matches!(io.op, Op::Read | Op::Write);
                let bytes = if moves_data { io.bytes() } else { 0 };
                self.answer(tag, (io.op, bytes), arrives, answered);
            }
            Err(cause) => self.queue.refuse(tag, io, cause),
        }
    }

    /// When a read or a write is done, in one command or in as many as it takes. `None` when the drive wore out.
    fn transfer(&mut self, io: Io, arrives: Nanos) -> Option<Nanos> {
        let mut arrives = arrives;
        let mut answered = Nanos::ZERO;
        let mut rest = io;
        loop {
            let part = Io { sectors: rest.sectors.min(self.most_sectors), ..rest };
            let done = match io.op {
                Op::Read => self.read(part, arrives),
                _ => self.write(part, arrives)?,
            };
            answered = answered.max(done);
            rest.sectors -= part.sectors;
            if rest.sectors == 0 {
                return Some(answered);
            }
            rest.lba = Lba(part.end());
            arrives = self.link.request(arrives);
        }
    }

    /// When a command that is submitted now is in the drive, which has used its time until then.
    #[inline(always)]
    fn arrival(&mut self, op: Op) -> Nanos {
        let host = self.host[op as usize];
        let submitted = match &mut self.processes {
            None => self.queue.now(),
            Some(processes) => processes.submit(self.queue.now()),
        };
        let mut arrives = (submitted + host.before).max(self.blocked_until);
        if let Some(slots) = &mut self.command_slots {
            arrives = slots.take(arrives);
        }
        let mut arrives = self.link.request(arrives);
        if self.heat.is_some() {
            arrives = self.warm_up(arrives);
        } else if let Some(idle) = self.idle {
            self.work_while_idle(idle, arrives);
        }
        if let Some(variation) = &self.variation
            && variation.is_due(arrives)
        {
            self.vary(arrives);
        }
        arrives
    }

    /// Begins another run of a drive whose times vary: their slow part has another course, and a part that stays
    /// for the whole run, so that runs differ as those of a real drive do. Run 0 is that of a new drive. A saved
    /// state does not say which run it is of.
    pub fn begin_run(&mut self, run: u64) {
        if let Some(variation) = &mut self.variation {
            variation.begin(run);
        }
    }

    /// The firmware does what it does by itself, and everything takes longer or shorter from now on.
    #[cold]
    fn vary(&mut self, arrives: Nanos) {
        let Some(variation) = &mut self.variation else { return };
        let (tick, drift) = variation.at(arrives);
        self.nand.drifts(drift);
        if let Some(limit) = &mut self.write_limit {
            limit.drifts(drift);
        }
        if let Some(processes) = &mut self.processes {
            processes.drifts(drift);
        }
        if let Some((begins, takes)) = tick {
            self.controller.serve(begins, takes);
        }
    }

    /// The drive answers a command that came at `arrives` and moved so many bytes at `answered`.
    #[inline(always)]
    fn answer(&mut self, tag: Tag, (op, bytes): (Op, u64), arrives: Nanos, answered: Nanos) {
        let mut answered = answered;
        match op {
            Op::Read => {
                if let Some(limit) = &self.write_limit {
                    answered += limit.read_waits(arrives);
                }
            }
            Op::Write => self.nand.note_write(arrives, answered),
            Op::Flush | Op::Trim => {}
        }
        if let Some(slots) = &mut self.command_slots {
            slots.answer(answered);
        }
        if let Some(meter) = &mut self.power {
            meter.command(arrives, answered, bytes);
        }
        self.answered_until = self.answered_until.max(answered);
        if let Some(idle) = &mut self.idle {
            idle.answered(answered);
        }
        let host = self.host[op as usize];
        let noticed = match &mut self.variation {
            None => answered + host.after,
            Some(variation) => variation.noticed(answered, host.whole()),
        };
        self.queue.finish(tag, noticed);
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

    fn energy_j(&self, at: Nanos) -> Option<f64> {
        self.energy(at).map(|energy| energy.total_j())
    }
}

/// Whether something that a config need not have is there and on.
fn is_on(given: Option<bool>) -> bool {
    given == Some(true)
}
