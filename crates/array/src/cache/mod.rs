//! An SSD as the cache in front of another drive.
//!
//! The disk's address space is cut into blocks, the SSD into slots of a block each. What of a block is in its slot is
//! known by units of 4 KiB, so a read that misses brings what it read and a write needs nothing to be read before
//! it. A job that uses units holds them (`ranges.rs`): what is newest lies in one known place at any time.
//!
//! ```
//! use fourcorners_array::{Cache, CacheConfig, CacheMode};
//! use fourcorners_drive::{Io, Lba, Nanos, Null, Tag, Target};
//!
//! let (ssd, disk) = (Null::new(1 << 16, Nanos(100_000)), Null::new(1 << 20, Nanos(10_000_000)));
//! let config = CacheConfig { mode: CacheMode::WriteBack, ..CacheConfig::default() };
//! let mut cache = Cache::new(&config, ssd, disk)?;
//! let mut read = |lba| -> Result<u64, fourcorners_drive::Fault> {
//!     let began = cache.now();
//!     cache.submit(Tag(0), Io::read(Lba(lba), 8));
//!     let took = cache.reap(Nanos::MAX)?.map_or(0, |done| (done.at - began).0);
//!     // What it brought is written to the SSD a moment later.
//!     cache.reap(cache.now() + Nanos(1_000_000))?;
//!     Ok(took)
//! };
//! assert_eq!(read(800)?, 10_000_000);
//! assert_eq!(read(800)?, 100_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Left out: the metadata that a real cache writes to its SSD to find its blocks again (bcache keeps a journal and a
//! tree there, dm-cache a third device), its time and its wear.

mod config;
mod counts;
#[cfg(test)]
mod model;
mod order;
mod plan;
mod ranges;
mod slots;
mod streams;
mod target;

pub use config::{CacheConfig, CacheError, CacheMode, Replacement};
pub use counts::{CacheCounts, MemberBytes};
pub use target::Cache;
