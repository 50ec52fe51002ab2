//! Commands of every kind at every size and alignment, on arrays of every kind: each is answered once, time never
//! goes back, and the same commands have the same answers.

use crate::common::Random;
use fourcorners_array::{Array, ArrayConfig, Level};
use fourcorners_drive::config::SsdConfig;
use fourcorners_drive::{Fault, FaultCause, Io, Lba, Nanos, Null, Op, Ssd, Tag, Target};

/// Commands in all.
const COMMANDS: u64 = 10_000_000;

/// An I/O of any kind and size; one in some hundreds is out of range.
fn drawn_io(random: &mut Random, sectors: u64) -> Io {
    let op = match random.below(100) {
        0..4 => return Io::FLUSH,
        4..8 => Op::Trim,
        8..50 => Op::Read,
        _ => Op::Write,
    };
    let length = match random.below(32) {
        0 => random.one_of(&[0, 1, 7, 8, 9, 65_535, u32::MAX]),
        1..4 => 1 + random.below(4096) as u32,
        4..20 => 8,
        _ => 8 * (1 + random.below(64) as u32),
    };
    let lba = match random.below(256) {
        0 => u64::MAX - random.below(1 << 10),
        1 => random.below(sectors * 2),
        // Where many meet in a stripe.
        2..64 => random.below(sectors.min(4096)),
        _ => random.below(sectors) / 8 * 8,
    };
    Io { op, lba: Lba(lba), sectors: length, ..Io::FLUSH }
}

fn config(random: &mut Random) -> (ArrayConfig, usize) {
    let level =
        random.one_of(&[Level::Concat, Level::Raid0, Level::Raid1, Level::Raid5, Level::Raid10]);
    let members = match level {
        Level::Raid10 => 4 + 2 * random.below(3) as usize,
        Level::Raid5 => 3 + random.below(6) as usize,
        _ => 2 + random.below(7) as usize,
    };
    let stands_in = matches!(level, Level::Raid1 | Level::Raid5 | Level::Raid10);
    let failed = (stands_in && random.below(2) == 0).then(|| random.below(members as u64) as usize);
    let rebuilds = failed.is_some() && random.below(2) == 0;
    let config = ArrayConfig {
        level,
        chunk_bytes: 4096 << random.below(6),
        trim: random.below(4) > 0,
        failed,
        rebuild_mb_per_s: rebuilds.then_some(50.0),
    };
    (config, members)
}

#[derive(Default, PartialEq, Eq, Debug)]
struct Seen {
    answered: u64,
    refused: u64,
    /// Of all times and tags of answers, in their order.
    digest: u64,
}

/// Keeps up to `depth` I/Os in flight until `commands` were submitted.
fn play<T: Target>(
    array: &mut Array<T>,
    trims: bool,
    random: &mut Random,
    depth: u32,
    commands: u64,
) -> Result<Seen, String> {
    let geometry = array.geometry();
    let mut flying: Vec<Option<Io>> = vec![None; depth as usize];
    let mut free: Vec<Tag> = (0..depth).map(Tag).collect();
    let (mut seen, mut submitted) = (Seen::default(), 0);
    loop {
        while submitted < commands
            && let Some(tag) = free.pop()
        {
            let io = drawn_io(random, geometry.sectors);
            flying[tag.0 as usize] = Some(io);
            array.submit(tag, io);
            submitted += 1;
        }
        let before = array.now();
        let (tag, fault) = match array.reap(Nanos::MAX) {
            Ok(Some(done)) if done.at < before || array.now() != done.at => {
                return Err(format!("answered at {:?}, asked at {before:?}", done.at));
            }
            Ok(Some(done)) => (done.tag, None),
            Ok(None) => break,
            Err(Fault { tag, cause, .. }) => (tag, Some(cause)),
        };
        let Some(io) = flying.get_mut(tag.0 as usize).and_then(Option::take) else {
            return Err(format!("{tag:?} was answered and is not in flight"));
        };
        // What nobody can do, and a TRIM where none is taken.
        let impossible = geometry.refuses(io);
        let unsupported = (io.op == Op::Trim && !trims).then_some(FaultCause::Unsupported);
        let right = match fault {
            None => impossible.is_none() && unsupported.is_none(),
            fault => fault == impossible || fault == unsupported,
        };
        if !right {
            return Err(format!("{io:?}: {fault:?}, not {impossible:?} or {unsupported:?}"));
        }
        seen.answered += 1;
        seen.refused += u64::from(fault.is_some());
        let now = array.now().0 ^ (u64::from(tag.0) << 48);
        seen.digest = (seen.digest ^ now).wrapping_mul(0x0100_0000_01b3).rotate_left(17);
        free.push(tag);
    }
    match flying.iter().flatten().next() {
        Some(io) => Err(format!("{io:?} was never answered")),
        None => Ok(seen),
    }
}

/// An array that is drawn, of drives that are made by their number, and what it answers.
fn drawn<T: Target>(seed: u64, commands: u64, drive: impl Fn(u64) -> T) -> (Level, Seen) {
    let mut random = Random(seed);
    let (config, members) = config(&mut random);
    let drives: Vec<T> = (0..members as u64).map(drive).collect();
    let most = drives[0].geometry().queue_depth.min(64);
    let mut array = Array::new(&config, drives).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    let depth = 1 + random.below(u64::from(most)) as u32;
    let seen = play(&mut array, config.trim, &mut random, depth, commands)
        .unwrap_or_else(|why| panic!("seed {seed}: {why}\n{config:?}, {members} drives"));
    (config.level, seen)
}

/// Drives that answer in their own time each, so that they overtake one another.
fn null(number: u64) -> Null {
    Null::new(1 << 18, Nanos(50_000 + 7_919 * number))
}

/// SSDs of 225 MB, which collect from the second pass on.
fn ssd(number: u64) -> Ssd {
    let mut config = SsdConfig::default();
    config.nand.dies = 2;
    config.nand.channels = 1;
    config.capacity.sectors = 440_000;
    config.nand.read_us += number as f64;
    Ssd::new(&config).expect("it is one")
}

#[test]
fn ten_million_commands_are_each_answered_once_and_for_a_reason() {
    let (of_nulls, of_ssds) = (COMMANDS * 9 / 10 / 90, COMMANDS / 10 / 10);
    let mut levels = std::collections::BTreeMap::new();
    let (mut answered, mut refused) = (0, 0);
    for seed in 0..100 {
        let (level, seen) = match seed % 10 {
            0 => drawn(seed, of_ssds, ssd),
            _ => drawn(seed, of_nulls, null),
        };
        *levels.entry(level.name()).or_insert(0) += 1;
        answered += seen.answered;
        refused += seen.refused;
    }
    // What is drawn must not become dull unnoticed.
    assert_eq!(answered, COMMANDS);
    assert!((100_000..2_000_000).contains(&refused), "{refused} refused");
    assert!(levels.len() == 5 && levels.values().all(|&arrays| arrays > 8), "{levels:?}");
}

#[test]
fn the_same_commands_have_the_same_answers_and_others_others() {
    for seed in [0, 3, 10, 11] {
        let again = |seed| match seed % 10 {
            0 => drawn(seed, 20_000, ssd),
            _ => drawn(seed, 20_000, null),
        };
        assert_eq!(again(seed), again(seed), "seed {seed}");
        assert_ne!(again(seed).1.digest, again(seed + 20).1.digest, "seed {seed}");
    }
}
