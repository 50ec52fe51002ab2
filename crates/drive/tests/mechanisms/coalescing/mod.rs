//! A write buffer that coalesces: what it saves, against closed forms, and what ends it.

mod mechanisms;

use crate::common::*;
use fourcorners_drive::config::SsdConfig;
use fourcorners_drive::{Io, Lba, Nanos, Op, Ssd, SsdCounters};

/// Nanoseconds of 4 KiB over the link, and of a row of 32 KiB from the buffer onto the NAND.
const LINK: Nanos = Nanos(6827);
const PROGRAM: Nanos = Nanos(81_920 + 500_000);

/// A drive of four dies with rows of so many units, a multiple of 4, that coalesces.
fn profile(row: u32) -> SsdConfig {
    let shape = Shape { dies: 4, blocks_per_die: 64, pages_per_block: 16, effective_op: 0.2 };
    let mut profile = ssd(shape);
    profile.nand.planes = row / 4;
    profile.nand.page_bytes = 16_384;
    profile.buffer.write_kib = 16 * row * 4;
    profile.buffer.coalesce = Some(true);
    set_effective_op(&mut profile, 0.2);
    profile
}

fn write(unit: u64) -> Io {
    io(Op::Write, unit, 1)
}

/// The latency of one I/O on a drive with nothing else to do.
fn alone(drive: &mut Ssd, io: Io) -> Nanos {
    drive.settle();
    closed_loop(drive, 1, times(1, |_| io))[0]
}

/// The counters, which add up, of a drive whose map is right.
fn counters(drive: &Ssd) -> SsdCounters {
    drive.check_map().unwrap_or_else(|error| panic!("{error}"));
    let count = drive.counters();
    let placed = count.host_units - count.absorbed_units + count.moved_units + count.padded_units;
    assert_eq!(placed + count.map_units, count.programmed_units + count.pending_units, "{count:?}");
    count
}

#[test]
fn one_unit_written_again_and_again_is_one_row_a_flush() {
    const TIMES: u64 = 1000;
    let run = |coalesce| {
        let mut profile = profile(8);
        profile.buffer.coalesce = coalesce;
        let mut drive = make(&profile);
        let latencies: Vec<Nanos> = (0..3)
            .flat_map(|_| {
                let latencies = closed_loop(&mut drive, 32, times(TIMES, |_| write(7)));
                closed_loop(&mut drive, 1, times(1, |_| Io::FLUSH));
                latencies
            })
            .collect();
        (latencies, counters(&drive))
    };
    let (latencies, count) = run(Some(true));
    assert_eq!((count.host_units, count.absorbed_units), (3 * TIMES, 3 * (TIMES - 1)));
    assert_eq!((count.programmed_units, count.padded_units), (3 * 8, 3 * 7));
    // Nothing but the link is in the way of any of them, 32 of which are in flight.
    assert_eq!(latencies.iter().max(), Some(&Nanos(LINK.0 * 32)));
    assert_eq!(count.write_amplification_since(&SsdCounters::default()), Some(8.0 / TIMES as f64));

    let (slower, without) = run(None);
    assert_eq!((without.absorbed_units, without.programmed_units), (0, 3 * TIMES));
    assert!(slower.iter().max() > latencies.iter().max());
    assert_eq!(run(Some(false)), (slower, without));
}

/// A row of r units is full when r different ones were written. With j of k there, the next write is a
/// new one with chance (k - j) / k, so a row takes the sum of k / (k - j) writes over j below r.
#[test]
fn random_writes_are_absorbed_as_a_collector_of_coupons_expects() {
    // By hand: one write and 3/2 more on average place two units, so 1/5 is absorbed.
    assert!((expected_share(3, 2) - 0.2).abs() < 1e-12);
    for (units, row) in [(9, 8), (8, 8), (16, 8), (20, 12), (64, 32), (200, 32), (500, 16)] {
        let mut drive = make(&profile(row));
        let mut random = Random(u64::from(row) * 10_000 + units);
        closed_loop(&mut drive, 8, times(400_000, |_| write(random.below(units))));
        let count = counters(&drive);
        let share = count.absorbed_units as f64 / count.host_units as f64;
        let expected = expected_share(units, row);
        assert!((share / expected - 1.0).abs() < 0.02, "{row} of {units}: {share}, {expected}");
    }
}

/// The share of uniform random writes to so many units that rows of `row` absorb.
fn expected_share(units: u64, row: u32) -> f64 {
    let units = units as f64;
    let writes: f64 = (0..row).map(|there| units / (units - f64::from(there))).sum();
    1.0 - f64::from(row) / writes
}

#[test]
fn a_hot_set_smaller_than_a_row_is_programmed_only_by_flushes() {
    let mut drive = make(&profile(8));
    let mut random = Random(4);
    for flushes in 1..=50 {
        let before = counters(&drive);
        // All of the seven first, then any.
        closed_loop(&mut drive, 4, times(7, write));
        closed_loop(&mut drive, 4, times(2000, |_| write(random.below(7))));
        let count = counters(&drive);
        assert_eq!(count.programmed_units, before.programmed_units);
        assert_eq!((count.pending_units, count.absorbed_units), (7, flushes * 2000));
        closed_loop(&mut drive, 1, times(1, |_| Io::FLUSH));
        assert_eq!(counters(&drive).programmed_units, flushes * 8);
    }
    // One more, and the row is full.
    closed_loop(&mut drive, 1, times(8, write));
    assert_eq!((drive.counters().programmed_units, drive.counters().pending_units), (51 * 8, 0));
}

#[test]
fn a_protected_buffer_is_not_even_programmed_by_a_flush() {
    let mut profile = profile(8);
    profile.buffer.power_loss_protected = true;
    let mut drive = make(&profile);
    for _ in 0..100 {
        closed_loop(&mut drive, 1, times(7, write));
        alone(&mut drive, Io::FLUSH);
        assert_eq!(alone(&mut drive, Io { fua: true, ..write(3) }), LINK);
    }
    let count = counters(&drive);
    assert_eq!((count.programmed_units, count.pending_units), (0, 7));
}

#[test]
fn what_is_in_a_row_on_its_way_is_not_absorbed() {
    let mut drive = make(&profile(8));
    closed_loop(&mut drive, 1, times(8, write));
    // A full row is in the buffer for as long as its program takes.
    closed_loop(&mut drive, 1, times(8, write));
    assert_eq!(counters(&drive).absorbed_units, 0);
    // A flush has padded this one.
    closed_loop(&mut drive, 1, times(3, write));
    closed_loop(&mut drive, 1, times(1, |_| Io::FLUSH));
    closed_loop(&mut drive, 1, times(3, write));
    let count = counters(&drive);
    assert_eq!((count.absorbed_units, count.padded_units, count.pending_units), (0, 5, 3));
}

#[test]
fn a_command_is_absorbed_as_far_as_the_row_goes() {
    let mut drive = make(&profile(8));
    closed_loop(&mut drive, 1, times(1, |_| io(Op::Write, 10, 4)));
    // Two before them, the four, and two behind: the row is full.
    closed_loop(&mut drive, 1, times(1, |_| io(Op::Write, 8, 8)));
    let count = counters(&drive);
    assert_eq!((count.absorbed_units, count.programmed_units, count.pending_units), (4, 8, 0));
    // 10 and 11 are placed, 8 and 9 behind them fill no row; those two are absorbed, six placed.
    closed_loop(&mut drive, 1, times(1, |_| io(Op::Write, 10, 2)));
    closed_loop(&mut drive, 1, times(1, |_| io(Op::Write, 4, 12)));
    let count = counters(&drive);
    // 4 to 9 fill the row, and so 10 and 11 are no longer absorbed when their turn comes.
    assert_eq!((count.absorbed_units, count.programmed_units, count.pending_units), (4, 16, 6));
}

#[test]
fn a_trimmed_unit_has_no_place_to_take() {
    let mut drive = make(&profile(8));
    closed_loop(&mut drive, 1, times(3, write));
    closed_loop(&mut drive, 1, times(1, |_| io(Op::Trim, 1, 1)));
    closed_loop(&mut drive, 1, times(3, write));
    let count = counters(&drive);
    // The trimmed place is programmed along with the row.
    assert_eq!((count.absorbed_units, count.pending_units), (2, 4));
    assert!(drive.is_mapped(Lba(8)));
    drive.purge();
    closed_loop(&mut drive, 1, times(1, |_| write(0)));
    assert_eq!(drive.counters().absorbed_units, 2);
    drive.check_map().unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_forced_write_programs_the_row_that_absorbed_it() {
    let mut drive = make(&profile(8));
    closed_loop(&mut drive, 1, times(3, write));
    // The first block of the die is erased before.
    let forced = alone(&mut drive, Io { fua: true, ..write(1) });
    assert_eq!(forced, LINK + Nanos(2_000_000) + PROGRAM);
    let count = counters(&drive);
    assert_eq!((count.absorbed_units, count.padded_units, count.pending_units), (1, 5, 0));
    // Nothing is left to be absorbed by, nor to flush.
    assert_eq!(alone(&mut drive, Io::FLUSH), Nanos(0));
    assert_eq!(alone(&mut drive, write(1)), LINK);
    assert_eq!(counters(&drive).absorbed_units, 1);
}

#[test]
fn an_absorbed_write_waits_for_the_space_of_its_row() {
    // Two rows: one is programmed while the other is filled.
    let mut profile = profile(8);
    profile.nand.dies = 1;
    profile.nand.channels = 1;
    profile.buffer.write_kib = 2 * 32;
    set_effective_op(&mut profile, 0.2);
    let mut drive = make(&profile);
    let latencies = closed_loop(&mut drive, 4, times(18, |i| write(i.min(16))));
    assert_eq!(drive.counters().absorbed_units, 1);
    // Units 12 to 15 cross the link one after the other, and fill the second row. When the first of
    // them is answered the third row is begun, when the second is, written again: both have the
    // space when the second row is on the NAND.
    assert_eq!(latencies[16..], [LINK + LINK + LINK + PROGRAM, LINK + LINK + PROGRAM]);
}
