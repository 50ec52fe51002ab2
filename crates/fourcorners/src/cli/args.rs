//! Arguments as typed, of several commands and of small ones; others have theirs beside them.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use fourcorners_report::Pasted;

use super::terminal::say;

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  cd ~/.local/share/bash-completion/completions
  fourcorners completions bash > fourcorners")]
pub(super) struct CompletionsArgs {
    /// The shell
    pub(super) shell: clap_complete::Shell,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  fourcorners man | man -l -
  fourcorners man -o ~/.local/share/man/man1 && man fourcorners-review")]
pub(super) struct ManArgs {
    /// Write a page for each command into this folder instead, replacing earlier pages
    #[arg(long, short, value_name = "DIR")]
    pub(super) output: Option<PathBuf>,

    /// Replace any other file of these names as well
    #[arg(long, requires = "output")]
    pub(super) overwrite: bool,
}

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "The drive of the first record is the drive under test; it is compared with \
all others.

Examples:
  fourcorners report fourcorners-results/20260301-crucial-m4-256gb -o page.html
  fourcorners report mine/review.json theirs/review.json --png pictures
  fourcorners report fourcorners-results/*"
)]
pub(super) struct ReportArgs {
    /// Drive name or serial number (its latest results), id of a result, or a file or folder
    /// written by `review` or `trace replay`
    #[arg(required = true, value_name = "RESULT")]
    pub(super) results: Vec<String>,

    /// Write the page into this file, replacing an earlier page
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// Replace any other file of that name as well
    #[arg(long)]
    pub(super) overwrite: bool,

    /// Which drives one drive is shown among, on the page, in the pictures and on the card [default: catalogue]
    #[arg(long, value_name = "WHICH", value_enum)]
    pub(super) references: Option<WhichReferences>,

    /// Write every chart of the page to this folder as PNG, 1600 pixels wide
    #[arg(long, value_name = "DIR")]
    pub(super) png: Option<PathBuf>,

    /// Write one picture of it all into this file, PNG or SVG by its ending, to post
    #[arg(long, value_name = "FILE")]
    pub(super) card: Option<PathBuf>,

    /// Write every chart of the page to this folder as SVG
    #[arg(long, value_name = "DIR")]
    pub(super) svg: Option<PathBuf>,

    /// Print all records as one JSON document [default: tables, unless something is written]
    #[arg(long)]
    pub(super) json: bool,

    #[command(flatten)]
    pub(super) pasted: PastedArgs,

    /// Also show records of a file that were changed after they were measured; they are marked
    #[arg(long)]
    pub(super) as_is: bool,

    /// Database [default: fourcorners/results.db in $XDG_DATA_HOME or ~/.local/share]
    #[arg(long, value_name = "FILE")]
    pub(super) db: Option<PathBuf>,
}

/// Tables as text to paste.
#[derive(Debug, Clone, Copy, ClapArgs)]
pub(super) struct PastedArgs {
    /// Print the tables as Markdown, to paste
    #[arg(long, conflicts_with_all = ["json", "bbcode"])]
    pub(super) markdown: bool,

    /// Print the tables as BBCode, to paste into forums
    #[arg(long, conflicts_with = "json")]
    pub(super) bbcode: bool,
}

impl PastedArgs {
    /// What is asked for, if anything.
    pub(super) fn form(self) -> Option<Pasted> {
        match (self.markdown, self.bbcode) {
            (true, _) => Some(Pasted::Markdown),
            (_, true) => Some(Pasted::BbCode),
            _ => None,
        }
    }
}

/// What a drive that is alone on its page stands among.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(super) enum WhichReferences {
    /// Virtual drives of the catalogue, one of each family, in quick reviews
    Catalogue,
    /// The drives of the database, by their latest results
    Mine,
    /// Nothing
    None,
}

/// In which database results are kept.
#[derive(Debug, ClapArgs)]
pub(super) struct KeepArgs {
    /// Store the results in this database, created if missing
    /// [default: fourcorners/results.db in $XDG_DATA_HOME or ~/.local/share]
    #[arg(long, value_name = "FILE")]
    pub(super) db: Option<PathBuf>,

    /// Store the results in no database
    #[arg(long, conflicts_with = "db")]
    pub(super) no_db: bool,

    /// What is said before anything is measured, of values that are from a config file.
    #[arg(skip)]
    pub(super) note: Option<String>,
}

impl KeepArgs {
    /// Where the database is that was typed, unless there is to be none.
    pub(super) fn stored_in(&mut self) -> Option<&mut Option<PathBuf>> {
        (!self.no_db).then_some(&mut self.db)
    }

    /// Says where values are from that nobody typed.
    pub(super) fn say_note(&self) {
        self.note.iter().for_each(|note| say(note));
    }
}

/// How targets differ from what their names say, and which may be written.
#[derive(Debug, ClapArgs)]
pub(super) struct TargetArgs {
    /// Change a parameter of the virtual drives, for example --set link.gbps=3
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) set: Vec<String>,

    /// Put the virtual drives behind this host, for example linux-kernel or marvell-9128
    #[arg(long, value_name = "NAME")]
    pub(super) host: Option<String>,

    /// Create the target file with this size, for example 2G (10^9 bytes) or 2GiB
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = crate::cli::args::value)]
    pub(super) size: Option<String>,

    /// Allow all data on this real target to be overwritten; name it by path or serial number
    #[arg(long, value_name = "TARGET")]
    pub(super) destroy: Vec<String>,

    /// Allow it even with a file system or a partition table on it (never while it is in use)
    #[arg(long, value_name = "TARGET")]
    pub(super) force: Vec<String>,
}

#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct DrivesArgs {
    #[command(subcommand)]
    pub(super) command: Option<DrivesCommand>,

    /// The drive to print
    #[arg(value_name = "NAME")]
    pub(super) name: Option<String>,

    /// Print the drive's profile as TOML, to change and use as ./mine.toml
    #[arg(long, requires = "name", conflicts_with_all = ["json", "hosts"])]
    pub(super) toml: bool,

    /// List the drives that have all of these words in their name, title, other names, kind, interface (SATA, PCIe 4) or year
    #[arg(long, value_name = "WORDS", num_args = 1.., conflicts_with_all = ["name", "hosts"])]
    pub(super) search: Vec<String>,

    /// List the drives of this kind
    #[arg(long, value_name = "KIND", value_parser = ["ssd", "hdd"], conflicts_with_all = ["name", "hosts"])]
    pub(super) kind: Option<String>,

    /// List the drives that were first sold in this year, or in these: 2011, 2008-2012
    #[arg(long, value_name = "YEARS", conflicts_with_all = ["name", "hosts"])]
    pub(super) year: Option<String>,

    /// List the hosts for `review --host`, or print the one named, instead of drives
    #[arg(long)]
    pub(super) hosts: bool,

    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// What else is done with drives.
#[derive(Debug, clap::Subcommand)]
pub(super) enum DrivesCommand {
    // Described at its arguments.
    New(super::new_drive::args::NewDriveArgs),
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  fourcorners tasks
  fourcorners tasks --show boot > mine.toml
  fourcorners trace replay task:./mine.toml crucial-m4-256gb
  fourcorners tasks --real /mnt/disk/scratch --size 2G")]
pub(super) struct TasksArgs {
    /// Print the TOML file of a task
    #[arg(long, value_name = "TASK", conflicts_with_all = ["real", "json"])]
    pub(super) show: Option<String>,

    /// Unpack an archive, copy its tree and install its files in this folder, in wall time; the folder
    /// must be empty or missing, and is left as it was found
    #[arg(long, value_name = "DIR")]
    pub(super) real: Option<PathBuf>,

    /// Size of the tree, for example 2G; four times that must be free
    #[arg(
        long,
        value_name = "SIZE",
        default_value = "500M",
        requires = "real",
        allow_hyphen_values = true,
        value_parser = crate::cli::args::value
    )]
    pub(super) size: String,

    /// Seed of the lengths and the content of the files
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        requires = "real",
        allow_negative_numbers = true,
        value_parser = crate::cli::args::seed
    )]
    pub(super) seed: u64,

    /// Print one JSON document instead of a table
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(super) struct DoctorArgs {
    /// A block device or a file; it is only read [default: the machine, and all its drives]
    #[arg(value_name = "PATH")]
    pub(super) path: Option<PathBuf>,

    /// Also read from PATH for two seconds to measure what an I/O costs this machine's host, and write that into
    /// this new file, for `review DRIVE --host ./FILE.toml`
    #[arg(long, value_name = "FILE.toml", requires = "path")]
    pub(super) host_profile: Option<PathBuf>,

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

/// A value that may begin with a hyphen, so that who takes it says what is wrong with a negative one. The next option is refused.
pub(super) fn value(text: &str) -> Result<String, String> {
    let is_option = |rest: &str| rest.starts_with(|c: char| !c.is_ascii_digit() && c != '.');
    match text.strip_prefix('-').is_some_and(is_option) {
        true => Err("a value is required before the next option".into()),
        false => Ok(text.into()),
    }
}

/// A seed.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a seed is a whole number from 0 to {}", u64::MAX))
}

/// A number of I/Os, or all there are.
pub(super) fn most_ios(text: &str) -> Result<u64, String> {
    match text {
        "all" => Ok(u64::MAX),
        _ => text
            .parse()
            .ok()
            .filter(|&ios| ios > 0)
            .ok_or_else(|| "give a number from 1, or all".to_string()),
    }
}
