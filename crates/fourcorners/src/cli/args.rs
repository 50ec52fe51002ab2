//! Arguments as typed.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand};

/// The drive lab: reviewers' tests on real drives and on virtual ones.
#[derive(Debug, Parser)]
#[command(name = "fourcorners", version, about, max_term_width = 100)]
#[command(after_help = "Examples:
  fourcorners review crucial-m4-256gb
  fourcorners review crucial-m4-256gb seagate-momentus-5400.6 --json
  fourcorners review ./test.img --size 2G --quick
  fourcorners review /dev/sdX --destroy /dev/sdX
  fourcorners report fourcorners-results/* -o all.html
  fourcorners run job.fio crucial-m4-256gb --output-format json+
  fourcorners drives crucial-m4-256gb
  fourcorners age crucial-m4-256gb -o used.state
  fourcorners review crucial-m4-256gb --state used.state
  fourcorners results list --drive m4
  fourcorners compare crucial-m4-256gb intel-x25-m-g2-160gb
  fourcorners trace info web.load.gz
  fourcorners trace replay generated:light crucial-m4-256gb")]
pub(super) struct Args {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Test drives, print the figures and write a page
    Review(ReviewArgs),
    /// Show earlier results again, without their drives: as a page, as pictures, as tables
    Report(ReportArgs),
    // Described at its arguments: a comment here would take the place of that.
    Run(RunArgs),
    /// List the virtual drives, or print one with the source of every value
    Drives(DrivesArgs),
    /// Measure how fast the virtual drives are on this machine
    Bench(BenchArgs),
    /// Hold the virtual drives against published figures, each in its own test
    Validate(ValidateArgs),
    /// Hold verdicts against the truth, on virtual drives whose truth is known
    Grade(super::grade::GradeArgs),
    /// Write a virtual SSD full and on, and keep its state for reviews of a used drive
    Age(AgeArgs),
    /// List, show, export, import and remove the results of the database
    Results(super::results::ResultsArgs),
    /// Compare drives: their results side by side, with ratios and what does not matter
    Compare(super::compare::CompareArgs),
    /// Say what is in an I/O trace, convert it, or replay it on drives
    Trace(super::trace::TraceArgs),
    /// List the tasks that reviews measure in seconds, print one, or do three of them on a file system
    Tasks(TasksArgs),
    /// Run jobs on every drive of a grid, on this machine or a Dask cluster (in Python)
    Sweep(SweepArgs),
    /// Say what this machine and a target can and cannot measure, and why; nothing is written
    Doctor(DoctorArgs),
    // Described at its arguments, as Run is.
    Serve(super::serve::ServeArgs),
    /// Serve a page over the results to this machine's browser, and review virtual drives from it
    Web(WebArgs),
    /// Print the completions of a shell
    Completions(CompletionsArgs),
    /// Print the manual page: fourcorners man | man -l -
    Man,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "For example: fourcorners completions bash > \
~/.local/share/bash-completion/completions/fourcorners")]
pub(super) struct CompletionsArgs {
    /// The shell
    pub(super) shell: clap_complete::Shell,
}

#[derive(Debug, ClapArgs)]
pub(super) struct WebArgs {
    /// Where to listen; port 0 takes any that is free. Other machines reach only --read-only ones
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8642")]
    pub(super) listen: SocketAddr,

    /// The database of results [default: fourcorners/results.db in the folder of user data]
    #[arg(long, value_name = "FILE")]
    pub(super) db: Option<PathBuf>,

    /// Show results only: nothing can be started
    #[arg(long)]
    pub(super) read_only: bool,

    /// A name that browsers may call this machine by, besides localhost and its addresses
    #[arg(long, value_name = "HOST")]
    pub(super) name: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct ReviewArgs {
    /// A drive of the catalogue, a profile (./mine.toml), a block device (/dev/sdX) or a file
    #[arg(required = true, value_name = "TARGET")]
    pub(super) targets: Vec<String>,

    /// Methods, separated by commas, or all, or plan files (./mine.toml, see docs/PLANS.md);
    /// --dry-run shows what they do
    /// [default: all but those that take days; with --quick: four-corners]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) methods: Vec<String>,

    /// Show what would be done, what would be written and how long it takes, and do nothing
    #[arg(long)]
    pub(super) dry_run: bool,

    /// Seconds instead of minutes, a few GB instead of the whole drive, no used state
    #[arg(long)]
    pub(super) quick: bool,

    /// Replay at most this many I/Os of each trace of storage-bench, or all of them
    /// [default: all of a virtual drive's, 4,000,000 where there are more than 11,000,000; 200,000 of a real
    /// drive's, whose think times last]
    #[arg(long, value_name = "N|all", value_parser = most_ios)]
    pub(super) ios: Option<u64>,

    /// Leave this percentage of each target's space untouched, at its end, as spare area
    #[arg(long, value_name = "PCT", default_value_t = 0.0, allow_negative_numbers = true)]
    pub(super) spare: f64,

    /// Write review.html and review.json into this folder, replacing those there
    /// [default: a new folder in ./fourcorners-results; with --json: none]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,

    /// Go on with the review in this folder, which was stopped or killed: with the same arguments
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    pub(super) resume: Option<PathBuf>,

    /// Seed of all random numbers; the same seed gives a virtual drive the same record
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    pub(super) seed: u64,

    /// Measure everything so many times, with seeds N, N + 1 and so on: `compare` then knows how far
    /// results are to be trusted
    #[arg(long, value_name = "TIMES", default_value_t = 1, allow_negative_numbers = true)]
    pub(super) repeat: u32,

    /// How real drives are purged: the erasing commands need nvme-cli or hdparm and a whole drive
    #[arg(long, value_name = "HOW", value_enum, default_value = "discard")]
    pub(super) purge: PurgeHow,

    /// Print one JSON document instead of tables
    #[arg(long)]
    pub(super) json: bool,

    /// How far it is, on stderr: bars if that is a terminal, or json, an object a line for programs
    #[arg(long, value_name = "FORM", default_value = "bars")]
    pub(super) progress: ProgressAs,

    /// Print nothing but errors (and what --json prints): the results are in their files
    #[arg(long, short)]
    pub(super) quiet: bool,

    #[command(flatten)]
    pub(super) keep: KeepArgs,

    /// Test the virtual SSD in the state that `fourcorners age` kept in this file; no test purges it
    #[arg(long, value_name = "FILE")]
    pub(super) state: Option<PathBuf>,

    #[command(flatten)]
    pub(super) on: TargetArgs,
}

/// What says how far a review is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(super) enum ProgressAs {
    Bars,
    Json,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "The first record's drive is the drive under test; all others are what it is \
compared with.

Examples:
  fourcorners report fourcorners-results/20260301-crucial-m4-256gb -o page.html
  fourcorners report mine/review.json theirs/review.json --png pictures
  fourcorners report fourcorners-results/*"
)]
pub(super) struct ReportArgs {
    /// A drive by its name or serial number (its latest results), the id of a result, or a file or
    /// folder that `review` or `trace replay` has written
    #[arg(required = true, value_name = "RESULT")]
    pub(super) results: Vec<String>,

    /// Write the page into this file, replacing an earlier page
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// Replace whatever else is there
    #[arg(long, requires = "output")]
    pub(super) overwrite: bool,

    /// Draw every chart of the page into this folder as PNG, 1600 pixels wide
    #[arg(long, value_name = "DIR")]
    pub(super) png: Option<PathBuf>,

    /// Draw every chart of the page into this folder as SVG
    #[arg(long, value_name = "DIR")]
    pub(super) svg: Option<PathBuf>,

    /// Print all records as one JSON document [default: tables, unless something is written]
    #[arg(long)]
    pub(super) json: bool,

    /// Show records of a file, too, that were changed since they were measured, with a mark
    #[arg(long)]
    pub(super) as_is: bool,

    /// The database [default: fourcorners/results.db in $XDG_DATA_HOME or ~/.local/share]
    #[arg(long, value_name = "FILE")]
    pub(super) db: Option<PathBuf>,
}

/// In which database results are kept.
#[derive(Debug, ClapArgs)]
pub(super) struct KeepArgs {
    /// Keep the results in this database, made if it is not there
    /// [default: fourcorners/results.db in $XDG_DATA_HOME or ~/.local/share]
    #[arg(long, value_name = "FILE")]
    pub(super) db: Option<PathBuf>,

    /// Keep them in no database
    #[arg(long, conflicts_with = "db")]
    pub(super) no_db: bool,
}

/// How a real drive is made to forget everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(super) enum PurgeHow {
    /// A discard (TRIM) of everything
    Discard,
    /// NVMe format with user data erase
    NvmeFormat,
    /// ATA security erase
    AtaSecureErase,
}

/// How targets differ from what their names say, and which may be written.
#[derive(Debug, ClapArgs)]
pub(super) struct TargetArgs {
    /// Change a parameter of the virtual drives, for example --set link.gbps=3
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) set: Vec<String>,

    /// Put the virtual drives behind this host controller, for example marvell-9128
    #[arg(long, value_name = "NAME")]
    pub(super) host: Option<String>,

    /// Create the target file with this size, for example 2G (10^9 bytes) or 2GiB
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub(super) size: Option<String>,

    /// Allow all data on this real target, named by its path or serial number, to be overwritten
    #[arg(long, value_name = "TARGET")]
    pub(super) destroy: Vec<String>,

    /// Allow it even if it carries a file system or a partition table (never if it is in use)
    #[arg(long, value_name = "TARGET")]
    pub(super) force: Vec<String>,
}

/// Run a fio job file on real and virtual drives, and report as fio does.
///
/// Every job works on the TARGET, as if its filename were that. A filename in the job file counts
/// where it names one of the TARGETs, or where no TARGET is given; nothing else is ever written.
/// Several TARGETs are run one after the other.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Differences from fio:
  The drive is always read and written directly (direct=1), by this program's own loop; ioengine
  only says whether the queue depth counts (libaio, io_uring) or is one (sync, psync).
  A new file and a virtual SSD, which is new, are written once where the jobs read (--as-is: not).
  Latency (lat, clat) is from submission to completion; with rate or rate_iops from when the I/O
  was due, so that a drive that stalls cannot hide it.
  verify finds, on a real drive, flipped bits, lost, torn and misplaced writes, and names them.
  read_iolog replays fio's logs and any other trace, at its times or (replay_no_stall) as fast as it goes.
  Refused, with a reason: engines that do no block I/O, zoned devices, latency_target.

Exit codes, as fio's: 0 all jobs done; 1 a job failed, or the job file is wrong; 128 stopped by a
signal. 2: wrong usage, or a target that may not be used.

Examples:
  fourcorners run job.fio crucial-m4-256gb
  fourcorners run job.fio ./scratch.img --size 2G --output-format json+ --output result.json
  fourcorners run job.fio /dev/sdX --destroy /dev/sdX")]
pub(super) struct RunArgs {
    /// The job file
    #[arg(value_name = "JOB.fio")]
    pub(super) job_file: PathBuf,

    /// A drive of the catalogue, a profile (./mine.toml), a block device (/dev/sdX) or a file
    /// [default: what the job file names with filename]
    #[arg(value_name = "TARGET")]
    pub(super) targets: Vec<String>,

    /// How the result is printed
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "normal")]
    pub(super) output_format: OutputFormat,

    /// Write the result into this file instead of printing it
    #[arg(long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// Replace whatever else is there
    #[arg(long, requires = "output")]
    pub(super) overwrite: bool,

    /// Do not write what the jobs read beforehand (a new file, or a virtual SSD without --state)
    #[arg(long)]
    pub(super) as_is: bool,

    /// Only check the job file and the targets; run nothing
    #[arg(long)]
    pub(super) parse_only: bool,

    /// Keep the loop that runs the jobs on these CPUs, for example 0,2-4 (cpus_allowed of the job file
    /// otherwise)
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(super) cpus: Option<String>,

    /// Run on the virtual SSD in the state that `fourcorners age` kept in this file
    #[arg(long, value_name = "FILE")]
    pub(super) state: Option<PathBuf>,

    #[command(flatten)]
    pub(super) on: TargetArgs,
}

/// The forms of fio's report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(super) enum OutputFormat {
    /// Text
    Normal,
    /// JSON
    Json,
    /// JSON with the bins of every latency
    #[value(name = "json+")]
    JsonPlus,
}

#[derive(Debug, ClapArgs)]
pub(super) struct DrivesArgs {
    /// The drive to print
    #[arg(value_name = "NAME")]
    pub(super) name: Option<String>,

    /// Print the drive's profile as a file to change and to use: mine.toml
    #[arg(long, requires = "name", conflicts_with_all = ["json", "hosts"])]
    pub(super) toml: bool,

    /// List the host controllers for `review --host` instead, or print the one named
    #[arg(long)]
    pub(super) hosts: bool,

    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(super) struct AgeArgs {
    /// A virtual SSD of the catalogue or a profile (./mine.toml)
    #[arg(value_name = "DRIVE")]
    pub(super) drive: String,

    /// File for the state
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: PathBuf,

    /// After all of its space was written in order: how many times as much is written in 4 KiB
    /// pieces anywhere, 0 to 1000
    #[arg(long, value_name = "N", default_value_t = 1.0, allow_negative_numbers = true)]
    pub(super) drive_writes: f64,

    /// Seed of the random writes
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    pub(super) seed: u64,

    /// Change a parameter of the drive, for example --set gc.policy=fifo
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) set: Vec<String>,

    /// Put the drive behind this host controller, for example marvell-9128
    #[arg(long, value_name = "NAME")]
    pub(super) host: Option<String>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  fourcorners tasks
  fourcorners tasks --show boot > mine.toml
  fourcorners trace replay task:./mine.toml crucial-m4-256gb
  fourcorners tasks --real /mnt/disk/scratch --size 2G")]
pub(super) struct TasksArgs {
    /// Print the file of a task
    #[arg(long, value_name = "TASK", conflicts_with_all = ["real", "json"])]
    pub(super) show: Option<String>,

    /// Unpack an archive, copy its tree and install its files in this folder, by the clock on the wall;
    /// it must be empty or not exist, and is left as it was found
    #[arg(long, value_name = "DIR")]
    pub(super) real: Option<PathBuf>,

    /// Bytes of the tree, for example 2G; about four times as much has to be free
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "500M",
        requires = "real",
        allow_negative_numbers = true
    )]
    pub(super) size: String,

    /// Seed of the files' lengths and content
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        requires = "real",
        allow_negative_numbers = true
    )]
    pub(super) seed: u64,

    /// Print one JSON document instead of a table
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "A plan is TOML: [grid] maps drive, spare, host, seed and parameters of a \
profile to values, [[job]] (or fio, or [review]) says what is run on every combination.
Results go into a folder as Parquet as they arrive; the same command goes on where it was stopped.
It needs Python and the package: pip install './python[sweep]'")]
pub(super) struct SweepArgs {
    /// The plan
    #[arg(value_name = "PLAN.toml")]
    pub(super) plan: PathBuf,

    /// A Dask scheduler, for example tcp://10.0.0.1:8786 [default: processes of this machine]
    #[arg(long, value_name = "ADDR", conflicts_with = "workers")]
    pub(super) scheduler: Option<String>,

    /// Processes of this machine [default: one a CPU]
    #[arg(long, value_name = "N")]
    pub(super) workers: Option<u32>,

    /// Folder of the results [default: what the plan says, or its name without .toml]
    #[arg(long, value_name = "DIR")]
    pub(super) into: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct DoctorArgs {
    /// A block device or a file, which is read from
    #[arg(value_name = "PATH")]
    pub(super) path: Option<PathBuf>,

    /// Print one JSON document instead of a table
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(super) struct BenchArgs {
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(super) struct ValidateArgs {
    /// A JSON list of figures instead of the built-in ones, in their form (figures/published.json)
    #[arg(long, value_name = "FILE")]
    pub(super) figures: Option<PathBuf>,

    /// Fit the fitted values of this file of drives/ to the figures they may be fitted to, and print
    /// them
    #[arg(long, value_name = "FAMILY", conflicts_with_all = ["json", "markdown"])]
    pub(super) fit: Option<String>,

    /// Only the figures of these ids, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) only: Vec<String>,

    /// Print one JSON document instead of a table
    #[arg(long)]
    pub(super) json: bool,

    /// Print Markdown: docs/FIDELITY.md
    #[arg(long, conflicts_with = "json")]
    pub(super) markdown: bool,

    /// Draw published against simulated into this SVG file as well, replacing an earlier chart
    #[arg(long, value_name = "FILE", conflicts_with = "fit")]
    pub(super) chart: Option<PathBuf>,

    /// Replace whatever else is there
    #[arg(long, requires = "chart")]
    pub(super) overwrite: bool,
}

/// A number of I/Os, or all there are.
fn most_ios(text: &str) -> Result<u64, String> {
    match text {
        "all" => Ok(u64::MAX),
        _ => text
            .parse()
            .ok()
            .filter(|&ios| ios > 0)
            .ok_or_else(|| "give a number from 1, or all".to_string()),
    }
}
