//! What jobs did, the way fio tells it: text, JSON and logs that fio's tools read.
//!
//! Keys and units are those of fio 3.33. Two things differ, and both because the truth does: `clat`
//! and `lat` are the same distribution, submit to completion, counted from when an I/O was *due*
//! where it has a pace (so a target that stalls cannot hide it), and `slat`, which fio tells apart,
//! has no samples.

mod bins;
mod cost;
mod json;
mod logs;
mod normal;
mod numbers;
mod summary;

pub use cost::Cost;
pub use json::json;
pub use logs::{log_files, write_logs};
pub use normal::normal;

use crate::jobfile::Jobs;
use crate::record::{ClockName, TargetInfo};
use crate::streams::RunResult;

/// A job file that was run on a target.
#[derive(Clone, Debug)]
pub struct TargetRun {
    /// The target.
    pub target: TargetInfo,
    /// Whose time it is.
    pub clock: ClockName,
    /// The jobs.
    pub jobs: Jobs,
    /// What they did.
    pub result: RunResult,
    /// What it cost; nothing where the time is virtual.
    pub cost: Cost,
}

/// All that a command ran.
#[derive(Clone, Debug)]
pub struct Report {
    /// The `[global]` options.
    pub globals: Vec<(String, String)>,
    /// By target.
    pub runs: Vec<TargetRun>,
    /// When it was made, milliseconds since 1970.
    pub at_ms: i64,
    /// The same as fio writes it.
    pub at: String,
}
