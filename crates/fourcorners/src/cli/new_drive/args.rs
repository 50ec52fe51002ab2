//! What `drives new` takes.

use std::path::PathBuf;

use clap::Args as ClapArgs;

/// Make a profile of an SSD from its data sheet; whatever the sheet does not say is taken from another drive.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Each figure is run on the new profile: 128 KiB sequential and 4 KiB random at QD 32 (128 \
beyond SATA), \
of the first GiB of a new drive. Exit code 1 if one is not within 10 % of the sheet.

Example:
  fourcorners drives new acme-one-500gb --like crucial-m500-480gb \\
    --capacity 500GB \\
    --read 540MB/s --write 450MB/s --read-iops 88k --write-iops 85k \\
    -o mine/acme-one.toml --figures mine/acme-one.json
  fourcorners validate --profiles mine --figures mine/acme-one.json"
)]
pub(in crate::cli) struct NewDriveArgs {
    /// The name of the new drive, for example acme-one-500gb
    #[arg(value_name = "NAME")]
    pub(super) name: String,

    /// A drive of the catalogue that is like it: same link, same kind of flash
    #[arg(long, value_name = "DRIVE")]
    pub(super) like: String,

    /// Its capacity, for example 500GB
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = crate::cli::args::value)]
    pub(super) capacity: String,

    /// Sequential reads, for example 560MB/s
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, value_parser = crate::cli::args::value)]
    pub(super) read: Option<String>,

    /// Sequential writes
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, value_parser = crate::cli::args::value)]
    pub(super) write: Option<String>,

    /// 4 KiB random reads a second, for example 95k
    #[arg(long, value_name = "IOPS", allow_hyphen_values = true, value_parser = crate::cli::args::value)]
    pub(super) read_iops: Option<String>,

    /// 4 KiB random writes a second
    #[arg(long, value_name = "IOPS", allow_hyphen_values = true, value_parser = crate::cli::args::value)]
    pub(super) write_iops: Option<String>,

    /// Mean latency of one 4 KiB random read at a time, microseconds
    #[arg(long, value_name = "US", allow_negative_numbers = true)]
    pub(super) qd1_read_us: Option<f64>,

    /// The name a reader knows it by [default: NAME]
    #[arg(long, value_name = "TEXT")]
    pub(super) title: Option<String>,

    /// Where the sheet is, for its citation
    #[arg(long, value_name = "URL")]
    pub(super) sheet: Option<String>,

    /// Write the profile into this new file [default: print it]
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// Write the sheet's figures into this new file, for `validate --figures`
    #[arg(long, value_name = "FILE")]
    pub(super) figures: Option<PathBuf>,

    /// Replace files of these names
    #[arg(long)]
    pub(super) overwrite: bool,
}
