//! I/Os whose data belong to somebody: what is written is given, and what was read is asked for. For a drive that is
//! handed on to other programs; what is measured moves data that nobody wants.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

#[cfg(doc)]
use fourcorners_drive::Target;
use fourcorners_drive::{Io, Op, Tag};
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

use super::discard::Discard;
use super::{Uring, os};

impl Uring {
    /// Hands over a write of these data, which are as long as it is. All else is as in [`Target::submit`], and what is
    /// refused is answered so, too.
    pub fn submit_data(&mut self, tag: Tag, io: Io, data: &[u8]) {
        if io.op != Op::Write || io.bytes() != data.len() as u64 {
            return self.refuse(tag, io, os(Errno::INVAL));
        }
        if let Err(cause) = self.check(tag, io) {
            return self.refuse(tag, io, cause);
        }
        let slot = self.buffers.read_slot(tag.0);
        // SAFETY: the tag is below the depth and nothing of it is in flight, as was checked: nobody else has its slot, which
        // is as long as the longest block, and the data are no longer than that.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), slot.address, data.len()) };
        self.send(tag, io, slot);
    }

    /// The first bytes of what a read has brought that was answered under this tag, and under which nothing was submitted
    /// since. Whether it could be: not while something is in flight under the tag, nor more than the longest block.
    #[must_use]
    pub fn take_data(&self, tag: Tag, data: &mut [u8]) -> bool {
        let at_rest = matches!(self.in_flight.get(tag.0 as usize), Some(None));
        if !at_rest || data.len() > self.max_block_bytes as usize {
            return false;
        }
        let slot = self.buffers.read_slot(tag.0);
        // SAFETY: as above; the slot was mapped with all its pages and is initialised memory.
        unsafe { std::ptr::copy_nonoverlapping(slot.address, data.as_mut_ptr(), data.len()) };
        true
    }

    /// Whether it says that it takes TRIM; the first one may still fail.
    pub fn takes_trim(&self) -> bool {
        self.discard != Discard::No
    }

    /// A file that becomes readable when [`Target::reap`] may have something, for loops that wait for other files, too; the
    /// ring's own tells nothing of completions that wait for us. It stays so until it is read, which is to be done before
    /// the drive is looked at.
    ///
    /// # Errors
    /// When this process may open no more files, or the kernel does not take it.
    pub fn readiness(&self) -> io::Result<OwnedFd> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        self.ring.submitter().register_eventfd(event.as_raw_fd())?;
        Ok(event)
    }
}
