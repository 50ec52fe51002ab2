//! `fourcorners trace replay TRACE all`: on every drive of the catalogue, ranked as `choose` ranks them.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use fourcorners_lab::choose::{
    Candidate, Recording, Replaying, Request, State, Work, WorkError, add_named, candidates,
};
use fourcorners_lab::replay::{Addresses, Before, Pace};
use fourcorners_machine::save;
use fourcorners_record::Choice;
use fourcorners_report as report;
use fourcorners_trace::{self as trace, Options};

use super::args::{ALL, DEPTH, ReplayArgs};
use super::reading::{is_a_file, opened, tell_skipped, why_empty};
use super::replay::{JSON, PAGE, check, keep_others};
use crate::cli::choose::{capacity_of, own, print, ranked};
use crate::cli::interrupt::Interrupt;
use crate::cli::out::make_writable;
use crate::cli::outcome::{End, Failure};
use crate::cli::replaced::Kind;
use crate::cli::terminal::say;

/// What a ranking's progress is called.
const REPLAY: &str = "replay";

pub(super) fn run(args: &ReplayArgs) -> Result<End, Failure> {
    let checked = check(args).map_err(Failure::Usage)?;
    let state = state(args, &checked.states).map_err(Failure::Usage)?;
    let candidates = drives(args).map_err(Failure::Usage)?;
    is_a_file(&args.trace).map_err(Failure::Usage)?;
    let interrupt = Interrupt::listen()?;
    opened(&args.trace, &args.taken, &checked.options)?;
    let read = Recording::read(&args.trace, &checked.options, &mut || !interrupt.asked());
    let read = read.map_err(|error| unreadable(&error, args, &checked.options))?;
    let Some(recording) = read else {
        say("fourcorners: stopped; nothing was replayed");
        return Ok(End::Incomplete);
    };
    tell_skipped(recording.card().skipped);
    if let Some(folder) = &args.output {
        keep_others((folder, &args.trace), Kind::Choice, args.overwrite).map_err(Failure::Usage)?;
        make_writable(folder, "--output").map_err(Failure::Usage)?;
    }
    let replaying = Replaying {
        pace: checked.pace,
        depth: args.depth,
        // What reaches beyond a small drive is shrunk there, and said.
        addresses: Some(checked.addresses).filter(|it| *it != Addresses::AsRecorded),
        host: "0",
    };
    let request = Request {
        work: Work::Recording(Box::new(recording.replayed(replaying))),
        state,
        candidates,
        have: None,
        gb_per_day: None,
        prices: BTreeMap::new(),
    };
    let Some(choice) = ranked(&request, REPLAY, &interrupt)? else {
        return Ok(End::Incomplete);
    };
    print(&choice, args.json, None)?;
    if let Some(folder) = &args.output {
        let json = serde_json::to_string(&choice)?;
        for (name, text) in [(JSON, json), (PAGE, report::choice_page(&choice))] {
            let path = folder.join(name);
            save::write_atomically(&path, text.as_bytes())
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(End::Done)
}

/// Why the trace cannot be replayed. It is read once more where there is nothing in it, for the reason.
fn unreadable(error: &WorkError, args: &ReplayArgs, options: &Options) -> Failure {
    if let WorkError::Empty { name } = error
        && let Ok(mut trace) = trace::open(&args.trace, options)
        && let Ok(Some(_)) = trace::card(&mut trace, &mut || true)
    {
        return Failure::Usage(why_empty(name, &trace, &args.taken));
    }
    Failure::Usage(error.to_string())
}

/// Has drives do a whole recording at its times, new and empty, as `trace replay RECORDING all` does if nothing else is
/// said. `None` when it was stopped.
pub(in crate::cli) fn try_recording(
    path: &Path,
    candidates: Vec<Candidate>,
) -> Result<Option<Choice>, Failure> {
    let interrupt = Interrupt::listen()?;
    let read = Recording::read(path, &Options::default(), &mut || !interrupt.asked());
    let Some(recording) = read.map_err(|error| Failure::Failed(error.into()))? else {
        say("fourcorners: stopped; nothing was replayed");
        return Ok(None);
    };
    let replaying = Replaying { pace: Pace::Recorded, depth: DEPTH, addresses: None, host: "0" };
    let request = Request {
        work: Work::Recording(Box::new(recording.replayed(replaying))),
        state: State::Empty,
        candidates,
        have: None,
        gb_per_day: None,
        prices: BTreeMap::new(),
    };
    ranked(&request, REPLAY, &interrupt)
}

/// Drives by their names, arrays and profiles among them, or all of the catalogue, behind a host that takes no time.
///
/// # Errors
/// When there is none of a name, or `all` is beside others of the catalogue.
pub(in crate::cli) fn candidates_named(names: &[String]) -> Result<Vec<Candidate>, String> {
    let mut all = candidates();
    let of_catalogue = all.len();
    let mut wanted = Vec::new();
    for name in names.iter().filter(|name| *name != ALL) {
        wanted.push(add_named(name, &mut all).map_err(|error| error.to_string())?);
    }
    match names.iter().any(|name| name == ALL) {
        true if all[..of_catalogue]
            .iter()
            .any(|it| wanted.iter().any(|name| name == it.name())) =>
        {
            Err(format!("{ALL} is every drive of the catalogue: leave its others out"))
        }
        true => without_hosts(&all, &[]),
        false => {
            all.retain(|it| wanted.iter().any(|name| name == it.name()));
            without_hosts(&all, &[])
        }
    }
}

/// The one state of all drives, and that nothing is asked that is of named targets.
fn state(args: &ReplayArgs, states: &[Before]) -> Result<State, String> {
    if let Some(other) = args.targets.iter().find(|target| *target != ALL) {
        return Err(format!(
            "all is every drive of the catalogue, and {other} is named beside it: leave one of them out"
        ));
    }
    let on = &args.on;
    for (given, option) in [
        (on.size.is_some(), "--size"),
        (!on.destroy.is_empty(), "--destroy"),
        (!on.force.is_empty(), "--force"),
        (args.keep.db.is_some(), "--db"),
        (on.host.is_some(), "--host"),
    ] {
        if given {
            return Err(format!(
                "{option} is for targets that are named; all are the catalogue's drives, with a [host] of 0, and are \
                 ranked: leave it out"
            ));
        }
    }
    match states {
        [Before::Empty] => Ok(State::Empty),
        [Before::Full] => Ok(State::Full),
        _ => Err(format!(
            "--drive-state {}: a ranking is of drives in one state: give empty or full",
            args.drive_state.as_deref().unwrap_or("both")
        )),
    }
}

/// Every drive of the catalogue, of a capacity if one is given, and what was named beside them, behind a host that takes
/// no time.
fn drives(args: &ReplayArgs) -> Result<Vec<Candidate>, String> {
    let mut all = candidates();
    let capacity = capacity_of(args.capacity.as_deref(), &all)?;
    let also = args.also.iter().map(|name| own("--also", name, &mut all));
    let named: Vec<String> = also.collect::<Result<_, _>>()?;
    if let Some(capacity) = capacity {
        capacity.choose_from(&mut all, &named);
    }
    without_hosts(&all, &args.on.set)
}

/// Drives behind a host that takes no time, and with what is asked for set.
fn without_hosts(all: &[Candidate], set: &[String]) -> Result<Vec<Candidate>, String> {
    let without =
        |it: &Candidate| it.without_host(set).map_err(|error| format!("{}: {error}", it.name()));
    all.iter().map(without).collect()
}
