//! Reports in fio's form: text, JSON and logs that fio's tools read.
//!
//! Keys and units are those of fio 3.33. Two things differ, and both because the truth does: `clat`
//! and `lat` are the same distribution, submit to completion, counted from when an I/O was *due*
//! where it has a pace (so a target that stalls cannot hide it), and `slat`, which fio tells apart,
//! has no samples.

mod bins;
mod cost;
mod disk;
mod json;
mod logs;
mod normal;
mod numbers;
mod summary;
mod terse;

pub use cost::Cost;
pub use disk::DiskUtil;
pub use json::{FORM_OF, json};
pub use logs::{log_files, write_logs};
pub use normal::normal;
pub use terse::terse;

use fourcorners_record::{ClockName, TargetInfo};
use fourcorners_run::generator_was_the_limit;
use fourcorners_run::streams::RunResult;

use crate::jobfile::Jobs;

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
    /// Seconds of the clock on the wall that it took.
    pub seconds: f64,
    /// Of the CPU time, seconds in which the loop looked at the clock for when the next I/O is due.
    pub looked_s: f64,
    /// What our own loop takes for an I/O, nanoseconds, if it is a real target.
    pub overhead_ns_per_io: Option<u64>,
    /// What the kernel counted at the disk below it, if there is one.
    pub disk: Option<DiskUtil>,
}

impl TargetRun {
    /// Whether the loop was busy all the time, so that a faster target would have given the same. A loop
    /// that polls always is.
    pub fn was_limited_by_us(&self) -> bool {
        let ways = &self.jobs.ways;
        let polls = ways.polled || ways.submission_thread;
        // What was spent looking at the clock was idle time.
        let cpu_seconds = self.cost.user_s + self.cost.system_s - self.looked_s;
        self.clock == ClockName::Wall
            && !polls
            && self.seconds > 0.1
            && generator_was_the_limit(cpu_seconds, self.seconds)
    }
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
