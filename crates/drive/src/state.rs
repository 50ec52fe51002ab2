//! What a drive's state may hold at most, so that a loaded one can be reckoned with.
//!
//! A state comes from a file, and a file may say anything. What is loaded is held against what the
//! config makes, and every number is bounded before it is used.

use crate::Nanos;

/// No time of a loaded state is later: 146 years, which leaves as much again before a sum
/// overflows.
pub(crate) const LATEST: Nanos = Nanos(1 << 62);

/// Most of anything that is only ever counted up.
pub(crate) const MOST_COUNTED: u64 = 1 << 62;

/// Most units, rows, pages or sectors, which are counted up and multiplied: by up to 256 units of
/// 4 KiB a row, by the 8 sectors of these. As sectors they are 144 PB, 4000 times the largest drive.
pub(crate) const MOST_MOVED: u64 = 1 << 48;

/// Why a state is none of a drive.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("it is no state of this drive: {what}")]
pub struct StateError {
    /// What is wrong with it.
    pub what: String,
}

impl StateError {
    pub(crate) fn new(what: impl Into<String>) -> StateError {
        StateError { what: what.into() }
    }

    /// An error about `what` unless it `holds`.
    pub(crate) fn unless(holds: bool, what: &str) -> Result<(), StateError> {
        if holds { Ok(()) } else { Err(StateError::new(what)) }
    }
}
