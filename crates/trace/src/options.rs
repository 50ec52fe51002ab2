//! How a trace is read.

use serde::{Deserialize, Serialize};

use super::filter::Filter;
use super::formats::Format;

/// Most I/Os of a generated trace: days of work even for the fastest virtual drive. Who takes the number
/// from a person refuses more.
pub const MOST_GENERATED: u64 = 1_000_000_000_000;
/// Times and addresses are not multiplied by more than this: who takes the factor from a person refuses
/// more.
pub const MOST_FACTOR: f64 = 1e6;

/// How a trace is read.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Options {
    /// Its format, if it is not to be seen by its content.
    pub format: Option<Format>,
    /// Leave out records that cannot be read, and count them.
    pub skip_bad: bool,
    /// The event of a kernel trace that an I/O is taken from.
    pub event: Event,
    /// Which I/Os are kept, and how they are changed.
    pub filter: Filter,
    /// A generated trace: so many I/Os instead of its full number.
    pub ios: Option<u64>,
    /// A generated trace: seed of its random numbers.
    pub seed: u64,
}

/// Which event of a kernel trace is the beginning of an I/O.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// `D`: handed to the drive. Durations are the drive's.
    #[default]
    Issue,
    /// `Q`: handed to the block layer. Durations have what it waited there.
    Queue,
}
