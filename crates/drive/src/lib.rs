//! Virtual drives: models of SSDs and hard disks that answer in virtual time.
//!
//! A drive is a queue with a clock. Whoever owns the queue owns the clock: the code that runs a
//! job never reads the time of day, it asks its [`Target`]. The same loop therefore runs a model
//! in virtual time and a real device in wall time.
//!
//! This crate is pure. It has no OS interface, no wall clock, no threads; time and randomness are
//! arguments. The same profile and the same sequence of I/Os give the same answers on any machine.
//!
//! ```
//! use fourcorners_drive::{Io, Lba, Nanos, Null, Tag, Target};
//!
//! // A drive that answers everything after 10 us, whatever is asked of it.
//! let mut drive = Null::new(1 << 21, Nanos::from_micros(10.0));
//! let read = Io::read(Lba(8), 8);
//! drive.submit(Tag(0), read);
//! let done = drive.reap(Nanos::MAX)?.expect("one I/O is in flight");
//! assert_eq!((done.tag, done.at), (Tag(0), Nanos(10_000)));
//! # Ok::<(), fourcorners_drive::Fault>(())
//! ```

#![deny(unsafe_code)]

mod cache;
mod divide;
mod energy;
mod ftl;
mod hdd;
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
mod vocabulary;

pub mod profile;

pub use energy::{HddEnergy, SsdEnergy};
pub use ftl::MergeCounts;
pub use hdd::Hdd;
pub use null::Null;
pub use ssd::{Ssd, SsdCounters, SsdState, Wear};
pub use state::StateError;
pub use vocabulary::{
    Clock, Done, Fault, FaultCause, Geometry, Io, Lba, Nanos, Op, SECTOR_BYTES, Tag, Target,
};
