//! `fourcorners trace replay`: everything is checked, then replayed, then written.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use anyhow::Context;
use fourcorners_drive::Nanos;
use fourcorners_lab::device_under_test::{DeviceError, DeviceUnderTest};
use fourcorners_lab::replay::{Addresses, Before, MOST_DEPTH, MOST_IDLE_MS, Pace, Plan, replay};
use fourcorners_lab::review::Watch;
use fourcorners_linux::Setup;
use fourcorners_machine::{save, workers};
use fourcorners_record::{Document, Ended, Record, to_json};
use fourcorners_report as report;
use fourcorners_run::Observer;
use fourcorners_trace as trace;

use super::args::{ALL, IDLE_CAP_MS, ReplayArgs};
use super::reading::{is_a_file, opened, options, short, tell_skipped, why_empty};
use super::replay_all;
use crate::cli::interrupt::Interrupt;
use crate::cli::keeper::Keeper;
use crate::cli::out::make_writable;
use crate::cli::outcome::{End, Failure};
use crate::cli::print;
use crate::cli::progress::{Progress, ReviewProgress};
use crate::cli::replaced::{Inputs, Kind};
use crate::cli::targets::{self, Asked};
use crate::cli::terminal::say;

/// Most memory for the buffers of a real target.
const MOST_BUFFER_BYTES: u64 = 1 << 30;
/// Bytes of an I/O of the fill.
const FILL_BYTES: u32 = 131_072;
/// The document in the folder of --output, and its page.
pub(super) const JSON: &str = "replay.json";
pub(super) const PAGE: &str = "replay.html";

pub(super) fn run(args: &ReplayArgs) -> Result<End, Failure> {
    if args.targets.iter().any(|target| target == ALL) {
        return replay_all::run(args);
    }
    if args.capacity.is_some() {
        let why = "--capacity is for all, every drive of the catalogue: name all as the target, or leave it out";
        return Err(Failure::Usage(why.into()));
    }
    if !args.also.is_empty() {
        let why = "--also is for all, every drive of the catalogue: name all as the target, or this as one more target";
        return Err(Failure::Usage(why.into()));
    }
    let checked = check(args).map_err(Failure::Usage)?;
    is_a_file(&args.trace).map_err(Failure::Usage)?;
    let interrupt = Interrupt::listen()?;
    let mut trace = opened(&args.trace, &args.taken, &checked.options)?;
    let Some(card) = trace::card(&mut trace, &mut || !interrupt.asked())? else {
        say("fourcorners: stopped; nothing was replayed");
        return Ok(End::Incomplete);
    };
    if card.ios == 0 {
        return Err(Failure::Usage(why_empty(&card.trace, &trace, &args.taken)));
    }
    tell_skipped(card.skipped);
    let Checked { options, pace, addresses, states } = checked;
    let trace = args.trace.clone();
    let plan = Plan { trace, options, card, pace, depth: args.depth, addresses, states };
    let planned = plan_targets(args, &plan).map_err(Failure::Usage)?;
    if let Some(folder) = &args.output {
        keep_others((folder, &args.trace), Kind::Json, args.overwrite).map_err(Failure::Usage)?;
        make_writable(folder, "--output").map_err(Failure::Usage)?;
    }
    let keeper = Keeper::open(&args.keep).map_err(Failure::Usage)?;
    let began = Instant::now();
    let mut created = Vec::new();
    let document = match replay_on_each(&plan, planned, (&interrupt, &keeper), &mut created) {
        Ok(document) => document,
        Err(failure) => {
            for path in created {
                // Ours, and of no use: nothing was replayed on it.
                let _ = std::fs::remove_file(path);
            }
            return Err(failure);
        }
    };
    print::document(&document, args.json, None)?;
    say(&format!("replayed in {:.1} s", began.elapsed().as_secs_f64()));
    if let Some(folder) = &args.output {
        for (name, text) in [(JSON, to_json(&document)), (PAGE, report::page(&document))] {
            let path = folder.join(name);
            save::write_atomically(&path, text.as_bytes())
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    let whole = document.records.len() == args.targets.len()
        && document.records.iter().all(|record| record.ended == Ended::Complete);
    Ok(if whole { End::Done } else { End::Incomplete })
}

/// Refuses to replace a document or a page that fourcorners did not write, and the trace.
pub(super) fn keep_others(
    (folder, trace): (&Path, &Path),
    document: Kind,
    overwrite: bool,
) -> Result<(), String> {
    let files = [(JSON, document), (PAGE, Kind::Page)];
    Inputs::of_trace(trace).may_write_into(folder, files, overwrite)
}

/// The arguments that need nothing to be opened.
pub(super) struct Checked {
    pub(super) options: trace::Options,
    pub(super) pace: Pace,
    pub(super) addresses: Addresses,
    pub(super) states: Vec<Before>,
}

pub(super) fn check(args: &ReplayArgs) -> Result<Checked, String> {
    let all = args.targets.iter().any(|target| target == ALL);
    let idle_cap = args.idle_cap.unwrap_or(IDLE_CAP_MS);
    if !(0.0..=MOST_IDLE_MS).contains(&idle_cap) {
        let cap = short(idle_cap);
        return Err(format!("--idle-cap {cap}: give milliseconds from 0 to {MOST_IDLE_MS}"));
    }
    if !(1..=MOST_DEPTH).contains(&args.depth) {
        return Err(format!("--depth {}: give a number from 1 to {MOST_DEPTH}", args.depth));
    }
    let pace = match args.pace.as_deref().unwrap_or(if all { "recorded" } else { "think" }) {
        "think" => Pace::Think { cap: Nanos::from_micros(idle_cap * 1e3) },
        "recorded" => Pace::Recorded,
        "fast" => Pace::Fast,
        other => return Err(format!("--pace {other}: there are think, recorded and fast")),
    };
    if args.idle_cap.is_some() && !matches!(pace, Pace::Think { .. }) {
        return Err("--idle-cap is for --pace think: leave it out".into());
    }
    if args.taken.time_scale != 1.0 && pace == Pace::Fast {
        let why = "--time-scale is of the times of the trace, which --pace fast leaves out: leave out one of them";
        return Err(why.into());
    }
    let states = match args.drive_state.as_deref().unwrap_or(if all { "empty" } else { "both" }) {
        "empty" => vec![Before::Empty],
        "full" => vec![Before::Full],
        "both" => vec![Before::Empty, Before::Full],
        "twice" => vec![Before::Empty, Before::Again],
        "as-found" => vec![Before::AsFound],
        other => {
            return Err(format!(
                "--drive-state {other}: there are empty, full, both, twice and as-found"
            ));
        }
    };
    let addresses = match (args.rescale_address, args.wrap_address) {
        (true, _) => Addresses::Rescaled,
        (_, true) => Addresses::Wrapped,
        _ if args.taken.address_scale.is_some() => Addresses::Scaled,
        _ => Addresses::AsRecorded,
    };
    Ok(Checked { options: options(&args.taken)?, pace, addresses, states })
}

fn plan_targets(args: &ReplayArgs, plan: &Plan) -> Result<Vec<DeviceUnderTest>, String> {
    let planned = targets::plan_asked(&Asked {
        targets: &args.targets,
        on: &args.on,
        writes: plan.writes(),
    })?;
    let inputs = Inputs::of_trace(&args.trace);
    for target in &planned {
        let place = target.place().filter(|_| plan.writes());
        if let Some(input) = place.as_deref().and_then(|place| inputs.same_as(place)) {
            return Err(format!(
                "{}: this would be written over while the trace is read from {}: name another target",
                target.name(),
                input.display()
            ));
        }
        let why = plan.refuses_trims(target.takes_trim());
        if let Some(why) = why.or_else(|| plan.refuses(target.geometry())) {
            return Err(format!("{}: {why}", target.name()));
        }
        if target.is_real() && buffer_bytes(plan) > MOST_BUFFER_BYTES {
            return Err(format!(
                "{}: --depth {} of I/Os of up to {} bytes is more than {MOST_BUFFER_BYTES} bytes \
                 of buffers: choose a smaller --depth",
                target.name(),
                plan.depth,
                plan.card.largest_bytes
            ));
        }
    }
    Ok(planned)
}

/// Bytes of the buffers on a real target; an I/O may be widened to a block of 4 KiB on each side.
fn buffer_bytes(plan: &Plan) -> u64 {
    u64::from(plan.depth) * (plan.card.largest_bytes + 8192)
}

/// Replays on all targets, virtual ones side by side, real ones after that and one at a time.
fn replay_on_each(
    plan: &Plan,
    planned: Vec<DeviceUnderTest>,
    (interrupt, keeper): (&Interrupt, &Keeper),
    created: &mut Vec<PathBuf>,
) -> Result<Document, Failure> {
    let mut targets = Vec::new();
    for target in planned {
        let path = target.to_create().map(Path::to_path_buf);
        targets.push(target.create().map_err(usage)?);
        created.extend(path);
    }
    let progress = Progress::new(interrupt.clone(), false);
    let records: Mutex<Vec<Option<Record>>> = Mutex::new(vec![None; targets.len()]);
    let one = |slot: usize| -> Result<(), Failure> {
        if interrupt.asked() {
            return Ok(());
        }
        let target = &targets[slot];
        let block = u32::try_from((plan.card.largest_bytes + 8191) / 4096 * 4096).ok();
        // Virtual drives take any I/O; what a real one is given was checked.
        let max_block_bytes = block.unwrap_or(u32::MAX).max(FILL_BYTES);
        let setup = Setup { queue_depth: plan.depth, max_block_bytes };
        let ready = target.open_for(setup).map_err(usage)?;
        // A file is filled before any replay but one on it as it is.
        let mut ready = match plan.states.contains(&Before::AsFound) {
            true => ready,
            false => ready.laid_out(),
        };
        let mut watch = Seen(progress.of(&target.name()));
        let record = replay(plan, &mut ready.drive, (ready.target, ready.host), &mut watch);
        keeper.add(&record);
        records.lock().expect("no holder panics")[slot] = Some(record);
        Ok(())
    };
    let (real, virtual_work): (Vec<usize>, Vec<usize>) =
        (0..targets.len()).partition(|&slot| targets[slot].is_real());
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    workers::each(&virtual_work, cpus, |&slot| one(slot))?;
    let failed = real.into_iter().try_for_each(one);
    let records = records.into_inner().expect("no holder panics");
    match failed {
        // What others have measured is not to be lost for one that could not be opened.
        Err(Failure::Usage(why)) if records.iter().any(Option::is_some) => {
            say(&format!("fourcorners: {why}"));
        }
        other => other?,
    }
    Ok(Document::new(records.into_iter().flatten().collect()))
}

/// A target that is not ready is a matter of what was typed.
fn usage(error: DeviceError) -> Failure {
    Failure::Usage(error.to_string())
}

/// Shows progress and passes a Ctrl-C on.
struct Seen(ReviewProgress);

impl Observer for Seen {
    fn go_on(&mut self, part_done: f64) -> bool {
        Watch::go_on(&mut self.0, part_done)
    }
}
