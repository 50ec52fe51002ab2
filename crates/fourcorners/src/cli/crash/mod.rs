//! `fourcorners crash`: the power of a virtual drive is cut in a recording, many times.

mod args;
mod report;

use std::fs::File;
use std::io::{Read, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;
use fourcorners_catalogue::Model;
use fourcorners_drive::Nanos;
use fourcorners_machine::host;
use fourcorners_serve::DataLog;
use fourcorners_serve::contents::Memory;
use fourcorners_serve::crash::{Class, Flushes, History, Images, Persisting};
use fourcorners_trace::{self as trace, TraceIo};
use fourcorners_words::{counted, shell_word};

use super::interrupt::Interrupt;
use super::outcome::{End, Failure};
use super::served::{self, ServedDrive};
use super::terminal::columns;
pub(in crate::cli) use args::CrashArgs;
use args::{MOST_CUTS, When};
use report::{Check, Crash, CutReport, SCHEMA};

/// Cuts if nothing is said.
const CUTS: u64 = 100;

/// Of the memory that is available, images may take so much.
const MEMORY_PERCENT: u64 = 60;

/// I/Os of a recording, at most: they are held in memory.
const MOST_IOS: usize = 50_000_000;

pub(super) fn run(args: &CrashArgs) -> Result<End, Failure> {
    let usage = |error: &dyn std::fmt::Display| Failure::Usage(error.to_string());
    if args.check.as_ref().is_some_and(|check| !check.contains("{}")) {
        return Err(Failure::Usage(
            "--check has no {}: write it where the image's path goes".into(),
        ));
    }
    let ServedDrive { as_sold, bare } = ServedDrive::find(&args.drive, &args.set)?;
    let Model::Ssd(model) = &bare.model else {
        return Err(Failure::Usage(format!(
            "{} is a hard disk: what its cache has written when is not modelled for power cuts; name an SSD",
            bare.name
        )));
    };
    let ssd = served::ssd(model, &as_sold, args.state.as_deref())?;
    let log = args.data.as_deref().map(DataLog::open).transpose().map_err(|error| usage(&error))?;
    let ios = recorded(&args.recording)?;
    let classes = match args.fault.is_empty() {
        true => vec![Class::Honest, Class::Legal, Class::LostFlush],
        false => {
            let mut classes = args.fault.clone();
            classes.sort_unstable();
            classes.dedup();
            classes
        }
    };
    let mut histories = Vec::new();
    for flushes in [Flushes::Kept, Flushes::Ignored] {
        if classes.iter().any(|class| class.flushes() == flushes) {
            let history = History::play(&mut ssd.clone(), &ios, flushes);
            let history = history.map_err(|error| usage(&error))?;
            // Before a folder is made for the images: a moment that is not there is a mistake.
            let moments = moments(&args.at, &history, args.seed)?;
            histories.push((flushes, history, moments));
        }
    }
    if let Some(log) = &log {
        // Also where no image is made of it: a log of another run is a mistake.
        let made = Images::new(&histories[0].1, log, Memory::new(0));
        made.map_err(|error| Failure::Usage(error.to_string()))?;
    }
    let folder = folder(args)?;
    let interrupt = Interrupt::listen()?;
    let mut crash = Crash {
        schema: SCHEMA,
        recording: args.recording.display().to_string(),
        drive: bare.name.clone(),
        profile: bare.hash(),
        state: args.state.as_ref().map(|path| path.display().to_string()),
        seed: args.seed,
        power_loss_protected: ssd.is_protected(),
        ios: ios.len(),
        flushes: histories[0].1.flush_answers().count(),
        seconds: histories[0].1.end.since(histories[0].1.began()).as_secs(),
        stopped: false,
        cuts: Vec::new(),
        again: again(args),
    };
    for class in classes {
        let history = histories.iter().find(|(flushes, ..)| *flushes == class.flushes());
        let Some((_, history, moments)) = history else { continue };
        let cuts = (class, history, &moments[..]);
        cut_all(args, cuts, (log.as_ref(), &folder), &interrupt, &mut crash)?;
    }
    let text = match args.json {
        true => serde_json::to_string_pretty(&crash).map_err(anyhow::Error::from)? + "\n",
        false => crash.words(columns()),
    };
    write!(stdout().lock(), "{text}")?;
    Ok(if crash.is_well() { End::Done } else { End::Incomplete })
}

/// All cuts of a class.
fn cut_all(
    args: &CrashArgs,
    (class, history, moments): (Class, &History, &[Nanos]),
    (log, folder): (Option<&DataLog>, &Folder),
    interrupt: &Interrupt,
    crash: &mut Crash,
) -> Result<(), Failure> {
    let mut images = None;
    if let Some(log) = log.filter(|_| args.check.is_some() || args.output.is_some()) {
        let base = base(args.base.as_deref(), history.sectors * 512)?;
        let made = Images::new(history, log, base);
        images = Some(made.map_err(|error| Failure::Usage(error.to_string()))?);
    }
    for &at in moments {
        if interrupt.asked() {
            crash.stopped = true;
            return Ok(());
        }
        let cut = history.cut(class, at, args.seed);
        let mut report = CutReport::new(&cut, history.began());
        // A dead drive has no image.
        if let Some(images) = &mut images
            && class != Class::Dead
        {
            let image = images.image(&cut).map_err(anyhow::Error::from)?;
            report.image_sha256 = Some(image.hash()?);
            let path = folder.path().join(format!("{class}-{}us.img", report.at_us));
            image.write(&path).map_err(anyhow::Error::from)?;
            if let Some(command) = &args.check {
                report.check = Some(check(command, &path, cut.asked)?);
            }
            match folder {
                Folder::Kept(_) => report.image = Some(path.display().to_string()),
                // One that has changed or removed its image may have done so.
                Folder::Temporary(_) => drop(std::fs::remove_file(&path)),
            }
        }
        crash.cuts.push(report);
    }
    Ok(())
}

/// The I/Os of a recording.
fn recorded(path: &Path) -> Result<Vec<TraceIo>, Failure> {
    let usage = |error: &dyn std::fmt::Display| Failure::Usage(error.to_string());
    let trace = trace::open(path, &trace::Options::default()).map_err(|error| usage(&error))?;
    let mut ios = Vec::new();
    for io in trace {
        ios.push(io.map_err(|error| usage(&error))?);
        if ios.len() > MOST_IOS {
            return Err(Failure::Usage(format!(
                "{}: more than {MOST_IOS} I/Os; record a shorter run",
                path.display()
            )));
        }
    }
    if ios.is_empty() {
        return Err(Failure::Usage(format!("{}: there is no I/O in it", path.display())));
    }
    Ok(ios)
}

/// The moments of a history at which the power is cut, in order, each once; at least one for each `--at`. Without a cut
/// nothing is tried, and a check that would always fail would pass.
fn moments(wanted: &[When], history: &History, seed: u64) -> Result<Vec<Nanos>, Failure> {
    let by_itself = [When::Random(CUTS)];
    let wanted = if wanted.is_empty() { &by_itself } else { wanted };
    let mut moments = Vec::new();
    for when in wanted {
        match *when {
            When::EachFlush => {
                let before = moments.len();
                moments.extend(history.flush_answers());
                if moments.len() == before {
                    return Err(Failure::Usage(
                        "--at each-flush: no flush in the recording was answered; see that the program flushes while it is recorded, \
                         or give \"random 100\" or a time"
                            .into(),
                    ));
                }
            }
            When::Every(step) => {
                let ios = history.events.len();
                if step > ios as u64 {
                    return Err(Failure::Usage(format!(
                        "--at every {step}: the recording has {}; give a number up to {ios}",
                        counted(ios as u64, "I/O")
                    )));
                }
                let every = history.events.iter().skip(step as usize - 1).step_by(step as usize);
                moments.extend(every.map(|event| event.asked));
            }
            When::Random(count) => {
                moments.extend(history.random_moments(seed).take(count as usize));
            }
            When::Time(at) => moments.push(history.began().saturating_add(at)),
            When::Io(number) => {
                let event = usize::try_from(number).ok().and_then(|n| history.events.get(n));
                moments.push(event.map(|event| event.asked).ok_or_else(|| {
                    let last = history.events.len() - 1;
                    Failure::Usage(format!("--at {number}: the recording's last I/O is {last}"))
                })?);
            }
        }
    }
    moments.sort_unstable();
    moments.dedup();
    if moments.len() as u64 > MOST_CUTS {
        let many = moments.len();
        return Err(Failure::Usage(format!("--at: {many} cuts; ask for {MOST_CUTS} at most")));
    }
    Ok(moments)
}

/// What the drive held before, from a file.
fn base(path: Option<&Path>, drive_bytes: u64) -> Result<Memory, Failure> {
    let available = host::available_memory_bytes().unwrap_or(u64::MAX / 100);
    let mut memory = Memory::new(available / 100 * MEMORY_PERCENT);
    let Some(path) = path else { return Ok(memory) };
    let named = || path.display().to_string();
    let mut file = File::open(path).with_context(named)?;
    let bytes = file.metadata().with_context(named)?.len();
    if bytes > drive_bytes {
        return Err(Failure::Usage(format!(
            "--base {}: {bytes} bytes do not fit on a drive of {drive_bytes}",
            path.display()
        )));
    }
    let (mut at, mut piece) = (0, vec![0; 1 << 20]);
    loop {
        let length = file.read(&mut piece).with_context(named)?;
        if length == 0 {
            return Ok(memory);
        }
        memory.store(at, &piece[..length]).with_context(named)?;
        at += length as u64;
    }
}

/// Where images are.
enum Folder {
    Kept(PathBuf),
    Temporary(tempfile::TempDir),
}

impl Folder {
    fn path(&self) -> &Path {
        match self {
            Folder::Kept(path) => path,
            Folder::Temporary(dir) => dir.path(),
        }
    }
}

fn folder(args: &CrashArgs) -> Result<Folder, Failure> {
    match &args.output {
        Some(path) => match std::fs::create_dir(path) {
            Ok(()) => Ok(Folder::Kept(path.clone())),
            Err(error) => Err(Failure::Usage(format!(
                "-o {}: {error}; name a folder that is not there yet",
                path.display()
            ))),
        },
        None => Ok(Folder::Temporary(tempfile::tempdir()?)),
    }
}

/// Runs a command on an image, of a cut after so many I/Os.
fn check(command: &str, image: &Path, ios: usize) -> Result<Check, Failure> {
    let path = image.display().to_string();
    let output = Command::new("sh")
        .arg("-c")
        .arg(command.replace("{}", &shell_word(&path)))
        .env("FOURCORNERS_IOS", ios.to_string())
        .stdin(Stdio::null())
        .output()
        .context("--check: sh cannot be run")?;
    let said = [&output.stdout[..], &output.stderr[..]].concat();
    let said = String::from_utf8_lossy(&said);
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Ok(Check { status: output.status.code(), said: last.trim().replace(&path, "{}") })
}

/// The command that makes these cuts again, but for class and moment.
fn again(args: &CrashArgs) -> String {
    let quoted = |path: &Path| shell_word(&path.display().to_string());
    let mut words = format!("fourcorners crash {} {}", quoted(&args.recording), args.drive);
    let paths = [("--data", &args.data), ("--base", &args.base), ("--state", &args.state)];
    for (option, path) in paths {
        if let Some(path) = path {
            words += &format!(" {option} {}", quoted(path));
        }
    }
    for set in &args.set {
        words += &format!(" --set {}", shell_word(set));
    }
    if let Some(check) = &args.check {
        words += &format!(" --check {}", shell_word(check));
    }
    words + &format!(" --seed {}", args.seed)
}
