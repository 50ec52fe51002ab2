//! One I/O on its way through the kernel: what is asked next, and what an answer means.

use std::os::fd::RawFd;

use fourcorners_drive::{FaultCause, Io, Op};
use io_uring::{opcode, squeue, types};
use rustix::io::Errno;

use super::buffers::Buffer;
use super::discard::Discard;

/// The drive, by its index among the ring's registered files.
const FILE: types::Fixed = types::Fixed(0);

/// `FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE` of linux/falloc.h.
const PUNCH_HOLE: i32 = 0x01 | 0x02;

/// `BLOCK_URING_CMD_DISCARD`, `_IO(0x12, 0)` of linux/blkdev.h (Linux 6.12).
const BLOCK_URING_CMD_DISCARD: u32 = 0x12 << 8;

/// `RWF_DSYNC` of linux/fs.h: this write as if the file were open with `O_DSYNC`. With `O_DIRECT` the
/// kernel sends it to a device that has force unit access as such a write, and flushes after it
/// where there is none.
const RWF_DSYNC: i32 = 0x02;

fn durability(io: Io) -> i32 {
    if io.fua { RWF_DSYNC } else { 0 }
}

/// An I/O in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) io: Io,
    pub(super) buffer: Buffer,
    /// Bytes moved by earlier parts, when the kernel moved fewer than asked.
    pub(super) moved_bytes: u64,
    /// How it is asked for, if it is a TRIM.
    pub(super) discard: Discard,
    /// The eventfd that tells of its end, if the thread for discards has it.
    pub(super) event: Option<RawFd>,
}

/// What to do about an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// All of it is done.
    Done,
    /// Ask for the rest.
    Again,
    /// It failed.
    Failed(FaultCause),
}

impl Request {
    /// The submission entry for what is left of the I/O.
    pub(super) fn entry(&self) -> squeue::Entry {
        let Request { io, buffer, moved_bytes, discard, event } = *self;
        if io.op == Op::Flush {
            return opcode::Fsync::new(FILE).flags(types::FsyncFlags::DATASYNC).build();
        }
        let offset = io.lba.bytes() + moved_bytes;
        let left = io.bytes() - moved_bytes;
        // Reads and writes are no longer than a buffer, whose length is a u32.
        let (address, length) = (buffer.address.wrapping_add(moved_bytes as usize), left as u32);
        match (io.op, buffer.registered) {
            (Op::Read, Some(index)) => {
                opcode::ReadFixed::new(FILE, address, length, index).offset(offset).build()
            }
            (Op::Read, None) => opcode::Read::new(FILE, address, length).offset(offset).build(),
            (Op::Write, Some(index)) => {
                let write = opcode::WriteFixed::new(FILE, address, length, index);
                write.offset(offset).rw_flags(durability(io)).build()
            }
            (Op::Write, None) => {
                let write = opcode::Write::new(FILE, address, length);
                write.offset(offset).rw_flags(durability(io)).build()
            }
            (Op::Trim | Op::Flush, _) => match (discard, event) {
                (_, Some(event)) => {
                    opcode::Read::new(types::Fd(event), address, size_of::<u64>() as u32).build()
                }
                (Discard::Command, None) => {
                    // blkdev_uring_cmd takes the start from `addr` and the length from `addr3`,
                    // which is where a command's own bytes begin.
                    let mut command = [0; 16];
                    command[..8].copy_from_slice(&left.to_ne_bytes());
                    opcode::UringCmd16::new(FILE, BLOCK_URING_CMD_DISCARD)
                        .addr(Some(offset))
                        .cmd(command)
                        .build()
                }
                (Discard::Ioctl | Discard::PunchHole | Discard::No, None) => {
                    opcode::Fallocate::new(FILE, left).offset(offset).mode(PUNCH_HOLE).build()
                }
            },
        }
    }

    /// Takes in the kernel's `result`: bytes moved, or a negative error number.
    ///
    /// `direct_block_bytes` is the unit of `O_DIRECT`, 1 without it.
    pub(super) fn answered(&mut self, result: i32, direct_block_bytes: u32) -> Outcome {
        if result < 0 {
            return match (result.saturating_neg(), self.io.op) {
                (errno, _)
                    if errno == Errno::INTR.raw_os_error()
                        || errno == Errno::AGAIN.raw_os_error() =>
                {
                    Outcome::Again
                }
                (errno, Op::Trim) if errno == Errno::OPNOTSUPP.raw_os_error() => {
                    Outcome::Failed(FaultCause::Unsupported)
                }
                (errno, _) => Outcome::Failed(FaultCause::Os { errno }),
            };
        }
        if matches!(self.io.op, Op::Trim | Op::Flush) {
            return Outcome::Done;
        }
        let moved = u64::from(result.unsigned_abs());
        self.moved_bytes += moved;
        if self.moved_bytes >= self.io.bytes() {
            Outcome::Done
        } else if moved == 0 || !moved.is_multiple_of(u64::from(direct_block_bytes)) {
            // The end of the file. After part of a block O_DIRECT cannot ask for the rest: it
            // would be refused as unaligned, which says less.
            Outcome::Failed(FaultCause::Short { moved_bytes: self.moved_bytes })
        } else {
            Outcome::Again
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourcorners_drive::Lba;

    fn request(op: Op) -> Request {
        Request {
            io: Io { op, lba: Lba(8), sectors: 16, ..Io::FLUSH },
            buffer: Buffer { address: std::ptr::null_mut(), registered: None },
            moved_bytes: 0,
            discard: Discard::PunchHole,
            event: None,
        }
    }

    /// `rw_flags` of a submission entry (linux/io_uring.h: a u32 at byte 28).
    fn rw_flags(request: &Request) -> u32 {
        // SAFETY: an entry is plain data of 64 bytes, all of them set.
        let bytes: [u8; 64] = unsafe { std::mem::transmute(request.entry()) };
        u32::from_ne_bytes(bytes[28..32].try_into().expect("four bytes"))
    }

    #[test]
    fn a_forced_write_asks_the_kernel_for_durability_and_nothing_else_does() {
        for registered in [None, Some(0)] {
            let mut write = request(Op::Write);
            write.buffer.registered = registered;
            assert_eq!(rw_flags(&write), 0);
            write.io.fua = true;
            assert_eq!(rw_flags(&write), 2);
            // What is asked for after a short write is no less durable.
            assert_eq!(write.answered(4096, 512), Outcome::Again);
            assert_eq!(rw_flags(&write), 2);
            let mut read = request(Op::Read);
            read.buffer.registered = registered;
            read.io.fua = true;
            assert_eq!(rw_flags(&read), 0);
        }
    }

    #[test]
    fn a_short_result_asks_for_the_rest_until_nothing_more_comes() {
        let mut read = request(Op::Read);
        assert_eq!(read.answered(4096, 1), Outcome::Again);
        assert_eq!(read.answered(1000, 1), Outcome::Again);
        let mut at_end = read;
        let short = FaultCause::Short { moved_bytes: 5096 };
        assert_eq!(at_end.answered(0, 1), Outcome::Failed(short));
        assert_eq!(read.answered(3096, 1), Outcome::Done);
    }

    #[test]
    fn with_o_direct_part_of_a_block_is_the_end_of_the_file() {
        let mut read = request(Op::Read);
        assert_eq!(read.answered(4096, 512), Outcome::Again);
        let short = FaultCause::Short { moved_bytes: 5096 };
        assert_eq!(read.answered(1000, 512), Outcome::Failed(short));
    }

    #[test]
    fn errors_are_told_from_what_only_needs_another_try() {
        for errno in [Errno::INTR, Errno::AGAIN] {
            assert_eq!(request(Op::Read).answered(-errno.raw_os_error(), 1), Outcome::Again);
        }
        let os = Outcome::Failed(FaultCause::Os { errno: Errno::IO.raw_os_error() });
        assert_eq!(request(Op::Write).answered(-Errno::IO.raw_os_error(), 1), os);
        let unsupported = -Errno::OPNOTSUPP.raw_os_error();
        let outcome = request(Op::Trim).answered(unsupported, 1);
        assert_eq!(outcome, Outcome::Failed(FaultCause::Unsupported));
        assert_eq!(request(Op::Trim).answered(0, 1), Outcome::Done);
        assert_eq!(request(Op::Flush).answered(0, 1), Outcome::Done);
    }
}
