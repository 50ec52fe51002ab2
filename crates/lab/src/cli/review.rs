//! `fourcorners review`: everything is checked, then measured, then written.

use std::io::{IsTerminal, Write, stdout};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use super::args::ReviewArgs;
use super::interrupt::Interrupt;
use super::progress::{Progress, ReviewProgress};
use super::targets::{self, Planned, Ready};
use super::{End, Failure};
use crate::record::{Document, Ended, Record, TargetKind};
use crate::report;
use crate::review::{Method, Reviewed, Scope, Step, Watch, review};

/// Width of tables where no terminal says its own.
const COLUMNS: u16 = 80;
/// Most of a target that may be left as spare area.
const MOST_SPARE_PERCENT: f64 = 90.0;

pub(super) fn run(args: ReviewArgs) -> Result<End, Failure> {
    let plan = check(&args)?;
    let out = Out::open(&args, &plan).map_err(Failure::Failed)?;
    let plan = plan.create().map_err(Failure::Failed)?;
    let interrupt = Interrupt::listen()?;
    let began = Instant::now();
    let document = measure(plan, &out, &interrupt)?;
    out.save(&document)?;
    print(&args, &document, &out, began)?;
    let whole = document.records.iter().all(|record| record.ended == Ended::Complete);
    Ok(if whole { End::Done } else { End::Incomplete })
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
    fn create(self) -> anyhow::Result<Plan> {
        let targets = self.targets.into_iter().map(Planned::create).collect::<Result<_, _>>()?;
        Ok(Plan { targets, ..self })
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
    let targets = targets::plan(args).map_err(Failure::Usage)?;
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
        let ready = target.open().map_err(Failure::Failed)?;
        let watch = Saving { bar: progress.of(&target.name()), slot, records: &records };
        let record = review_one(&plan, ready, method, watch);
        records.put(slot, record)
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
    let scope = Scope {
        geometry: drive.geometry(),
        spare_percent: plan.spare_percent,
        quick: plan.quick,
        seed: plan.seed,
        lay_out: target.kind == TargetKind::File,
    };
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

    fn put(&self, slot: usize, record: Record) -> Result<(), Failure> {
        self.slots.lock().expect("no holder panics")[slot] = Some(record);
        Ok(())
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
        let saved = self
            .records
            .put(self.slot, so_far.clone())
            .and_then(|()| self.records.out.save_json(&self.records.document()));
        if let Err(Failure::Failed(error)) = saved {
            self.bar.warn(&format!("not saved yet, the measurement goes on: {error:#}"));
        }
    }
}

/// The folder that results go into.
enum Out {
    Folder(PathBuf),
    Nowhere,
}

impl Out {
    /// Makes the folder, so that a place that cannot be written is known before hours of work.
    fn open(args: &ReviewArgs, plan: &Plan) -> anyhow::Result<Out> {
        let folder = match &args.out {
            Some(folder) => folder.clone(),
            None if args.json => return Ok(Out::Nowhere),
            None => default_folder(plan),
        };
        let failed = |error| {
            anyhow::anyhow!("cannot write into {}: {error}; choose another --out", folder.display())
        };
        std::fs::create_dir_all(&folder).map_err(failed)?;
        tempfile::tempfile_in(&folder).map_err(failed)?;
        Ok(Out::Folder(folder))
    }

    fn save_json(&self, document: &Document) -> Result<(), Failure> {
        match self {
            Out::Folder(folder) => {
                write(&folder.join("review.json"), report::to_json(document).as_bytes())
            }
            Out::Nowhere => Ok(()),
        }
    }

    fn save(&self, document: &Document) -> Result<(), Failure> {
        self.save_json(document)?;
        match self {
            Out::Folder(folder) => {
                write(&folder.join("review.html"), report::page(document).as_bytes())
            }
            Out::Nowhere => Ok(()),
        }
    }
}

fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let saved = report::write_atomically(path, content);
    saved.map_err(|error| {
        Failure::Failed(anyhow::anyhow!("cannot write {}: {error}", path.display()))
    })
}

/// A folder of its own for every review: an earlier one of a real drive cannot be had again.
fn default_folder(plan: &Plan) -> PathBuf {
    let time = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
    let first = plan.targets.first().map(Planned::name).unwrap_or_default();
    let name: String = first
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' })
        .collect();
    let name = name.trim_matches(['-', '.']);
    let more = match plan.targets.len() {
        0 | 1 => String::new(),
        count => format!("-and-{}-more", count - 1),
    };
    let base = Path::new("fourcorners-results").join(format!("{time}-{name}{more}"));
    // Two reviews that begin within a second get folders of their own, too.
    (2..)
        .map(|number| PathBuf::from(format!("{}-{number}", base.display())))
        .find(|numbered| !base.exists() || !numbered.exists())
        .filter(|_| base.exists())
        .unwrap_or(base)
}

fn print(args: &ReviewArgs, document: &Document, out: &Out, began: Instant) -> Result<(), Failure> {
    let mut stdout = stdout().lock();
    if args.json {
        writeln!(stdout, "{}", report::to_json(document))?;
    } else {
        let terminal = stdout.is_terminal();
        let columns = if terminal { columns() } else { COLUMNS };
        writeln!(stdout, "{}", report::table(document, usize::from(columns), terminal))?;
    }
    for record in &document.records {
        let name = &record.target.name;
        match &record.ended {
            Ended::Complete => {}
            Ended::Interrupted => eprintln!(
                "fourcorners: {name}: stopped; the {} figures measured before are kept",
                record.figures.len()
            ),
            Ended::Failed(why) => eprintln!(
                "fourcorners: {name}: {why}; the {} figures measured before are kept",
                record.figures.len()
            ),
        }
    }
    if let Out::Folder(folder) = out {
        let page = folder.join("review.html");
        if args.json {
            eprintln!("page: {}", page.display());
        } else {
            writeln!(stdout, "page: {}", page.display())?;
        }
    }
    let measured: f64 = document
        .records
        .iter()
        .flat_map(|record| record.figures.values())
        .map(|f| f.duration_s)
        .sum();
    let took = began.elapsed().as_secs_f64();
    eprintln!("{measured:.0} s of measurements on the drives' clocks in {took:.1} s");
    Ok(())
}

fn columns() -> u16 {
    rustix::termios::tcgetwinsize(std::io::stdout())
        .map(|size| size.ws_col)
        .ok()
        .filter(|&columns| columns > 0)
        .unwrap_or(COLUMNS)
}
