//! Arguments of `run`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::cli::args::TargetArgs;

/// Run a fio job file on real and virtual drives, with fio's reports.
///
/// Every job works on the TARGET, as if that were its filename. A filename in the job file counts
/// only if it names one of the TARGETs, or if no TARGET is given; nothing else is ever written.
/// Several TARGETs run one after the other.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Differences from fio:
  - I/O is always direct (direct=1), by this program's own loop. ioengine only
    decides whether iodepth counts (libaio, io_uring) or is one (sync, psync).
  - A new file and a new virtual SSD are written once where the jobs read
    (not with --as-is).
  - Latency (lat, clat) runs from submission to completion; with rate or
    rate_iops from when the I/O was due, so that a stall shows in every I/O
    it delayed.
  - On a real drive, verify finds and names flipped bits and lost, torn and
    misplaced writes.
  - read_iolog replays fio's logs and any other trace, at the recorded times
    or at full speed (replay_no_stall).
  - Refused, with a reason: engines without block I/O, zoned devices, sprandom.

Exit codes: as fio, 0 all jobs done; 1 a job failed, or the job file is wrong; 128 stopped by a \
signal. Also 2: wrong usage, or a target that may not be used.

Examples:
  fourcorners run job.fio crucial-m4-256gb
  fourcorners run job.fio ./new.img --size 2G --output-format json -o r.json
  fourcorners run job.fio /dev/sdX --destroy /dev/sdX")]
pub(in crate::cli) struct RunArgs {
    /// The job file; - for standard input
    #[arg(value_name = "JOB.fio")]
    pub(in crate::cli) job_file: PathBuf,

    /// A drive of the catalogue, a profile (./mine.toml), a block device (/dev/sdX) or a file; several drives as one
    /// (raid1:2xDRIVE), or an SSD in front of a disk (cache:SSD+DISK), as a name or a file (./nas.toml)
    /// [default: filename in the job file]
    #[arg(value_name = "TARGET")]
    pub(in crate::cli) targets: Vec<String>,

    /// Format of the report, or several separated by commas
    #[arg(
        long,
        value_name = "FORMAT",
        value_enum,
        value_delimiter = ',',
        default_value = "normal"
    )]
    pub(in crate::cli) output_format: Vec<OutputFormat>,

    /// Print fio's JSON: the same as --output-format json
    #[arg(long, conflicts_with = "output_format")]
    pub(in crate::cli) json: bool,

    /// Write the result into this file instead of printing it
    #[arg(long, short, value_name = "FILE")]
    pub(in crate::cli) output: Option<PathBuf>,

    /// Replace any other file of that name as well
    #[arg(long, requires = "output")]
    pub(in crate::cli) overwrite: bool,

    /// Do not write a new file, or a virtual SSD without --state, before the jobs read it
    #[arg(long)]
    pub(in crate::cli) as_is: bool,

    /// Only the jobs of this section; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) section: Vec<String>,

    /// Print the jobs as a command line of fio; run nothing
    #[arg(long)]
    pub(in crate::cli) showcmd: bool,

    /// Only check the job file and the targets; run nothing
    #[arg(long)]
    pub(in crate::cli) parse_only: bool,

    /// Pin the loop that runs the jobs to these CPUs, for example 0,2-4
    /// [default: cpus_allowed in the job file]
    #[arg(long, value_name = "LIST", allow_hyphen_values = true, value_parser = crate::cli::args::value)]
    pub(in crate::cli) cpus: Option<String>,

    /// Run on the virtual SSD in the state that `fourcorners age` saved in this file
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) state: Option<PathBuf>,

    #[command(flatten)]
    pub(in crate::cli) on: TargetArgs,
}

/// The forms of fio's report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(in crate::cli) enum OutputFormat {
    /// Text
    Normal,
    /// JSON
    Json,
    /// JSON with the latency histograms
    #[value(name = "json+")]
    JsonPlus,
    /// A line of values for each job, fio's terse version 3
    Terse,
}
