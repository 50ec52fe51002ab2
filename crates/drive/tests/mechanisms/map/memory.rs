//! A map with limited memory: hits, misses, what is written back, and what all of it takes.

use fourcorners_drive::config::{
    CellKind, MapSection, NandCellsSection, NandSuspendSection, PageOrder, SsdConfig,
};
use fourcorners_drive::{Nanos, Op, Ssd, SsdCounters, Tag, Target};
use proptest::prelude::*;

use crate::common::{
    Random, Shape, closed_loop, fill, io, make, overwrite, set_effective_op, ssd, times,
};
use crate::map::{alone, hold_identities, sectors};

/// 1 GiB of NAND, of which the map's 232 pages map what the user has.
const SHAPE: Shape =
    Shape { dies: 8, blocks_per_die: 512, pages_per_block: 64, effective_op: 0.10 };

/// Units that a map page of 4 KiB has entries for.
const PAGE_UNITS: u64 = 1024;

/// A map page from the NAND into the controller: tR 50 us, 4096 bytes at 400 MB/s.
const PAGE_READ: Nanos = Nanos(50_000 + 10_240);

/// 4 KiB over the link.
const LINK: Nanos = Nanos(6827);

fn limited(map_pages: u32) -> SsdConfig {
    let mut profile = ssd(SHAPE);
    profile.map = Some(MapSection { memory_kib: Some(map_pages * 4), ..MapSection::default() });
    // Its blocks on the NAND come on top of those for data: three times 232 pages over 8 dies.
    profile.nand.blocks_per_plane += 2;
    profile
}

fn filled(profile: &SsdConfig) -> Ssd {
    let mut drive = make(profile);
    fill(&mut drive);
    drive.settle();
    drive
}

/// What `work` adds to the counters.
fn added(drive: &mut Ssd, work: impl FnOnce(&mut Ssd)) -> SsdCounters {
    let before = drive.counters();
    work(drive);
    let after = drive.counters();
    hold_identities(&after);
    SsdCounters {
        host_units: after.host_units - before.host_units,
        map_units: after.map_units - before.map_units,
        map_read_units: after.map_read_units - before.map_read_units,
        map_lookups: after.map_lookups - before.map_lookups,
        map_misses: after.map_misses - before.map_misses,
        ..after
    }
}

/// Reads and writes (`write_percent`) of 4 KiB anywhere in the first `span` units.
fn anywhere(drive: &mut Ssd, random: &mut Random, span: u64, count: u64, write_percent: u64) {
    closed_loop(
        drive,
        8,
        times(count, |_| {
            let op = if random.below(100) < write_percent { Op::Write } else { Op::Read };
            io(op, random.below(span), 1)
        }),
    );
}

#[test]
fn a_memory_for_all_of_the_map_costs_nothing_but_its_blocks() {
    let run = |profile: &SsdConfig| {
        let mut drive = make(profile);
        let units = drive.geometry().sectors / 8;
        let mut random = Random(3);
        fill(&mut drive);
        let mut latencies = overwrite(&mut drive, &mut random, units, units / 2);
        let reads = times(20_000, |_| io(Op::Read, random.below(units), 1));
        latencies.extend(closed_loop(&mut drive, 32, reads));
        closed_loop(&mut drive, 1, times(1, |_| io(Op::Trim, 5000, 9000)));
        let count = drive.counters();
        assert_eq!((count.map_units, count.map_read_units), (0, 0));
        (latencies, count.host_units, count.moved_units, count.blocks_erased)
    };
    let all = limited(1 << 16);
    assert_eq!(run(&all), run(&ssd(SHAPE)));
    // The nameplate tells the map's blocks, the effective spare does not.
    let (with, without) = (make(&all), make(&ssd(SHAPE)));
    assert_eq!(with.effective_op(), without.effective_op());
    assert!(with.nameplate_op() > without.nameplate_op());
}

/// THEORY: under uniform accesses of a span, memory over span, whatever the replacement.
#[test]
fn hits_are_memory_over_span() {
    const SLOTS: u64 = 20;
    let mut drive = filled(&limited(SLOTS as u32));
    let mut random = Random(1);
    for pages in [10, 20, 21, 25, 40, 80, 200] {
        let span = pages * PAGE_UNITS;
        // The memory is full of this span's pages before it is measured.
        anywhere(&mut drive, &mut random, span, 20_000, 0);
        let count = added(&mut drive, |drive| anywhere(drive, &mut random, span, 400_000, 0));
        let hits = 1.0 - count.map_misses as f64 / count.map_lookups as f64;
        let expected = (SLOTS as f64 / pages as f64).min(1.0);
        assert_eq!(count.map_lookups, 400_000);
        assert_eq!(count.map_read_units, count.map_misses, "every miss reads its page");
        assert_eq!(count.map_units, 0, "nothing was changed");
        assert!((hits - expected).abs() < 0.01 * expected, "{pages}: {hits} of {expected}");
    }
}

/// The latency of a lone read knows the span only by its misses: a knee at memory x 4 MiB.
#[test]
fn a_lone_read_is_slower_by_its_misses() {
    const SLOTS: u64 = 20;
    let mut drive = filled(&limited(SLOTS as u32));
    let mut random = Random(2);
    for pages in [10, 20, 25, 40, 200] {
        let span = pages * PAGE_UNITS;
        anywhere(&mut drive, &mut random, span, 20_000, 0);
        let reads = times(100_000, |_| io(Op::Read, random.below(span), 1));
        let latencies = closed_loop(&mut drive, 1, reads);
        let mean = latencies.into_iter().sum::<Nanos>().0 as f64 / 100_000.0;
        let misses = 1.0 - (SLOTS as f64 / pages as f64).min(1.0);
        let expected = (PAGE_READ + LINK).0 as f64 + misses * PAGE_READ.0 as f64;
        assert!((mean / expected - 1.0).abs() < 0.01, "{pages}: {mean} of {expected} ns");
    }
}

#[test]
fn every_miss_of_a_writer_writes_back_a_page() {
    const SLOTS: u64 = 20;
    for pages in [10, 25, 40, 200] {
        let mut drive = filled(&limited(SLOTS as u32));
        let mut random = Random(5);
        let span = pages * PAGE_UNITS;
        anywhere(&mut drive, &mut random, span, 20_000, 100);
        let count = added(&mut drive, |drive| anywhere(drive, &mut random, span, 200_000, 100));
        let per_write = count.map_units as f64 / count.host_units as f64;
        let expected = 1.0 - (SLOTS as f64 / pages as f64).min(1.0);
        assert!((per_write - expected).abs() <= 0.01 * expected, "{pages}: {per_write}");
        assert!(count.map_read_units.abs_diff(count.map_misses) == 0);
    }
}

/// A page that leaves is dirty if the access that loaded it was a write, share w, or one of
/// those that hit it after; of these there are h / (1 - h) on average, mostly none or one.
#[test]
fn of_a_mix_the_dirty_share_is_written_back() {
    const SLOTS: u64 = 10;
    let mut drive = filled(&limited(SLOTS as u32));
    let mut random = Random(6);
    let span = 200 * PAGE_UNITS;
    let hits = SLOTS as f64 / 200.0;
    for write_percent in [10, 50, 80] {
        anywhere(&mut drive, &mut random, span, 20_000, write_percent);
        let count = added(&mut drive, |drive| {
            anywhere(drive, &mut random, span, 400_000, write_percent);
        });
        let writes = write_percent as f64 / 100.0;
        let dirty = 1.0 - (1.0 - writes) * (1.0 - writes * hits / (1.0 - hits));
        let expected = (1.0 - hits) * dirty;
        let measured = count.map_units as f64 / count.map_lookups as f64;
        assert!((measured / expected - 1.0).abs() < 0.015, "{measured} of {expected}");
    }
}

#[test]
fn a_miss_takes_the_read_of_a_page_more_and_no_write_back() {
    let mut drive = filled(&limited(4));
    // The fill left pages behind that are dirty: they leave for clean ones.
    for page in 90..94 {
        alone(&mut drive, io(Op::Read, page * PAGE_UNITS, 1));
    }
    let mut latency = |op, page: u64| alone(&mut drive, io(op, page * PAGE_UNITS + 100, 1));
    for page in 0..8 {
        let (miss, hit) = (latency(Op::Read, page), latency(Op::Read, page));
        assert_eq!((miss, hit), (PAGE_READ + PAGE_READ + LINK, PAGE_READ + LINK), "{page}");
    }
    for page in 10..20 {
        // Data crosses the link while the map is read.
        let (miss, hit) = (latency(Op::Write, page), latency(Op::Write, page));
        assert_eq!((miss, hit), (PAGE_READ, LINK), "{page}");
    }
    // Part of a unit: the map, then the unit's rest.
    let part = |page: u64| sectors(Op::Write, (page * PAGE_UNITS + 200) * 8, 1);
    assert_eq!(alone(&mut drive, part(30)), PAGE_READ + PAGE_READ);
    assert_eq!(alone(&mut drive, part(30)), PAGE_READ, "the rest only");
    hold_identities(&drive.counters());
}

/// How the page that holds the map's is programmed and read is not known: the mean of all kinds.
#[test]
fn a_map_page_takes_the_mean_time_of_all_kinds() {
    let mut profile = limited(4);
    profile.nand_cells = Some(NandCellsSection {
        kind: CellKind::Mlc,
        order: PageOrder::InTurn,
        pages_per_level: 1,
        middle_program_ratio: None,
        upper_program_ratio: Some(3.0),
        middle_read_ratio: None,
        upper_read_ratio: Some(4.0),
    });
    // On a die that is idle neither matters.
    profile.nand.cache_reads = Some(true);
    profile.nand_suspend = Some(NandSuspendSection {
        program_suspend_us: Some(30.0),
        erase_suspend_us: Some(30.0),
        resume_us: 10.0,
        most_suspensions: 4,
        patience_us: None,
    });
    let mut drive = filled(&profile);
    for page in 90..94 {
        alone(&mut drive, io(Op::Read, page * PAGE_UNITS, 1));
    }
    // Lower pages are read in 20 us and upper ones in 80; the fill went from die to die.
    for (row, read) in [(0, Nanos(30_240)), (1, Nanos(90_240))] {
        let unit = row * 8 + 3;
        let mut latency = |page: u64| alone(&mut drive, io(Op::Read, page * PAGE_UNITS + unit, 1));
        for page in 0..8 {
            let (miss, hit) = (latency(page), latency(page));
            assert_eq!((miss, hit), (PAGE_READ + read + LINK, read + LINK), "{row}, {page}");
        }
    }
    hold_identities(&drive.counters());
}

/// Commands that need a page while it is being read wait for the same read.
#[test]
fn a_page_on_its_way_is_not_read_twice() {
    let mut drive = filled(&limited(4));
    let count = added(&mut drive, |drive| {
        drive.reap(drive.now() + Nanos::from_secs(10)).expect("nothing is in flight");
        // 60.24 us for the map page, the same for the data, which is on four dies, then 6.827 us
        // of link a read, one after the other.
        let latencies = closed_loop(drive, 4, times(4, |i| io(Op::Read, 2 + i, 1)));
        assert_eq!(latencies[0], PAGE_READ + PAGE_READ + LINK);
        assert!(
            latencies.iter().all(|&latency| latency <= PAGE_READ + PAGE_READ + Nanos(4 * LINK.0))
        );
    });
    assert_eq!((count.map_lookups, count.map_misses, count.map_read_units), (4, 1, 1));
}

/// A die has one page at a time to write back: the next miss that evicts one of the same die waits.
#[test]
fn a_page_that_leaves_waits_for_the_one_before_it_on_its_die() {
    let mut profile = limited(2);
    profile.nand.erase_us = 0.0;
    let mut drive = filled(&profile);
    let write = |drive: &mut Ssd, page: u64| {
        closed_loop(drive, 1, times(1, |_| io(Op::Write, page * PAGE_UNITS + 7, 1)))[0]
    };
    // Pages 0 and 8 are both on die 0; with both in memory and dirty, all is quiet.
    for page in [0, 8] {
        write(&mut drive, page);
    }
    drive.reap(drive.now() + Nanos::from_secs(10)).expect("nothing is in flight");
    // Page 0 leaves for page 1, which is read from die 1 meanwhile.
    assert_eq!(write(&mut drive, 1), PAGE_READ);
    // Page 8 leaves for page 2, when die 0 has programmed page 0: its 10.24 us of transfer and
    // 500 us of program began one miss ago.
    assert_eq!(write(&mut drive, 2), Nanos(510_240) - PAGE_READ + PAGE_READ);
}

#[test]
fn a_sequential_pass_misses_once_a_map_page() {
    for read_ahead_kib in [0, 128] {
        let mut profile = limited(4);
        profile.controller.read_ahead_kib = read_ahead_kib;
        let mut drive = filled(&profile);
        let units = drive.geometry().sectors / 8;
        let pages = units.div_ceil(PAGE_UNITS);
        // The fill left four pages behind, at the end, which the pass has evicted when it is there.
        for (op, block) in [(Op::Read, 1), (Op::Read, 32), (Op::Write, 32), (Op::Read, 32)] {
            let count = added(&mut drive, |drive| {
                let ios = times(units / block, |i| io(op, i * block, block as u32));
                closed_loop(drive, 1, ios);
            });
            assert_eq!(count.map_misses, pages, "{op:?} of {block} units");
        }
    }
}

/// The whole drive is written: every page leaves once, dirty, but those that are still there.
#[test]
fn a_fill_writes_the_map_once() {
    let drive = filled(&limited(4));
    let count = drive.counters();
    let pages = (count.host_units).div_ceil(PAGE_UNITS);
    assert_eq!(count.map_units, pages - 4);
    assert_eq!(count.map_read_units, 0, "there was nothing to read");
    let expected = 1.0 + (pages - 4) as f64 / count.host_units as f64;
    let amplified = count.write_amplification_since(&SsdCounters::default());
    assert_eq!(amplified, Some(expected));
    hold_identities(&count);
}

/// Blocks of map pages are erased when they are begun, every 64 pages of a die.
#[test]
fn map_blocks_are_erased() {
    let run = |profile: &SsdConfig| {
        let mut drive = filled(profile);
        let units = drive.geometry().sectors / 8;
        anywhere(&mut drive, &mut Random(8), units, 20_000, 100);
        drive.counters()
    };
    let (with, without) = (run(&limited(4)), run(&limited(1 << 16)));
    assert_eq!(without.map_units, 0);
    let erased = (with.blocks_erased - without.blocks_erased) as f64;
    let expected = with.map_units as f64 / 64.0;
    assert!(erased >= expected && erased <= expected + 8.0, "{erased} of {expected}");
}

/// Write amplification in the steady state is that of collection and the map's pages on top.
#[test]
fn write_amplification_has_the_map_in_it() {
    let steady = |profile: &SsdConfig| {
        let mut drive = filled(profile);
        let units = drive.geometry().sectors / 8;
        let mut random = Random(9);
        anywhere(&mut drive, &mut random, units, units * 4, 100);
        let before = drive.counters();
        anywhere(&mut drive, &mut random, units, units, 100);
        drive.counters().write_amplification_since(&before).expect("the host wrote")
    };
    let (all, some) = (steady(&limited(1 << 16)), steady(&limited(48)));
    let units = ssd(SHAPE).capacity.sectors / 8;
    let misses = 1.0 - 48.0 * PAGE_UNITS as f64 / units as f64;
    assert!((some - all - misses).abs() < 0.01, "{some} - {all} against {misses}");
}

#[test]
fn trim_of_a_whole_map_page_needs_neither_the_page_nor_its_place() {
    let mut drive = filled(&limited(4));
    let units = drive.geometry().sectors / 8;
    let count = added(&mut drive, |drive| {
        let latency = alone(drive, io(Op::Trim, PAGE_UNITS, 50 * PAGE_UNITS as u32));
        assert_eq!(latency, Nanos(0));
        let latency = alone(drive, io(Op::Read, 30 * PAGE_UNITS, 1));
        assert_eq!(latency, LINK, "the map has no page there");
    });
    assert_eq!((count.map_misses, count.map_read_units, count.map_units), (0, 0, 0));
    // Part of a page is a change to the page.
    assert_eq!(alone(&mut drive, io(Op::Trim, 60 * PAGE_UNITS, 8)), PAGE_READ);
    // The rest of the drive, its last page's end included: nothing is left to load.
    alone(&mut drive, io(Op::Trim, 0, units as u32));
    let count = added(&mut drive, |drive| {
        anywhere(drive, &mut Random(1), units, 10_000, 0);
        fill(drive);
    });
    assert_eq!((count.map_read_units, count.moved_units), (0, 0));
    drive.check_map().expect("a sound map");
}

#[test]
fn a_write_of_all_that_a_map_page_maps_does_not_read_it() {
    let mut drive = filled(&limited(4));
    let count = added(&mut drive, |drive| {
        alone(drive, io(Op::Write, 5 * PAGE_UNITS, PAGE_UNITS as u32));
    });
    assert_eq!((count.map_misses, count.map_read_units), (1, 0));
    let count = added(&mut drive, |drive| {
        alone(drive, io(Op::Write, 7 * PAGE_UNITS, PAGE_UNITS as u32 - 1));
    });
    assert_eq!((count.map_misses, count.map_read_units), (1, 1));
}

#[test]
fn purge_empties_map_and_memory() {
    let mut drive = filled(&limited(4));
    anywhere(&mut drive, &mut Random(1), 100_000, 5000, 50);
    drive.purge();
    drive.check_map().expect("a sound map");
    let count = added(&mut drive, |drive| {
        anywhere(drive, &mut Random(1), 100_000, 5000, 0);
        assert_eq!(alone(drive, io(Op::Read, 3, 1)), LINK);
        fill(drive);
    });
    assert_eq!(count.map_read_units, 0);
}

#[test]
fn a_map_page_may_take_several_nand_pages() {
    let mut profile = limited(8);
    profile.nand.planes = 2;
    profile.nand.blocks_per_plane = 512;
    profile.map.as_mut().expect("it is set").page_bytes = 8192.into();
    let mut drive = filled(&profile);
    // Two transfers for the map page of 2048 units, then the data.
    assert_eq!(
        alone(&mut drive, io(Op::Read, 100, 1)),
        Nanos(50_000 + 2 * 10_240) + PAGE_READ + LINK
    );
    let count = added(&mut drive, |drive| anywhere(drive, &mut Random(2), 200_000, 20_000, 100));
    assert_eq!(count.map_read_units, 2 * count.map_misses);
    let hits = 1.0 - count.map_misses as f64 / count.map_lookups as f64;
    assert!((hits - 4.0 * 2048.0 / 200_000.0).abs() < 0.005, "{hits}");
}

#[test]
fn a_memory_that_makes_no_map_is_refused() {
    let refused = |memory_kib: Option<u32>, page_bytes: Option<u32>, planes: u32| {
        let mut profile = ssd(SHAPE);
        profile.nand.planes = planes;
        profile.nand.page_bytes = 8192;
        profile.buffer.write_kib = 4096;
        profile.map = Some(MapSection { memory_kib, page_bytes, ..MapSection::default() });
        profile.check().expect_err("no such drive").to_string()
    };
    for (memory_kib, page_bytes, planes, expected) in [
        (Some(0), None, 1, "map.memory_kib = 0 is not possible: it must be 16 to 67108864"),
        (Some(15), None, 1, "map.memory_kib = 15 is not possible: it must be 16 to 67108864"),
        (
            Some(31),
            Some(16_384),
            2,
            "map.memory_kib = 31 is not possible: it must be 32 to 67108864",
        ),
        (
            Some(64),
            Some(4096),
            2,
            "map.page_bytes = 4096 is not possible: it must be 8192 to 16384",
        ),
        (
            Some(64),
            Some(16_384),
            1,
            "map.page_bytes = 16384 is not possible: it must be 8192 to 8192",
        ),
        (
            Some(64),
            Some(12_288),
            2,
            "map.page_bytes = 12288 is not possible: it must be a multiple of a NAND page of 8192 bytes",
        ),
        (
            None,
            Some(8192),
            1,
            "map.page_bytes = 8192 is not possible: it needs map.memory_kib: a map all in memory has no pages",
        ),
    ] {
        assert_eq!(refused(memory_kib, page_bytes, planes), expected);
    }
    // Without the blocks of the map, the user's space fits; with them, it does not.
    let mut profile = ssd(SHAPE);
    set_effective_op(&mut profile, 0.0125);
    profile.map = Some(MapSection { memory_kib: Some(64), ..MapSection::default() });
    let error = profile.check().expect_err("no room for the map").to_string();
    assert!(error.contains("capacity.sectors") && error.contains("or for the map"), "{error}");
    profile.map = None;
    profile.check().expect("all of the map is in memory");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn whatever_the_memory_all_is_answered_and_accounted_for(
        dies in 1u32..6, slots in 2u32..20, map_page_power in 0u32..3, unit_power in 0u32..3,
        read_ahead: bool, odd_end in 0u64..4, cache: bool, suspends: bool, seed: u64,
    ) {
        let mut profile =
            ssd(Shape { dies, blocks_per_die: 48, pages_per_block: 64, effective_op: 0.4 });
        profile.nand.planes = 4;
        profile.buffer.write_kib = 1024;
        profile.capacity.sectors = profile.capacity.sectors * 4 - odd_end * 8;
        profile.controller.read_ahead_kib = if read_ahead { 128 } else { 0 };
        profile.nand.cache_reads = Some(cache);
        profile.nand.cache_programs = Some(cache);
        profile.nand_suspend = suspends.then_some(NandSuspendSection {
            program_suspend_us: Some(30.0),
            erase_suspend_us: Some(30.0),
            resume_us: 10.0,
            most_suspensions: 4,
            patience_us: None,
        });
        let page_bytes = 4096 << map_page_power;
        profile.map = Some(MapSection {
            unit_bytes: Some(4096 << unit_power),
            memory_kib: Some(slots * page_bytes / 1024),
            page_bytes: Some(page_bytes),
        });
        let mut drive = make(&profile);
        let all = drive.geometry().sectors;
        let mut random = Random(seed);
        let mut now = Nanos::ZERO;
        for round in 0..4000 {
            let op = [Op::Write, Op::Write, Op::Read, Op::Read, Op::Trim][random.below(5) as usize];
            let lba = random.below(all);
            let most = [1, 9, 64, 20_000][random.below(4) as usize];
            let count = (1 + random.below(most)).min(all - lba) as u32;
            drive.submit(Tag(round % 32), sectors(op, lba, count));
            if round % 8 == 7 {
                for _ in 0..8 {
                    let done = drive.reap(Nanos::MAX);
                    prop_assert!(matches!(done, Ok(Some(_))), "{:?}", done);
                    prop_assert!(drive.now() >= now, "time went back");
                    now = drive.now();
                }
            }
        }
        hold_identities(&drive.counters());
        drive.check_map().map_err(|wrong| TestCaseError::fail(wrong.to_string()))?;
    }
}
