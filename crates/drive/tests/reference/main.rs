//! The virtual SSD against a plain model of it, which was written from the description of the drive
//! (the headers of `ssd/mod.rs` and `ftl/mod.rs`) and shares no code with it: vectors of options, one unit at
//! a time, nothing batched, packed or looked up ahead. Same profile, same job: same answers.
//!
//! The plain model decides what is right when the fast one is made faster. Of the optional sections it
//! has only collection delayed until the host writes in order. The others are held to closed forms,
//! hand-computed times and laws, and are drawn together in `tests/common/mechanisms.rs` for the ten million
//! commands and the fuzz target.

#[path = "../common/mod.rs"]
mod common;

mod agreement;
mod flash;
mod limit;
mod model;
mod policy;
mod semantics;
mod space;
mod vary;
