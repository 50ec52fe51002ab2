//! Runs tests on virtual drives: each state is prepared once for all the tests that begin in it, and
//! drives are run side by side. What comes out does not depend on how many at a time.

use std::sync::Mutex;

use fourcorners_catalogue::{self as catalogue, Model};
use fourcorners_drive::{Hdd, Ssd};
use fourcorners_machine::workers;
use fourcorners_record::{Data, Job, Pattern, Until};
use fourcorners_run::trim::{self, Range};
use fourcorners_run::{JobEnd, Measured, Observer, run};

use super::names::Names;

/// Seed of what is done to a drive before it is measured.
const SEED: u64 = 1;
const FILL_BLOCK_BYTES: u32 = 131_072;
/// Random writes of this many times the drive's size bring it to its steady state; more of them
/// change nothing but our patience.
const MOST_DRIVE_WRITES: u64 = 2;

/// A test of one drive.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Test {
    /// The drive's name.
    pub drive: String,
    /// The host controller in front of it, by its name in the catalogue; `None` for the host that
    /// its profile has.
    pub host: Option<&'static str>,
    /// What is changed of its profile, as for `--set`: the line rate of another host.
    pub set: Vec<String>,
    /// The state it is in at first.
    pub state: State,
    /// What is measured.
    pub job: Job,
    /// Bytes from the start that are ever written; the rest is spare.
    pub usable_bytes: u64,
}

/// The state of a drive before it is measured. A hard disk has none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// Purged; if the job reads, its span was written.
    Fresh,
    /// Filled, then written at random, 4 KiB at depth 32.
    Used {
        /// For this long.
        seconds: u64,
        /// Not more than its size.
        once: bool,
    },
    /// Filled, then written at random in a part, 4 KiB at depth 32.
    Swept {
        /// For this long.
        seconds: u64,
        /// The part, from the start.
        span_bytes: u64,
    },
    /// So much was written in order, from the start, and nothing else ever; a job that reads does not
    /// change that.
    Begun {
        /// How much.
        bytes: u64,
    },
    /// Used, then trimmed.
    Trimmed {
        /// How long it was written at random.
        seconds: u64,
    },
    /// So much was written in order that its SLC buffer is full.
    BufferFull {
        /// How much, from the start.
        bytes: u64,
    },
    /// Filled: the job itself brings it to its steady state.
    Steady,
}

/// Asked now and then with how much is done, 0 to 1; `false` stops all runs.
pub type Watch<'a> = dyn Fn(f64) -> bool + Sync + 'a;

/// Runs `tests` on drives of these names, on `workers` threads; in their order what each measured, `None` where it was
/// stopped.
pub(super) fn run_all(
    tests: &[Test],
    names: &Names,
    workers: usize,
    watch: &Watch<'_>,
) -> Vec<Option<Measured>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, test) in tests.iter().enumerate() {
        match groups.iter_mut().find(|group| tests[group[0]].shares_preparation_of(test)) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    // The longest first, so that none begins when the others are done.
    let cost = |group: &Vec<usize>| group.iter().map(|&test| tests[test].cost()).sum::<f64>();
    groups.sort_by(|a, b| cost(b).total_cmp(&cost(a)).then(a.cmp(b)));
    let total: f64 = groups.iter().map(cost).sum();
    let results: Vec<Mutex<Option<Measured>>> = tests.iter().map(|_| Mutex::default()).collect();
    let done = Mutex::new(0.0);
    let progress = || done.lock().map_or(0.0, |done| *done / total);
    let one = |group: &Vec<usize>| {
        if !watch(progress()) {
            return Err(Stopped);
        }
        let mut observer = Asks { watch, progress: &progress };
        for (&test, measured) in group.iter().zip(run_group((tests, names), group, &mut observer)) {
            if let Ok(mut result) = results[test].lock() {
                *result = measured;
            }
        }
        if let Ok(mut done) = done.lock() {
            *done += cost(group);
        }
        Ok(())
    };
    // What was stopped has no result, which says as much.
    let _: Result<(), Stopped> = workers::each(&groups, workers, one);
    results.into_iter().map(|result| result.into_inner().ok().flatten()).collect()
}

/// Nobody waits for the rest.
struct Stopped;

/// Passes a run's questions on.
struct Asks<'a> {
    watch: &'a Watch<'a>,
    progress: &'a dyn Fn() -> f64,
}

impl Observer for Asks<'_> {
    fn go_on(&mut self, _part_done: f64) -> bool {
        (self.watch)((self.progress)())
    }
}

impl Test {
    /// Whether one drive, prepared once, serves both.
    fn shares_preparation_of(&self, other: &Test) -> bool {
        let prepared = !matches!(self.state, State::Fresh | State::Steady);
        prepared
            && (&self.drive, self.state, self.usable_bytes)
                == (&other.drive, other.state, other.usable_bytes)
            && (self.host, &self.set) == (other.host, &other.set)
    }

    /// Roughly how long it takes us: I/Os, sequential ones of 128 KiB counting more.
    fn cost(&self) -> f64 {
        const RATE: f64 = 40_000.0;
        let fill = self.usable_bytes as f64 / 4096.0 / 8.0;
        let before = match self.state {
            State::Fresh => 0.0,
            State::Used { seconds, .. }
            | State::Swept { seconds, .. }
            | State::Trimmed { seconds } => fill + seconds as f64 * RATE,
            State::Begun { bytes } | State::BufferFull { bytes } => bytes as f64 / 32_768.0,
            State::Steady => fill,
        };
        before
            + match self.job.until {
                Until::Seconds(seconds) => seconds as f64 * RATE,
                Until::Bytes(bytes) | Until::SecondsOrBytes(_, bytes) => bytes as f64 / 32_768.0,
            }
    }

    fn fill(&self, bytes: u64) -> Job {
        Job {
            pattern: Pattern::Sequential,
            read_percent: 0,
            block_bytes: FILL_BLOCK_BYTES,
            queue_depth: 32,
            span_start_bytes: 0,
            span_bytes: bytes,
            data: Data::Incompressible,
            until: Until::Bytes(bytes),
            seed: SEED,
            fua: false,
            flush: false,
            jobs: 1,
        }
    }

    fn torture(&self, seconds: u64, once: bool) -> Job {
        let bytes = self.usable_bytes;
        let drive_writes = if once { 1 } else { MOST_DRIVE_WRITES };
        let until = Until::SecondsOrBytes(seconds, drive_writes * bytes);
        Job { pattern: Pattern::Random, block_bytes: 4096, until, ..self.fill(bytes) }
    }

    /// The jobs that bring a drive as it left the factory into the state that tests of a group share.
    pub(super) fn preparation(&self) -> Vec<Job> {
        let all = self.usable_bytes;
        match self.state {
            State::Fresh => Vec::new(),
            State::Begun { bytes } | State::BufferFull { bytes } => vec![self.fill(bytes)],
            State::Steady => vec![self.fill(all)],
            State::Used { seconds, once } => vec![self.fill(all), self.torture(seconds, once)],
            State::Swept { seconds, span_bytes } => {
                vec![self.fill(all), Job { span_bytes, ..self.torture(seconds, false) }]
            }
            State::Trimmed { seconds } => vec![self.fill(all), self.torture(seconds, false)],
        }
    }

    /// What is read has to be there.
    pub(super) fn written_before(&self) -> Option<Job> {
        let unwritten = matches!(self.state, State::Fresh | State::Trimmed { .. });
        let span = self.job.span_start_bytes + self.job.span_bytes;
        (unwritten && self.job.read_percent > 0).then(|| self.fill(span))
    }

    /// Brings a drive into that state. `None` when it was stopped.
    fn prepare(&self, ssd: &mut Ssd, observer: &mut Asks<'_>) -> Option<()> {
        for job in self.preparation() {
            complete(run(ssd, &job, observer))?;
            ssd.settle();
        }
        if matches!(self.state, State::Trimmed { .. }) {
            trim::trim(ssd, Range { start_bytes: 0, bytes: self.usable_bytes }).ok()?;
        }
        Some(())
    }

    /// Runs the job on a drive in its state.
    fn measure(&self, ssd: &mut Ssd, observer: &mut Asks<'_>) -> Option<Measured> {
        ssd.settle();
        if let Some(job) = self.written_before() {
            complete(run(ssd, &job, observer))?;
            ssd.settle();
        }
        complete(run(ssd, &self.job, observer))
    }
}

/// What was measured, if nothing cut it short.
fn complete(measured: Measured) -> Option<Measured> {
    (measured.ended == JobEnd::Complete).then_some(measured)
}

/// Runs the tests of a group, which begin in one state of one drive.
fn run_group(
    (tests, names): (&[Test], &Names),
    group: &[usize],
    observer: &mut Asks<'_>,
) -> Vec<Option<Measured>> {
    let first = &tests[group[0]];
    let host = first.host.map(catalogue::host).transpose();
    let model = host
        .and_then(|host| names.profile(&first.drive, host.as_ref(), &first.set))
        .map(|profile| profile.model);
    match model {
        Ok(Model::Ssd(profile)) => {
            let Ok(mut ssd) = Ssd::new(&profile) else { return vec![None; group.len()] };
            if first.prepare(&mut ssd, observer).is_none() {
                return vec![None; group.len()];
            }
            let mut results = Vec::with_capacity(group.len());
            for (place, &test) in group.iter().enumerate() {
                // The last may use the drive up; a copy of a large one takes gigabytes.
                results.push(match place + 1 == group.len() {
                    true => tests[test].measure(&mut ssd, observer),
                    false => tests[test].measure(&mut ssd.clone(), observer),
                });
            }
            results
        }
        Ok(Model::Hdd(profile)) => {
            let one = |&test: &usize| {
                let mut hdd = Hdd::new(&profile).ok()?;
                complete(run(&mut hdd, &tests[test].job, observer))
            };
            group.iter().map(one).collect()
        }
        Err(_) => vec![None; group.len()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(drive: &str, state: State, read_percent: u8) -> Test {
        let job = Job {
            pattern: Pattern::Random,
            read_percent,
            block_bytes: 4096,
            queue_depth: 32,
            span_start_bytes: 0,
            span_bytes: 1 << 30,
            data: Data::Incompressible,
            until: Until::Seconds(1),
            seed: 2,
            fua: false,
            flush: false,
            jobs: 1,
        };
        Test { drive: drive.into(), host: None, set: Vec::new(), state, job, usable_bytes: 1 << 32 }
    }

    fn used() -> State {
        State::Used { seconds: 30, once: true }
    }

    #[test]
    fn results_do_not_depend_on_how_many_run_at_a_time_or_share_a_drive() {
        let small = "intel-x25-e-32gb";
        let tests = [
            test(small, State::Fresh, 0),
            test(small, used(), 0),
            test("seagate-momentus-5400.6", State::Fresh, 100),
            test(small, used(), 100),
            Test { set: vec!["link.gbps=1.5".into()], ..test(small, State::Fresh, 100) },
        ];
        let bytes = |tests: &[Test], workers| -> Vec<(u64, u128)> {
            let measured = run_all(tests, &Names::new(), workers, &|_| true).into_iter();
            measured.map(|m| m.map(|m| (m.bytes, m.latency.sum())).unwrap_or_default()).collect()
        };
        let all = bytes(&tests, 3);
        assert!(all.iter().all(|&(bytes, _)| bytes > 0), "{all:?}");
        assert_eq!(all, bytes(&tests, 1));
        let alone: Vec<_> = tests.iter().flat_map(|t| bytes(std::slice::from_ref(t), 1)).collect();
        assert_eq!(all, alone);
    }

    #[test]
    fn a_used_drive_is_slower_and_a_trimmed_one_as_new() {
        let drive = "crucial-c300-64gb";
        let whole = |state| {
            let mut test = test(drive, state, 0);
            test.usable_bytes = 64_000_000_000;
            test.job.span_bytes = test.usable_bytes;
            // A third of a second goes to what collection had begun to move before the TRIM.
            test.job.until = Until::Seconds(60);
            test
        };
        let states = [
            State::Fresh,
            State::Used { seconds: 600, once: false },
            State::Trimmed { seconds: 600 },
        ];
        let rates = run_all(&states.map(whole), &Names::new(), 2, &|_| true);
        let rates: Vec<f64> = rates.into_iter().flatten().map(|m| m.bytes as f64).collect();
        assert!(rates[1] < rates[0] * 0.8, "{rates:?}");
        assert!((rates[2] / rates[0] - 1.0).abs() < 0.02, "{rates:?}");
    }

    #[test]
    fn what_is_stopped_has_no_result() {
        let tests = [test("intel-x25-e-32gb", State::Fresh, 0)];
        assert!(run_all(&tests, &Names::new(), 1, &|_| false)[0].is_none());
        assert!(run_all(&[], &Names::new(), 4, &|_| true).is_empty());
    }
}
