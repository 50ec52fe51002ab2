//! The virtual SSD against a plain model of it, which was written from what ARCHITECTURE.md says
//! and shares no code with it: vectors of options, one unit at a time, no batches, no packed bits.
//! Same profile, same job: same answers.

#[path = "../common/mod.rs"]
mod common;

mod agreement;
mod flash;
mod model;
mod policy;
mod semantics;
mod space;
