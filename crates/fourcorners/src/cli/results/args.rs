//! Arguments of `fourcorners results` as typed.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use fourcorners_record::ClockName;

use crate::cli::args::PastedArgs;

#[derive(Debug, ClapArgs)]
#[command(after_help = "Every review and every replay is stored here automatically. An id may be \
shortened as long as it is unique.

Examples:
  fourcorners results list --drive m4 --since 2026-03-01
  fourcorners results show 6287de5
  fourcorners results export --method four-corners --csv -o corners.csv
  fourcorners results import fourcorners-results/*
  fourcorners compare crucial-m4-256gb 6287de5")]
pub(in crate::cli) struct ResultsArgs {
    /// Database [default: fourcorners/results.db in $XDG_DATA_HOME or ~/.local/share]
    #[arg(long, value_name = "FILE", global = true)]
    pub(in crate::cli) db: Option<PathBuf>,

    #[command(subcommand)]
    pub(super) command: ResultsCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum ResultsCommand {
    /// List results, the latest first
    List(ListArgs),
    /// Print results as the review did
    Show(ShowArgs),
    /// Write results as one JSON document or as CSV
    Export(ExportArgs),
    /// Add results from documents, folders of results or other databases
    Import(ImportArgs),
    /// Give this database and another one the results that the other has
    Sync(SyncArgs),
    /// Remove results
    Rm(RmArgs),
    /// Read the whole database and report damage
    Check(CheckArgs),
}

/// Which results.
#[derive(Debug, ClapArgs)]
pub(super) struct Chosen {
    /// Part of the drive's name, title, model or serial number
    #[arg(long, value_name = "TEXT")]
    pub(super) drive: Option<String>,

    /// The method, for example four-corners
    #[arg(long, value_name = "NAME")]
    pub(super) method: Option<String>,

    /// The drive's firmware revision
    #[arg(long, value_name = "NAME")]
    pub(super) firmware: Option<String>,

    /// Started at or after this time: 2026-03-01, 2026-03-01T10:00:00Z (UTC), or 12h or 30d ago
    #[arg(long, value_name = "TIME")]
    pub(super) since: Option<String>,

    /// Started before this time, or on this day
    #[arg(long, value_name = "TIME")]
    pub(super) until: Option<String>,

    /// Results in virtual or in wall time
    #[arg(long, value_name = "CLOCK", value_enum)]
    pub(super) clock: Option<Clock>,

    /// At most this many, the latest
    #[arg(long, value_name = "N")]
    pub(super) limit: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Clock {
    /// The model's own time
    Virtual,
    /// The time of real drives
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

#[derive(Debug, ClapArgs)]
pub(super) struct ListArgs {
    #[command(flatten)]
    pub(super) chosen: Chosen,

    /// Print one JSON document instead of a table
    #[arg(long, conflicts_with = "csv")]
    pub(super) json: bool,

    /// Print CSV instead of a table
    #[arg(long)]
    pub(super) csv: bool,
}

#[derive(Debug, ClapArgs)]
pub(super) struct ShowArgs {
    /// Ids of results, or their beginnings
    #[arg(required = true, value_name = "ID")]
    pub(super) ids: Vec<String>,

    /// Print one JSON document instead of tables
    #[arg(long)]
    pub(super) json: bool,

    #[command(flatten)]
    pub(super) pasted: PastedArgs,
}

#[derive(Debug, ClapArgs)]
pub(super) struct ExportArgs {
    /// Ids of results, or their beginnings [default: all that match the filters]
    #[arg(value_name = "ID")]
    pub(super) ids: Vec<String>,

    #[command(flatten)]
    pub(super) chosen: Chosen,

    /// CSV with a line for each figure, instead of JSON
    #[arg(long)]
    pub(super) csv: bool,

    /// Write into this file, replacing an earlier export, instead of printing
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// Replace any other file of that name as well
    #[arg(long, requires = "output")]
    pub(super) overwrite: bool,
}

#[derive(Debug, ClapArgs)]
pub(super) struct ImportArgs {
    /// A document from review --json, a folder of a review or a replay, or a database
    #[arg(required = true, value_name = "PATH")]
    pub(super) from: Vec<PathBuf>,

    /// Print one JSON document instead of a sentence
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(super) struct SyncArgs {
    /// The other database; it is there already. What was removed from one comes back from the other
    #[arg(value_name = "DATABASE")]
    pub(super) other: PathBuf,

    /// Print one JSON document instead of a sentence
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(super) struct RmArgs {
    /// Ids of results, or their beginnings
    #[arg(required = true, value_name = "ID")]
    pub(super) ids: Vec<String>,

    /// Print one JSON document instead of a sentence
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(super) struct CheckArgs {
    /// Print one JSON document instead of a sentence
    #[arg(long)]
    pub(super) json: bool,
}
