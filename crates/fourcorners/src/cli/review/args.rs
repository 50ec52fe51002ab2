//! Arguments of `review`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use fourcorners_lab::campaign::author_name;

use crate::cli::address::address;
use crate::cli::args::{KeepArgs, PastedArgs, TargetArgs, WhichReferences, most_ios};

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  fourcorners review crucial-m4-256gb
  fourcorners review crucial-m4-256gb intel-x25-m-g2-160gb --quick
  fourcorners review crucial-m4-256gb --methods four-corners,toms --repeat 5
  fourcorners review ./scratch.img --size 16G --dry-run
  sudo fourcorners review /dev/sdX --destroy /dev/sdX -o results
  sudo fourcorners review /dev/sdX --destroy /dev/sdX --resume results")]
pub(in crate::cli) struct ReviewArgs {
    /// A drive of the catalogue, a profile (./mine.toml), a block device (/dev/sdX) or a file; several drives as one
    /// (raid1:2xDRIVE), or an SSD in front of a disk (cache:SSD+DISK), as a name or a file (./nas.toml)
    #[arg(required = true, value_name = "TARGET")]
    pub(in crate::cli) targets: Vec<String>,

    /// Methods separated by commas (`fourcorners methods` lists them), plan files (./mine.toml, see docs/PLANS.md),
    /// or all; --dry-run shows the phases
    /// [default: all except snia and quick; with --quick: four-corners]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(in crate::cli) methods: Vec<String>,

    /// Show each phase, what it writes and how long it takes, and stop there
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,

    /// Measure seconds instead of minutes and a few GB instead of the whole drive; leave out the used state
    #[arg(long)]
    pub(in crate::cli) quick: bool,

    /// Replay at most this many I/Os of each trace of storage-bench, or all
    /// [default: all on a virtual drive, but 4,000,000 of traces over 11,000,000; 200,000 on a real drive,
    /// which waits through the think times]
    #[arg(long, value_name = "N|all", value_parser = most_ios)]
    pub(in crate::cli) ios: Option<u64>,

    /// Leave this percentage at the end of each target untouched, as spare area: 25 or 25%
    #[arg(long, value_name = "PCT", default_value_t = 0.0, allow_negative_numbers = true, value_parser = percent)]
    pub(in crate::cli) spare: f64,

    /// Write review.html and review.json into this folder, replacing earlier ones
    /// [default: a new folder in ./fourcorners-results; with --json: none]
    #[arg(long, short, visible_alias = "out", value_name = "DIR")]
    pub(in crate::cli) output: Option<PathBuf>,

    /// The folder of new folders.
    #[arg(skip)]
    pub(in crate::cli) results: Option<PathBuf>,

    /// Replace any other file of these names as well, and give up a review there that is not whole
    #[arg(long)]
    pub(in crate::cli) overwrite: bool,

    /// Continue the stopped or killed review in this folder; give the same arguments again
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    pub(in crate::cli) resume: Option<PathBuf>,

    /// Seed of all random numbers; the same seed gives a virtual drive the same record
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = crate::cli::args::seed)]
    pub(in crate::cli) seed: u64,

    /// Measure everything this many times, with seeds N, N + 1 and so on, so that `compare` can give
    /// confidence intervals
    #[arg(long, value_name = "TIMES", default_value_t = 1, allow_negative_numbers = true)]
    pub(in crate::cli) repeat: u32,

    /// How to purge real drives; the erase commands need nvme-cli or hdparm, and a whole drive
    #[arg(long, value_name = "HOW", value_enum, default_value = "discard")]
    pub(in crate::cli) purge: PurgeHow,

    /// Which drives the page of one drive compares it with [default: catalogue]
    #[arg(long, value_name = "WHICH", value_enum)]
    pub(in crate::cli) references: Option<WhichReferences>,

    /// Name the author of the review, in its records and on its page
    #[arg(long, value_name = "NAME", value_parser = author_name)]
    pub(in crate::cli) author: Option<String>,

    /// Print one JSON document instead of tables
    #[arg(long)]
    pub(in crate::cli) json: bool,

    #[command(flatten)]
    pub(in crate::cli) pasted: PastedArgs,

    /// Progress on stderr: bars (plain lines unless stderr is a terminal), or json, one object a line for programs
    #[arg(long, value_name = "FORM", default_value = "bars")]
    pub(in crate::cli) progress: ProgressAs,

    /// Address or port to tell monitoring systems at how far the review is, under /metrics (OpenMetrics;
    /// 9642 is 127.0.0.1:9642, port 0 any that is free)
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(in crate::cli) metrics: Option<SocketAddr>,

    /// Print errors only (and the document with --json); results are in their files
    #[arg(long, short)]
    pub(in crate::cli) quiet: bool,

    #[command(flatten)]
    pub(in crate::cli) keep: KeepArgs,

    /// Test the virtual SSD in the state that `fourcorners age` saved in this file; no test purges it
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) state: Option<PathBuf>,

    #[command(flatten)]
    pub(in crate::cli) on: TargetArgs,
}

/// What says how far a review is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(in crate::cli) enum ProgressAs {
    Bars,
    Json,
}

/// How a real drive is made to forget everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(in crate::cli) enum PurgeHow {
    /// A discard (TRIM) of everything
    Discard,
    /// NVMe format with user data erase
    NvmeFormat,
    /// ATA security erase
    AtaSecureErase,
}

/// A percentage, with its sign or without.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    number.parse().map_err(|_| "give a percentage, for example 25 or 25%".into())
}
