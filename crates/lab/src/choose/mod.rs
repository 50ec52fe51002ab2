//! Which drive for a work: every drive of a catalogue, and arrays of them, do it in virtual time, side by side, and
//! the times that the work waited for each are ranked.
//!
//! A new drive is brought into a state ([`State`]), then does the work: a recording is replayed, unless told otherwise
//! ([`Replaying`]) closed loop with all of its think time, a job file is run with the same I/Os on every drive. The time
//! waited is the time with at least one I/O in the drive. How sure it is follows from what the drives
//! of its family were held against ([`band`]). The result does not depend on how many drives are
//! measured at a time.

mod amplification;
pub mod band;
mod busy;
mod candidate;
mod capacity;
mod footprint;
mod jobs;
mod measure;
mod named;
mod notes;
mod obstacle;
mod rank;
mod recording;
mod state;
mod work;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use fourcorners_drive::Geometry;
use fourcorners_fio::jobfile::JobFileError;
use fourcorners_machine::{host, workers};
use fourcorners_record::{CHOICE_SCHEMA, Choice, ChosenWork, LeftOut, RankedDrive};
use fourcorners_run::Observer;
use fourcorners_run::streams::Plan;

use crate::memory::{Need, Room};
use crate::validate::{ErrorTable, TestKind};
use band::Band;
pub use candidate::{Candidate, MadeOf, candidates};
pub use capacity::{Capacity, CapacityError};
pub use jobs::Jobs;
use jobs::TooFewIos;
use measure::Measured;
pub use named::{CandidateError, add_named};
use obstacle::Obstacle;
pub use recording::{Recording, Replaying};
pub use state::State;
pub use work::{USUAL_IOS, Work, WorkError};

/// 10^9 bytes a day, more than any drive moves: who takes the number from a person refuses more.
pub const MOST_GB_PER_DAY: f64 = 1e9;
/// Days of a year.
const DAYS: f64 = 365.25;

/// A choice that is to be made.
#[derive(Clone, Debug)]
pub struct Request {
    /// What every drive does.
    pub work: Work,
    /// The state it is in before.
    pub state: State,
    /// The drives.
    pub candidates: Vec<Candidate>,
    /// The one among them that the reader has, by its name.
    pub have: Option<String>,
    /// What the work reads and writes a day, 10^9 bytes, above 0.
    pub gb_per_day: Option<f64>,
    /// Prices by the names of drives.
    pub prices: BTreeMap<String, f64>,
}

/// Why no choice was made.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChooseError {
    /// Somebody said so.
    #[error("stopped before every drive had done the work")]
    Stopped,
    /// There is none to choose from.
    #[error("{name}: none of the drives can do it: {}: {}", .first.drive, .first.why)]
    NoDrive {
        /// The work.
        name: String,
        /// Why the first of them cannot.
        first: LeftOut,
    },
    /// A job file's jobs cannot share so few I/Os.
    #[error(
        "ios is too small for {name}: its {jobs} jobs do {least} I/Os at least, one each and the flushes after it: give {least} or more"
    )]
    TooFewIos {
        /// The job file.
        name: String,
        /// Its jobs.
        jobs: usize,
        /// I/Os that they can share.
        least: u64,
    },
}

/// Has every drive do the work, as many at a time as there are CPUs and memory. `watch` is told how
/// many drives are done, and stops all when it says no.
///
/// # Errors
/// When it was stopped, no drive can do the work, or its jobs cannot share so few I/Os.
pub fn choose(
    request: &Request,
    watch: &(dyn Fn(usize) -> bool + Sync),
) -> Result<Choice, ChooseError> {
    let tasks = request.tasks()?;
    let results: Vec<Mutex<Option<Result<Measured, Obstacle>>>> =
        tasks.plans.iter().map(|_| Mutex::default()).collect();
    let (done, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let go_on = || {
        let go_on = watch(done.load(Ordering::Relaxed));
        stopped.fetch_or(!go_on, Ordering::Relaxed);
        !stopped.load(Ordering::Relaxed)
    };
    let one = |&index: &usize| {
        if !go_on() {
            return Err(());
        }
        let measured = tasks.measure(request, index, &mut Asks(&go_on));
        *results[index].lock().expect("no holder panics") = Some(measured);
        done.fetch_add(1, Ordering::Relaxed);
        Ok(())
    };
    // Which piece failed is in the flag.
    let _: Result<(), ()> = workers::each(&tasks.order, tasks.workers, one);
    if stopped.into_inner() {
        return Err(ChooseError::Stopped);
    }
    let results = results.into_iter().map(|result| {
        let result = result.into_inner().expect("no holder panics");
        result.unwrap_or(Err(Obstacle::Stopped))
    });
    concluded(request, results.collect(), tasks.notes)
}

/// Asks whether to go on.
struct Asks<'a>(&'a dyn Fn() -> bool);

impl Observer for Asks<'_> {
    fn go_on(&mut self, _part_done: f64) -> bool {
        (self.0)()
    }
}

/// What is to be done on each drive, and in which order.
struct Tasks {
    /// The plan of a job file on each drive; `None` for a recording.
    plans: Vec<Option<Result<Plan, JobFileError>>>,
    /// Whether the jobs reach elsewhere than on the largest drive.
    elsewhere: Vec<bool>,
    order: Vec<usize>,
    workers: usize,
    /// Remarks of the job file.
    notes: Vec<String>,
}

impl Request {
    fn tasks(&self) -> Result<Tasks, ChooseError> {
        let candidates = &self.candidates;
        let (plans, notes) = match &self.work {
            Work::Recording(_) => (candidates.iter().map(|_| None).collect(), Vec::new()),
            Work::Jobs(jobs) => {
                let geometries: Vec<Geometry> =
                    candidates.iter().map(Candidate::geometry).collect();
                let on = jobs.on(geometries.iter());
                let (plans, warnings) = on.map_err(|TooFewIos { jobs, least }| {
                    let name = self.work.name();
                    ChooseError::TooFewIos { name, jobs, least }
                })?;
                (plans.into_iter().map(Some).collect::<Vec<_>>(), warnings)
            }
        };
        let capacity = |&index: &usize| candidates[index].capacity_bytes();
        let largest = (0..plans.len()).filter(|&index| matches!(plans[index], Some(Ok(_))));
        let largest = largest.max_by_key(capacity).and_then(|index| plans[index].as_ref());
        let elsewhere = plans.iter().map(|plan| match (plan, largest) {
            (Some(Ok(plan)), Some(Ok(largest))) => !jobs::same_places(plan, largest),
            _ => false,
        });
        let elsewhere = elsewhere.collect();
        let memory = |index: usize| candidates[index].memory_bytes();
        // The largest first, so that none begins when all others are done.
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.sort_by_key(|&index| (std::cmp::Reverse(memory(index)), index));
        let need = |index: &usize| Need { drive: memory(*index), kept: 0, methods: 1 };
        let workers = Room::here(&order.iter().map(need).collect::<Vec<_>>()).workers;
        Ok(Tasks { plans, elsewhere, order, workers, notes })
    }
}

impl Tasks {
    fn measure(
        &self,
        request: &Request,
        index: usize,
        observer: &mut dyn Observer,
    ) -> Result<Measured, Obstacle> {
        let candidate = &request.candidates[index];
        let need = candidate.memory_bytes();
        if let Some(available) = host::available_memory_bytes().filter(|&bytes| bytes < need) {
            return Err(Obstacle::Memory { need, available });
        }
        match (&request.work, &self.plans[index]) {
            (Work::Recording(recording), _) => {
                recording.measure(candidate, request.state, observer)
            }
            (Work::Jobs(_), Some(Ok(plan))) => {
                let measured = jobs::measure(plan, candidate, request.state, observer)?;
                Ok(Measured { rescaled: self.elsewhere[index], ..measured })
            }
            (Work::Jobs(_), Some(Err(error))) => Err(error.clone().into()),
            (Work::Jobs(_), None) => Err(Obstacle::NoPlan),
        }
    }
}

/// A drive that did the work.
struct Did<'a> {
    candidate: &'a Candidate,
    measured: Measured,
    time: Band,
    latency: Band,
}

fn concluded(
    request: &Request,
    results: Vec<Result<Measured, Obstacle>>,
    mut notes: Vec<String>,
) -> Result<Choice, ChooseError> {
    let table = ErrorTable::built_in();
    let (mut did, mut left_out) = (Vec::new(), Vec::new());
    for (candidate, result) in request.candidates.iter().zip(results) {
        let drive = candidate.name().to_string();
        match result {
            Ok(_) if request.does_nothing(candidate) => {
                let why = "all of the work is TRIMs, and it takes none".into();
                left_out.push(LeftOut { drive, why });
            }
            Ok(measured) => {
                let family = candidate.family.as_deref();
                let time = band::of_time(&table, family, &measured.shares);
                let latency = band::of_kind(&table, family, TestKind::LongLatency);
                did.push(Did { candidate, measured, time, latency });
            }
            Err(obstacle) => left_out.push(LeftOut { drive, why: obstacle.to_string() }),
        }
    }
    did.sort_by(|a, b| {
        let by_time = a.measured.waited_s.total_cmp(&b.measured.waited_s);
        by_time.then_with(|| a.candidate.name().cmp(b.candidate.name()))
    });
    let work = match (&request.work, did.first()) {
        (Work::Recording(recording), Some(_)) => recording.described(),
        (Work::Jobs(jobs), Some(first)) => jobs.described(&first.measured),
        (work, None) => {
            let first = left_out.into_iter().next().unwrap_or_else(|| LeftOut {
                drive: "the catalogue".into(),
                why: "there is no drive to choose from".into(),
            });
            return Err(ChooseError::NoDrive { name: work.name(), first });
        }
    };
    notes.extend(notes::of(request, &work, &did));
    let ranking = ranking(request, &work, &did);
    Ok(Choice {
        schema: CHOICE_SCHEMA.into(),
        state: request.state.name().into(),
        have: request.have.clone(),
        gb_per_day: request.gb_per_day,
        rescaled: ranking.iter().any(|drive| drive.rescaled),
        replay: match &request.work {
            Work::Recording(recording) => recording.replay(),
            Work::Jobs(_) => None,
        },
        work,
        ranking,
        left_out,
        notes,
    })
}

impl Request {
    /// Whether a drive does a recording without its TRIMs, and there is nothing else in it.
    fn does_nothing(&self, candidate: &Candidate) -> bool {
        let Work::Recording(recording) = &self.work else { return false };
        let card = recording.card();
        !candidate.takes_trim() && card.trims > 0 && card.trims == card.ios
    }
}

fn ranking(request: &Request, work: &ChosenWork, did: &[Did<'_>]) -> Vec<RankedDrive> {
    let times: Vec<(f64, Band)> = did.iter().map(|it| (it.measured.waited_s, it.time)).collect();
    let places = rank::places(&times);
    let tiers = rank::tiers(&times.iter().map(|&(time, _)| time).collect::<Vec<_>>());
    let mut by_p99: Vec<usize> = (0..did.len()).collect();
    by_p99.sort_by(|&a, &b| did[a].measured.p99_us.total_cmp(&did[b].measured.p99_us));
    let latencies: Vec<(f64, Band)> =
        by_p99.iter().map(|&at| (did[at].measured.p99_us, did[at].latency)).collect();
    let mut places_p99 = vec![0; did.len()];
    for (at, place) in by_p99.into_iter().zip(rank::places(&latencies)) {
        places_p99[at] = place;
    }
    let moved_gb = work.read_gb + work.written_gb;
    // How often the work is done in a year.
    let times_a_year = request
        .gb_per_day
        .filter(|_| moved_gb > 0.0)
        .map(|gb_per_day| gb_per_day * DAYS / moved_gb);
    let is_had = |it: &&Did<'_>| Some(it.candidate.name()) == request.have.as_deref();
    let had = did.iter().find(is_had).map(|it| it.measured.waited_s);
    let ranked = |(place, it): (usize, &Did<'_>)| {
        let (candidate, measured) = (it.candidate, &it.measured);
        let price = request.prices.get(candidate.name()).copied();
        RankedDrive {
            drive: candidate.name().into(),
            title: candidate.title().into(),
            capacity_gb: candidate.capacity_bytes() as f64 / 1e9,
            rank: places[place],
            tier: tiers[place],
            waited_s: measured.waited_s,
            busy_s: measured.waited_s,
            band_s: it.time.around(measured.waited_s),
            band_standing: it.time.standing.name().into(),
            rank_p99: places_p99[place],
            p99_us: measured.p99_us,
            hours_a_year_vs_have: had
                .zip(times_a_year)
                .map(|(had, times)| (had - measured.waited_s) * times / 3600.0),
            write_amplification: measured.amplification.ratio,
            years: times_a_year.and_then(|times| years(candidate, measured, times)),
            energy_wh: measured.joules.map(|joules| joules / 3600.0),
            price,
            price_per_performance: price.map(|price| price * measured.waited_s),
            rescaled: measured.rescaled,
        }
    };
    did.iter().enumerate().map(ranked).collect()
}

/// Years until the rated cycles of the whole user capacity are used up, as the method `endurance` has
/// it, when the work is done so often a year.
fn years(candidate: &Candidate, measured: &Measured, times_a_year: f64) -> Option<f64> {
    let cycles = f64::from(candidate.rated_cycles()?);
    let nand_bytes = measured.bytes[1] as f64 * measured.amplification.of_the_work()?;
    let capacity = candidate.capacity_bytes() as f64;
    (nand_bytes > 0.0).then(|| capacity * cycles / nand_bytes / times_a_year)
}
