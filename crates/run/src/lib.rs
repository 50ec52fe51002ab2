//! Runs jobs on targets: the loops that keep a drive's queue full, and what they measure.
//!
//! [`run`] takes a job as data and any [`Target`](fourcorners_drive::Target), virtual or real, and
//! answers with [`Measured`]: rates, a [`Histogram`] of latencies, what every second had. It never
//! reads a clock, it asks the target. [`streams`] runs several jobs at once, with paces, pauses and
//! an order; [`verify`] holds what was written to what should be there; [`trim`] trims beside a job.
//!
//! It needs no Linux: it compiles for Windows and macOS, too (`scripts/other-systems`).
//!
//! ```
//! use fourcorners_drive::{Nanos, Null};
//! use fourcorners_record::{Data, Job, Pattern, Until};
//! use fourcorners_run::{Unobserved, run};
//!
//! let job = Job {
//!     pattern: Pattern::Random,
//!     read_percent: 100,
//!     block_bytes: 4096,
//!     queue_depth: 4,
//!     span_start_bytes: 0,
//!     span_bytes: 1 << 30,
//!     data: Data::Incompressible,
//!     until: Until::Seconds(1),
//!     seed: 1,
//!     fua: false,
//!     flush: false,
//!     jobs: 1,
//! };
//! // A drive that answers everything after 100 us has 10,000 turns a second for each in flight.
//! let mut drive = Null::new(1 << 30, Nanos::from_micros(100.0));
//! let measured = run(&mut drive, &job, &mut Unobserved);
//! assert_eq!(measured.reads, 40_000);
//! assert_eq!(measured.latency.percentile(99.0) / 1000, 100);
//! ```

#![forbid(unsafe_code)]

mod account;
mod generator;
mod histogram;
mod look_ahead;
mod measured;
mod observer;
mod paced;
mod run;
pub mod streams;
mod sync_writers;
pub mod trim;
pub mod verify;
mod workload;

pub use generator::generator_was_the_limit;
pub use histogram::Histogram;
pub use measured::{EnergyUsed, JobEnd, Measured, Second};
pub use observer::{Observer, PartObserver, Unobserved};
pub use paced::{Due, Paced, PacedPart, SLOW, Source, run_source};
pub use run::{run, run_marked};
pub use workload::{Stream, time_limit};
