//! The drive lab: storage reviewers' tests on real drives and on virtual ones.
//!
//! A [`workload::Job`] says what is done to a target, [`run::run`] does it on any
//! [`fourcorners_drive::Target`], a [`review::Method`] is a plan of such jobs, and a
//! [`record::Record`] is what was measured.

pub mod bench;
pub mod cli;
pub mod drive;
mod event;
pub mod real_tasks;
pub mod replay;
pub mod review;
pub mod side_by_side;
pub mod state;
pub mod validate;
pub mod web;
