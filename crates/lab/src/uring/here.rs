//! Writes that this thread carries out itself instead of handing them to the kernel's workers.
//!
//! A ring begins every I/O without waiting and gives what it cannot begin so to a worker thread. File
//! systems that cannot write to the page cache without waiting (ext4, tmpfs) refuse every such write,
//! and the kernel has one worker do those of a file, one after the other. So nothing would run side
//! by side there but the handing over, which costs more than the writing. While nothing but such
//! writes is in flight, they are done here, in the order of their submission, and count from it.

use std::collections::VecDeque;
use std::fs::File;
use std::io::IoSlice;

use fourcorners_drive::{Io, Op, Tag};
use rustix::io::{Errno, ReadWriteFlags, pwrite, pwritev2};

use super::{Uring, UringError};

/// Writes between two readings of the clock.
const STEP: usize = 8;

/// Whether writes go this way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// The first one will tell.
    Unknown,
    /// This thread does them.
    Here,
    /// The ring begins them itself.
    Ring,
}

/// Writes that this thread carries out.
pub(super) struct Here {
    way: Way,
    /// Not carried out yet.
    line: VecDeque<Tag>,
    /// What came of the others: bytes, or a negative error number.
    done: VecDeque<(Tag, i32)>,
}

impl Here {
    pub(super) fn new(file: &File, direct: bool, depth: u32) -> Result<Here, UringError> {
        let metadata =
            file.metadata().map_err(|source| UringError::File { doing: "look at", source })?;
        // Direct writes and those to a device are begun without waiting.
        let way = if direct || !metadata.is_file() { Way::Ring } else { Way::Unknown };
        let room = if way == Way::Ring { 0 } else { depth as usize };
        Ok(Here { way, line: VecDeque::with_capacity(room), done: VecDeque::with_capacity(STEP) })
    }

    /// Whether an I/O is one for this thread, with so many others with the kernel. What waits for the
    /// medium is not: nothing else would be noticed meanwhile.
    #[inline]
    pub(super) fn takes(&self, io: Io, with_the_kernel: u32) -> bool {
        self.way != Way::Ring && io.op == Op::Write && !io.fua && with_the_kernel == 0
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
}

impl Uring {
    /// Carries out the next of the line.
    pub(super) fn write_here(&mut self) {
        self.buffers.number();
        for _ in 0..STEP {
            let Some(tag) = self.here.line.pop_front() else { return };
            let Some(request) = self.in_flight[tag.0 as usize] else { continue };
            let (address, bytes) = (request.buffer.address, request.io.bytes() as usize);
            // SAFETY: the buffer of a write in flight is that long, and stays as it is until the write
            // is answered, which is after this.
            let data = unsafe { std::slice::from_raw_parts(address.cast_const(), bytes) };
            let offset = request.io.lba.bytes();
            if self.here.way == Way::Unknown {
                let now = [IoSlice::new(data)];
                match pwritev2(&self.file, &now, offset, ReadWriteFlags::NOWAIT) {
                    Ok(moved) => {
                        self.here.way = Way::Ring;
                        self.here.done.push_back((tag, moved as i32));
                        continue;
                    }
                    Err(Errno::OPNOTSUPP) => self.here.way = Way::Here,
                    // It says nothing of the file system. The ring will wait for it.
                    Err(_) => {
                        self.here.done.push_back((tag, -Errno::AGAIN.raw_os_error()));
                        continue;
                    }
                }
            }
            let result = match pwrite(&self.file, data, offset) {
                Ok(moved) => moved as i32,
                Err(errno) => -errno.raw_os_error(),
            };
            self.here.done.push_back((tag, result));
        }
    }
}
