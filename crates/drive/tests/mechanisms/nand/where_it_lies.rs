//! Reads that depend on where data lies on the NAND, or on whether it does at all.

use fourcorners_drive::config::SsdConfig;
use fourcorners_drive::{Io, Lba, Nanos, Op, Ssd, Target};

use crate::common::{Random, Shape, fill, io, make, overwrite, ssd};
use crate::nand::{idle, one, us};

const WINDOW_UNITS: u64 = 32;

/// Eight dies of two planes with 8 KiB pages: four units a row, 50 us and 10.24 us a page away.
fn striped(contiguous: Option<bool>) -> SsdConfig {
    let mut profile =
        ssd(Shape { dies: 8, blocks_per_die: 40, pages_per_block: 32, effective_op: 0.15 });
    profile.nand.planes = 2;
    profile.nand.page_bytes = 8192;
    profile.nand.bus_mb_per_s = 800.0;
    profile.buffer.write_kib = 1024;
    profile.controller.read_ahead_kib = WINDOW_UNITS as u32 * 4;
    profile.controller.read_ahead_contiguous = contiguous;
    profile
}

/// Reads of 128 KiB in order, one after the other: how long all but the first two took on average.
fn read_in_order(drive: &mut Ssd) -> Nanos {
    const READS: u64 = 20;
    idle(drive);
    let mut total = Nanos::ZERO;
    for place in 0..READS {
        let took = one(drive, io(Op::Read, place * WINDOW_UNITS, WINDOW_UNITS as u32));
        total += if place < 2 { Nanos::ZERO } else { took };
        // So long that all that was fetched is there.
        idle(drive);
    }
    Nanos(total.0 / (READS - 2))
}

#[test]
fn only_what_lies_in_order_is_fetched_ahead() {
    // 128 KiB over the link at 600 MB/s, which is all that reading costs when they are there.
    let link = us(131_072.0 / 600.0);
    for (contiguous, when_scattered) in [(None, true), (Some(false), true), (Some(true), false)] {
        let mut drive = make(&striped(contiguous));
        fill(&mut drive);
        let in_order = read_in_order(&mut drive);
        assert!(in_order <= link + us(1.0), "{contiguous:?}: {in_order:?} written in order");
        let units = drive.geometry().sectors / 8;
        overwrite(&mut drive, &mut Random(3), units, units * 2);
        let scattered = read_in_order(&mut drive);
        let hidden = scattered <= link + us(1.0);
        assert_eq!(hidden, when_scattered, "{contiguous:?}: {scattered:?} written at random");
        if !hidden {
            // The first of them is waited for: tR and a page's way out at least.
            assert!(scattered >= link + us(50.0 + 10.24), "{scattered:?}");
        }
    }
}

/// What is fetched ends where the order ends, and is used as far as it goes.
#[test]
fn the_part_in_order_is_fetched() {
    let mut drive = make(&striped(Some(true)));
    fill(&mut drive);
    idle(&mut drive);
    // The second half of the third request is written anew, in a row or two of its own.
    for unit in [5 * WINDOW_UNITS / 2, 3 * WINDOW_UNITS - 1] {
        one(&mut drive, io(Op::Write, unit, 1));
    }
    idle(&mut drive);
    one(&mut drive, io(Op::Read, 0, WINDOW_UNITS as u32));
    one(&mut drive, io(Op::Read, WINDOW_UNITS, WINDOW_UNITS as u32));
    idle(&mut drive);
    let third = one(&mut drive, io(Op::Read, 2 * WINDOW_UNITS, WINDOW_UNITS as u32));
    // Half of it is there, and its way over the link is longer than the rest takes to come.
    let link = us(131_072.0 / 600.0);
    assert!(third <= link + us(1.0), "{third:?}");
}

/// Reads of 4 KiB one at a time, of a drive of which the first half is written.
fn halves(reads_unwritten: Option<bool>, unwritten_read_us: Option<f64>) -> [Nanos; 2] {
    let mut profile = striped(None);
    profile.controller.unwritten_read_us = unwritten_read_us;
    profile.nand.reads_unwritten = reads_unwritten;
    let mut drive = make(&profile);
    let units = drive.geometry().sectors / 8;
    for unit in 0..units / 2 {
        one(&mut drive, io(Op::Write, unit, 1));
    }
    idle(&mut drive);
    [10, units / 2 + 10].map(|from| {
        let reads = (0..20).map(|n| one(&mut drive, io(Op::Read, from + n * 64, 1)));
        Nanos(reads.map(|took| took.0).sum::<u64>() / 20)
    })
}

#[test]
fn what_was_never_written_is_answered_without_the_nand_unless_it_is_read() {
    let link = us(4096.0 / 600.0);
    let read = link + us(50.0 + 10.24);
    let near = |took: Nanos, expected: Nanos| took.0.abs_diff(expected.0) < 20;
    for absent in [None, Some(false)] {
        let [written, never] = halves(absent, None);
        assert!(near(written, read) && near(never, link), "{written:?}, {never:?}");
    }
    let [written, never] = halves(Some(true), None);
    assert!(near(written, read) && near(never, read), "{written:?}, {never:?}");
    // The firmware's time for it is of such a read alone, and of none that reads the NAND.
    let [written, never] = halves(None, Some(20.0));
    assert!(near(written, read) && near(never, link + us(20.0)), "{written:?}, {never:?}");
    let [written, never] = halves(Some(true), Some(20.0));
    assert!(near(written, read) && near(never, read), "{written:?}, {never:?}");
}

#[test]
fn the_firmwares_time_for_a_read_without_data_is_of_trimmed_data_too_once_a_command_and_of_no_write()
 {
    let made = |unwritten_us| {
        let mut profile = striped(None);
        profile.controller.read_ahead_kib = 0;
        profile.controller.unwritten_read_us = Some(unwritten_us);
        let mut drive = make(&profile);
        for unit in 0..64 {
            one(&mut drive, io(Op::Write, unit, 1));
        }
        idle(&mut drive);
        drive
    };
    let commands = |drive: &mut Ssd| {
        let took =
            [io(Op::Read, 1000, 1), io(Op::Read, 1000, 4), io(Op::Read, 63, 2), io(Op::Read, 8, 1)];
        let mut took = took.map(|io| one(drive, io)).to_vec();
        one(drive, Io::trim(Lba(8 * 8), 8));
        took.push(one(drive, io(Op::Read, 8, 1)));
        // A part of a unit without data, whose rest is asked for.
        took.push(one(
            drive,
            Io { op: Op::Write, lba: Lba(2000 * 8), sectors: 1, ..io(Op::Write, 0, 1) },
        ));
        took
    };
    let [with, without] = [20.0, 0.0].map(|us| commands(&mut made(us)));
    let more: Vec<u64> =
        with.iter().zip(&without).map(|(with, without)| (*with - *without).0).collect();
    // Half of the third waits for the NAND, which takes longer.
    assert_eq!(more, [20_000, 20_000, 0, 0, 20_000, 0]);
}

/// In order it is read like what was written: a row at a time.
#[test]
fn a_row_that_was_never_written_is_read_once() {
    let mut profile = striped(None);
    profile.controller.read_ahead_kib = 0;
    let took = |write: bool| {
        let mut profile = profile.clone();
        profile.nand.reads_unwritten = Some(true);
        let mut drive = make(&profile);
        if write {
            fill(&mut drive);
        }
        idle(&mut drive);
        one(&mut drive, io(Op::Read, 0, 64))
    };
    assert_eq!(took(true), took(false));
    let mut drive = make(&profile);
    let trimmed = Io::trim(Lba(0), 512);
    fill(&mut drive);
    one(&mut drive, trimmed);
    idle(&mut drive);
    assert!(one(&mut drive, io(Op::Read, 0, 64)) < took(false));
}
