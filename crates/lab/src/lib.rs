//! The drive lab: storage reviewers' tests on real drives and on virtual ones.
//!
//! A [`workload::Job`] says what is done to a target, [`run::run`] does it on any
//! [`fourcorners_drive::Target`], a [`review::Method`] is a plan of such jobs, and a
//! [`record::Record`] is what was measured.

pub mod arrival;
pub mod bench;
pub mod catalogue;
pub mod cli;
pub mod compare;
pub mod device;
pub mod doctor;
pub mod drive;
mod event;
mod fio;
pub mod fio_output;
pub mod guard;
mod histogram;
pub mod huge_pages;
pub mod jobfile;
mod look_ahead;
mod measured;
mod observer;
pub mod overhead;
pub mod paced;
pub mod real_tasks;
pub mod replay;
pub mod report;
pub mod review;
pub mod run;
pub mod side_by_side;
pub mod state;
pub mod store;
pub mod streams;
pub mod trace;
pub mod trim;
pub mod uring;
pub mod validate;
pub mod verify;
pub mod web;
pub mod workload;

pub use histogram::Histogram;
