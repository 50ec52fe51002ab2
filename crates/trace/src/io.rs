//! One I/O of a trace, and the bounds of its values.

use fourcorners_drive::{Nanos, Op};

/// The latest time of a trace, 73 years: sums of a few such times are still times.
pub const MOST_TIME: Nanos = Nanos(1 << 61);

/// The highest byte offset at which an I/O may begin.
pub const MOST_OFFSET: u64 = (1 << 62) - 1;

/// Most bytes of one I/O: the sectors of an [`fourcorners_drive::Io`] are a 32-bit number.
pub const MOST_BYTES: u64 = u32::MAX as u64 * 512;

/// One I/O of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceIo {
    /// When it was issued, counted from the first I/O of the trace.
    pub at: Nanos,
    /// What it does.
    pub op: Op,
    /// First byte; 0 for a flush.
    pub offset_bytes: u64,
    /// Length; 0 for a flush.
    pub bytes: u64,
    /// From issue to completion, where the trace tells.
    pub duration: Option<Nanos>,
    /// Which of the trace's devices: the kernel's number of it (blktrace, blkparse), the trace's
    /// own (MSR Cambridge, MQSim, CSV), or the files of an iolog from 0 in the order they appear.
    pub device: u32,
    /// What else the trace says of it.
    pub flags: IoFlags,
}

/// What only the compact form, or a task, tells of an I/O.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct IoFlags {
    /// Force unit access: a write that was answered when it was durable.
    pub fua: bool,
    /// A write of zeros.
    pub zeroes: bool,
    /// The drive failed it.
    pub failed: bool,
    /// How far a lossless method shrinks what a task writes, percent, 0 to 100. No form of traces has it.
    pub compressible_percent: u8,
}

impl TraceIo {
    /// The first byte after it.
    pub fn end_bytes(&self) -> u64 {
        self.offset_bytes + self.bytes
    }
}
