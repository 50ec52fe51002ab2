//! `fourcorners run`: fio's job files. Everything is checked, then run, then written.

use std::collections::BTreeSet;
use std::io::{Read, Write, stdin, stdout};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, anyhow};
use fourcorners_fio::jobfile::{
    JobFile, JobRequest, JobSource, Jobs, Placed, Ways, cpu_list, show_command,
};
use fourcorners_fio::output::{Cost, Report, TargetRun, log_files, write_logs};
use fourcorners_lab::cache_use::{self, CacheSnapshot};
use fourcorners_lab::device_under_test::{DeviceUnderTest, Ready};
use fourcorners_lab::drive::LAY_OUT_BLOCK;
use fourcorners_lab::members::{self, MembersSnapshot};
use fourcorners_lab::review::Watch;
use fourcorners_linux::device::DiskCounters;
use fourcorners_linux::{Modes, Setup, SubmissionThread};
use fourcorners_machine::cpu;
use fourcorners_machine::save::{is_a_sink, write_atomically};
use fourcorners_record::ClockName;
use fourcorners_run::{JobEnd, Observer};
use jiff::Timestamp;

pub(super) mod args;
mod sought;

use self::args::{OutputFormat, RunArgs};
use self::sought::Sought;
use super::interrupt::Interrupt;
use super::outcome::{End, Failure};
use super::progress::{Progress, ReviewProgress};
use super::replaced::{Inputs, Kind, folder_is_there};
use super::run_report;
use super::targets;
use super::terminal::say;

/// What fio exits with when a signal stopped it.
const STOPPED: u8 = 128;

/// Most of standard input that is read; a job file has 1 MiB at most.
const MOST_INPUT_BYTES: u64 = 1 << 20;

/// Most findings of a verification that are told one by one.
const MOST_TOLD: usize = 20;

pub(super) fn run(args: &RunArgs) -> Result<End, Failure> {
    let sources = [source(&args.job_file)?];
    let request = JobRequest { options: &[], sources: &sources, sections: &args.section };
    match args.showcmd {
        true => show(&request),
        false => run_jobs(args, understood(&request)?),
    }
}

/// A job file, or what comes on standard input.
pub(super) fn source(path: &Path) -> Result<JobSource, Failure> {
    if path != Path::new("-") {
        return Ok(JobSource::File(path.to_path_buf()));
    }
    let mut text = String::new();
    // One byte more than any job file has: the parser refuses it.
    let mut input = stdin().lock().take(MOST_INPUT_BYTES + 1);
    input.read_to_string(&mut text).context("standard input is no job file")?;
    Ok(JobSource::Text { text, name: "standard input".into() })
}

pub(super) fn understood(request: &JobRequest<'_>) -> Result<JobFile, Failure> {
    let file = JobFile::requested(request, &|name| std::env::var(name).ok());
    file.map_err(|error| Failure::Failed(error.into()))
}

/// Prints the jobs as a command line.
pub(super) fn show(request: &JobRequest<'_>) -> Result<End, Failure> {
    let shown = show_command(request, &|name| std::env::var(name).ok());
    let shown = shown.map_err(|error| Failure::Failed(error.into()))?;
    writeln!(stdout().lock(), "{shown}")?;
    Ok(End::Done)
}

/// Runs jobs that were understood.
pub(super) fn run_jobs(args: &RunArgs, file: JobFile) -> Result<End, Failure> {
    let sought = Sought::new(args, &file).map_err(Failure::Usage)?;
    let planned = targets::plan_run(args, &sought.with_changes(&file)).map_err(Failure::Usage)?;
    let seed = Timestamp::now().as_nanosecond() as u64;
    let cpus = args
        .cpus
        .as_deref()
        .map(|list| cpu_list(list).map_err(|why| Failure::Usage(format!("--cpus {list}: {why}"))));
    let cpus = cpus.transpose()?;
    if let (Some(list), false) = (&args.cpus, planned.iter().any(DeviceUnderTest::is_real)) {
        return Err(Failure::Usage(format!(
            "--cpus {list} is for real targets: a virtual drive is no faster or slower for it, so leave it out"
        )));
    }
    let checked = check(args, &file, &sought, &planned, seed)?;
    if let Some(path) = &args.output {
        // What is read for it was looked at by the check.
        let may = Inputs::of([]).may_write(path, Kind::Report, args.overwrite);
        may.map_err(Failure::Usage)?;
    }
    if args.parse_only {
        return Ok(End::Done);
    }
    let interrupt = Interrupt::listen()?;
    let progress = Progress::new(interrupt.clone(), false);
    let mut runs = Vec::new();
    for (place, planned) in planned.into_iter().enumerate() {
        if interrupt.asked() {
            break;
        }
        let new_path = planned.to_create().map(Path::to_path_buf);
        let is_new = new_path.is_some() || planned.is_new_flash();
        // Known to be ours only once it was made: somebody else may have been faster.
        let mut created = None;
        let run = match planned.create() {
            Ok(planned) => {
                created = new_path;
                let part = Part {
                    file: &file,
                    sought: &sought,
                    place,
                    seed,
                    first_job: checked[place],
                    as_is: args.as_is,
                    cpus: cpus.as_deref(),
                };
                run_on(&part, &planned, is_new, &progress)
            }
            Err(error) => Err(Failure::Usage(error.to_string())),
        };
        if let (Err(_), Some(path)) = (&run, created) {
            // Ours, and of no use to anybody.
            let _ = std::fs::remove_file(path);
        }
        match run {
            Ok(run) => runs.push(run),
            Err(failure) if runs.is_empty() => return Err(failure),
            // What the others did is worth keeping.
            Err(Failure::Usage(why)) => say(&format!("fourcorners: {why}")),
            Err(Failure::Failed(error)) => say(&format!("fourcorners: {error:#}")),
        }
    }
    drop(progress);
    tell(args, file, runs, checked.len(), &interrupt)
}

/// Plans all targets, so that nothing is touched if one cannot be done; the number of the first job
/// on each.
fn check(
    args: &RunArgs,
    file: &JobFile,
    sought: &Sought,
    planned: &[DeviceUnderTest],
    seed: u64,
) -> Result<Vec<usize>, Failure> {
    let name = args.job_file.display();
    let mut first_jobs = Vec::new();
    let mut written: BTreeSet<PathBuf> = BTreeSet::new();
    let mut warnings = Vec::new();
    let mut first_job = 0;
    for (place, target) in planned.iter().enumerate() {
        let placed =
            Placed { geometry: target.geometry(), is_virtual: !target.is_real(), seed, first_job };
        let jobs = file
            .on(placed, |filename| sought.belongs(place, filename))
            .map_err(|error| Failure::Failed(error.into()))?;
        first_jobs.push(first_job);
        first_job += jobs.jobs.len();
        for path in log_files(&jobs) {
            may_take_a_log(&path).map_err(Failure::Usage)?;
            if !written.insert(resolved(&path)) {
                let path = path.display();
                let why = format!("{path} would take the logs of two targets: run one at a time");
                return Err(Failure::Usage(why));
            }
        }
        for warning in jobs.warnings {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
    }
    if sought.given {
        warnings.extend(sought.elsewhere(file));
    }
    let mut targets: Vec<PathBuf> = planned.iter().filter_map(DeviceUnderTest::place).collect();
    // Profiles, and what the drives come from.
    targets.extend(sought.targets.iter().map(|target| resolved(Path::new(target))));
    targets.extend(file.files.iter().chain(&args.state).map(|path| resolved(path)));
    if let Some(path) = &args.output
        && !written.insert(resolved(path))
    {
        let why = format!("{} is one of the logs: write to another file", path.display());
        return Err(Failure::Usage(why));
    }
    for path in &written {
        may_be_written(path, &targets).map_err(Failure::Usage)?;
    }
    for warning in warnings {
        say(&format!("fourcorners: {name}: {warning}"));
    }
    Ok(first_jobs)
}

/// A log's name comes from the job file, not from who runs it: it takes the place of nothing but an
/// older log, which has numbers and commas only.
fn may_take_a_log(path: &Path) -> Result<(), String> {
    let refused = || {
        let path = path.display();
        Err(format!("{path} exists and is not a log: move it away, or log to another file"))
    };
    let Ok(metadata) = path.metadata() else { return Ok(()) };
    if !metadata.is_file() {
        return refused();
    }
    let mut start = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(4096).read_to_end(&mut start));
    let is_a_logs = |byte: &u8| byte.is_ascii_digit() || b", \n".contains(byte);
    match read.is_ok() && start.iter().all(is_a_logs) {
        true => Ok(()),
        false => refused(),
    }
}

/// A result never goes to a device, nor over what it was made from, which `targets` has all of.
fn may_be_written(path: &Path, targets: &[PathBuf]) -> Result<(), String> {
    let shown = path.display();
    if targets.iter().any(|target| target == path) {
        return Err(format!(
            "{shown} is a target, a job file or what a drive is made from: write to \
             another file"
        ));
    }
    if path.metadata().is_ok_and(|metadata| metadata.is_dir() || !is_a_sink(&metadata)) {
        return Err(format!("{shown} is a device or a folder: write the result to a file"));
    }
    folder_is_there(path)
}

/// A path with the links on its way resolved, also if the file is not there yet.
fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize();
        match (folder, path.file_name()) {
            (Ok(folder), Some(name)) => folder.join(name),
            _ => path.to_path_buf(),
        }
    })
}

/// The part of a job file that is for one target.
struct Part<'a> {
    file: &'a JobFile,
    sought: &'a Sought,
    place: usize,
    seed: u64,
    first_job: usize,
    as_is: bool,
    /// CPUs from the command line.
    cpus: Option<&'a [u32]>,
}

fn run_on(
    part: &Part<'_>,
    planned: &DeviceUnderTest,
    is_new: bool,
    progress: &Progress,
) -> Result<TargetRun, Failure> {
    let placed = Placed {
        geometry: planned.geometry(),
        is_virtual: !planned.is_real(),
        seed: part.seed,
        first_job: part.first_job,
    };
    let jobs = part
        .file
        .on(placed, |filename| part.sought.belongs(part.place, filename))
        .map_err(|error| Failure::Failed(error.into()))?;
    let cpus = part.cpus.unwrap_or(&jobs.ways.cpus);
    // Before anything is made, so that buffers are memory of the same node.
    let _pinned = match planned.is_real() && !cpus.is_empty() {
        true => Some(cpu::pin(cpus).map_err(|error| Failure::Usage(error.to_string()))?),
        false => None,
    };
    let ready = planned.open_with(setup(&jobs, is_new), modes(&jobs.ways));
    let ready = ready.map_err(|error| Failure::Usage(error.to_string()))?;
    let is_laid_out = is_new && !part.as_is;
    let Ready { mut drive, target, host, .. } = if is_laid_out { ready.laid_out() } else { ready };
    let mut shown = Shown(progress.of(&target.name));
    if is_laid_out {
        let laid_out = drive.lay_out(&jobs.plan, &mut shown)?;
        if let JobEnd::Failed(fault) = laid_out {
            return Err(Failure::Failed(anyhow!("it cannot be laid out: {fault}")));
        }
    }
    let place = planned.place();
    let counters = || place.as_deref().and_then(DiskCounters::of);
    let disk = counters();
    let (cached, members) = (CacheSnapshot::of(&drive), MembersSnapshot::of(&drive));
    let (before, looked) = (Cost::so_far(), drive.looked_at_the_clock());
    let began = Instant::now();
    let result = drive.run_streams(&jobs.plan, &mut shown)?;
    let seconds = began.elapsed().as_secs_f64();
    let disk = run_report::disk_util(disk, counters(), seconds);
    let looked_s = (drive.looked_at_the_clock() - looked).as_secs();
    let clock = drive.clock();
    let cost = match clock {
        ClockName::Wall => Cost::so_far().since(before),
        ClockName::Virtual => Cost::default(),
    };
    let overhead_ns_per_io = host.and_then(|host| host.overhead_ns_per_io);
    let run = TargetRun {
        target,
        clock,
        jobs,
        result,
        cost,
        seconds,
        looked_s,
        overhead_ns_per_io,
        disk,
    };
    match cached.and_then(|cached| cached.until_now(&drive)) {
        Some(it) => say(&format!("fourcorners: {}: {}", run.target.name, cache_use::sentence(&it))),
        None => {
            let members = members.until_now(&drive);
            if !members.is_empty() {
                say(&format!("fourcorners: {}: {}", run.target.name, members::sentence(&members)));
            }
        }
    }
    if run.was_limited_by_us() {
        say(&format!(
            "fourcorners: {}: the one loop that runs the jobs was busy all the time: the target may \
             be faster than these figures say",
            run.target.name
        ));
    }
    Ok(run)
}

/// The ring that the jobs ask for.
fn modes(ways: &Ways) -> Modes {
    let thread = SubmissionThread { cpu: ways.submission_cpu };
    Modes { polled: ways.polled, submission_thread: ways.submission_thread.then_some(thread) }
}

/// What a ring has to be made for.
fn setup(jobs: &Jobs, is_new: bool) -> Setup {
    let blocks = jobs.plan.streams.iter().map(|stream| stream.largest_block());
    let least = if is_new { LAY_OUT_BLOCK } else { 0 };
    Setup {
        queue_depth: jobs.plan.depth().clamp(1, u64::from(u32::MAX)) as u32,
        max_block_bytes: blocks.max().unwrap_or(0).max(least),
    }
}

/// Shows how far it is.
struct Shown(ReviewProgress);

impl Observer for Shown {
    fn go_on(&mut self, part_done: f64) -> bool {
        Watch::go_on(&mut self.0, part_done)
    }
}

/// Says what verification found, the first of it.
fn tell_findings(run: &TargetRun) {
    let list = run.result.findings.as_ref().map_or(&[][..], |findings| &findings.list);
    let name = &run.target.name;
    for finding in list.iter().take(MOST_TOLD) {
        let sentence = finding.sentence(|stream| run.jobs.name_of(stream));
        say(&format!("fourcorners: {name}: {sentence}"));
    }
    if list.len() > MOST_TOLD {
        let more = list.len() - MOST_TOLD;
        say(&format!("fourcorners: {name}: and {more} more places; --output-format json has them"));
    }
}

/// Writes the logs and the result, and says what went wrong.
fn tell(
    args: &RunArgs,
    file: JobFile,
    runs: Vec<TargetRun>,
    wanted: usize,
    interrupt: &Interrupt,
) -> Result<End, Failure> {
    let now = Timestamp::now();
    let mut kept = Ok(());
    let mut failed = runs.len() < wanted && !interrupt.asked();
    for run in &runs {
        if let Some(found) = &run.target.in_memory {
            let name = &run.target.name;
            say(&format!("fourcorners: {name}: memory was measured, at least in part: {found}"));
        }
        let searches = run.jobs.plan.streams.iter().map(|stream| stream.latency_target);
        for ((job, stream), search) in run.jobs.jobs.iter().zip(&run.result.streams).zip(searches) {
            if let Some((fault, count)) = stream.failed {
                failed |= !job.survives_errors;
                let name = &run.target.name;
                say(&format!("fourcorners: {name}: {}: {fault} ({count} failed)", job.name));
            }
            // One that goes on ends with its job.
            let ends = search.is_some_and(|target| !target.goes_on);
            let found = match stream.depth_found.map(|found| found.met) {
                Some(Some(false)) => {
                    Some("latency_target is not met at a queue depth of 1, whose figures these are")
                }
                Some(None) if ends => Some(
                    "the search for latency_target was cut short: these are figures of all depths that were tried",
                ),
                _ => None,
            };
            if let Some(found) = found {
                say(&format!("fourcorners: {}: {found}", job.name));
            }
            if let Some(log) = stream.measure.log.as_ref().filter(|log| log.cut) {
                let most = log.rows.len();
                let name = &job.name;
                say(&format!(
                    "fourcorners: {name}: its log ends after {most} rows: set log_avg_msec"
                ));
            }
        }
        for sentence in run.unmeasured() {
            say(&format!("fourcorners: {sentence}"));
        }
        tell_findings(run);
        if let Err((path, error)) = write_logs(run) {
            kept = Err(anyhow!("cannot write {}: {error}", path.display()));
        }
    }
    let report = Report {
        globals: file.globals,
        runs,
        at_ms: now.as_millisecond(),
        at: now.strftime("%a %b %e %H:%M:%S %Y").to_string(),
    };
    let formats = if args.json { &[OutputFormat::Json] } else { &args.output_format[..] };
    let text = run_report::text(&report, formats);
    match &args.output {
        Some(path) => {
            if let Err(error) = write_atomically(path, text.as_bytes()) {
                // What was measured is not lost with it.
                stdout().lock().write_all(text.as_bytes())?;
                return Err(anyhow!(
                    "cannot write {}: {error}; the report is printed instead",
                    path.display()
                )
                .into());
            }
        }
        None => stdout().lock().write_all(text.as_bytes())?,
    }
    kept?;
    Ok(match () {
        () if interrupt.asked() => End::Code(STOPPED),
        () if failed => End::Incomplete,
        () => End::Done,
    })
}
