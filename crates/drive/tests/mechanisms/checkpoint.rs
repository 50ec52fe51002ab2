//! Pauses in which the firmware saves its map, against closed forms.

use crate::common::*;
use fourcorners_drive::config::*;
use fourcorners_drive::{Io, Nanos, Op, Ssd, Target};

const EVERY: u32 = 100;

/// A controller that takes 10 us for a write and pauses for 2 ms before every 101st, and a buffer
/// that keeps the NAND out of it.
fn drive() -> SsdConfig {
    let mut profile =
        ssd(Shape { dies: 4, blocks_per_die: 512, pages_per_block: 16, effective_op: 0.15 });
    profile.buffer.write_kib = 1 << 17;
    profile.controller.write_command_us = 10.0;
    profile.checkpoint =
        Some(CheckpointSection { every_writes: EVERY, by_data: None, pause_us: 2000.0 });
    profile
}

fn write(unit: u64) -> Io {
    io(Op::Write, unit, 1)
}

/// The latency of a write of 4 KiB that waits for nothing: 10 us, and the link at 600 MB/s.
fn alone() -> Nanos {
    Nanos::from_micros(10.0) + Nanos(6827)
}

#[test]
fn one_command_in_so_many_waits_for_the_pause() {
    let mut drive = make(&drive());
    let latencies = closed_loop(&mut drive, 1, times(350, write));
    for (number, &latency) in latencies.iter().enumerate() {
        let paused = number > 0 && number.is_multiple_of(EVERY as usize);
        let pause = if paused { Nanos::from_micros(2000.0) } else { Nanos::ZERO };
        assert_eq!(latency, alone() + pause, "write {number}");
    }
}

/// Where writes count by their data, one of 16 KiB is four: every 26th waits, and every 101st where they do not.
#[test]
fn a_large_write_counts_more_where_the_data_counts() {
    let paused = |by_data, sectors: u32| {
        let mut profile = drive();
        let section = CheckpointSection { every_writes: EVERY, by_data, pause_us: 2000.0 };
        profile.checkpoint = Some(section);
        let large = |number: u64| Io { sectors, ..write(4 * number) };
        let latencies = closed_loop(&mut make(&profile), 1, times(110, large));
        let waits = |&(_, &latency): &(usize, &Nanos)| latency > Nanos::from_micros(1000.0);
        let numbers = latencies.iter().enumerate().filter(waits).map(|(number, _)| number);
        numbers.collect::<Vec<usize>>()
    };
    assert_eq!(paused(Some(true), 32), [25, 50, 75, 100]);
    assert_eq!(paused(None, 32), [100]);
    assert_eq!(paused(Some(true), 8), [100]);
}

/// What a pause costs is its share of the time, at any depth that keeps the controller busy: 10 us a
/// command and 2 ms for each hundred are 30 us.
#[test]
fn a_busy_controller_loses_the_share_of_the_pauses() {
    for (depth, writes) in [(4, 2001), (32, 2001)] {
        let mut drive = make(&drive());
        closed_loop(&mut drive, depth, times(writes, write));
        let measured = drive.now().as_secs() / (writes - 1) as f64;
        assert!((measured / 30e-6 - 1.0).abs() < 0.01, "depth {depth}: {} us", measured * 1e6);
    }
}

/// Reads are held up as writes are, but none makes a checkpoint due, and no more do TRIMs.
#[test]
fn only_writes_make_one_due() {
    let mut drive = make(&drive());
    closed_loop(&mut drive, 1, times(u64::from(EVERY), write));
    let reads = closed_loop(&mut drive, 1, times(300, |unit| io(Op::Read, 10_000 + unit, 1)));
    let trims = closed_loop(&mut drive, 1, times(300, |unit| io(Op::Trim, unit, 1)));
    let most = reads.iter().chain(&trims).max().expect("some");
    assert!(*most < Nanos::from_micros(100.0), "{most:?}");
    let due = closed_loop(&mut drive, 1, times(1, write));
    assert_eq!(due[0], alone() + Nanos::from_micros(2000.0));
}

#[test]
fn a_purged_drive_begins_anew() {
    let mut drive = make(&drive());
    closed_loop(&mut drive, 1, times(u64::from(EVERY), write));
    drive.purge();
    let latencies = closed_loop(&mut drive, 1, times(u64::from(EVERY) + 1, write));
    assert_eq!(latencies.iter().filter(|&&latency| latency > alone()).count(), 1);
    assert!(latencies[EVERY as usize] > alone());
}

/// A pause of no length is the drive without the section, to the nanosecond.
#[test]
fn no_pause_is_no_section() {
    let latencies = |change: fn(&mut SsdConfig)| {
        let mut profile = drive();
        change(&mut profile);
        let mut random = Random(7);
        let units = profile.capacity.sectors / 8;
        closed_loop(&mut make(&profile), 8, times(5000, |_| write(random.below(units))))
    };
    let without = latencies(|profile| profile.checkpoint = None);
    let empty = latencies(|profile| {
        let every_writes = EVERY;
        profile.checkpoint = Some(CheckpointSection { every_writes, by_data: None, pause_us: 0.0 });
    });
    assert_eq!(without, empty);
    assert_ne!(without, latencies(|_| ()));
}

#[test]
fn each_value_has_its_range() {
    let refused = |every: u32, pause: f64| {
        let mut profile = drive();
        profile.checkpoint =
            Some(CheckpointSection { every_writes: every, by_data: None, pause_us: pause });
        let error = profile.check().expect_err("it is refused");
        assert_eq!(Ssd::new(&profile).err(), Some(error.clone()));
        error.to_string()
    };
    let every = "is not possible: it must be 1 to 1073741824";
    assert_eq!(refused(0, 1.0), format!("checkpoint.every_writes = 0 {every}"));
    assert_eq!(refused(u32::MAX, 1.0), format!("checkpoint.every_writes = 4294967295 {every}"));
    let pause = "is not possible: it must be 0 to 10000000";
    assert_eq!(refused(1, -1.0), format!("checkpoint.pause_us = -1 {pause}"));
    assert_eq!(refused(1, f64::NAN), format!("checkpoint.pause_us = NaN {pause}"));
}
