//! Verification: what is written says where it belongs and which write it is, and is held to that when
//! it is read.
//!
//! [`Verifying`] stands between a loop and a target whose bytes can be reached. Every block that is
//! written carries a checksum, its place, the sequence of its write and its run (`stamp.rs` has the
//! format), and a ledger says which write each block should hold. So a block that is wrong is not only
//! seen: bits that flipped, a write that was lost, one that was torn and one that landed elsewhere are
//! told apart.
//!
//! Two I/Os of which one writes never overlap in flight: what is there afterwards would be anybody's
//! guess. The later one waits, and that is in its latency.

mod crc64;
mod damage;
mod digest;
mod findings;
mod ledger;
mod read_back;
mod stamp;
mod target;
#[cfg(test)]
mod tests;

use fourcorners_drive::{Io, Tag, Target};

pub use damage::{Damage, Holds};
pub use digest::{Kind, UnknownChecksum};
pub use findings::{Finding, Findings};
pub use read_back::{ReadBack, Wanted};
pub use target::Verifying;

/// What verifying a block without a ledger's entry takes: an entry is a u64.
pub const LEDGER_BYTES_A_BLOCK: u64 = 8;

/// A target whose bytes can be reached.
pub trait Contents: Target {
    /// As [`Target::submit`] of a write; what it writes is what `fill` makes.
    fn submit_filled(&mut self, tag: Tag, io: Io, fill: impl FnOnce(&mut [u8]));

    /// What the last read under a tag, which is in flight no more, has brought: at most its first
    /// `bytes`. What an earlier I/O left if that read failed.
    fn content(&self, tag: Tag, bytes: usize) -> &[u8];
}

/// Which write: of which stream, and the how-manieth of that one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Sequence(u64);

/// Bits of a sequence that count.
const COUNT_BITS: u32 = 48;

impl Sequence {
    /// The first write of the first stream.
    pub(crate) const FIRST: Sequence = Sequence(1);

    /// The `count`-th write of a stream, from 1. Streams are at most 65,536, and 2^48 writes are what
    /// the fastest drive does in years.
    pub fn new(stream: u32, count: u64) -> Sequence {
        Sequence(u64::from(stream) << COUNT_BITS | count & ((1 << COUNT_BITS) - 1))
    }

    /// As a number that is not 0.
    fn number(self) -> u64 {
        self.0
    }

    /// Of a number; `None` of 0.
    fn of(number: u64) -> Option<Sequence> {
        (number != 0).then_some(Sequence(number))
    }

    /// The stream's place in its plan.
    pub fn stream(self) -> usize {
        (self.0 >> COUNT_BITS) as usize
    }

    /// Which of its writes, from 1.
    pub fn count(self) -> u64 {
        self.0 & ((1 << COUNT_BITS) - 1)
    }
}

/// How a plan is verified.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    /// The checksum.
    pub kind: Kind,
    /// Length of a block: all I/Os are whole blocks. A multiple of 512.
    pub block_bytes: u32,
    /// First byte that is kept account of.
    pub start_bytes: u64,
    /// How much of it, a multiple of a block.
    pub bytes: u64,
    /// Tells this run's data from any other's.
    pub run: u64,
    /// How compressible the writes of each stream are, per cent.
    pub compressible_percent: Vec<u8>,
    /// Whether each stream is verified at all; what others write is stamped, too.
    pub wanted: Vec<bool>,
    /// The first block that is wrong ends its stream.
    pub fatal: bool,
    /// Read all back after the last stream has ended.
    pub read_back: bool,
    /// Run nothing: hold what is there to what the plan would have left.
    pub only: bool,
}
