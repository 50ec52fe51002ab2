//! Virtual drives for real programs.

#![forbid(unsafe_code)]

pub mod contents;
pub mod nbd;
