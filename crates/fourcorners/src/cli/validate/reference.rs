//! `fourcorners validate --reference`: reviews of the catalogue's usual drives, for the pages of single drives.

use std::path::Path;

use anyhow::Context;
use fourcorners_catalogue::{self as catalogue, Family, Profile};
use fourcorners_lab::campaign::{Campaign, ChosenMethod, Settings};
use fourcorners_lab::device_under_test::DeviceUnderTest;
use fourcorners_lab::review::Method;
use fourcorners_lab::validate::catalogue_hash;
use fourcorners_machine::save;
use fourcorners_record::Document;
use fourcorners_report::References;
use fourcorners_words::counted;

use super::checked;
use crate::cli::args::KeepArgs;
use crate::cli::interrupt::Interrupt;
use crate::cli::keeper::Keeper;
use crate::cli::outcome::{End, Failure};
use crate::cli::progress::Progress;
use crate::cli::replaced::{Inputs, Kind};
use crate::cli::sink::TerminalSink;
use crate::cli::terminal::say;

/// What a reference is of, seconds instead of minutes each.
const QUICK: [Method; 3] = [Method::FourCorners, Method::Toms, Method::SyncWrites];
/// What seconds cannot tell, of the drives that it does not take minutes of: fast and large ones write far more in its
/// 20 minutes.
const WHOLE: [Method; 1] = [Method::UsedState];
const MOST_BYTES_WHOLE: u64 = 520_000_000_000;
const ABOUT: &str = "virtual drives of the catalogue, one of each family, in quick reviews, which flatter an SLC cache";

pub(super) fn run(path: &Path, overwrite: bool) -> Result<End, Failure> {
    checked("--reference", path).map_err(Failure::Usage)?;
    Inputs::of([]).may_write(path, Kind::Reference, overwrite).map_err(Failure::Usage)?;
    let interrupt = Interrupt::listen()?;
    let mut targets = usual_drives()?;
    let mut records = reviewed(targets.clone(), &QUICK, true, interrupt.clone())?.records;
    targets.retain(|drive| drive.geometry().bytes() <= MOST_BYTES_WHOLE);
    records.extend(reviewed(targets, &WHOLE, false, interrupt.clone())?.records);
    if interrupt.asked() {
        return Ok(End::Incomplete);
    }
    let references = References::of(&records, ABOUT).of_catalogue(&catalogue_hash());
    save::write_atomically(path, references.to_json()?.as_bytes())
        .with_context(|| format!("{}: cannot write the references", path.display()))?;
    let number = counted(records.len() as u64, "record");
    say(&format!("{number} in {}", path.display()));
    Ok(End::Done)
}

/// The usual drive of each family.
fn usual_drives() -> Result<Vec<Profile>, Failure> {
    let usual = |family: Family| {
        let first = family.drives.first().cloned();
        family.published.usual.or(first)
    };
    let profile = |name: String| catalogue::built_in(&name, &[]);
    let profiles: Result<Vec<_>, _> =
        catalogue::families().into_iter().filter_map(usual).map(profile).collect();
    Ok(profiles?)
}

fn reviewed(
    targets: Vec<Profile>,
    methods: &[Method],
    quick: bool,
    interrupt: Interrupt,
) -> Result<Document, Failure> {
    let campaign = Campaign {
        methods: methods.iter().copied().map(ChosenMethod::from).collect(),
        targets: targets.into_iter().map(|it| DeviceUnderTest::Virtual(Box::new(it))).collect(),
        settings: Settings { quick, ..Settings::default() },
        repeat: 1,
        author: None,
    };
    let nowhere = KeepArgs { db: None, no_db: true, note: None };
    let keeper = Keeper::open(&nowhere).map_err(Failure::Usage)?;
    let sink = TerminalSink { progress: Progress::new(interrupt, false), keeper: &keeper };
    Ok(campaign.carry_out(None, None, &sink)?.document)
}
