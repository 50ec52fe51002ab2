//! The catalogue's Intel X25-M G2 160 GB with a map in limited memory.
//!
//! AnandTech counts 32 MB of DRAM in it that hold no user data (16 MB in its predecessor). Its map
//! of 39 million units takes 153 MB with entries of 4 bytes, so 32 MiB hold 8192 pages of 4 KiB,
//! the map of 32 GiB.

use fourcorners_drive::config::{MapSection, SsdConfig};
use fourcorners_drive::{Nanos, Op, SsdCounters, Target};

use crate::common::{Random, closed_loop, fill, io, make, times};
use crate::map::hold_identities;

/// 8 GB, the span of the reviewers' random tests, in units.
const SPAN: u64 = 8_000_000_000 / 4096;

fn x25_m(memory_kib: u32) -> SsdConfig {
    let mut profile: SsdConfig = crate::catalogue::config(include_str!("x25-m-g2-160gb.toml"));
    profile.map = Some(MapSection { memory_kib: Some(memory_kib), ..MapSection::default() });
    profile
}

#[test]
fn random_access_over_8_gb_hits_and_over_the_whole_drive_misses() {
    let profile = x25_m(32_768);
    let mut drive = make(&profile);
    let units = drive.geometry().sectors / 8;
    let map_pages = units.div_ceil(1024);
    fill(&mut drive);
    drive.settle();

    let mut random = Random(7);
    let mut run = |op: Op, span: u64, depth: u32, count: u64| {
        let before = drive.counters();
        let start = drive.now();
        let next = times(count, |_| io(op, random.below(span), 1));
        let latencies = closed_loop(&mut drive, depth, next);
        let after = drive.counters();
        hold_identities(&after);
        let mean_us = latencies.into_iter().sum::<Nanos>().as_micros() / count as f64;
        let mb_per_s = count as f64 * 4096.0 / 1e6 / (drive.now() - start).as_secs();
        (mean_us, mb_per_s, [before, after])
    };
    let misses = |[before, after]: [SsdCounters; 2]| {
        (after.map_misses - before.map_misses) as f64
            / (after.map_lookups - before.map_lookups) as f64
    };
    // Both spans are read until the memory is full of their pages.
    let _ = run(Op::Read, SPAN, 32, 200_000);
    let (near_us, near_mb, near) = run(Op::Read, SPAN, 1, 50_000);
    let (_, near_qd3_mb, _) = run(Op::Read, SPAN, 3, 50_000);
    let _ = run(Op::Read, units, 32, 200_000);
    let (far_us, far_mb, far) = run(Op::Read, units, 1, 50_000);
    let (_, far_qd3_mb, _) = run(Op::Read, units, 3, 50_000);
    println!(
        "4 KiB random read, 8 GB and whole drive: QD 1 {near_us:.1} us {near_mb:.1} MB/s, \
         {far_us:.1} us {far_mb:.1} MB/s; QD 3 {near_qd3_mb:.1}, {far_qd3_mb:.1} MB/s"
    );
    assert_eq!(misses(near), 0.0);
    let expected_misses = 1.0 - 8192.0 / map_pages as f64;
    assert!((misses(far) / expected_misses - 1.0).abs() < 0.01, "{}", misses(far));
    // A miss reads a map page more: tR 50 us and 4096 bytes at 40 MB/s.
    let expected_us = near_us + expected_misses * (50.0 + 102.4);
    assert!((far_us / expected_us - 1.0).abs() < 0.01, "{far_us} of {expected_us}");
    assert!(far_qd3_mb < 0.75 * near_qd3_mb);

    // A write of the far span reads a page of the map and writes one back, if it misses.
    let _ = run(Op::Write, SPAN, 32, 100_000);
    let (_, near_mb, near) = run(Op::Write, SPAN, 3, 50_000);
    let _ = run(Op::Write, units, 32, 100_000);
    let (_, far_mb, far) = run(Op::Write, units, 3, 50_000);
    println!("4 KiB random write QD 3, 8 GB and whole drive: {near_mb:.1}, {far_mb:.1} MB/s");
    assert_eq!(misses(near), 0.0);
    assert_eq!(near[0].map_units, near[1].map_units);
    let written_back = (far[1].map_units - far[0].map_units) as f64 / 50_000.0;
    assert!((written_back / expected_misses - 1.0).abs() < 0.02, "{written_back}");
    assert!(far_mb < near_mb);
}

/// Half the memory still holds the map of the span that reviewers use.
#[test]
fn the_map_of_8_gb_fits_into_the_16_mb_of_the_first_x25_m() {
    let pages = SPAN.div_ceil(1024);
    assert!(pages < 16_384 / 4, "{pages} pages");
    // Nameplate: 40 dies of 2048 blocks; the map of 153 MB, three times, takes 6 blocks a die.
    let (with, without) = (make(&x25_m(16_384)), {
        let mut profile = x25_m(16_384);
        profile.map = None;
        make(&profile)
    });
    assert_eq!(with.nameplate_op(), without.nameplate_op());
    let lost = without.effective_op() - with.effective_op();
    assert!((lost - 6.0 * 40.0 * 2.0 * 256.0 / (312_581_808.0 / 8.0)).abs() < 1e-9, "{lost}");
}
