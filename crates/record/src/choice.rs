//! Which drive for a work: the JSON document `fourcorners.choose/1`.
//!
//! Every drive of a catalogue did the same work in virtual time. The document ranks them by the time
//! that the work waited for the drive. What cannot be known is `null`.

mod sentences;

use serde::{Deserialize, Serialize};

/// The name and version of the document's form.
pub const CHOICE_SCHEMA: &str = "fourcorners.choose/1";

/// The document that `choose --json` prints.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Choice {
    /// [`CHOICE_SCHEMA`].
    pub schema: String,
    /// The work that every drive did.
    pub work: ChosenWork,
    /// The state of the solid-state drives before it: `empty`, `written`, `full` or `used`.
    pub state: String,
    /// The drive that the reader has, by its name.
    pub have: Option<String>,
    /// What the work reads and writes a day, 10^9 bytes.
    pub gb_per_day: Option<f64>,
    /// Whether the addresses of the work were changed to fit any of the drives.
    pub rescaled: bool,
    /// How a recording was replayed, where that was not closed loop with all think time at depth 32 behind the
    /// profiles' hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ChosenReplay>,
    /// The drives by the time waited, the shortest first.
    pub ranking: Vec<RankedDrive>,
    /// The drives that could not do the work.
    pub left_out: Vec<LeftOut>,
    /// Remarks for the reader.
    pub notes: Vec<String>,
}

/// How a recording was replayed on every drive.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ChosenReplay {
    /// `think`, `recorded` or `fast`, as in `trace replay`.
    pub pace: String,
    /// Longest think time, milliseconds (pace `think`), where it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_cap_ms: Option<f64>,
    /// Most I/Os in flight.
    pub queue_depth: u32,
    /// The host in front of the drives: `0` takes no time, as while a drive is served; `profile` is each
    /// profile's own.
    pub host: String,
}

/// The work that was done on every drive.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ChosenWork {
    /// As it was named.
    pub name: String,
    /// `trace`, `generated`, `task` or `job_file`.
    pub kind: String,
    /// I/Os, TRIMs and flushes included.
    pub ios: u64,
    /// Read, 10^9 bytes.
    pub read_gb: f64,
    /// Written, 10^9 bytes.
    pub written_gb: f64,
    /// The first byte after all that is touched, 10^9 bytes; `null` for a job file, whose jobs may
    /// reach as far as each drive does.
    pub extent_gb: Option<f64>,
    /// Seconds that a recording lasted; `null` for a job file.
    pub duration_s: Option<f64>,
}

/// A drive that did the work.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RankedDrive {
    /// Its name in the catalogue, or in its profile.
    pub drive: String,
    /// Its name for a reader.
    pub title: String,
    /// Its capacity, 10^9 bytes.
    pub capacity_gb: f64,
    /// Its place by the time waited. A drive shares that of the one before it if the model cannot tell it
    /// from the first of that place.
    pub rank: usize,
    /// 1 for the fastest drive and all within 10 % of it, 2 for the first beyond that and all within
    /// 10 % of that one, and so on.
    pub tier: usize,
    /// Time with at least one I/O in the drive, seconds: how long the work waited for it. The same as `busy_s`, and not
    /// what review records call `waited_s`, the sum of what each I/O waited for a place in the queue.
    pub waited_s: f64,
    /// The same time by the name that it has in review records; 0 in documents that were made before it was there.
    #[serde(default)]
    pub busy_s: f64,
    /// Where the real drive's time is expected by the model's errors, seconds.
    pub band_s: [f64; 2],
    /// Which errors the band is from: `family`, `catalogue`, or `family and catalogue`.
    pub band_standing: String,
    /// Its place by `p99_us`, by the model's errors of long latencies.
    pub rank_p99: usize,
    /// 99th percentile of the latency of all I/Os, microseconds.
    pub p99_us: f64,
    /// Hours of waiting that it saves in a year against the drive that the reader has; negative where
    /// it waits longer. `null` without such a drive or without `gb_per_day`.
    pub hours_a_year_vs_have: Option<f64>,
    /// NAND writes over host writes, all that the work wrote being on the NAND; on a used drive of the work repeated. `null` for a
    /// hard disk and where nothing was written.
    pub write_amplification: Option<f64>,
    /// Years until the rated cycles are used up at `gb_per_day`; `null` where no source says how many
    /// cycles the flash bears, and where the work writes too little on a used drive to conclude it from.
    pub years: Option<f64>,
    /// Energy that the drive used during the work, think time included, watt-hours; `null` where the
    /// profile has no power figures.
    pub energy_wh: Option<f64>,
    /// Price; `null` where none was given.
    pub price: Option<f64>,
    /// Price for doing the work once a second: the price times `waited_s`. Less is better.
    pub price_per_performance: Option<f64>,
    /// Whether the addresses of the work were changed to fit this drive.
    pub rescaled: bool,
}

/// A drive that could not do the work.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its name.
    pub drive: String,
    /// Why.
    pub why: String,
}
