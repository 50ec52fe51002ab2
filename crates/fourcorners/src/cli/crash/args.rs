//! The arguments of `fourcorners crash`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args as ClapArgs;
use fourcorners_drive::Nanos;
use fourcorners_serve::crash::Class;

/// Most cuts of one run.
pub(super) const MOST_CUTS: u64 = 100_000;

#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # Record your program first
  fourcorners serve crucial-m4-256gb --record db.trace --record-data db.data

  # What 100 power cuts would lose
  fourcorners crash db.trace crucial-m4-256gb
  fourcorners crash db.trace intel-s3700-200gb --fault honest --at each-flush

  # Whether the file system on it survives; and one image to look at
  fourcorners crash db.trace crucial-m4-256gb --data db.data \\
    --check 'e2fsck -fn {}'
  fourcorners crash db.trace crucial-m4-256gb --data db.data --fault legal \\
    --at 1.2s --seed 7 -o cuts

Exit status: 0, or 1 when a check failed, when a write was lost that an honest or legal drive had promised to keep, or when it was stopped")]
/// Cut the power of a virtual drive in a recording, and say what is lost
pub(in crate::cli) struct CrashArgs {
    /// A recording of serve --record, or any trace with durations
    #[arg(value_name = "RECORDING")]
    pub(super) recording: PathBuf,

    /// A drive of the catalogue or a profile (./mine.toml), an SSD
    #[arg(value_name = "DRIVE")]
    pub(super) drive: String,

    /// What was written, from serve --record-data: without it there are no images
    #[arg(long, value_name = "FILE")]
    pub(super) data: Option<PathBuf>,

    /// What the drive held before the recording, a file of its size or smaller [default: nothing]
    #[arg(long, value_name = "FILE", requires = "data")]
    pub(super) base: Option<PathBuf>,

    /// When: each-flush, as each is answered; "every N", as every Nth I/O is asked for; "random N" moments; a time
    /// from the first I/O (1.5s, 20ms); or the number of an I/O, from 0. May be given again [default: random 100]
    #[arg(long, value_name = "WHEN")]
    pub(super) at: Vec<When>,

    /// How the drive loses data: honest, legal, lost-flush, shorn, unserialisable, metadata, bits, dead (which
    /// has no image). May be given again
    /// [default: honest, legal and lost-flush]
    #[arg(long, value_name = "CLASS")]
    pub(super) fault: Vec<Class>,

    /// Seed of all that is drawn
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = crate::cli::args::seed)]
    pub(super) seed: u64,

    /// Run this by sh on the image of each cut, {} for its path; an exit status other than 0 fails it.
    /// FOURCORNERS_IOS in its environment is the number of I/Os that were asked for by then
    #[arg(long, value_name = "COMMAND", requires = "data")]
    pub(super) check: Option<String>,

    /// Keep the images in this new folder
    #[arg(long, short, visible_alias = "out", value_name = "DIR", requires = "data")]
    pub(super) output: Option<PathBuf>,

    /// The drive's state before, from fourcorners age
    #[arg(long, value_name = "FILE")]
    pub(super) state: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,

    /// Change a parameter of the drive, for example --set buffer.write_kib=4096
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) set: Vec<String>,
}

/// When the power is cut.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum When {
    EachFlush,
    Every(u64),
    Random(u64),
    /// From the first I/O.
    Time(Nanos),
    Io(u64),
}

impl FromStr for When {
    type Err = String;

    fn from_str(text: &str) -> Result<When, String> {
        let wrong = || {
            format!(
                "{text}: give each-flush, \"every N\", \"random N\", a time (1.5s, 20ms, 300us) or an I/O's number"
            )
        };
        if text == "each-flush" {
            return Ok(When::EachFlush);
        }
        if let Ok(number) = text.parse() {
            return Ok(When::Io(number));
        }
        if let Some((word, number)) = text.split_once([' ', ':']) {
            let number = number.trim().parse().ok().filter(|n| (1..=MOST_CUTS).contains(n));
            let number = number.ok_or_else(|| {
                format!("{text}: give a number from 1 to {MOST_CUTS} after {word}")
            })?;
            return match word {
                "every" => Ok(When::Every(number)),
                "random" => Ok(When::Random(number)),
                _ => Err(wrong()),
            };
        }
        // The longest unit first: us ends in s.
        let units = [("us", 1.0), ("ms", 1e3), ("s", 1e6)];
        let unit = units.iter().find_map(|(unit, us)| Some((text.strip_suffix(unit)?, us)));
        let (number, us) = unit.ok_or_else(wrong)?;
        let micros = number.trim().parse::<f64>().map_err(|_| wrong())? * us;
        if !(0.0..=1e15).contains(&micros) {
            return Err(wrong());
        }
        Ok(When::Time(Nanos::from_micros(micros)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_and_others_refused() {
        let when = |text: &str| text.parse::<When>();
        assert_eq!(when("each-flush"), Ok(When::EachFlush));
        assert_eq!(when("every 10"), Ok(When::Every(10)));
        assert_eq!(when("random:7"), Ok(When::Random(7)));
        assert_eq!(when("1.5s"), Ok(When::Time(Nanos(1_500_000_000))));
        assert_eq!(when("20ms"), Ok(When::Time(Nanos(20_000_000))));
        assert_eq!(when("300us"), Ok(When::Time(Nanos(300_000))));
        assert_eq!(when("12"), Ok(When::Io(12)));
        for text in [
            "",
            "soon",
            "every 0",
            "every -1",
            "random 100001",
            "now 3",
            "-1s",
            "NaNs",
            "5m",
            "1e99s",
        ] {
            assert!(when(text).is_err(), "{text}");
        }
    }
}
