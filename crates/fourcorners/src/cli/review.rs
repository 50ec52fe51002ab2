//! `fourcorners review`: everything is checked, then measured, then written.

use std::fmt::Display;
use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use fourcorners_lab::review::{MOST_SPARE_PERCENT, Method, PlanFile, Protocol, Scope, plans};
use fourcorners_lab::validate::PublishedFigure;
use fourcorners_linux::device::EraseWith;
use fourcorners_record::{Document, Ended};

use super::args::{ProgressAs, PurgeHow, ReviewArgs};
use super::dry_run;
use super::interrupt::Interrupt;
use super::keeper::{self, Keeper};
use super::out::{self, Out};
use super::planned::Planned;
use super::print;
use super::progress::Progress;
use super::resume::{self, Kept};
use super::session::{self, Keep, Session};
use super::targets;
use super::terminal::say;
use super::{End, Failure};

/// Most times a review is repeated.
const MOST_REPEATS: u32 = 1000;

pub(super) fn run(args: ReviewArgs) -> Result<End, Failure> {
    let plan = check(&args)?;
    if args.dry_run {
        dry_run::print(&Plan { repeat: 1, ..plan }.sessions()?, args.repeat)?;
        return Ok(End::Done);
    }
    // Before anything is created: what cannot go on is refused.
    let resumed = match &args.resume {
        Some(folder) => Some(Kept::open(folder, &plan.sessions()?).map_err(Failure::Usage)?),
        None => None,
    };
    keep_results(&args, &plan.targets).map_err(Failure::Usage)?;
    // From here on an interrupt is ours, so that nothing is left half made.
    let interrupt = Interrupt::listen()?;
    let out = Out::open(&args, &plan.targets).map_err(Failure::Usage)?;
    let keeper = Keeper::open(&args.keep).map_err(|why| {
        out.undo();
        Failure::Usage(why)
    })?;
    let began = Instant::now();
    let reviews = plan.targets.len() * plan.methods.len() * plan.repeat as usize;
    let mut created = Created::default();
    let measured = plan.create(&mut created).and_then(|plan| {
        let sessions = plan.sessions()?;
        let (kept, begun) = match (resumed, out.folder()) {
            (Some((kept, begun)), _) => (Some(kept), begun),
            (None, Some(folder)) => (Some(Kept::begin(folder, &sessions)?), Vec::new()),
            (None, None) => (None, Vec::new()),
        };
        let progress = match args.progress {
            ProgressAs::Bars => Progress::new(interrupt.clone(), args.quiet),
            ProgressAs::Json => Progress::told(interrupt.clone()),
        };
        let keep = Keep { out: &out, kept: kept.as_ref(), keeper: &keeper };
        match session::measure(&sessions, keep, begun, progress) {
            Ok(document) => Ok((document, kept)),
            Err(failure) => {
                if let Some(kept) = kept.filter(|_| args.resume.is_none()) {
                    kept.remove();
                }
                Err(failure)
            }
        }
    });
    let (document, kept) = match measured {
        Ok(measured) => measured,
        Err(failure) => {
            created.remove();
            out.undo();
            return Err(failure);
        }
    };
    let whole = document.records.len() == reviews
        && document.records.iter().all(|record| record.ended == Ended::Complete);
    // What was measured is shown even if it cannot be saved: there may be no second chance.
    let figures = out.save_json(&document);
    if let (Some(kept), true) = (&kept, whole && figures.is_ok()) {
        kept.remove();
    }
    let saved = figures.and_then(|()| out.save_page(&document));
    let page = out.page().filter(|_| saved.is_ok());
    if !args.quiet || args.json {
        print(&args, &document, page.as_deref())?;
    }
    account(&document, reviews, began, args.quiet);
    if let (Some(folder), false) = (out.folder(), whole) {
        let folder = folder.display();
        say(&format!("to continue: the same command with --resume {folder} (and without --out)"));
    }
    saved.map_err(Failure::Failed)?;
    Ok(if whole { End::Done } else { End::Incomplete })
}

/// Refuses targets that are what this review writes its results to, or reads.
fn keep_results(args: &ReviewArgs, targets: &[Planned]) -> Result<(), String> {
    let place = |path: PathBuf| path.canonicalize().unwrap_or(path);
    let out = args.resume.as_ref().or(args.out.as_ref()).map(|folder| place(folder.clone()));
    let database = (!args.keep.no_db).then(|| keeper::path(args.keep.db.as_ref())).flatten();
    let beside = |path: PathBuf| {
        // SQLite keeps these beside a database.
        ["", "-wal", "-shm", "-journal"]
            .map(|end| PathBuf::from(format!("{}{end}", path.display())))
    };
    let results = out.iter().flat_map(|out| out::FILES.map(|name| out.join(name)));
    let database = database.into_iter().flat_map(|path| beside(place(path)));
    let read = args.state.iter().cloned().chain(args.methods.iter().map(PathBuf::from)).map(place);
    let kept: Vec<PathBuf> = results.chain(database).chain(read).collect();
    for target in targets {
        let Some(path) = target.place() else { continue };
        let resumed = out.as_ref().is_some_and(|out| path.starts_with(out.join(resume::FOLDER)));
        if resumed || kept.contains(&path) {
            return Err(format!(
                "{} is what this review reads, or writes its results to: name another target, or \
                 another --out or --db",
                target.name()
            ));
        }
    }
    Ok(())
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

/// What a target is to be reviewed by.
#[derive(Clone, Debug, PartialEq)]
enum By {
    /// The same on every target.
    Protocol(Protocol),
    /// The test of a published figure, which each drive has in its own form.
    Figure(Box<PublishedFigure>),
}

impl By {
    fn name(&self) -> &str {
        match self {
            By::Protocol(protocol) => protocol.name(),
            By::Figure(figure) => figure.id(),
        }
    }

    fn depth(&self) -> u32 {
        match self {
            By::Protocol(protocol) => protocol.depth(),
            By::Figure(_) => 0,
        }
    }

    /// On this target.
    fn on(&self, target: &Planned) -> Result<Protocol, String> {
        match (self, target) {
            (By::Protocol(protocol), _) => Ok(protocol.clone()),
            (By::Figure(figure), Planned::Virtual(profile)) => {
                Ok(Protocol::Published(Arc::new(figure.on(profile)?)))
            }
            (By::Figure(figure), _) => Err(format!(
                "{} is the test of a published figure, which begins with a new drive of a known kind: it is \
                 run on virtual drives",
                figure.id()
            )),
        }
    }
}

/// A review that may begin.
struct Plan {
    methods: Vec<By>,
    targets: Vec<Planned>,
    quick: bool,
    spare_percent: f64,
    seed: u64,
    /// Of each trace of the storage bench.
    most_ios: Option<u64>,
    /// How many times, each with the next seed.
    repeat: u32,
    erase: Option<EraseWith>,
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

    /// What is to be done to each target, all repeats of one before the next; refused where a plan
    /// file does not fit one.
    fn sessions(&self) -> Result<Vec<Session>, Failure> {
        let depth = self.methods.iter().map(By::depth).max().unwrap_or(0);
        let session = |target: &Planned, seed: u64| {
            let scope = Scope {
                geometry: target.reviewed_geometry(depth),
                spare_percent: self.spare_percent,
                quick: self.quick,
                seed,
                medium: target.medium(),
                most_ios: self.most_ios,
            };
            let refused = |why: &dyn Display| Failure::Usage(format!("{}: {why}", target.name()));
            let methods = self.methods.iter().map(|method| method.on(target));
            let methods: Vec<Protocol> =
                methods.collect::<Result<_, _>>().map_err(|why| refused(&why))?;
            let plans = plans(&methods, &scope).map_err(|error| refused(&error))?;
            Ok(Session {
                target: target.clone(),
                plans: methods.into_iter().zip(plans).collect(),
                quick: self.quick,
                seed,
                erase: self
                    .erase
                    .map(|with| target.erase(with))
                    .transpose()
                    .map_err(Failure::Usage)?,
            })
        };
        let seeds = self.seed..=self.seed + u64::from(self.repeat - 1);
        self.targets
            .iter()
            .flat_map(|target| seeds.clone().map(move |seed| session(target, seed)))
            .collect()
    }
}

/// Checks everything there is to check; nothing was written yet.
fn check(args: &ReviewArgs) -> Result<Plan, Failure> {
    let ours = |methods: Vec<Method>| methods.into_iter().map(Protocol::from).map(By::Protocol);
    let methods = match (&args.methods[..], args.quick) {
        ([], false) => ours(Method::default_set()).collect(),
        ([], true) => ours(Method::QUICK.to_vec()).collect(),
        (names, _) => methods(names).map_err(Failure::Usage)?,
    };
    if !(0.0..=MOST_SPARE_PERCENT).contains(&args.spare) {
        return Err(Failure::Usage(format!(
            "--spare {}: give a percentage from 0 to {MOST_SPARE_PERCENT}",
            args.spare
        )));
    }
    let repeat = args.repeat;
    if !(1..=MOST_REPEATS).contains(&repeat) {
        return Err(Failure::Usage(format!(
            "--repeat {repeat}: give a number from 1 to {MOST_REPEATS}"
        )));
    }
    if args.seed.checked_add(u64::from(repeat - 1)).is_none() {
        return Err(Failure::Usage(format!(
            "--seed {} --repeat {repeat}: there is no seed beyond {}; choose a smaller one",
            args.seed,
            u64::MAX
        )));
    }
    let targets = targets::plan(args).map_err(Failure::Usage)?;
    let (quick, spare_percent, seed) = (args.quick, args.spare, args.seed);
    let erase = match args.purge {
        PurgeHow::Discard => None,
        PurgeHow::NvmeFormat => Some(EraseWith::NvmeFormat),
        PurgeHow::AtaSecureErase => Some(EraseWith::AtaSecureErase),
    };
    let most_ios = args.ios;
    let plan = Plan { methods, targets, quick, spare_percent, seed, most_ios, repeat, erase };
    plan.sessions()?;
    Ok(plan)
}

/// The methods of a list of names, plan files and ids of published figures; `all` is all of ours.
fn methods(names: &[String]) -> Result<Vec<By>, String> {
    let mut methods: Vec<By> = Vec::new();
    for name in names {
        let ours = |method: Method| By::Protocol(method.into());
        let named = match name.trim() {
            "all" => Method::ALL.map(ours).to_vec(),
            file if file.contains('/') || file.ends_with(".toml") => {
                let plan = PlanFile::read(Path::new(file)).map_err(|error| error.to_string())?;
                vec![By::Protocol(Protocol::Plan(Arc::new(plan)))]
            }
            name => match PublishedFigure::named(name) {
                Some(figure) => vec![By::Figure(Box::new(figure))],
                None => vec![name.parse::<Method>().map(ours).map_err(|why| {
                    format!("{why}; or a plan file, or a figure of docs/FIDELITY.md (m028)")
                })?],
            },
        };
        for method in named {
            match methods.iter().find(|other| other.name() == method.name()) {
                None => methods.push(method),
                // The same again is the same; another of that name could not be told from it.
                Some(other) if *other == method => {}
                Some(_) => {
                    let name = method.name();
                    return Err(format!(
                        "two plan files are called {name:?}: change the name in one of them"
                    ));
                }
            }
        }
    }
    Ok(methods)
}

/// Prints the figures. A reader that closed the pipe has seen enough.
fn print(args: &ReviewArgs, document: &Document, page: Option<&Path>) -> anyhow::Result<()> {
    let text = print::text_of(document, args.json);
    let mut stdout = stdout().lock();
    let mut printed = writeln!(stdout, "{text}");
    match page.map(|page| format!("page: {}", page.display())) {
        Some(_) if args.quiet => {}
        Some(line) if args.json => say(&line),
        Some(line) => printed = printed.and_then(|()| writeln!(stdout, "{line}")),
        None => {}
    }
    print::done(printed)
}

/// Says what is missing, and how long it took.
fn account(document: &Document, reviews: usize, began: Instant, quiet: bool) {
    for record in &document.records {
        let why = match &record.ended {
            Ended::Complete => continue,
            Ended::Interrupted => "stopped",
            Ended::Failed(why) => why,
        };
        let (name, count) = (&record.target.name, record.figure_count());
        say(&format!("fourcorners: {name}: {why}; the {count} figures measured before are kept"));
    }
    match reviews - document.records.len() {
        0 => {}
        missing => {
            say(&format!("fourcorners: stopped; {missing} of {reviews} reviews were not started"))
        }
    }
    if quiet {
        return;
    }
    let figures = document.records.iter().flat_map(|record| record.figures.values());
    let replays = document.records.iter().flat_map(|record| record.replays.values());
    let replayed = replays.flat_map(|replay| replay.figures.values());
    // Nothing adds up to -0.
    let measured = 0.0
        + figures.map(|figure| figure.duration_s).sum::<f64>()
        + replayed.map(|figure| figure.elapsed_s).sum::<f64>();
    let took = began.elapsed().as_secs_f64();
    say(&format!("{measured:.0} s of measurements on the drives' clocks in {took:.1} s"));
}
