//! A drive and its contents as requests see them, in virtual time and without any I/O: which request is submitted when,
//! and what it is answered with when.

mod job;
mod payload;
mod power;
mod real;
mod settings;

use std::collections::{BTreeMap, VecDeque};

use fourcorners_drive::{Fault, FaultCause, Io, Nanos, Tag, Target};
use fourcorners_trace::TraceIo;

use crate::contents::{Contents, Snapshot};
use crate::data_log::Logged;
use crate::faults::{Faults, Strike};
use crate::io_log::IoLog;
use crate::nbd::{Command, Errno, Extent, MOST_PAYLOAD, Request};
use job::{Job, Parts};
use payload::logged;
use power::PowerLedger;
use real::OnDrive;

pub use power::{CutError, PowerCut};
pub use real::REAL_IO_BYTES;
pub use settings::TurnSettings;

/// A drive that is served.
#[derive(Debug)]
pub struct Turn<T> {
    target: T,
    contents: Contents,
    settings: TurnSettings,
    /// By tag.
    flights: Vec<Option<Flight>>,
    free: Vec<Tag>,
    jobs: Vec<Option<Job>>,
    free_jobs: Vec<usize>,
    /// Jobs with parts that are not submitted yet, in order of arrival.
    waiting: VecDeque<usize>,
    log: IoLog,
    /// What was stored, flushed and discarded since somebody asked.
    logged: Vec<Logged>,
    faults: Option<Faults>,
    /// Answers that the drive has given and that a fault delays, by when they are due and how many were before.
    delayed: BTreeMap<(Nanos, u64), Answer>,
    delays: u64,
    backlog_most: usize,
    /// What a power cut would take, where the power may be cut.
    power: Option<PowerLedger<T>>,
    /// Longest read or write that the drive is handed.
    most_io_bytes: u32,
    /// Of a drive that holds the data itself; then the contents hold nothing.
    on_drive: Option<OnDrive<T>>,
    /// What such a drive has answered, with the time at which that was seen, until it is looked at.
    noticed: VecDeque<(Tag, Nanos, Option<Fault>)>,
}

/// A part of a job in the drive.
#[derive(Clone, Copy, Debug)]
struct Flight {
    job: usize,
    io: Io,
    entry: u64,
    /// Its number in the ledger of what a cut would take, if there is one.
    event: u64,
}

/// A request's end.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// Whose it is, as told to [`Turn::arrive`].
    pub client: u64,
    /// What was asked. The data of a write are gone; those of a read are here if the drive holds them itself.
    pub request: Request,
    /// When it was taken, in virtual time.
    pub at: Nanos,
    /// When it is due, in virtual time; `None` for what takes no time of a drive.
    pub due: Option<Nanos>,
    /// How it ended.
    pub outcome: Outcome,
    /// A bit of what was read that a fault has turned: which, of its bytes times eight.
    pub flips: Option<u64>,
}

/// How a request ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Done. The data of a read are in the contents, or in the answer's request.
    Done,
    /// Block status.
    Status(Vec<Extent>),
    /// Failed, and why.
    Failed(Errno, String),
}

impl<T: Target> Turn<T> {
    /// A drive with nothing in flight and what it holds.
    pub fn new(target: T, contents: Contents, settings: TurnSettings) -> Turn<T> {
        let depth = target.geometry().queue_depth;
        Turn {
            target,
            contents,
            settings,
            flights: vec![None; depth as usize],
            free: (0..depth).rev().map(Tag).collect(),
            jobs: Vec::new(),
            free_jobs: Vec::new(),
            waiting: VecDeque::new(),
            log: IoLog::default(),
            logged: Vec::new(),
            faults: None,
            delayed: BTreeMap::new(),
            delays: 0,
            backlog_most: 0,
            power: None,
            most_io_bytes: MOST_PAYLOAD,
            on_drive: None,
            noticed: VecDeque::new(),
        }
    }

    /// Injects these from now on.
    pub fn inject(&mut self, faults: Faults) {
        self.faults = Some(faults);
    }

    /// Goes on with another drive of the same size, or this one as it was, whose clock may show another time. Nothing may
    /// be in flight.
    pub(crate) fn exchange(&mut self, target: T) {
        self.target = target;
        self.forget_unsafe();
    }

    /// Goes back to what was stored once. It counts as safe.
    pub(crate) fn rollback(&mut self, snapshot: &Snapshot) {
        self.contents.rollback(snapshot);
        self.forget_unsafe();
    }

    /// The faults, to be changed.
    pub(crate) fn faults_mut(&mut self) -> Option<&mut Faults> {
        self.faults.as_mut()
    }

    /// What it holds, to be changed by whoever is no client.
    pub(crate) fn contents_mut(&mut self) -> &mut Contents {
        &mut self.contents
    }

    /// The faults that are injected.
    pub fn faults(&self) -> Option<&Faults> {
        self.faults.as_ref()
    }

    /// The drive.
    pub fn target(&self) -> &T {
        &self.target
    }

    /// What it holds.
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// Whether nothing is in flight and nothing waits.
    pub fn is_idle(&self) -> bool {
        self.free.len() == self.flights.len() && self.waiting.is_empty() && self.delayed.is_empty()
    }

    /// The most requests that waited for a place in the drive's queue.
    pub fn backlog_most(&self) -> usize {
        self.backlog_most
    }

    /// Virtual time.
    pub fn now(&self) -> Nanos {
        self.target.now()
    }

    /// When [`Turn::pass_until`] may have an answer, if nothing arrives.
    pub fn due(&mut self) -> Option<Nanos> {
        let busy = self.free.len() < self.flights.len();
        let of_drive = if busy { self.target.due() } else { None };
        let delayed = self.delayed.keys().next().map(|(due, _)| *due);
        [of_drive, delayed].into_iter().flatten().min()
    }

    /// I/Os that ended since this was called last, in the order they were issued in.
    pub fn recorded(&mut self) -> impl Iterator<Item = TraceIo> + '_ {
        self.log.finished()
    }

    /// What was stored, flushed and discarded since this was called last.
    pub(crate) fn logged(&mut self) -> std::vec::Drain<'_, Logged> {
        self.logged.drain(..)
    }

    /// A request arrives at `stamp`, or now if that is past. Answers that are due before it come first.
    pub fn arrive(
        &mut self,
        stamp: Nanos,
        client: u64,
        mut request: Request,
        answers: &mut Vec<Answer>,
    ) {
        self.pass_until(stamp, answers);
        let at = self.target.now();
        let mut at_once = |request: Request, outcome: Outcome| {
            answers.push(Answer { client, request, at, due: None, outcome, flips: None });
        };
        let (offset, length) = (request.offset, request.length);
        match request.command {
            Command::Cache => return at_once(request, Outcome::Done),
            Command::BlockStatus { one } => {
                let outcome = match self.extents(offset, length) {
                    Ok(mut extents) => {
                        extents.truncate(if one { 1 } else { usize::MAX });
                        Outcome::Status(extents)
                    }
                    Err(error) => Outcome::Failed(Errno::Io, error.to_string()),
                };
                return at_once(request, outcome);
            }
            Command::WriteZeroes { no_hole, fast: true, .. }
                if no_hole || !self.settings.zeroes_by_trim() =>
            {
                let why = "zeroes are no faster than a write here".to_string();
                return at_once(request, Outcome::Failed(Errno::NotSup, why));
            }
            _ => {}
        }
        let strike =
            self.faults.as_mut().map_or(Strike::NONE, |faults| faults.strike(&request, at));
        if let Some((errno, why)) = strike.refused {
            request.data = Vec::new();
            return at_once(request, Outcome::Failed(errno, why.into()));
        }
        let compressible = self.compressible(&request);
        let parts = Parts::of(&request, self.settings, self.most_io_bytes, compressible);
        let before = match self.replaced(parts) {
            Ok(before) => before,
            Err(error) => {
                request.data = Vec::new();
                return at_once(request, Outcome::Failed(Errno::Io, error.to_string()));
            }
        };
        // A drive that is worn out refuses it when its turn comes; until then, too, it holds what it held.
        let is_trim = matches!(request.command, Command::Trim { .. });
        let is_ignored = is_trim && self.settings.ignores_trims;
        let keeps = strike.drops || self.target.is_read_only() || is_ignored;
        let stored = if keeps { self.keep(&mut request) } else { self.store(&request) };
        if let Err(error) = stored {
            request.data = Vec::new();
            let errno = match error.kind() {
                std::io::ErrorKind::StorageFull => Errno::NoSpc,
                _ => Errno::Io,
            };
            return at_once(request, Outcome::Failed(errno, error.to_string()));
        }
        // A drive that holds its data gets them with its I/Os, and each of those is logged; else they are in the contents now.
        if self.on_drive.is_none() {
            let data = std::mem::take(&mut request.data);
            if self.settings.logs_data {
                self.logged.extend(logged(&request, data, keeps));
                self.logged.extend(parts.flush_behind().then_some(Logged::Flush));
            }
        }
        self.begin_events(at, &request, parts, before);
        if request.command == Command::Flush && self.settings.ignores_flushes {
            return self.ignore_flush(client, request, strike, answers);
        }
        let job = Job {
            client,
            request,
            at,
            asked: at,
            parts,
            in_flight: 0,
            waits_for_its_own: false,
            failed: strike.fails.map(|(errno, why)| (errno, why.into())),
            strike,
        };
        let index = match self.free_jobs.pop() {
            Some(index) => {
                self.jobs[index] = Some(job);
                index
            }
            None => {
                self.jobs.push(Some(job));
                self.jobs.len() - 1
            }
        };
        self.waiting.push_back(index);
        self.submit_waiting();
        self.backlog_most = self.backlog_most.max(self.waiting.len());
    }

    /// Lets virtual time go on until `until`; what is answered by then is added to `answers`.
    pub fn pass_until(&mut self, until: Nanos, answers: &mut Vec<Answer>) {
        // A real drive with nothing in flight has the time of now; what it has answered before is given out all the same.
        if self.noticed.is_empty() && until < self.target.now() {
            return;
        }
        loop {
            // What ends while an answer is copied is seen before the next is.
            self.notice();
            let delayed = self.delayed.keys().next().map(|(due, _)| *due);
            let next = match self.noticed.pop_front() {
                Some(noticed) => Some(noticed),
                None => ended_by(&mut self.target, until.min(delayed.unwrap_or(until))),
            };
            let (tag, at, failed) = match next {
                None if delayed.is_some_and(|due| due <= until) => {
                    answers.extend(self.delayed.pop_first().map(|(_, answer)| answer));
                    continue;
                }
                None => return,
                Some(ended) => ended,
            };
            self.ended(tag, at, failed, answers);
            // The place that is free now is taken at this moment, not at the next arrival.
            self.submit_waiting();
        }
    }

    fn ended(&mut self, tag: Tag, at: Nanos, failed: Option<Fault>, answers: &mut Vec<Answer>) {
        let Some(flight) = self.flights.get_mut(tag.0 as usize).and_then(Option::take) else {
            return;
        };
        self.free.push(tag);
        let strike = self.jobs[flight.job].as_ref().map_or(Strike::NONE, |job| job.strike);
        let asked = self.jobs[flight.job].as_ref().map_or(at, |job| job.at);
        let due = strike.delays(asked, at);
        let held = failed.is_some() || self.take(tag, flight.io, flight.job);
        let fails = failed.is_some() || strike.fails.is_some() || !held;
        self.log.end(flight.entry, due, fails);
        if let Some(power) = &mut self.power {
            power.answered(flight.event, due, fails);
        }
        let Some(job) = self.jobs[flight.job].as_mut() else { return };
        job.in_flight -= 1;
        if let Some(fault) = failed {
            job.failed = Some((errno_of(&fault), fault.to_string()));
        } else if !held {
            job.failed = Some((Errno::Io, "what was read is not there".into()));
        }
        // What a real drive is to flush has to have ended, and well.
        if job.failed.is_some() && self.on_drive.is_some() {
            job.parts.forget_flush();
        }
        if job.in_flight > 0 {
            return;
        }
        if !job.parts.is_empty() {
            // The flush that has waited for them is asked for now.
            if job.waits_for_its_own {
                job.waits_for_its_own = false;
                job.asked = at;
                self.waiting.push_back(flight.job);
            }
            return;
        }
        if let Some(job) = self.jobs[flight.job].take() {
            self.free_jobs.push(flight.job);
            let outcome = match job.failed {
                None => Outcome::Done,
                Some((errno, why)) => Outcome::Failed(errno, why),
            };
            let Job { client, mut request, at: arrived, strike, .. } = job;
            if !matches!(request.command, Command::Read { .. }) {
                request.data = Vec::new();
            }
            let flips = strike.flips;
            let answer = Answer { client, request, at: arrived, due: Some(due), outcome, flips };
            self.give(answer, due, at, answers);
        }
    }

    /// Gives an answer that is due at a time, or keeps it until then.
    fn give(&mut self, answer: Answer, due: Nanos, now: Nanos, answers: &mut Vec<Answer>) {
        if due > now {
            self.delayed.insert((due, self.delays), answer);
            self.delays += 1;
        } else {
            answers.push(answer);
        }
    }

    /// Answers a flush for which nothing is done.
    fn ignore_flush(
        &mut self,
        client: u64,
        request: Request,
        strike: Strike,
        answers: &mut Vec<Answer>,
    ) {
        let at = self.target.now();
        let due = strike.delays(at, at);
        let entry = self.log.begin(self.settings.records, at, Io::FLUSH, false);
        self.log.end(entry, due, strike.fails.is_some());
        if let (None, Some(power)) = (strike.fails, &mut self.power) {
            power.ignores_flush(at);
        }
        let outcome = match strike.fails {
            None => Outcome::Done,
            Some((errno, why)) => Outcome::Failed(errno, why.into()),
        };
        let answer = Answer { client, request, at, due: Some(due), outcome, flips: None };
        self.give(answer, due, at, answers);
    }

    fn submit_waiting(&mut self) {
        while let Some(&index) = self.waiting.front() {
            let Some(job) = self.jobs[index].as_mut() else {
                self.waiting.pop_front();
                continue;
            };
            if job.parts.is_empty() {
                self.waiting.pop_front();
                continue;
            }
            // A model takes commands in order; a real drive's flush says nothing of what is still on its way.
            if self.on_drive.is_some() && job.in_flight > 0 && job.parts.only_flush_is_left() {
                job.waits_for_its_own = true;
                self.waiting.pop_front();
                continue;
            }
            let Some(tag) = self.free.pop() else { return };
            let Some(mut io) = job.parts.next() else { return };
            job.in_flight += 1;
            let zeroes = matches!(job.request.command, Command::WriteZeroes { .. });
            let entry = self.log.begin(self.settings.records, job.asked, io, zeroes);
            if self.on_drive.is_some() && self.settings.logs_data {
                self.logged.extend(job.logged(io));
            }
            io.fua &= !self.settings.ignores_flushes;
            let event = match &mut self.power {
                None => 0,
                Some(power) => power.submits(&self.target, io),
            };
            self.flights[tag.0 as usize] = Some(Flight { job: index, io, entry, event });
            self.submit(tag, io, index);
            if let Some(power) = &mut self.power {
                power.hear(&mut self.target);
            }
        }
    }

    /// What is stored from `offset` on. A drive that holds its data does not tell what was never written.
    fn extents(&self, offset: u64, length: u64) -> std::io::Result<Vec<Extent>> {
        match self.on_drive {
            None => self.contents.extents(offset, length),
            Some(_) => Ok(vec![Extent { length, hole: false }]),
        }
    }
}

/// The next end of an I/O by a time: its tag, when, and why it failed if it did.
fn ended_by<T: Target>(target: &mut T, until: Nanos) -> Option<(Tag, Nanos, Option<Fault>)> {
    match target.reap(until) {
        Ok(done) => done.map(|done| (done.tag, done.at, None)),
        Err(fault) => Some((fault.tag, fault.at, Some(fault))),
    }
}

fn errno_of(fault: &Fault) -> Errno {
    match fault.cause {
        FaultCause::OutOfRange { .. } | FaultCause::Unaligned { .. } => Errno::Inval,
        FaultCause::Unsupported => Errno::NotSup,
        FaultCause::WornOut => Errno::Perm,
        FaultCause::Os { errno } => errno_of_os(errno),
        _ => Errno::Io,
    }
}

/// The word of the protocol for an error of the operating system, where it has one.
fn errno_of_os(errno: i32) -> Errno {
    use rustix::io::Errno as Os;
    match Os::from_raw_os_error(errno) {
        Os::NOSPC | Os::DQUOT | Os::FBIG => Errno::NoSpc,
        Os::PERM | Os::ROFS => Errno::Perm,
        Os::OPNOTSUPP => Errno::NotSup,
        _ => Errno::Io,
    }
}
