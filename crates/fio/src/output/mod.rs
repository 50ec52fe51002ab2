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
#[cfg(test)]
mod tests;

pub use cost::Cost;
pub use disk::DiskUtil;
pub use json::{FORM_OF, json};
pub use logs::{log_files, write_logs};
pub use normal::normal;
pub use terse::terse;

use fourcorners_drive::Nanos;
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

impl TargetRun {
    /// A sentence for each job that was to be measured and was not, by its name: a report of zeros
    /// looks like a target that does nothing.
    pub fn unmeasured(&self) -> Vec<String> {
        let only_verified = self.jobs.plan.verify.as_ref().is_some_and(|verify| verify.only);
        let mut said = Vec::new();
        let streams = self.jobs.plan.streams.iter().zip(&self.result.streams);
        for (job, (planned, stream)) in self.jobs.jobs.iter().zip(streams) {
            let did = stream.measure.ios() + stream.measure.flushes.latency.count();
            // What failed has a sentence of its own, an interrupted run has no end, and a job that
            // another took along before it began was meant to do nothing.
            let excused = only_verified
                || self.result.interrupted
                || stream.failed.is_some()
                || stream.began == stream.ended;
            if did > 0 || excused {
                continue;
            }
            let in_ramp =
                planned.ramp > Nanos::ZERO && stream.ended.since(stream.began) <= planned.ramp;
            let why = match in_ramp {
                true => "it ended within its ramp_time: make the job longer, or ramp_time shorter",
                false => "it ended before an I/O was done: give it more time",
            };
            let sentence = format!("{}: nothing was measured: {why}", job.name);
            if !said.contains(&sentence) {
                said.push(sentence);
            }
        }
        said
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
