//! Runs what entries ask: each state is prepared once for all that begin in it, and groups side by side. What comes
//! out does not depend on how many at a time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use fourcorners_catalogue::{Model, Profile};
use fourcorners_drive::{Ssd, Target};
use fourcorners_machine::workers;
use fourcorners_record::Until;
use fourcorners_run::streams::{self, Direction, Measure, Plan, RunResult};
use fourcorners_run::{Histogram, Observer, run};

use super::super::Watch;
use super::host::differ;
use super::numbers::{Numbers, add_latencies, add_slower};
use super::question::{Question, State, Streams, Used, Work};
use super::rig::Rig;
use super::scale::scaled;
use super::writes;

/// A question of a drive.
pub(super) struct Task<'a> {
    pub(super) profile: &'a Profile,
    pub(super) question: &'a Question,
    /// The paths that the entry has numbers of.
    pub(super) wanted: Vec<String>,
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum NoAnswer {
    /// Somebody stopped all runs.
    Stopped,
    /// The drive cannot be brought there; why.
    Impossible(String),
}

type Answer = Result<Numbers, NoAnswer>;

/// Runs `tasks` on `workers` threads; their answers in their order.
pub(super) fn run_all(tasks: &[Task<'_>], workers: usize, watch: &Watch<'_>) -> Vec<Answer> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, task) in tasks.iter().enumerate() {
        match groups.iter_mut().find(|group| tasks[group[0]].shares_preparation_of(task)) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    // The longest first, so that none begins when the others are done.
    let cost = |group: &Vec<usize>| group.iter().map(|&task| tasks[task].cost()).sum::<f64>();
    groups.sort_by(|a, b| cost(b).total_cmp(&cost(a)).then(a.cmp(b)));
    let total: f64 = groups.iter().map(cost).sum();
    let answers: Vec<Mutex<Option<Answer>>> = tasks.iter().map(|_| Mutex::default()).collect();
    let done = Mutex::new(0.0);
    let stopped = AtomicBool::new(false);
    let progress = || done.lock().map_or(0.0, |done| *done / total);
    let goes_on = |done: f64| {
        let go_on = watch(done);
        stopped.fetch_or(!go_on, Ordering::Relaxed);
        go_on
    };
    let one = |group: &Vec<usize>| -> Result<(), NoAnswer> {
        let mut observer = Asks { goes_on: &goes_on, progress: &progress };
        for (&task, answer) in group.iter().zip(run_group(tasks, group, &mut observer)) {
            if let Ok(mut place) = answers[task].lock() {
                *place = Some(answer);
            }
        }
        if let Ok(mut done) = done.lock() {
            *done += cost(group);
        }
        if stopped.load(Ordering::Relaxed) { Err(NoAnswer::Stopped) } else { Ok(()) }
    };
    // What was stopped has no answer, which says as much.
    let _ = workers::each(&groups, workers, one);
    let answer = |place: Mutex<Option<Answer>>| {
        place.into_inner().ok().flatten().unwrap_or(Err(NoAnswer::Stopped))
    };
    answers.into_iter().map(answer).collect()
}

/// Passes a run's questions on.
struct Asks<'a> {
    goes_on: &'a dyn Fn(f64) -> bool,
    progress: &'a dyn Fn() -> f64,
}

impl Observer for Asks<'_> {
    fn go_on(&mut self, _part_done: f64) -> bool {
        (self.goes_on)((self.progress)())
    }
}

impl Task<'_> {
    /// Whether drives that were prepared once serve both.
    fn shares_preparation_of(&self, other: &Task<'_>) -> bool {
        let (own, others) = (self.question, other.question);
        let streams = |question: &Question| matches!(question.work, Work::Streams(_));
        self.profile.name == other.profile.name
            && (own.state, own.used) == (others.state, others.used)
            && (own.drives, own.host) == (others.drives, others.host)
            && own.link_of_the_last == others.link_of_the_last
            && streams(own)
            && streams(others)
    }

    /// Roughly how long it takes us.
    fn cost(&self) -> f64 {
        match &self.question.work {
            Work::Streams(streams) => streams.seconds * (1.0 + streams.streams.len() as f64),
            Work::Writes(writes) => writes.spans * 100.0,
            Work::Rates => 50.0,
        }
    }
}

/// Runs the tasks of a group, which begin in one state of one drive.
fn run_group(tasks: &[Task<'_>], group: &[usize], observer: &mut Asks<'_>) -> Vec<Answer> {
    let first = &tasks[group[0]];
    let all = |why: NoAnswer| group.iter().map(|_| Err(why.clone())).collect();
    match &first.question.work {
        Work::Streams(_) => {
            let drives = match prepared(first, observer) {
                Ok(drives) => drives,
                Err(why) => return all(why),
            };
            let mut drives = Some(drives);
            let mut answers = Vec::with_capacity(group.len());
            for (place, &task) in group.iter().enumerate() {
                // The last may use the drives up.
                let own = match place + 1 == group.len() {
                    true => drives.take(),
                    false => drives.clone(),
                };
                let Work::Streams(streams) = &tasks[task].question.work else { continue };
                let own = own.unwrap_or_default();
                let Model::Ssd(config) = &tasks[task].profile.model else { continue };
                let streams = (streams, config.controller.command_slots);
                answers.push(run_streams(tasks[task].question, streams, own, observer));
            }
            answers
        }
        Work::Writes(work) => {
            let answer = drive(first, 0, false).and_then(|(mut ssd, factor)| {
                let asked = (work, factor, first.wanted.as_slice());
                writes::measure(&mut ssd, asked, observer).ok_or_else(|| stopped(observer))
            });
            vec![answer]
        }
        Work::Rates => vec![rates(first, observer)],
    }
}

/// Why a run gave nothing.
fn stopped(observer: &mut Asks<'_>) -> NoAnswer {
    match observer.go_on(0.0) {
        true => NoAnswer::Impossible("the drive refuses it, or its span is too small".into()),
        false => NoAnswer::Stopped,
    }
}

/// A new drive of the task's profile, smaller and behind its host, and by how many times smaller. Each of several has
/// a seed and a speed of its own. With
/// `processes_apart` the rig has the processor's part of the host.
fn drive(task: &Task<'_>, number: u32, processes_apart: bool) -> Result<(Ssd, u64), NoAnswer> {
    let impossible = |error: fourcorners_drive::config::ConfigError| {
        NoAnswer::Impossible(format!("{}: {error}", task.profile.name))
    };
    let Model::Ssd(config) = &task.profile.model else {
        return Err(NoAnswer::Impossible("a hard disk".into()));
    };
    let mut scaled = scaled(config).map_err(impossible)?;
    task.question.host.in_front_of(&mut scaled.config, processes_apart);
    if number as usize + 1 == task.question.drives {
        let link = task.question.link_of_the_last.clone();
        scaled.config.link = link.unwrap_or(scaled.config.link);
    }
    differ(&mut scaled.config, number as usize, task.question.drives);
    if let Some(variation) = &mut scaled.config.variation {
        variation.seed = variation.seed.wrapping_add(number);
    }
    let ssd = Ssd::new(&scaled.config).map_err(impossible)?;
    Ok((ssd, scaled.factor))
}

/// The drives of a task in its state.
fn prepared(task: &Task<'_>, observer: &mut Asks<'_>) -> Result<Vec<Ssd>, NoAnswer> {
    let mut drives = Vec::with_capacity(task.question.drives);
    for number in 0..task.question.drives as u32 {
        let (mut ssd, _) = drive(task, number, true)?;
        let bytes = task.question.used.bytes_of(ssd.geometry().bytes());
        let filled = match task.question.state {
            State::Empty => 0,
            State::FilledInPart { parts } => bytes / 10_000 * u64::from(parts),
            State::Filled | State::Written { .. } => bytes,
        };
        if filled > 0 {
            writes::fill(&mut ssd, filled, observer).ok_or_else(|| stopped(observer))?;
        }
        if let State::Written { block_bytes, drive_writes } = task.question.state {
            let until = Until::Bytes(bytes * u64::from(drive_writes));
            let mut job = writes::job(false, block_bytes, bytes, until);
            job.seed += u64::from(number);
            let written = writes::complete(run(&mut ssd, &job, observer));
            written.ok_or_else(|| stopped(observer))?;
            ssd.settle();
        }
        drives.push(ssd);
    }
    if let State::Written { block_bytes, .. } = task.question.state {
        let used = task.question.used;
        use_until_the_last(&mut drives, (block_bytes, used), observer)
            .ok_or_else(|| stopped(observer))?;
    }
    Ok(drives)
}

/// Writes on to each drive until about when the last of them is ready, so that none is idle before they begin
/// together: an idle drive has time to empty its SLC buffer, and what is asked is about drives in use.
fn use_until_the_last(
    drives: &mut [Ssd],
    (block_bytes, used): (u32, Used),
    observer: &mut Asks<'_>,
) -> Option<()> {
    let last = drives.iter().map(Target::now).max()?;
    for ssd in drives {
        let bytes = used.bytes_of(ssd.geometry().bytes());
        // So little that what is left of the time is less than it takes to count as idle.
        let step = (bytes / 1000).max(u64::from(block_bytes) * 1000);
        for round in 1.. {
            let begun = ssd.now();
            if begun >= last {
                break;
            }
            let mut job = writes::job(false, block_bytes, bytes, Until::Bytes(step));
            job.seed += 1000 * round;
            writes::complete(run(ssd, &job, observer))?;
            ssd.settle();
            if last.since(ssd.now()) < ssd.now().since(begun) {
                break;
            }
        }
    }
    Some(())
}

/// Runs streams on prepared drives.
fn run_streams(
    question: &Question,
    (streams, slots): (&Streams, Option<u32>),
    drives: Vec<Ssd>,
    observer: &mut Asks<'_>,
) -> Answer {
    let bytes = question.used.bytes_of(drives[0].geometry().bytes());
    let numbered = streams.streams.iter().enumerate();
    let plan = Plan {
        streams: numbered.map(|(number, spec)| spec.stream(number, streams, bytes)).collect(),
        ..Plan::default()
    };
    let host = (question.host.cpus, question.host.process(streams.streams.len()));
    let mut rig = Rig::new(drives, host, streams.streams.len()).with_slots(slots);
    if streams.alike {
        rig = rig.all_begin_with_the_first();
    }
    let result = streams::run_told(&mut rig, &plan, observer, Rig::is_of);
    if result.interrupted {
        return Err(NoAnswer::Stopped);
    }
    if let Some((fault, _)) = result.streams.iter().find_map(|stream| stream.failed) {
        return Err(NoAnswer::Impossible(fault.to_string()));
    }
    Ok(numbers_of(question, streams, &result))
}

/// The numbers of streams that were run.
fn numbers_of(question: &Question, streams: &Streams, result: &RunResult) -> Numbers {
    let mut numbers = Numbers::new();
    let probes = &result.streams[..streams.probes];
    let seconds = probes.iter().map(|probe| probe.elapsed.as_secs()).fold(0.0, f64::max);
    if seconds <= 0.0 {
        return numbers;
    }
    let excluded_us = question.excluded_us;
    if streams.by_direction {
        for (direction, prefix) in [(Direction::Read, "read"), (Direction::Write, "write")] {
            let of = |measure: &Measure| measure.tallies[direction as usize].latency.count();
            let all: u64 = result.streams.iter().map(|stream| of(&stream.measure)).sum();
            numbers.insert(format!("{prefix}_iops"), all as f64 / seconds);
            let mut latency = Histogram::new();
            for probe in probes {
                latency.merge(&probe.measure.tallies[direction as usize].latency);
            }
            add_latencies(&mut numbers, &format!("{prefix}."), &latency, excluded_us);
        }
        return numbers;
    }
    let mut latency = Histogram::new();
    let mut bytes = 0;
    for probe in probes {
        for tally in &probe.measure.tallies {
            latency.merge(&tally.latency);
            bytes += tally.bytes;
        }
    }
    add_latencies(&mut numbers, "", &latency, excluded_us);
    add_slower(&mut numbers, &latency, excluded_us);
    let mut add = |name: &str, value: f64| {
        numbers.insert(name.to_string(), value);
    };
    add("iops", latency.count() as f64 / seconds);
    add("mb_per_s", bytes as f64 / 1e6 / seconds);
    add("gib_per_s", bytes as f64 / 1073741824.0 / seconds);
    if let [probe] = probes
        && let Some(tally) = probe.measure.tallies.iter().find(|tally| tally.iops.count > 2)
    {
        let samples = tally.iops;
        add("iops_cv_500ms", samples.deviation() / samples.mean());
        add("iops_min_500ms", samples.min);
        add("iops_max_500ms", samples.max);
    }
    numbers
}

/// The six runs of iocost's coefficients: in order and at random, reads and writes, each for some seconds.
fn rates(task: &Task<'_>, observer: &mut Asks<'_>) -> Answer {
    const LARGE: u32 = 1 << 20;
    const SECONDS: u64 = 10;
    let (ssd, _) = drive(task, 0, false)?;
    let bytes = ssd.geometry().bytes();
    let span = bytes.min(16 << 30);
    let mut numbers = Numbers::new();
    let mut filled = ssd.clone();
    writes::fill(&mut filled, span, observer).ok_or_else(|| stopped(observer))?;
    let _ = filled.reap(filled.now() + writes::PAUSE);
    for (name, sequential, reads, block_bytes, depth) in [
        // 128 MiB at a time, which the kernel hands over in parts at once.
        ("seqread_mb_per_s", true, true, LARGE, 32),
        ("seqread4k_iops", true, true, 4096, 64),
        ("randread4k_iops", false, true, 4096, 64),
        ("seqwrite_mb_per_s", true, false, LARGE, 32),
        ("seqwrite4k_iops", true, false, 4096, 64),
        ("randwrite4k_iops", false, false, 4096, 64),
    ] {
        let mut job = writes::job(sequential, block_bytes, span, Until::Seconds(SECONDS));
        job.queue_depth = depth;
        job.read_percent = if reads { 100 } else { 0 };
        let measured = writes::complete(run(&mut filled.clone(), &job, observer));
        let measured = measured.ok_or_else(|| stopped(observer))?;
        let seconds = measured.elapsed.as_secs();
        let value = match name.ends_with("iops") {
            true => (measured.reads + measured.writes) as f64 / seconds,
            false => measured.bytes as f64 / 1e6 / seconds,
        };
        // One process submits no faster than its processor.
        let most = 1e6 / task.question.host.process_us;
        numbers.insert(name.into(), if name.ends_with("iops") { value.min(most) } else { value });
    }
    Ok(numbers)
}
