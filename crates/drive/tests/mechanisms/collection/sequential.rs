//! Collection that waits until the host writes in order.

use super::*;

const TARGET: u64 = 20;

fn waiting() -> SsdConfig {
    let mut profile = profile();
    profile.gc.pacing = Pacing::DelayedUntilSequential;
    profile.gc.sequential_free_blocks = Some(TARGET as u32);
    profile.gc.sequential_gain = Some(2);
    profile.gc.sequential_commands = Some(4);
    profile
}

/// Writes `count` units in order from `first` on, 32 at a time: microseconds each.
fn in_order_us(drive: &mut Ssd, first: u64, count: u64) -> f64 {
    let from = drive.now();
    closed_loop(drive, 8, times(count / 32, |i| io(Op::Write, first + i * 32, 32)));
    (drive.now() - from).0 as f64 / 1e3 / count as f64
}

/// Units of a tenth of the drive.
fn tenth(drive: &Ssd) -> u64 {
    drive.geometry().sectors / 8 / 10 / 32 * 32
}

/// What is asked for beyond the spare is never there: such a drive collected for ever.
#[test]
fn more_free_blocks_than_there_are_to_spare_are_not_worked_to() {
    let wants = |blocks: u32| {
        let mut profile = waiting();
        profile.gc.sequential_free_blocks = Some(blocks);
        profile
    };
    let most = wants(100_000).free_blocks_worked_to(100_000);
    assert!((TARGET as u32..1000).contains(&most), "{most}");
    assert_eq!(wants(most).free_blocks_worked_to(most - 1), most - 1);
    let written = |blocks: u32| {
        let mut drive = tortured(&wants(blocks), &mut Random(1));
        let tenth = tenth(&drive);
        in_order_us(&mut drive, 0, tenth)
    };
    assert_eq!(written(100_000), written(most));
    assert!(written(most) > written(most / 4), "it works to what it is given");
}

#[test]
fn a_pass_in_order_is_slow_at_first_and_nearly_fresh_at_its_end() {
    let mut random = Random(1);
    let mut drive = tortured(&waiting(), &mut random);
    let used = random_write_us(&mut drive, &mut random, 20_000);
    let tenth = tenth(&drive);
    let tenths: Vec<f64> = (0..10).map(|i| in_order_us(&mut drive, i * tenth, tenth)).collect();
    let fresh = fresh_us(&waiting());
    // Two units are won for each that is written: twice the moves of a write at random.
    assert!(tenths[0] > 1.4 * used, "{used} us at random, then {tenths:?}");
    assert!(tenths.is_sorted_by(|before, after| before > after), "{tenths:?}");
    assert!(tenths[9] < 2.0 * fresh, "{fresh} us when fresh, at the end {tenths:?}");
    drive.settle();
    let burst = random_write_us(&mut drive, &mut random, (TARGET - 3) * BLOCKS_OF_ALL);
    assert!((burst / fresh - 1.0).abs() < 0.02, "{burst} us, fresh {fresh}");
}

/// Two units are won for each that is written, so the target is reached after `TARGET` blocks on
/// every die, 6 % of the drive.
#[test]
fn a_part_written_in_order_restores_random_writes() {
    let profile = waiting();
    let mut random = Random(1);
    let mut drive = tortured(&profile, &mut random);
    let used = random_write_us(&mut drive, &mut random, 20_000);
    let part = tenth(&drive);
    in_order_us(&mut drive, 0, part);
    drive.settle();
    let fresh = fresh_us(&profile);
    assert!(used > 3.0 * fresh, "{used} us used, fresh {fresh}");

    // It collects again when a die needs a block and has two left.
    let moved = drive.counters().moved_units;
    let burst = random_write_us(&mut drive, &mut random, (TARGET - 3) * BLOCKS_OF_ALL);
    assert_eq!(drive.counters().moved_units, moved, "it collected in the burst");
    assert!((burst / fresh - 1.0).abs() < 0.02, "{burst} us, fresh {fresh}");
    overwrite(&mut drive, &mut random, part * 10, 4 * BLOCKS_OF_ALL);
    assert!(drive.counters().moved_units > moved, "the space lasts too long");
    drive.check_map().unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn other_drives_have_no_such_recovery() {
    for pacing in [Pacing::Paced, Pacing::Delayed] {
        let mut profile = profile();
        profile.gc.pacing = pacing;
        let mut random = Random(1);
        let mut drive = tortured(&profile, &mut random);
        let used = random_write_us(&mut drive, &mut random, 20_000);
        let part = tenth(&drive);
        in_order_us(&mut drive, 0, part);
        let burst = random_write_us(&mut drive, &mut random, (TARGET - 3) * BLOCKS_OF_ALL);
        assert!(burst > used / 1.5, "{pacing:?}: {burst} us after that, {used} before");
    }
}

/// At random it is a delayed drive, to the nanosecond.
#[test]
fn at_random_nothing_is_done_ahead() {
    let run = |profile: &SsdConfig| {
        let mut random = Random(2);
        let mut drive = make(profile);
        let units = drive.geometry().sectors / 8;
        // Every other unit: nothing begins where something ended.
        let next = |_| io(Op::Write, random.below(units / 2) * 2, 1);
        let latencies = closed_loop(&mut drive, 8, times(units * 3, next));
        (latencies, drive.counters())
    };
    let mut delayed = profile();
    delayed.gc.pacing = Pacing::Delayed;
    assert!(run(&waiting()) == run(&delayed));
}

/// As many files as commands are watched can be written in turn, and no more.
#[test]
fn files_written_in_turn_are_in_order() {
    let won = |files: u64| {
        let mut random = Random(3);
        let mut drive = tortured(&waiting(), &mut random);
        let before = drive.counters();
        let apart = drive.geometry().sectors / 8 / files / 8 * 8;
        let next = |i| io(Op::Write, i % files * apart + i / files * 8, 8);
        closed_loop(&mut drive, 4, times(500, next));
        drive.counters().write_amplification_since(&before).expect("the host wrote")
    };
    let (four, five) = (won(4), won(5));
    // Twice the moves for each unit written.
    assert!(four > 1.4 * five, "{four} with four files, {five} with five");
}
