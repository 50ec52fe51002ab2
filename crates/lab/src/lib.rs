//! The drive lab: storage reviewers' tests on real drives and on virtual ones.
//!
//! A [`workload::Job`] says what is done to a target, [`run::run`] does it on any
//! [`fourcorners_drive::Target`], a [`review::Method`] is a plan of such jobs, and a
//! [`record::Record`] is what was measured.

pub mod arrival;
pub mod bench;
pub mod catalogue;
pub mod cli;
mod cpu;
pub mod doctor;
pub mod drive;
mod fio;
pub mod fio_output;
pub mod guard;
mod histogram;
mod host;
pub mod huge_pages;
pub mod jobfile;
mod look_ahead;
mod measured;
mod observer;
pub mod paced;
pub mod record;
pub mod replay;
pub mod report;
pub mod review;
pub mod run;
mod save;
pub mod side_by_side;
pub mod state;
pub mod streams;
pub mod trace;
pub mod trim;
pub mod uring;
pub mod validate;
mod verdict;
pub mod workload;

pub use histogram::Histogram;
