//! Several drives as one: RAID levels 0, 1, 5 and 10, drives one behind the other, and an SSD as the cache of another
//! drive ([`Cache`]).
//!
//! An array is a [`Target`](fourcorners_drive::Target) made of targets. It knows where sectors lie, reads what
//! a write of parity needs, goes on without a drive that failed and gives a new one its data back; what a
//! drive does with its part is the drive's own. Members share the array's clock, so the same drives, seeds and
//! I/Os give the same answers.
//!
//! It needs no Linux: it compiles for Windows and macOS, too (`scripts/other-systems`).
//!
//! ```
//! use fourcorners_array::{Array, ArrayConfig, Level};
//! use fourcorners_drive::config::SsdConfig;
//! use fourcorners_drive::{Io, Lba, Nanos, Ssd, Tag, Target};
//!
//! let drives = (0..4).map(|_| Ssd::new(&SsdConfig::default())).collect::<Result<Vec<_>, _>>()?;
//! let config = ArrayConfig { level: Level::Raid5, ..ArrayConfig::default() };
//! let mut array = Array::new(&config, drives)?;
//! // Old data and old parity are read, then both are written: four I/Os for one.
//! array.submit(Tag(0), Io::write(Lba(0), 8));
//! assert!(array.reap(Nanos::MAX)?.is_some());
//! assert_eq!(array.counts().member_ios, 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Left out: the host's time for parity, the journal or bitmap that closes the write hole, and caches of
//! stripes; so parity that was just read is read again.

#![forbid(unsafe_code)]

mod array;
mod cache;
mod layer;
mod layout;
mod member;
mod rebuild;
mod work;

pub use array::{Array, ArrayConfig, ArrayCounts, ArrayError};
pub use cache::{Cache, CacheConfig, CacheCounts, CacheError, CacheMode, MemberBytes, Replacement};
pub use layout::{CHUNK_BYTES, Layout, LayoutError, Level, MOST_MEMBERS};
