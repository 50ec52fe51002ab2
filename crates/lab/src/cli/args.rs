//! Arguments as typed.

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
  fourcorners drives crucial-m4-256gb
  fourcorners age crucial-m4-256gb -o used.state
  fourcorners review crucial-m4-256gb --state used.state")]
pub(super) struct Args {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Test drives, print the figures and write a page
    Review(ReviewArgs),
    /// List the virtual drives, or print one with the source of every value
    Drives(DrivesArgs),
    /// Measure how fast the virtual drives are on this machine
    Bench(BenchArgs),
    /// Hold the virtual drives against published figures, each in its own test
    Validate(ValidateArgs),
    /// Write a virtual SSD full and on, and keep its state for reviews of a used drive
    Age(AgeArgs),
}

#[derive(Debug, ClapArgs)]
pub(super) struct ReviewArgs {
    /// A drive of the catalogue, a profile (./mine.toml), a block device (/dev/sdX) or a file
    #[arg(required = true, value_name = "TARGET")]
    pub(super) targets: Vec<String>,

    /// Methods, separated by commas, or all; --dry-run shows what they do
    /// [default: all but those that take days; with --quick: four-corners]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) methods: Vec<String>,

    /// Show what would be done, what would be written and how long it takes, and do nothing
    #[arg(long)]
    pub(super) dry_run: bool,

    /// Seconds instead of minutes, a few GB instead of the whole drive, no used state
    #[arg(long)]
    pub(super) quick: bool,

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

    /// Print one JSON document instead of tables
    #[arg(long)]
    pub(super) json: bool,

    /// Change a parameter of the virtual drives, for example --set link.gbps=3
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) set: Vec<String>,

    /// Put the virtual drives behind this host controller, for example marvell-9128
    #[arg(long, value_name = "NAME")]
    pub(super) host: Option<String>,

    /// Test the virtual SSD in the state that `fourcorners age` kept in this file; no test purges it
    #[arg(long, value_name = "FILE")]
    pub(super) state: Option<PathBuf>,

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
}
