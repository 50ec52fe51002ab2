//! Lower, middle and upper pages: each its own time, and all together the mean.

use fourcorners_drive::config::{CellKind, NandCellsSection, PageOrder, SsdConfig};
use fourcorners_drive::{Io, Nanos, Op, Target};

use crate::common::{
    Random, closed_loop, fill, io, make, overwrite, pcie, set_effective_op, ssd, times,
};
use crate::nand::{LINK, TRANSFER, assert_near, cells, idle, lone_die, mlc, one, set_tlc, us};

/// How long each of the first `rows` programs of a new drive takes: a flush waits for it.
fn program_times(profile: &SsdConfig, rows: u64) -> Vec<Nanos> {
    let mut drive = make(profile);
    (0..rows)
        .map(|row| {
            one(&mut drive, io(Op::Write, row, 1));
            let flushed = one(&mut drive, Io::FLUSH);
            let opens_block = row % u64::from(profile.nand.pages_per_block) == 0;
            let erase = if opens_block { us(profile.nand.erase_us) } else { Nanos::ZERO };
            flushed - erase - TRANSFER
        })
        .collect()
}

#[test]
fn lower_and_upper_pages_alternate_in_single_programs() {
    let mut profile = lone_die(16);
    profile.nand_cells = Some(mlc(3.0));
    let times = program_times(&profile, 32);
    let (lower, upper) = (us(250.0), us(750.0));
    let block: Vec<Nanos> =
        "LLULULULULULULUU".chars().map(|kind| if kind == 'L' { lower } else { upper }).collect();
    assert_eq!(times[..16], block);
    assert_eq!(times[16..], block);
}

#[test]
fn the_mean_over_a_block_is_the_mean() {
    for (pages, section) in [
        (256, mlc(2300.0 / 850.0)),
        (256, NandCellsSection { pages_per_level: 2, ..mlc(2.5) }),
        (
            768,
            NandCellsSection {
                middle_program_ratio: Some(2.7),
                upper_program_ratio: Some(7.0),
                ..cells(CellKind::Tlc, PageOrder::InTurn)
            },
        ),
        (64, cells(CellKind::Mlc, PageOrder::Shadow)),
    ] {
        let mut profile = lone_die(pages);
        profile.nand_cells = Some(section);
        let times = program_times(&profile, u64::from(pages));
        // Each kind is rounded to a nanosecond.
        let mean = Nanos(times.iter().map(|time| time.0).sum::<u64>() / u64::from(pages));
        assert_near(mean, us(500.0), 1);
    }
}

#[test]
fn known_times_come_back_from_their_mean_and_ratio() {
    // Micron L95B, measured: 850 and 2300 us.
    let mut profile = lone_die(256);
    profile.nand.program_us = (850.0 + 2300.0) / 2.0;
    profile.nand_cells = Some(mlc(2300.0 / 850.0));
    assert_eq!(program_times(&profile, 3), [us(850.0), us(850.0), us(2300.0)]);
}

#[test]
fn a_read_takes_as_long_as_its_kind_of_page() {
    // A block of 768 pages of 16 KiB, of which 4 KiB are read.
    let mut profile = lone_die(768);
    profile.nand.blocks_per_plane = 16;
    profile.nand.page_bytes = 16_384;
    set_effective_op(&mut profile, 0.15);
    set_tlc(&mut profile);
    let mut drive = make(&profile);
    fill(&mut drive);
    idle(&mut drive);
    let out = Nanos(4 * TRANSFER.0) + LINK;
    for (row, read_us) in
        [(0, 56.5), (1, 56.5), (2, 77.5), (3, 56.5), (4, 77.5), (5, 106.0), (767, 106.0)]
    {
        for unit in [row * 4, row * 4 + 3] {
            assert_eq!(one(&mut drive, io(Op::Read, unit, 1)), us(read_us) + out, "row {row}");
        }
    }
    // The first row of the next block.
    assert_eq!(one(&mut drive, io(Op::Read, 768 * 4, 1)), us(56.5) + out);
}

#[test]
fn a_sequential_write_is_as_fast_as_the_mean_program() {
    // Two dies of two planes, 16 KiB pages, 768 pages a block, TLC.
    let mut profile = ssd(crate::common::Shape {
        dies: 2,
        blocks_per_die: 12,
        pages_per_block: 768,
        effective_op: 0.15,
    });
    profile.nand.planes = 2;
    profile.nand.page_bytes = 16_384;
    profile.buffer.write_kib = 1024;
    profile.link = pcie(5, 16, 4096);
    set_effective_op(&mut profile, 0.15);
    set_tlc(&mut profile);
    let mut drive = make(&profile);
    let (blocks, row_units, rows) = (4, 8, 768);
    let units = 2 * blocks * rows * row_units;
    let start = drive.now();
    closed_loop(&mut drive, 32, times(units / 32, |i| io(Op::Write, i * 32, 32)));
    one(&mut drive, Io::FLUSH);
    // A die a channel: rows programs and their transfers (2 x 40.96 us), and an erase, a block.
    let block_us = 768.0 * (2926.5 + 81.92) + 2000.0;
    let measured = (drive.now() - start).as_secs();
    let expected = blocks as f64 * block_us / 1e6;
    assert!((measured / expected - 1.0).abs() < 1e-4, "{measured} s, expected {expected} s");
}

/// What collection programs is counted by kind: a steady random write takes as long as on a drive
/// all of whose pages take the mean, and if only lower pages were slow, it would, too.
#[test]
fn collection_programs_all_kinds_in_their_turn() {
    let elapsed = |cells: Option<NandCellsSection>| {
        let mut profile = lone_die(48);
        profile.nand_cells = cells;
        let mut drive = make(&profile);
        let units = drive.geometry().sectors / 8;
        fill(&mut drive);
        let mut random = Random(8);
        overwrite(&mut drive, &mut random, units, units * 3);
        let start = drive.now();
        let before = drive.counters();
        overwrite(&mut drive, &mut random, units, units * 8);
        let amplification = drive.counters().write_amplification_since(&before);
        assert!(amplification.is_some_and(|wa| wa > 3.0), "most programs are collection's");
        (drive.now() - start).as_secs()
    };
    let tlc = |middle, upper| NandCellsSection {
        middle_program_ratio: Some(middle),
        upper_program_ratio: Some(upper),
        ..cells(CellKind::Tlc, PageOrder::Shadow)
    };
    let alike = elapsed(None);
    for cells in [mlc(9.0), mlc(1.0 / 9.0), tlc(3.0, 9.0), tlc(0.5, 0.1)] {
        let share = elapsed(Some(cells)) / alike;
        assert!((share - 1.0).abs() < 2e-3, "{share}");
    }
}

#[test]
fn cells_that_are_all_alike_change_no_write() {
    let latencies = |cells: Option<NandCellsSection>| {
        let mut profile = lone_die(16);
        profile.nand_cells = cells;
        let mut drive = make(&profile);
        let units = drive.geometry().sectors / 8;
        fill(&mut drive);
        overwrite(&mut drive, &mut Random(4), units, units * 3)
    };
    let absent = latencies(None);
    assert_eq!(latencies(Some(cells(CellKind::Slc, PageOrder::Shadow))), absent);
    assert_eq!(latencies(Some(cells(CellKind::Mlc, PageOrder::Shadow))), absent);
    assert_ne!(latencies(Some(mlc(2.0))), absent);
}
