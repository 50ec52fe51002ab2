//! What is measured of paced I/Os beyond what every job has: reads and writes apart, the time the
//! target was busy, and how long I/Os were in it.

use fourcorners_drive::{Io, Nanos, Op};

use crate::histogram::Histogram;

/// An I/O that takes longer than one of these is counted: 1, 10 and 100 ms.
pub const SLOW: [Nanos; 3] = [Nanos(1_000_000), Nanos(10_000_000), Nanos(100_000_000)];

/// The I/Os of a paced job.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Paced {
    /// Reads.
    pub reads: Part,
    /// Writes.
    pub writes: Part,
    /// TRIMs and flushes.
    pub others: Part,
    /// Time with something in flight.
    pub busy: Nanos,
}

/// Some of the I/Os.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Part {
    /// Bytes moved; none for TRIMs and flushes.
    pub bytes: u64,
    /// Latency of each.
    pub latency: Histogram,
    /// Sum of the times from submission to completion.
    pub service_ns: u128,
    /// How many took longer than each of [`SLOW`].
    pub slow: [u64; 3],
}

impl Paced {
    /// An I/O was completed, so long after it was due and after it was submitted.
    #[inline]
    pub(crate) fn completed(&mut self, io: Io, latency: Nanos, service: Nanos) {
        let (part, bytes) = match io.op {
            Op::Read => (&mut self.reads, io.bytes()),
            Op::Write => (&mut self.writes, io.bytes()),
            Op::Trim | Op::Flush => (&mut self.others, 0),
        };
        part.bytes += bytes;
        part.latency.record(latency.0);
        part.service_ns += u128::from(service.0);
        for (count, limit) in part.slow.iter_mut().zip(SLOW) {
            *count += u64::from(latency > limit);
        }
    }
}
