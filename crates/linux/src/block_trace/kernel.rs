//! The kernel's blktrace interface (include/uapi/linux/blktrace_api.h, and fs.h for the numbers).

#![allow(unsafe_code)]

use std::ffi::CStr;
use std::fs::File;

use rustix::io::Errno;
use rustix::ioctl::{NoArg, Opcode, Updater, ioctl, opcode};

/// `struct blk_user_trace_setup`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Setup {
    /// Out: the name of its folder.
    name: [u8; 32],
    /// Categories of events.
    act_mask: u16,
    buf_size: u32,
    buf_nr: u32,
    start_lba: u64,
    end_lba: u64,
    pid: u32,
}

const BLKTRACESETUP: Opcode = opcode::read_write::<Setup>(0x12, 115);
const BLKTRACESTART: Opcode = opcode::none(0x12, 116);
const BLKTRACESTOP: Opcode = opcode::none(0x12, 117);
const BLKTRACETEARDOWN: Opcode = opcode::none(0x12, 118);

/// `BLK_TC_QUEUE`, `BLK_TC_ISSUE` and `BLK_TC_COMPLETE`: all that a trace is read for.
const EVENTS: u16 = 1 << 4 | 1 << 6 | 1 << 7;

/// Has the kernel make buffers for a trace of a block device; the name of their folder.
pub(super) fn set_up(file: &File, buffer_bytes: u32, buffers: u32) -> Result<String, Errno> {
    let mut setup = Setup {
        name: [0; 32],
        act_mask: EVENTS,
        buf_size: buffer_bytes,
        buf_nr: buffers,
        start_lba: 0,
        end_lba: u64::MAX,
        pid: 0,
    };
    // SAFETY: the argument is the structure that belongs to the number, and the caller has seen that
    // the file is a block device, so that the number cannot mean another request.
    unsafe { ioctl(file, Updater::<BLKTRACESETUP, Setup>::new(&mut setup)) }?;
    let name = CStr::from_bytes_until_nul(&setup.name).map_err(|_| Errno::INVAL)?;
    name.to_str().map(str::to_string).map_err(|_| Errno::INVAL)
}

/// Begins to record.
pub(super) fn start(file: &File) -> Result<(), Errno> {
    // SAFETY: it has no argument; as above.
    unsafe { ioctl(file, NoArg::<BLKTRACESTART>::new()) }
}

/// Ends it; what was recorded can still be read.
pub(super) fn stop(file: &File) -> Result<(), Errno> {
    // SAFETY: it has no argument; as above.
    unsafe { ioctl(file, NoArg::<BLKTRACESTOP>::new()) }
}

/// Takes the buffers away.
pub(super) fn tear_down(file: &File) -> Result<(), Errno> {
    // SAFETY: it has no argument; as above.
    unsafe { ioctl(file, NoArg::<BLKTRACETEARDOWN>::new()) }
}

const _: () = assert!(size_of::<Setup>() == 72, "the layout that the kernel has");
