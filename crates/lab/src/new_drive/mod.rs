//! A new drive from its data sheet, and from a drive of the catalogue that it is like.
//!
//! A sheet says how large a drive is and how fast at four or five things; a profile needs more. What the sheet
//! determines is solved: one time of the model for each figure is moved, by bisection, until a run of that figure
//! meets it. Everything else is as in the other drive, stands as `assumed`, and cites nothing of that drive.
//!
//! | figure | run | the time that is moved first, then where that does not do |
//! |---|---|---|
//! | `read` | 128 KiB sequential, QD 32 | `controller.read_4k_us`, `nand.bus_mb_per_s` |
//! | `write` | the same | `controller.write_4k_us`, `nand.program_us` |
//! | `read IOPS` | 4 KiB random, QD 32 (SATA), 128 | `controller.read_command_us`, `controller.read_4k_us` |
//! | `write IOPS` | the same | `controller.write_command_us`, `controller.write_4k_us` |
//! | `QD 1 read` | 4 KiB random, mean latency | `nand.read_us` |
//!
//! All runs are of the first GiB of a new drive, written once: sheets give what a drive can do at best.

mod figures;
mod profile;
mod solve;

use fourcorners_catalogue::{CatalogueError, Profile};

/// What a data sheet says.
#[derive(Clone, PartialEq, Debug)]
pub struct DataSheet {
    /// The name of the profile, as that of a file of the catalogue.
    pub name: String,
    /// The name a reader knows it by.
    pub title: String,
    /// Where the sheet is, if that was said.
    pub source: Option<String>,
    /// User capacity in bytes.
    pub capacity_bytes: u64,
    /// Its figures.
    pub wanted: Vec<(SheetFigure, f64)>,
}

/// A figure of a data sheet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SheetFigure {
    /// Mean latency of 4 KiB random reads one at a time, microseconds.
    ReadLatency,
    /// Sequential reads, MB/s.
    Read,
    /// Sequential writes, MB/s.
    Write,
    /// 4 KiB random reads a second.
    ReadIops,
    /// 4 KiB random writes a second.
    WriteIops,
}

impl SheetFigure {
    /// Its name, as a sheet has it.
    pub fn name(self) -> &'static str {
        match self {
            SheetFigure::ReadLatency => "QD 1 read",
            SheetFigure::Read => "read",
            SheetFigure::Write => "write",
            SheetFigure::ReadIops => "read IOPS",
            SheetFigure::WriteIops => "write IOPS",
        }
    }

    /// Its unit.
    pub fn unit(self) -> &'static str {
        match self {
            SheetFigure::ReadLatency => "us",
            SheetFigure::Read | SheetFigure::Write => "MB/s",
            SheetFigure::ReadIops | SheetFigure::WriteIops => "IOPS",
        }
    }
}

/// How near a figure is to be: within 10 %.
pub const NEAR: f64 = 0.10;

/// A figure of the sheet and of the profile.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SheetResult {
    /// Which.
    pub figure: SheetFigure,
    /// What the sheet says.
    pub wanted: f64,
    /// What a run of the profile gives.
    pub simulated: f64,
}

impl SheetResult {
    /// The error of the profile, 0 for none.
    pub fn error(&self) -> f64 {
        self.simulated / self.wanted - 1.0
    }

    /// Whether it is within [`NEAR`].
    pub fn is_met(&self) -> bool {
        self.error().abs() <= NEAR
    }
}

/// A profile that was made from a sheet.
#[derive(Clone, PartialEq, Debug)]
pub struct NewDrive {
    /// The profile.
    pub profile: Profile,
    /// Its figures, each from a run of it.
    pub results: Vec<SheetResult>,
    /// What was moved, key by key.
    pub solved: Vec<String>,
}

/// Why no profile can be made.
#[derive(Debug, thiserror::Error)]
pub enum NewDriveError {
    /// A hard disk.
    #[error("{name} is a hard disk: a sheet of an SSD can be solved; give an SSD with --like")]
    NoSsd {
        /// The drive that it was to be like.
        name: String,
    },
    /// A figure that means nothing.
    #[error("{} = {value}: give a number above 0", figure.name())]
    Figure {
        /// Which.
        figure: SheetFigure,
        /// Its value.
        value: f64,
    },
    /// A name that no profile can have.
    #[error(
        "\"{name}\" is no name for a drive: give letters, digits, dots and dashes, as in acme-one-500gb"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// A name that the catalogue has.
    #[error("the catalogue has a drive {name}: choose another name")]
    Taken {
        /// The name.
        name: String,
    },
    /// It makes no drive.
    #[error(transparent)]
    Profile(#[from] CatalogueError),
}

/// Makes a profile of what a sheet says, like `like` in all else. `go_on` is asked before each run; the figures are
/// then those of what was found so far.
///
/// # Errors
/// [`NewDriveError`]. A figure that cannot be met is no error: the result says so.
pub fn new_drive(
    sheet: &DataSheet,
    like: &str,
    go_on: &mut dyn FnMut(&str) -> bool,
) -> Result<NewDrive, NewDriveError> {
    profile::check(sheet, like)?;
    let scale = profile::capacity(sheet, like)?;
    let solved = solve::solve(sheet, like, &scale, go_on)?;
    let profile = profile::written(sheet, like, &solved)?;
    let results = sheet.wanted.iter().map(|&(figure, wanted)| {
        let simulated = solve::measured(&profile, figure);
        SheetResult { figure, wanted, simulated }
    });
    let results = results.collect();
    let solved = solved.iter().map(|(key, _)| key.clone()).collect();
    Ok(NewDrive { profile, results, solved })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fourcorners_catalogue::{self as catalogue, Standing};

    const LIKE: &str = "crucial-m500-480gb";

    fn sheet(wanted: &[(SheetFigure, f64)]) -> DataSheet {
        DataSheet {
            name: "acme-one-500gb".into(),
            title: "Acme One 500 GB".into(),
            source: None,
            capacity_bytes: 500_000_000_000,
            wanted: wanted.to_vec(),
        }
    }

    fn made(wanted: &[(SheetFigure, f64)]) -> NewDrive {
        new_drive(&sheet(wanted), LIKE, &mut |_| true).expect("a drive")
    }

    #[test]
    fn a_sheet_is_met_and_nothing_is_cited_that_is_another_drives() {
        let wanted = [
            (SheetFigure::Read, 540.0),
            (SheetFigure::Write, 450.0),
            (SheetFigure::ReadIops, 88_000.0),
            (SheetFigure::WriteIops, 85_000.0),
            (SheetFigure::ReadLatency, 110.0),
        ];
        let new = made(&wanted);
        for result in &new.results {
            assert!(result.is_met(), "{result:?}");
        }
        let again = catalogue::from_text_behind(&new.profile.to_toml(), "new.toml", None, &[])
            .expect("it can be read again");
        assert_eq!(again.hash(), new.profile.hash());
        assert!(again.capacity_bytes().abs_diff(500_000_000_000) < 1_000_000_000);
        let other = catalogue::built_in(LIKE, &[]).expect("it is in the catalogue");
        for value in &again.values {
            let solved = new.solved.contains(&value.key);
            match value.standing {
                Standing::Assumed => assert!(!solved, "{}", value.key),
                Standing::Fitted | Standing::Datasheet => assert!(solved, "{}", value.key),
                standing => panic!("{}: {standing:?}", value.key),
            }
            assert!(!other.sources.values().any(|source| *source == value.source), "{}", value.key);
        }
    }

    #[test]
    fn a_sheet_that_is_impossible_is_not_met_and_the_rest_of_it_is() {
        // A SATA link ends at 560 MB/s.
        let new = made(&[(SheetFigure::Read, 7000.0), (SheetFigure::WriteIops, 60_000.0)]);
        let [read, write] = &new.results[..] else { panic!("{:?}", new.results) };
        assert!(!read.is_met() && read.simulated < 600.0, "{read:?}");
        assert!(write.is_met(), "{write:?}");
    }

    #[test]
    fn what_is_no_sheet_is_refused() {
        let refused = |sheet: DataSheet, like: &str| {
            new_drive(&sheet, like, &mut |_| true).expect_err(like).to_string()
        };
        assert!(refused(sheet(&[]), "wd-velociraptor-300gb").contains("hard disk"));
        assert!(refused(sheet(&[]), "nosuch").contains("no drive \"nosuch\""));
        assert!(refused(sheet(&[(SheetFigure::Read, -1.0)]), LIKE).contains("read = -1"));
        let named = |name: &str| DataSheet { name: name.into(), ..sheet(&[]) };
        assert!(refused(named("a b"), LIKE).contains("no name"));
        assert!(refused(named(LIKE), LIKE).contains("choose another"));
    }
}
