//! Content of a real drive, byte by byte, for tests of content in which nothing is measured.

use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

use fourcorners_drive::{Io, Tag};
use fourcorners_run::verify::Contents;
use rustix::fs::{Advice, fadvise};

use super::{Uring, UringError};

/// Direct I/O wants memory and offsets in whole blocks of this.
const ALIGNMENT: usize = 4096;

/// Memory at an aligned address.
struct Aligned {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Aligned {
    fn new(length: usize) -> Aligned {
        let bytes = vec![0; length + ALIGNMENT];
        let start = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Aligned { bytes, start, length }
    }

    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}

impl Uring {
    /// Writes `content`, a multiple of 4096 bytes, at such an offset, and has it on the medium.
    ///
    /// # Errors
    /// When the drive could not write it.
    pub fn store(&mut self, offset: u64, content: &[u8]) -> Result<(), UringError> {
        let mut aligned = Aligned::new(content.len());
        aligned.as_mut().copy_from_slice(content);
        self.file.write_all_at(aligned.as_mut(), offset).map_err(failed("write"))?;
        self.sync()
    }

    /// Reads `length` bytes, a multiple of 4096, from the medium: not from a cache of the kernel.
    ///
    /// # Errors
    /// When the drive could not read them.
    pub fn stored(&mut self, offset: u64, length: usize) -> Result<Vec<u8>, UringError> {
        if !self.direct {
            let advised = fadvise(&self.file, 0, None, Advice::DontNeed);
            advised.map_err(|errno| failed("uncache")(errno.into()))?;
        }
        let mut aligned = Aligned::new(length);
        self.file.read_exact_at(aligned.as_mut(), offset).map_err(failed("read"))?;
        Ok(aligned.as_mut().to_vec())
    }

    /// Bytes that a file has on its file system; `None` for a device.
    ///
    /// # Errors
    /// When the file cannot be looked at.
    pub fn allocated_bytes(&self) -> Result<Option<u64>, UringError> {
        let metadata = self.file.metadata().map_err(failed("look at"))?;
        // stat(2) counts blocks of 512 bytes whatever the file system's are.
        Ok(metadata.is_file().then(|| metadata.blocks() * 512))
    }
}

impl Contents for Uring {
    fn submit_filled(&mut self, tag: Tag, io: Io, fill: impl FnOnce(&mut [u8])) {
        match self.check(tag, io) {
            Ok(()) => {
                let slot = self.buffers.read_slot(tag.0);
                // SAFETY: the tag is not in flight, so the kernel has no I/O on its slot; the slot is as
                // long as the largest block, which the I/O is no longer than; and the slice ends here.
                fill(unsafe { std::slice::from_raw_parts_mut(slot.address, io.bytes() as usize) });
                self.send(tag, io, slot);
            }
            Err(cause) => self.refuse(tag, io, cause),
        }
    }

    fn content(&self, tag: Tag, bytes: usize) -> &[u8] {
        match self.in_flight.get(tag.0 as usize) {
            Some(None) => {
                let bytes = bytes.min(self.max_block_bytes as usize);
                let slot = self.buffers.read_slot(tag.0);
                // SAFETY: the slot is as long as the largest block, and the kernel has no I/O on it. It
                // gets one by `submit` only, which takes `self` mutably.
                unsafe { std::slice::from_raw_parts(slot.address, bytes) }
            }
            _ => &[],
        }
    }
}

fn failed(doing: &'static str) -> impl Fn(io::Error) -> UringError {
    move |source| UringError::File { doing, source }
}
