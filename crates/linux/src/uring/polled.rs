//! Whether a target's completions can be polled for: asked before a job, so that it does not fail in
//! its first I/O.

use std::fs::File;

use fourcorners_drive::{FaultCause, Io, Lba, Nanos, SECTOR_BYTES, Tag, Target};
use rustix::io::Errno;

use super::discard::block_device;
use super::{Uring, UringError};

/// Whether the device says nothing against it; a file's is not asked.
pub(super) fn may_be(file: &File) -> Result<bool, UringError> {
    Ok(block_device(file)?.is_none_or(|device| device.says_not_zero("io_poll")))
}

/// Reads one block of a polled ring.
pub(super) fn try_one(uring: &mut Uring) -> Result<(), UringError> {
    let sectors = (u64::from(uring.geometry.logical_block_bytes) / SECTOR_BYTES) as u32;
    uring.submit(Tag(0), Io::read(Lba(0), sectors));
    match uring.reap(Nanos::MAX) {
        Ok(_) => Ok(()),
        Err(fault) => Err(match fault.cause {
            FaultCause::Os { errno }
                if [Errno::OPNOTSUPP, Errno::INVAL].map(Errno::raw_os_error).contains(&errno) =>
            {
                UringError::NoPolling
            }
            FaultCause::Os { errno } => {
                UringError::File { doing: "poll", source: std::io::Error::from_raw_os_error(errno) }
            }
            _ => UringError::NoPolling,
        }),
    }
}
