//! The arguments of `quick`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use fourcorners_lab::campaign::author_name;

use super::super::args::{KeepArgs, TargetArgs};

/// Measure a drive in a minute: the rows of CrystalDiskMark and KDiskMark, and synchronous writes.
///
/// A directory gets a scratch file of 1 GiB (--size), which is removed at the end, however that comes.
/// A device or a file of yours is only read, unless --destroy names it.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Each row is the best of three runs; spread is by how many percent the slowest of them is below it.

Examples:
  fourcorners quick ./
  fourcorners quick /mnt/disk --markdown
  sudo fourcorners quick /dev/sdX
  sudo fourcorners quick /dev/sdX --destroy /dev/sdX
  fourcorners quick crucial-m4-256gb --json"
)]
pub(crate) struct QuickArgs {
    /// A directory, a block device (/dev/sdX), a file, a drive of the catalogue or a profile (./mine.toml)
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,

    /// Print the card as Markdown
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,

    /// Print the card as one JSON document
    #[arg(long)]
    pub(crate) json: bool,

    /// Also write the record into this file, for compare and report; replaces an earlier one
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Replace any other file of that name as well
    #[arg(long, requires = "output")]
    pub(crate) overwrite: bool,

    /// Name the author of the card, in its record
    #[arg(long, value_name = "NAME", value_parser = author_name)]
    pub(crate) author: Option<String>,

    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = crate::cli::args::seed)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) keep: KeepArgs,

    #[command(flatten)]
    pub(crate) on: TargetArgs,
}
