//! I/Os that this thread carries out itself instead of handing them to the kernel's workers.
//!
//! A ring begins every I/O without waiting and gives what it cannot begin so to a worker thread. File
//! systems that cannot write to the page cache without waiting (ext4, tmpfs) refuse every such write,
//! and the kernel has one worker do those of a file, one after the other. So nothing would run side
//! by side there but the handing over, which costs more than the writing. A file system in memory
//! (tmpfs) refuses reads alike, and has nothing to wait for either. While nothing but such I/Os is in
//! flight, they are done here, in the order of their submission, and count from it.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{IoSlice, IoSliceMut};

use fourcorners_drive::{Io, Op, Tag};
use fourcorners_machine::file_system;
use rustix::fs::fstatfs;
use rustix::io::{Errno, ReadWriteFlags, pread, preadv2, pwrite, pwritev2};

use super::error::UringError;
use super::request::Request;

/// I/Os between two readings of the clock.
const STEP: usize = 8;

/// Where I/Os of one kind are done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// The first one will tell.
    Unknown,
    /// This thread does them.
    Here,
    /// The ring begins them itself.
    Ring,
}

/// I/Os that this thread carries out.
pub(super) struct Here {
    reads: Way,
    writes: Way,
    /// Not carried out yet.
    line: VecDeque<Tag>,
    /// What came of the others: bytes, or a negative error number.
    done: VecDeque<(Tag, i32)>,
}

impl Here {
    pub(super) fn new(file: &File, direct: bool, depth: u32) -> Result<Here, UringError> {
        let metadata =
            file.metadata().map_err(|source| UringError::File { doing: "look at", source })?;
        let in_memory = fstatfs(file).is_ok_and(|on| file_system::is_in_memory(&on));
        // Direct I/Os and those to a device are begun without waiting. Reads that wait for a disk do so
        // side by side.
        let (reads, writes) = match (!direct && metadata.is_file(), in_memory) {
            (false, _) => (Way::Ring, Way::Ring),
            (true, false) => (Way::Ring, Way::Unknown),
            (true, true) => (Way::Unknown, Way::Unknown),
        };
        let room = if writes == Way::Ring { 0 } else { depth as usize };
        let done = VecDeque::with_capacity(STEP);
        Ok(Here { reads, writes, line: VecDeque::with_capacity(room), done })
    }

    /// None are.
    pub(super) fn nothing() -> Here {
        let (line, done) = (VecDeque::new(), VecDeque::new());
        Here { reads: Way::Ring, writes: Way::Ring, line, done }
    }

    /// Whether an I/O is one for this thread, with so many others with the kernel. What waits for the
    /// medium is not: nothing else would be noticed meanwhile.
    #[inline]
    pub(super) fn takes(&self, io: Io, with_the_kernel: u32) -> bool {
        let way = match io.op {
            Op::Read => self.reads,
            Op::Write if !io.fua => self.writes,
            _ => Way::Ring,
        };
        way != Way::Ring && with_the_kernel == 0
    }

    #[inline]
    pub(super) fn queue(&mut self, tag: Tag) {
        self.line.push_back(tag);
    }

    /// How many are here.
    #[inline]
    pub(super) fn count(&self) -> u32 {
        (self.line.len() + self.done.len()) as u32
    }

    /// The next that was carried out.
    #[inline]
    pub(super) fn done(&mut self) -> Option<(Tag, i32)> {
        self.done.pop_front()
    }

    fn way(&mut self, op: Op) -> &mut Way {
        match op {
            Op::Read => &mut self.reads,
            _ => &mut self.writes,
        }
    }

    /// Carries out the next of the line.
    pub(super) fn carry_out(&mut self, file: &File, in_flight: &[Option<Request>]) {
        for _ in 0..STEP {
            let Some(tag) = self.line.pop_front() else { return };
            let Some(request) = in_flight[tag.0 as usize] else { continue };
            let way = self.way(request.io.op);
            // SAFETY: the buffer is that long. What a read fills is its tag's own, and what a write is made
            // of stays as it is while the write is in flight: until it is answered, after this.
            let moved = |flags| unsafe { moved(file, &request, flags) };
            let result = match *way {
                Way::Unknown => match moved(ReadWriteFlags::NOWAIT) {
                    Ok(bytes) => {
                        *way = Way::Ring;
                        Ok(bytes)
                    }
                    Err(Errno::OPNOTSUPP) => {
                        *way = Way::Here;
                        moved(ReadWriteFlags::empty())
                    }
                    // It says nothing of the file system. The ring will wait for it.
                    Err(_) => Err(Errno::AGAIN),
                },
                Way::Here | Way::Ring => moved(ReadWriteFlags::empty()),
            };
            let result = result.map_or_else(|errno| -errno.raw_os_error(), |bytes| bytes as i32);
            self.done.push_back((tag, result));
        }
    }
}

/// Reads or writes what a request says and returns how many bytes that were.
///
/// # Safety
/// The request's buffer is as long as its I/O; nobody writes to it meanwhile, nor reads it if the I/O is a
/// read.
unsafe fn moved(file: &File, request: &Request, flags: ReadWriteFlags) -> Result<usize, Errno> {
    let (address, bytes) = (request.buffer.address, request.io.bytes() as usize);
    let offset = request.io.lba.bytes();
    // The calls without flags take a little less time.
    if request.io.op == Op::Read {
        // SAFETY: the caller says so.
        let data = unsafe { std::slice::from_raw_parts_mut(address, bytes) };
        match flags.is_empty() {
            true => pread(file, data, offset),
            false => preadv2(file, &mut [IoSliceMut::new(data)], offset, flags),
        }
    } else {
        // SAFETY: the caller says so.
        let data = unsafe { std::slice::from_raw_parts(address.cast_const(), bytes) };
        match flags.is_empty() {
            true => pwrite(file, data, offset),
            false => pwritev2(file, &[IoSlice::new(data)], offset, flags),
        }
    }
}
