//! The result of a job: as a whole, second by second, and along a varied quantity.

use super::{CacheUse, Heat, Job, MemberUse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One measured figure.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// Average data rate, 10^6 bytes per second.
    pub mb_per_s: f64,
    /// I/Os per second.
    pub iops: f64,
    /// Latency from submit to completion.
    pub latency_us: Latency,
    /// I/Os completed.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// From the first submit to the last completion, seconds.
    pub duration_s: f64,
    /// Average number of I/Os in flight; by Little's law also iops x mean latency.
    pub mean_queue_depth: f64,
    /// State of the target before the job: `fresh`, `used`, `filled`, ...
    pub state: String,
    /// NAND writes over host writes during the job (virtual SSDs).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_amplification: Option<f64>,
    /// Spare over user space without what collection keeps free (virtual SSDs).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_op: Option<f64>,
    /// Raw space beyond user space over user space (virtual SSDs).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nameplate_op: Option<f64>,
    /// How worn the flash was after the job (virtual SSDs whose flash wears out).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear: Option<FlashWear>,
    /// Mean power of the target during the job, watts (virtual drives of which it is known). What
    /// the job left to be done afterwards is not in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_power_w: Option<f64>,
    /// The same energy over the bytes moved, joules for 10^9 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joules_per_gb: Option<f64>,
    /// How warm the target was meanwhile (virtual SSDs that get warm).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heat: Option<Heat>,
    /// What a cache did meanwhile (an SSD in front of another drive).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheUse>,
    /// What each drive of an array did meanwhile, in their order; those of a cache are in `cache`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<MemberUse>,
    /// CPU time this process and the kernel on its behalf spent an I/O (wall clock only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_us_per_io: Option<f64>,
    /// What else the machine was doing (wall clock only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Noise>,
    /// False when the job was cut short; the figure is then of the part that was run.
    pub complete: bool,
    /// What was run.
    pub job: Job,
    /// The fio command that runs the same job.
    pub fio: String,
    /// Latency histogram: lowest value of a bucket in nanoseconds and its count. Buckets are
    /// under 0.8 % wide; empty ones are left out.
    pub latency_bins_ns: Vec<(u64, u64)>,
}

/// What else the machine was doing while a figure was measured.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Noise {
    /// Share of the time for which the loop that makes the I/Os was ready to run and had no
    /// processor.
    pub cpu_wait_share: f64,
    /// Share of the processors' time that the hypervisor gave to other machines.
    pub cpu_steal_share: f64,
    /// Programs running or ready to, on average over the minute before the end.
    pub load: f64,
    /// Of the bytes that the drive moved, the share that others asked for; none where that cannot be
    /// told (a file, a device behind the page cache).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_io_share: Option<f64>,
    /// Share of the time for which the program as a whole stood still: it was stopped, or its machine was.
    #[serde(default, skip_serializing_if = "is_none_of_it")]
    pub stopped_share: f64,
}

/// Whether a share is 0, as records from before it was looked for have it.
fn is_none_of_it(share: &f64) -> bool {
    *share == 0.0
}

/// How worn a virtual drive's flash is. Blocks on all planes of a die that are erased together
/// count as one.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FlashWear {
    /// Erases of the least worn block.
    pub erases_min: u32,
    /// Mean erases of all blocks.
    pub erases_mean: f64,
    /// Erases of the most worn block.
    pub erases_max: u32,
    /// Their standard deviation.
    pub erases_std: f64,
    /// Mean erases over the rated cycles.
    pub endurance_used: f64,
    /// Blocks that have failed and are used no more.
    pub blocks_retired: u32,
    /// Whether the drive is worn out and takes no more writes.
    pub read_only: bool,
}

/// Latency of a figure in microseconds. Minimum, mean and maximum are exact, percentiles at most
/// 0.8 % too high.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Shortest.
    pub min: f64,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// 99.99th percentile.
    pub p9999: f64,
    /// Longest.
    pub max: f64,
}

/// A figure second by second. All lists that are not left out have one entry a second.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// I/Os completed in the second.
    pub iops: Vec<u64>,
    /// 10^6 bytes per second.
    pub mb_per_s: Vec<f64>,
    /// Mean latency of the I/Os completed in the second, microseconds; 0 where there was none.
    pub latency_mean_us: Vec<f64>,
    /// Longest of them.
    pub latency_max_us: Vec<f64>,
    /// Joules the target used in the second; none where its energy is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub energy_j: Vec<f64>,
}

/// A figure against something that was varied.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Curve {
    /// What was varied, with its unit.
    pub x: String,
    /// What was measured, with its unit.
    pub y: String,
    /// Pairs of the two, `x` ascending.
    pub points: Vec<(f64, f64)>,
}
