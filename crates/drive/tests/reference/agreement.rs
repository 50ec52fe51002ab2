//! Both models on random small drives and jobs.

use fourcorners_drive::profile::{Pacing, SsdProfile};
use fourcorners_drive::{Lba, Ssd, SsdCounters, Target};

use crate::common::draw::{self, Numbers};
use crate::common::jobs::Job;
use crate::common::play::{Answer, Command, Drive, play};
use crate::common::{Random, make};
use crate::model::Reference;
use crate::space::{Moving, Semantics};

/// What the virtual SSD does today: to the nanosecond and the unit.
const TODAY: Semantics = Semantics { moving: Moving::AsCharged, absorbs: false };

/// Drives and jobs; each has its number as its seed.
const CASES: u64 = 1000;

/// One drive and what it is asked.
struct Case {
    profile: SsdProfile,
    depth: u32,
    commands: Vec<Command>,
    what: String,
}

fn case(seed: u64) -> Case {
    let mut random = Random(seed);
    let most_units = random.one_of(&[500, 2000, 8000, 20_000]);
    let profile = draw::profile(&mut random, most_units);
    let sectors = profile.capacity.sectors.value;
    let job = Job::draw(&mut random);
    // A tenth is no job that makes sense, but all that can be asked.
    let (depth, commands) = match seed % 10 {
        9 => (job.depth, (0..5000).map(|_| draw::command(&mut random, sectors)).collect()),
        _ => (job.depth, job.commands(sectors, &mut random)),
    };
    let what = format!("seed {seed}: {job:?} on {:?} {:?}", profile.nand, profile.gc);
    Case { profile, depth, commands, what }
}

/// What a drive answered and what it is like after.
struct Outcome {
    answers: Vec<Answer>,
    mapped: Vec<u64>,
}

fn run<D: Drive>(drive: &mut D, case: &Case, is_mapped: impl Fn(&D, Lba) -> bool) -> Outcome {
    let answers = play(drive, case.depth, case.commands.iter().copied())
        .unwrap_or_else(|error| panic!("{error}; {}", case.what));
    let units = 0..drive.geometry().sectors / 8;
    let mapped = units.filter(|unit| is_mapped(drive, Lba(unit * 8))).collect();
    Outcome { answers, mapped }
}

fn run_both(case: &Case, semantics: Semantics) -> ((Ssd, Outcome), (Reference, Outcome)) {
    let mut fast = make(&case.profile);
    let of_fast = run(&mut fast, case, Ssd::is_mapped);
    fast.check_map().unwrap_or_else(|error| panic!("{error}; {}", case.what));
    let mut plain = Reference::new(&case.profile, semantics);
    let of_plain = run(&mut plain, case, Reference::is_mapped);
    plain.check();
    assert_eq!(of_fast.mapped, of_plain.mapped, "{}", case.what);
    ((fast, of_fast), (plain, of_plain))
}

#[test]
fn both_models_give_the_same_answers() {
    for seed in 0..CASES {
        let case = case(seed);
        let ((fast, of_fast), (plain, of_plain)) = run_both(&case, TODAY);
        let mut answers = of_fast.answers.iter().zip(&of_plain.answers).enumerate();
        if let Some((at, (fast, plain))) = answers.find(|(_, (fast, plain))| fast != plain) {
            panic!("I/O {at}: {fast:?}, reference {plain:?}; {}", case.what);
        }
        assert_eq!(fast.counters(), plain.counters(), "{}", case.what);
        assert_eq!(fast.now(), plain.now(), "{}", case.what);
    }
}

/// What a tester would look at.
struct Figures {
    write_amplification: f64,
    mean_latency: f64,
    p99_latency: f64,
}

fn figures(drive: &impl Drive, outcome: &Outcome) -> Option<Figures> {
    let write_amplification = drive.counters().write_amplification_since(&SsdCounters::default())?;
    let mut latencies: Vec<u64> = outcome.answers.iter().map(|answer| answer.latency.0).collect();
    latencies.sort_unstable();
    let mean_latency = latencies.iter().sum::<u64>() as f64 / latencies.len() as f64;
    let p99_latency = latencies[latencies.len() * 99 / 100] as f64;
    Some(Figures { write_amplification, mean_latency, p99_latency })
}

/// A mean over drives of how far one figure lies above another, as a logarithm: what is now above
/// and now below by chance is no difference.
#[derive(Clone, Copy, Default, Debug)]
struct Bias {
    sum: f64,
    drives: u32,
}

impl Bias {
    fn add(&mut self, figure: f64, reference: f64) {
        if figure > 0.0 && reference > 0.0 {
            self.sum += (figure / reference).ln();
            self.drives += 1;
        }
    }

    fn mean(self) -> f64 {
        self.sum / f64::from(self.drives)
    }
}

/// Where a victim's units are between its choice and its end is a detail: a model that moves them
/// all when it is chosen maps the same units and gives the same figures.
#[test]
fn when_a_victim_is_moved_changes_no_figure() {
    let semantics = Semantics { moving: Moving::WhenChosen, ..TODAY };
    let [mut amplification, mut mean, mut p99] = [Bias::default(); 3];
    for seed in 0..CASES {
        let case = case(seed);
        // Delayed collection moves them all at once anyway; few I/Os tell chance only.
        if case.profile.gc.pacing.value == Pacing::Delayed || case.commands.len() < 2000 {
            continue;
        }
        let ((fast, of_fast), (plain, of_plain)) = run_both(&case, semantics);
        let both = figures(&fast, &of_fast).zip(figures(&plain, &of_plain));
        let Some((fast, plain)) = both else { continue };
        amplification.add(fast.write_amplification, plain.write_amplification);
        mean.add(fast.mean_latency, plain.mean_latency);
        p99.add(fast.p99_latency, plain.p99_latency);
    }
    println!("{} {:.4} {:.4} {:.4}", mean.drives, amplification.mean(), mean.mean(), p99.mean());
    assert!(mean.drives > 100, "{} drives are too few to tell", mean.drives);
    assert!(amplification.mean().abs() < 0.01, "write amplification: {amplification:?}");
    assert!(mean.mean().abs() < 0.02, "mean latency: {mean:?}");
    assert!(p99.mean().abs() < 0.1, "99th percentile: {p99:?}");
}
