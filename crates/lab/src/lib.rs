//! The drive lab: storage reviewers' tests on real drives and on virtual ones.
//!
//! A [`workload::Job`] says what is done to a target, [`run::run`] does it on any
//! [`fourcorners_drive::Target`], a [`record::Record`] is what was measured.

pub mod catalogue;
pub mod guard;
mod histogram;
pub mod record;
pub mod report;
pub mod run;
pub mod uring;
pub mod workload;

pub use histogram::Histogram;
