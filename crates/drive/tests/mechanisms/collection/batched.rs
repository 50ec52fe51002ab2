//! Collection in batches, what collection costs the controller, and how long a delayed drive stalls.

use super::*;
use fourcorners_drive::config::Stall;

const MOVES: u32 = 6;
const ENOUGH: u32 = 30;

fn batched(effective_op: f64) -> SsdConfig {
    let mut profile = profile();
    profile.gc.pacing = Pacing::Batched;
    profile.gc.batch_free_blocks = Some(ENOUGH);
    profile.gc.batch_moves = Some(MOVES);
    set_effective_op(&mut profile, effective_op);
    profile
}

/// Units moved for each the host writes, in `count` windows of two blocks a die.
fn moved(drive: &mut Ssd, random: &mut Random, count: u64) -> Vec<f64> {
    let (units, window) = (drive.geometry().sectors / 8, 2 * BLOCKS_OF_ALL);
    let mut one = |_| {
        let before = drive.counters().moved_units;
        overwrite(drive, random, units, window);
        (drive.counters().moved_units - before) as f64 / window as f64
    };
    (0..count).map(&mut one).collect()
}

#[test]
fn with_much_spare_it_moves_as_much_with_every_write_or_nothing() {
    let profile = batched(0.3);
    let mut random = Random(1);
    let mut drive = tortured(&profile, &mut random);
    let windows = moved(&mut drive, &mut random, 400);
    let all = f64::from(MOVES);
    let resting = windows.iter().filter(|&&moved| moved == 0.0).count();
    let working = windows.iter().filter(|&&moved| (moved / all - 1.0).abs() < 0.2).count();
    // A window in which a batch begins or ends is neither.
    assert!(resting > 100 && working > 40 && resting + working > 300, "{resting}, {working}");
    drive.check_map().unwrap_or_else(|error| panic!("{error}"));

    // A paced drive moves the same all the time.
    let mut paced = profile;
    paced.gc.pacing = Pacing::Paced;
    let mut drive = tortured(&paced, &mut random);
    let windows = moved(&mut drive, &mut random, 100);
    let mean = windows.iter().sum::<f64>() / 100.0;
    assert!(windows.iter().all(|moved| (moved / mean - 1.0).abs() < 0.5), "{windows:?}");
}

#[test]
fn with_little_spare_a_batch_never_ends_and_a_die_never_runs_out() {
    let write_amplification = |profile: &SsdConfig| {
        let mut random = Random(2);
        let mut drive = tortured(profile, &mut random);
        let windows = moved(&mut drive, &mut random, 200);
        assert!(windows.iter().all(|&moved| moved > 0.0), "{windows:?}");
        1.0 + windows.iter().sum::<f64>() / 200.0
    };
    let mut batched = batched(0.12);
    // Less than it takes: made up for at the pace of a paced drive.
    batched.gc.batch_moves = Some(1);
    let mut paced = batched.clone();
    paced.gc.pacing = Pacing::Paced;
    let (ours, theirs) = (write_amplification(&batched), write_amplification(&paced));
    assert!((ours / theirs - 1.0).abs() < 0.02, "{ours}, paced {theirs}");
}

#[test]
fn what_is_moved_takes_the_controller_its_time() {
    const MOVE_US: f64 = 150.0;
    let each_us = |move_us: Option<f64>| {
        let mut profile = profile();
        // NAND that is never waited for.
        profile.nand.program_us = 1.0;
        profile.nand.read_us = 1.0;
        profile.nand.erase_us = 1.0;
        profile.controller.move_4k_us = move_us;
        let mut random = Random(3);
        let mut drive = tortured(&profile, &mut random);
        let before = drive.counters();
        let us = random_write_us(&mut drive, &mut random, 40_000);
        let after = drive.counters();
        let moves = (after.moved_units - before.moved_units) as f64;
        (us, moves / (after.host_units - before.host_units) as f64)
    };
    let (us, moves) = each_us(Some(MOVE_US));
    assert!((us / (moves * MOVE_US) - 1.0).abs() < 0.02, "{us} us for {moves} moves");
    let (free_us, same_moves) = each_us(None);
    assert!(free_us < us / 20.0, "{free_us} us where {us} was paid");
    assert!((same_moves / moves - 1.0).abs() < 0.01, "{same_moves}, {moves}");
}

#[test]
fn a_drive_that_stalls_for_one_victim_stalls_for_less() {
    let run = |stall: Stall| {
        let mut profile = profile();
        profile.gc.pacing = Pacing::Delayed;
        profile.gc.stall = Some(stall);
        let mut random = Random(4);
        let mut drive = tortured(&profile, &mut random);
        let units = drive.geometry().sectors / 8;
        let before = drive.counters().moved_units;
        let next = |_| io(Op::Write, random.below(units), 1);
        let latencies = closed_loop(&mut drive, 1, times(100_000, next));
        let longest = latencies.into_iter().max().expect("there are some");
        (longest, drive.counters().moved_units - before)
    };
    let (block, moved_for_blocks) = run(Stall::Block);
    let (victim, moved_for_victims) = run(Stall::Victim);
    assert!(victim.0 * 2 < block.0, "{victim:?}, for a whole block {block:?}");
    // 64 rows, their reads, the erase and what is in the buffer before them.
    let most_us = 64.0 * (500.0 + 50.0 + 21.0) + 2.0 * 2000.0 + 16.0 * 500.0;
    assert!(victim.0 as f64 / 1e3 < most_us, "{victim:?}");
    let ratio = moved_for_victims as f64 / moved_for_blocks as f64;
    assert!((ratio - 1.0).abs() < 0.05, "{moved_for_victims}, {moved_for_blocks}");
}
