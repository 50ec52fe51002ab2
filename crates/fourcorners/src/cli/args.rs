//! Arguments as typed, of most commands; some have theirs beside them.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args as ClapArgs;
use fourcorners_lab::campaign::author_name;
use fourcorners_report::Pasted;

use super::address::address;
use super::terminal::say;

#[derive(Debug, ClapArgs)]
#[command(after_help = "For example: fourcorners completions bash > \
~/.local/share/bash-completion/completions/fourcorners")]
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
pub(super) struct ReviewArgs {
    /// A drive of the catalogue, a profile (./mine.toml), a block device (/dev/sdX) or a file; several drives as one
    /// (raid1:2xDRIVE), or an SSD in front of a disk (cache:SSD+DISK), as a name or a file (./nas.toml)
    #[arg(required = true, value_name = "TARGET")]
    pub(super) targets: Vec<String>,

    /// Methods separated by commas, plan files (./mine.toml, see docs/PLANS.md), or all;
    /// --dry-run shows what they do
    /// [default: all except those that take days; with --quick: four-corners]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) methods: Vec<String>,

    /// Show each phase, what it writes and how long it takes, and stop there
    #[arg(long)]
    pub(super) dry_run: bool,

    /// Measure seconds instead of minutes and a few GB instead of the whole drive; leave out the used state
    #[arg(long)]
    pub(super) quick: bool,

    /// Replay at most this many I/Os of each trace of storage-bench, or all
    /// [default: all on a virtual drive, but 4,000,000 of traces over 11,000,000; 200,000 on a real drive,
    /// which waits through the think times]
    #[arg(long, value_name = "N|all", value_parser = most_ios)]
    pub(super) ios: Option<u64>,

    /// Leave this percentage at the end of each target untouched, as spare area: 25 or 25%
    #[arg(long, value_name = "PCT", default_value_t = 0.0, allow_negative_numbers = true, value_parser = percent)]
    pub(super) spare: f64,

    /// Write review.html and review.json into this folder, replacing earlier ones
    /// [default: a new folder in ./fourcorners-results; with --json: none]
    #[arg(long, short, visible_alias = "out", value_name = "DIR")]
    pub(super) output: Option<PathBuf>,

    /// The folder of new folders.
    #[arg(skip)]
    pub(super) results: Option<PathBuf>,

    /// Replace any other file of these names as well
    #[arg(long)]
    pub(super) overwrite: bool,

    /// Continue the stopped or killed review in this folder; give the same arguments again
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    pub(super) resume: Option<PathBuf>,

    /// Seed of all random numbers; the same seed gives a virtual drive the same record
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    pub(super) seed: u64,

    /// Measure everything this many times, with seeds N, N + 1 and so on, so that `compare` can give
    /// confidence intervals
    #[arg(long, value_name = "TIMES", default_value_t = 1, allow_negative_numbers = true)]
    pub(super) repeat: u32,

    /// How to purge real drives; the erase commands need nvme-cli or hdparm, and a whole drive
    #[arg(long, value_name = "HOW", value_enum, default_value = "discard")]
    pub(super) purge: PurgeHow,

    /// What a page of one drive shows it among [default: catalogue]
    #[arg(long, value_name = "WHICH", value_enum)]
    pub(super) references: Option<WhichReferences>,

    /// Name the author of the review, in its records and on its page
    #[arg(long, value_name = "NAME", value_parser = author_name)]
    pub(super) author: Option<String>,

    /// Print one JSON document instead of tables
    #[arg(long)]
    pub(super) json: bool,

    #[command(flatten)]
    pub(super) pasted: PastedArgs,

    /// Progress on stderr: bars (lines where it is no terminal), or json, one object per line for programs
    #[arg(long, value_name = "FORM", default_value = "bars")]
    pub(super) progress: ProgressAs,

    /// Tell monitoring systems how far it is, at http://ADDR/metrics of this machine (OpenMetrics; port 0: any that is free)
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(super) metrics: Option<SocketAddr>,

    /// Print errors only (and the document with --json); results are in their files
    #[arg(long, short)]
    pub(super) quiet: bool,

    #[command(flatten)]
    pub(super) keep: KeepArgs,

    /// Test the virtual SSD in the state that `fourcorners age` saved in this file; no test purges it
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

    /// What a page of one drive shows it among [default: catalogue]
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

    /// Put the virtual drives behind this host, for example linux-kernel or marvell-9128
    #[arg(long, value_name = "NAME")]
    pub(super) host: Option<String>,

    /// Create the target file with this size, for example 2G (10^9 bytes) or 2GiB
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub(super) size: Option<String>,

    /// Allow all data on this real target to be overwritten; name it by path or serial number
    #[arg(long, value_name = "TARGET")]
    pub(super) destroy: Vec<String>,

    /// Allow it even with a file system or a partition table on it (never while it is in use)
    #[arg(long, value_name = "TARGET")]
    pub(super) force: Vec<String>,
}

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
pub(super) struct RunArgs {
    /// The job file; - for standard input
    #[arg(value_name = "JOB.fio")]
    pub(super) job_file: PathBuf,

    /// A drive of the catalogue, a profile (./mine.toml), a block device (/dev/sdX) or a file; several drives as one
    /// (raid1:2xDRIVE), or an SSD in front of a disk (cache:SSD+DISK), as a name or a file (./nas.toml)
    /// [default: filename in the job file]
    #[arg(value_name = "TARGET")]
    pub(super) targets: Vec<String>,

    /// Format of the report, or several separated by commas
    #[arg(
        long,
        value_name = "FORMAT",
        value_enum,
        value_delimiter = ',',
        default_value = "normal"
    )]
    pub(super) output_format: Vec<OutputFormat>,

    /// Print fio's JSON: the same as --output-format json
    #[arg(long, conflicts_with = "output_format")]
    pub(super) json: bool,

    /// Write the result into this file instead of printing it
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// Replace any other file of that name as well
    #[arg(long, requires = "output")]
    pub(super) overwrite: bool,

    /// Do not write a new file, or a virtual SSD without --state, before the jobs read it
    #[arg(long)]
    pub(super) as_is: bool,

    /// Only the jobs of this section; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(super) section: Vec<String>,

    /// Print the jobs as a command line of fio; run nothing
    #[arg(long)]
    pub(super) showcmd: bool,

    /// Only check the job file and the targets; run nothing
    #[arg(long)]
    pub(super) parse_only: bool,

    /// Pin the loop that runs the jobs to these CPUs, for example 0,2-4
    /// [default: cpus_allowed in the job file]
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(super) cpus: Option<String>,

    /// Run on the virtual SSD in the state that `fourcorners age` saved in this file
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
    /// JSON with the latency histograms
    #[value(name = "json+")]
    JsonPlus,
    /// A line of values for each job, fio's terse version 3
    Terse,
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
        allow_negative_numbers = true
    )]
    pub(super) size: String,

    /// Seed of the lengths and the content of the files
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

#[derive(Debug, ClapArgs)]
pub(super) struct ValidateArgs {
    /// JSON list of figures to use instead of the built-in ones (form: figures/published.json)
    #[arg(long, value_name = "FILE")]
    pub(super) figures: Option<PathBuf>,

    /// Hold the drives against measured distributions instead of single figures: those of FILE, or the built-in ones
    /// (form: figures/shapes.json)
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["figures", "fit", "chart", "errors"])]
    pub(super) shapes: Option<Option<PathBuf>>,

    /// Take the drives in the files *.toml of this folder as well; one of the name of a file of the catalogue takes
    /// its place
    #[arg(long, value_name = "DIR", conflicts_with = "reference")]
    pub(super) profiles: Option<PathBuf>,

    /// With --shapes: draw a chart of each kind of test into this folder, KIND.svg, replacing earlier charts
    #[arg(long, value_name = "DIR", requires = "shapes")]
    pub(super) charts: Option<PathBuf>,

    /// Fit the values marked as fitted in this file of drives/ to the figures allowed for that, and
    /// print them
    #[arg(long, value_name = "FAMILY", conflicts_with_all = ["json", "markdown"])]
    pub(super) fit: Option<String>,

    /// Only the figures or distributions with these ids, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) only: Vec<String>,

    /// Print one JSON document instead of a table
    #[arg(long)]
    pub(super) json: bool,

    /// Print Markdown, as in docs/FIDELITY.md, or with --shapes in docs/DISTRIBUTIONS.md
    #[arg(long, conflicts_with = "json")]
    pub(super) markdown: bool,

    /// Also draw published against simulated into this SVG file, replacing an earlier chart
    #[arg(long, value_name = "FILE", conflicts_with = "fit")]
    pub(super) chart: Option<PathBuf>,

    /// Write the error of each figure into this JSON file as well, for the bands of `choose`:
    /// figures/errors.json
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fit", "figures", "only", "profiles"])]
    pub(super) errors: Option<PathBuf>,

    /// Instead, review the usual drive of each family, and write what single drives are shown among into this
    /// JSON file: figures/reference.json
    #[arg(long, value_name = "FILE", conflicts_with_all = ["figures", "shapes", "fit", "only", "json", "markdown", "chart", "errors"])]
    pub(super) reference: Option<PathBuf>,

    /// Replace any other file of that name as well
    #[arg(long)]
    pub(super) overwrite: bool,
}

/// A percentage, with its sign or without.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    number.parse().map_err(|_| "give a percentage, for example 25 or 25%".into())
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
