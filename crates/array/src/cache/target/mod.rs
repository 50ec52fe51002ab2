//! The cache as a target: an I/O waits for its units, asks the two drives, and is answered.

mod failed;
mod write_back;

use std::collections::VecDeque;
use std::ops::Range;

use fourcorners_drive::{
    Clock, Done, Fault, FaultCause, Geometry, Io, Lba, Nanos, Op, Tag, Target,
};

use super::config::{CacheConfig, CacheError, CacheMode, DISK, SSD, UNIT_BYTES, UNIT_SECTORS};
use super::counts::{CacheCounts, MemberBytes};
use super::plan::{Part, Plan, Planner};
use super::ranges::{Claim, Ranges};
use super::slots::Slots;
use super::streams::Streams;
use crate::layer::Passing;
use crate::member::{self, Answer, Member};

/// Most I/Os in flight, whatever the drives take.
const MOST_IN_FLIGHT: u32 = 1024;
/// With nothing to do for so long, all that is newer than the disk is written back.
const IDLE: Nanos = Nanos::from_secs(1);
/// What waits for the SSD when it is too slow for what reads bring: then they bring nothing.
const MOST_FILLS: usize = 256;
/// Bytes of an I/O that fills a warm cache.
const WARM_SECTORS: u64 = 256;

/// An SSD in front of another drive.
#[derive(Clone)]
pub struct Cache<T> {
    config: CacheConfig,
    members: [Member<T>; 2],
    bytes: [MemberBytes; 2],
    geometry: Geometry,
    now: Nanos,
    pub(super) slots: Slots,
    slot_count: u32,
    ranges: Ranges,
    streams: Streams,
    jobs: Vec<Job>,
    free_jobs: Vec<u32>,
    in_flight: u32,
    /// Jobs that ask nothing of either drive.
    passing: Passing,
    answers: VecDeque<Answer>,
    ready: VecDeque<Result<Done, Fault>>,
    counts: CacheCounts,
    /// Most slots that may hold anything newer than the disk.
    most_dirty: u64,
    /// Blocks that are written back now, and the next in the order of the disk.
    write_backs: Vec<u64>,
    write_back_from: u64,
    /// All is to be written back.
    cleaning: bool,
    /// When it was last asked for something or answered.
    used_at: Nanos,
    /// Whether something was written since the last flush of each.
    unflushed: [bool; 2],
    /// Flushes that each has not answered yet.
    flushes: [u32; 2],
    /// A TRIM of it is not refused.
    takes_trim: [bool; 2],
    /// The SSD failed a write: what is on it stays, and nothing comes to it.
    is_ssd_worn: bool,
    /// Something could not be written back: nothing is any more.
    is_stuck: bool,
    #[cfg(test)]
    pub(super) events: Vec<super::model::Event>,
    /// Nobody waits for anybody: what a test of stale data has to find.
    #[cfg(test)]
    pub(super) is_unlocked: bool,
}

/// What a job is for.
#[derive(Clone, Copy, PartialEq)]
enum Purpose {
    /// An I/O, and whether it goes past the cache.
    Host { tag: Tag, io: Io, bypassed: bool },
    /// A block that is written back.
    WriteBack { block: u64 },
}

/// An I/O of the host or of the cache itself: its parts are in flight, or it waits for its units.
#[derive(Clone)]
struct Job {
    purpose: Purpose,
    plan: Plan,
    /// When its turn came.
    started: Nanos,
    left: u32,
    /// The last parts are out.
    is_last: bool,
    is_answered: bool,
    fault: Option<FaultCause>,
    units: Range<u64>,
}

impl<T: Target> Cache<T> {
    /// The cache of these drives, whose clocks stand at the same time. A warm one has its clock later: its SSD is
    /// written first.
    ///
    /// # Errors
    /// [`CacheError`].
    pub fn new(config: &CacheConfig, ssd: T, disk: T) -> Result<Cache<T>, CacheError> {
        let geometries = [ssd.geometry(), disk.geometry()];
        let slot_count = config.slots(geometries[SSD].bytes())?;
        if let Some(it) =
            geometries.iter().find(|it| u64::from(it.logical_block_bytes) > UNIT_BYTES)
        {
            return Err(CacheError::LogicalBlock { bytes: it.logical_block_bytes });
        }
        let depth = geometries.iter().map(|it| u64::from(it.queue_depth)).sum::<u64>();
        let geometry = Geometry {
            sectors: geometries[DISK].sectors,
            logical_block_bytes: geometries[SSD]
                .logical_block_bytes
                .max(geometries[DISK].logical_block_bytes),
            queue_depth: depth.min(MOST_IN_FLIGHT.into()) as u32,
        };
        let (now, blocks) = (ssd.now(), geometry.bytes().div_ceil(config.block_bytes));
        let mut cache = Cache {
            config: config.clone(),
            members: [Member::new(SSD, ssd), Member::new(DISK, disk)],
            bytes: [MemberBytes::default(); 2],
            geometry,
            now,
            slots: Slots::new(config.replacement, slot_count, blocks),
            slot_count,
            ranges: Ranges::default(),
            streams: Streams::default(),
            jobs: Vec::new(),
            free_jobs: Vec::new(),
            in_flight: 0,
            passing: Passing::default(),
            answers: VecDeque::new(),
            ready: VecDeque::new(),
            counts: CacheCounts::default(),
            most_dirty: (f64::from(slot_count) * config.dirty_share) as u64,
            write_backs: Vec::new(),
            write_back_from: 0,
            cleaning: false,
            used_at: now,
            unflushed: [false; 2],
            flushes: [0; 2],
            takes_trim: [config.trim; 2],
            is_ssd_worn: false,
            is_stuck: false,
            #[cfg(test)]
            events: Vec::new(),
            #[cfg(test)]
            is_unlocked: false,
        };
        cache.warm();
        Ok(cache)
    }

    /// The SSD, and the disk.
    pub fn members(&self) -> [&T; 2] {
        let [ssd, disk] = &self.members;
        [&ssd.drive, &disk.drive]
    }

    /// The SSD and the disk, to purge or to settle them. Nothing may be in flight.
    pub fn members_mut(&mut self) -> [&mut T; 2] {
        debug_assert_eq!(self.in_flight, 0);
        let [ssd, disk] = &mut self.members;
        [&mut ssd.drive, &mut disk.drive]
    }

    /// Brings the clocks of drives that were used by themselves together again, at the later of them.
    pub fn meet(&mut self) {
        let latest = self.members.iter().map(|it| it.drive.now()).max().unwrap_or(self.now);
        self.now = self.now.max(latest);
        self.advance();
        self.used_at = self.now;
    }

    /// Forgets what is cached, also what is not on the disk yet: after its SSD was purged. A warm cache is warm again.
    /// Nothing may be in flight.
    pub fn forget(&mut self) {
        debug_assert_eq!(self.in_flight, 0);
        self.finish_background(false);
        let blocks = self.geometry.bytes().div_ceil(self.config.block_bytes);
        self.slots = Slots::new(self.config.replacement, self.slot_count, blocks);
        self.streams = Streams::default();
        self.warm();
    }

    /// What it did so far.
    pub fn counts(&self) -> CacheCounts {
        CacheCounts {
            dirty_bytes: self.slots.dirty_units() * UNIT_BYTES,
            evictions: self.slots.evictions(),
            ssd: self.bytes[SSD],
            disk: self.bytes[DISK],
            ..self.counts
        }
    }

    /// Slots that may hold anything newer than the disk.
    #[cfg(test)]
    pub(super) fn most_dirty(&self) -> u64 {
        self.most_dirty
    }

    /// The SSD gets the first blocks of the disk, the first of them the last to leave.
    fn warm(&mut self) {
        if !self.config.warm {
            return;
        }
        let units = self.config.block_bytes / UNIT_BYTES;
        let last = self.geometry.sectors / UNIT_SECTORS;
        let cached = u64::from(self.slot_count).min(last / units);
        let drive = &mut self.members[SSD].drive;
        let end = cached * self.config.block_bytes / 512;
        for lba in (0..end).step_by(WARM_SECTORS as usize) {
            drive.submit(Tag(0), Io::write(Lba(lba), WARM_SECTORS.min(end - lba) as u32));
            self.is_ssd_worn |= drive.reap(Nanos::MAX).is_err();
        }
        let valid = u64::MAX >> (64 - units);
        for block in (0..cached).rev().filter(|_| !self.is_ssd_worn) {
            self.slots.place_warm(block as u32, block, valid);
        }
        self.meet();
    }

    fn begin(&mut self, purpose: Purpose, units: Range<u64>, alone: bool) {
        let job = Job {
            purpose,
            plan: Plan::default(),
            started: self.now,
            left: 0,
            is_last: false,
            is_answered: false,
            fault: None,
            units: units.clone(),
        };
        let id = match self.free_jobs.pop() {
            Some(id) => {
                self.jobs[id as usize] = job;
                id
            }
            None => {
                self.jobs.push(job);
                self.jobs.len() as u32 - 1
            }
        };
        #[cfg(test)]
        let alone = alone && !self.is_unlocked;
        if units.is_empty() || self.ranges.take(Claim { job: id, units, alone }) {
            self.start(id);
        }
    }

    /// No other job uses its units now: decides what is asked of the drives, and asks.
    fn start(&mut self, id: u32) {
        let fills = self.members[SSD].load() < MOST_FILLS;
        let job = &mut self.jobs[id as usize];
        job.started = self.now;
        let mut planner = Planner {
            config: &self.config,
            slots: &mut self.slots,
            counts: &mut self.counts,
            most_dirty: self.most_dirty,
            takes_writes: !self.is_ssd_worn,
            takes_fills: fills,
        };
        job.plan = match job.purpose {
            Purpose::WriteBack { block } => planner.write_back(block, &job.units),
            Purpose::Host { io, bypassed, .. } => match io.op {
                Op::Read => planner.read(io, bypassed),
                Op::Write => planner.write(io, bypassed),
                Op::Trim => planner.trim(io, self.takes_trim),
                Op::Flush => {
                    let flush = |member| Part { member, io: Io::FLUSH, home: 0 };
                    // A flush under way may have begun before the last writes were answered.
                    let dirty = |&it: &usize| self.unflushed[it] || self.flushes[it] > 0;
                    let members = [SSD, DISK].into_iter().filter(dirty);
                    Plan { first: members.map(flush).collect(), ..Plan::default() }
                }
            },
        };
        #[cfg(test)]
        self.events.push(super::model::Event::Started {
            job: id,
            host: match job.purpose {
                Purpose::Host { tag, .. } => Some(tag),
                Purpose::WriteBack { .. } => None,
            },
        });
        if job.plan.first.iter().any(|part| part.io.op == Op::Flush) {
            self.unflushed = [false; 2];
        }
        self.issue(id);
    }

    /// The first parts of a job, or its last.
    fn issue(&mut self, id: u32) {
        let job = &mut self.jobs[id as usize];
        let parts = match job.is_last {
            true => job.plan.then.clone(),
            false => job.plan.first.clone(),
        };
        job.left = parts.len() as u32;
        if parts.is_empty() {
            self.stage_done(id);
            return;
        }
        for part in parts {
            self.hand_on(id, part);
        }
    }

    fn hand_on(&mut self, id: u32, part: Part) {
        match part.io.op {
            Op::Read => self.bytes[part.member].read += part.io.bytes(),
            Op::Write => self.bytes[part.member].written += part.io.bytes(),
            Op::Flush => self.flushes[part.member] += 1,
            Op::Trim => {}
        }
        #[cfg(test)]
        self.events.push(super::model::Event::Issued { job: id, part });
        let member = &mut self.members[part.member];
        member.advance(self.now, &mut self.answers);
        member.take(id, part.io);
    }

    /// A part of a job was answered.
    fn answered(&mut self, answer: Answer) {
        let id = answer.job;
        // Copies that the disk has as well need not survive: what reads bring, and what write-through writes.
        let of_read =
            |job: &Job| matches!(job.purpose, Purpose::Host { io, .. } if io.op == Op::Read);
        let is_copy = answer.member == SSD
            && (self.config.mode != CacheMode::WriteBack || of_read(&self.jobs[id as usize]));
        self.flushes[answer.member] -= u32::from(answer.io.op == Op::Flush);
        match (answer.io.op, answer.fault) {
            (Op::Write, None) if !is_copy => self.unflushed[answer.member] = true,
            (Op::Flush, Some(_)) => self.unflushed[answer.member] = true,
            _ => {}
        }
        if let Some(fault) = answer.fault {
            self.failed_part(id, &answer, fault.cause);
        }
        #[cfg(test)]
        self.events.push(super::model::Event::Answered {
            job: id,
            member: answer.member,
            io: answer.io,
            failed: answer.fault.is_some(),
        });
        let job = &mut self.jobs[id as usize];
        job.left -= 1;
        if job.left == 0 {
            self.stage_done(id);
        }
    }

    /// All parts of a stage are answered.
    fn stage_done(&mut self, id: u32) {
        let job = &mut self.jobs[id as usize];
        let is_answer = matches!(job.purpose, Purpose::Host { .. }) && !job.is_answered;
        // No drive did anything for it: there was nothing to be asked, or all of it was a TRIM that no drive takes.
        if is_answer && job.fault.is_none() && job.started == self.now {
            self.passing.begin(id, self.now);
            return;
        }
        if let Purpose::Host { tag, io, .. } = job.purpose
            && !std::mem::replace(&mut job.is_answered, true)
        {
            self.in_flight -= 1;
            self.used_at = self.now;
            self.ready.push_back(match job.fault {
                Some(cause) => Err(Fault { tag, io, at: self.now, cause }),
                None => Ok(Done { tag, at: self.now }),
            });
            #[cfg(test)]
            self.events.push(super::model::Event::Done {
                job: id,
                tag,
                failed: job.fault.is_some(),
            });
        }
        let job = &mut self.jobs[id as usize];
        if !job.is_last && job.fault.is_none() && !job.plan.then.is_empty() {
            job.is_last = true;
            self.issue(id);
            return;
        }
        self.end(id);
    }

    /// A job has done what it could.
    fn end(&mut self, id: u32) {
        let job = &mut self.jobs[id as usize];
        let plan = std::mem::take(&mut job.plan);
        let (went_well, purpose) = (job.fault.is_none(), job.purpose);
        let has_units = !job.units.is_empty();
        for (slot, units) in plan.arriving {
            self.slots.arrived(slot, units, went_well);
        }
        for (slot, units) in plan.cleaned.into_iter().filter(|_| went_well) {
            self.slots.clean(slot, units);
        }
        for slot in plan.slots {
            self.slots.let_go(slot);
        }
        if let Purpose::WriteBack { block } = purpose {
            self.write_backs.retain(|&it| it != block);
            self.is_stuck |= !went_well;
        }
        self.free_jobs.push(id);
        if has_units {
            for granted in self.ranges.release(id) {
                self.start(granted);
            }
        }
    }

    /// Both drives' clocks go to the cache's.
    fn advance(&mut self) {
        member::advance(&mut self.members, self.now, &mut self.answers);
    }

    fn next_answer(&mut self) -> Option<Nanos> {
        member::due(&mut self.members).into_iter().chain(self.passing.due()).min()
    }

    /// The next time at which something happens.
    fn next(&mut self) -> Option<Nanos> {
        let is_idle_soon = self.in_flight == 0
            && self.slots.dirty_units() > 0
            && self.write_backs.is_empty()
            && !self.is_stuck;
        let idle = is_idle_soon.then(|| self.used_at.saturating_add(IDLE));
        self.next_answer().into_iter().chain(idle).min()
    }

    /// What was answered so far, carried on.
    fn carry_on(&mut self) {
        loop {
            while let Some(answer) = self.answers.pop_front() {
                self.answered(answer);
                member::fill(&mut self.members, self.now, &mut self.answers);
            }
            let Some(id) = self.passing.through(self.now) else { return };
            self.stage_done(id);
        }
    }
}

impl<T: Target> Target for Cache<T> {
    const CLOCK: Clock = T::CLOCK;

    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn submit(&mut self, tag: Tag, io: Io) {
        let refused = match io.op {
            Op::Trim if !self.config.trim => Some(FaultCause::Unsupported),
            _ => self.geometry.refuses(io),
        };
        if let Some(cause) = refused {
            self.ready.push_back(Err(Fault { tag, io, at: self.now, cause }));
            return;
        }
        self.in_flight += 1;
        self.used_at = self.now;
        let is_moved = matches!(io.op, Op::Read | Op::Write);
        let limit = self.config.bypass_bytes;
        let bypassed = is_moved && limit > 0 && self.streams.bytes(io) >= limit;
        let units = match io.op {
            Op::Flush => 0..0,
            _ => io.lba.0 / UNIT_SECTORS..io.end().div_ceil(UNIT_SECTORS),
        };
        #[cfg(test)]
        self.events.push(super::model::Event::Asked { tag, io });
        self.begin(Purpose::Host { tag, io, bypassed }, units, io.op != Op::Read);
    }

    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        loop {
            self.carry_on();
            self.write_back_on();
            if let Some(answer) = self.ready.pop_front() {
                return answer.map(Some);
            }
            let waits_for_ever = self.in_flight == 0 && until == Nanos::MAX;
            match self.next().filter(|&next| next <= until && !waits_for_ever) {
                Some(next) => {
                    self.now = self.now.max(next);
                    self.advance();
                }
                None => {
                    if until != Nanos::MAX {
                        self.now = self.now.max(until);
                        self.advance();
                    }
                    if self.answers.is_empty() && self.ready.is_empty() {
                        return Ok(None);
                    }
                }
            }
        }
    }

    fn due(&mut self) -> Option<Nanos> {
        if !self.ready.is_empty() || !self.answers.is_empty() {
            return Some(self.now);
        }
        match self.in_flight {
            0 => None,
            _ => self.next_answer().map(|next| next.max(self.now)),
        }
    }

    fn catch_up(&mut self) {
        member::catch_up(&mut self.members);
    }

    fn energy_j(&self, at: Nanos) -> Option<f64> {
        member::energy_j(&self.members, at)
    }
}
