//! What was measured, as data: the JSON document `fourcorners.review/1`.
//!
//! A record is all that reports and stores ever see; an old one renders without its drive.

use std::borrow::Cow;

use fourcorners_drive::{Clock, Wear};
use indexmap::IndexMap;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::histogram::Histogram;
use crate::trace::Card;
use crate::workload::Job;

mod health;
mod steadiness;

pub use health::{Health, HealthReading};
pub use steadiness::Steadiness;

/// The name and version of the document's form.
pub const SCHEMA: &str = "fourcorners.review/1";

/// The document that `review --json` prints.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// One record for each target and method, in the order they were run.
    pub records: Vec<Record>,
}

impl Document {
    /// The document of these records.
    pub fn new(records: Vec<Record>) -> Document {
        Document { schema: SCHEMA.into(), records }
    }
}

/// What one method measured on one target.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// First 16 hexadecimal digits of the SHA-256 of everything else but the times of day: equal
    /// results have equal ids.
    pub id: String,
    /// What it was measured on.
    pub target: TargetInfo,
    /// The clock all its times are of.
    pub clock: ClockName,
    /// The method's name, as given to `--methods`, or as its plan file has it.
    pub method: String,
    /// The plan file that the method is from, if it is not one of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanInfo>,
    /// Whether durations and spans were cut by `--quick`.
    pub quick: bool,
    /// Figures by name, in the order they were measured.
    pub figures: IndexMap<String, Figure>,
    /// One-second series by the name of their figure.
    pub series: IndexMap<String, Series>,
    /// What a trace was replayed to (`trace replay`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
    /// What several were replayed to, by their names (methods `storage-bench` and `tasks`).
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub replays: IndexMap<String, Replay>,
    /// How steady a figure was from second to second, by its name; of a part of it, by its name and
    /// from when on.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub steadiness: IndexMap<String, Steadiness>,
    /// What was measured against something else than time, by its name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub curves: IndexMap<String, Curve>,
    /// What the figures mean, and what could not be measured and why.
    pub verdicts: Vec<Verdict>,
    /// What the drive said of its own health (block devices).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// Whether all of it was measured.
    pub ended: Ended,
    /// Seed of the whole review; each job's own is in its figure.
    pub seed: u64,
    /// Version of fourcorners.
    pub version: String,
    /// The machine, for results in wall time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// Time of day at the start, RFC 3339 in UTC.
    pub started_at: String,
    /// Time of day at the end.
    pub finished_at: String,
}

impl Record {
    /// One of a target of which nothing is measured yet, and which is whole so far.
    pub(crate) fn begun(
        target: TargetInfo,
        clock: ClockName,
        method: &str,
        seed: u64,
        host: Option<Host>,
    ) -> Record {
        let buffered = target.direct == Some(false);
        let page_cache = Verdict {
            about: "page-cache".into(),
            text:
                "The file system has no direct I/O: the figures are those of the page cache, not \
                   of the drive."
                    .into(),
            value: None,
        };
        Record {
            id: String::new(),
            target,
            clock,
            method: method.into(),
            plan: None,
            quick: false,
            figures: IndexMap::new(),
            series: IndexMap::new(),
            replay: None,
            replays: IndexMap::new(),
            steadiness: IndexMap::new(),
            curves: IndexMap::new(),
            verdicts: buffered.then_some(page_cache).into_iter().collect(),
            health: None,
            ended: Ended::Complete,
            seed,
            version: env!("CARGO_PKG_VERSION").into(),
            host,
            started_at: now(),
            finished_at: now(),
        }
    }

    /// How much was measured of it: figures, and replays of traces.
    pub fn figure_count(&self) -> usize {
        let replays = self.replay.iter().chain(self.replays.values());
        self.figures.len() + replays.map(|replay| replay.figures.len()).sum::<usize>()
    }

    /// All figures of replays, each by a name that no other of the record has: that of its figure, and
    /// before it that of what was replayed where a record has several.
    pub fn replayed(&self) -> impl Iterator<Item = (Cow<'_, str>, &Replay, &ReplayFigure)> {
        let alone = self.replay.iter().flat_map(|replay| {
            replay.figures.iter().map(move |(name, figure)| (name.into(), replay, figure))
        });
        let several = self.replays.iter().flat_map(|(of, replay)| {
            let named = move |name: &String| Cow::Owned(format!("{of}_{name}"));
            replay.figures.iter().map(move |(name, figure)| (named(name), replay, figure))
        });
        alone.chain(several)
    }

    /// Notes that this is all so far, and seals it.
    pub(crate) fn finish(&mut self) {
        self.finished_at = now();
        self.seal();
    }

    /// Gives the record the id its content has.
    pub fn seal(&mut self) {
        let timeless = Record {
            id: String::new(),
            started_at: String::new(),
            finished_at: String::new(),
            ..self.clone()
        };
        let json = serde_json::to_vec(&timeless).expect("a record has only string keys");
        let digest = Sha256::digest(json);
        self.id = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    }
}

/// The time of day, UTC, to the second.
fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// [`Clock`], as a record spells it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClockName {
    /// The model's own time.
    Virtual,
    /// `CLOCK_MONOTONIC`.
    Wall,
}

impl From<Clock> for ClockName {
    fn from(clock: Clock) -> ClockName {
        match clock {
            Clock::Virtual => ClockName::Virtual,
            Clock::Wall => ClockName::Wall,
        }
    }
}

/// What kind of target it was.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A model.
    Virtual,
    /// A Linux block device.
    Device,
    /// A file on a file system.
    File,
}

/// What was measured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TargetInfo {
    /// Catalogue name, or the path as given.
    pub name: String,
    /// The name a reader knows it by.
    pub title: String,
    /// Virtual, device or file.
    pub kind: TargetKind,
    /// Addressable bytes.
    pub capacity_bytes: u64,
    /// Smallest I/O in bytes.
    pub logical_block_bytes: u32,
    /// A real target: whether I/O bypassed the page cache. If not, memory was measured too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct: Option<bool>,
    /// Model as the device tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Serial number as the device tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// Firmware revision as the device tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// A virtual drive's profile: SHA-256 of its values, first 16 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile_hash: Option<String>,
    /// Program/erase cycles that a virtual SSD's flash is rated for, where its profile says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated_cycles: Option<u32>,
    /// A virtual drive's parameters that were fitted to measurements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fitted: Vec<String>,
    /// A virtual drive's parameters that were given with `--set`, as `key=value`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// The host controller a virtual drive was put behind with `--host`, by its name; without one
    /// it has the host of its own profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_controller: Option<String>,
    /// A virtual drive that was not new: first 16 hexadecimal digits of the SHA-256 of the state
    /// it was loaded from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded_state: Option<String>,
}

/// A method that a user has written.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlanInfo {
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// SHA-256 of its file.
    pub sha256: String,
    /// What it asked for, and whether it was met.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<Threshold>,
}

/// A limit that a plan file sets to a figure or to the ratio of two.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Threshold {
    /// What it is about: the same as that of its conclusion.
    pub about: String,
    /// What was measured.
    pub value: f64,
    /// The least that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Whether it is within both.
    pub met: bool,
}

/// The machine a result in wall time was measured on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// Kernel release.
    pub kernel: String,
    /// CPU model.
    pub cpu: String,
    /// Logical CPUs.
    pub cpus: u32,
    /// What our own loop takes for an I/O, nanoseconds, measured before the first test: 4 KiB random
    /// reads at queue depth 32 on a target that answers at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead_ns_per_io: Option<u64>,
}

/// Whether a record is whole.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Everything planned was measured.
    Complete,
    /// It was stopped by the user.
    Interrupted,
    /// It failed; the reason.
    Failed(String),
}

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
    /// CPU time this process and the kernel on its behalf spent an I/O (wall clock only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_us_per_io: Option<f64>,
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

impl FlashWear {
    /// `None` of a drive that does not wear out: what it was erased says nothing then.
    pub fn of(wear: Wear) -> Option<FlashWear> {
        Some(FlashWear {
            erases_min: wear.erases_min,
            erases_mean: wear.erases_mean,
            erases_max: wear.erases_max,
            erases_std: wear.erases_std,
            endurance_used: wear.endurance_used?,
            blocks_retired: wear.blocks_retired,
            read_only: wear.read_only,
        })
    }
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

impl From<&Histogram> for Latency {
    fn from(histogram: &Histogram) -> Latency {
        let micros = |ns: u64| ns as f64 / 1e3;
        Latency {
            min: micros(histogram.min()),
            mean: histogram.mean() / 1e3,
            p50: micros(histogram.percentile(50.0)),
            p90: micros(histogram.percentile(90.0)),
            p99: micros(histogram.percentile(99.0)),
            p999: micros(histogram.percentile(99.9)),
            p9999: micros(histogram.percentile(99.99)),
            max: micros(histogram.max()),
        }
    }
}

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
    /// Figures by name: `storage_bench_empty`, `storage_bench_full` or `storage_bench_as_found`; `task`
    /// of a task.
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
    /// (pace `recorded`).
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
    /// CPU time this process and the kernel on its behalf spent an I/O (wall clock only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_us_per_io: Option<f64>,
    /// False when the replay was cut short.
    pub complete: bool,
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

/// What a figure means, or why there is none.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// What it is about: `used-state`, `latency`, `not-run`, ...
    pub about: String,
    /// One sentence with its numbers.
    pub text: String,
    /// The number, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}
