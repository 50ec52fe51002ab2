//! Reads that find their die at work: what they wait for, and what suspension spares them.

use fourcorners_drive::config::{
    CellKind, NandSuspendSection, PageOrder, SsdConfig, VariationMode, VariationSection,
};
use fourcorners_drive::{Io, Nanos, Op, Ssd, Tag, Target};

use crate::common::{Random, Shape, closed_loop, fill, io, make, overwrite, pcie, ssd, times};
use crate::nand::{LINK, TRANSFER, cells, idle, lone_die, mlc, one, us, write_in_order};

const ERASE: Nanos = Nanos(2_000_000);

fn suspend(program_us: Option<f64>, erase_us: Option<f64>, most: u32) -> NandSuspendSection {
    NandSuspendSection {
        program_suspend_us: program_us,
        erase_suspend_us: erase_us,
        resume_us: 20.0,
        most_suspensions: most,
        patience_us: None,
    }
}

/// A read with nothing in its way.
fn read() -> Nanos {
    us(50.0) + TRANSFER + LINK
}

/// A drive whose only die has just begun to erase its second block, for one row of data.
fn erasing(profile: &SsdConfig) -> Ssd {
    let mut drive = make(profile);
    write_in_order(&mut drive, 16);
    idle(&mut drive);
    assert_eq!(one(&mut drive, io(Op::Write, 16, 1)), LINK);
    drive
}

#[test]
fn a_lone_read_waits_for_an_erase_unless_it_is_suspended() {
    let mut profile = lone_die(16);
    profile.nand_cells = Some(cells(CellKind::Slc, PageOrder::Shadow));
    // An instant later, because at its very beginning the read would go first.
    let instant = |drive: &mut Ssd| drive.reap(drive.now() + Nanos(1)).expect("nothing to fail");
    let mut drive = erasing(&profile);
    instant(&mut drive);
    assert_eq!(one(&mut drive, io(Op::Read, 3, 1)), ERASE - Nanos(1) + read());

    profile.nand_suspend = Some(suspend(None, Some(40.0), 8));
    let mut drive = erasing(&profile);
    instant(&mut drive);
    assert_eq!(one(&mut drive, io(Op::Read, 3, 1)), us(40.0) + read());

    // Suspending programs alone does not help.
    profile.nand_suspend = Some(suspend(Some(40.0), None, 8));
    let mut drive = erasing(&profile);
    instant(&mut drive);
    assert_eq!(one(&mut drive, io(Op::Read, 3, 1)), ERASE - Nanos(1) + read());
}

#[test]
fn a_lone_read_waits_for_a_program_unless_it_is_suspended() {
    for (wait_us, progress_us) in [(0.0, 100.0), (30.0, 100.0), (30.0, 490.0)] {
        let mut profile = lone_die(16);
        profile.nand_suspend = Some(suspend(Some(wait_us), None, 1));
        let mut drive = make(&profile);
        write_in_order(&mut drive, 8);
        idle(&mut drive);
        let start = drive.now() + LINK;
        one(&mut drive, io(Op::Write, 8, 1));
        drive.reap(start + us(progress_us)).expect("nothing to fail");
        let latency = one(&mut drive, io(Op::Read, 3, 1));
        // It ends 510.24 us after its beginning, its data going in included.
        let left = us(500.0) + TRANSFER - us(progress_us);
        assert_eq!(latency, us(wait_us).min(left) + read(), "{wait_us} us, after {progress_us} us");
    }
}

/// Microseconds that reads wait, each on a drive of its own, for a program of 500 us that is suspended after 30.
fn waits_us(mode: VariationMode, spread: f64) -> Vec<f64> {
    let wait = |seed| {
        let mut profile = lone_die(16);
        profile.nand_suspend = Some(suspend(Some(30.0), None, 1));
        profile.variation = Some(VariationSection {
            mode,
            seed,
            suspend_spread: Some(spread),
            ..VariationSection::default()
        });
        let mut drive = make(&profile);
        write_in_order(&mut drive, 8);
        idle(&mut drive);
        let start = drive.now() + LINK;
        one(&mut drive, io(Op::Write, 8, 1));
        drive.reap(start + us(50.0)).expect("nothing to fail");
        (one(&mut drive, io(Op::Read, 3, 1)) - read()).0 as f64 / 1000.0
    };
    (0..4000).map(wait).collect()
}

#[test]
fn what_a_read_waits_for_a_suspension_varies_around_its_mean_by_as_much_as_is_said() {
    use VariationMode::{Off, On};
    for (mode, spread) in [(On, 0.0), (Off, 0.7)] {
        let waits = waits_us(mode, spread);
        assert!(waits.iter().all(|us| *us == 30.0), "{mode:?}, {spread}");
    }
    for spread in [0.5, 1.0] {
        let waits = waits_us(On, spread);
        let count = waits.len() as f64;
        let mean = waits.iter().sum::<f64>() / count;
        assert!((mean / 30.0 - 1.0).abs() < 0.05, "{mean} us");
        let deviation = (waits.iter().map(|us| (us - mean).powi(2)).sum::<f64>() / count).sqrt();
        assert!((deviation / (30.0 * spread) - 1.0).abs() < 0.1, "{deviation} us");
        // Each read waits for the fixed part, and one in 55 (e to the fourth) for more than four times the mean of the rest.
        assert!(waits.iter().all(|us| *us >= 30.0 * (1.0 - spread)));
        let long = waits.iter().filter(|us| **us > 30.0 * (1.0 - spread) + 120.0 * spread).count();
        assert!((0.012..0.025).contains(&(long as f64 / count)), "{long} of {count}");
    }
}

#[test]
fn a_suspended_operation_is_longer_by_the_reads_and_by_resuming() {
    const MOST: u32 = 3;
    let mut profile = lone_die(16);
    profile.nand_suspend = Some(suspend(None, Some(40.0), MOST));
    let mut drive = erasing(&profile);
    let began = drive.now();
    drive.reap(began + Nanos(1)).expect("nothing to fail");
    for _ in 0..MOST {
        assert_eq!(one(&mut drive, io(Op::Read, 3, 1)), us(40.0) + read());
    }
    // It has had its suspensions, and the next read waits for its end.
    let ends = began + ERASE + Nanos(u64::from(MOST) * (us(50.0) + TRANSFER + us(20.0)).0);
    let waits = ends - drive.now();
    assert_eq!(one(&mut drive, io(Op::Read, 3, 1)), waits + read());
    // Then comes the program of the row, which is not suspended.
    let (start, program) = (drive.now() - LINK, us(500.0) + TRANSFER);
    let waits = start + program - drive.now();
    assert_eq!(one(&mut drive, io(Op::Read, 3, 1)), waits + read());
    // And then nothing.
    assert_eq!(one(&mut drive, io(Op::Read, 3, 1)), read());
}

/// A write that waits for the buffer, and a read beside it.
#[test]
fn while_a_write_waits_for_too_long_no_program_is_suspended() {
    let latency = |patience_us| {
        let mut profile = lone_die(16);
        profile.buffer.write_kib = 8;
        profile.nand_suspend =
            Some(NandSuspendSection { patience_us, ..suspend(Some(0.0), Some(0.0), 1000) });
        let mut drive = make(&profile);
        write_in_order(&mut drive, 8);
        idle(&mut drive);
        let start = drive.now();
        for (tag, unit) in [8, 9, 10].into_iter().enumerate() {
            drive.submit(Tag(tag as u32), io(Op::Write, unit, 1));
        }
        while drive.reap(start + us(100.0)).expect("nothing to fail").is_some() {}
        let asked = drive.now();
        drive.submit(Tag(9), io(Op::Read, 3, 1));
        loop {
            let done = drive.reap(Nanos::MAX).expect("no fault").expect("it is in flight");
            if done.tag == Tag(9) {
                return done.at - asked;
            }
        }
    };
    let suspended = latency(None);
    assert!(suspended < us(150.0), "{suspended:?}");
    assert_eq!(latency(Some(10_000.0)), suspended, "no write waits for so long");
    let waits = latency(Some(300.0));
    assert!(waits > us(350.0), "{waits:?} beside {suspended:?}");
}

#[test]
fn reads_that_come_together_share_a_suspension() {
    let mut profile = lone_die(16);
    profile.nand_suspend = Some(suspend(None, Some(40.0), 1));
    let mut drive = erasing(&profile);
    drive.reap(drive.now() + Nanos(1)).expect("nothing to fail");
    let start = drive.now();
    for tag in 0..4 {
        drive.submit(Tag(tag), io(Op::Read, u64::from(tag), 1));
    }
    for tag in 0..4 {
        let done = drive.reap(Nanos::MAX).expect("no fault").expect("four are in flight");
        let served = Nanos(u64::from(tag + 1) * (us(50.0) + TRANSFER).0);
        assert_eq!(done.tag, Tag(tag));
        assert_eq!(done.at - start, us(40.0) + served + LINK);
    }
}

#[test]
fn what_is_in_progress_is_known_by_its_kind() {
    // Upper pages of 900 us and lower ones of 100; a queue of programs, and a read in the middle.
    let mut profile = lone_die(16);
    profile.nand_cells = Some(mlc(9.0));
    let mut drive = make(&profile);
    write_in_order(&mut drive, 16);
    idle(&mut drive);
    closed_loop(&mut drive, 8, times(8, |i| io(Op::Write, 16 + i, 1)));
    // The erase, L, L, U, L, U, L, U; each after 10.24 us for its data.
    let ends = |programs: &[f64]| {
        let done: f64 = programs.iter().map(|us| us + 10.24).sum();
        us(2000.0 + done)
    };
    let began = drive.now() - LINK - Nanos(7 * LINK.0);
    drive.reap(began + us(2500.0)).expect("nothing to fail");
    // 2500 us is within the first U, which is from 2220.48 to 3130.72.
    let waits = began + LINK + ends(&[100.0, 100.0, 900.0]) - drive.now();
    assert_eq!(one(&mut drive, io(Op::Read, 3, 1)), waits + read());
}

#[test]
fn a_program_that_waits_for_the_channel_is_not_in_progress() {
    // Two dies on a channel, rows of 64 KiB that cross it in 163.84 us.
    let mut profile =
        ssd(Shape { dies: 2, blocks_per_die: 64, pages_per_block: 16, effective_op: 0.15 });
    // 63 bytes a nanosecond.
    profile.link = pcie(5, 16, 4096);
    profile.nand.channels = 1;
    profile.nand.planes = 4;
    profile.nand.page_bytes = 16_384;
    profile.buffer.write_kib = 1024;
    profile.nand_cells = Some(cells(CellKind::Slc, PageOrder::Shadow));
    let mut drive = make(&profile);
    let row = 16;
    one(&mut drive, io(Op::Write, 0, 2 * row));
    idle(&mut drive);
    // A row for each die; that for the second waits for the first to be across.
    one(&mut drive, io(Op::Write, 2 * u64::from(row), 2 * row));
    let began = drive.now();
    drive.reap(began + us(50.0)).expect("nothing to fail");
    let latency = one(&mut drive, io(Op::Read, u64::from(row), 1));
    // The read is done in 50 us and then waits for the channel, which it has after both rows. That
    // is charged from when the write came, the 2092 ns that 128 KiB take on the link, and the 1 of
    // its answer, before.
    assert_eq!(latency, us(2.0 * 163.84 + 40.96 - 50.0) + Nanos(65 + 1) - Nanos(2092 + 1));
}

/// Reads and writes anywhere: latencies of the reads, sorted, and how long all took.
fn mixed(profile: &SsdConfig) -> (Vec<Nanos>, Nanos) {
    let mut drive = make(profile);
    let units = drive.geometry().sectors / 8;
    fill(&mut drive);
    overwrite(&mut drive, &mut Random(1), units, units * 2);
    let mut random = Random(2);
    let mut reads = Vec::new();
    let start = drive.now();
    let mut submitted = [(Nanos::ZERO, Op::Read); 16];
    let mut next = |drive: &mut Ssd, tag: Tag| {
        let op = if random.below(10) < 7 { Op::Read } else { Op::Write };
        let command = io(op, random.below(units), 1);
        drive.submit(tag, command);
        (drive.now(), op)
    };
    for tag in 0..16 {
        submitted[tag as usize] = next(&mut drive, Tag(tag));
    }
    for _ in 0..60_000 {
        let done = drive.reap(Nanos::MAX).expect("no fault").expect("16 are in flight");
        let (at, op) = submitted[done.tag.0 as usize];
        if op == Op::Read {
            reads.push(done.at - at);
        }
        submitted[done.tag.0 as usize] = next(&mut drive, done.tag);
    }
    reads.sort_unstable();
    (reads, drive.now() - start)
}

#[test]
fn suspension_shortens_the_tail_of_reads_among_writes() {
    let mut profile =
        ssd(Shape { dies: 4, blocks_per_die: 64, pages_per_block: 64, effective_op: 0.28 });
    profile.buffer.write_kib = 512;
    profile.nand_cells = Some(mlc(2300.0 / 850.0));
    let percentile = |reads: &[Nanos], percent: usize| reads[reads.len() * percent / 100];
    let (waiting, plain_took) = mixed(&profile);
    profile.nand_suspend = Some(suspend(Some(20.0), Some(40.0), 16));
    let (suspending, took) = mixed(&profile);
    let (p50, p50_suspending) = (percentile(&waiting, 50), percentile(&suspending, 50));
    let (p99, p99_suspending) = (percentile(&waiting, 99), percentile(&suspending, 99));
    assert!(p99_suspending.0 * 2 < p99.0, "p99 {p99_suspending}, {p99} without");
    assert!(p50_suspending < p50, "p50 {p50_suspending}, {p50} without");
    // Programs pay for it with 20 us for each suspension: the whole takes a little longer at most.
    assert!(took.0 < plain_took.0 * 115 / 100, "{took}, {plain_took} without");
}

/// A die that always has rows to program and one reader that never rests. Each read lets the
/// operation in progress go on for 200 us, of which resuming takes back 20: a program of 510 us is
/// suspended twice and then waited for, an erase of 2 ms ten times.
#[test]
fn a_suspension_costs_what_it_adds_and_no_more() {
    let mut profile = lone_die(64);
    profile.nand_suspend = Some(suspend(Some(200.0), Some(200.0), 1000));
    let mut drive = make(&profile);
    write_in_order(&mut drive, 64);
    idle(&mut drive);
    const READER: Tag = Tag(31);
    let (mut written, mut read) = (0, 0);
    let mut submit = |drive: &mut Ssd, tag: Tag| {
        if tag == READER {
            drive.submit(tag, io(Op::Read, read % 64, 1));
            read += 1;
        } else {
            drive.submit(tag, io(Op::Write, 64 + written, 1));
            written += 1;
        }
    };
    (0..=31).for_each(|tag| submit(&mut drive, Tag(tag)));
    let (warm_up, measured) = (64 * 8, 64 * 16);
    let (mut done, mut start) = (0, Nanos::ZERO);
    while done < warm_up + measured {
        let tag = drive.reap(Nanos::MAX).expect("no fault").expect("some are in flight").tag;
        done += u64::from(tag != READER);
        if done == warm_up && tag != READER {
            start = drive.now();
        }
        submit(&mut drive, tag);
    }
    let (read_us, resume_us) = (60.24, 20.0);
    let program_us = 510.24 + 3.0 * read_us + 2.0 * resume_us;
    let erase_us = 2000.0 + 11.0 * read_us + 10.0 * resume_us;
    let expected = program_us + erase_us / 64.0;
    let measured = (drive.now() - start).as_secs() * 1e6 / measured as f64;
    assert!((measured / expected - 1.0).abs() < 0.01, "{measured} us a row, expected {expected}");
}

#[test]
fn a_flush_after_a_suspension_is_answered() {
    let mut profile = lone_die(16);
    profile.nand_suspend = Some(suspend(Some(10.0), Some(10.0), 2));
    let mut drive = erasing(&profile);
    one(&mut drive, io(Op::Read, 3, 1));
    assert!(one(&mut drive, Io::FLUSH) > us(2000.0));
}
