//! A drive's state: a drive that remembers it is the drive it was taken from, and no other state
//! makes a drive at all.

use crate::common::*;
use fourcorners_drive::config::*;
use fourcorners_drive::{Done, Fault, FaultCause, Io, Lba, Nanos, Op, Ssd, SsdState, Tag, Target};
use serde_json::Value;

const SMALL: Shape = Shape { dies: 3, blocks_per_die: 24, pages_per_block: 8, effective_op: 0.2 };

/// A drive in which every kind of state there is is used.
fn profile(random: &mut Random) -> SsdConfig {
    use VictimPolicy::*;
    let mut profile = ssd(SMALL);
    profile.nand.planes = 1 + random.below(2) as u32;
    profile.nand.page_bytes = 4096 << random.below(2);
    profile.gc.policy = [Greedy, Fifo, CostBenefit, DChoices, Random][random.below(5) as usize];
    profile.gc.pacing = [Pacing::Paced, Pacing::Delayed][random.below(2) as usize];
    profile.controller.read_ahead_kib = 32;
    profile.controller.write_command_us = 3.0;
    profile.host.command_us = 7.0;
    profile.buffer.write_kib = 128;
    set_effective_op(&mut profile, 0.2);
    if random.below(2) == 0 {
        profile.power = Some(power());
        // Of the seed, so that all else is drawn as it is without it.
        profile.heat = random.0.is_multiple_of(2).then(|| HeatSection {
            package_s: 0.1,
            throttle_c: 32.0,
            resume_c: 31.0,
            throttled_percent: 30.0,
            work_ms: 0.5,
            ..HeatSection::default()
        });
    }
    if random.below(2) == 0 {
        profile.link = pcie(3, 4, 256);
    }
    if random.below(2) == 0 {
        let unit = [4096, 8192, 16384][random.below(3) as usize];
        let row = profile.nand.planes * profile.nand.page_bytes;
        let unit_bytes = Some(unit.min(row));
        profile.map = Some(MapSection { unit_bytes, ..MapSection::default() });
    }
    if random.below(2) == 0 {
        // Some blocks can fail before the drive is worn out.
        set_effective_op(&mut profile, 0.6);
        profile.wear = Some(wear(random));
    }
    if random.below(2) == 0 {
        profile.trim.mode = Some(TrimMode::Blocking);
        profile.trim.command_us = Some(900.0);
    }
    if random.below(2) == 0 {
        profile.nand_cells = Some(NandCellsSection {
            kind: CellKind::Mlc,
            order: PageOrder::Shadow,
            pages_per_level: 1,
            middle_program_ratio: None,
            upper_program_ratio: Some(2.5),
            middle_read_ratio: None,
            upper_read_ratio: None,
        });
        profile.nand_suspend = Some(NandSuspendSection {
            program_suspend_us: Some(30.0),
            erase_suspend_us: Some(40.0),
            resume_us: 20.0,
            most_suspensions: 3,
            patience_us: Some(500.0),
        });
        profile.nand.cache_reads = Some(true);
        profile.nand.cache_programs = Some(true);
    }
    if random.below(2) == 0 {
        profile.gc.idle_ms = Some(1.0);
        profile.gc.idle_free_blocks = Some(profile.gc.start_free_blocks + 2);
    }
    if random.below(2) == 0 {
        let mut mib = || (random.below(2) == 0).then_some(1);
        let (fixed_mib, dynamic_mib) = (mib(), mib());
        profile.slc_buffer = Some(SlcBufferSection {
            dynamic_mib: if fixed_mib.is_none() { Some(1) } else { dynamic_mib },
            fixed_mib,
            cell_bits: 2,
            program_us: 90.0,
            read_us: 20.0,
            when_full: [WhenSlcFull::Direct, WhenSlcFull::Fold][random.below(2) as usize],
            idle_ms: 1.0,
            fold_mb_per_s: (random.below(2) == 0).then_some(50.0),
        });
        // On top of the blocks for data.
        let row = profile.nand.planes * profile.nand.page_bytes;
        let rows = profile.nand.dies * (profile.nand.pages_per_block / 2);
        profile.nand.blocks_per_plane += (1u32 << 20).div_ceil(rows * row);
    }
    if random.below(3) == 0 {
        let section = CompressionSection {
            granule_bytes: 512 << random.below(3),
            least_stored_percent: 20,
            overhead_bytes: 0,
            parity_rows: (random.below(2) == 0).then_some(4),
            store_4k_us: (random.below(2) == 0).then_some(3.0),
        };
        let sectors = profile.capacity.sectors;
        profile.compression = Some(section);
        // What is left of a die's blocks for parity and at their ends.
        profile.capacity.sectors = sectors * 6 / 10 / 8 * 8;
        if profile.check().is_err() {
            profile.compression = None;
            profile.capacity.sectors = sectors;
        }
    }
    if profile.gc.pacing == Pacing::Delayed && random.below(2) == 0 {
        profile.gc.pacing = Pacing::DelayedUntilSequential;
        profile.gc.sequential_free_blocks = Some(profile.gc.start_free_blocks + 3);
        profile.gc.sequential_gain = Some(2);
        profile.gc.sequential_commands = Some(3);
    }
    if profile.compression.is_none() && random.0.is_multiple_of(2) {
        profile.buffer.coalesce = Some(true);
    }
    if profile.gc.pacing == Pacing::Paced && random.below(2) == 0 {
        profile.gc.pacing = Pacing::Batched;
        profile.gc.batch_free_blocks = Some(profile.gc.start_free_blocks + 3);
        profile.gc.batch_moves = Some(4);
    }
    profile.gc.stall = Some([Stall::Block, Stall::Victim][random.below(2) as usize]);
    if random.below(2) == 0 {
        let every_writes = 1 + random.below(1000) as u32;
        profile.checkpoint =
            Some(CheckpointSection { every_writes, by_data: None, pause_us: 700.0 });
    }
    profile.controller.move_4k_us = Some(random.below(3) as f64);
    let may_limit = profile.gc.pacing == Pacing::Paced && profile.slc_buffer.is_none();
    if may_limit && random.below(4) > 0 {
        profile.write_limit = Some(WriteLimitSection {
            us_per_4k: 70.0,
            burst_kib: 16,
            pause_us: Some(3000.0),
            pause_every_kib: Some(640),
            ..WriteLimitSection::default()
        });
    }
    profile
}

/// Blocks that fail sooner or later, or do not.
fn wear(random: &mut Random) -> WearSection {
    use Levelling::*;
    WearSection {
        endurance_cycles: [5, 8, 12, 1000][random.below(4) as usize],
        endurance_sigma_percent: 20.0,
        seed: random.below(1000),
        levelling: [None, Dynamic, Static][random.below(3) as usize],
        threshold_cycles: 2,
        interval_blocks: 2,
    }
}

/// Any command, also unaligned ones; now and then a sequential run.
fn any_io(random: &mut Random, sectors: u64) -> Io {
    let op = [Op::Read, Op::Write, Op::Write, Op::Write, Op::Trim, Op::Flush];
    let op = op[random.below(op.len() as u64) as usize];
    if op == Op::Flush {
        return Io::FLUSH;
    }
    let length = if op == Op::Trim { 200 } else { 40 };
    let length = 1 + random.below(length.min(sectors));
    let lba = Lba(random.below(sectors - length + 1));
    let fua = op == Op::Write && random.below(10) == 0;
    let compressible_percent = random.below(101) as u8;
    Io { op, lba, sectors: length as u32, compressible_percent, fua }
}

/// How a command ended.
type Ended = Result<Done, Fault>;

/// Runs `count` commands eight at a time, of which some are in order, with a pause in between; a
/// drive that is worn out refuses some of them.
fn run(drive: &mut Ssd, random: &mut Random, count: u64) -> Vec<Ended> {
    let sectors = drive.geometry().sectors;
    let mut ended = each_ended(drive, 8, &mut times(count / 2, |_| any_io(random, sectors)));
    // Files written in turn, and the last of a command watched: what comes next goes on there.
    let third = sectors / 8 / 3;
    let in_turn = |i: u64| io(Op::Write, i % 2 * third + i / 2 % third, 1);
    let from = random.below(third) * 2;
    ended.extend(each_ended(drive, 2, &mut times(count / 8, |i| in_turn(from + i))));
    // Not long enough for all that can be collected.
    let pause = Nanos::from_micros(500.0 + 100.0 * random.below(200) as f64);
    let until = drive.now() + pause;
    assert_eq!(drive.reap(until), Ok(None));
    ended.extend(each_ended(drive, 8, &mut times(count / 2, |_| any_io(random, sectors))));
    // A sequential reader, so that something is read ahead.
    ended.extend(each_ended(drive, 1, &mut times(5, |i| io(Op::Read, i, 1))));
    ended
}

fn each_ended(drive: &mut Ssd, depth: u32, next: &mut impl FnMut() -> Option<Io>) -> Vec<Ended> {
    let mut ended = Vec::new();
    let mut free: Vec<Tag> = (0..depth).map(Tag).collect();
    loop {
        while let Some(tag) = free.pop() {
            let Some(io) = next() else { break };
            drive.submit(tag, io);
        }
        let one = match drive.reap(Nanos::MAX) {
            Ok(Some(done)) => Ok(done),
            Ok(None) => return ended,
            Err(fault) => {
                assert_eq!(fault.cause, FaultCause::WornOut);
                Err(fault)
            }
        };
        free.push(one.map_or_else(|fault| fault.tag, |done| done.tag));
        ended.push(one);
    }
}

/// Writes all of a drive that takes it.
fn fill_if_it_takes_it(drive: &mut Ssd) {
    let sectors = drive.geometry().sectors;
    let writes = sectors.div_ceil(256);
    let write =
        |i: u64| Io { sectors: (sectors - i * 256).min(256) as u32, ..io(Op::Write, i * 32, 1) };
    each_ended(drive, 32, &mut times(writes, write));
}

fn used(profile: &SsdConfig, random: &mut Random) -> Ssd {
    let mut drive = make(profile);
    fill(&mut drive);
    let count = 500 + random.below(1500);
    run(&mut drive, random, count);
    drive
}

fn state(drive: &Ssd) -> String {
    let state = drive.state().expect("nothing is in flight");
    serde_json::to_string(&state).expect("a state has only string keys")
}

fn restore(profile: &SsdConfig, json: &str) -> Result<Ssd, String> {
    let state: SsdState<'_> = serde_json::from_str(json).map_err(|error| error.to_string())?;
    Ssd::restore(profile, state).map_err(|error| error.to_string())
}

#[test]
fn a_restored_drive_is_the_drive_to_the_bit() {
    let (mut failing, mut worn_out, mut compressing) = (0, 0, 0);
    for seed in 0..120 {
        let mut random = Random(seed);
        let profile = profile(&mut random);
        let mut drive = used(&profile, &mut random);
        compressing += u32::from(profile.compression.is_some());
        failing += u32::from(drive.wear().blocks_retired > 0 && !drive.is_read_only());
        let mut restored = restore(&profile, &state(&drive))
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(state(&restored), state(&drive), "seed {seed}");
        let (mut one, mut other) = (Random(seed + 1000), Random(seed + 1000));
        let ended = run(&mut drive, &mut one, 2000);
        assert_eq!(run(&mut restored, &mut other, 2000), ended, "seed {seed}");
        assert_eq!(restored.wear(), drive.wear(), "seed {seed}");
        worn_out += u32::from(drive.is_read_only());
        assert_eq!(restored.counters(), drive.counters(), "seed {seed}");
        assert_eq!(restored.energy_j(restored.now()), drive.energy_j(drive.now()), "seed {seed}");
        assert_eq!(state(&restored), state(&drive), "seed {seed}");
        // A drive that has worn out, too, and one that was purged.
        restore(&profile, &state(&drive)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        drive.purge();
        restore(&profile, &state(&drive)).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
    assert!(compressing > 10, "{compressing} compress");
    println!("{failing} with failed blocks, {worn_out} worn out");
    assert!(failing > 5 && worn_out > 5, "{failing} with failed blocks, {worn_out} worn out");
}

#[test]
fn a_drive_at_work_has_no_state() {
    let mut drive = make(&ssd(SMALL));
    drive.submit(Tag(0), io(Op::Write, 0, 1));
    assert!(drive.state().is_none());
    drive.reap(Nanos::MAX).expect("no fault");
    assert!(drive.state().is_some());
}

#[test]
fn another_drive_refuses_it() {
    let mut random = Random(1);
    let profile = profile(&mut random);
    let json = state(&used(&profile, &mut random));
    type Change = fn(&mut SsdConfig);
    let cases: [(&str, Change); 10] = [
        ("its NAND has another shape", |p| p.nand.pages_per_block = 16),
        ("its map is of another length", |p| p.capacity.sectors -= 8),
        ("its collection is another", |p| p.gc.start_free_blocks = 1),
        ("its NAND is another", |p| p.nand.program_us = 501.0),
        ("its NAND is another", |p| p.nand.channels = 1),
        ("its write buffer is another", |p| p.buffer.write_kib = 64),
        ("its read-ahead is another", |p| p.controller.read_ahead_kib = 16),
        ("its idle time is another", |p| {
            p.gc.idle_ms = Some(7.0);
            p.gc.idle_free_blocks = Some(9);
        }),
        ("its heat is another", |p| {
            p.heat.as_mut().expect("seed 1 has [heat]").sink = HeatSink::Fitted;
        }),
        ("it has streams, which keep no state", |p| p.streams = Some(streams())),
    ];
    for (told, change) in cases {
        let mut other = profile.clone();
        change(&mut other);
        let error = restore(&other, &json).expect_err(told);
        assert_eq!(error, format!("it is no state of this drive: {told}"));
    }
    let mut other = profile.clone();
    other.power = match other.power {
        Some(_) => None,
        None => panic!("seed 1 has [power]"),
    };
    // Which it has of its power only.
    other.heat = None;
    let error = restore(&other, &json).expect_err("no power");
    assert!(error.ends_with("its power is another"), "{error}");
}

/// All numbers of a value, in some order.
fn numbers<'a>(value: &'a mut Value, found: &mut Vec<&'a mut Value>) {
    match value {
        Value::Number(_) => found.push(value),
        Value::Array(list) => list.iter_mut().for_each(|value| numbers(value, found)),
        Value::Object(map) => map.values_mut().for_each(|value| numbers(value, found)),
        _ => {}
    }
}

/// All lists of a value.
fn lists<'a>(value: &'a mut Value, found: &mut Vec<&'a mut Vec<Value>>) {
    // A list of lists is not taken itself, which the tests below can do without.
    match value {
        Value::Array(list) => {
            if list.iter().any(|entry| entry.is_array() || entry.is_object()) {
                list.iter_mut().for_each(|value| lists(value, found));
            } else {
                found.push(list);
            }
        }
        Value::Object(map) => map.values_mut().for_each(|value| lists(value, found)),
        _ => {}
    }
}

/// Something else than the number, of a kind that is likely to hurt.
fn spoiled(number: &Value, random: &mut Random) -> Value {
    let old = number.as_u64().unwrap_or(0);
    let new = match random.below(8) {
        0 => 0,
        1 => old.wrapping_add(1),
        2 => old.wrapping_sub(1),
        3 => u64::from(u32::MAX),
        4 => u64::MAX,
        5 => u64::MAX >> random.below(64),
        6 => old ^ (1 << random.below(32)),
        _ => random.below(300),
    };
    new.into()
}

/// Changes one part of a state, small parts as likely as large ones.
fn spoil(state: &mut Value, random: &mut Random) {
    let parts = state.as_object_mut().expect("a state is a map");
    let count = parts.len() as u64;
    let mut part = parts.values_mut().nth(random.below(count) as usize).expect("in range");
    // Down to some place in it: nested parts are taken in turn, so that a die's pace is changed as
    // often as the map.
    while let Value::Object(map) = part {
        if map.is_empty() {
            return;
        }
        let count = map.len() as u64;
        part = map.values_mut().nth(random.below(count) as usize).expect("in range");
    }
    if random.below(6) == 0 {
        let mut found = Vec::new();
        lists(part, &mut found);
        if found.is_empty() {
            return;
        }
        let count = found.len() as u64;
        let list = found.swap_remove(random.below(count) as usize);
        match list.len() as u64 {
            0 => list.push(random.below(300).into()),
            length if random.below(2) == 0 => {
                list.remove(random.below(length) as usize);
            }
            length => list.push(list[random.below(length) as usize].clone()),
        }
        return;
    }
    let mut found = Vec::new();
    numbers(part, &mut found);
    if found.is_empty() {
        return;
    }
    let count = found.len() as u64;
    let number = found.swap_remove(random.below(count) as usize);
    *number = spoiled(number, random);
}

#[test]
fn a_spoiled_state_is_refused_or_makes_a_drive_that_works() {
    let (mut refused, mut taken) = (0, 0);
    for seed in 0..24 {
        let mut random = Random(seed);
        let profile = profile(&mut random);
        let drive = used(&profile, &mut random);
        let whole: Value = serde_json::from_str(&state(&drive)).expect("our own JSON");
        for attempt in 0..250 {
            let mut random = Random(seed << 32 | attempt);
            let mut spoiled = whole.clone();
            (0..=random.below(2)).for_each(|_| spoil(&mut spoiled, &mut random));
            if spoiled == whole {
                continue;
            }
            let place = format!("seed {seed}, attempt {attempt}");
            match restore(&profile, &spoiled.to_string()) {
                Err(_) => refused += 1,
                Ok(mut drive) => {
                    taken += 1;
                    drive.check_map().unwrap_or_else(|error| panic!("{place}: {error}"));
                    println!("{place}");
                    run(&mut drive, &mut random, 1000);
                    // What was counted before is added to and multiplied.
                    drive.counters();
                    drive.wear();
                    drive.energy(drive.now());
                    fill_if_it_takes_it(&mut drive);
                    drive.check_map().unwrap_or_else(|error| panic!("{place}, then {error}"));
                    drive.purge();
                    run(&mut drive, &mut random, 100);
                }
            }
        }
    }
    println!("{refused} refused, {taken} taken");
    // What is stale (what dead places held, when a block was closed) may be anything.
    assert!(refused > 1500 && taken > 200, "{refused} refused, {taken} taken");
}

#[test]
fn whether_writes_are_in_order_is_remembered() {
    let mut profile = ssd(SMALL);
    profile.gc.pacing = Pacing::DelayedUntilSequential;
    profile.gc.sequential_free_blocks = Some(9);
    profile.gc.sequential_gain = Some(2);
    profile.gc.sequential_commands = Some(1);
    let mut drive = make(&profile);
    fill(&mut drive);
    let units = drive.geometry().sectors / 8;
    overwrite(&mut drive, &mut Random(1), units, units * 2);
    closed_loop(&mut drive, 1, times(1, |_| io(Op::Write, 8, 4)));
    let json = state(&drive);
    let mut restored = restore(&profile, &json).expect("its own state");
    // The next write goes on where the last one ended, so that collection works ahead of it.
    let before = restored.counters().moved_units;
    for drive in [&mut drive, &mut restored] {
        closed_loop(drive, 1, times(1, |_| io(Op::Write, 12, 4)));
    }
    assert_eq!(state(&restored), state(&drive));
    assert!(restored.counters().moved_units > before);
    // It is told by nothing else: a drive that watches two commands is another.
    profile.gc.sequential_commands = Some(2);
    let error = restore(&profile, &json).expect_err("it watches another number");
    assert!(error.ends_with("its writes in order are others"), "{error}");
}

#[test]
fn a_drive_with_streams_has_no_state() {
    let mut profile = ssd(SMALL);
    let json = state(&make(&profile));
    profile.streams = Some(streams());
    set_effective_op(&mut profile, 0.2);
    assert!(make(&profile).state().is_none());
    let error = restore(&profile, &json).expect_err("it has no state");
    assert!(error.ends_with("it has streams, which keep no state"), "{error}");
}

#[test]
fn a_drive_whose_map_is_not_all_in_memory_has_no_state() {
    let mut profile = ssd(SMALL);
    let all = make(&profile);
    let json = state(&all);
    profile.map = Some(MapSection { memory_kib: Some(8), ..MapSection::default() });
    assert!(make(&profile).state().is_none());
    let error = restore(&profile, &json).expect_err("it has no state");
    assert!(error.ends_with("its map has limited memory, which keeps no state"), "{error}");
}
