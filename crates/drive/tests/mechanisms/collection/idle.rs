//! What a drive does with idle time.

use super::*;

const HOUR: Nanos = Nanos(3_600_000_000_000);

/// Free blocks a die that the drive works to when idle.
const TARGET: u64 = 12;

fn idle_profile() -> SsdConfig {
    let mut profile = profile();
    profile.gc.idle_ms = Some(100.0);
    profile.gc.idle_free_blocks = Some(TARGET as u32);
    profile
}

/// An hour wins `TARGET` free blocks a die, of which 3 blocks' worth is what the drive keeps anyway
/// (2 and half of two open ones): writes at random run at the speed of a fresh drive until that is
/// used up.
#[test]
fn after_an_idle_hour_a_burst_is_as_fast_as_fresh_for_as_long_as_the_space_lasts() {
    for pacing in [Pacing::Paced, Pacing::Delayed] {
        let mut profile = idle_profile();
        profile.gc.pacing = pacing;
        let mut random = Random(1);
        let mut drive = tortured(&profile, &mut random);
        let used = random_write_us(&mut drive, &mut random, 20_000);
        pause(&mut drive, HOUR);
        let before = drive.counters().moved_units;
        overwrite(&mut drive, &mut random, 1, 1);
        let moved = drive.counters().moved_units;
        assert!(moved > before + (TARGET - 3) * BLOCKS_OF_ALL, "{pacing:?}: {before}, {moved}");
        // Of what is open, a die may have nothing left or two blocks.
        let sure = (TARGET - 3) * BLOCKS_OF_ALL - u64::from(DIES);
        let burst = random_write_us(&mut drive, &mut random, sure);
        assert_eq!(drive.counters().moved_units, moved, "{pacing:?} collected in the burst");
        let fresh = fresh_us(&profile);
        assert!((burst / fresh - 1.0).abs() < 0.02, "{pacing:?}: {burst} us, fresh {fresh}");
        assert!(used > 3.0 * fresh, "{pacing:?}: {used} us used, fresh {fresh}");
        let units = drive.geometry().sectors / 8;
        overwrite(&mut drive, &mut random, units, 4 * BLOCKS_OF_ALL);
        let after = drive.counters().moved_units;
        assert!(after > moved, "{pacing:?}: the space lasts too long");
        let again = random_write_us(&mut drive, &mut random, 20_000);
        assert!((again / used - 1.0).abs() < 0.1, "{pacing:?}: {again} us, before {used}");
        drive.check_map().unwrap_or_else(|error| panic!("{error}"));
    }
}

/// A row that collection moves costs a die a read, two transfers, a program, and its share of an
/// erase. What is begun when the next command comes is one operation.
#[test]
fn idle_time_is_used_to_the_end_and_no_further() {
    for ms in [150, 500, 1000, 2500] {
        let mut random = Random(2);
        let mut profile = idle_profile();
        // More than there is time for.
        profile.gc.idle_free_blocks = Some(30);
        let mut drive = tortured(&profile, &mut random);
        // What was written last is on the NAND before the time is used.
        drive.settle();
        closed_loop(&mut drive, 1, times(1, |_| io(Op::Read, 0, 1)));
        let before = drive.counters();
        pause(&mut drive, Nanos(ms * 1_000_000));
        let at = drive.now();
        // One unit of every die: as rows are single pages, some of so many are on each.
        for unit in 0..32 {
            let latencies = closed_loop(&mut drive, 1, times(1, |_| io(Op::Read, unit, 1)));
            let read_us = 50.0 + 2.0 * 4096.0 / 400.0 + 4096.0 / 600.0;
            let most = Nanos::from_micros(2000.0 + 2.0 * read_us);
            assert!(latencies[0] <= most, "{ms} ms: {:?}", latencies[0]);
        }
        assert!(drive.now() - at < Nanos(40_000_000), "no more idle time was made");
        let rows = drive.counters().programmed_units - before.programmed_units;
        let row_us = 50.0 + 500.0 + 2.0 * 10.24 + 2000.0 / f64::from(PAGES);
        let expected = (ms - 100) as f64 * 1e3 / row_us * f64::from(DIES);
        let error = rows as f64 / expected - 1.0;
        let most = 0.01 + 8.0 * f64::from(DIES) / expected;
        assert!(error.abs() < most, "{ms} ms: {rows} rows, expected {expected}");
        drive.check_map().unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn a_short_pause_and_a_drive_with_space_move_nothing() {
    let mut random = Random(3);
    let mut drive = tortured(&idle_profile(), &mut random);
    let units = drive.geometry().sectors / 8;
    let programmed = |drive: &Ssd| drive.counters().programmed_units;
    let before = programmed(&drive);
    for _ in 0..50 {
        // Idle time counts from the last answer.
        pause(&mut drive, Nanos(99_000_000));
        closed_loop(&mut drive, 1, times(1, |_| io(Op::Read, 0, 1)));
    }
    assert_eq!(programmed(&drive), before);
    // Once there is space, another hour changes nothing.
    pause(&mut drive, HOUR);
    closed_loop(&mut drive, 1, times(1, |_| io(Op::Read, 0, 1)));
    let after = drive.counters();
    assert!(after.programmed_units > before);
    pause(&mut drive, HOUR);
    closed_loop(&mut drive, 1, times(1, |_| io(Op::Read, 0, 1)));
    assert_eq!(drive.counters(), after);
    let mut new = make(&idle_profile());
    pause(&mut new, HOUR);
    overwrite(&mut new, &mut random, units, 1);
    assert_eq!(new.counters().moved_units, 0);
}

/// What is collected before it must be could have been overwritten first. Write amplification is
/// that of a drive with a spare between that at which collection ends and that at which it would
/// have to begin.
#[test]
fn idle_collection_amplifies_writes() {
    let amplification = |profile: &SsdConfig| {
        let mut random = Random(4);
        let mut drive = tortured(profile, &mut random);
        let (units, before) = (drive.geometry().sectors / 8, drive.counters());
        for _ in 0..120 {
            overwrite(&mut drive, &mut random, units, (TARGET - 3) * BLOCKS_OF_ALL);
            pause(&mut drive, HOUR);
        }
        drive.counters().write_amplification_since(&before).expect("the host wrote")
    };
    let idle = amplification(&idle_profile());
    let busy = amplification(&profile());
    // As if it kept the target all the time, and no reserve.
    let mut least_spare = profile();
    least_spare.gc.start_free_blocks = TARGET as u32 + 1;
    let most = amplification(&least_spare);
    assert!(busy * 1.05 < idle && idle < most, "{busy} without, {idle} with, {most} at most");
}

#[test]
fn the_last_die_gets_as_much_of_a_shared_channel_as_the_first() {
    // Four dies on one channel that is the bottleneck: 410 us a page, 50 and 100 in the die.
    let mut profile = idle_profile();
    profile.nand.channels = 1;
    profile.nand.bus_mb_per_s = 10.0;
    profile.nand.program_us = 100.0;
    set_effective_op(&mut profile, 0.12);
    let mut random = Random(5);
    let mut drive = tortured(&profile, &mut random);
    drive.settle();
    let before = drive.counters().programmed_units;
    pause(&mut drive, Nanos(2_100_000_000));
    closed_loop(&mut drive, 1, times(1, |_| io(Op::Read, 0, 1)));
    let rows = drive.counters().programmed_units - before;
    let expected = 2e6 / (2.0 * 409.6);
    assert!((rows as f64 / expected - 1.0).abs() < 0.1, "{rows} rows, expected {expected}");
}
