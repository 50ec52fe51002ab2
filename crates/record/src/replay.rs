//! The result of a replayed trace.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CacheUse, Card, Latency, MemberUse};

/// A trace that was replayed, and what came of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Replay {
    /// What a reader knows it by, where that is not the trace's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What is in the trace, as it was replayed.
    pub card: Card,
    /// When I/Os were issued: `think` (after the recorded think time), `recorded` (at the recorded
    /// times; latencies count from when each was due) or `fast` (as soon as there was a place in the
    /// queue).
    pub pace: String,
    /// Longest think time, milliseconds (pace `think`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_cap_ms: Option<f64>,
    /// Most I/Os in flight.
    pub queue_depth: u32,
    /// What was done about addresses: `as_recorded`, `rescaled`, `wrapped` or `scaled`.
    pub addresses: String,
    /// I/Os that were widened to whole logical blocks of the target.
    pub widened: u64,
    /// Figures by name: `storage_bench_empty`, `storage_bench_full`, `storage_bench_again` (a second time, right
    /// after the first) or `storage_bench_as_found`; `task` of a task.
    pub figures: IndexMap<String, ReplayFigure>,
}

/// How a drive did in a replay.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReplayFigure {
    /// State of the target before: `fresh`, `filled` or `as found`.
    pub state: String,
    /// Average data rate: bytes read and written over the time the target was busy, 10^6 bytes per
    /// second.
    pub mb_per_s: f64,
    /// Time with at least one I/O in the target, seconds.
    pub busy_s: f64,
    /// From the first submission to the last completion, seconds.
    pub elapsed_s: f64,
    /// Mean number in the target while it was busy.
    pub mean_queue_depth: f64,
    /// Time that I/Os waited for a place in the queue after they were due, all together, seconds
    /// (pace `recorded`). What a document of `choose` calls `waited_s` is `busy_s` here.
    pub waited_s: f64,
    /// All I/Os, TRIMs and flushes included.
    pub all: ReplayPart,
    /// Reads.
    pub reads: ReplayPart,
    /// Writes.
    pub writes: ReplayPart,
    /// NAND writes over host writes (virtual SSDs).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_amplification: Option<f64>,
    /// Energy the target used, joules (virtual drives of which it is known).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joules: Option<f64>,
    /// What a cache did meanwhile (an SSD in front of another drive).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheUse>,
    /// What each drive of an array did meanwhile, in their order; those of a cache are in `cache`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberUse>,
    /// CPU time this process and the kernel on its behalf spent an I/O (wall clock only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_us_per_io: Option<f64>,
    /// False when the replay was cut short.
    pub complete: bool,
}

impl ReplayFigure {
    /// I/Os for each second that the target was busy, as its data rate is; none where it never was.
    pub fn iops(&self) -> Option<f64> {
        (self.busy_s > 0.0).then(|| self.all.ios as f64 / self.busy_s)
    }
}

/// Some I/Os of a replay.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReplayPart {
    /// How many.
    pub ios: u64,
    /// Bytes read or written.
    pub bytes: u64,
    /// These bytes over the time the target was busy, 10^6 bytes per second.
    pub mb_per_s: f64,
    /// Mean time from submission to completion, microseconds.
    pub service_us: f64,
    /// Latency; with pace `recorded` from when each was due.
    pub latency_us: Latency,
    /// Share that took longer than 1 ms.
    pub over_1_ms: f64,
    /// Longer than 10 ms.
    pub over_10_ms: f64,
    /// Longer than 100 ms.
    pub over_100_ms: f64,
}
