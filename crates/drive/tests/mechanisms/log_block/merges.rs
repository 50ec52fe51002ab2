//! Merges one by one, what they move and what they take.

use super::*;
use fourcorners_drive::config::MapSection;
use fourcorners_drive::{Io, MergeCounts, Nanos, Target};

/// Blocks of 16 units.
const SMALL: Shape = Shape { pages_per_block: 16, logical_blocks: 20, ..ONE_DIE };

fn merges_since(drive: &Ssd, before: MergeCounts) -> [u64; 3] {
    let now = drive.merges().expect("a log-block map");
    [
        now.switch_merges - before.switch_merges,
        now.partial_merges - before.partial_merges,
        now.full_merges - before.full_merges,
    ]
}

/// Writes `units` to a full drive: merges (switch, partial, full), units moved and padded.
fn merging(shape: Shape, units: &[u64]) -> ([u64; 3], u64, u64) {
    let mut drive = filled(shape);
    let (count, merges) = (drive.counters(), drive.merges().expect("a log-block map"));
    write_units(&mut drive, units);
    drive.check_map().unwrap_or_else(|error| panic!("{error}"));
    let now = drive.counters();
    let moved = now.moved_units - count.moved_units;
    (merges_since(&drive, merges), moved, now.padded_units - count.padded_units)
}

#[test]
fn the_rest_is_copied_behind_what_is_in_order() {
    let units: Vec<u64> = (32..42).chain([100]).collect();
    // Ten of sixteen are there; the write to another block needs the only log block.
    assert_eq!(merging(SMALL, &units), ([0, 1, 0], 6, 0));
}

#[test]
fn out_of_order_all_is_copied() {
    let units: Vec<u64> = (32..41).chain([40, 100]).collect();
    assert_eq!(merging(SMALL, &units), ([0, 0, 1], 16, 0));
    // From the second unit on, it is no block in order either.
    let units: Vec<u64> = (33..48).chain([32, 100]).collect();
    assert_eq!(merging(SMALL, &units), ([0, 0, 1], 16, 0));
}

#[test]
fn every_logical_block_of_a_shared_log_block_is_copied() {
    let shape = Shape { associativity: 3, ..SMALL };
    // Units 5, 7 of block 0, one each of 1 and 2; block 3 finds no place left.
    assert_eq!(merging(shape, &[5, 20, 7, 40, 60]), ([0, 0, 3], 48, 0));
}

#[test]
fn a_stream_in_order_does_not_share() {
    let shape = Shape { associativity: FULL, logs: 2, ..SMALL };
    // A stream over block 2 and single writes in between: the stream's log block is switched.
    let units: Vec<u64> = (32..48).flat_map(|unit| [unit, 101]).collect();
    assert_eq!(merging(shape, &units), ([1, 0, 0], 0, 0));
}

#[test]
fn a_first_unit_written_over_and_over_stays_in_one_log_block() {
    let shape = Shape { associativity: FULL, logs: 2, ..SMALL };
    assert_eq!(merging(shape, &[0; 32]), ([0, 0, 0], 0, 0));
    // What is dead costs no merge, however long it goes on.
    assert_eq!(merging(shape, &[0; 400]).1, 0);
}

#[test]
fn trimmed_units_are_not_copied() {
    let mut drive = filled(SMALL);
    let before = drive.counters();
    closed_loop(&mut drive, 1, times(1, |_| io(Op::Trim, 34, 12)));
    // Of block 2, units 32, 33, 46 and 47 are left, and 40 is new.
    write_units(&mut drive, &[40, 100]);
    assert_eq!(drive.counters().moved_units - before.moved_units, 5);
    // A block that holds nothing any more is given back, not copied.
    closed_loop(&mut drive, 1, times(1, |_| io(Op::Trim, 96, 16)));
    write_units(&mut drive, &[32]);
    assert_eq!(drive.counters().moved_units - before.moved_units, 5);
    drive.check_map().unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn rows_of_several_units_are_copied_whole_and_cut_when_the_log_block_changes() {
    let mut profile = profile(SMALL);
    profile.nand.planes = 2;
    profile.capacity.sectors *= 2;
    let mut drive = make(&profile);
    // Never written before: a merge has two units of one row of block 0 and one of another.
    write_units(&mut drive, &[4, 5, 9]);
    assert_eq!(drive.counters().pending_units, 1);
    write_units(&mut drive, &[100]);
    let count = drive.counters();
    // One unit of padding where the row was cut, one beside unit 9 in its new place.
    assert_eq!((count.moved_units, count.padded_units), (3, 2));
    assert_eq!(count.pending_units, 1 + 2 * 2);
    assert_eq!(
        count.host_units + count.moved_units + count.padded_units,
        count.programmed_units + count.pending_units
    );
    drive.check_map().unwrap_or_else(|error| panic!("{error}"));
}

/// How long a flush takes after a write that makes the drive merge one logical block.
fn merging_flush(shape: Shape) -> f64 {
    let mut drive = filled(shape);
    let units = u64::from(shape.pages_per_block * shape.stripe_dies);
    write_units(&mut drive, &[2 * units + 3]);
    drive.settle();
    write_units(&mut drive, &[5 * units]);
    let latency = closed_loop(&mut drive, 1, times(1, |_| Io::FLUSH))[0];
    let merges = drive.merges().expect("a log-block map");
    assert_eq!(merges.full_merges, 1);
    latency.0 as f64 / 1000.0
}

#[test]
fn a_merge_takes_the_sum_of_its_parts() {
    // Two erases, of the block to merge into and of the next log block; sixteen pages read, out,
    // in and programmed; then the page of the host.
    let merge = 2.0 * 2000.0 + 16.0 * (50.0 + 10.24 + 10.24 + 500.0);
    let taken = merging_flush(SMALL);
    // The page of the host was taken 6.83 us (link) before the flush was asked for.
    assert!((taken - (merge + 510.24)).abs() < 10.0, "{taken}");
}

#[test]
fn a_unit_of_several_pages_is_merged_with_all_of_them() {
    // Rows of two planes are one unit of 8 KiB, and a block holds sixteen of them.
    let mut profile = profile(SMALL);
    profile.nand.planes = 2;
    profile.capacity.sectors *= 2;
    profile.map = Some(MapSection { unit_bytes: Some(8192), ..MapSection::default() });
    let mut drive = make(&profile);
    fill(&mut drive);
    closed_loop(&mut drive, 1, times(1, |_| io(Op::Write, (2 * 16 + 3) * 2, 2)));
    drive.settle();
    let before = drive.counters();
    closed_loop(&mut drive, 1, times(1, |_| io(Op::Write, 5 * 16 * 2, 2)));
    let taken = closed_loop(&mut drive, 1, times(1, |_| Io::FLUSH))[0].0 as f64 / 1000.0;
    let count = drive.counters();
    assert_eq!((count.host_units - before.host_units, count.moved_units), (2, 2 * 16));
    // As with a page a unit, but that two pages a row go out and come in.
    let merge = 2.0 * 2000.0 + 16.0 * (50.0 + 4.0 * 10.24 + 500.0);
    assert!((taken - (merge + 2.0 * 10.24 + 500.0)).abs() < 16.0, "{taken}");
    drive.check_map().unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn dies_of_a_stripe_merge_side_by_side() {
    // Each of four dies has a quarter of 64 pages, on a channel of its own.
    let shape = Shape { dies: 4, stripe_dies: 4, ..SMALL };
    let merge = 2.0 * 2000.0 + 16.0 * (50.0 + 10.24 + 10.24 + 500.0);
    let taken = merging_flush(shape);
    assert!((taken - (merge + 510.24)).abs() < 80.0, "{taken}");
}

#[test]
fn the_host_waits_for_a_merge_on_other_dies() {
    // Logical blocks on one die each: what is merged lies elsewhere than the next log block.
    let shape = Shape { dies: 4, stripe_dies: 1, ..SMALL };
    assert!(merging_flush(shape) > 16.0 * 510.24);
}

#[test]
fn random_writes_are_fast_where_the_log_holds_them() {
    let shape = Shape {
        dies: 4,
        stripe_dies: 4,
        logical_blocks: 200,
        logs: 10,
        associativity: FULL,
        ..ONE_DIE
    };
    let writes_per_s = |span: u64| {
        let mut drive = filled(shape);
        let mut random = Random(3);
        let start = drive.now();
        closed_loop(&mut drive, 4, times(20_000, |_| io(Op::Write, random.below(span), 1)));
        drive.settle();
        20_000.0 / (drive.now() - start).as_secs()
    };
    let (narrow, wide) = (writes_per_s(4 * 256), writes_per_s(200 * 256));
    assert!(narrow > 8.0 * wide, "{narrow:.0} and {wide:.0} writes a second");
}

#[test]
fn reads_find_what_was_written_wherever_it_is() {
    let mut drive = filled(SMALL);
    let read = |drive: &mut Ssd, unit| {
        drive.settle();
        closed_loop(drive, 1, times(1, |_| io(Op::Read, unit, 1)))[0]
    };
    // tR 50 + 4096 B at 400 MB/s 10.24 + link 6.83, in a data block, in the log, after a merge.
    let from_nand = Nanos(50_000 + 10_240 + 6_827);
    assert_eq!(read(&mut drive, 40), from_nand);
    write_units(&mut drive, &[40]);
    assert_eq!(read(&mut drive, 40), from_nand);
    write_units(&mut drive, &[100]);
    assert_eq!(read(&mut drive, 40), from_nand);
    closed_loop(&mut drive, 1, times(1, |_| io(Op::Trim, 40, 1)));
    assert_eq!(read(&mut drive, 40), Nanos(6_827));
    // Still in the buffer.
    write_units(&mut drive, &[41]);
    let latency = closed_loop(&mut drive, 1, times(1, |_| io(Op::Read, 41, 1)))[0];
    assert_eq!(latency, Nanos(6_827));
}

#[test]
fn what_a_merge_copied_is_not_in_the_write_buffer() {
    let mut drive = filled(Shape { dies: 4, stripe_dies: 4, ..SMALL });
    // Two rows a die in order, and the rest of the block copied behind them.
    let units: Vec<u64> = (128..136).chain([320]).collect();
    write_units(&mut drive, &units);
    drive.settle();
    drive.reap(Nanos::from_secs(100)).expect("nothing in flight, nothing to fail");
    for unit in 136..192 {
        let latency = closed_loop(&mut drive, 1, times(1, |_| io(Op::Read, unit, 1)))[0];
        assert_eq!(latency, Nanos(50_000 + 10_240 + 6_827), "unit {unit}");
    }
}

#[test]
fn sequential_reads_come_from_all_dies_of_a_stripe() {
    let shape = Shape { dies: 8, stripe_dies: 8, ..SMALL };
    let mut drive = filled(shape);
    drive.settle();
    let latency = closed_loop(&mut drive, 1, times(1, |_| io(Op::Read, 0, 8)))[0];
    // Eight pages at once, on eight channels, each sent when the one before it is.
    assert!(latency.0.abs_diff(50_000 + 10_240 + 8 * 6_827) < 10, "{latency:?}");
}

#[test]
fn purge_makes_it_new() {
    let mut drive = filled(SMALL);
    write_units(&mut drive, &[3, 40, 77]);
    drive.purge();
    let before = drive.counters();
    fill(&mut drive);
    assert_eq!(drive.counters().write_amplification_since(&before), Some(1.0));
    drive.check_map().unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn its_over_provisioning_is_its_log() {
    let drive = make(&profile(Shape { logs: 5, ..SMALL }));
    assert!((drive.effective_op() - 5.0 / 20.0).abs() < 1e-12);
}

#[test]
fn an_erase_is_counted_on_every_die_of_a_block() {
    let mut drive = filled(Shape { dies: 4, stripe_dies: 2, logs: 3, ..SMALL });
    let units = drive.geometry().sectors / 8;
    crate::common::overwrite(&mut drive, &mut Random(3), units, 1000);
    // Rows of one unit: no work of a die waits for a row to be full.
    let (wear, blocks) = (drive.wear(), 4.0 * f64::from(24 / 2));
    assert_eq!(wear.erases_mean * blocks, drive.counters().blocks_erased as f64);
    assert!(wear.erases_min > 0 && wear.erases_max > wear.erases_min, "{wear:?}");
    assert_eq!((wear.endurance_used, wear.blocks_retired, wear.read_only), (None, 0, false));
}
