//! The methods of the drive lab: what a review measures, on a real drive and on a virtual one.
//!
//! A [`review::Method`] is a plan of jobs, a [`drive::Drive`] is what they run on, and a
//! [`Record`](fourcorners_record::Record) is what comes of it; [`campaign`] reviews one drive
//! or several, and keeps what comes of it. [`replay`] is the storage bench, [`validate`] holds virtual drives against what
//! was published, [`choose`] ranks drives by a work, [`diagnose`] finds what is inside a drive, [`state`] keeps a used drive in a file, [`real_tasks`] does tasks on a file system,
//! [`bench`] measures our own speed. Nothing in here parses arguments, draws or serves: the command
//! is the crate `fourcorners`, and Python binds this one.
//!
//! ```
//! use fourcorners_catalogue::built_in;
//! use fourcorners_lab::drive::Drive;
//! use fourcorners_record::{Data, Job, Pattern, Until};
//! use fourcorners_run::Unobserved;
//!
//! let mut drive = Drive::from_profile(&built_in("crucial-m4-256gb", &[])?);
//! let job = Job {
//!     pattern: Pattern::Random,
//!     read_percent: 0,
//!     block_bytes: 4096,
//!     queue_depth: 3,
//!     span_start_bytes: 0,
//!     span_bytes: 8_000_000_000,
//!     data: Data::Incompressible,
//!     until: Until::Seconds(1),
//!     seed: 1,
//!     fua: false,
//!     flush: false,
//!     jobs: 1,
//! };
//! let outcome = drive.run(&job, &mut Unobserved);
//! // New, an m4 takes some 50,000 random writes a second.
//! assert!((40_000..60_000).contains(&outcome.measured.writes));
//! # Ok::<(), fourcorners_catalogue::CatalogueError>(())
//! ```

#![forbid(unsafe_code)]

mod any_target;
pub mod array;
pub mod bench;
pub mod cache_use;
pub mod campaign;
pub mod choose;
pub mod device_under_test;
pub mod diagnose;
pub mod diagnosis_folder;
pub mod disturbed;
pub mod drive;
pub mod grade;
mod heat;
pub mod host_cost;
mod kept_folder;
pub mod members;
pub mod memory;
pub mod new_drive;
pub mod real_tasks;
pub mod replay;
pub mod review;
mod sealed;
pub mod state;
mod statistic;
mod strict_toml;
pub mod target_info;
pub mod validate;
pub mod virtual_drive;

/// The Rust of README.md is compiled and run with the other documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
