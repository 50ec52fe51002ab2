//! Free blocks that are used so while there are some.

use super::*;

/// Blocks of a die that are left free: as many as collection keeps, and those that are open.
const LEFT: u64 = 4;

/// Units that the buffer takes of a drive whose first `full` blocks a die hold data, folded.
fn burst(drive: &mut Ssd, from: u64) -> u64 {
    let mut units = 0;
    loop {
        // A block of every die at a time.
        let us = write(drive, from + units, SLC_BLOCKS);
        if us > 1.5 * slc_us(SLC_BLOCKS) {
            return units;
        }
        units += SLC_BLOCKS;
    }
}

#[test]
fn it_shrinks_as_the_drive_fills() {
    for full in [0, 10, 20, 30] {
        let mut drive = make(&profile(Some(dynamic_buffer())));
        assert_eq!(drive.fixed_slc_bytes(), 0);
        let data = full * DIES * ROWS * ROW;
        let mut written = 0;
        while written < data {
            let units = (data - written).min(10 * SLC_BLOCKS);
            write(&mut drive, written, units);
            written += units;
            pause(&mut drive, 1e9);
            check(&drive);
        }
        let found = burst(&mut drive, data);
        // The data takes so many blocks, of which the last is open.
        let expected = (64 - full - LEFT) * SLC_BLOCKS;
        let most = SLC_BLOCKS;
        assert!(found.abs_diff(expected) <= most, "{full} blocks: {found}, expected {expected}");
        check(&drive);
        // After a pause it is as large as the drive is empty, again.
        pause(&mut drive, 1e9);
        check(&drive);
        let holds = drive.counters();
        assert_eq!(holds.folded_units, holds.moved_units);
    }
}

#[test]
fn no_more_is_used_than_stated() {
    let mut slc = dynamic_buffer();
    slc.dynamic_mib = Some(40);
    let mut drive = make(&profile(Some(slc)));
    assert_eq!(burst(&mut drive, 0), 10 * SLC_BLOCKS);
    check(&drive);
}

#[test]
fn both_parts_are_used_one_after_the_other() {
    let mut slc = dynamic_buffer();
    slc.dynamic_mib = Some(40);
    slc.fixed_mib = fixed_buffer().fixed_mib;
    let mut drive = make(&profile(Some(slc)));
    assert_eq!(burst(&mut drive, 0), 10 * SLC_BLOCKS + BUFFER);
    pause(&mut drive, 1e9);
    assert_eq!(burst(&mut drive, 0), 10 * SLC_BLOCKS + BUFFER);
    check(&drive);
}

/// A trimmed drive has blocks of which nothing is valid, but none is free.
#[test]
fn what_was_trimmed_is_used_again() {
    let mut drive = make(&profile(Some(dynamic_buffer())));
    let new = burst(&mut drive, 0);
    fill(&mut drive);
    let sectors = drive.geometry().sectors;
    let all = Io::trim(Lba(0), sectors as u32);
    closed_loop(&mut drive, 1, times(1, |_| all));
    pause(&mut drive, 1e9);
    let again = burst(&mut drive, 0);
    // Blocks that are open stay so.
    assert!(again + 3 * SLC_BLOCKS >= new, "{again} units, new {new}");
    check(&drive);
}

/// A drive that was written at random and is trimmed then.
fn used_and_trimmed(profile: &SsdConfig, trimmed: bool) -> Ssd {
    let mut drive = make(profile);
    fill(&mut drive);
    let sectors = drive.geometry().sectors;
    overwrite(&mut drive, &mut Random(1), sectors / 8, sectors / 8);
    pause(&mut drive, 1e9);
    overwrite(&mut drive, &mut Random(2), sectors / 8, sectors / 16);
    if trimmed {
        let all = Io::trim(Lba(0), sectors as u32);
        closed_loop(&mut drive, 1, times(1, |_| all));
    }
    pause(&mut drive, 1e9);
    check(&drive);
    drive
}

#[test]
fn what_was_trimmed_is_used_again_by_a_drive_that_was_written_at_random() {
    let mut slc = dynamic_buffer();
    slc.dynamic_mib = Some(40);
    let profile = profile(Some(slc));
    let new = burst(&mut make(&profile), 0);
    let mut drive = used_and_trimmed(&profile, true);
    let again = burst(&mut drive, 0);
    assert!(again + SLC_BLOCKS >= new, "{again} units, new {new}");
    check(&drive);
    // Control: without the TRIM the drive is full and has no free blocks for the buffer.
    let full = burst(&mut used_and_trimmed(&profile, false), 0);
    assert!(full < new / 2, "{full} units, new {new}");
}

/// Collection erases blocks without valid data before it folds a block of the buffer.
#[test]
fn nothing_is_moved_while_there_are_blocks_that_hold_nothing() {
    let mut slc = dynamic_buffer();
    slc.dynamic_mib = Some(40);
    let profile = profile(Some(slc));
    let mut drive = used_and_trimmed(&profile, true);
    let before = drive.counters().moved_units;
    // The buffer, and two thirds of the drive behind it.
    write(&mut drive, 0, 33 * DIES * ROWS * ROW);
    let moved = drive.counters().moved_units - before;
    assert!(moved <= 2 * SLC_BLOCKS, "{moved} units were moved");
    // Control: without the TRIM there are no such blocks.
    let mut drive = used_and_trimmed(&profile, false);
    let before = drive.counters().moved_units;
    write(&mut drive, 0, 33 * DIES * ROWS * ROW);
    let moved = drive.counters().moved_units - before;
    assert!(moved > 10 * SLC_BLOCKS, "{moved} units were moved");
    check(&drive);
}

/// Blocks of the buffer are what collection wins most from: user data always fits.
#[test]
fn a_drive_without_a_pause_can_be_filled_and_overwritten() {
    for (pacing, when_full) in [
        (Pacing::Paced, WhenSlcFull::Direct),
        (Pacing::Delayed, WhenSlcFull::Direct),
        (Pacing::Paced, WhenSlcFull::Fold),
        (Pacing::Delayed, WhenSlcFull::Fold),
    ] {
        let mut slc = dynamic_buffer();
        slc.when_full = when_full;
        let mut profile = profile(Some(slc));
        profile.gc.pacing = pacing;
        profile.capacity.sectors = 55 * DIES * ROWS * ROW * 8;
        let mut drive = make(&profile);
        fill(&mut drive);
        check(&drive);
        let units = drive.geometry().sectors / 8;
        overwrite(&mut drive, &mut Random(1), units, units / 2);
        check(&drive);
    }
}
