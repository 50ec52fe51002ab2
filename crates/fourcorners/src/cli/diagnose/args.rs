//! The arguments of `diagnose`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};
use fourcorners_lab::diagnose::{Detector, Noise};

use super::super::args::TargetArgs;

/// What is for measuring a drive, and means nothing where an earlier diagnosis is judged again.
const AT_A_DRIVE: [&str; 11] = [
    "target", "only", "budget", "noise", "seed", "resume", "set", "host", "size", "destroy",
    "force",
];

/// Find out what is inside a drive, from the times of its I/Os alone.
///
/// Each detector measures one property and says its value with an interval, or that the times do not tell, and why. It
/// gives the drive reads, writes, flushes and TRIMs, and asks it for no name, no profile and no counter.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Detectors, and what they write at most:
  kind          SSD, hard disk, memory, or one behind another; with the next
                four it shares one pass over a fortieth of the drive
  row           page of the flash, and its row over the planes of a die
  dies          dies that data in order lies on, and the channels they share
  page-kinds    how many different read times its pages have
  read-ahead    whether what is read in order is fetched before it is asked for
  write-buffer  where writes wait for the flash; a fiftieth of the drive
  map-unit      the least that it writes, however small the request; 13 MB
  suspension    whether programs make way for reads; 310 MB
  slc-cache     flash with one bit a cell that takes writes first;
                two fifths of the drive, of which all is trimmed
  map-reach     how much of the drive the map in its memory reaches;
                all of the drive
  compression   whether less is stored of data that compresses;
                a ninth of the drive, 2.2 GB at least
  mapping       whether it maps by pages, or by blocks with a log;
                all of the drive, and 1.7 GB more
  spare         how much a full drive takes at random before it collects;
                4.4 times the drive, which is trimmed
  amplification how many bytes a used drive writes to its flash for one that
                is written at random; 4.6 times the drive, which is trimmed
  trim          whether a TRIM makes a used drive faster, and whether reads
                wait for one; 2.7 times the drive
  collection    whether it wins back space in pauses, and whether writes stall
                for it; 3.5 times the drive
Without --only and --budget: kind, row, dies, page-kinds, read-ahead, write-buffer.

With --out what each detector measured is kept as soon as it is finished, so that --resume goes on with the next: a real \
drive as it is, a virtual SSD as the last one left it. Virtual drives whose state cannot be kept (hard disks, arrays, and \
SSDs with [log_blocks], [streams] or map.memory_kib) are diagnosed anew, which gives the same.

Examples:
  fourcorners diagnose crucial-m4-256gb
  fourcorners diagnose samsung-840-evo-250gb --only slc-cache
  fourcorners diagnose intel-x25-m-g2-80gb --budget 200G
  fourcorners diagnose crucial-m4-256gb --out found
  fourcorners diagnose crucial-m4-256gb --resume found
  fourcorners diagnose crucial-m4-256gb --only row,dies,spare --out found \\
    --twin reviewed
  sudo fourcorners diagnose /dev/sdX --destroy /dev/sdX -o found.json
  fourcorners diagnose --again found.json -o page.html")]
pub(in crate::cli) struct DiagnoseArgs {
    /// A block device (/dev/sdX), a file, a drive of the catalogue or a profile (./mine.toml)
    #[arg(value_name = "TARGET", required_unless_present = "again")]
    pub(super) target: Option<String>,

    /// Only these detectors, separated by commas
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = detector)]
    pub(super) only: Vec<Detector>,

    /// Write so much at most, for example 20G, or take so long, for example 30m or 2h (at 200 MB/s); without --only, run all
    /// detectors that fit
    #[arg(long, value_name = "SIZE|TIME", allow_hyphen_values = true, value_parser = crate::cli::args::value)]
    pub(super) budget: Option<String>,

    /// Judge the samples of an earlier diagnosis (-o, --out) again; nothing is measured
    #[arg(long, value_name = "FILE", conflicts_with_all = AT_A_DRIVE)]
    pub(super) again: Option<PathBuf>,

    /// Add so much noise to the times that the detectors see of a virtual drive
    #[arg(long, value_name = "LEVEL", default_value = "none")]
    pub(super) noise: NoiseArg,

    /// Seed of the places that are read and written, and of the noise
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = crate::cli::args::seed)]
    pub(super) seed: u64,

    /// Write what was found into this file: a page if its name ends in .html, else JSON with all samples
    #[arg(long, short, value_name = "FILE", group = "written")]
    pub(super) output: Option<PathBuf>,

    /// Write diagnosis.html and diagnosis.json into this folder, replacing earlier ones
    #[arg(long, value_name = "DIR", group = "written")]
    pub(super) out: Option<PathBuf>,

    /// Continue the stopped or killed diagnosis in this folder (--out); give the same arguments again
    #[arg(long, value_name = "DIR", group = "written")]
    pub(super) resume: Option<PathBuf>,

    /// Look for a profile, too, that explains the records of this review of the drive (a folder, or its review.json) and what was
    /// found: twin.toml in the folder of --out. Needs Python and the package, as sweep does
    #[arg(long, value_name = "REVIEW")]
    pub(in crate::cli) twin: Option<PathBuf>,

    /// With --twin: the drive of the catalogue or the profile (./mine.toml) that is varied
    /// [default: the drive of the records, if it is one of the catalogue]
    #[arg(long, value_name = "DRIVE", requires = "twin")]
    pub(super) like: Option<String>,

    /// The Python that looks for it.
    #[arg(skip)]
    pub(in crate::cli) python: Option<OsString>,

    /// Replace any other file of these names as well
    #[arg(long, requires = "written")]
    pub(super) overwrite: bool,

    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,

    #[command(flatten)]
    pub(super) on: TargetArgs,
}

/// A noise level of `diagnose`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum NoiseArg {
    /// No noise: the drive's own times
    None,
    /// A quiet machine: times vary by 1 %, and are seen 2 us late
    Lab,
    /// A shared machine: times vary by 3 %, are seen 48 us late by a clock of 1 us, and one in a thousand 1 to 10 ms late
    Host,
}

impl NoiseArg {
    pub(super) fn noise(self) -> Noise {
        match self {
            NoiseArg::None => Noise::None,
            NoiseArg::Lab => Noise::Lab,
            NoiseArg::Host => Noise::Host,
        }
    }
}

fn detector(text: &str) -> Result<Detector, String> {
    Detector::named(text).ok_or_else(|| {
        let names = Detector::ALL.map(Detector::name);
        format!("there is no such detector; choose from: {}", names.join(", "))
    })
}
