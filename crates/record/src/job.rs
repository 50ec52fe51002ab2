//! A job as data: what is done to a target, and for how long.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the next I/O of a job goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Uniformly anywhere in the span, aligned to the block size, with replacement.
    Random,
    /// One block after the other, from the span's start again when it ends.
    Sequential,
}

/// What a job writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Data {
    /// One byte value over and over: compression and deduplication remove all of it.
    Repeating,
    /// Random bytes.
    Incompressible,
    /// Random bytes and others, of which compression removes this many percent, 0 to 100.
    Compressible(u8),
}

impl Data {
    /// How much of it compression would remove.
    pub fn compressible_percent(self) -> u8 {
        match self {
            Data::Repeating => 100,
            Data::Incompressible => 0,
            Data::Compressible(percent) => percent.min(100),
        }
    }
}

/// When a job ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// After this many seconds on the target's clock.
    Seconds(u64),
    /// After this many bytes were submitted.
    Bytes(u64),
    /// Whichever of the two comes first.
    SecondsOrBytes(u64, u64),
}

impl Until {
    /// The time limit in seconds on the target's clock; `None` when there is none.
    pub fn seconds(self) -> Option<u64> {
        match self {
            Until::Seconds(seconds) | Until::SecondsOrBytes(seconds, _) => Some(seconds),
            Until::Bytes(_) => None,
        }
    }

    /// The limit in bytes; `u64::MAX` when there is none.
    pub fn bytes(self) -> u64 {
        match self {
            Until::Seconds(_) => u64::MAX,
            Until::Bytes(bytes) | Until::SecondsOrBytes(_, bytes) => bytes,
        }
    }
}

/// A job: what is done to a target, and for how long.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Where each I/O goes.
    pub pattern: Pattern,
    /// Share of reads, 0 to 100 %; the rest are writes.
    pub read_percent: u8,
    /// Bytes of each I/O; a multiple of the target's logical block.
    pub block_bytes: u32,
    /// I/Os kept in flight.
    pub queue_depth: u32,
    /// First byte of the span that is touched.
    pub span_start_bytes: u64,
    /// Length of the span in bytes.
    pub span_bytes: u64,
    /// What is written.
    pub data: Data,
    /// When it ends.
    pub until: Until,
    /// Seed of the job's random numbers: the same seed gives the same I/Os.
    pub seed: u64,
    /// Force unit access: every write is answered only when it is durable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fua: bool,
    /// Every write is followed by a flush, and done when that is answered: its latency is that of both.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flush: bool,
    /// How many such jobs are run at a time, each with `queue_depth` I/Os in flight. Sequential ones each
    /// begin at the start of the span, as fio's `numjobs` does it. Seconds and bytes are of all together.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub jobs: u32,
}

fn one() -> u32 {
    1
}

fn is_one(jobs: &u32) -> bool {
    *jobs == 1
}

impl Job {
    /// I/Os that all of its jobs keep in flight together.
    pub fn in_flight(&self) -> u32 {
        self.queue_depth.saturating_mul(self.jobs.max(1))
    }
}
