//! Arguments of `fourcorners trace` as typed.

use std::path::PathBuf;

use crate::cli::args::{KeepArgs, TargetArgs};
use clap::{Args as ClapArgs, Subcommand};

/// The target that is every drive of the catalogue.
pub(super) const ALL: &str = "all";

#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Formats, recognised by content: compact, blktrace, vscsi, fio-iolog, csv, msr, \
systor, alibaba, spc, tencent, blkreplay, blkparse, mqsim; also compressed with gzip, zstd or LZ4. \
Generated: generated:desktop, generated:heavy, generated:light, generated:2013. \
Tasks: task:boot and others (`fourcorners tasks` lists them), or task:./mine.toml.

Examples:
  fourcorners trace info web.load.gz
  fourcorners trace info generated:heavy --ios 100000
  fourcorners trace convert sda.blktrace.0 -o sda.fct
  fourcorners trace convert web.load.gz --from 600 --to 1200 --ops read \\
    --as fio-iolog -o read.log
  fourcorners trace record /dev/sdX -o sdx --seconds 60
  fourcorners trace replay web.load.gz crucial-m4-256gb --rescale-address
  fourcorners trace replay generated:light ./test.img --size 40G
  fourcorners trace replay db.trace all --capacity -1TB

With all, every drive of the catalogue does the I/Os at the recorded times, without the host's time ([host] of 0), as serve \
recorded them. They are ranked by the time with at least one I/O in the drive; nothing is stored in the database."
)]
pub(in crate::cli) struct TraceArgs {
    #[command(subcommand)]
    pub(super) command: TraceCommand,
}

impl Taken {
    /// The options given that leave I/Os out.
    pub(super) fn filters(&self) -> Vec<&'static str> {
        let all = [
            (self.from != 0.0, "--from"),
            (self.to.is_some(), "--to"),
            (!self.ops.is_empty(), "--ops"),
            (self.range.is_some(), "--range"),
            (self.device.is_some(), "--device"),
        ];
        all.into_iter().filter_map(|(is_given, option)| is_given.then_some(option)).collect()
    }
}

impl TraceArgs {
    /// In which database results are kept, of a command that has any.
    pub(in crate::cli) fn keep(&mut self) -> Option<&mut KeepArgs> {
        match &mut self.command {
            // A ranking of all drives is stored nowhere.
            TraceCommand::Replay(args) if !args.targets.iter().any(|target| target == ALL) => {
                Some(&mut args.keep)
            }
            _ => None,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum TraceCommand {
    /// Summarise a trace
    Info(InfoArgs),
    /// Write a trace in another format, filtered or rescaled
    Convert(ConvertArgs),
    /// Record the I/O of a block device with the kernel's blktrace (needs root and debugfs)
    Record(RecordArgs),
    /// Replay a trace on drives and measure data rate, service time and busy time (storage bench)
    Replay(Box<ReplayArgs>),
}

#[derive(Debug, ClapArgs)]
pub(super) struct RecordArgs {
    /// A block device; nothing is written to it
    #[arg(value_name = "DEVICE")]
    pub(super) device: PathBuf,

    /// Name of the trace: its files are NAME.blktrace.0, NAME.blktrace.1 and so on, one for each CPU
    #[arg(long, short, value_name = "NAME")]
    pub(super) output: PathBuf,

    /// Stop after this time; Ctrl-C stops it, too, and keeps the recording
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(super) seconds: Option<f64>,

    /// Print one JSON document instead of a sentence
    #[arg(long)]
    pub(super) json: bool,
}

/// Which I/Os of a trace are taken, and how.
#[derive(Debug, ClapArgs)]
pub(super) struct Taken {
    /// Format of a recording [default: recognised by content]
    #[arg(long, value_name = "FORMAT")]
    pub(super) format: Option<String>,

    /// Recordings: leave out records that cannot be read, and count them
    #[arg(long)]
    pub(super) skip_bad: bool,

    /// Kernel traces: take an I/O at its issue to the drive or at its entry into the queue
    #[arg(long, value_name = "issue|queue", default_value = "issue")]
    pub(super) event: String,

    /// Only I/Os from this second of the trace on
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, allow_negative_numbers = true)]
    pub(super) from: f64,

    /// Only I/Os before this second of the trace
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(super) to: Option<f64>,

    /// Only these operations, separated by commas: read, write, trim, flush
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) ops: Vec<String>,

    /// Only I/Os within these bytes of the address space, for example 0-10G or 512M-
    #[arg(long, value_name = "START-END")]
    pub(super) range: Option<String>,

    /// Only I/Os of this device: its number in the trace, or major,minor
    #[arg(long, value_name = "DEVICE")]
    pub(super) device: Option<String>,

    /// Multiply the times between I/Os by this; 0.5 is twice as fast
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, allow_negative_numbers = true)]
    pub(super) time_scale: f64,

    /// Multiply addresses by this, in units of 1 MiB
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true)]
    pub(super) address_scale: Option<f64>,

    /// Generated traces: this many I/Os instead of all, in the same proportions
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) ios: Option<u64>,

    /// Seed of a generated trace or a task [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = crate::cli::args::seed)]
    pub(super) seed: Option<u64>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct InfoArgs {
    /// A trace file, generated:NAME or task:NAME
    #[arg(value_name = "TRACE")]
    pub(super) trace: PathBuf,

    #[command(flatten)]
    pub(super) taken: Taken,

    /// Print one JSON document instead of a table
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(super) struct ConvertArgs {
    /// A trace file, generated:NAME or task:NAME
    #[arg(value_name = "TRACE")]
    pub(super) trace: PathBuf,

    /// File for the new trace; - is standard output
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: PathBuf,

    /// Replace an existing file
    #[arg(long)]
    pub(super) overwrite: bool,

    /// Format of the new trace: fio-iolog (version 3), csv or compact
    #[arg(long = "as", value_name = "FORMAT", default_value = "compact")]
    pub(super) output_format: String,

    /// With --as fio-iolog: name of the drive in it, the file or device that fio will use [default: /dev/DEVICE]
    #[arg(long, value_name = "PATH")]
    pub(super) drive: Option<String>,

    /// Print one JSON document instead of a sentence
    #[arg(long)]
    pub(super) json: bool,

    #[command(flatten)]
    pub(super) taken: Taken,
}

/// Most I/Os in flight of a replay, unless told otherwise.
pub(super) const DEPTH: u32 = 32;
/// Longest think time of a replay, unless told otherwise.
pub(super) const IDLE_CAP_MS: f64 = 25.0;
/// Name of the drive in an iolog, unless told otherwise.
pub(super) const DRIVE: &str = "/dev/DEVICE";
/// Seed of a generated trace or a task, unless told otherwise.
pub(super) const SEED: u64 = 1;

#[derive(Debug, ClapArgs)]
pub(super) struct ReplayArgs {
    /// A trace file, generated:NAME or task:NAME
    #[arg(value_name = "TRACE")]
    pub(super) trace: PathBuf,

    /// A drive of the catalogue, a profile (./mine.toml), a block device (/dev/sdX) or a file; several drives as one
    /// (raid1:2xDRIVE), an SSD in front of a disk (cache:SSD+DISK), as a name or a file (./nas.toml); or all: every
    /// drive of the catalogue, ranked
    #[arg(required = true, value_name = "TARGET|all")]
    pub(super) targets: Vec<String>,

    /// When to issue I/Os: think (after the recorded think time, at most --idle-cap), recorded (at
    /// the recorded times; latency counts from when each was due), or fast (as soon as the queue has
    /// room) [default: think; with all: recorded]
    #[arg(long, value_name = "PACE")]
    pub(super) pace: Option<String>,

    /// With --pace think: longest think time, milliseconds [default: 25]
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    pub(super) idle_cap: Option<f64>,

    /// Most I/Os in flight
    #[arg(long, value_name = "N", default_value_t = DEPTH, allow_negative_numbers = true)]
    pub(super) depth: u32,

    /// State of the drive before the replay: empty, full, both (one after the other), twice (empty, and again as the
    /// first replay left it), or as-found (prepare nothing; a real drive that is only read needs no --destroy)
    /// [default: both; with all: empty]
    #[arg(long = "drive-state", value_name = "STATE")]
    pub(super) drive_state: Option<String>,

    /// With all: only drives of this capacity, for example -1TB, 200-300GB, or 500GB- for at least that
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true, value_parser = crate::cli::args::value)]
    pub(super) capacity: Option<String>,

    /// With all: rank this among them: an array (raid0:2xcrucial-m4-256gb), an SSD in front of a disk
    /// (cache:crucial-m4-64gb+wd-velociraptor-300gb, which begins cold), a file of one (./nas.toml), or a profile
    /// (./mine.toml). May be given again
    #[arg(long, value_name = "TARGET")]
    pub(super) also: Vec<String>,

    /// Stretch or shrink the addresses of the trace to the size of each target
    #[arg(long, conflicts_with_all = ["wrap_address", "address_scale"])]
    pub(super) rescale_address: bool,

    /// Wrap addresses beyond the end of a target around to its start
    #[arg(long, conflicts_with = "address_scale")]
    pub(super) wrap_address: bool,

    #[command(flatten)]
    pub(super) taken: Taken,

    /// Write replay.html and replay.json into this folder, replacing earlier ones
    #[arg(long, short, visible_alias = "out", value_name = "DIR")]
    pub(super) output: Option<PathBuf>,

    /// Replace any other file of these names as well
    #[arg(long, requires = "output")]
    pub(super) overwrite: bool,

    /// Print one JSON document instead of tables
    #[arg(long)]
    pub(super) json: bool,

    #[command(flatten)]
    pub(super) keep: KeepArgs,

    #[command(flatten)]
    pub(super) on: TargetArgs,
}
