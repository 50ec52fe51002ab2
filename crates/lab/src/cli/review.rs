//! `fourcorners review`: everything is checked, then measured, then written.

use std::io::{ErrorKind, IsTerminal, Write, stdout};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use anyhow::Context;
use fourcorners_drive::Geometry;

use super::args::ReviewArgs;
use super::interrupt::Interrupt;
use super::out::Out;
use super::progress::{Progress, ReviewProgress};
use super::targets::{self, Planned, Ready};
use super::terminal::{columns, say};
use super::{End, Failure};
use crate::host;
use crate::record::{Document, Ended, Record, TargetKind};
use crate::report;
use crate::review::{Method, Reviewed, Scope, Step, Watch, not_begun, review};

/// Most of a target that may be left as spare area.
const MOST_SPARE_PERCENT: f64 = 90.0;

pub(super) fn run(args: ReviewArgs) -> Result<End, Failure> {
    let plan = check(&args)?;
    // From here on an interrupt is ours, so that nothing is left half made.
    let interrupt = Interrupt::listen()?;
    let out = Out::open(&args, &plan.targets).map_err(Failure::Usage)?;
    let began = Instant::now();
    let reviews = plan.targets.len() * plan.methods.len();
    let mut created = Created::default();
    let measured = plan.create(&mut created).and_then(|plan| measure(plan, &out, &interrupt));
    let document = match measured {
        Ok(document) => document,
        Err(failure) => {
            created.remove();
            out.undo();
            return Err(failure);
        }
    };
    // What was measured is shown even if it cannot be saved: there may be no second chance.
    let saved = out.save(&document);
    let page = out.page().filter(|_| saved.is_ok());
    print(&args, &document, page.as_deref())?;
    account(&document, reviews, began);
    saved.map_err(Failure::Failed)?;
    let whole = document.records.len() == reviews
        && document.records.iter().all(|record| record.ended == Ended::Complete);
    Ok(if whole { End::Done } else { End::Incomplete })
}

/// The files this review has created, to be removed if nothing comes of it.
#[derive(Default)]
struct Created(Vec<PathBuf>);

impl Created {
    fn remove(self) {
        for path in self.0 {
            // Ours, and of no use to anybody. Why the review failed is worth more than that it
            // could not be removed.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A review that may begin.
struct Plan {
    methods: Vec<Method>,
    targets: Vec<Planned>,
    quick: bool,
    spare_percent: f64,
    seed: u64,
}

impl Plan {
    /// Creates the files that are to be created, now that nothing is refused.
    fn create(self, created: &mut Created) -> Result<Plan, Failure> {
        let mut targets = Vec::new();
        for target in self.targets {
            let path = target.to_create().map(Path::to_path_buf);
            targets.push(target.create().map_err(Failure::Usage)?);
            created.0.extend(path);
        }
        Ok(Plan { targets, ..self })
    }

    fn scope(&self, geometry: Geometry, kind: TargetKind) -> Scope {
        Scope {
            geometry,
            spare_percent: self.spare_percent,
            quick: self.quick,
            seed: self.seed,
            lay_out: kind == TargetKind::File,
        }
    }
}

/// Checks everything there is to check; nothing was written yet.
fn check(args: &ReviewArgs) -> Result<Plan, Failure> {
    let methods = methods(&args.methods).map_err(Failure::Usage)?;
    if !(0.0..=MOST_SPARE_PERCENT).contains(&args.spare) {
        return Err(Failure::Usage(format!(
            "--spare {}: give a percentage from 0 to {MOST_SPARE_PERCENT}",
            args.spare
        )));
    }
    let targets = targets::plan(args, methods.len()).map_err(Failure::Usage)?;
    let (quick, spare_percent, seed) = (args.quick, args.spare, args.seed);
    Ok(Plan { methods, targets, quick, spare_percent, seed })
}

/// The methods of a list of names; `all` is all of them.
fn methods(names: &[String]) -> Result<Vec<Method>, String> {
    let mut methods = Vec::new();
    for name in names {
        let named = match name.trim() {
            "all" => Method::ALL.to_vec(),
            name => vec![name.parse()?],
        };
        methods.extend(
            named.into_iter().filter(|method| !methods.contains(method)).collect::<Vec<_>>(),
        );
    }
    Ok(methods)
}

/// Measures every target with every method. Virtual drives run side by side, as many as there are
/// CPUs; real ones after that and one at a time, since they would disturb each other.
fn measure(plan: Plan, out: &Out, interrupt: &Interrupt) -> Result<Document, Failure> {
    let progress = Progress::new(interrupt.clone());
    let records = Records::new(plan.targets.len() * plan.methods.len(), out);
    let work: Vec<(usize, Planned, Method)> = plan
        .targets
        .iter()
        .flat_map(|target| plan.methods.iter().map(move |&method| (target.clone(), method)))
        .enumerate()
        .map(|(slot, (target, method))| (slot, target, method))
        .collect();
    let (real, mut virtual_work): (Vec<_>, Vec<_>) =
        work.into_iter().partition(|(_, target, _)| target.is_real());
    virtual_work.reverse();
    let virtual_work = Mutex::new(virtual_work);
    let one = |(slot, target, method): (usize, Planned, Method)| -> Result<(), Failure> {
        if interrupt.asked() {
            return Ok(());
        }
        let record = match target.open() {
            Ok(ready) => {
                let watch = Saving { bar: progress.of(&target.name()), slot, records: &records };
                review_one(&plan, ready, method, watch)
            }
            // Free when it was checked and taken since; the others are not to be lost for that.
            Err(why) => match target.unopened().filter(|_| !records.is_empty()) {
                Some((geometry, target)) => {
                    let scope = plan.scope(geometry, target.kind);
                    let host = Some(host::describe());
                    not_begun(Reviewed { method, scope, target, host }, why)
                }
                None => return Err(Failure::Usage(why)),
            },
        };
        records.put(slot, record);
        Ok(())
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let worker = || -> Result<(), Failure> {
            loop {
                let next = virtual_work.lock().expect("no worker panics with the list").pop();
                match next {
                    Some(work) => one(work)?,
                    None => return Ok(()),
                }
            }
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker panicked"))
    })?;
    real.into_iter().try_for_each(one)?;
    Ok(records.document())
}

fn review_one(plan: &Plan, ready: Ready, method: Method, mut watch: Saving<'_>) -> Record {
    let Ready { mut drive, target, host } = ready;
    let scope = plan.scope(drive.geometry(), target.kind);
    review(Reviewed { method, scope, target, host }, &mut drive, &mut watch)
}

/// The records of a run, each in its place whatever the order they are finished in.
struct Records<'a> {
    slots: Mutex<Vec<Option<Record>>>,
    out: &'a Out,
}

impl Records<'_> {
    fn new(count: usize, out: &Out) -> Records<'_> {
        Records { slots: Mutex::new(vec![None; count]), out }
    }

    fn put(&self, slot: usize, record: Record) {
        self.slots.lock().expect("no holder panics")[slot] = Some(record);
    }

    fn is_empty(&self) -> bool {
        self.slots.lock().expect("no holder panics").iter().all(Option::is_none)
    }

    fn document(&self) -> Document {
        let slots = self.slots.lock().expect("no holder panics");
        Document::new(slots.iter().flatten().cloned().collect())
    }
}

/// Shows progress, and saves after each figure of a real drive: the next one may fail, and
/// measuring again costs hours there.
struct Saving<'a> {
    bar: ReviewProgress,
    slot: usize,
    records: &'a Records<'a>,
}

impl Watch for Saving<'_> {
    fn step(&mut self, step: &Step<'_>) {
        self.bar.step(step);
    }

    fn go_on(&mut self, part_done: f64) -> bool {
        self.bar.go_on(part_done)
    }

    fn measured(&mut self, so_far: &Record) {
        if so_far.host.is_none() {
            return;
        }
        self.records.put(self.slot, so_far.clone());
        if let Err(error) = self.records.out.save_json(&self.records.document()) {
            self.bar.warn(&format!("not saved yet, the measurement goes on: {error:#}"));
        }
    }
}

/// Prints the figures. A reader that closed the pipe has seen enough.
fn print(args: &ReviewArgs, document: &Document, page: Option<&Path>) -> anyhow::Result<()> {
    let mut stdout = stdout().lock();
    let terminal = stdout.is_terminal();
    let text = match args.json {
        true => report::to_json(document),
        false => report::table(document, usize::from(columns()), terminal),
    };
    let mut printed = writeln!(stdout, "{text}");
    match page.map(|page| format!("page: {}", page.display())) {
        Some(line) if args.json => say(&line),
        Some(line) => printed = printed.and_then(|()| writeln!(stdout, "{line}")),
        None => {}
    }
    match printed {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("cannot print the result")
        }
        _ => Ok(()),
    }
}

/// Says what is missing, and how long it took.
fn account(document: &Document, reviews: usize, began: Instant) {
    for record in &document.records {
        let why = match &record.ended {
            Ended::Complete => continue,
            Ended::Interrupted => "stopped",
            Ended::Failed(why) => why,
        };
        let (name, count) = (&record.target.name, record.figures.len());
        say(&format!("fourcorners: {name}: {why}; the {count} figures measured before are kept"));
    }
    match reviews - document.records.len() {
        0 => {}
        missing => say(&format!("fourcorners: stopped; {missing} of {reviews} were not begun")),
    }
    let figures = document.records.iter().flat_map(|record| record.figures.values());
    let measured: f64 = figures.map(|figure| figure.duration_s).sum();
    let took = began.elapsed().as_secs_f64();
    say(&format!("{measured:.0} s of measurements on the drives' clocks in {took:.1} s"));
}
