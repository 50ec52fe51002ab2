//! Requests on drives in virtual time: the same stamps give the drive's own times, every request is answered once, and
//! a recording replayed at its times gives every duration again.

use std::collections::BTreeMap;

use fourcorners_catalogue::{self as catalogue, Model};
use fourcorners_drive::{Geometry, Hdd, Io, Lba, Nanos, Op, Ssd, Tag, Target};
use fourcorners_serve::contents::{Contents, Memory};
use fourcorners_serve::nbd::{Command, Errno, Request};
use fourcorners_serve::{Answer, FaultSpec, Faults, Outcome, Turn, TurnSettings};
use fourcorners_trace::TraceIo;

/// SplitMix64 (Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

fn model(name: &str) -> Model {
    // Small, so that it is overwritten and collects.
    let set = match name {
        "crucial-m4-256gb" => {
            vec!["nand.blocks_per_plane=32".into(), "capacity.sectors=2000000".into()]
        }
        _ => Vec::new(),
    };
    catalogue::built_in(name, &set).unwrap_or_else(|error| panic!("{error}")).model
}

fn m4() -> Ssd {
    match model("crucial-m4-256gb") {
        Model::Ssd(model) => Ssd::new(&model).expect("it was checked"),
        Model::Hdd(_) => unreachable!("it is an SSD"),
    }
}

fn momentus() -> Hdd {
    match model("seagate-momentus-5400.6") {
        Model::Hdd(model) => Hdd::new(&model).expect("it was checked"),
        Model::Ssd(_) => unreachable!("it is a disk"),
    }
}

fn request(random: &mut Random, cookie: u64, geometry: Geometry, trims: bool) -> Request {
    let fua = random.below(4) == 0;
    let command = match random.below(20) {
        0..8 => Command::Read { one_chunk: false },
        8..15 => Command::Write { fua },
        15 => Command::Flush,
        16 if trims => Command::Trim { fua },
        17 => Command::WriteZeroes { fua, no_hole: fua, fast: false },
        18 => Command::WriteZeroes { fua, no_hole: false, fast: true },
        _ => Command::BlockStatus { one: false },
    };
    if command == Command::Flush {
        return Request { cookie, command, offset: 0, length: 0, data: Vec::new() };
    }
    let blocks = geometry.bytes() / 4096;
    let most = if random.below(30) == 0 { 4096 } else { 32 };
    let length = (1 + random.below(most)).min(blocks);
    let offset = random.below(blocks - length + 1) * 4096;
    let length = length * 4096;
    let data = match command {
        Command::Write { .. } => vec![cookie as u8; length as usize],
        _ => Vec::new(),
    };
    Request { cookie, command, offset, length, data }
}

/// Serves a random stream; the answers, what was recorded, and what is left to be due.
fn serve<T: Target>(
    target: T,
    seed: u64,
    requests: u64,
    mean_gap_ns: u64,
) -> (Vec<Answer>, Vec<TraceIo>) {
    let geometry = target.geometry();
    let settings = TurnSettings {
        trims: geometry.queue_depth != 0 && seed.is_multiple_of(2),
        records: true,
        ..TurnSettings::default()
    };
    let contents = Contents::Memory(Memory::new(u64::MAX));
    let mut turn = Turn::new(target, contents, settings);
    let mut random = Random(seed);
    let (mut answers, mut recorded) = (Vec::new(), Vec::new());
    let mut stamp = 0;
    for cookie in 0..requests {
        // In bursts, sometimes before the drive's clock, and with pauses.
        stamp += match random.below(4) {
            0 => random.below(8 * mean_gap_ns),
            1 => 0,
            _ => random.below(mean_gap_ns),
        };
        if random.below(3) == 0
            && let Some(due) = turn.due()
        {
            turn.pass_until(Nanos(due.0.min(stamp + 20_000)), &mut answers);
        }
        let request = request(&mut random, cookie, geometry, settings.trims);
        turn.arrive(Nanos(stamp), cookie % 5, request, &mut answers);
        recorded.extend(turn.recorded());
    }
    while let Some(due) = turn.due() {
        turn.pass_until(due, &mut answers);
    }
    recorded.extend(turn.recorded());
    assert!(turn.is_idle(), "seed {seed}: a request was left");
    (answers, recorded)
}

/// Replays what was recorded on another drive: at its times, no more at once than the drive takes, in order.
fn replay<T: Target>(mut target: T, recorded: &[TraceIo]) -> Vec<Nanos> {
    let depth = target.geometry().queue_depth;
    let mut free: Vec<Tag> = (0..depth).map(Tag).collect();
    let mut of_tag = vec![0; depth as usize];
    let mut durations = vec![Nanos::MAX; recorded.len()];
    let mut next = 0;
    let submit = |target: &mut T, tag: Tag, index: usize, of_tag: &mut Vec<usize>| {
        let io = &recorded[index];
        let sectors = (io.bytes / 512) as u32;
        let compressible_percent = if io.flags.zeroes { 100 } else { 0 };
        let (lba, fua) = (Lba(io.offset_bytes / 512), io.flags.fua);
        target.submit(tag, Io { op: io.op, lba, sectors, compressible_percent, fua });
        of_tag[tag.0 as usize] = index;
    };
    loop {
        let until = recorded.get(next).map_or(Nanos::MAX, |io| io.at);
        let until = if free.is_empty() { Nanos::MAX } else { until };
        match target.reap(until).expect("nothing fails") {
            Some(done) => {
                let index = of_tag[done.tag.0 as usize];
                durations[index] = done.at.since(recorded[index].at);
                free.push(done.tag);
                // What waited for a place takes it at once.
                if next < recorded.len() && recorded[next].at <= done.at {
                    let tag = free.pop().expect("one was just answered");
                    submit(&mut target, tag, next, &mut of_tag);
                    next += 1;
                }
            }
            None if next < recorded.len() => {
                let tag = free.pop().expect("one is free");
                submit(&mut target, tag, next, &mut of_tag);
                next += 1;
            }
            None => return durations,
        }
    }
}

fn holds<T: Target>(make: impl Fn() -> T, seeds: std::ops::Range<u64>, requests: u64, gap: u64) {
    for seed in seeds {
        let (answers, recorded) = serve(make(), seed, requests, gap);
        let mut seen = BTreeMap::new();
        for answer in &answers {
            *seen.entry(answer.request.cookie).or_insert(0) += 1;
            if let Some(due) = answer.due {
                assert!(due >= answer.at, "seed {seed}");
            }
        }
        assert_eq!(seen.len() as u64, requests, "seed {seed}: every request is answered");
        assert!(seen.values().all(|times| *times == 1), "seed {seed}: once");
        assert!(recorded.windows(2).all(|pair| pair[0].at <= pair[1].at), "seed {seed}");
        let expected: Vec<Nanos> =
            recorded.iter().map(|io| io.duration.expect("it has ended")).collect();
        assert_eq!(replay(make(), &recorded), expected, "seed {seed}");
    }
}

#[test]
fn a_recording_replayed_at_its_times_on_the_same_ssd_has_the_same_durations() {
    // From a queue that is always full to one command at a time.
    holds(m4, 0..10, 3000, 2_000);
    holds(m4, 10..20, 2000, 200_000);
}

#[test]
fn and_on_the_same_disk_too() {
    holds(momentus, 1..2, 400, 500_000);
    holds(momentus, 3..4, 200, 30_000_000);
}

fn only(command: Command, offset: u64, length: u64) -> Request {
    let data = match command {
        Command::Write { .. } => vec![7; length as usize],
        _ => Vec::new(),
    };
    Request { cookie: 1, command, offset, length, data }
}

#[test]
fn what_is_stored_is_what_was_written_and_trims_and_zeroes_are_zero() {
    let settings = TurnSettings { trims: true, ..TurnSettings::default() };
    let contents = Contents::Memory(Memory::new(u64::MAX));
    let mut turn = Turn::new(m4(), contents, settings);
    let mut answers = Vec::new();
    let mut asks = |command, offset, length| {
        turn.arrive(Nanos::ZERO, 0, only(command, offset, length), &mut answers);
        while let Some(due) = turn.due() {
            turn.pass_until(due, &mut answers);
        }
        let mut all = vec![0; 16384];
        turn.contents().read(0, &mut all).expect("memory can be read");
        let sevens = all.iter().filter(|byte| **byte == 7).count();
        (answers.pop().expect("it is answered").outcome, sevens)
    };
    let zeroes = |no_hole, fast| Command::WriteZeroes { fua: false, no_hole, fast };
    assert_eq!(asks(Command::Write { fua: true }, 0, 16384), (Outcome::Done, 16384));
    assert_eq!(asks(Command::Trim { fua: true }, 4096, 4096), (Outcome::Done, 12288));
    assert_eq!(asks(zeroes(false, true), 0, 4096), (Outcome::Done, 8192));
    let (outcome, left) = asks(zeroes(true, true), 8192, 4096);
    assert!(matches!(outcome, Outcome::Failed(Errno::NotSup, _)), "{outcome:?}");
    assert_eq!(left, 8192);
    assert_eq!(asks(zeroes(true, false), 8192, 512), (Outcome::Done, 7680));
    let (outcome, _) = asks(Command::BlockStatus { one: false }, 0, 16384);
    let Outcome::Status(extents) = outcome else { panic!("{outcome:?}") };
    let told: Vec<_> = extents.iter().map(|extent| (extent.length, extent.hole)).collect();
    assert_eq!(told, [(8192, true), (8192, false)]);
}

#[test]
fn a_drive_that_ignores_trims_keeps_what_it_holds_and_makes_zeroes() {
    for ignores_trims in [false, true] {
        let settings =
            TurnSettings { trims: true, ignores_trims, logs_data: true, ..TurnSettings::default() };
        let mut turn = Turn::new(m4(), Contents::Memory(Memory::new(u64::MAX)), settings);
        let mut answers = Vec::new();
        let mut sevens = |command| {
            turn.arrive(Nanos::ZERO, 0, only(command, 0, 4096), &mut answers);
            while let Some(due) = turn.due() {
                turn.pass_until(due, &mut answers);
            }
            assert_eq!(answers.pop().expect("it is answered").outcome, Outcome::Done);
            let mut all = vec![0; 4096];
            turn.contents().read(0, &mut all).expect("memory can be read");
            all.iter().filter(|byte| **byte == 7).count()
        };
        assert_eq!(sevens(Command::Write { fua: false }), 4096);
        let left = if ignores_trims { 4096 } else { 0 };
        assert_eq!(sevens(Command::Trim { fua: false }), left);
        let zeroes = Command::WriteZeroes { fua: false, no_hole: false, fast: false };
        assert_eq!(sevens(zeroes), 0);
    }
}

#[test]
fn a_full_memory_is_an_error_of_the_write_and_of_nothing_else() {
    let contents = Contents::Memory(Memory::new(8192));
    let mut turn = Turn::new(m4(), contents, TurnSettings::default());
    let mut answers = Vec::new();
    for (offset, fits) in [(0, true), (1 << 20, true), (2 << 20, false), (0, true)] {
        let write = Command::Write { fua: false };
        turn.arrive(Nanos::ZERO, 0, only(write, offset, 4096), &mut answers);
        while let Some(due) = turn.due() {
            turn.pass_until(due, &mut answers);
        }
        let outcome = answers.pop().expect("it is answered").outcome;
        let failed = matches!(outcome, Outcome::Failed(Errno::NoSpc, _));
        assert_eq!(failed, !fits, "{offset}: {outcome:?}");
    }
}

#[test]
fn a_long_trim_goes_in_pieces_and_a_flush_behind_it() {
    let settings = TurnSettings { trims: true, records: true, ..TurnSettings::default() };
    let profile = catalogue::built_in("crucial-m4-256gb", &[]).expect("it is there");
    let Model::Ssd(model) = &profile.model else { unreachable!("it is an SSD") };
    let ssd = Ssd::new(model).expect("it was checked");
    let mut turn = Turn::new(ssd, Contents::Memory(Memory::new(1 << 20)), settings);
    let mut answers = Vec::new();
    turn.arrive(Nanos::ZERO, 0, only(Command::Trim { fua: true }, 0, 5 << 30), &mut answers);
    while let Some(due) = turn.due() {
        turn.pass_until(due, &mut answers);
    }
    assert_eq!(answers.len(), 1);
    let told: Vec<_> = turn.recorded().map(|io| (io.op, io.bytes >> 30)).collect();
    assert_eq!(told, [(Op::Trim, 2), (Op::Trim, 2), (Op::Trim, 1), (Op::Flush, 0)]);
}

/// Writes of 4 KiB one after the other, as soon as each is answered, on a drive with these faults: the answers, what was
/// recorded, and the turn.
fn written(faults: &[&str], count: u64) -> (Vec<Answer>, Vec<TraceIo>, Turn<Ssd>) {
    let settings = TurnSettings { records: true, ..TurnSettings::default() };
    let contents = Contents::Memory(Memory::new(u64::MAX));
    let mut turn = Turn::new(m4(), contents, settings);
    let specs: Vec<FaultSpec> = faults.iter().map(|spec| spec.parse().expect(spec)).collect();
    turn.inject(Faults::new(&specs, 1));
    let mut answers = Vec::new();
    for cookie in 0..count {
        let command = Command::Write { fua: false };
        let data = vec![cookie as u8 + 1; 4096];
        let request = Request { cookie, command, offset: cookie * 4096, length: 4096, data };
        turn.arrive(turn.now(), 0, request, &mut answers);
        while let Some(due) = turn.due() {
            turn.pass_until(due, &mut answers);
        }
    }
    assert!(turn.is_idle() && answers.len() as u64 == count);
    let recorded = turn.recorded().collect();
    (answers, recorded, turn)
}

#[test]
fn a_delayed_answer_is_due_later_and_its_recorded_duration_says_so() {
    let (plain, recorded_plain, _) = written(&[], 50);
    let (delayed, recorded, _) = written(&["latency=+20ms@each=10"], 50);
    for n in 0..50 {
        let took = |answers: &[Answer]| {
            let answer =
                answers.iter().find(|answer| answer.request.cookie == n).expect("it is there");
            answer.due.expect("a write takes time").since(answer.at)
        };
        let more = Nanos(if n % 10 == 9 { 20_000_000 } else { 0 });
        // The drive rests while the answer waits, and may be quicker after it.
        let (with, without) = (took(&delayed), took(&plain));
        assert!(
            with >= more && with.since(more) <= without + Nanos(1000),
            "{n}: {with:?}, {without:?}"
        );
        assert_eq!(recorded[n as usize].duration, Some(with), "{n}");
        assert_eq!(recorded_plain[n as usize].duration, Some(without), "{n}");
    }
}

#[test]
fn delayed_answers_come_in_the_order_they_are_due() {
    let settings = TurnSettings::default();
    let mut turn = Turn::new(m4(), Contents::Memory(Memory::new(u64::MAX)), settings);
    turn.inject(Faults::new(&["latency=+1ms@n=1".parse().expect("a fault")], 1));
    let mut answers = Vec::new();
    for cookie in 0..20 {
        let command = Command::Write { fua: false };
        let (offset, data) = (cookie * 4096, vec![1; 4096]);
        let request = Request { cookie, command, offset, length: 4096, data };
        turn.arrive(Nanos(cookie), 0, request, &mut answers);
    }
    while let Some(due) = turn.due() {
        let before = answers.len();
        turn.pass_until(due, &mut answers);
        assert!(answers[before..].iter().all(|answer| answer.due.is_some_and(|at| at <= due)));
    }
    let order: Vec<u64> = answers.iter().map(|answer| answer.request.cookie).collect();
    let dues: Vec<_> = answers.iter().map(|answer| answer.due).collect();
    assert!(dues.is_sorted() && order.last() == Some(&0) && order.len() == 20, "{order:?}");
}

#[test]
fn data_of_a_failed_write_are_stored_or_lost_as_the_fault_says() {
    let stored = |fault: &str| {
        let (answers, recorded, turn) = written(&[fault], 10);
        let failed: Vec<u64> = answers
            .iter()
            .filter(|answer| matches!(answer.outcome, Outcome::Failed(Errno::Io, _)))
            .map(|answer| answer.request.cookie)
            .collect();
        assert_eq!(failed, [6], "{fault}");
        assert!(recorded[6].flags.failed && !recorded[5].flags.failed, "{fault}");
        assert_eq!(turn.faults().expect("there is one").struck().next().expect("it").1, 1);
        let mut byte = [0];
        turn.contents().read(6 * 4096, &mut byte).expect("it can be read");
        byte[0]
    };
    assert_eq!((stored("eio-write@n=7"), stored("eio-write-dropped@n=7")), (7, 0));
}

#[test]
fn what_a_worn_out_drive_refuses_changes_nothing() {
    // Blocks that wear out within a few drive writes.
    let small = [
        "capacity.sectors=200000",
        "nand.dies=2",
        "nand.channels=1",
        "nand.planes=1",
        "nand.page_bytes=4096",
        "nand.pages_per_block=64",
        "nand.blocks_per_plane=230",
        "wear.endurance_cycles=3",
        "wear.endurance_sigma_percent=10",
        "wear.seed=1",
        "wear.levelling=none",
        "wear.threshold_cycles=5",
        "wear.interval_blocks=1",
    ];
    let set: Vec<String> = small.map(String::from).into();
    let model = catalogue::built_in("crucial-m4-64gb", &set).expect("it is possible").model;
    let Model::Ssd(model) = model else { unreachable!("it is an SSD") };
    let ssd = Ssd::new(&model).expect("it was checked");
    let contents = Contents::Memory(Memory::new(u64::MAX));
    let settings = TurnSettings { trims: true, ..TurnSettings::default() };
    let mut turn = Turn::new(ssd, contents, settings);
    let blocks = turn.target().geometry().bytes() / 4096;
    let mut ask = |command, block: u64, byte: u8| {
        let data = if let Command::Write { .. } = command { vec![byte; 4096] } else { Vec::new() };
        let request = Request { cookie: 0, command, offset: block * 4096, length: 4096, data };
        let mut answers = Vec::new();
        turn.arrive(turn.now(), 0, request, &mut answers);
        while let Some(due) = turn.due() {
            turn.pass_until(due, &mut answers);
        }
        let mut held = [0];
        turn.contents().read(block * 4096, &mut held).expect("it can be read");
        (answers.pop().expect("an answer").outcome, held[0])
    };
    const WRITE: Command = Command::Write { fua: false };
    let done = |n: &u64| ask(WRITE, n % blocks, 1).0 == Outcome::Done;
    let written = (0..20 * blocks).take_while(done).count() as u64;
    assert!((blocks..20 * blocks).contains(&written), "{written} of {blocks}");
    let refused = |outcome: &Outcome| matches!(outcome, Outcome::Failed(Errno::Perm, _));
    // One that it took, and that is left alone from here on.
    for (command, byte) in [
        (WRITE, 2),
        (Command::Trim { fua: false }, 0),
        (Command::WriteZeroes { fua: false, no_hole: true, fast: false }, 0),
        (Command::WriteZeroes { fua: false, no_hole: false, fast: false }, 0),
    ] {
        let (outcome, held) = ask(command, 0, byte);
        assert!(refused(&outcome), "{command:?}: {outcome:?}");
        assert_eq!(held, 1, "{command:?}");
    }
}
