//! Cache reads and cache programs: transfers beside the array's work.

use fourcorners_drive::config::SsdConfig;
use fourcorners_drive::{Io, Nanos, Op, Tag, Target};

use crate::common::{
    Random, closed_loop, fill, io, make, overwrite, pcie, set_effective_op, times,
};
use crate::nand::{LINK, TRANSFER, assert_near, idle, lone_die, one, us, write_in_order};

/// One die of `planes` planes with 16 KiB pages and 64 pages a block, behind a link that hardly takes
/// any time.
fn large_pages(planes: u32) -> SsdConfig {
    let mut profile = lone_die(64);
    profile.link = pcie(5, 16, 4096);
    profile.nand.planes = planes;
    profile.nand.page_bytes = 16_384;
    profile.buffer.write_kib = 4096;
    set_effective_op(&mut profile, 0.15);
    profile
}

/// How long one read of the first `rows` rows takes; they are in one block.
fn read_rows(profile: &SsdConfig, rows: u32) -> Nanos {
    let mut drive = make(profile);
    fill(&mut drive);
    idle(&mut drive);
    let units = rows * profile.nand.planes * 4;
    one(&mut drive, io(Op::Read, 0, units))
}

#[test]
fn a_row_is_read_while_the_one_before_goes_out() {
    const ROWS: u64 = 32;
    // tR below, between and above the transfers of a row: 40.96 us on one plane, 81.92 on two.
    for (planes, read_us) in [(1, 30.0), (1, 50.0), (2, 50.0), (2, 100.0)] {
        let mut profile = large_pages(planes);
        profile.nand.read_us = read_us;
        let (read, out) = (us(read_us), Nanos(u64::from(planes) * 4 * TRANSFER.0));
        // The link takes 65 ns for each of the last page's units.
        let slack = 4 * 65 + 3 + 1;
        let apart = Nanos(ROWS * (read + out).0);
        assert_near(read_rows(&profile, ROWS as u32), apart, slack);
        profile.nand.cache_reads = Some(false);
        assert_near(read_rows(&profile, ROWS as u32), apart, slack);
        profile.nand.cache_reads = Some(true);
        let together = Nanos(ROWS * read.max(out).0) + read.min(out);
        assert_near(read_rows(&profile, ROWS as u32), together, slack);
    }
}

#[test]
fn reads_of_several_commands_overlap_on_a_die_too() {
    let mut profile = lone_die(64);
    profile.nand.cache_reads = Some(true);
    let mut drive = make(&profile);
    write_in_order(&mut drive, 64);
    idle(&mut drive);
    let start = drive.now();
    closed_loop(&mut drive, 4, times(40, |unit| io(Op::Read, unit, 1)));
    // 40 reads of 50 us, and the last page's way out of the die and over the link.
    assert_near(drive.now() - start, us(40.0 * 50.0) + TRANSFER + LINK, 100);
    idle(&mut drive);
    // One at a time they have nothing to overlap with.
    let alone = one(&mut drive, io(Op::Read, 3, 1));
    assert_near(alone, us(50.0) + TRANSFER + LINK, 100);
}

/// How long it takes to write the first `rows` rows, up to the end of the last program.
fn write_rows(profile: &SsdConfig, rows: u32) -> Nanos {
    let mut drive = make(profile);
    let units = rows * profile.nand.planes * 4;
    one(&mut drive, io(Op::Write, 0, units));
    one(&mut drive, Io::FLUSH);
    drive.now()
}

#[test]
fn a_rows_data_comes_in_while_the_one_before_is_programmed() {
    // A block and a half.
    const ROWS: u64 = 96;
    // tPROG above and below the transfer of a row, 40.96 us a plane.
    for (planes, program_us) in [(1, 500.0), (2, 500.0), (4, 100.0), (1, 20.0)] {
        let mut profile = large_pages(planes);
        profile.nand.program_us = program_us;
        let (program, data_in) = (us(program_us), Nanos(u64::from(planes) * 4 * TRANSFER.0));
        let erases = us(2.0 * 2000.0);
        // All of the data crosses the link first, at most 66 ns for each 4 KiB.
        let slack = u64::from(planes) * 4 * ROWS * 66 + 66;
        let apart = erases + Nanos(ROWS * (program + data_in).0);
        assert_near(write_rows(&profile, ROWS as u32), apart, slack);
        profile.nand.cache_programs = Some(true);
        // Nothing is programmed while the first row of a block comes in, after its erase.
        let seen = Nanos(2 * program.min(data_in).0);
        let together = erases + Nanos(ROWS * program.max(data_in).0) + seen;
        assert_near(write_rows(&profile, ROWS as u32), together, slack);
    }
}

#[test]
fn a_program_follows_right_behind_reads_that_overlapped() {
    let mut profile = lone_die(64);
    profile.nand.cache_reads = Some(true);
    let mut drive = make(&profile);
    write_in_order(&mut drive, 32);
    idle(&mut drive);
    one(&mut drive, io(Op::Read, 0, 32));
    one(&mut drive, io(Op::Write, 32, 1));
    assert_eq!(one(&mut drive, Io::FLUSH), TRANSFER + us(500.0));
}

#[test]
fn data_does_not_come_in_while_a_read_has_the_registers() {
    let mut profile = lone_die(64);
    profile.nand.cache_programs = Some(true);
    let mut drive = make(&profile);
    write_in_order(&mut drive, 32);
    idle(&mut drive);
    let start = drive.now();
    drive.submit(Tag(0), io(Op::Read, 3, 1));
    drive.submit(Tag(1), io(Op::Write, 32, 1));
    for _ in 0..2 {
        drive.reap(Nanos::MAX).expect("no fault").expect("two are in flight");
    }
    one(&mut drive, Io::FLUSH);
    let read = us(50.0) + TRANSFER;
    assert_eq!(drive.now() - start, read + TRANSFER + us(500.0));
}

/// A steady random write costs a die WA programs and their data, WA - 1 reads and theirs, and its
/// share of erases. With cache registers and all four of the same length, programs hide their data
/// and reads theirs, but for one each time: collection does a few rows with each row of the host.
#[test]
fn collection_uses_cache_registers_too() {
    let cost = |cache_reads: bool, cache_programs: bool| {
        let mut profile = lone_die(64);
        let transfer_us = TRANSFER.0 as f64 / 1000.0;
        profile.nand.program_us = transfer_us;
        profile.nand.read_us = transfer_us;
        profile.nand.cache_reads = cache_reads.then_some(true);
        profile.nand.cache_programs = cache_programs.then_some(true);
        let mut drive = make(&profile);
        let units = drive.geometry().sectors / 8;
        fill(&mut drive);
        let mut random = Random(3);
        overwrite(&mut drive, &mut random, units, units * 4);
        let (start, before) = (drive.now(), drive.counters());
        overwrite(&mut drive, &mut random, units, units * 4);
        let wa = drive.counters().write_amplification_since(&before).expect("the host wrote");
        let erase = wa * 2000.0 / 64.0;
        // In times of a transfer, for each row of the host.
        let each = (drive.now() - start).as_secs() * 1e6 / (units * 4) as f64;
        ((each - erase) / transfer_us, wa)
    };
    let (_, wa) = cost(false, false);
    for (cache_reads, cache_programs) in
        [(false, false), (true, false), (false, true), (true, true)]
    {
        let (measured, same_wa) = cost(cache_reads, cache_programs);
        assert_eq!(wa, same_wa, "times change nothing in the map");
        let reads = if cache_reads { wa } else { 2.0 * (wa - 1.0) };
        let programs = if cache_programs { wa + 1.0 } else { 2.0 * wa };
        let expected = reads + programs;
        assert!(
            (measured / expected - 1.0).abs() < 0.02,
            "{measured} transfers a row, expected {expected}, reads {cache_reads}, programs \
             {cache_programs}"
        );
    }
}
