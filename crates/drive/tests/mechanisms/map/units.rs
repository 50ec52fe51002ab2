//! Map units of 4 KiB and more, and writes of less than a unit.

use fourcorners_drive::config::{MapSection, SsdConfig};
use fourcorners_drive::{Nanos, Op, Tag, Target};
use proptest::prelude::*;

use crate::common::{Random, Shape, closed_loop, fill, io, make, overwrite, ssd, times};
use crate::map::{alone, hold_identities, sectors};

const SMALL: Shape = Shape { dies: 4, blocks_per_die: 64, pages_per_block: 16, effective_op: 0.15 };

/// A page of 16 KiB from the NAND into the controller: tR 50 us, 16,384 bytes at 400 MB/s.
const PAGE_READ: Nanos = Nanos(50_000 + 40_960);

/// The same drive with so large a unit, and pages of the same size.
fn with_unit(unit_bytes: u32) -> SsdConfig {
    let mut profile = ssd(SMALL);
    profile.map = Some(MapSection { unit_bytes: Some(unit_bytes), ..MapSection::default() });
    profile.nand.page_bytes = unit_bytes;
    profile.capacity.sectors *= u64::from(unit_bytes) / 4096;
    profile.buffer.write_kib = unit_bytes / 1024 * 16;
    profile
}

#[test]
fn a_unit_of_4_kib_is_what_there_is_without_the_section() {
    let mut with = ssd(SMALL);
    with.map = Some(MapSection { unit_bytes: Some(4096), ..MapSection::default() });
    let run = |profile: &SsdConfig| {
        let mut drive = make(profile);
        let units = drive.geometry().sectors / 8;
        fill(&mut drive);
        (overwrite(&mut drive, &mut Random(1), units, units), drive.counters())
    };
    assert_eq!(run(&with), run(&ssd(SMALL)));
    with.map = Some(MapSection::default());
    assert_eq!(run(&with), run(&ssd(SMALL)));
}

#[test]
fn a_write_of_less_than_a_unit_writes_the_unit() {
    for (unit_bytes, write_sectors) in [(4096, 1), (4096, 8), (8192, 8), (16_384, 8), (65_536, 16)]
    {
        let mut profile = with_unit(unit_bytes);
        profile.capacity.sectors -= 8;
        let mut drive = make(&profile);
        let places = drive.geometry().sectors / u64::from(write_sectors) / 2;
        let mut random = Random(4);
        closed_loop(
            &mut drive,
            4,
            times(1500, |_| {
                let place = random.below(places);
                sectors(Op::Write, place * u64::from(write_sectors), write_sectors)
            }),
        );
        let count = drive.counters();
        hold_identities(&count);
        assert_eq!(count.moved_units, 0);
        assert_eq!(count.host_sectors, 1500 * u64::from(write_sectors));
        let amplified = count.write_amplification_since(&Default::default());
        let factor = f64::from(unit_bytes) / f64::from(write_sectors * 512);
        assert_eq!(amplified, Some(factor), "{write_sectors} sectors in {unit_bytes} bytes");
    }
}

/// What is written unit by unit is collected unit by unit, whatever their size.
#[test]
fn collection_does_not_know_how_large_a_unit_is() {
    let run = |unit_bytes: u32| {
        let factor = u64::from(unit_bytes) / 4096;
        let mut drive = make(&with_unit(unit_bytes));
        let units = drive.geometry().sectors / 8 / factor;
        let mut random = Random(7);
        let mut write = |unit: u64| io(Op::Write, unit * factor, factor as u32);
        closed_loop(&mut drive, 8, times(units, &mut write));
        closed_loop(&mut drive, 8, times(units * 4, |_| write(random.below(units))));
        drive.check_map().expect("a sound map");
        hold_identities(&drive.counters());
        drive.counters()
    };
    let (small, large) = (run(4096), run(16_384));
    assert!(small.moved_units > 0);
    assert_eq!(large.moved_units, small.moved_units * 4);
    assert_eq!(large.programmed_units, small.programmed_units * 4);
    assert_eq!(large.blocks_erased, small.blocks_erased);
    let amplified = |count: fourcorners_drive::SsdCounters| {
        count.write_amplification_since(&Default::default()).expect("the host wrote")
    };
    assert_eq!(amplified(large), amplified(small));
}

/// 4 KiB anywhere in units of 16 KiB: four times what collection makes of writes of a unit.
#[test]
fn write_amplification_is_that_of_the_units_times_their_size() {
    let steady = |write_sectors: u64| {
        let mut drive = make(&with_unit(16_384));
        let units = drive.geometry().sectors / 32;
        let mut random = Random(11);
        let mut write = |count: u64| {
            closed_loop(
                &mut drive,
                8,
                times(count, |_| {
                    let within = random.below(32 / write_sectors) * write_sectors;
                    sectors(Op::Write, random.below(units) * 32 + within, write_sectors as u32)
                }),
            );
            drive.counters()
        };
        let before = write(units * 6);
        write(units * 6).write_amplification_since(&before).expect("the host wrote")
    };
    let (whole, part) = (steady(32), steady(8));
    assert!(whole > 1.5, "{whole}");
    assert!((part / whole / 4.0 - 1.0).abs() < 0.02, "{part} against {whole}");
}

#[test]
fn a_write_of_part_of_a_unit_waits_for_the_rest_of_it() {
    let mut drive = make(&with_unit(16_384));
    fill(&mut drive);
    let link = |sectors: u64| Nanos((sectors as f64 * 512.0 / 0.6).round() as u64);
    for (lba, count, expected, what) in [
        (0, 32, link(32), "a whole unit"),
        (64, 64, link(64), "two whole units"),
        (128, 8, link(8).max(PAGE_READ), "4 KiB"),
        (160, 1, link(1).max(PAGE_READ), "512 bytes"),
        (199, 3, link(3).max(PAGE_READ), "odd sectors"),
        // Neighbours lie on different dies and channels, so both are read at once.
        (255, 8, link(8).max(PAGE_READ), "4 KiB over the border of two units"),
        (353, 62, link(62).max(PAGE_READ), "all but the first and the last sector of two units"),
    ] {
        assert_eq!(alone(&mut drive, sectors(Op::Write, lba, count)), expected, "{what}");
        hold_identities(&drive.counters());
    }
    assert!(drive.counters().rmw_sectors >= 24 + 31 + 29 + 56 + 2);
}

#[test]
fn a_unit_that_was_never_written_has_no_rest() {
    let mut drive = make(&with_unit(16_384));
    assert_eq!(alone(&mut drive, sectors(Op::Write, 128, 8)), Nanos(6827));
    assert_eq!(drive.counters().rmw_sectors, 24);
}

/// A page of 64 KiB is a row of four units: until it is full, it has not left the buffer.
#[test]
fn the_rest_of_a_unit_that_is_still_in_the_buffer_is_not_read() {
    let mut profile = with_unit(16_384);
    profile.nand.page_bytes = 65_536;
    profile.capacity.sectors *= 4;
    profile.buffer.write_kib = 1024;
    let mut drive = make(&profile);
    fill(&mut drive);
    // Opens a row: the unit's rest comes from the NAND (a page of 64 KiB).
    let first = alone(&mut drive, sectors(Op::Write, 3200, 8));
    assert_eq!(first, Nanos(50_000 + 163_840));
    // The row takes three more units, and holds this one.
    assert_eq!(alone(&mut drive, sectors(Op::Write, 3208, 8)), Nanos(6827));
    assert_eq!(alone(&mut drive, sectors(Op::Write, 3201, 1)), Nanos(853));
    assert_eq!(alone(&mut drive, sectors(Op::Write, 3200, 32)), Nanos(27_307));
    // Full, it has been programmed by now, and the unit is read from the NAND again.
    assert_eq!(alone(&mut drive, sectors(Op::Write, 3200, 8)), Nanos(50_000 + 163_840));
}

/// Until the program operation ends, a full row is in the buffer, too.
#[test]
fn a_row_being_programmed_is_still_in_the_buffer() {
    let mut drive = make(&with_unit(16_384));
    fill(&mut drive);
    alone(&mut drive, sectors(Op::Write, 0, 32));
    let at_once = closed_loop(&mut drive, 1, times(1, |_| sectors(Op::Write, 0, 8)))[0];
    assert_eq!(at_once, Nanos(6827));
}

#[test]
fn part_of_a_unit_of_several_pages_costs_the_pages_it_touches() {
    let mut profile = with_unit(16_384);
    profile.nand.page_bytes = 4096;
    profile.nand.planes = 4;
    let mut drive = make(&profile);
    fill(&mut drive);
    // tR 50 us, 10.24 us a page, and the link.
    let mut latency = |op, lba, count| alone(&mut drive, sectors(op, lba, count));
    assert_eq!(latency(Op::Read, 136, 8), Nanos(50_000 + 10_240 + 6827));
    assert_eq!(latency(Op::Read, 140, 8), Nanos(50_000 + 2 * 10_240 + 6827));
    assert_eq!(latency(Op::Read, 128, 32), Nanos(50_000 + 4 * 10_240 + 27_307));
    // A write keeps what it does not cover.
    assert_eq!(latency(Op::Write, 192, 8), Nanos(50_000 + 3 * 10_240));
    assert_eq!(latency(Op::Write, 259, 1), Nanos(50_000 + 4 * 10_240));
    // Collection moves the pages of a unit, too.
    let units = drive.geometry().sectors / 32;
    let mut random = Random(2);
    let mut write = |_| sectors(Op::Write, random.below(units) * 32, 32);
    closed_loop(&mut drive, 8, times(units * 4, &mut write));
    assert!(drive.counters().moved_units > 0);
    drive.check_map().expect("a sound map");
}

#[test]
fn the_controller_is_paid_by_4_kib_whatever_the_unit() {
    let latency = |unit_bytes, op, lba, count| {
        let mut profile = with_unit(unit_bytes);
        profile.controller.read_4k_us = 100.0;
        profile.controller.write_4k_us = 200.0;
        alone(&mut make(&profile), sectors(op, lba, count))
    };
    for unit_bytes in [4096, 16_384, 65_536] {
        assert_eq!(latency(unit_bytes, Op::Read, 8, 8), Nanos(106_827), "{unit_bytes}");
        // 4 KiB over a border of 4 KiB; two halves of 6.827 us are rounded each.
        let two = latency(unit_bytes, Op::Read, 12, 8);
        assert!(two.0.abs_diff(206_827) <= 1, "{unit_bytes}: {two}");
        assert_eq!(latency(unit_bytes, Op::Write, 32, 32), Nanos(800_000), "{unit_bytes}");
    }
}

#[test]
fn a_sequential_reader_of_parts_of_units_is_read_ahead_of() {
    let mean = |read_ahead_kib| {
        let mut profile = with_unit(16_384);
        profile.controller.read_ahead_kib = read_ahead_kib;
        let mut drive = make(&profile);
        fill(&mut drive);
        drive.reap(Nanos::from_secs(100)).expect("nothing in flight, nothing to fail");
        let latencies = closed_loop(&mut drive, 1, times(800, |i| io(Op::Read, i, 1)));
        latencies.into_iter().sum::<Nanos>().0 / 800
    };
    assert_eq!(mean(0), PAGE_READ.0 + 6827);
    // Four dies read 16 KiB in 91 us each while the link takes 27 us for as much.
    let ahead = mean(128);
    assert!(ahead < 2 * 6827, "{ahead} ns");
}

#[test]
fn the_last_unit_may_end_beyond_the_drive() {
    let mut profile = with_unit(16_384);
    profile.capacity.sectors -= 8;
    let mut drive = make(&profile);
    let end = drive.geometry().sectors;
    fill(&mut drive);
    // All there is of the unit: nothing is left to be read.
    assert_eq!(alone(&mut drive, sectors(Op::Write, end - 24, 24)), Nanos(20_480));
    assert_eq!(alone(&mut drive, sectors(Op::Write, end - 8, 8)), PAGE_READ);
    assert_eq!(alone(&mut drive, sectors(Op::Read, end - 8, 8)), PAGE_READ + Nanos(6827));
    // Trimmed whole, its next write finds nothing to read.
    alone(&mut drive, sectors(Op::Trim, end - 24, 24));
    assert_eq!(alone(&mut drive, sectors(Op::Write, end - 8, 8)), Nanos(6827));
    drive.check_map().expect("a sound map");
}

#[test]
fn trim_of_part_of_a_unit_keeps_it() {
    let mut drive = make(&with_unit(16_384));
    fill(&mut drive);
    alone(&mut drive, sectors(Op::Trim, 8, 56));
    assert!(alone(&mut drive, sectors(Op::Read, 8, 8)) > PAGE_READ);
    assert_eq!(alone(&mut drive, sectors(Op::Read, 40, 8)), Nanos(6827));
}

#[test]
fn a_unit_that_fits_no_page_and_no_row_is_refused() {
    let refused = |unit_bytes: u32, page_bytes: u32, planes: u32| {
        let mut profile = ssd(SMALL);
        profile.nand.page_bytes = page_bytes;
        profile.nand.planes = planes;
        profile.buffer.write_kib = 4096;
        profile.map = Some(MapSection { unit_bytes: Some(unit_bytes), ..MapSection::default() });
        profile.check().expect_err("no such drive").to_string()
    };
    for (unit, page, planes, must) in [
        (0, 4096, 1, "it must be 4096 to 4096"),
        (2048, 4096, 1, "it must be 4096 to 4096"),
        (8192, 4096, 1, "it must be 4096 to 4096"),
        (12_288, 4096, 4, "it must be a power of two, 4096 to 16384"),
        (
            8192,
            12_288,
            2,
            "a NAND page of 12288 bytes must hold whole units, or a unit whole pages",
        ),
        (8192, 4096, 3, "a row (a page on every plane) of 12288 bytes must hold whole units"),
    ] {
        let expected = format!("map.unit_bytes = {unit} is not possible: {must}");
        assert_eq!(refused(unit, page, planes), expected);
    }
    let mut profile = with_unit(16_384);
    profile.controller.read_ahead_kib = 40;
    let error = profile.check().expect_err("40 KiB are two units and a half").to_string();
    assert!(
        error.contains("controller.read_ahead_kib = 40") && error.contains("16 KiB"),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn whatever_the_unit_every_sector_is_accounted_for(
        unit_power in 0u32..5, page_power in 0u32..4, plane_power in 0u32..3, odd_end in 0u64..4,
        dies in 1u32..4, seed: u64,
    ) {
        let (page, planes) = (4096 << page_power, 1 << plane_power);
        let unit = (4096u32 << unit_power).min(page * planes);
        let mut profile = ssd(Shape { dies, blocks_per_die: 24, pages_per_block: 8, effective_op: 0.3 });
        profile.nand.page_bytes = page;
        profile.nand.planes = planes;
        profile.buffer.write_kib = 1024;
        profile.capacity.sectors *= u64::from(page * planes / 4096);
        profile.capacity.sectors -= odd_end * 8;
        profile.map = Some(MapSection { unit_bytes: Some(unit), ..MapSection::default() });
        let mut drive = make(&profile);
        let all = drive.geometry().sectors;
        let mut random = Random(seed);
        let mut asked = 0;
        for _ in 0..2000 {
            let op = [Op::Write, Op::Write, Op::Write, Op::Read, Op::Trim][random.below(5) as usize];
            let lba = random.below(all);
            let most = [1, 9, 64, 700][random.below(4) as usize];
            let count = (1 + random.below(most)).min(all - lba) as u32;
            if op == Op::Write {
                asked += u64::from(count);
            }
            drive.submit(Tag(0), sectors(op, lba, count));
            let done = drive.reap(Nanos::MAX);
            prop_assert!(matches!(done, Ok(Some(_))), "{:?}", done);
        }
        let count = drive.counters();
        prop_assert_eq!(count.host_sectors, asked);
        hold_identities(&count);
        drive.check_map().map_err(|wrong| TestCaseError::fail(wrong.to_string()))?;
    }
}

#[test]
fn the_most_flash_grows_with_the_unit() {
    for (unit, tib) in [(4096, 8), (16_384, 32)] {
        // 64 dies of 1024 pages of a unit a block.
        let mut profile = with_unit(unit);
        profile.nand.dies = 64;
        profile.nand.pages_per_block = 1024;
        profile.nand.blocks_per_plane = 32_769;
        let error = profile.check().expect_err("too much").to_string();
        assert!(error.contains(&format!("must be at most {tib} TiB")), "{error}");
        profile.nand.blocks_per_plane = 32_768;
        profile.check().unwrap_or_else(|error| panic!("{error}"));
    }
}
