//! Both models on random small drives and jobs.

use fourcorners_drive::config::SsdConfig;
use fourcorners_drive::{Lba, Ssd, Target};

use crate::common::draw::{self, Numbers};
use crate::common::jobs::Job;
use crate::common::mechanisms;
use crate::common::play::{Answer, Command, Drive, play};
use crate::common::{Random, make};
use crate::model::Reference;

/// Drives and jobs; each has its number as its seed.
const CASES: u64 = 1000;

/// One drive and what it is asked.
struct Case {
    profile: SsdConfig,
    depth: u32,
    commands: Vec<Command>,
    what: String,
}

fn case(seed: u64) -> Case {
    let mut random = Random(seed);
    let most_units = random.one_of(&[500, 2000, 8000, 20_000]);
    let mut profile = draw::profile(&mut random, most_units);
    profile.buffer.coalesce = random.percent(50).then(|| random.percent(90));
    profile.buffer.join = random.percent(50).then(|| random.percent(90));
    profile.controller.command_slots =
        random.percent(50).then(|| random.one_of(&[1, 2, 5, 16, 64]));
    if random.percent(50) {
        profile.host.process_us = Some(profile.host.command_us * random.one_of(&[0.1, 0.5, 1.0]));
        profile.host.processes = random.percent(50).then(|| random.one_of(&[1, 2, 5]));
    }
    profile.capacity.transfer_kib = random.percent(50).then(|| random.one_of(&[64, 68, 256, 4096]));
    for mechanism in [mechanisms::latency, mechanisms::variation] {
        if random.percent(50) {
            mechanism(&mut profile, &mut |bound| Numbers::below(&mut random, bound));
        }
    }
    let sectors = profile.capacity.sectors;
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

fn run_both(case: &Case) -> ((Ssd, Outcome), (Reference, Outcome)) {
    let mut fast = make(&case.profile);
    let of_fast = run(&mut fast, case, Ssd::is_mapped);
    fast.check_map().unwrap_or_else(|error| panic!("{error}; {}", case.what));
    let mut plain = Reference::new(&case.profile);
    let of_plain = run(&mut plain, case, Reference::is_mapped);
    plain.check();
    assert_eq!(of_fast.mapped, of_plain.mapped, "{}", case.what);
    ((fast, of_fast), (plain, of_plain))
}

#[test]
fn both_models_give_the_same_answers() {
    let mut absorbed = 0;
    for seed in 0..CASES {
        let case = case(seed);
        let ((fast, of_fast), (plain, of_plain)) = run_both(&case);
        let mut answers = of_fast.answers.iter().zip(&of_plain.answers).enumerate();
        if let Some((at, (fast, plain))) = answers.find(|(_, (fast, plain))| fast != plain) {
            panic!("I/O {at}: {fast:?}, reference {plain:?}; {}", case.what);
        }
        assert_eq!(fast.counters(), plain.counters(), "{}", case.what);
        assert_eq!(fast.now(), plain.now(), "{}", case.what);
        let counters = fast.counters();
        absorbed += u32::from(counters.absorbed_units > counters.host_units / 1000);
    }
    // What is drawn must not become dull unnoticed.
    println!("{absorbed} drives absorbed a thousandth of what the host wrote");
    assert!(absorbed > 50, "{absorbed} drives absorbed");
}
