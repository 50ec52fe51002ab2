//! `fourcorners choose`: which drive for a work. Everything is checked, then every drive does it, then
//! the ranking is written.

mod args;
mod prices;
mod ranked;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use fourcorners_lab::choose::{
    Candidate, CandidateError, Capacity, MOST_GB_PER_DAY, Request, Work, WorkError, add_named,
    candidates,
};
use fourcorners_machine::save;
use fourcorners_report as report;

use super::interrupt::Interrupt;
use super::outcome::{End, Failure};
use super::replaced::{Inputs, Kind};
use super::terminal::say;
use super::validate::checked;

pub(super) use args::ChooseArgs;
pub(super) use ranked::{print, ranked};

pub(super) fn run(args: &ChooseArgs) -> Result<End, Failure> {
    let (candidates, have, prices) = drives(args).map_err(Failure::Usage)?;
    check(args).map_err(Failure::Usage)?;
    let interrupt = Interrupt::listen()?;
    let Some(work) = work(args, &interrupt).map_err(Failure::Usage)? else {
        say("fourcorners: stopped; nothing was ranked");
        return Ok(End::Incomplete);
    };
    let request = Request {
        work,
        state: args.state.into(),
        candidates,
        have,
        gb_per_day: args.gb_per_day,
        prices,
    };
    let Some(choice) = ranked(&request, "choose", &interrupt)? else {
        return Ok(End::Incomplete);
    };
    if let Some(path) = &args.output {
        save::write_atomically(path, report::choice_page(&choice).as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    print(&choice, args.json, args.pasted.form())?;
    if let Some(path) = &args.output {
        say(&format!("page: {}", path.display()));
    }
    Ok(End::Done)
}

/// The arguments that are of no drive.
fn check(args: &ChooseArgs) -> Result<(), String> {
    if let Some(gb) = args.gb_per_day.filter(|gb| !(*gb > 0.0 && *gb <= MOST_GB_PER_DAY)) {
        let gb = if gb.abs() < 1e15 { gb.to_string() } else { format!("{gb:e}") };
        let most = fourcorners_words::count(MOST_GB_PER_DAY);
        return Err(format!(
            "--gb-per-day {gb}: give 10^9 bytes a day, a number above 0 and up to {most}"
        ));
    }
    let work = args.work.to_string_lossy();
    let is_drawn = work.starts_with("task:") || work.starts_with("generated:");
    if let Some(seed) = args.seed.filter(|_| !is_drawn) {
        let other = match args.work.extension().is_some_and(|extension| extension == "fio") {
            true => format!("{work} is a job file, which has randseed"),
            false => format!("{work} is as it was recorded"),
        };
        return Err(format!(
            "--seed {seed} is of a generated trace or task; {other}: leave it out"
        ));
    }
    if let Some(path) = &args.output {
        checked("--output", path)?;
        let named = args.have.iter().chain(&args.also).map(Path::new);
        let of_work = fourcorners_trace::files(&args.work);
        let read = named.chain(args.prices.as_deref()).chain(of_work.iter().map(PathBuf::as_path));
        let inputs = Inputs::of(read);
        inputs.may_write(path, Kind::Page, args.overwrite)?;
    }
    Ok(())
}

/// The drives to choose from, the name of the one that the user has, and the prices.
type Drives = (Vec<Candidate>, Option<String>, BTreeMap<String, f64>);

fn drives(args: &ChooseArgs) -> Result<Drives, String> {
    let mut all = candidates();
    let capacity = capacity_of(args.capacity.as_deref(), &all)?;
    let have = args.have.as_deref().map(|name| own("--have", name, &mut all)).transpose()?;
    let also = args.also.iter().map(|name| own("--also", name, &mut all));
    let named: Vec<String> = have.iter().cloned().map(Ok).chain(also).collect::<Result<_, _>>()?;
    let names: Vec<&str> = all.iter().map(Candidate::name).collect();
    let prices = args.prices.as_deref().map(|path| prices::read(path, &names)).transpose()?;
    if let Some(capacity) = capacity {
        capacity.choose_from(&mut all, &named);
    }
    Ok((all, have, prices.unwrap_or_default()))
}

/// The range of `--capacity`, in which some of the drives are.
pub(super) fn capacity_of(
    text: Option<&str>,
    all: &[Candidate],
) -> Result<Option<Capacity>, String> {
    let capacity = text.map(|text| Capacity::of_some(text, all)).transpose();
    capacity.map_err(|error| format!("--capacity {error}"))
}

/// The name of what the user has or thinks of: one of `all`, or a profile or several drives as one, which are added.
pub(super) fn own(option: &str, name: &str, all: &mut Vec<Candidate>) -> Result<String, String> {
    add_named(name, all).map_err(|error| match error {
        error @ CandidateError::Taken { .. } => format!("{option} {error}"),
        error => format!("{option}: {error}"),
    })
}

/// Reads the work; `None` when it was stopped.
fn work(args: &ChooseArgs, interrupt: &Interrupt) -> Result<Option<Work>, String> {
    let read = Work::read(&args.work, args.ios, args.seed.unwrap_or(1), &mut || !interrupt.asked());
    read.map_err(|error| match error {
        error @ WorkError::HasALength { .. } => format!("--{error}"),
        error => error.to_string(),
    })
}
