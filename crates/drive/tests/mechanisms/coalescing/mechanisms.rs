//! Coalescing where there is more than one row open, or another kind of map.

use fourcorners_drive::config::*;
use fourcorners_drive::{Io, Lba, MergeCounts, Nanos, Op, Ssd, Target};

use super::{LINK, alone, counters, profile, write};
use crate::common::*;

#[test]
fn a_part_of_a_unit_in_the_row_needs_no_read() {
    let mut profile = profile(16);
    profile.map = Some(MapSection { unit_bytes: Some(16_384), ..MapSection::default() });
    let mut drive = make(&profile);
    fill(&mut drive);
    alone(&mut drive, Io::FLUSH);
    let part = Io::write(Lba(5 * 32 + 3), 8);
    let before = counters(&drive);
    let read = alone(&mut drive, part);
    assert!(read > Nanos::from_micros(50.0), "the rest of the unit was read in {read}");
    assert_eq!(alone(&mut drive, part), LINK);
    let count = counters(&drive);
    // Each is a unit of four for the host, of which the second has no place of its own.
    assert_eq!(count.host_units - before.host_units, 8);
    assert_eq!((count.absorbed_units, count.pending_units), (4, 4));
    assert_eq!(count.rmw_sectors - before.rmw_sectors, 2 * 24);
}

#[test]
fn a_unit_stays_in_the_row_of_the_stream_it_was_of() {
    let mut profile = profile(16);
    profile.nand.blocks_per_plane = 64;
    profile.capacity.sectors = 2000 * 8;
    profile.streams =
        Some(StreamsSection { region_kib: 4, period_percent: 1, hot_factor: 2.0, ..streams() });
    let mut drive = make(&profile);
    const HOT: u64 = 7;
    // A period is 20 units placed: seven times the one, the last of them in the open row, and
    // thirteen others.
    for _ in 0..6 {
        alone(&mut drive, write(HOT));
        alone(&mut drive, Io::FLUSH);
    }
    alone(&mut drive, write(HOT));
    closed_loop(&mut drive, 1, times(13, |i| write(100 + i)));
    // The next one tells temperatures, and there is room for it in the row.
    alone(&mut drive, write(200));
    assert_eq!(counters(&drive).pending_units, 15);
    alone(&mut drive, write(HOT));
    let count = counters(&drive);
    assert_eq!((count.absorbed_units, count.pending_units), (1, 15));
    // Placed again, it goes to a row of its own.
    alone(&mut drive, Io::FLUSH);
    let before = counters(&drive).padded_units;
    alone(&mut drive, write(HOT));
    alone(&mut drive, write(200));
    // Both rows absorb.
    alone(&mut drive, write(HOT));
    alone(&mut drive, write(200));
    assert_eq!(counters(&drive).absorbed_units, 3);
    alone(&mut drive, Io::FLUSH);
    assert_eq!(counters(&drive).padded_units - before, 2 * 15);
}

#[test]
fn the_row_of_an_slc_buffer_absorbs_and_is_folded_once() {
    let mut profile = profile(8);
    profile.slc_buffer = Some(SlcBufferSection {
        fixed_mib: Some(4),
        dynamic_mib: None,
        cell_bits: 2,
        program_us: 100.0,
        read_us: 20.0,
        when_full: WhenSlcFull::Direct,
        idle_ms: 10.0,
        fold_mb_per_s: None,
    });
    profile.nand.blocks_per_plane += 8;
    let mut drive = make(&profile);
    for round in 1..=3 {
        closed_loop(&mut drive, 4, times(900, |i| write(i % 6)));
        let count = counters(&drive);
        assert_eq!((count.absorbed_units, count.pending_units), (round * 894, 6));
        let flush = alone(&mut drive, Io::FLUSH);
        // With one bit a cell, and the first block of each die erased before.
        assert_eq!(flush, Nanos(100_000 + 81_920 + 2_000_000), "round {round}");
    }
    assert_eq!(drive.reap(drive.now() + Nanos::from_secs(1)), Ok(None));
    alone(&mut drive, Io::FLUSH);
    // Of three rows, the units of the last are valid.
    let count = counters(&drive);
    assert_eq!((count.folded_units, count.moved_units), (6, 6));
}

#[test]
fn a_log_block_map_absorbs_and_keeps_the_order_it_has() {
    let mut profile = profile(8);
    profile.nand.dies = 1;
    profile.nand.channels = 1;
    profile.capacity.sectors = 20 * 128 * 8;
    profile.log_blocks = Some(LogBlocksSection {
        count: 2,
        associativity: 1,
        stripe_dies: 1,
        replacement: LogReplacement::Oldest,
        sequential: true,
    });
    // A logical block in order, each row of it with units written again before it is full.
    let mut drive = make(&profile);
    fill(&mut drive);
    let (before, merges) = (counters(&drive), drive.merges().expect("it merges"));
    let order =
        (0..16).flat_map(|row| [0, 0, 0, 1, 2, 1, 3, 4, 5, 6, 5, 0, 7].map(|i| row * 8 + i));
    let mut order = order.map(|unit| write(128 + unit));
    closed_loop(&mut drive, 1, || order.next());
    let count = counters(&drive);
    assert_eq!(count.absorbed_units, 16 * 5);
    assert_eq!((count.moved_units, count.padded_units), (before.moved_units, before.padded_units));
    assert_eq!(count.programmed_units - before.programmed_units, 128);
    let after = drive.merges().expect("it merges");
    assert_eq!(after, MergeCounts { switch_merges: merges.switch_merges + 1, ..merges });
}

#[test]
fn an_absorbed_write_changes_no_page_of_a_limited_map() {
    // Memory for two pages of the map, of 4096 units each.
    let written_back = |coalesce| {
        let mut profile = profile(8);
        profile.map = Some(MapSection { memory_kib: Some(32), ..MapSection::default() });
        profile.nand.blocks_per_plane += 16;
        profile.buffer.coalesce = Some(coalesce);
        let mut drive = make(&profile);
        fill(&mut drive);
        let pages = drive.geometry().sectors / 8 / 4096;
        alone(&mut drive, Io::FLUSH);
        let read_all = |drive: &mut Ssd| {
            closed_loop(drive, 1, times(pages, |page| io(Op::Read, page * 4096, 1)));
        };
        read_all(&mut drive);
        let before = drive.counters().map_units;
        for _ in 0..5 {
            alone(&mut drive, write(9));
            read_all(&mut drive);
        }
        let count = drive.counters();
        assert_eq!(count.absorbed_units, if coalesce { 4 } else { 0 });
        counters(&drive);
        // A page is 16 KiB.
        (count.map_units - before) / 4
    };
    assert_eq!((written_back(true), written_back(false)), (1, 5));
}

#[test]
fn it_is_saved_and_goes_on() {
    let profile = profile(8);
    let mut drive = make(&profile);
    fill(&mut drive);
    alone(&mut drive, Io::FLUSH);
    closed_loop(&mut drive, 1, times(3, write));
    drive.settle();
    let state = serde_json::to_value(drive.state().expect("it keeps its state")).expect("JSON");
    let state = serde_json::from_value(state).expect("it was written");
    let mut restored = Ssd::restore(&profile, state).unwrap_or_else(|error| panic!("{error}"));
    for drive in [&mut drive, &mut restored] {
        closed_loop(drive, 1, times(4, write));
    }
    assert_eq!(counters(&restored), counters(&drive));
    assert_eq!(restored.counters().absorbed_units, 3);
}

#[test]
fn compression_and_coalescing_exclude_each_other() {
    let mut profile = profile(8);
    profile.compression = Some(CompressionSection {
        granule_bytes: 512,
        least_stored_percent: 10,
        overhead_bytes: 0,
        parity_rows: None,
        store_4k_us: None,
    });
    let error = profile.check().expect_err("a unit has the room it was given").to_string();
    assert!(error.starts_with("buffer.coalesce = true is not possible: "), "{error}");
    assert!(error.ends_with("leave out buffer.coalesce or [compression]"), "{error}");
    profile.buffer.coalesce = Some(false);
    assert_eq!(profile.check(), Ok(()));
}
