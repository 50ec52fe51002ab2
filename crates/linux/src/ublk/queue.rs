//! A device's queue: a request a tag, and its data in memory that the driver copies from and to.
//!
//! A tag is the driver's or ours. It is ours from when its command has ended with a request until the answer goes out,
//! and only then its data are touched here; the driver copies on this thread, between our system calls, and only data of
//! tags that are its own.

use std::fs::File;
use std::io;
use std::mem::{ManuallyDrop, size_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::slice;

use io_uring::{IoUring, opcode, types};
use rustix::io::Errno;

use super::abi::{self, Descriptor, IoCommand};
use super::error::UblkError;
use super::{Asked, UblkRequest};
use crate::memory::Mapping;

pub(super) struct Queue {
    ring: ManuallyDrop<IoUring>,
    file: File,
    descriptors: Mapping,
    /// Where data are, a part for each tag.
    data: ManuallyDrop<Mapping>,
    tag_bytes: usize,
    /// By tag: whether it is ours.
    ours: Box<[bool]>,
    /// Commands that the driver has.
    waiting: usize,
    /// Entries that the kernel has not been told of.
    queued: bool,
}

impl Queue {
    /// The queue of a device that was added, with each tag asked for.
    pub(super) fn open(file: File, depth: u16, tag_bytes: u32) -> Result<Queue, UblkError> {
        let bytes = usize::from(depth) * size_of::<Descriptor>();
        let memory = |errno: Errno| UblkError::os("share memory with", errno.into());
        let descriptors = Mapping::shared(file.as_fd(), bytes).map_err(memory)?;
        let data = Mapping::new(usize::from(depth) * tag_bytes as usize).map_err(memory)?;
        let ring = IoUring::builder()
            .build(u32::from(depth))
            .map_err(|error| UblkError::os("make a ring for", error))?;
        let mut queue = Queue {
            ring: ManuallyDrop::new(ring),
            file,
            descriptors,
            data: ManuallyDrop::new(data),
            tag_bytes: tag_bytes as usize,
            ours: vec![true; usize::from(depth)].into(),
            waiting: 0,
            queued: false,
        };
        for tag in 0..depth {
            queue.give_back(abi::FETCH, tag, 0);
        }
        queue.send().map_err(|error| UblkError::os("ask", error))?;
        Ok(queue)
    }

    /// What becomes readable when there are requests.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the ring is open as long as it is borrowed.
        unsafe { BorrowedFd::borrow_raw(self.ring.as_raw_fd()) }
    }

    /// Whether there are requests that were not taken.
    pub(super) fn has_more(&mut self) -> bool {
        !self.ring.completion().is_empty()
    }

    /// The next request.
    pub(super) fn next(&mut self) -> Option<UblkRequest> {
        loop {
            let end = self.ring.completion().next()?;
            self.waiting -= 1;
            let tag = end.user_data() as u16;
            // Whatever else it ends with, the tag is not asked for again.
            if end.result() != 0 {
                continue;
            }
            let Some(ours) = self.ours.get_mut(usize::from(tag)) else { continue };
            *ours = true;
            let all = self.descriptors.address().cast::<Descriptor>();
            // SAFETY: the mapping has a descriptor for each tag, and the driver has written that of this one.
            let descriptor = unsafe { all.add(usize::from(tag)).read_volatile() };
            match self.request(tag, descriptor) {
                Some(request) => return Some(request),
                None => self.answer(tag, Err(Errno::OPNOTSUPP)),
            }
        }
    }

    fn request(&self, tag: u16, descriptor: Descriptor) -> Option<UblkRequest> {
        let Descriptor { operation, sectors, start_sector, .. } = descriptor;
        let operation = Operation(operation);
        if operation.code() == abi::FLUSH {
            // It has no place.
            return Some(UblkRequest { tag, asked: Asked::Flush, offset: 0, bytes: 0 });
        }
        let bytes = u64::from(sectors) * abi::SECTOR;
        let offset = start_sector.checked_mul(abi::SECTOR)?;
        let fits = bytes <= self.tag_bytes as u64;
        let fua = operation.has(abi::FLAG_FUA);
        let asked = match operation.code() {
            abi::READ if fits => Asked::Read,
            abi::WRITE if fits => Asked::Write { fua },
            abi::DISCARD => Asked::Discard,
            abi::WRITE_ZEROES => {
                Asked::WriteZeroes { fua, no_unmap: operation.has(abi::FLAG_NO_UNMAP) }
            }
            _ => return None,
        };
        Some(UblkRequest { tag, asked, offset, bytes })
    }

    /// The data of a tag that is ours; empty of any other.
    pub(super) fn data(&mut self, tag: u16) -> &mut [u8] {
        if self.ours.get(usize::from(tag)) != Some(&true) {
            return &mut [];
        }
        // SAFETY: the mapping has a part for each tag, which the driver leaves alone while the tag is ours; `&mut self`
        // keeps it from being given back, and other references away.
        unsafe {
            let start = self.data.address().add(usize::from(tag) * self.tag_bytes);
            slice::from_raw_parts_mut(start, self.tag_bytes)
        }
    }

    /// Answers a request, at the next [`Queue::send`], with the bytes that were read or written.
    pub(super) fn answer(&mut self, tag: u16, result: Result<u32, Errno>) {
        if self.ours.get(usize::from(tag)) != Some(&true) {
            return;
        }
        let result = match result {
            Ok(bytes) => bytes as i32,
            Err(errno) => -errno.raw_os_error(),
        };
        self.give_back(abi::COMMIT_AND_FETCH, tag, result);
    }

    /// Gives a tag to the driver.
    fn give_back(&mut self, number: u32, tag: u16, result: i32) {
        let at = usize::from(tag) * self.tag_bytes;
        let address = self.data.address() as u64 + at as u64;
        let command = abi::io_bytes(IoCommand { queue: 0, tag, result, address });
        let entry = opcode::UringCmd16::new(types::Fd(self.file.as_raw_fd()), number)
            .cmd(command)
            .build()
            .user_data(u64::from(tag));
        self.ours[usize::from(tag)] = false;
        self.waiting += 1;
        self.queued = true;
        // SAFETY: the file and the tag's data stay until the driver has given up the tag (see `Drop`). There is an entry
        // for each tag, and a tag is given once.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        debug_assert!(pushed.is_ok(), "an entry a tag");
    }

    pub(super) fn wants_send(&self) -> bool {
        self.queued
    }

    /// Tells the kernel of answers. Whether there were any.
    pub(super) fn send(&mut self) -> io::Result<bool> {
        if !std::mem::take(&mut self.queued) {
            return Ok(false);
        }
        match self.ring.submit() {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                self.queued = true;
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// What a descriptor asks for, with its flags.
struct Operation(u32);

impl Operation {
    fn code(&self) -> u32 {
        self.0 & 0xff
    }

    fn has(&self, flag: u32) -> bool {
        self.0 & flag != 0
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let over = self.waiting == 0;
        // SAFETY: neither is used again. Where the driver still has tags, it could copy into their data: they stay mapped.
        unsafe {
            ManuallyDrop::drop(&mut self.ring);
            if over {
                ManuallyDrop::drop(&mut self.data);
            }
        }
    }
}
