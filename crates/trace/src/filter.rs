//! Filters for the I/Os of a trace, and changes of their times and addresses.

use fourcorners_drive::{Nanos, Op};
use serde::{Deserialize, Serialize};

use super::error::Reason;
use super::io::{MOST_OFFSET, MOST_TIME, TraceIo};

/// Addresses are stretched in pieces of this size, so that what was sequential stays so within one.
const PIECE: u64 = 1 << 20;

/// Some of the four operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OpSet {
    /// Reads are in it.
    pub read: bool,
    /// Writes are.
    pub write: bool,
    /// TRIMs are.
    pub trim: bool,
    /// Flushes are.
    pub flush: bool,
}

impl OpSet {
    /// All four.
    pub const ALL: OpSet = OpSet { read: true, write: true, trim: true, flush: true };
    /// None of them.
    pub const NONE: OpSet = OpSet { read: false, write: false, trim: false, flush: false };

    /// Whether `op` is in it.
    pub fn has(self, op: Op) -> bool {
        match op {
            Op::Read => self.read,
            Op::Write => self.write,
            Op::Trim => self.trim,
            Op::Flush => self.flush,
        }
    }
}

/// What is done about addresses.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum AddressMap {
    /// They are left as they are.
    #[default]
    AsRecorded,
    /// They are multiplied, in pieces of 1 MiB, and an I/O that would end beyond `limit_bytes` is
    /// moved to end there.
    Stretched {
        /// By what.
        factor: f64,
        /// End of the space, if it has one.
        limit_bytes: Option<u64>,
    },
    /// What is beyond a space begins again at its start.
    Wrapped {
        /// Bytes of the space.
        bytes: u64,
    },
}

/// Which I/Os are kept, and how they are changed. The default keeps all as they are.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Filter {
    /// Only what was issued at this time after the first I/O of the trace or later.
    pub from: Nanos,
    /// Only what was issued before.
    pub to: Nanos,
    /// Only these operations.
    pub ops: OpSet,
    /// Only what begins at this byte or beyond it. A flush, which has no address, is kept.
    pub range_start: u64,
    /// Only what ends at this byte or before it.
    pub range_end: u64,
    /// Only what is of this device.
    pub device: Option<u32>,
    /// By what all times between I/Os are multiplied; durations stay.
    pub time_scale: f64,
    /// What is done about addresses, after the range was looked at.
    pub addresses: AddressMap,
}

impl Default for Filter {
    fn default() -> Filter {
        Filter {
            from: Nanos::ZERO,
            to: Nanos::MAX,
            ops: OpSet::ALL,
            range_start: 0,
            range_end: u64::MAX,
            device: None,
            time_scale: 1.0,
            addresses: AddressMap::AsRecorded,
        }
    }
}

impl Filter {
    /// The I/O as it goes on, or `None` if it does not; `first` is when the trace's first one was.
    #[inline]
    pub(super) fn apply(&self, io: TraceIo, first: Nanos) -> Result<Option<TraceIo>, Reason> {
        let mut at = io.at.since(first);
        let addressed = io.op != Op::Flush;
        let kept = at >= self.from
            && at < self.to
            && self.ops.has(io.op)
            && self.device.is_none_or(|device| device == io.device)
            && (!addressed
                || (io.offset_bytes >= self.range_start && io.end_bytes() <= self.range_end));
        if !kept {
            return Ok(None);
        }
        if self.time_scale != 1.0 {
            let recorded = at;
            at = Nanos((at.0 as f64 * self.time_scale) as u64);
            if at > MOST_TIME {
                return Err(too_late(recorded, self.time_scale));
            }
        }
        let mut offset_bytes = io.offset_bytes;
        if addressed {
            offset_bytes = self.addresses.of(&io).ok_or_else(|| self.addresses.misfit(&io))?;
        }
        Ok(Some(TraceIo { at, offset_bytes, ..io }))
    }
}

#[cold]
fn too_late(at: Nanos, factor: f64) -> Reason {
    Reason::Other(format!(
        "an I/O at {} s would be beyond 73 years with its time multiplied by {factor}: choose a smaller factor (--time-scale)",
        at.as_secs()
    ))
}

#[cold]
fn too_large(io: &TraceIo) -> Reason {
    let (offset, bytes) = (io.offset_bytes, io.bytes);
    let unit = if bytes == 1 { "byte" } else { "bytes" };
    Reason::Other(format!(
        "an I/O of {bytes} {unit} at offset {offset} does not fit into the space its addresses are \
         mapped to"
    ))
}

impl AddressMap {
    /// The new offset of an I/O; `None` when it does not fit anywhere.
    #[inline]
    fn of(self, io: &TraceIo) -> Option<u64> {
        match self {
            AddressMap::AsRecorded => Some(io.offset_bytes),
            AddressMap::Stretched { factor, limit_bytes } => {
                let piece = ((io.offset_bytes / PIECE) as f64 * factor) as u64;
                let offset = piece.saturating_mul(PIECE).saturating_add(io.offset_bytes % PIECE);
                let last = match limit_bytes {
                    // In steps of the offset's own alignment, up to 4 KiB.
                    Some(limit) => aligned_as(io, limit.checked_sub(io.bytes)?),
                    None if offset > MOST_OFFSET => return None,
                    None => offset,
                };
                Some(offset.min(last))
            }
            AddressMap::Wrapped { bytes } => {
                let offset = io.offset_bytes % bytes.max(1);
                let last = aligned_as(io, bytes.checked_sub(io.bytes)?);
                Some(offset.min(last))
            }
        }
    }

    /// Why an I/O does not fit anywhere.
    #[cold]
    fn misfit(self, io: &TraceIo) -> Reason {
        match self {
            AddressMap::Stretched { factor, limit_bytes: None } => Reason::Other(format!(
                "an I/O at offset {} would be beyond 2^62 bytes with its address multiplied by {factor}: choose a smaller \
                 factor (--address-scale)",
                io.offset_bytes
            )),
            _ => too_large(io),
        }
    }
}

/// `offset` rounded down to the alignment that the I/O has, 4 KiB at most.
fn aligned_as(io: &TraceIo, offset: u64) -> u64 {
    let alignment = 1 << (io.offset_bytes | 4096).trailing_zeros();
    offset - offset % alignment
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn io(offset_bytes: u64, bytes: u64) -> TraceIo {
        TraceIo {
            at: Nanos(1),
            op: Op::Read,
            offset_bytes,
            bytes,
            duration: None,
            device: 0,
            flags: Default::default(),
        }
    }

    #[test]
    fn what_is_sequential_stays_so_within_a_piece() {
        let map = AddressMap::Stretched { factor: 0.25, limit_bytes: Some(1 << 30) };
        let at = |offset| map.of(&io(offset, 4096)).expect("it fits");
        assert_eq!(at(8 << 20) + 4096, at((8 << 20) + 4096));
        assert_eq!(at(8 << 20), 2 << 20);
        assert_eq!(at(1 << 40), (1 << 30) - 4096);
    }

    proptest! {
        #[test]
        fn mapped_ios_lie_within_their_space_and_keep_their_alignment(
            block in 0u64..1 << 40, blocks in 1u64..256, factor in 0.0f64..4.0,
            limit_blocks in 256u64..1 << 20,
        ) {
            let (io, limit) = (io(block * 512, blocks * 512), limit_blocks * 512);
            for map in [
                AddressMap::Stretched { factor, limit_bytes: Some(limit) },
                AddressMap::Wrapped { bytes: limit },
            ] {
                let offset = map.of(&io).expect("it fits");
                prop_assert!(offset + io.bytes <= limit, "{map:?}");
                prop_assert!(offset.is_multiple_of(512), "{map:?}");
            }
        }
    }
}
