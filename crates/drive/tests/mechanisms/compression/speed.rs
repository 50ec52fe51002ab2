//! Compression in time.

use super::*;
use fourcorners_drive::Nanos;

/// Four dies on a channel each, rows of 8 KiB: 16 KiB a 500 us + 40.96 us a die.
fn drive(op: f64) -> SsdConfig {
    let mut profile =
        ssd(Shape { dies: 4, blocks_per_die: 60, pages_per_block: 64, effective_op: op });
    profile.nand.planes = 2;
    profile.nand.erase_us = 0.0;
    profile.capacity.sectors *= 2;
    profile.buffer.write_kib = 1024;
    profile.compression = Some(compression(512));
    profile
}

/// Bytes a second of a fill in order.
fn fill_rate(profile: &SsdConfig, percent: u8) -> f64 {
    let mut drive = make(profile);
    fill_with(&mut drive, percent);
    drive.settle();
    drive.geometry().bytes() as f64 / drive.now().as_secs()
}

fn hold(what: &str, measured: f64, expected: f64, tolerance: f64) {
    let error = measured / expected - 1.0;
    println!("{what:<40} {measured:12.4} {expected:12.4} {:+.2} %", error * 100.0);
    assert!(error.abs() <= tolerance, "{what}: {measured} of {expected}");
}

#[test]
fn writes_in_order_are_faster_by_what_is_not_stored_until_the_link_is_full() {
    let profile = drive(0.2);
    let row_us = 500.0 + 2.0 * 4096.0 / 400.0;
    let nand = 4.0 * 8192.0 / row_us * 1e6;
    for (percent, granules) in [(0, 8.0), (25, 6.0), (50, 4.0), (75, 2.0)] {
        hold(
            &format!("{percent} % removed"),
            fill_rate(&profile, percent),
            nand * 8.0 / granules,
            0.01,
        );
    }
    // One granule of eight would be 8 x 60.6 MB/s; a link of 1.5 Gb/s has 150.
    let mut slow = profile.clone();
    slow.link = sata(1.5, 0.0, 0.0);
    hold("link", fill_rate(&slow, 100), 150e6, 0.01);
    // With a row of parity for every three of data, the dies do a quarter more.
    let mut parity = profile;
    let section = compression(512);
    parity.compression = Some(CompressionSection { parity_rows: Some(4), ..section });
    parity.capacity.sectors = parity.capacity.sectors / 32 * 24;
    hold("parity", fill_rate(&parity, 50), nand * 2.0 * 3.0 / 4.0, 0.01);
}

/// A controller that takes 5 us for a command, 1 us for 4 KiB of the host's and 16 us for 4 KiB that
/// it stores is as fast as data compresses, at any size of command, until the dies are full.
#[test]
fn what_is_stored_takes_the_controller_its_time() {
    let mut profile = drive(0.2);
    profile.nand.program_us = 10.0;
    profile.controller.write_command_us = 5.0;
    profile.controller.write_4k_us = 1.0;
    profile.compression = Some(CompressionSection { store_4k_us: Some(16.0), ..compression(512) });
    for (percent, stored) in [(0, 1.0), (25, 0.75), (50, 0.5), (100, 0.125)] {
        let us: f64 = 5.0 / 32.0 + 1.0 + 16.0 * stored;
        let what = format!("in order, {percent} % removed");
        // Of data that compresses far the link is what limits.
        let expected = (4096e6 / us).min(600e6);
        hold(&what, fill_rate(&profile, percent), expected, 0.01);
        let mut drive = make(&profile);
        let units = drive.geometry().sectors / 8;
        let mut random = Random(3);
        overwrite_with(&mut drive, &mut random, units / 4, percent);
        let us = 5.0 + 1.0 + 16.0 * stored;
        let rate = (units / 4) as f64 / drive.now().as_secs();
        hold(&format!("at random, {percent} % removed"), rate, 1e6 / us, 0.01);
    }
    // Left out, it is nothing.
    let left_out = CompressionSection { store_4k_us: None, ..compression(512) };
    let nothing = CompressionSection { store_4k_us: Some(0.0), ..compression(512) };
    let rates = [left_out, nothing].map(|section| {
        profile.compression = Some(section);
        fill_rate(&profile, 0)
    });
    assert_eq!(rates[0], rates[1]);
}

/// The latency of a read of one unit of a settled drive.
fn read(drive: &mut Ssd, unit: u64) -> Nanos {
    drive.settle();
    closed_loop(drive, 1, times(1, |_| io(Op::Read, unit, 1)))[0]
}

#[test]
fn a_read_fetches_the_pages_that_a_unit_lies_in() {
    let mut profile = drive(0.3);
    profile.nand.dies = 1;
    profile.nand.channels = 1;
    profile.capacity.sectors = profile.capacity.sectors / 32 * 8;
    let mut drive = make(&profile);
    // Units of 6 granules on pages of 8: the second lies in two pages of one row, the third in two
    // rows, the fourth within one page again.
    closed_loop(&mut drive, 1, times(1, |_| write(0, 64, 25)));
    let link = Nanos(6827);
    let (array, page) = (Nanos::from_micros(50.0), Nanos::from_micros(10.24));
    let one = array + page + link;
    assert_eq!(read(&mut drive, 0), one);
    assert_eq!(read(&mut drive, 1), one + page);
    assert_eq!(read(&mut drive, 2), one + array + page);
    assert_eq!(read(&mut drive, 3), one);
    // 64 units of 1 granule lie on eight pages of four rows, which are there long before the link has
    // sent what they are of; stored whole they are on 64 pages of 32 rows, and the NAND decides.
    let mut read_64 = |percent| {
        closed_loop(&mut drive, 1, times(1, |_| write(0, 64, percent)));
        closed_loop(&mut drive, 1, times(1, |_| Io::FLUSH));
        drive.settle();
        closed_loop(&mut drive, 1, times(1, |_| io(Op::Read, 0, 64)))[0]
    };
    let (small, whole) = (read_64(100), read_64(0));
    let sent = array + page + Nanos(64 * link.0);
    assert!(small.0.abs_diff(sent.0) < 100, "{small}, {sent}");
    let fetched = Nanos(32 * (array.0 + 2 * page.0)) + link;
    assert!(whole.0.abs_diff(fetched.0) < 100, "{whole}, {fetched}");
}

#[test]
fn incompressible_units_of_one_granule_are_as_without_the_section_to_the_nanosecond() {
    let run = |section: Option<CompressionSection>| {
        let mut profile = drive(0.1);
        profile.nand.erase_us = 2000.0;
        profile.compression = section;
        let mut drive = make(&profile);
        let units = drive.geometry().sectors / 8;
        let mut random = Random(8);
        fill_with(&mut drive, 0);
        let mut any = |_| match random.below(20) {
            0 => Io::FLUSH,
            1 => io(Op::Trim, random.below(units - 8), 8),
            2..8 => io(Op::Read, random.below(units), 1),
            8 => Io { fua: true, ..write(random.below(units), 1, 100) },
            // All that is stored of it is a unit.
            _ => write(random.below(units - 4), 1 + random.below(4) as u32, 100),
        };
        let latencies = closed_loop(&mut drive, 16, times(units * 4, &mut any));
        (latencies, drive.counters().blocks_erased)
    };
    assert_eq!(run(Some(compression(4096))), run(None));
}
