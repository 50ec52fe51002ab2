//! A job file as the work of a choice. A job that ends after a time would do more on a faster drive,
//! and one of the whole drive more on a larger one: here each job does the same I/Os on every drive.

use std::path::Path;

use fourcorners_drive::{Fault, Geometry, Nanos, Target};
use fourcorners_fio::jobfile::{JobFile, JobFileError, Placed};
use fourcorners_record::ChosenWork;
use fourcorners_run::streams::{self, Direction, Flushes, Plan, RunResult, Stream};
use fourcorners_run::{Histogram, Observer};

use super::amplification::{amplified, repetition_seed};
use super::busy::Busy;
use super::candidate::Candidate;
use super::footprint::Footprint;
use super::measure::{Measured, prepared};
use super::obstacle::Obstacle;
use super::state::State;
use crate::any_target::AnyTarget;
use crate::drive::Drive;

/// Seed of jobs with `randrepeat=0`: a choice is the same every time.
const SEED: u64 = 1;

/// A job file.
#[derive(Clone, Debug)]
pub struct Jobs {
    name: String,
    file: JobFile,
    most_ios: u64,
}

impl Jobs {
    /// Reads a job file. Its jobs do at most `most_ios` I/Os together, each the same number.
    ///
    /// # Errors
    /// For the first line that cannot be understood or done.
    pub fn read(path: &Path, most_ios: u64) -> Result<Jobs, JobFileError> {
        let file = JobFile::read(path, &|name| std::env::var(name).ok())?;
        Ok(Jobs { name: path.display().to_string(), file, most_ios })
    }

    /// Those of a job file that was read, called `name`, as [`read`](Jobs::read) has them.
    pub fn of(name: &str, file: JobFile, most_ios: u64) -> Jobs {
        Jobs { name: name.into(), file, most_ios }
    }

    /// As they are done on each of these drives, where they can be done at all, with the warnings of
    /// the file.
    ///
    /// # Errors
    /// [`TooFewIos`].
    pub(super) fn on<'a>(
        &self,
        geometries: impl Iterator<Item = &'a Geometry>,
    ) -> Result<(Plans, Vec<String>), TooFewIos> {
        let mut warnings = Vec::new();
        let plan = |geometry: &Geometry| {
            let placed = Placed { geometry: *geometry, is_virtual: true, seed: SEED, first_job: 0 };
            let jobs = self.file.on(placed, |_| true)?;
            for warning in jobs.warnings {
                if !warnings.contains(&warning) {
                    warnings.push(warning);
                }
            }
            Ok(jobs.plan)
        };
        let mut plans: Vec<Result<Plan, JobFileError>> = geometries.map(plan).collect();
        make_equal(&mut plans, self.most_ios)?;
        Ok((plans, warnings))
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn described(&self, on: &Measured) -> ChosenWork {
        let [read, written] = on.bytes.map(|bytes| bytes as f64 / 1e9);
        ChosenWork {
            name: self.name.clone(),
            kind: "job_file".into(),
            ios: on.ios,
            read_gb: read,
            written_gb: written,
            extent_gb: None,
            duration_s: None,
        }
    }
}

/// A job file on each of several drives.
pub(super) type Plans = Vec<Result<Plan, JobFileError>>;

/// I/Os that are not one for each job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TooFewIos {
    pub(super) jobs: usize,
    /// The fewest I/Os that the jobs can do, with the flushes after them.
    pub(super) least: u64,
}

/// Gives every stream the same end on all drives: the fewest I/Os and bytes that any of them has, and
/// never a time. All together do `most_ios` at most, flushes included.
fn make_equal(plans: &mut [Result<Plan, JobFileError>], most_ios: u64) -> Result<(), TooFewIos> {
    let longest = plans.iter().flatten().max_by_key(|plan| plan.streams.len());
    let Some(streams) = longest.map(|plan| &plan.streams).filter(|streams| !streams.is_empty())
    else {
        return Ok(());
    };
    let jobs = streams.len();
    let share = most_ios / jobs as u64;
    let least_of_one = streams.iter().map(|stream| 1 + most_flushes(stream, 1)).max().unwrap_or(1);
    if share < least_of_one {
        return Err(TooFewIos { jobs, least: least_of_one * jobs as u64 });
    }
    for place in 0..jobs {
        let of = || plans.iter().flatten().filter_map(|plan| plan.streams.get(place));
        let bytes = of().map(|stream| stream.limits.bytes).min().unwrap_or(u64::MAX);
        let ios = of().map(|stream| stream.limits.ios).min().unwrap_or(u64::MAX);
        let within = of().map(|stream| ios_within(stream, share)).min().unwrap_or(share);
        let ios = ios.min(within);
        for stream in plans.iter_mut().flatten().filter_map(|plan| plan.streams.get_mut(place)) {
            stream.limits = streams::Limits { bytes, ios, time: Nanos::MAX };
            stream.ramp = Nanos::ZERO;
            // A search takes as long as its windows are, whatever the drive.
            stream.latency_target = None;
            // Whom it would take along has its own work to do.
            stream.takes_along = None;
        }
    }
    for plan in plans.iter_mut().flatten() {
        plan.steady.clear();
        plan.verify = None;
    }
    Ok(())
}

/// The most flushes that a stream sends with `ios` I/Os; `u64::MAX` if there are more.
fn most_flushes(stream: &Stream, ios: u64) -> u64 {
    let Flushes { every, at_end } = stream.flushes;
    let writes = stream.recorded.is_some() || stream.operations.has(Direction::Write);
    let between = if writes { ios.checked_div(every).unwrap_or(0) } else { 0 };
    between.saturating_add(at_end.into())
}

/// How many I/Os of a stream fit into `most` together with their flushes. One has to fit.
fn ios_within(stream: &Stream, most: u64) -> u64 {
    let (mut low, mut high) = (1, most);
    while low < high {
        let middle = high - (high - low) / 2;
        let fits = middle.checked_add(most_flushes(stream, middle)).is_some_and(|all| all <= most);
        match fits {
            true => low = middle,
            false => high = middle - 1,
        }
    }
    low
}

/// Whether two plans reach equally far into their drives.
pub(super) fn same_places(one: &Plan, other: &Plan) -> bool {
    let place = |stream: &Stream| (stream.span_start_bytes, stream.span_bytes);
    one.streams.iter().map(place).eq(other.streams.iter().map(place))
}

/// Runs a plan on a new drive.
///
/// # Errors
/// Why this drive cannot do it.
pub(super) fn measure(
    plan: &Plan,
    candidate: &Candidate,
    state: State,
    observer: &mut dyn Observer,
) -> Result<Measured, Obstacle> {
    let mut footprint = Footprint::default();
    for stream in &plan.streams {
        footprint.add(stream.span_start_bytes, stream.span_bytes);
    }
    footprint.join();
    let mut drive = prepared(candidate, state, &footprint, observer)?;
    let run = |drive: &mut Drive, repetition| {
        let plan = &repeated(plan, repetition);
        let ran = match drive {
            Drive::Ssd(ssd) => run(&mut **ssd, plan, observer),
            Drive::Hdd(hdd) => run(&mut **hdd, plan, observer),
            Drive::Array(array) => run(&mut AnyTarget::<false>::of(&mut **array), plan, observer),
            Drive::Cache(cache) => run(&mut AnyTarget::<false>::of(&mut **cache), plan, observer),
            Drive::Disturbed(_) | Drive::Real(_) => return Err(Obstacle::NotVirtual),
        };
        match (ran.result.interrupted, failure(plan, &ran.result)) {
            (true, _) => Err(Obstacle::Stopped),
            (false, Some(fault)) => Err(Obstacle::Failed { part: "during the work", fault }),
            (false, None) => {
                let ios = ran.result.streams.iter().map(|stream| stream.measure.ios()).sum();
                Ok((ran, ios))
            }
        }
    };
    let (ran, amplification) = amplified(&mut drive, (candidate, state), run)?;
    let (mut all, mut shares, mut bytes) = (Histogram::new(), [0.0; 4], [0; 2]);
    for (stream, result) in plan.streams.iter().zip(&ran.result.streams) {
        for direction in Direction::ALL {
            let tally = &result.measure.tallies[direction as usize];
            all.merge(&tally.latency);
            let place = match direction {
                Direction::Read => 0,
                Direction::Write => 1,
                Direction::Trim => continue,
            };
            bytes[place] += tally.bytes;
            let random = f64::from(stream.access.random_percent[direction as usize]) / 100.0;
            let took = tally.latency.sum() as f64;
            shares[place] += took * random;
            shares[place + 2] += took * (1.0 - random);
        }
        all.merge(&result.measure.flushes.latency);
    }
    if all.count() == 0 {
        return Err(Obstacle::NoIo);
    }
    Ok(Measured {
        waited_s: ran.busy.as_secs(),
        p99_us: all.percentile(99.0) as f64 / 1e3,
        amplification,
        joules: ran.joules,
        shares,
        ios: all.count(),
        bytes,
        rescaled: false,
        widened: (0, 0),
    })
}

/// A plan with the random numbers of a repetition. What is read from an iolog stays as it is, since none are drawn for it.
fn repeated(plan: &Plan, repetition: u64) -> Plan {
    let mut plan = plan.clone();
    for stream in &mut plan.streams {
        stream.seed = repetition_seed(stream.seed, repetition);
    }
    plan
}

/// What running a plan came to.
struct Ran {
    result: RunResult,
    busy: Nanos,
    joules: Option<f64>,
}

fn run<T: Target>(target: &mut T, plan: &Plan, observer: &mut dyn Observer) -> Ran {
    let before = target.energy_j(target.now());
    let mut busy = Busy::new(target);
    let result = streams::run(&mut busy, plan, observer);
    let time = busy.time();
    let joules = before.zip(target.energy_j(target.now())).map(|(before, after)| after - before);
    Ran { result, busy: time, joules }
}

fn failure(plan: &Plan, result: &RunResult) -> Option<Fault> {
    plan.streams.iter().zip(&result.streams).find_map(|(stream, result)| {
        result.failed.filter(|_| !stream.survives_errors).map(|(fault, _)| fault)
    })
}
