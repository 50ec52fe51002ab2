//! What is not stored is spare: write amplification against theory.

use super::*;

/// Blocks of a die that data can occupy.
const BLOCKS: u32 = 1000;

/// 64 pages of 4 KiB a block, one die.
fn drive(effective_op: f64) -> SsdConfig {
    ssd(Shape { dies: 1, blocks_per_die: BLOCKS + 3, pages_per_block: 64, effective_op })
}

/// Write amplification of uniform 4 KiB writes of data that compresses so far, all of the drive
/// holding such data.
fn uniform(profile: &SsdConfig, compressible_percent: u8) -> f64 {
    let mut drive = make(profile);
    let units = drive.geometry().sectors / 8;
    let mut random = Random(20_120_101);
    fill_with(&mut drive, compressible_percent);
    overwrite_with(&mut drive, &mut random, units * 8, compressible_percent);
    let before = drive.counters();
    overwrite_with(&mut drive, &mut random, units * 3, compressible_percent);
    drive.check_map().expect("the map agrees with itself");
    drive.counters().write_amplification_since(&before).expect("the host wrote")
}

/// Within `tolerance` of `expected`.
fn hold(what: &str, measured: f64, expected: f64, tolerance: f64) {
    let error = measured / expected - 1.0;
    println!("{what:<50} {measured:8.4} {expected:8.4} {:+.2} %", error * 100.0);
    assert!(error.abs() <= tolerance, "{what}: {measured} of {expected}");
}

#[test]
fn spare_grows_by_what_is_not_stored() {
    // Of a share c of the data that is stored, the same NAND has (1 + op) / c times the space, and a
    // block holds 1 / c times the units.
    for (op, percent, granules) in
        [(0.07, 50, 4.0), (0.07, 25, 6.0), (0.07, 38, 5.0), (0.28, 50, 4.0)]
    {
        let mut profile = drive(op);
        profile.compression = Some(compression(512));
        let share = granules / 8.0;
        let said = make(&profile).effective_op();
        let a = (1.0 + said) / share;
        let expected = crate::closed_forms::greedy(a, (64.0 / share) as u32) * share;
        let what = format!("op {op}, {percent} % removed, stored {share}");
        hold(&what, uniform(&profile, percent), expected, 0.02);
    }
}

#[test]
fn what_does_not_compress_is_as_without_compression() {
    let plain = uniform(&drive(0.12), 0);
    for granule in [512, 2048] {
        let mut profile = drive(0.12);
        profile.compression = Some(compression(granule));
        hold(&format!("granules of {granule}"), uniform(&profile, 0), plain, 0.01);
        assert_eq!(make(&profile).effective_op(), make(&drive(0.12)).effective_op());
        assert_eq!(make(&profile).nameplate_op(), make(&drive(0.12)).nameplate_op());
    }
}

#[test]
fn data_of_two_kinds_has_the_spare_of_both() {
    // Half of the units are written with data of which half is removed, by address; as both are
    // overwritten alike and mixed, the spare is that of their mean.
    let mut profile = drive(0.1);
    profile.compression = Some(compression(512));
    let mut drive = make(&profile);
    let units = drive.geometry().sectors / 8;
    let mut random = Random(3);
    let any = |random: &mut Random| {
        let unit = random.below(units);
        write(unit, 1, unit as u8 % 2 * 50)
    };
    closed_loop(&mut drive, 8, times(units, |unit| write(unit, 1, unit as u8 % 2 * 50)));
    closed_loop(&mut drive, 8, times(units * 8, |_| any(&mut random)));
    let before = drive.counters();
    closed_loop(&mut drive, 8, times(units * 3, |_| any(&mut random)));
    drive.check_map().expect("the map agrees with itself");
    let measured = drive.counters().write_amplification_since(&before).expect("the host wrote");
    let a = (1.0 + drive.effective_op()) / 0.75;
    hold("half and half", measured, crate::closed_forms::greedy(a, 85) * 0.75, 0.02);
}

#[test]
fn a_fill_in_order_writes_what_is_stored() {
    for (percent, overhead, granules) in
        [(0, 0, 8u32), (50, 0, 4), (37, 0, 6), (100, 0, 1), (0, 16, 9)]
    {
        let mut profile = drive(0.3);
        // Rows of 8 KiB: a unit with its overhead is more than a page.
        profile.nand.planes = 2;
        profile.capacity.sectors = profile.capacity.sectors / 8 * 8;
        let section = compression(512);
        profile.compression = Some(CompressionSection { overhead_bytes: overhead, ..section });
        let mut drive = make(&profile);
        fill_with(&mut drive, percent);
        let count = drive.counters();
        let amplification =
            count.write_amplification_since(&Default::default()).expect("the host wrote");
        // At the end of a block of 1024 granules less than a unit is left over.
        let expected = f64::from(granules) / 8.0;
        let most = expected * 1024.0 / (1024.0 - f64::from(granules) + 1.0);
        assert!(
            (expected..=most).contains(&amplification),
            "{percent} % removed: {amplification}, expected {expected}"
        );
        assert_eq!(
            count.host_units * 8,
            count.host_sectors * u64::from(granules),
            "stored sectors"
        );
    }
}

#[test]
fn parity_takes_its_space_and_its_writes() {
    let plain = drive(0.1);
    for stripe in [2, 8, 32] {
        let mut profile = plain.clone();
        let section = compression(512);
        profile.compression = Some(CompressionSection { parity_rows: Some(stripe), ..section });
        let data = 1.0 - 1.0 / f64::from(stripe);
        let sectors = profile.capacity.sectors as f64 * data;
        profile.capacity.sectors = sectors as u64 / 8 * 8;
        let (fresh, without) = (make(&profile), make(&plain));
        hold("effective", 1.0 + fresh.effective_op(), 1.0 + without.effective_op(), 1e-4);
        hold("nameplate", 1.0 + fresh.nameplate_op(), (1.0 + without.nameplate_op()) / data, 1e-4);
        let pages = (64.0 * data) as u32;
        let expected = crate::closed_forms::greedy(1.0 + fresh.effective_op(), pages) / data;
        hold(&format!("parity 1 in {stripe}"), uniform(&profile, 0), expected, 0.02);
    }
}
