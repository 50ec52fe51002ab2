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
use rustix::fs::fstatfs;
use rustix::io::{Errno, ReadWriteFlags, pread, preadv2, pwrite, pwritev2};

use super::{Uring, UringError};
use crate::file_system;

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
}

impl Uring {
    /// Carries out the next of the line.
    pub(super) fn do_here(&mut self) {
        self.buffers.number();
        for _ in 0..STEP {
            let Some(tag) = self.here.line.pop_front() else { return };
            let Some(request) = self.in_flight[tag.0 as usize] else { continue };
            let (address, bytes) = (request.buffer.address, request.io.bytes() as usize);
            // SAFETY: the buffer of an I/O in flight is that long, and nothing else has it until the I/O is
            // answered, which is after this.
            let data = unsafe { std::slice::from_raw_parts_mut(address, bytes) };
            let (op, offset) = (request.io.op, request.io.lba.bytes());
            if *self.here.way(op) == Way::Unknown {
                let now = ReadWriteFlags::NOWAIT;
                let result = match op {
                    Op::Read => preadv2(&self.file, &mut [IoSliceMut::new(data)], offset, now),
                    _ => pwritev2(&self.file, &[IoSlice::new(data)], offset, now),
                };
                match result {
                    Ok(moved) => {
                        *self.here.way(op) = Way::Ring;
                        self.here.done.push_back((tag, moved as i32));
                        continue;
                    }
                    Err(Errno::OPNOTSUPP) => *self.here.way(op) = Way::Here,
                    // It says nothing of the file system. The ring will wait for it.
                    Err(_) => {
                        self.here.done.push_back((tag, -Errno::AGAIN.raw_os_error()));
                        continue;
                    }
                }
            }
            let result = match op {
                Op::Read => pread(&self.file, data, offset),
                _ => pwrite(&self.file, data, offset),
            };
            let result = match result {
                Ok(moved) => moved as i32,
                Err(errno) => -errno.raw_os_error(),
            };
            self.here.done.push_back((tag, result));
        }
    }
}
