//! The array as a target: I/Os become jobs of its members, and are answered when all parts are.

use std::collections::{BTreeMap, VecDeque};

use fourcorners_drive::{
    Clock, Done, Fault, FaultCause, Geometry, Io, Lba, Nanos, Op, Tag, Target,
};

use crate::cache::MemberBytes;
use crate::layer::Passing;
use crate::layout::{Layout, LayoutError, Level};
use crate::member::{self, Answer, Member};
use crate::rebuild::Rebuild;
use crate::work::{Job, Members};

/// Most I/Os of an array in flight, whatever its members take.
const MOST_IN_FLIGHT: u32 = 65_536;
/// The host of a job that rebuilds.
const NOBODY: u32 = u32::MAX;

/// How an array is made.
#[derive(Clone, PartialEq, Debug)]
pub struct ArrayConfig {
    /// How its members make one.
    pub level: Level,
    /// Bytes of a chunk: a power of two from 4 KiB to 16 MiB.
    pub chunk_bytes: u64,
    /// Whether a TRIM goes on to the members; else it is refused.
    pub trim: bool,
    /// A member that has failed, from 0.
    pub failed: Option<usize>,
    /// The failed one is there again, new, and gets its data back at so many MB/s (10^6 bytes per second).
    pub rebuild_mb_per_s: Option<f64>,
}

impl Default for ArrayConfig {
    /// Two or more drives striped in chunks of 128 KiB, that pass a TRIM on.
    fn default() -> ArrayConfig {
        ArrayConfig {
            level: Level::Raid0,
            chunk_bytes: crate::CHUNK_BYTES,
            trim: true,
            failed: None,
            rebuild_mb_per_s: None,
        }
    }
}

/// Why there is no such array.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ArrayError {
    /// Its members do not make one.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A member that is not there has failed.
    #[error("drive {} of {members} has failed: there is none of that number", failed + 1)]
    Failed {
        /// Which, from 0.
        failed: usize,
        /// How many there are.
        members: usize,
    },
    /// Without one of its members it is none.
    #[error("{} without one of its drives has lost its data", level.name())]
    Lost {
        /// The level.
        level: Level,
    },
    /// A rebuild without a rate, or of nothing.
    #[error(
        "a rebuild at {mb_per_s} MB/s: it takes a failed drive and a rate from 0.001 to 100,000"
    )]
    Rebuild {
        /// The rate.
        mb_per_s: f64,
    },
}

/// What an array did beside what it was asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ArrayCounts {
    /// I/Os of members.
    pub member_ios: u64,
    /// Of these: reads of old data and parity for a write.
    pub reads_for_writes: u64,
    /// Reads that a member failed and others answered.
    pub repaired_reads: u64,
    /// Bytes of the member that is new that have their data again.
    pub rebuilt_bytes: u64,
}

/// Several drives as one.
#[derive(Clone)]
pub struct Array<T> {
    layout: Layout,
    trim: bool,
    members: Vec<Member<T>>,
    geometry: Geometry,
    now: Nanos,
    /// By tag: the I/O that is in flight under it.
    hosts: Vec<Option<Host>>,
    in_flight: u32,
    jobs: Vec<Running>,
    free_jobs: Vec<u32>,
    /// By stripe that is written: the jobs that wait for it.
    stripes: BTreeMap<u64, VecDeque<u32>>,
    /// Jobs that ask nothing of any member.
    passing: Passing,
    answers: VecDeque<Answer>,
    ready: VecDeque<Result<Done, Fault>>,
    rebuild: Option<Rebuild>,
    /// Whom a mirror read last.
    read_last: usize,
    counts: ArrayCounts,
    /// Whether all members tell their energy, at any time.
    tells_energy: bool,
}

/// An I/O of the array.
#[derive(Clone)]
struct Host {
    io: Io,
    jobs_left: u32,
    fault: Option<FaultCause>,
    /// It was begun again without a drive that failed it.
    again: bool,
}

/// A job whose parts are in flight or wait for their stripe.
#[derive(Clone, Default)]
struct Running {
    job: Job,
    host: u32,
    left: u32,
    /// The last parts are out.
    last: bool,
    fault: Option<FaultCause>,
}

impl<T: Target> Array<T> {
    /// The array of these drives, whose clocks all stand at the same time.
    ///
    /// # Errors
    /// [`ArrayError`].
    pub fn new(config: &ArrayConfig, drives: Vec<T>) -> Result<Array<T>, ArrayError> {
        let geometries: Vec<Geometry> = drives.iter().map(Target::geometry).collect();
        let layout = Layout::new(config.level, config.chunk_bytes, &geometries)?;
        let mut members: Vec<Member<T>> =
            drives.into_iter().enumerate().map(|(at, it)| Member::new(at, it)).collect();
        if let Some(failed) = config.failed {
            if failed >= members.len() {
                return Err(ArrayError::Failed { failed, members: members.len() });
            }
            if !config.level.is_redundant() {
                return Err(ArrayError::Lost { level: config.level });
            }
            members[failed].failed = config.rebuild_mb_per_s.is_none();
        }
        let rebuild = match (config.failed, config.rebuild_mb_per_s) {
            (Some(member), Some(rate)) if (0.001..=1e5).contains(&rate) => {
                Some(Rebuild::new(member, rate, &layout))
            }
            (_, Some(mb_per_s)) => return Err(ArrayError::Rebuild { mb_per_s }),
            (_, None) => None,
        };
        let depths = geometries.iter().map(|it| u64::from(it.queue_depth)).sum::<u64>();
        let geometry = Geometry {
            sectors: layout.sectors(),
            logical_block_bytes: geometries
                .iter()
                .map(|it| it.logical_block_bytes)
                .max()
                .unwrap_or(512),
            queue_depth: depths.min(MOST_IN_FLIGHT.into()) as u32,
        };
        let now = members.first().map_or(Nanos::ZERO, |it| it.drive.now());
        let tells_energy = members.iter().all(|it| it.drive.energy_j(now).is_some());
        Ok(Array {
            layout,
            trim: config.trim,
            members,
            geometry,
            now,
            hosts: (0..geometry.queue_depth).map(|_| None).collect(),
            in_flight: 0,
            jobs: Vec::new(),
            free_jobs: Vec::new(),
            stripes: BTreeMap::new(),
            passing: Passing::default(),
            answers: VecDeque::new(),
            ready: VecDeque::new(),
            rebuild,
            read_last: 0,
            counts: ArrayCounts::default(),
            tells_energy,
        })
    }

    /// Where its sectors are.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Its drives, in order.
    pub fn members(&self) -> impl Iterator<Item = &T> {
        self.members.iter().map(|member| &member.drive)
    }

    /// The same, to purge or to settle them: nothing may be in flight. If a rebuild is at work, its present step is
    /// finished first.
    pub fn members_mut(&mut self) -> impl Iterator<Item = &mut T> {
        debug_assert_eq!(self.in_flight, 0);
        self.carry_on();
        while self.rebuild.as_ref().is_some_and(|rebuild| rebuild.due().is_none())
            && let Some(next) = member::due(&mut self.members)
        {
            self.now = self.now.max(next);
            self.advance();
            self.carry_on();
        }
        self.members.iter_mut().map(|member| &mut member.drive)
    }

    /// The members that hold a sector of it, each with the sector there. A member that has failed, or has not got that
    /// data back yet, holds nothing.
    pub fn holders(&self, lba: Lba) -> impl Iterator<Item = (&T, Lba)> {
        let inside = lba.0 < self.layout.sectors();
        let piece = inside.then(|| self.layout.piece(lba.0, lba.0 + 1));
        let copies = piece
            .into_iter()
            .flat_map(|piece| self.layout.copies(piece.on).map(move |member| (member, piece.lba)));
        copies
            .filter(|&(member, lba)| !is_missing(&self.members, self.rebuild.as_ref(), member, lba))
            .map(|(member, lba)| (&self.members[member].drive, Lba(lba)))
    }

    /// Brings the clocks of drives that were used by themselves together again, at the latest of them.
    pub fn meet(&mut self) {
        let latest = self.members.iter().map(|it| it.drive.now()).max().unwrap_or(self.now);
        self.now = self.now.max(latest);
        self.advance();
    }

    /// What it did beside what it was asked for.
    pub fn counts(&self) -> ArrayCounts {
        self.counts
    }

    /// What each of its drives was asked for, that of a rebuild with it.
    pub fn member_bytes(&self) -> impl Iterator<Item = MemberBytes> {
        self.members.iter().map(|member| member.bytes)
    }

    /// Which of its drives are not asked any more.
    pub fn failed(&self) -> Vec<usize> {
        (0..self.members.len()).filter(|&member| self.members[member].failed).collect()
    }

    fn plan(&mut self, io: Io) -> Option<Vec<Job>> {
        let (members, rebuild) = (&self.members, &self.rebuild);
        let missing = |member: usize, lba: u64| is_missing(members, rebuild.as_ref(), member, lba);
        let last = &mut self.read_last;
        // The one with the least to do; of equals the next in turn.
        let mut reader = |there: &[usize]| {
            let after = |&member: &usize| (member + members.len() - *last - 1) % members.len();
            let least =
                there.iter().copied().min_by_key(|member| (members[*member].load(), after(member)));
            *last = least.unwrap_or(0);
            *last
        };
        Members { layout: &self.layout, missing: &missing, reader: &mut reader }.jobs(io)
    }

    fn begin(&mut self, job: Job, host: u32) {
        let stripe = job.stripe;
        let running = Running { job, host, ..Running::default() };
        let id = match self.free_jobs.pop() {
            Some(id) => {
                self.jobs[id as usize] = running;
                id
            }
            None => {
                self.jobs.push(running);
                self.jobs.len() as u32 - 1
            }
        };
        match stripe {
            Some(stripe) if self.stripes.contains_key(&stripe) => {
                self.stripes.entry(stripe).or_default().push_back(id);
                return;
            }
            Some(stripe) => {
                self.stripes.insert(stripe, VecDeque::new());
            }
            None => {}
        }
        self.issue(id);
    }

    /// The first parts of a job, or its last.
    fn issue(&mut self, id: u32) {
        let running = &mut self.jobs[id as usize];
        let parts = match running.last {
            true => std::mem::take(&mut running.job.then),
            false => running.job.first.clone(),
        };
        running.last |= running.job.then.is_empty();
        running.left = parts.len() as u32;
        if running.host != NOBODY {
            self.counts.member_ios += parts.len() as u64;
            if running.job.stripe.is_some() {
                let reads = parts.iter().filter(|part| part.io.op == Op::Read).count();
                self.counts.reads_for_writes += reads as u64;
            }
        }
        if parts.is_empty() {
            self.passing.begin(id, self.now);
            return;
        }
        for part in parts {
            let member = &mut self.members[part.member];
            member.advance(self.now, &mut self.answers);
            member.take(id, part.io);
        }
    }

    /// A part of a job was answered.
    fn answered(&mut self, answer: Answer) {
        let id = answer.job;
        if let Some(fault) = answer.fault {
            self.failed_part(id, answer.member, fault);
        }
        let running = &mut self.jobs[id as usize];
        running.left -= 1;
        if running.left > 0 {
            return;
        }
        if !running.last && running.fault.is_none() {
            running.last = true;
            self.issue(id);
            return;
        }
        self.finish(id);
    }

    /// A drive that fails a write is not asked any more, where there is another; a read is answered by the others.
    fn failed_part(&mut self, id: u32, member: usize, fault: Fault) {
        let unsupported = matches!(fault.cause, FaultCause::Unsupported);
        let lost = (0..self.members.len()).any(|it| it != member && self.members[it].failed);
        let running = &mut self.jobs[id as usize];
        if !self.layout.level().is_redundant() || lost || unsupported {
            running.fault = Some(fault.cause);
            return;
        }
        self.members[member].failed = true;
        if fault.io.op == Op::Read {
            self.counts.repaired_reads += 1;
            running.fault = Some(fault.cause);
        }
    }

    /// All parts of a job are answered.
    fn finish(&mut self, id: u32) {
        let running = std::mem::take(&mut self.jobs[id as usize]);
        self.free_jobs.push(id);
        if let Some(stripe) = running.job.stripe
            && let Some(waiting) = self.stripes.get_mut(&stripe)
        {
            match waiting.pop_front() {
                Some(next) => self.issue(next),
                None => {
                    self.stripes.remove(&stripe);
                }
            }
        }
        if running.host == NOBODY {
            if let Some(rebuild) = &mut self.rebuild {
                self.counts.rebuilt_bytes += rebuild.advance();
                if rebuild.is_done() {
                    self.rebuild = None;
                }
            }
            return;
        }
        let host = self.hosts[running.host as usize].as_mut().expect("it is in flight");
        host.jobs_left -= 1;
        host.fault = host.fault.or(running.fault);
        if host.jobs_left == 0 {
            self.answer(Tag(running.host));
        }
    }

    /// An I/O of the array is done, or is tried again without the drive that failed it.
    fn answer(&mut self, tag: Tag) {
        let host = self.hosts[tag.0 as usize].take().expect("it is in flight");
        if let Some(cause) = host.fault {
            let failed = self.members.iter().any(|it| it.failed);
            let again = failed && !host.again && !matches!(cause, FaultCause::Unsupported);
            match if again { self.plan(host.io) } else { None } {
                Some(jobs) if !jobs.is_empty() => self.start(tag, host.io, jobs, true),
                _ => {
                    self.in_flight -= 1;
                    self.ready.push_back(Err(Fault { tag, io: host.io, at: self.now, cause }));
                }
            }
            return;
        }
        self.in_flight -= 1;
        self.ready.push_back(Ok(Done { tag, at: self.now }));
    }

    fn start(&mut self, tag: Tag, io: Io, jobs: Vec<Job>, again: bool) {
        let host = Host { io, jobs_left: jobs.len() as u32, fault: None, again };
        self.hosts[tag.0 as usize] = Some(host);
        for job in jobs {
            self.begin(job, tag.0);
        }
    }

    /// Every drive's clock goes to the array's.
    fn advance(&mut self) {
        member::advance(&mut self.members, self.now, &mut self.answers);
    }

    /// The next time at which something happens.
    fn next(&mut self) -> Option<Nanos> {
        let dues = member::due(&mut self.members);
        let rebuild = self.rebuild.as_ref().and_then(Rebuild::due);
        dues.into_iter().chain(rebuild).chain(self.passing.due()).min()
    }

    /// What was answered so far, carried on.
    fn carry_on(&mut self) {
        loop {
            while let Some(answer) = self.answers.pop_front() {
                self.answered(answer);
                member::fill(&mut self.members, self.now, &mut self.answers);
            }
            let Some(id) = self.passing.through(self.now) else { return };
            self.finish(id);
        }
    }

    fn rebuild_on(&mut self) {
        if let Some(rebuild) = &mut self.rebuild
            && let Some(job) = rebuild.begin(self.now, &self.layout)
        {
            self.begin(job, NOBODY);
        }
    }
}

/// Whether a member does not have what belongs in this sector of it.
fn is_missing<T>(
    members: &[Member<T>],
    rebuild: Option<&Rebuild>,
    member: usize,
    lba: u64,
) -> bool {
    members[member].failed || rebuild.is_some_and(|rebuild| rebuild.is_missing(member, lba))
}

impl<T: Target> Target for Array<T> {
    const CLOCK: Clock = T::CLOCK;

    fn geometry(&self) -> Geometry {
        self.geometry
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn submit(&mut self, tag: Tag, io: Io) {
        let refused = match io.op {
            Op::Trim if !self.trim => Some(FaultCause::Unsupported),
            _ => self.geometry.refuses(io),
        };
        let jobs = match refused {
            Some(cause) => Err(cause),
            // Its data is lost: what the system answers when a device is gone.
            None => self.plan(io).ok_or(FaultCause::Os { errno: 5 }),
        };
        match jobs {
            Ok(jobs) => {
                self.in_flight += 1;
                self.start(tag, io, jobs, false);
            }
            Err(cause) => self.ready.push_back(Err(Fault { tag, io, at: self.now, cause })),
        }
    }

    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        loop {
            self.carry_on();
            if let Some(answer) = self.ready.pop_front() {
                return answer.map(Some);
            }
            let idle = self.in_flight == 0;
            match self.next().filter(|&next| next <= until && !(idle && until == Nanos::MAX)) {
                Some(next) => {
                    self.now = self.now.max(next);
                    if self.tells_energy {
                        self.advance();
                    } else {
                        for member in &mut self.members {
                            if member.drive.due().is_some_and(|due| due <= self.now) {
                                member.advance(self.now, &mut self.answers);
                            }
                        }
                    }
                    self.carry_on();
                    self.rebuild_on();
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
            _ => self.next().map(|next| next.max(self.now)),
        }
    }

    fn catch_up(&mut self) {
        member::catch_up(&mut self.members);
    }

    fn energy_j(&self, at: Nanos) -> Option<f64> {
        member::energy_j(&self.members, at)
    }
}
