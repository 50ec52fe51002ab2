//! The card of a trace as data: what is in it, so that nobody has to take a replay on trust.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is in a trace.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Card {
    /// The trace as it was named.
    pub trace: String,
    /// Its format; `generated` or `task` of one that is none.
    pub format: String,
    /// I/Os.
    pub ios: u64,
    /// Of those: reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// TRIMs.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Bytes trimmed.
    pub trim_bytes: u64,
    /// From the first issue to the last issue, or to the last completion where that is known,
    /// seconds.
    pub duration_s: f64,
    /// The first byte after all that is touched.
    pub extent_bytes: u64,
    /// The largest read or write, bytes.
    pub largest_bytes: u64,
    /// The largest TRIM, bytes (traces with TRIMs).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_trim_bytes: Option<u64>,
    /// Devices in the trace.
    pub devices: u64,
    /// Reads and writes by size.
    pub sizes: Vec<Bin>,
    /// Share of I/Os that begin where one of the 8 before of their operation and device ended.
    pub sequential: Share,
    /// Share whose offset and length are whole 4 KiB.
    pub aligned_4k: Share,
    /// Share whose offset and length are whole sectors of 512 bytes.
    pub aligned_512: Share,
    /// I/Os in flight when one is issued, itself included (traces with durations).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_queue_depth: Option<f64>,
    /// The same by class (traces with durations).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue_depths: Vec<Bin>,
    /// Recorded durations, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_us: Option<Spread>,
    /// Think time: from the last completion to the next issue, of I/Os that were issued while
    /// nothing was in flight. Without durations: from issue to issue.
    pub think_us: Spread,
    /// I/Os that are recorded after a later one.
    pub out_of_order: u64,
    /// Records that could not be read and were left out.
    pub skipped: u64,
}

/// The last class of a card's sizes is of reads and writes above these bytes. A card has only the classes that have I/Os, so this cannot
/// be told from the class before.
pub const LAST_SIZE_ABOVE: u64 = 16 << 20;
/// The last class of a card's queue depths is of those above this.
pub const LAST_DEPTH_ABOVE: u64 = 1 << 15;

/// A class of a histogram.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Bin {
    /// The largest value in it; `None` is without limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up_to: Option<u64>,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
}

/// A share of the reads, of the writes, and of both.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    /// Of the reads, 0 to 1; 0 when there are none.
    pub reads: f64,
    /// Of the writes.
    pub writes: f64,
    /// Of both together.
    pub all: f64,
}

/// How times are spread, microseconds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// How many there are.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// Their median, at most 0.8 % too high, as are the percentiles.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// The longest.
    pub max: f64,
    /// Their sum, seconds.
    pub sum_s: f64,
}

impl Card {
    /// Whether it has durations.
    pub fn has_durations(&self) -> bool {
        self.latency_us.is_some()
    }
}
