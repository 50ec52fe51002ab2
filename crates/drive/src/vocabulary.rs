//! The words every drive and every job share, and the seam between them: [`Target`].

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// Bytes in a sector. An [`Lba`] counts these whatever the drive's logical block size is, as the
/// Linux block layer does.
pub const SECTOR_BYTES: u64 = 512;

/// A time or a duration in nanoseconds, virtual or of `CLOCK_MONOTONIC`. Ranges over 584 years.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The beginning of a virtual drive's time.
    pub const ZERO: Nanos = Nanos(0);
    /// Later than anything: `reap(Nanos::MAX)` waits for the next completion however far it is.
    pub const MAX: Nanos = Nanos(u64::MAX);

    /// From microseconds, rounded to the nearest nanosecond; negative and NaN become 0.
    pub fn from_micros(micros: f64) -> Nanos {
        Nanos((micros * 1e3).round() as u64)
    }

    /// From whole seconds.
    pub const fn from_secs(secs: u64) -> Nanos {
        Nanos(secs * 1_000_000_000)
    }

    /// As seconds.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// As microseconds.
    pub fn as_micros(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// The time from `earlier` to `self`, or 0 if `earlier` is later.
    pub fn since(self, earlier: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }

    /// `self + more`, stopping at [`Nanos::MAX`].
    pub fn saturating_add(self, more: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(more.0))
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, more: Nanos) -> Nanos {
        Nanos(self.0 + more.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, more: Nanos) {
        self.0 += more.0;
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, earlier: Nanos) -> Nanos {
        Nanos(self.0 - earlier.0)
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Nanos>>(times: I) -> Nanos {
        times.fold(Nanos::ZERO, Add::add)
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ns @ 0..1_000 => write!(f, "{ns} ns"),
            ns @ 1_000..1_000_000 => write!(f, "{:.1} us", ns as f64 / 1e3),
            ns @ 1_000_000..1_000_000_000 => write!(f, "{:.2} ms", ns as f64 / 1e6),
            ns => write!(f, "{:.2} s", ns as f64 / 1e9),
        }
    }
}

/// A logical block address in units of [`SECTOR_BYTES`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Lba(pub u64);

impl Lba {
    /// The byte offset of this address.
    pub const fn bytes(self) -> u64 {
        self.0 * SECTOR_BYTES
    }
}

/// The name of an I/O in flight, chosen by whoever submits it: a slot below the queue depth.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Tag(pub u32);

/// What an I/O does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Reads sectors.
    Read,
    /// Writes sectors.
    Write,
    /// Tells the drive that the sectors hold nothing of value (ATA TRIM, NVMe deallocate).
    Trim,
    /// Makes every write completed before it durable; `lba` and `sectors` are ignored.
    Flush,
}

/// One I/O. It is `Copy` and has no payload: timing depends on no bytes, only on how far a
/// compressing controller could shrink them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Io {
    /// What is asked.
    pub op: Op,
    /// First sector.
    pub lba: Lba,
    /// Number of sectors, at least 1 except for a flush.
    pub sectors: u32,
    /// How much of a write's data compression would remove, 0 (incompressible) to 100 (repeating).
    pub compressible_percent: u8,
    /// Force unit access: a write is answered when it is durable, not when the drive has its data.
    /// Has no meaning for other operations.
    pub fua: bool,
}

impl Io {
    /// The one flush there is: it has no address.
    pub const FLUSH: Io =
        Io { op: Op::Flush, lba: Lba(0), sectors: 0, compressible_percent: 0, fua: false };

    /// Reads `sectors` from `lba` on.
    pub const fn read(lba: Lba, sectors: u32) -> Io {
        Io { op: Op::Read, lba, sectors, ..Io::FLUSH }
    }

    /// Writes `sectors` from `lba` on, of data that does not compress, without force unit access.
    pub const fn write(lba: Lba, sectors: u32) -> Io {
        Io { op: Op::Write, lba, sectors, ..Io::FLUSH }
    }

    /// Trims `sectors` from `lba` on.
    pub const fn trim(lba: Lba, sectors: u32) -> Io {
        Io { op: Op::Trim, lba, sectors, ..Io::FLUSH }
    }

    /// Length in bytes.
    pub const fn bytes(self) -> u64 {
        self.sectors as u64 * SECTOR_BYTES
    }

    /// The first sector after this I/O. Saturates, so that an absurd address is out of range
    /// rather than wrapped into it.
    pub const fn end(self) -> u64 {
        self.lba.0.saturating_add(self.sectors as u64)
    }
}

/// A completed I/O.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    /// The tag it was submitted under; free to use again.
    pub tag: Tag,
    /// When it completed, on the target's clock.
    pub at: Nanos,
}

/// Which time a target lives in. Results of different clocks are never averaged together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The model's own time; an idle hour costs nothing.
    Virtual,
    /// `CLOCK_MONOTONIC`.
    Wall,
}

/// What a target can hold and take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Addressable sectors of [`SECTOR_BYTES`].
    pub sectors: u64,
    /// Smallest I/O and alignment, in bytes (512 or 4096).
    pub logical_block_bytes: u32,
    /// Most I/Os in flight at once; tags are below it.
    pub queue_depth: u32,
}

impl Geometry {
    /// Capacity in bytes.
    pub const fn bytes(self) -> u64 {
        self.sectors * SECTOR_BYTES
    }

    /// Why `io` may not be submitted to a drive of this geometry, if it may not.
    pub fn refuses(self, io: Io) -> Option<FaultCause> {
        if io.op == Op::Flush {
            return None;
        }
        let block_sectors = u64::from(self.logical_block_bytes) / SECTOR_BYTES;
        if io.sectors == 0 || io.end() > self.sectors {
            Some(FaultCause::OutOfRange { sectors: self.sectors })
        } else if (io.lba.0 | u64::from(io.sectors)) & (block_sectors - 1) != 0 {
            // A logical block is a power of two; a division by it would be seen in every I/O.
            Some(FaultCause::Unaligned { logical_block_bytes: self.logical_block_bytes })
        } else {
            None
        }
    }
}

/// A drive: a queue with a clock. Virtual drives, real devices and the null drive implement it.
///
/// Monomorphise over it: match on the kind of drive once a job, outside the loop.
pub trait Target {
    /// Which time [`Target::now`] and [`Done::at`] are in.
    const CLOCK: Clock;

    /// What the drive can hold and take.
    fn geometry(&self) -> Geometry;

    /// The time. It moves only in [`Target::reap`] and never backwards.
    fn now(&self) -> Nanos;

    /// I/Os that will be submitted soon, in this order. A drive may use it to fetch what it will
    /// need; it may not change any answer.
    fn hint(&mut self, _ahead: &[Io]) {}

    /// Hands the drive an I/O at time [`Target::now`]. Never blocks.
    ///
    /// At most `geometry().queue_depth` may be in flight, each under a tag of its own below that
    /// number. A bad address is answered by a [`Fault`] from the next [`Target::reap`].
    fn submit(&mut self, tag: Tag, io: Io);

    /// The next completion no later than `until`, or `None` when there is none.
    ///
    /// `Some` moves the clock to the completion (a real drive: to when it was noticed). `None`
    /// moves it to `until`; except `reap(Nanos::MAX)` with nothing in flight, which leaves it.
    ///
    /// # Errors
    /// A [`Fault`] when the drive failed an I/O; that I/O's tag is free again, others in flight
    /// stay so.
    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault>;

    /// The earliest time at which [`Target::reap`] may have something if nothing more is submitted: an answer, a fault,
    /// or a decision of a drive that decides late, after which it can say more. Never earlier than [`Target::now`],
    /// and before it there is no answer. `None` when nothing is in flight, and of a drive that cannot know, as real ones
    /// cannot. Does not move the clock.
    fn due(&mut self) -> Option<Nanos> {
        None
    }

    /// Has the drive do its background work up to [`Target::now`], which otherwise the next submit does. Call it after a pause,
    /// before [`Target::energy_j`]. Does not move the clock.
    fn catch_up(&mut self) {}

    /// Joules the drive has used until `at`, which is not before the last submit nor after
    /// [`Target::now`]; `None` when it cannot tell. Only differences of two readings mean anything.
    fn energy_j(&self, _at: Nanos) -> Option<f64> {
        None
    }

    /// Whether it is known to be worn out, and to refuse for good whatever would change what it holds.
    fn is_read_only(&self) -> bool {
        false
    }
}

/// An I/O that failed: which one, when and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{} of {} bytes at offset {}: {cause}", op_name(.io.op), .io.bytes(), .io.lba.bytes())]
pub struct Fault {
    /// The tag, free again.
    pub tag: Tag,
    /// The I/O.
    pub io: Io,
    /// When it failed, on the target's clock.
    pub at: Nanos,
    /// Why.
    pub cause: FaultCause,
}

fn op_name(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Trim => "trim",
        Op::Flush => "flush",
    }
}

/// Linux answers 0 bytes for what lies beyond a device's end, and a device that was removed ends at 0.
fn of_moved(moved_bytes: u64) -> String {
    match moved_bytes {
        0 => "no byte was moved: the drive was removed, or has become smaller".into(),
        _ => format!("only {moved_bytes} bytes were moved"),
    }
}

/// Why an I/O failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FaultCause {
    /// The operating system said no; `errno` is its number.
    #[error("{} (errno {errno})", errno_name(*errno))]
    Os {
        /// The positive error number.
        errno: i32,
    },
    /// Fewer bytes were moved than asked, and the rest would not come.
    #[error("{}", of_moved(*moved_bytes))]
    Short {
        /// Bytes that were moved.
        moved_bytes: u64,
    },
    /// No sector, or sectors beyond the end.
    #[error("outside the drive, which has {sectors} sectors of 512 bytes")]
    OutOfRange {
        /// The drive's sectors.
        sectors: u64,
    },
    /// Not a multiple of the logical block.
    #[error("not aligned to the logical block of {logical_block_bytes} bytes")]
    Unaligned {
        /// The drive's logical block size.
        logical_block_bytes: u32,
    },
    /// The drive has no such command.
    #[error("the drive does not support it")]
    Unsupported,
    /// Too many of its blocks have failed: it takes no more writes and no TRIM, and goes on reading.
    #[error("the drive is worn out and read-only")]
    WornOut,
}

/// The errors that a storage stack answers with, in words. This crate has no OS to ask.
fn errno_name(errno: i32) -> &'static str {
    match errno {
        5 => "input/output error",
        6 => "no such device or address",
        12 => "out of memory",
        16 => "device or resource busy",
        19 => "no such device",
        22 => "invalid argument",
        27 => "file too large",
        28 => "no space left on device",
        30 => "read-only file system",
        61 => "no data available",
        84 => "invalid data (integrity check failed)",
        95 => "operation not supported",
        121 => "remote I/O error",
        122 => "disk quota exceeded",
        _ => "error from the operating system",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GEOMETRY: Geometry =
        Geometry { sectors: 1000, logical_block_bytes: 4096, queue_depth: 32 };

    fn read(lba: u64, sectors: u32) -> Io {
        Io::read(Lba(lba), sectors)
    }

    #[test]
    fn geometry_refuses_what_does_not_fit() {
        assert_eq!(GEOMETRY.refuses(read(992, 8)), None);
        assert!(matches!(GEOMETRY.refuses(read(1000, 8)), Some(FaultCause::OutOfRange { .. })));
        assert!(matches!(GEOMETRY.refuses(read(0, 0)), Some(FaultCause::OutOfRange { .. })));
        assert!(matches!(GEOMETRY.refuses(read(u64::MAX, 8)), Some(FaultCause::OutOfRange { .. })));
        assert!(matches!(GEOMETRY.refuses(read(4, 8)), Some(FaultCause::Unaligned { .. })));
    }

    #[test]
    fn a_drive_that_answers_nothing_is_said_to_be_gone_and_a_short_answer_is_not() {
        let said = |moved_bytes| FaultCause::Short { moved_bytes }.to_string();
        assert!(said(0).contains("was removed"), "{}", said(0));
        assert_eq!(said(4096), "only 4096 bytes were moved");
    }

    #[test]
    fn a_fault_names_the_io_the_offset_and_the_errno() {
        let fault = Fault {
            tag: Tag(3),
            io: read(16, 8),
            at: Nanos::ZERO,
            cause: FaultCause::Os { errno: 28 },
        };
        assert_eq!(
            fault.to_string(),
            "read of 4096 bytes at offset 8192: no space left on device (errno 28)"
        );
    }
}
