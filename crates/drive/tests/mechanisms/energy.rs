//! The energy of a virtual SSD: sums that can be done by hand.

use crate::common::*;
use fourcorners_drive::config::{MapSection, PowerSection, SsdConfig};
use fourcorners_drive::{Io, Nanos, Op, Ssd, SsdEnergy, Tag, Target};

const SMALL: Shape = Shape { dies: 4, blocks_per_die: 64, pages_per_block: 16, effective_op: 0.15 };

fn metered(shape: Shape) -> SsdConfig {
    let mut profile = ssd(shape);
    profile.power = Some(power());
    profile
}

fn energy(drive: &Ssd) -> SsdEnergy {
    drive.energy(drive.now()).expect("the profile has [power]")
}

#[track_caller]
fn same(measured: f64, expected: f64) {
    assert!((measured - expected).abs() <= expected.abs() * 1e-9, "{measured} J, not {expected}");
}

#[test]
fn a_drive_without_the_section_has_no_energy() {
    let drive = make(&ssd(SMALL));
    assert_eq!(drive.energy(Nanos::ZERO), None);
    assert_eq!(drive.energy_j(Nanos::ZERO), None);
}

#[test]
fn an_idle_hour_is_idle_power_for_an_hour() {
    let mut drive = make(&metered(SMALL));
    assert_eq!(drive.reap(Nanos::from_secs(3600)), Ok(None));
    assert_eq!(energy(&drive), SsdEnergy { idle_j: 0.5 * 3600.0, ..SsdEnergy::default() });
    // It can be read for any time since the last submit.
    assert_eq!(drive.energy_j(Nanos::from_secs(60)), Some(30.0));
}

#[test]
fn writes_cost_their_pages_blocks_and_bytes() {
    for planes in [1u32, 2] {
        let mut profile = metered(SMALL);
        profile.nand.planes = planes;
        let mut drive = make(&profile);
        // As many rows as the four dies' first blocks have: each die opens one block.
        let rows = 4 * 16;
        let pages = rows * u64::from(planes);
        closed_loop(&mut drive, 32, times(pages, |i| io(Op::Write, i, 1)));
        drive.settle();
        let used = energy(&drive);
        let bytes = (pages * 4096) as f64;
        same(used.program_j, pages as f64 * 70e-6);
        same(used.erase_j, f64::from(4 * planes) * 200e-6);
        same(used.transfer_j, bytes * 0.25e-9);
        same(used.link_j, bytes * 8.0 * 20e-12);
        assert_eq!(used.read_j, 0.0);
        same(used.idle_j, drive.now().as_secs() * 0.5);
        let parts = used.idle_j + used.controller_j + used.program_j + used.erase_j;
        same(drive.energy_j(drive.now()).expect("metered"), parts + used.transfer_j + used.link_j);
    }
}

#[test]
fn the_power_of_random_reads_is_idle_power_and_their_rate_times_a_read() {
    let mut profile = metered(SMALL);
    profile.host.command_us = 10.0;
    profile.controller.read_command_us = 5.0;
    let mut drive = make(&profile);
    fill(&mut drive);
    drive.settle();
    let units = drive.geometry().sectors / 8;
    let (began, before) = (drive.now(), energy(&drive));
    let mut random = Random(3);
    let count = 10_000;
    closed_loop(&mut drive, 1, times(count, |_| io(Op::Read, random.below(units), 1)));
    let seconds = (drive.now() - began).as_secs();
    let watts = (energy(&drive).total_j() - before.total_j()) / seconds;
    let rate = count as f64 / seconds;
    let a_read = 3e-6 + 4096.0 * (0.25e-9 + 8.0 * 20e-12);
    // The drive has no command while the host works on one: 10 us of each.
    let active = 1.0 - rate * 10e-6;
    same(watts, 0.5 + active * (1.25 - 0.5) + rate * a_read);
}

#[test]
fn overlapping_commands_keep_the_controller_active_once() {
    let mut drive = make(&metered(SMALL));
    let units = drive.geometry().sectors / 8;
    fill(&mut drive);
    drive.settle();
    let (began, before) = (drive.now(), energy(&drive).controller_j);
    let mut random = Random(4);
    closed_loop(&mut drive, 32, times(5000, |_| io(Op::Read, random.below(units), 1)));
    // No host in front: there is always a command in the drive.
    let seconds = (drive.now() - began).as_secs();
    same(energy(&drive).controller_j - before, seconds * 0.75);
    // And none in the idle hour after.
    let before = energy(&drive).controller_j;
    assert_eq!(drive.reap(drive.now() + Nanos::from_secs(3600)), Ok(None));
    assert_eq!(energy(&drive).controller_j, before);
}

#[test]
fn collection_costs_the_pages_it_moves() {
    let mut drive = make(&metered(SMALL));
    let units = drive.geometry().sectors / 8;
    fill(&mut drive);
    overwrite(&mut drive, &mut Random(5), units, units * 3);
    drive.settle();
    let (used, counters) = (energy(&drive), drive.counters());
    assert!(counters.moved_units > 0);
    // A page is one unit here: each is read once to be moved, and nothing else is read. What a die
    // is yet to move with its next row was not ordered: at most a block a die.
    let read = used.read_j / 3e-6;
    let moved = counters.moved_units as f64;
    assert!(read <= moved + 0.5 && moved - read <= 64.0, "{read} pages read, {moved} units moved");
    same(used.program_j, counters.programmed_units as f64 * 70e-6);
    same(used.erase_j, counters.blocks_erased as f64 * 200e-6);
}

#[test]
fn readings_never_fall() {
    for seed in 0..20 {
        let mut random = Random(seed);
        let mut profile = metered(SMALL);
        profile.host.command_us = random.below(50) as f64;
        let mut drive = make(&profile);
        let units = drive.geometry().sectors / 8;
        let mut last = drive.energy_j(Nanos::ZERO).expect("metered");
        for _ in 0..2000 {
            let op = [Op::Read, Op::Write, Op::Trim, Op::Flush][random.below(4) as usize];
            let io = match op {
                Op::Flush => Io::FLUSH,
                op => io(op, random.below(units - 8), 1 + random.below(8) as u32),
            };
            drive.submit(Tag(0), io);
            let half = drive.now() + Nanos(random.below(40_000));
            while let Ok(Some(_)) = drive.reap(half) {}
            // In the middle of a command, or after it.
            let reading = drive.energy_j(drive.now()).expect("metered");
            assert!(reading >= last, "seed {seed}: {last} J, then {reading}");
            last = reading;
            while let Ok(Some(_)) = drive.reap(Nanos::MAX) {}
        }
    }
}

#[test]
fn nonsense_is_refused_by_key_value_and_range() {
    type Change = fn(&mut PowerSection);
    let cases: [(&str, Change); 8] = [
        ("power.idle_w = -1 is not possible: it must be 0 to 1000", |p| p.idle_w = -1.0),
        ("power.active_w = 0.25 is not possible: it must be 0.5 to 1000", |p| {
            p.active_w = 0.25;
        }),
        ("power.active_w = NaN is not possible", |p| p.active_w = f64::NAN),
        ("power.idle_w = NaN is not possible", |p| p.idle_w = f64::NAN),
        ("power.read_uj = inf is not possible", |p| p.read_uj = f64::INFINITY),
        ("power.program_uj = -0.5 is not possible", |p| p.program_uj = -0.5),
        ("power.transfer_nj_per_byte = NaN is", |p| p.transfer_nj_per_byte = f64::NAN),
        ("power.link_pj_per_bit = 10000000 is", |p| p.link_pj_per_bit = 1e7),
    ];
    for (told, change) in cases {
        let mut profile = metered(SMALL);
        change(profile.power.as_mut().expect("metered"));
        let error = Ssd::new(&profile).expect_err(told).to_string();
        assert!(error.starts_with(told), "{error}");
    }
}

#[test]
fn a_map_with_limited_memory_costs_the_pages_it_reads_and_writes_back() {
    let mut profile = metered(SMALL);
    let memory_kib = Some(8);
    profile.map = Some(MapSection { memory_kib, ..MapSection::default() });
    set_effective_op(&mut profile, 0.15);
    // One plane and units of a page: units are pages.
    let mut drive = make(&profile);
    let units = drive.geometry().sectors / 8;
    fill(&mut drive);
    overwrite(&mut drive, &mut Random(5), units, units);
    let counted = drive.counters();
    assert!(counted.map_units > 100, "{counted:?}");
    let used = energy(&drive);
    same(used.program_j, counted.programmed_units as f64 * 70e-6);
    same(used.erase_j, counted.blocks_erased as f64 * 200e-6);

    // From here on all reads are from the array: no row is in the write buffer any more, and no page of
    // the map on its way out.
    let mut random = Random(6);
    let mut read = |drive: &mut Ssd, count| {
        closed_loop(drive, 1, times(count, |_| io(Op::Read, random.below(units), 1)));
        drive.settle();
    };
    closed_loop(&mut drive, 1, times(1, |_| Io::FLUSH));
    read(&mut drive, 20);
    let (used, before) = (energy(&drive), drive.counters().map_read_units);
    read(&mut drive, 5000);
    let map_reads = drive.counters().map_read_units - before;
    assert!(map_reads > 100, "{map_reads} pages of the map");
    same(energy(&drive).read_j - used.read_j, (5000 + map_reads) as f64 * 3e-6);
}
