//! A virtual hard disk: one arm over turning platters, a queue it picks from and a buffer.
//!
//! The arm is the only slow resource, and what it does next is decided when it is free: a command
//! that arrives before then may be nearer than all that wait. No finish time is therefore known
//! at submit, and [`Target::reap`] advances the arm decision by decision. Between decisions
//! nothing happens, so that an idle hour is one call.
//!
//! - [`layout`]: zones, and the way from an address to cylinder, head and angle;
//! - [`mechanics`]: the spindle's angle as a function of the time, the seek curve;
//! - [`schedule`]: which transfer is next;
//! - [`write_cache`], [`read_ahead`]: the two uses of the buffer;
//! - [`stream`]: sequential reads, several in flight.
//!
//! Rotation is a function of absolute time, so nothing about it is averaged. Seek time is
//! `t + r sqrt(x) + l x` through track-to-track, average and full stroke (Lee and Katz 1993). NCQ takes
//! the shortest access time first, with ageing (Seltzer, Chen, Ousterhout 1990), so no command starves. The
//! write cache joins adjacent writes and sends the arm to the nearest of its oldest segments.
//!
//! What it leaves out: defects and their spare sectors, thermal recalibration, retries, the
//! rotational gap of a physical sector larger than the logical one, and clean cached data other
//! than one read-ahead buffer.

mod layout;
mod mechanics;
mod read_ahead;
mod schedule;
mod stream;
mod write_cache;

use std::collections::VecDeque;

use crate::config::{ConfigError, HddConfig, HostSection};
use crate::energy::{HddEnergy, HddMeter};
use crate::link::Link;
use crate::queue::Queue;
use crate::{Clock, Done, Fault, FaultCause, Geometry, Io, Nanos, Op, SECTOR_BYTES, Tag, Target};

use layout::{Layout, Place};
use mechanics::{Aim, Mechanism, Spindle};
use read_ahead::{ReadAhead, Transfer};
use write_cache::{Arriving, WriteCache};

/// Most sectors written out of the cache before the drive looks at its queue again: 256 KiB, a
/// quarter of a track of the time. A segment that goes on there loses nothing by it.
const DESTAGE_SECTORS: u64 = 512;

/// The payload of a SATA data frame, the least that is under way when a transfer begins or ends.
const FRAME_BYTES: u64 = 8192;

/// A virtual hard disk.
#[derive(Clone, Debug)]
pub struct Hdd {
    geometry: Geometry,
    layout: Layout,
    mechanism: Mechanism,
    /// By operation: the host's time for a command.
    host: [Nanos; 4],
    link: Link,
    /// Until when the link is taken by commands and by data from or to the buffer.
    link_free: Nanos,
    queue: Queue,
    /// Accepted and not answered.
    in_flight: u32,
    max_wait: Nanos,
    /// Waiting for the arm: reads, and writes that bypass the cache.
    commands: Vec<Command>,
    cache: WriteCache,
    write_cache_on: bool,
    /// Writes that wait for room in the cache, in order of arrival.
    blocked: VecDeque<(Tag, Io)>,
    /// Flushes, and the epoch before which everything has to be on the media.
    flushes: VecDeque<(Tag, u64)>,
    /// The cache was full and is not half empty yet.
    draining: bool,
    destage_idle: Nanos,
    last_submit: Nanos,
    ahead: ReadAhead,
    arm: Arm,
    arm_free: Nanos,
    power: Option<HddMeter>,
}

/// A command that waits for the arm.
#[derive(Clone, Copy, Debug)]
struct Command {
    tag: Tag,
    first: u64,
    end: u64,
    aim: Aim,
    place: Place,
    /// When all data of a write are in the buffer.
    data_in: Nanos,
}

/// What the arm does until `arm_free`.
#[derive(Clone, Copy, Debug)]
enum Arm {
    Idle,
    Reads(Transfer),
    Writes,
    Destages,
}

fn host_times(section: &HostSection) -> [Nanos; 4] {
    let mut times = [Nanos::from_micros(section.command_us); 4];
    times[Op::Read as usize] = Nanos::from_micros(section.read_us());
    times[Op::Write as usize] = Nanos::from_micros(section.write_us());
    times
}

impl Hdd {
    /// Whether such a drive can be: [`HddConfig::check`], and its tracks hold its sectors.
    ///
    /// # Errors
    /// The first value that makes no drive.
    pub fn check(config: &HddConfig) -> Result<(), ConfigError> {
        config.check()?;
        Layout::new(config, Spindle::new(config.mechanics.rpm)).map(|_| ())
    }

    /// A drive at time zero, its heads over the outermost cylinder, its cache empty.
    ///
    /// # Errors
    /// The config describes no drive; see [`Hdd::check`].
    pub fn new(config: &HddConfig) -> Result<Hdd, ConfigError> {
        config.check()?;
        let layout = Layout::new(config, Spindle::new(config.mechanics.rpm))?;
        let cache = &config.cache;
        let sectors = |kib: u64| kib * 1024 / SECTOR_BYTES;
        let write_kib = if cache.write_cache { cache.size_kib - cache.read_ahead_kib } else { 0 };
        let depth = config.ncq.depth;
        Ok(Hdd {
            geometry: Geometry {
                sectors: config.capacity.sectors,
                logical_block_bytes: config.capacity.logical_block_bytes,
                queue_depth: depth,
            },
            mechanism: Mechanism::new(&config.mechanics, layout.cylinders()),
            host: host_times(&config.host),
            link: Link::sata(&config.link, config.upstream.as_ref()),
            link_free: Nanos::ZERO,
            queue: Queue::with_depth(depth),
            in_flight: 0,
            max_wait: Nanos::from_micros(config.ncq.max_wait_ms * 1e3),
            commands: Vec::with_capacity(depth as usize),
            cache: WriteCache::new(sectors(write_kib), cache),
            write_cache_on: cache.write_cache,
            blocked: VecDeque::with_capacity(depth as usize),
            flushes: VecDeque::new(),
            draining: false,
            destage_idle: Nanos::from_micros(cache.destage_idle_ms * 1e3),
            last_submit: Nanos::ZERO,
            ahead: ReadAhead::new(sectors(cache.read_ahead_kib), config.power.is_some(), &layout),
            arm: Arm::Idle,
            arm_free: Nanos::ZERO,
            power: config.power.as_ref().map(HddMeter::new),
            layout,
        })
    }

    /// Waits until what is cached is on the media. Nothing may be in flight.
    pub fn settle(&mut self) {
        debug_assert!(self.in_flight == 0, "settling with I/Os in flight");
        self.submit(Tag(0), Io::FLUSH);
        // A flush is refused by nothing and answered when the cache is empty.
        while let Ok(Some(_)) = self.reap(Nanos::MAX) {}
    }

    /// Bytes of answered writes that are not on the media: what a power cut now would lose.
    pub fn unwritten_bytes(&self) -> u64 {
        self.cache.dirty_sectors() * SECTOR_BYTES
    }

    /// What it has used since it was made until `at`, which is not before the last submit nor after
    /// [`Target::now`]. `None` for a drive whose config has no `[power]`. A transfer counts from
    /// when the arm sets out for it, though it may end later.
    pub fn energy(&self, at: Nanos) -> Option<HddEnergy> {
        self.power.as_ref().map(|meter| meter.energy(at, self.ahead.spent(at, &self.layout)))
    }

    /// The command and `bytes` of data cross the link, one after the other with all others.
    fn cross_link(&mut self, at: Nanos, bytes: u64) -> Nanos {
        let begin = at.max(self.link_free).saturating_add(self.link.command());
        self.carry(begin, bytes)
    }

    /// `bytes` of data cross the link for a command that has crossed it.
    fn carry(&mut self, at: Nanos, bytes: u64) -> Nanos {
        self.link_free = at.max(self.link_free).saturating_add(self.link.data(bytes));
        self.link_free
    }

    /// `at` as the host sees it.
    fn answer(&mut self, op: Op, tag: Tag, at: Nanos) {
        self.queue.finish(tag, at.saturating_add(self.host[op as usize]));
    }

    fn submit_read(&mut self, tag: Tag, io: Io) {
        let now = self.queue.now();
        let (first, end) = (io.lba.0, io.end());
        if self.cache.holds(first, end) {
            let at = self.cross_link(now, io.bytes());
            return self.answer(Op::Read, tag, at);
        }
        // What came before it may wait for what has passed meanwhile, and is answered first.
        if !self.commands.is_empty() && matches!(self.arm, Arm::Idle) {
            self.answer_from_ahead(now);
        }
        if let Some(hit) = self.ahead.answer(first, end, now, &self.layout) {
            let crossed = self.cross_link(now, io.bytes());
            return self.answer_hit(tag, (first, end), hit, now, crossed);
        }
        let ready = self.cross_link(now, 0);
        self.enqueue(tag, io, ready, ready);
    }

    fn submit_write(&mut self, tag: Tag, io: Io) {
        let now = self.queue.now();
        if self.ahead.overwritten(io.lba.0, io.end(), now, &self.layout) {
            self.stop_reading_on(now);
        }
        // Force unit access is what the cache is passed by for.
        if self.write_cache_on && !io.fua && self.cache.could_hold(u64::from(io.sectors)) {
            if !self.blocked.is_empty() || !self.take_into_cache(tag, io, now) {
                self.draining = true;
                self.blocked.push_back((tag, io));
            }
            return;
        }
        let data_in = self.cross_link(now, io.bytes());
        let behind = self.link.data(io.bytes()) - self.link.data(io.bytes().min(FRAME_BYTES));
        self.enqueue(tag, io, data_in - behind, data_in);
    }

    /// Answers a write from the cache if there is room for it.
    fn take_into_cache(&mut self, tag: Tag, io: Io, at: Nanos) -> bool {
        let ready = at.max(self.link_free).saturating_add(self.link.command());
        let write = Arriving { first: io.lba.0, end: io.end(), at, ready };
        if !self.cache.take(write, &self.layout) {
            return false;
        }
        let done = self.cross_link(at, io.bytes());
        self.answer(Op::Write, tag, done);
        true
    }

    fn enqueue(&mut self, tag: Tag, io: Io, ready: Nanos, data_in: Nanos) {
        let place = self.layout.place(io.lba.0);
        let aim = Aim {
            track: place.track,
            angle: place.angle,
            write: io.op == Op::Write,
            ready,
            since: self.queue.now(),
        };
        self.commands.push(Command { tag, first: io.lba.0, end: io.end(), aim, place, data_in });
    }

    fn submit_flush(&mut self, tag: Tag) {
        let at = self.cross_link(self.queue.now(), 0);
        let epoch = self.cache.seal();
        if self.cache.is_clean_before(epoch) {
            self.answer(Op::Flush, tag, at);
        } else {
            self.flushes.push_back((tag, epoch));
        }
    }

    /// When there is something to decide or to end, if ever.
    fn next_event(&self) -> Option<Nanos> {
        if !matches!(self.arm, Arm::Idle) {
            return Some(self.arm_free);
        }
        let free = self.arm_free.max(self.queue.now());
        if !self.commands.is_empty() || self.must_destage() {
            return Some(free);
        }
        self.cache
            .has_segments()
            .then(|| free.max(self.last_submit.saturating_add(self.destage_idle)))
    }

    /// Whether cached writes compete with commands for the arm.
    fn must_destage(&self) -> bool {
        self.draining || !self.flushes.is_empty()
    }

    /// The event at `at`: the end of what the arm did, or what it does next.
    fn advance(&mut self, at: Nanos) {
        match std::mem::replace(&mut self.arm, Arm::Idle) {
            Arm::Idle => self.choose(at),
            Arm::Writes => {}
            Arm::Reads(read) => {
                let goes_on = self.commands.is_empty() || self.is_followed(read);
                if goes_on && self.ahead.is_on() && !self.must_destage() {
                    self.ahead.read_on(read, at, &self.layout);
                }
            }
            Arm::Destages => self.end_destage(at),
        }
    }

    fn end_destage(&mut self, at: Nanos) {
        self.cache.end();
        while let Some(&(tag, io)) = self.blocked.front() {
            if !self.take_into_cache(tag, io, at) {
                break;
            }
            self.blocked.pop_front();
        }
        while let Some(&(tag, epoch)) = self.flushes.front() {
            if !self.cache.is_clean_before(epoch) {
                break;
            }
            self.flushes.pop_front();
            self.answer(Op::Flush, tag, at);
        }
        if self.blocked.is_empty() && self.cache.is_half_empty() {
            self.draining = false;
        }
    }

    fn choose(&mut self, at: Nanos) {
        if let Some(index) = self.overlooked(at) {
            self.stop_reading_on(at);
            return self.serve(index, at);
        }
        if self.answer_from_ahead(at) {
            return;
        }
        self.stop_reading_on(at);
        let waiting = self.commands.iter().enumerate().map(|(i, command)| (i, &command.aim));
        let command = schedule::next(&self.mechanism, self.max_wait, at, waiting);
        // A flush wants what came before it; writes cached since can wait.
        let epoch = self.flushes.back().map_or(u64::MAX, |&(_, epoch)| epoch);
        let destage = if command.is_none() || self.must_destage() {
            schedule::next(&self.mechanism, self.max_wait, at, self.cache.aims(epoch))
        } else {
            None
        };
        match (command, destage) {
            (Some(command), destage) if destage.is_none_or(|it| !it.before(&command)) => {
                let waited = at.since(self.commands[command.index].aim.since);
                // One that has waited for too long goes now, wherever it stands.
                let index = match waited < self.max_wait {
                    true => self.first_of_run(command.index),
                    false => command.index,
                };
                self.serve(index, at);
            }
            (_, Some(destage)) => self.destage(destage.index, at, destage.start),
            _ => self.draining = false,
        }
    }

    fn serve(&mut self, index: usize, at: Nanos) {
        let command = self.commands.swap_remove(index);
        let start = self.mechanism.reaches(&command.aim, at);
        let moves = self.power.is_some().then(|| self.mechanism.moves(&command.aim));
        let end = self.transfer(&command.place, (command.first, command.end), start);
        self.count(command.aim.write, moves, at);
        let bytes = (command.end - command.first) * SECTOR_BYTES;
        if command.aim.write {
            // While it waited the head may have read on over what it replaces.
            self.ahead.overwritten(command.first, command.end, at, &self.layout);
            self.arm = Arm::Writes;
            self.answer(Op::Write, command.tag, end.max(command.data_in));
        } else {
            let read = Transfer { first: command.first, end: command.end, since: start };
            self.arm = Arm::Reads(read);
            // The frames follow the head; the last leaves when the last sector has passed.
            let last_frame = end.saturating_add(self.link.data(bytes.min(FRAME_BYTES)));
            let all_frames = start.saturating_add(self.link.data(bytes));
            self.answer(Op::Read, command.tag, last_frame.max(all_frames));
        }
    }

    fn destage(&mut self, index: usize, at: Nanos, start: Nanos) {
        let moves = self.power.is_some().then(|| self.mechanism.moves(self.cache.aim(index)));
        let run = self.cache.begin(index, DESTAGE_SECTORS, &self.layout);
        self.transfer(&run.place, (run.first, run.end), start);
        self.count(true, moves, at);
        self.arm = Arm::Destages;
    }

    /// Counts the energy of the transfer that the arm has set out for at `at`.
    fn count(&mut self, write: bool, moves: Option<Nanos>, at: Nanos) {
        if let (Some(meter), Some(moves)) = (&mut self.power, moves) {
            meter.transfer(write, moves, self.arm_free.since(at));
        }
    }

    /// Moves the arm over the sectors of `run`, the first of which is under the head at `start`.
    fn transfer(&mut self, place: &Place, run: (u64, u64), start: Nanos) -> Nanos {
        let (ns, track) = self.layout.pass(place, run.0, run.1);
        self.mechanism.at = track;
        self.arm_free = start.saturating_add(Nanos(ns));
        self.arm_free
    }

    /// When the head can read `sector` from where it is at `from`.
    fn reaches(&self, sector: u64, from: Nanos) -> Nanos {
        let place = self.layout.place(sector);
        let aim =
            Aim { track: place.track, angle: place.angle, write: false, ready: from, since: from };
        self.mechanism.reaches(&aim, from)
    }

    fn stop_reading_on(&mut self, at: Nanos) {
        if let Some(sector) = self.ahead.stop(at, &self.layout) {
            self.mechanism.at = self.layout.place(sector).track;
        }
    }
}

impl Target for Hdd {
    const CLOCK: Clock = Clock::Virtual;

    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn now(&self) -> Nanos {
        self.queue.now()
    }

    fn submit(&mut self, tag: Tag, io: Io) {
        if io.op == Op::Trim {
            return self.queue.refuse(tag, io, FaultCause::Unsupported);
        }
        if let Some(cause) = self.geometry.refuses(io) {
            return self.queue.refuse(tag, io, cause);
        }
        self.in_flight += 1;
        self.last_submit = self.queue.now();
        match io.op {
            Op::Read => self.submit_read(tag, io),
            Op::Write => self.submit_write(tag, io),
            Op::Flush | Op::Trim => self.submit_flush(tag),
        }
    }

    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        loop {
            // Without an end and with nothing in flight there is nothing to wait for: cached
            // writes are written out when the time they take is asked for.
            let endless = until == Nanos::MAX && self.in_flight == 0;
            let event = self.next_event().filter(|&at| !endless && at <= until);
            // A completion no later than the event comes first: what the host submits in answer
            // may be what the arm should do next.
            let done = self.queue.reap(event.unwrap_or(until))?;
            match (done, event) {
                (Some(done), _) => {
                    self.in_flight -= 1;
                    return Ok(Some(done));
                }
                (None, Some(at)) => self.advance(at),
                (None, None) => return Ok(None),
            }
        }
    }

    fn due(&mut self) -> Option<Nanos> {
        // What is cached is written out while nobody waits; it answers nothing.
        let event = self.next_event().filter(|_| self.in_flight > 0);
        [self.queue.due(), event].into_iter().flatten().min()
    }

    fn energy_j(&self, at: Nanos) -> Option<f64> {
        self.energy(at).map(|energy| energy.total_j())
    }
}
