//! Virtual drives: models of SSDs and hard disks that answer in virtual time.
//!
//! A drive is a queue with a clock. Whoever owns the queue owns the clock: the code that runs a
//! job never reads the time of day, it asks its [`Target`]. The same loop therefore runs a model
//! in virtual time and a real device in wall time.
//!
//! This crate is pure. It has no OS interface, no wall clock, no threads; time and randomness are
//! arguments. The same config and the same sequence of I/Os give the same answers on any machine.
//!
//! It needs no Linux: it compiles for Windows and macOS, too (`scripts/other-systems`).
//!
//! ```
//! use fourcorners_drive::config::SsdConfig;
//! use fourcorners_drive::{Io, Lba, Nanos, Ssd, Tag, Target};
//!
//! let mut config = SsdConfig::default();
//! config.nand.read_us = 80.0;
//! let mut ssd = Ssd::new(&config)?;
//! ssd.submit(Tag(0), Io::write(Lba(8), 8));
//! let written = ssd.reap(Nanos::MAX)?.expect("one I/O is in flight").at;
//! ssd.settle(); // What was written goes from the buffer to the flash.
//! let asked = ssd.now();
//! ssd.submit(Tag(0), Io::read(Lba(8), 8));
//! let read = ssd.reap(Nanos::MAX)?.expect("one I/O is in flight").at - asked;
//! assert!(written < Nanos::from_micros(10.0) && read > Nanos::from_micros(80.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What a drive is made of is data ([`config`]): an [`SsdConfig`](config::SsdConfig) or an
//! [`HddConfig`](config::HddConfig), of which a test or a program writes what matters to it.

#![deny(unsafe_code)]

mod cache;
mod consistency;
mod divide;
mod energy;
mod ftl;
mod hdd;
mod heat;
mod lane;
mod link;
mod map_memory;
mod nand;
mod null;
mod prefetch;
mod queue;
mod random;
mod read_ahead;
mod ssd;
mod state;
mod variation;
mod vocabulary;

pub mod config;

pub use consistency::Inconsistency;
pub use energy::{HddEnergy, SsdEnergy};
pub use ftl::MergeCounts;
pub use hdd::Hdd;
pub use heat::SsdHeat;
pub use null::Null;
pub use ssd::{Persisted, RowProgram, Ssd, SsdCounters, SsdState, Wear};
pub use state::StateError;
pub use vocabulary::{
    Clock, Done, Fault, FaultCause, Geometry, Io, Lba, Nanos, Op, SECTOR_BYTES, Tag, Target,
};
