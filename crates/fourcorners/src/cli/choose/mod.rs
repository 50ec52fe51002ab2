//! `fourcorners choose`: which drive for a work. Everything is checked, then every drive does it, then
//! the ranking is written.

mod args;
mod capacity;
mod prices;
mod ranked;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;
use fourcorners_catalogue as catalogue;
use fourcorners_lab::array::ArrayProfile;
use fourcorners_lab::choose::{Candidate, Jobs, MadeOf, Recording, Request, Work, candidates};
use fourcorners_machine::save;
use fourcorners_report as report;
use fourcorners_trace::{Composition, Options};
use fourcorners_words::size;

use super::interrupt::Interrupt;
use super::outcome::{End, Failure};
use super::replaced::{Inputs, Kind};
use super::terminal::say;
use super::validate::checked;

pub(super) use args::ChooseArgs;
use capacity::Capacity;
pub(super) use ranked::{print, ranked};

/// I/Os of a generated workload or a job file, unless told otherwise: some seconds a drive.
const USUAL_IOS: u64 = 200_000;
/// What stands before the names of works that are no files.
const TASK: &str = "task:";
const GENERATED: &str = "generated:";
/// More a day than any drive moves.
const MOST_GB_PER_DAY: f64 = 1e9;

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
        return Err(format!("--gb-per-day {gb}: give 10^9 bytes a day, a number above 0"));
    }
    if let Some(path) = &args.output {
        checked("--output", path)?;
        let named = args.have.iter().chain(&args.also).map(Path::new);
        let read = named.chain(args.prices.as_deref()).chain([args.work.as_path()]);
        let inputs = Inputs::of(read);
        inputs.may_write(path, Kind::Page, args.overwrite)?;
    }
    Ok(())
}

/// The drives to choose from, the name of the one that the user has, and the prices.
type Drives = (Vec<Candidate>, Option<String>, BTreeMap<String, f64>);

fn drives(args: &ChooseArgs) -> Result<Drives, String> {
    let mut all = candidates();
    let capacity = args.capacity.as_deref().map(|text| capacity_of(text, &all)).transpose()?;
    let have = args.have.as_deref().map(|name| own("--have", name, &mut all)).transpose()?;
    let also = args.also.iter().map(|name| own("--also", name, &mut all));
    let named: Vec<String> = have.iter().cloned().map(Ok).chain(also).collect::<Result<_, _>>()?;
    let names: Vec<&str> = all.iter().map(Candidate::name).collect();
    let prices = args.prices.as_deref().map(|path| prices::read(path, &names)).transpose()?;
    if let Some(capacity) = capacity {
        // What was named stays, whatever its capacity.
        all.retain(|it| {
            named.iter().any(|name| name == it.name()) || capacity.has(it.capacity_bytes())
        });
    }
    Ok((all, have, prices.unwrap_or_default()))
}

/// The range of `--capacity`, in which some of the drives are.
pub(super) fn capacity_of(text: &str, all: &[Candidate]) -> Result<Capacity, String> {
    let capacity = Capacity::parse(text)?;
    let bytes = all.iter().map(Candidate::capacity_bytes);
    if !bytes.clone().any(|bytes| capacity.has(bytes)) {
        let (least, most) = (bytes.clone().min(), bytes.max());
        return Err(format!(
            "--capacity {text}: no drive has that; they have {} to {}",
            size(least.unwrap_or(0)),
            size(most.unwrap_or(0))
        ));
    }
    Ok(capacity)
}

/// The name of what the user has or thinks of: one of `all`, or a profile or several drives as one, which are added.
fn own(option: &str, name: &str, all: &mut Vec<Candidate>) -> Result<String, String> {
    let candidate = if name.ends_with(".toml") {
        let profile = catalogue::from_file(Path::new(name), &[]);
        Candidate::of(profile.map_err(|error| format!("{option}: {error}"))?)
    } else if let Some(array) = ArrayProfile::parse(name, None, &[]) {
        Candidate::of_array(array.map_err(|error| format!("{option}: {error}"))?)
    } else {
        let found = catalogue::built_in(name, &[]).map_err(|error| format!("{option}: {error}"))?;
        // The same as before, or one that nobody sells (`drives/what-if`).
        if all.iter().any(|candidate| candidate.name() == found.name) {
            return Ok(found.name);
        }
        Candidate::of(found)
    };
    let own = candidate.name().to_string();
    match all.iter().find(|known| known.name() == own) {
        None => all.push(candidate),
        // An array that the user has and thinks of, too.
        Some(_) if matches!(candidate.made_of, MadeOf::Array(_)) => {}
        Some(_) => {
            return Err(format!(
                "{option} {name}: there is another drive called {own}: change the name in the file"
            ));
        }
    }
    Ok(own)
}

/// Reads the work; `None` when it was stopped.
fn work(args: &ChooseArgs, interrupt: &Interrupt) -> Result<Option<Work>, String> {
    let path = args.work.as_path();
    let name = path.display().to_string();
    let ios = args.ios.unwrap_or(USUAL_IOS);
    let is_file = !name.starts_with(TASK) && !name.starts_with(GENERATED);
    // It is read once for each drive: a pipe would be empty then, and a device has no end.
    if is_file && path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(format!(
            "{name}: this is not a file: a trace or a job file is one; `fourcorners trace record` \
             records what is done to a device"
        ));
    }
    if path.extension().is_some_and(|extension| extension == "fio") {
        let jobs = Jobs::read(path, ios).map_err(|error| error.to_string())?;
        return Ok(Some(Work::Jobs(jobs)));
    }
    let mut options = Options { seed: args.seed, ..Options::default() };
    match name.strip_prefix(GENERATED) {
        Some(generated) => {
            // Who opens it says that there is none of another name.
            let known = Composition::all().iter().find(|known| known.name == generated);
            options.ios = known.map(|known| known.ios().min(ios));
        }
        None if args.ios.is_some() => {
            return Err(format!(
                "--ios is for generated workloads and job files, and {name} is as long as it is: \
                 leave it out"
            ));
        }
        None => {}
    }
    let read = Recording::read(path, &options, &mut || !interrupt.asked());
    Ok(read.map_err(|error| error.to_string())?.map(|read| Work::Recording(Box::new(read))))
}
