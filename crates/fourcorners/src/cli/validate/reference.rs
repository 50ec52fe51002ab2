//! `fourcorners validate --reference`: reviews of the catalogue's usual drives, for the pages of single drives.

use std::path::Path;

use anyhow::Context;
use fourcorners_catalogue::{self as catalogue, Family};
use fourcorners_lab::campaign::{Campaign, ChosenMethod, Settings};
use fourcorners_lab::device_under_test::DeviceUnderTest;
use fourcorners_lab::review::Method;
use fourcorners_lab::validate::catalogue_hash;
use fourcorners_machine::save;
use fourcorners_record::Document;
use fourcorners_report::References;

use super::checked;
use crate::cli::args::KeepArgs;
use crate::cli::interrupt::Interrupt;
use crate::cli::keeper::Keeper;
use crate::cli::outcome::{End, Failure};
use crate::cli::progress::Progress;
use crate::cli::replaced::{Inputs, Kind};
use crate::cli::sink::TerminalSink;
use crate::cli::terminal::say;

/// What a reference is of: the corners and the sweep, seconds instead of minutes each.
const METHODS: [Method; 2] = [Method::FourCorners, Method::Toms];
const ABOUT: &str = "virtual drives of the catalogue, one of each family, in quick reviews, which flatter an SLC cache";

pub(super) fn run(path: &Path, overwrite: bool) -> Result<End, Failure> {
    checked("--reference", path).map_err(Failure::Usage)?;
    Inputs::of([]).may_write(path, Kind::Reference, overwrite).map_err(Failure::Usage)?;
    let interrupt = Interrupt::listen()?;
    let records = reviewed(interrupt.clone())?.records;
    if interrupt.asked() {
        return Ok(End::Incomplete);
    }
    let references = References::of(&records, ABOUT).of_catalogue(&catalogue_hash());
    save::write_atomically(path, references.to_json()?.as_bytes())
        .with_context(|| format!("{}: cannot write the references", path.display()))?;
    say(&format!("{} records in {}", records.len(), path.display()));
    Ok(End::Done)
}

fn reviewed(interrupt: Interrupt) -> Result<Document, Failure> {
    let usual = |family: Family| {
        let first = family.drives.first().cloned();
        family.published.usual.or(first)
    };
    let profile = |name: String| catalogue::built_in(&name, &[]);
    let profiles: Result<Vec<_>, _> =
        catalogue::families().into_iter().filter_map(usual).map(profile).collect();
    let targets = profiles?;
    let campaign = Campaign {
        methods: METHODS.into_iter().map(ChosenMethod::from).collect(),
        targets: targets.into_iter().map(|it| DeviceUnderTest::Virtual(Box::new(it))).collect(),
        settings: Settings { quick: true, ..Settings::default() },
        repeat: 1,
    };
    let nowhere = KeepArgs { db: None, no_db: true };
    let keeper = Keeper::open(&nowhere).map_err(Failure::Usage)?;
    let sink = TerminalSink { progress: Progress::new(interrupt, false), keeper: &keeper };
    Ok(campaign.carry_out(None, None, &sink)?.document)
}
