//! A real drive: a Linux block device or a regular file, through io_uring.
//!
//! Its `unsafe` code lends memory to the kernel. Two rules make that sound.
//! The memory is reached by raw pointers only, never by a reference, while the kernel has it; and
//! it is unmapped only after every I/O on it has been answered (see `Drop`).
//!
//! One ring with registered file and buffers serves a drive, with `SINGLE_ISSUER` and `DEFER_TASKRUN`
//! where the kernel has them.
//!
//! - **Write data** comes from blocks of the tag that stay in a processor's cache; each block is numbered
//!   before it is written, so none repeats (`pools.rs`).
//! - **I/O that the kernel cannot begin without waiting** (writes to the page cache of some file systems, all
//!   I/O of a file in memory) is done by the loop itself (`here.rs`).
//! - **Waiting**: before an I/O is due the loop looks at the clock, because waking up would be late
//!   (`clock.rs`); it looks for completions where a wait would be shorter than two wake-ups (`brief.rs`). A
//!   distant time is an entry of the ring, and waits have no limit of their own (`alarm.rs`).
//! - **Latency** runs from submission to when the batch of completions was noticed, so our own queueing is in
//!   it. The clock is read once per batch, and before a submit when nothing is in flight.
//! - **A file is written once before it is measured** (`laid out`): blocks that were never written would
//!   be answered from memory.

#![allow(unsafe_code)]

mod alarm;
mod brief;
mod buffers;
mod clock;
mod content;
mod discard;
mod discard_thread;
mod enter;
mod error;
mod given;
mod here;
mod making;
mod polled;
mod pools;
mod request;
mod setup;
mod traffic;
mod wait;

use std::cell::Cell;
use std::collections::VecDeque;
use std::fs::File;
use std::mem::ManuallyDrop;

use fourcorners_drive::{Clock, Done, Fault, FaultCause, Geometry, Io, Nanos, Op, Tag, Target};
use io_uring::{IoUring, opcode};
use rustix::io::Errno;

pub use discard::{ONLY_DEVICES_ARE_PURGED, Purged};
pub use error::UringError;
pub use setup::{Granted, Modes, Setup, SubmissionThread};

use crate::guard::Lease;
use alarm::Alarm;
use brief::Brief;
use buffers::{Buffer, Buffers};
pub use clock::{Waking, clock};
use discard::Discard;
use discard_thread::DiscardThread;
use here::Here;
use request::{Outcome, Request};
use setup::Completions;
use wait::Wait;

/// A block device or a regular file as a drive in wall time.
///
/// It stays on the thread that made it, the only one that may use its ring.
pub struct Uring {
    ring: IoUring,
    file: File,
    geometry: Geometry,
    max_block_bytes: u32,
    completions: Completions,
    asked: Modes,
    /// Every I/O is one that does nothing.
    null: bool,
    direct: bool,
    discard: Discard,
    discards: DiscardThread,
    buffers: ManuallyDrop<Buffers>,
    /// By tag: what is in flight under it.
    in_flight: Box<[Option<Request>]>,
    flying: u32,
    /// Of those flying, how many the kernel was not told of yet.
    queued: u32,
    /// The target had answered everything when completions were noticed last.
    at_once: bool,
    /// The last wait was longer than the processor's work on what was in flight.
    takes_its_time: bool,
    /// Completions that were in the queue when the clock was read last.
    noticed: usize,
    /// When so many are queued, they go to the kernel.
    refill_at: u32,
    /// I/Os refused at submission.
    refused: VecDeque<Fault>,
    /// I/Os that are carried out by this thread.
    here: Here,
    /// How late this machine wakes us.
    waking: Waking,
    /// Whether waits are too short for that.
    brief: Brief,
    /// Ends waits that have no limit; none where the ring cannot have it.
    alarm: Option<Alarm>,
    /// The ring itself failed with this error number: nothing can complete any more.
    broken: Option<i32>,
    now: Cell<Nanos>,
    /// Kept until the last I/O is answered.
    lease: Lease,
}

impl Uring {
    /// Keeps the right to write the file until this is dropped.
    pub fn hold(&mut self, lease: Lease) {
        self.lease = lease;
    }

    /// What the kernel granted.
    pub fn granted(&self) -> Granted {
        Granted {
            deferred_completions: self.completions == Completions::Deferred,
            registered_reads: self.buffers.reads_registered(),
            registered_writes: self.buffers.writes_registered(),
            direct: self.direct,
        }
    }

    /// How long it looked at the clock so far so that I/Os were not late: CPU time that no I/O took.
    pub fn looked_at_the_clock(&self) -> Nanos {
        self.waking.total_looked()
    }

    /// Makes the data for writes of which compression would remove `percent` %, so that the first
    /// such write does not have to (it takes some ms). 0 and 100 are there from the beginning.
    ///
    /// # Errors
    /// When memory is short.
    pub fn prepare(&mut self, percent: u8) -> Result<(), UringError> {
        self.buffers.prepare(percent, &self.ring.submitter())
    }

    /// Discards everything on a block device, so that it is as empty as when it was new. Not
    /// measured; to be called with nothing in flight.
    ///
    /// # Errors
    /// [`UringError::PurgeUnsupported`] for a regular file and for a device that takes no
    /// discards; [`UringError::File`] when the device fails it.
    pub fn purge(&mut self) -> Result<Purged, UringError> {
        discard::purge(&self.file, self.geometry.bytes())
    }

    /// Waits until everything written is on the medium (`fdatasync`).
    ///
    /// # Errors
    /// When the drive could not write it.
    pub fn sync(&mut self) -> Result<(), UringError> {
        rustix::fs::fdatasync(&self.file)
            .map_err(|errno| UringError::File { doing: "flush", source: errno.into() })
    }

    /// Why an I/O cannot be done under this tag, if it cannot.
    #[inline]
    fn check(&self, tag: Tag, io: Io) -> Result<(), FaultCause> {
        if let Some(errno) = self.broken {
            return Err(FaultCause::Os { errno });
        }
        match self.in_flight.get(tag.0 as usize) {
            None => return Err(os(Errno::INVAL)),
            Some(Some(_)) => return Err(os(Errno::BUSY)),
            Some(None) => {}
        }
        if let Some(cause) = self.geometry.refuses(io) {
            return Err(cause);
        }
        match io.op {
            Op::Read | Op::Write if io.bytes() > u64::from(self.max_block_bytes) => {
                Err(os(Errno::INVAL))
            }
            Op::Trim if self.discard == Discard::No => Err(FaultCause::Unsupported),
            _ => Ok(()),
        }
    }

    /// The memory for `io`, or why it cannot be done.
    #[inline]
    fn buffer(&mut self, tag: Tag, io: Io) -> Result<Buffer, FaultCause> {
        self.check(tag, io)?;
        match io.op {
            Op::Write => {
                let bytes = io.bytes() as u32;
                match self.buffers.write_source(tag.0, io.compressible_percent, bytes) {
                    Some(buffer) => Ok(buffer),
                    None => self.first_of_its_kind(tag, io.compressible_percent, bytes),
                }
            }
            _ => Ok(self.buffers.read_slot(tag.0)),
        }
    }

    #[cold]
    fn first_of_its_kind(
        &mut self,
        tag: Tag,
        percent: u8,
        bytes: u32,
    ) -> Result<Buffer, FaultCause> {
        self.prepare(percent)
            .ok()
            .and_then(|()| self.buffers.write_source(tag.0, percent, bytes))
            .ok_or(os(Errno::NOMEM))
    }

    /// Queues an I/O that was checked.
    #[inline]
    fn send(&mut self, tag: Tag, io: Io, buffer: Buffer) {
        let mut request =
            Request { io, buffer, moved_bytes: 0, discard: self.discard, event: None };
        if io.op == Op::Trim && self.discard == Discard::Ioctl {
            match self.discards.begin(&self.file, tag, io) {
                Ok(event) => request.event = Some(event),
                Err(errno) => return self.refuse(tag, io, os(errno)),
            }
        }
        if self.asked.submission_thread.is_some() {
            // It takes what is queued at any time.
            self.buffers.number();
        }
        self.in_flight[tag.0 as usize] = Some(request);
        let with_the_kernel = self.flying - self.here.count();
        self.flying += 1;
        if self.here.takes(io, with_the_kernel) && !self.null {
            self.here.queue(tag);
        } else {
            self.push(tag, &request);
        }
    }

    /// The next [`Target::reap`] says why it was not done.
    #[cold]
    fn refuse(&mut self, tag: Tag, io: Io, cause: FaultCause) {
        self.refused.push_back(Fault { tag, io, at: Nanos::ZERO, cause });
    }

    /// Queues what is left of the request.
    #[inline]
    fn push(&mut self, tag: Tag, request: &Request) {
        let entry = if self.null { opcode::Nop::new().build() } else { request.entry() };
        let entry = entry.user_data(u64::from(tag.0));
        // SAFETY: the entry's memory is a read slot or part of a pool, of the length it says, and
        // stays mapped until the I/O is answered.
        let mut pushed = unsafe { self.ring.submission().push(&entry) };
        // The submission queue has room for every tag, and a tag is queued once; only a thread of the
        // kernel may be late in saying that a place is free.
        while pushed.is_err() && self.asked.submission_thread.is_some() {
            let _ = self.enter(Wait::Never);
            // SAFETY: as above.
            pushed = unsafe { self.ring.submission().push(&entry) };
        }
        debug_assert!(pushed.is_ok());
        self.queued += 1;
    }

    /// The outcome of the next noticed completion; `None` when the rest of it was asked for, or it was
    /// no I/O's.
    #[inline]
    fn take(&mut self) -> Option<Result<Done, Fault>> {
        self.noticed -= 1;
        let entry = self.ring.completion().next()?;
        if self.rang(entry.user_data(), entry.result()) {
            return None;
        }
        self.answer(Tag(entry.user_data() as u32), entry.result())
    }

    /// What the kernel's `result` for a tag means; `None` when the rest of it was asked for.
    #[inline]
    fn answer(&mut self, tag: Tag, result: i32) -> Option<Result<Done, Fault>> {
        let slot = self.in_flight.get_mut(tag.0 as usize)?;
        let mut request = (*slot)?;
        let direct_block_bytes = if self.direct { self.geometry.logical_block_bytes } else { 1 };
        let mut outcome = match (self.null, request.event) {
            (false, None) => request.answered(result, direct_block_bytes),
            (false, Some(_)) => self.discards.answered(tag, &mut request, result),
            (true, _) => Outcome::Done,
        };
        if request.io.op == Op::Trim
            && let Some(next) = request.discard.after(result)
            // A polled ring has no entry that could tell of its end.
            && !self.asked.polled
        {
            request.discard = next;
            self.discard = next;
            outcome = match self.discards.begin(&self.file, tag, request.io) {
                Ok(event) => {
                    request.event = Some(event);
                    Outcome::Again
                }
                Err(errno) => Outcome::Failed(os(errno)),
            };
        }
        let at = self.now.get();
        let result = match outcome {
            Outcome::Again => {
                *slot = Some(request);
                self.push(tag, &request);
                return None;
            }
            Outcome::Done => Ok(Done { tag, at }),
            Outcome::Failed(cause) => Err(Fault { tag, io: request.io, at, cause }),
        };
        *slot = None;
        self.flying -= 1;
        Some(result)
    }

    /// One of those in flight, failed because the ring did.
    #[cold]
    fn abandon(&mut self, errno: i32) -> Option<Fault> {
        let tag = self.in_flight.iter().position(Option::is_some)?;
        let request = self.in_flight[tag].take()?;
        self.flying -= 1;
        let at = self.now.get();
        let cause = FaultCause::Os { errno };
        Some(Fault { tag: Tag(tag as u32), io: request.io, at, cause })
    }
}

impl Target for Uring {
    const CLOCK: Clock = Clock::Wall;

    fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// With I/Os in flight, the clock when completions were last noticed. With none, the clock
    /// now: a job that begins later must not begin at the end of the last one.
    #[inline]
    fn now(&self) -> Nanos {
        if self.flying == 0 {
            self.now.set(clock());
        }
        self.now.get()
    }

    #[inline]
    fn submit(&mut self, tag: Tag, io: Io) {
        match self.buffer(tag, io) {
            Ok(buffer) => self.send(tag, io, buffer),
            Err(cause) => self.refuse(tag, io, cause),
        }
    }

    /// A tag that is in flight already is refused with EBUSY, one that is not below the queue
    /// depth with EINVAL.
    #[inline]
    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        if let Some(fault) = self.refused.pop_front() {
            return Err(Fault { at: self.now(), ..fault });
        }
        loop {
            while self.noticed > 0 {
                if self.now.get() > until {
                    return Ok(None);
                }
                self.refill();
                if let Some(result) = self.take() {
                    return result.map(Some);
                }
            }
            if let Some((tag, result)) = self.here.done() {
                if let Some(result) = self.answer(tag, result) {
                    return result.map(Some);
                }
                continue;
            }
            if self.here.count() > 0 {
                self.buffers.number();
                self.here.carry_out(&self.file, &self.in_flight);
                self.now.set(clock());
                continue;
            }
            if let Some(fault) = self.broken.and_then(|errno| self.abandon(errno)) {
                return Err(fault);
            }
            if self.flying == 0 {
                if until != Nanos::MAX {
                    self.now.set(self.waking.sleep(until));
                }
                return Ok(None);
            }
            if !self.wait(until) && self.broken.is_none() {
                return Ok(None);
            }
        }
    }
}

impl Drop for Uring {
    /// Waits for what the kernel still has: until then it may write to the buffers. What was only
    /// queued is not submitted.
    fn drop(&mut self) {
        self.flying -= self.here.count();
        while self.broken.is_none() && self.flying > self.queued {
            if self.noticed == 0 {
                match self.enter_with(0, Wait::For(Nanos::MAX)) {
                    Ok(()) | Err(Errno::INTR | Errno::AGAIN | Errno::BUSY | Errno::NOMEM) => {}
                    Err(errno) => self.broken = Some(errno.raw_os_error()),
                }
                self.notice();
            }
            while self.noticed > 0 {
                self.take();
            }
        }
        // The kernel takes a closed ring apart later, in the background. Until then the registered
        // file would be held open: O_EXCL could not be had again, nor a file system unmounted.
        let _ = self.ring.submitter().unregister_files();
        // Nobody can tell when a broken ring is done with the memory, so that is leaked.
        if self.broken.is_none() {
            // SAFETY: dropped once, here; the kernel has answered every I/O it was given.
            unsafe { ManuallyDrop::drop(&mut self.buffers) };
        }
    }
}

fn os(errno: Errno) -> FaultCause {
    FaultCause::Os { errno: errno.raw_os_error() }
}

#[cfg(test)]
mod tests;
