//! The drives of an array or a cache, and the queue before each.

use std::collections::VecDeque;

use fourcorners_drive::{Fault, Io, Nanos, Op, Tag, Target};

use crate::cache::MemberBytes;

/// What a member says of a part of a job.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) job: u32,
    pub(crate) member: usize,
    /// The part.
    pub(crate) io: Io,
    pub(crate) fault: Option<Fault>,
}

/// A drive, what it has in flight and what waits for a place.
#[derive(Clone)]
pub(crate) struct Member<T> {
    number: usize,
    pub(crate) drive: T,
    /// Tags that are free, the next to be used last.
    free: Vec<u32>,
    /// By tag: an I/O in flight, and the job that it belongs to.
    owners: Vec<(u32, Io)>,
    /// Jobs and I/Os for which there was no tag.
    waiting: VecDeque<(u32, Io)>,
    /// What it was asked for.
    pub(crate) bytes: MemberBytes,
    /// It failed, and is not asked any more.
    pub(crate) failed: bool,
}

impl<T: Target> Member<T> {
    pub(crate) fn new(number: usize, drive: T) -> Member<T> {
        let depth = drive.geometry().queue_depth;
        let (free, owners) = ((0..depth).rev().collect(), vec![(0, Io::FLUSH); depth as usize]);
        let (waiting, bytes) = (VecDeque::new(), MemberBytes::default());
        Member { number, drive, free, owners, waiting, bytes, failed: false }
    }

    /// I/Os that it has, in flight or waiting.
    pub(crate) fn load(&self) -> usize {
        self.owners.len() - self.free.len() + self.waiting.len()
    }

    /// Its clock goes to `now`; what was answered on the way is added to `answers`.
    pub(crate) fn advance(&mut self, now: Nanos, answers: &mut VecDeque<Answer>) {
        if self.drive.now() >= now && self.drive.due().is_none_or(|due| due > now) {
            return;
        }
        loop {
            let (tag, fault) = match self.drive.reap(now) {
                Ok(None) => return,
                Ok(Some(done)) => (done.tag, None),
                Err(fault) => (fault.tag, Some(fault)),
            };
            self.free.push(tag.0);
            let (job, io) = self.owners[tag.0 as usize];
            answers.push_back(Answer { job, member: self.number, io, fault });
        }
    }

    /// Whether an I/O waits and the drive has room for it.
    fn is_waiting(&self) -> bool {
        !self.waiting.is_empty() && !self.free.is_empty()
    }

    /// Takes an I/O of a job; it waits where the drive's queue is full.
    pub(crate) fn take(&mut self, job: u32, io: Io) {
        match io.op {
            Op::Read => self.bytes.read += io.bytes(),
            Op::Write => self.bytes.written += io.bytes(),
            Op::Trim | Op::Flush => {}
        }
        self.waiting.push_back((job, io));
        self.fill();
    }

    /// Hands on what waits, as far as there is room. The drive's clock is the array's.
    fn fill(&mut self) {
        while !self.waiting.is_empty()
            && let Some(tag) = self.free.pop()
        {
            let (job, io) = self.waiting.pop_front().expect("it is not empty");
            self.owners[tag as usize] = (job, io);
            self.drive.submit(Tag(tag), io);
        }
    }
}

/// The clock of every drive goes to `now`; what was answered on the way is added to `answers`.
pub(crate) fn advance<T: Target>(
    members: &mut [Member<T>],
    now: Nanos,
    answers: &mut VecDeque<Answer>,
) {
    for member in members {
        member.advance(now, answers);
    }
}

/// Hands on what waits for drives that have room again.
pub(crate) fn fill<T: Target>(
    members: &mut [Member<T>],
    now: Nanos,
    answers: &mut VecDeque<Answer>,
) {
    for member in members.iter_mut().filter(|member| member.is_waiting()) {
        member.advance(now, answers);
        member.fill();
    }
}

/// When the first of the drives answers.
pub(crate) fn due<T: Target>(members: &mut [Member<T>]) -> Option<Nanos> {
    members.iter_mut().filter_map(|member| member.drive.due()).min()
}

/// Has each do its background work up to now.
pub(crate) fn catch_up<T: Target>(members: &mut [Member<T>]) {
    for member in members {
        member.drive.catch_up();
    }
}

/// What all drives used, joules; `None` if one of them does not tell.
pub(crate) fn energy_j<T: Target>(members: &[Member<T>], at: Nanos) -> Option<f64> {
    members.iter().map(|member| member.drive.energy_j(at)).sum()
}
