//! When collection begins, what a steady random write costs a die, and how reads queue at dies.

use fourcorners_drive::config::{Pacing, SsdConfig};
use fourcorners_drive::{Io, Nanos, Op, Ssd, Tag, Target};

use crate::common::{
    Random, Shape, fill, io, make, overwrite, pcie, set_effective_op, ssd, usable_units,
};
use crate::{Comparison, closed_forms, published};

/// Units the host wrote, in all, when collection moved its first.
fn written_before_the_first_move(profile: &SsdConfig) -> u64 {
    let mut drive = make(profile);
    let units = drive.geometry().sectors / 8;
    let mut random = Random(6);
    fill(&mut drive);
    assert_eq!(drive.counters().moved_units, 0, "collected while it was filled");
    while drive.counters().moved_units == 0 {
        overwrite(&mut drive, &mut random, units, 1);
    }
    drive.counters().host_units
}

/// A fresh drive, filled in order, takes as much more as its effective spare before it collects.
#[test]
fn the_cliff_is_where_the_spare_ends() {
    for (dies, start_free_blocks, op) in [(1, 2, 0.07), (4, 2, 0.28), (8, 6, 0.07)] {
        let shape = Shape { dies, blocks_per_die: 256, pages_per_block: 64, effective_op: op };
        let mut profile = ssd(shape);
        profile.gc.start_free_blocks = start_free_blocks;
        set_effective_op(&mut profile, op);
        let usable = usable_units(&profile);
        // Then each die in turn chooses its first victim; a unit of it is due with one of the next
        // rows, or at once.
        let written = written_before_the_first_move(&profile);
        let rows = u64::from(dies) * 4;
        assert!(
            (usable - rows..=usable + rows).contains(&written),
            "paced: {written} for {usable}"
        );
        // Delayed collection first uses up the rest of its open blocks: the host's, and the one that
        // it would itself have half full.
        profile.gc.pacing = Pacing::Delayed;
        let full = usable + u64::from(dies) * 64;
        assert_eq!(written_before_the_first_move(&profile), full + 1, "delayed");
    }
}

/// Host units a second that the dies can take in a steady state: each costs a die
/// WA programs and their transfers, the reads of what is moved, and a part of an erase.
///
/// Of the rows (pages) of a victim with a share u of valid units, those are read (moved out) that
/// have at least one: 1 - (1 - u)^units.
fn closed_form(profile: &SsdConfig, write_amplification: f64) -> f64 {
    let nand = &profile.nand;
    let page_units = f64::from(nand.page_bytes) / 4096.0;
    let planes = f64::from(nand.planes);
    let (row_units, rows) = (page_units * planes, f64::from(nand.pages_per_block));
    let transfer_us = f64::from(nand.page_bytes) / nand.bus_mb_per_s;
    let valid = 1.0 - 1.0 / write_amplification;
    let touched = |units: f64| 1.0 - (1.0 - valid).powf(units);
    let victim_us = rows * touched(row_units) * nand.read_us
        + rows * planes * touched(page_units) * transfer_us
        + nand.erase_us;
    let program_us = nand.program_us + planes * transfer_us;
    let unit_us = write_amplification / row_units * program_us
        + write_amplification / (rows * row_units) * victim_us;
    f64::from(nand.dies) * 1e6 / unit_us
}

/// By how much of its even share the fullest of `dies` holds more, on average over time.
///
/// Host rows go to the dies in turn, but which die a unit leaves is chance: every unit in use is on
/// any die alike, so a die holds units / dies with a standard deviation of
/// sqrt(units (1 / dies) (1 - 1 / dies)). The fullest has the least spare, takes longest for a row,
/// and as rows leave the buffer in order, it sets the pace of all. Expectations of the greatest of n
/// normal deviates: Teichroew, Annals of Mathematical Statistics 27 (1956).
fn fullest_die(dies: u32, units: u64) -> f64 {
    let greatest = match dies {
        1 => 0.0,
        4 => 1.02938,
        8 => 1.42360,
        other => panic!("no value for {other} dies"),
    };
    greatest * (f64::from(dies - 1) / units as f64).sqrt()
}

#[test]
fn steady_random_write_is_what_the_dies_can_do() {
    let mut comparison = Comparison::default();
    for (dies, blocks, planes, page_bytes, pages, op) in [
        (1, 1024, 1, 4096, 64, 0.15),
        (1, 512, 2, 8192, 64, 0.07),
        (1, 256, 4, 16_384, 32, 0.28),
        (4, 512, 1, 4096, 64, 0.15),
        (4, 512, 2, 8192, 64, 0.07),
        (8, 256, 2, 8192, 128, 0.28),
    ] {
        let shape =
            Shape { dies, blocks_per_die: blocks, pages_per_block: pages, effective_op: op };
        let mut profile = ssd(shape);
        profile.nand.planes = planes;
        profile.nand.page_bytes = page_bytes;
        set_effective_op(&mut profile, op);
        // A channel a die, so that no die waits for another's transfers, and a buffer of 64 rows a
        // die, so that no die runs dry while another is behind.
        profile.nand.channels = dies;
        profile.buffer.write_kib = dies * planes * page_bytes / 1024 * 64;
        let mut drive = make(&profile);
        let units = drive.geometry().sectors / 8;
        let mut random = Random(1);
        fill(&mut drive);
        overwrite(&mut drive, &mut random, units, units * if op < 0.1 { 10 } else { 6 });
        let start = drive.now();
        // Which die is the fullest changes as often as the drive is written once.
        overwrite(&mut drive, &mut random, units, units * 8);
        let measured = (units * 8) as f64 / (drive.now() - start).as_secs();
        let units_per_block = pages * planes * (page_bytes / 4096);
        let a = 1.0 + op - fullest_die(dies, units) * (1.0 + op);
        let expected = closed_form(&profile, closed_forms::greedy(a, units_per_block));
        let what =
            format!("{dies} dies, {planes} planes, {} KiB pages, op {op}", page_bytes / 1024);
        comparison.add(what, measured, expected, 0.02);
    }
    comparison.finish();
}

/// What a run with a constant number in flight amounts to.
struct Run {
    /// Sum of all latencies.
    latencies: Nanos,
    /// Integral of the number in flight over time.
    in_flight: Nanos,
    elapsed: Nanos,
}

/// Keeps `depth` of `count` reads in flight and follows their number.
fn follow(drive: &mut Ssd, depth: u32, count: u64, mut next: impl FnMut() -> Io) -> Run {
    let start = drive.now();
    let mut run = Run { latencies: Nanos::ZERO, in_flight: Nanos::ZERO, elapsed: Nanos::ZERO };
    let mut submitted = vec![start; depth as usize];
    for tag in 0..depth {
        drive.submit(Tag(tag), next());
    }
    let (mut flying, mut last) = (u64::from(depth), start);
    let mut left = count - flying;
    while flying > 0 {
        let done = drive.reap(Nanos::MAX).expect("no fault").expect("reads are in flight");
        run.in_flight += Nanos((done.at - last).0 * flying);
        run.latencies += done.at - submitted[done.tag.0 as usize];
        last = done.at;
        if left > 0 {
            submitted[done.tag.0 as usize] = done.at;
            drive.submit(done.tag, next());
            left -= 1;
        } else {
            flying -= 1;
        }
    }
    run.elapsed = last - start;
    run
}

/// Reads anywhere of a drive where only the dies take time.
#[test]
fn reads_queue_at_the_dies_as_customers_at_deterministic_servers() {
    const READ_US: f64 = 1000.0;
    let table = published::load();
    let mut comparison = Comparison::default();
    for dies in published::DIES {
        let shape = Shape { dies, blocks_per_die: 16, pages_per_block: 64, effective_op: 0.5 };
        let mut profile = ssd(shape);
        // More than NCQ has, and next to no time on the link.
        profile.link = pcie(5, 16, 4096);
        profile.capacity.queue_depth = 128;
        profile.nand.channels = dies;
        profile.nand.read_us = READ_US;
        profile.nand.bus_mb_per_s = 1e5;
        // As many units on every die.
        profile.capacity.sectors -= profile.capacity.sectors % u64::from(dies * 8);
        let mut drive = make(&profile);
        fill(&mut drive);
        drive
            .reap(drive.now() + Nanos::from_secs(100))
            .expect("nothing in flight, nothing to fail");
        let units = drive.geometry().sectors / 8;
        let mut random = Random(9);
        for depth in published::DEPTHS {
            let count = 150_000;
            let read = || io(Op::Read, random.below(units), 1);
            let run = follow(&mut drive, depth, count, read);
            assert_eq!(run.in_flight, run.latencies, "Little's law, {dies} dies, depth {depth}");
            let measured = count as f64 * READ_US * 1e-6 / run.elapsed.as_secs();
            let expected = table.dies_at_work(dies, depth);
            comparison.add(format!("{dies} dies, depth {depth}"), measured, expected, 0.02);
        }
    }
    comparison.finish();
}
