//! Discarding: how a TRIM is asked for, and purging the whole drive.

use std::fs::{self, File};

use rustix::fs::{FileType, fstat, major, minor};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Setter, ioctl, opcode};

use super::error::UringError;

/// `BLKDISCARD` of linux/fs.h: its argument is a first byte and a length, two u64.
const BLKDISCARD: Opcode = opcode::none(0x12, 119);

/// How a TRIM reaches the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Discard {
    /// A block device's own asynchronous discard, Linux 6.12 and later.
    Command,
    /// `BLKDISCARD` by a thread, on older kernels. io_uring's nearest there would be a hole punched, which a block
    /// device gets as "write zeroes, may unmap": some refuse that, and some write the zeroes.
    Ioctl,
    /// A hole punched in a file, which frees its blocks.
    PunchHole,
    /// The device says that it cannot discard.
    No,
}

impl Discard {
    /// What to try first on `file`.
    pub(super) fn of(file: &File) -> Result<Discard, UringError> {
        Ok(match block_device(file)? {
            None => Discard::PunchHole,
            Some(device) if device.can_discard() => Discard::Command,
            Some(_) => Discard::No,
        })
    }

    /// What to try after the kernel answered `result`, if that may only mean that it is older
    /// than the command: EINVAL before Linux 5.19, EOPNOTSUPP before 6.12.
    pub(super) fn after(self, result: i32) -> Option<Discard> {
        let old = [Errno::INVAL, Errno::OPNOTSUPP].map(|errno| -errno.raw_os_error());
        (self == Discard::Command && old.contains(&result)).then_some(Discard::Ioctl)
    }
}

/// A block device by its number.
pub(super) struct BlockDevice {
    major: u32,
    minor: u32,
}

impl BlockDevice {
    /// Where sysfs has it.
    pub(super) fn folder(&self) -> String {
        format!("/sys/dev/block/{}:{}", self.major, self.minor)
    }

    fn can_discard(&self) -> bool {
        self.says_not_zero("discard_max_bytes")
    }

    /// Whether its queue's attribute is another than 0.
    pub(super) fn says_not_zero(&self, attribute: &str) -> bool {
        // A partition has no queue of its own; its directory lies in that of the whole drive.
        let directory = self.folder();
        ["queue", "../queue"]
            .iter()
            .find_map(|queue| fs::read_to_string(format!("{directory}/{queue}/{attribute}")).ok())
            // Without sysfs the drive itself will tell.
            .is_none_or(|value| value.trim() != "0")
    }
}

/// The block device that `file` is; `None` for a regular file and anything else.
pub(super) fn block_device(file: &File) -> Result<Option<BlockDevice>, UringError> {
    let stat =
        fstat(file).map_err(|errno| UringError::File { doing: "look at", source: errno.into() })?;
    let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    Ok(is_device.then(|| BlockDevice { major: major(stat.st_rdev), minor: minor(stat.st_rdev) }))
}

/// Why a regular file is not purged.
pub const ONLY_DEVICES_ARE_PURGED: &str =
    "only a device is purged; delete the file and make it anew";

/// A drive that was discarded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Purged {
    /// Bytes discarded, from the drive's beginning.
    pub bytes: u64,
}

/// Discards the first `bytes` of a block device.
pub(super) fn purge(file: &File, bytes: u64) -> Result<Purged, UringError> {
    let Some(device) = block_device(file)? else {
        return Err(UringError::PurgeUnsupported { reason: ONLY_DEVICES_ARE_PURGED });
    };
    let unsupported = UringError::PurgeUnsupported {
        reason: "the device does not take discards (its queue/discard_max_bytes is 0); erase it \
                 with its maker's tool, or write all of it twice instead",
    };
    if !device.can_discard() {
        return Err(unsupported);
    }
    match discard(file, [0, bytes]) {
        Ok(()) => Ok(Purged { bytes }),
        Err(Errno::OPNOTSUPP) => Err(unsupported),
        Err(errno) => Err(UringError::File { doing: "discard", source: errno.into() }),
    }
}

/// Discards a range of a block device, given by its first byte and its length; returns when it is done.
pub(super) fn discard(file: &File, range: [u64; 2]) -> Result<(), Errno> {
    // SAFETY: BLKDISCARD reads two u64 from its argument and keeps no pointer. Of what is no block device the number is
    // no request (ENOTTY).
    unsafe { ioctl(file, Setter::<BLKDISCARD, [u64; 2]>::new(range)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_answers_of_an_older_kernel_fall_back() {
        assert_eq!(Discard::Command.after(-Errno::OPNOTSUPP.raw_os_error()), Some(Discard::Ioctl));
        assert_eq!(Discard::Command.after(-Errno::INVAL.raw_os_error()), Some(Discard::Ioctl));
        assert_eq!(Discard::Command.after(-Errno::IO.raw_os_error()), None);
        assert_eq!(Discard::Command.after(0), None);
        for last in [Discard::Ioctl, Discard::PunchHole] {
            assert_eq!(last.after(-Errno::OPNOTSUPP.raw_os_error()), None);
        }
    }

    #[test]
    fn a_regular_file_punches_holes_and_cannot_be_purged() {
        let file = tempfile::tempfile().expect("temporary file");
        assert_eq!(Discard::of(&file).expect("a file"), Discard::PunchHole);
        let error = purge(&file, 4096).expect_err("a file");
        assert!(error.to_string().contains("only a device is purged"), "{error}");
    }
}
