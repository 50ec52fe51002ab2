//! Blocks that are used for nothing else.

use super::*;

/// The microseconds in which a die folds so many rows.
fn fold_us(rows: u64) -> f64 {
    rows as f64 * FOLD + rows.div_ceil(ROWS) as f64 * ERASE
}

#[test]
fn a_burst_runs_at_slc_speed_until_exactly_the_buffer_is_full() {
    let mut drive = make(&profile(Some(fixed_buffer())));
    assert_eq!(drive.fixed_slc_bytes(), BUFFER * 4096);
    assert_about(write(&mut drive, 0, BUFFER), slc_us(BUFFER), "burst");
    // The next row of every die is programmed with three bits a cell, in a block that is erased first.
    let rows = DIES * ROW;
    assert_about(write(&mut drive, BUFFER, rows), ERASE + PROGRAM, "the next rows");
    let more = BUFFER;
    assert_about(
        write(&mut drive, BUFFER + rows, more),
        direct_us(rows + more) - PROGRAM - ERASE,
        "the rest",
    );
    assert_eq!(drive.counters().moved_units, 0, "nothing is folded while the host writes");
    check(&drive);
}

#[test]
fn without_it_a_burst_is_as_slow_as_the_rest() {
    let mut drive = make(&profile(None));
    assert_about(write(&mut drive, 0, BUFFER), direct_us(BUFFER), "burst");
}

#[test]
fn none_of_it_is_none() {
    let mut slc = fixed_buffer();
    slc.fixed_mib = Some(0);
    let (mut with, mut without) = (make(&profile(Some(slc))), make(&profile(None)));
    assert_eq!(with.effective_op(), without.effective_op());
    for _ in 0..3 {
        assert_eq!(write(&mut with, 0, BUFFER), write(&mut without, 0, BUFFER));
        pause(&mut with, 1e8);
        pause(&mut without, 1e8);
    }
    assert_eq!(with.counters(), without.counters());
}

#[test]
fn idle_time_empties_it_at_the_speed_of_the_nand_and_another_burst_is_as_fast() {
    let mut drive = make(&profile(Some(fixed_buffer())));
    for round in 0..3 {
        assert_about(write(&mut drive, round * BUFFER, BUFFER), slc_us(BUFFER), "burst");
        let before = drive.counters().folded_units;
        // A row that collection's block has begun already may spare an erase.
        pause(&mut drive, AFTER_MS * 1e3 + fold_us(FIXED * SLC_ROWS));
        assert_eq!(drive.counters().folded_units - before, BUFFER, "round {round}");
        check(&drive);
    }
    assert_eq!(drive.counters().moved_units, 3 * BUFFER);
}

#[test]
fn a_part_of_the_time_empties_a_part_of_it() {
    for blocks in 1..FIXED {
        let mut drive = make(&profile(Some(fixed_buffer())));
        write(&mut drive, 0, BUFFER);
        pause(&mut drive, AFTER_MS * 1e3 + fold_us(blocks * SLC_ROWS) + 0.5 * FOLD);
        check(&drive);
        let free = blocks * SLC_BLOCKS;
        let extra = drive.counters().folded_units;
        assert!((free..=free + SLC_BLOCKS).contains(&extra), "{blocks} blocks: {extra} units");
        let pending = drive.counters().pending_units;
        assert!(pending <= SLC_BLOCKS, "{pending} units are moved and not charged");
        // What is left of the victim is charged with the first rows that go to main blocks.
        let began = drive.counters().programmed_units;
        let burst = write(&mut drive, BUFFER, free);
        // A row was begun.
        let most = slc_us(free) * 1.01 + ERASE + FOLD;
        assert!((slc_us(free)..most).contains(&burst), "{blocks} blocks: {burst} us");
        let programmed = drive.counters().programmed_units - began;
        let most = free + DIES * ROW;
        assert!((free..=most).contains(&programmed), "{blocks} blocks: {programmed} units");
        let direct = write(&mut drive, BUFFER + free, DIES * ROW);
        assert!(direct >= PROGRAM + ERASE, "{blocks} blocks: {direct} us");
        check(&drive);
    }
}

#[test]
fn before_the_idle_time_nothing_is_folded() {
    let mut drive = make(&profile(Some(fixed_buffer())));
    write(&mut drive, 0, BUFFER);
    for _ in 0..20 {
        pause(&mut drive, AFTER_MS * 1e3 - 10.0);
    }
    assert_eq!(drive.counters().folded_units, 0);
}

#[test]
fn a_stated_rate_is_kept() {
    let mut slc = fixed_buffer();
    slc.fold_mb_per_s = Some(20.0);
    let all_us = (BUFFER * 4096) as f64 / 20.0;
    for part in [0.1, 0.25, 0.5, 0.9] {
        let mut drive = make(&profile(Some(slc.clone())));
        write(&mut drive, 0, BUFFER);
        pause(&mut drive, AFTER_MS * 1e3 + part * all_us);
        let c = drive.counters();
        // A block is moved in the map at once and charged row by row.
        let charged = (c.programmed_units - BUFFER) as f64;
        let expected = part * BUFFER as f64;
        let most = (3 * DIES * ROW) as f64;
        assert!((charged - expected).abs() <= most, "{part}: {charged}, expected {expected}");
        check(&drive);
    }
    let mut drive = make(&profile(Some(slc)));
    write(&mut drive, 0, BUFFER);
    pause(&mut drive, AFTER_MS * 1e3 + all_us + FOLD);
    assert_eq!(drive.counters().programmed_units, 2 * BUFFER);
}

#[test]
fn what_is_overwritten_or_trimmed_there_need_not_be_folded() {
    let mut drive = make(&profile(Some(fixed_buffer())));
    for _ in 0..6 {
        assert_about(write(&mut drive, 0, BUFFER / 2), slc_us(BUFFER / 2), "overwrite");
    }
    assert_eq!(drive.counters().moved_units, 0);
    closed_loop(&mut drive, 1, times(1, |_| io(Op::Trim, 0, (BUFFER / 8) as u32)));
    pause(&mut drive, 1e8);
    assert_eq!(drive.counters().folded_units, BUFFER / 2 - BUFFER / 8);
    assert_about(write(&mut drive, 0, BUFFER), slc_us(BUFFER), "burst");
    check(&drive);
}

#[test]
fn a_read_takes_the_time_of_the_cells_it_finds() {
    let mut drive = make(&profile(Some(fixed_buffer())));
    write(&mut drive, 0, 2 * BUFFER);
    let mut read = |unit| closed_loop(&mut drive, 1, times(1, |_| io(Op::Read, unit, 1)))[0].0;
    let (slc, main) = (read(0), read(BUFFER + 8));
    assert_eq!(main - slc, 25_000);
    pause(&mut drive, 1e8);
    let folded = closed_loop(&mut drive, 1, times(1, |_| io(Op::Read, 0, 1)))[0].0;
    assert_eq!(folded, main);
}

#[test]
fn its_blocks_are_no_spare() {
    let (with, without) = (make(&profile(Some(fixed_buffer()))), make(&profile(None)));
    let user = (USER * ROWS) as f64;
    let apart = FIXED as f64 * ROWS as f64 / user;
    assert!((without.effective_op() - with.effective_op() - apart).abs() < 1e-12);
    assert_eq!(without.nameplate_op(), with.nameplate_op());
}

/// When all is full of valid data the host waits for a block to be folded: reads and programs of its
/// rows, their share of an erase, and its own.
#[test]
fn a_drive_that_waits_for_folding_writes_all_data_twice() {
    let mut slc = fixed_buffer();
    slc.when_full = WhenSlcFull::Fold;
    let mut drive = make(&profile(Some(slc)));
    assert_about(write(&mut drive, 0, BUFFER), slc_us(BUFFER), "burst");
    let expected = slc_us(BUFFER) + fold_us(FIXED * SLC_ROWS);
    assert_about(write(&mut drive, BUFFER, BUFFER), expected, "folding");
    assert_eq!(drive.counters().folded_units, BUFFER);
    check(&drive);
}

/// A drive in its steady state has no space to fold to but what it collects.
#[test]
fn a_full_and_tortured_drive_folds_and_collects_for_it() {
    for pacing in [Pacing::Paced, Pacing::Delayed] {
        let mut profile = profile(Some(fixed_buffer()));
        profile.gc.pacing = pacing;
        set_effective_op(&mut profile, 0.1);
        profile.nand.blocks_per_plane += FIXED as u32;
        let mut drive = make(&profile);
        fill(&mut drive);
        let units = drive.geometry().sectors / 8;
        let mut random = Random(1);
        for _ in 0..4 {
            overwrite(&mut drive, &mut random, units, units / 4);
            check(&drive);
            pause(&mut drive, 6e7);
            check(&drive);
            let moved = drive.counters().moved_units;
            assert_about(write(&mut drive, 0, BUFFER), slc_us(BUFFER), "burst");
            assert_eq!(drive.counters().moved_units, moved, "{pacing:?}");
        }
    }
}

#[test]
fn writes_past_a_full_one_do_not_gather_on_the_die_that_has_room_again() {
    // As slow as the main blocks, so that a row takes as long wherever it goes.
    let slc = SlcBufferSection { program_us: 1000.0, ..fixed_buffer() };
    let mut drive = make(&profile(Some(slc)));
    write(&mut drive, 0, BUFFER + DIES * ROW);
    // All of the first die's first block is written again, in main blocks, so that it holds nothing.
    for row in 0..SLC_ROWS {
        write(&mut drive, row * DIES * ROW, ROW);
    }
    let rows = SLC_ROWS;
    let took = write(&mut drive, 2 * BUFFER, rows * ROW);
    // Beside its turn it has that of the buffer, which is a row of four; it alone would take all rows.
    let alone = rows as f64 * PROGRAM;
    assert!(took < 0.5 * alone + 2.0 * ERASE, "{took} us, {alone} us if it were alone");
    check(&drive);
}
