//! Arguments of `fourcorners choose`, and what they mean.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use fourcorners_lab::choose::State;

use crate::cli::args::PastedArgs;

/// Rank the catalogue's drives by how long your own work would wait for each
///
/// Every drive does the work in virtual time. A trace, a task or a generated workload is replayed closed
/// loop, with its think time; a job file does the same I/Os on every drive. The time waited is the time
/// with at least one I/O in the drive.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "WORK is a trace in any format that `trace info` reads, a job file (JOB.fio), \
task:NAME (`fourcorners tasks` lists them) or generated:NAME. \
In nine cases of ten a real drive's time lies within the band, as the model's errors for such work say \
(docs/FIDELITY.md); a drive has the rank of the one \
before it if it and the first of that rank lie within each other's band, and drives of a tier are within 10 % of its fastest. \
By p99 is the rank by 99th percentile latency, WA the write amplification, Wh the energy of the work. \
PRICES is CSV, a line for each drive: drive,price.

Examples:
  fourcorners choose task:boot
  fourcorners choose web.load.gz --capacity 200-300GB \\
    --have intel-x25-m-g2-160gb --gb-per-day 20
  fourcorners choose task:photo-catalogue \\
    --also cache:crucial-m4-64gb+wd-velociraptor-300gb
  fourcorners choose database.fio --state used --prices prices.csv -o page.html"
)]
pub(in crate::cli) struct ChooseArgs {
    /// A trace, a job file, task:NAME or generated:NAME
    #[arg(value_name = "WORK")]
    pub(super) work: PathBuf,

    /// The drives' state before the work: new and holding what it touches, or full and overwritten
    #[arg(long, value_name = "STATE", default_value = "written")]
    pub(super) state: StateArg,

    /// The drive that you have, of the catalogue, a profile (./mine.toml) or an array: hours are against it
    #[arg(long, value_name = "DRIVE")]
    pub(super) have: Option<String>,

    /// Rank this among them: an array (raid0:2xcrucial-m4-256gb), an SSD in front of a disk
    /// (cache:crucial-m4-64gb+wd-velociraptor-300gb, which begins cold), a file of one (./nas.toml), or a profile
    /// (./mine.toml). May be given again
    #[arg(long, value_name = "TARGET")]
    pub(super) also: Vec<String>,

    /// Only drives of this capacity, for example 200-300GB, 1TB, or 500GB- for at least that
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true, value_parser = crate::cli::args::value)]
    pub(super) capacity: Option<String>,

    /// What the work reads and writes a day, 10^9 bytes: for hours and years
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) gb_per_day: Option<f64>,

    /// Prices, a CSV file of drive,price
    #[arg(long, value_name = "CSV")]
    pub(super) prices: Option<PathBuf>,

    /// Of a generated workload or of a job file at most this many I/Os, or all of them
    /// [default: 200,000]
    #[arg(long, value_name = "N|all", value_parser = crate::cli::args::most_ios)]
    pub(super) ios: Option<u64>,

    /// Seed of a task or a generated workload [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = crate::cli::args::seed)]
    pub(super) seed: Option<u64>,

    /// Print one JSON document instead of a table
    #[arg(long)]
    pub(super) json: bool,

    #[command(flatten)]
    pub(super) pasted: PastedArgs,

    /// Write a page into this file, replacing an earlier page
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// Replace whatever else is there
    #[arg(long, requires = "output")]
    pub(super) overwrite: bool,
}

/// A state of the drives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum StateArg {
    /// New, then what the work touches was written
    Written,
    /// New, then filled in order, then overwritten at random
    Used,
}

impl From<StateArg> for State {
    fn from(state: StateArg) -> State {
        match state {
            StateArg::Written => State::Written,
            StateArg::Used => State::Used,
        }
    }
}
