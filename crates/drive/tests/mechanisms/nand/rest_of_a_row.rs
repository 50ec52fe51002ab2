//! Flash that reads a part of a row by itself takes another read for the rest, and only for that.

use fourcorners_drive::config::SsdConfig;
use fourcorners_drive::{Nanos, Op, Target};

use crate::common::{
    Random, closed_loop, fill, io, make, overwrite, pcie, set_effective_op, times,
};
use crate::nand::{TRANSFER, assert_near, idle, lone_die, one, us};

/// The link takes no longer for four units and a command; parts of a nanosecond.
const SLACK: u64 = 4 * 65 + 3 + 4;

/// One die of four planes with pages of 4 KiB, behind a link that hardly takes any time; a read takes 50 us.
fn four_planes(ratio: Option<f64>) -> SsdConfig {
    let mut profile = lone_die(64);
    profile.link = pcie(5, 16, 4096);
    profile.nand.planes = 4;
    profile.nand.rest_read_ratio = ratio;
    profile.buffer.write_kib = 4096;
    set_effective_op(&mut profile, 0.15);
    profile
}

/// How long a read of `units` from `unit` on takes on an idle drive that was filled in order.
fn read(profile: &SsdConfig, unit: u64, units: u32) -> Nanos {
    let mut drive = make(profile);
    fill(&mut drive);
    idle(&mut drive);
    one(&mut drive, io(Op::Read, unit, units))
}

#[test]
fn more_than_a_page_of_a_row_takes_a_second_read_and_no_third() {
    for (ratio, rest_us) in [(None, 0.0), (Some(0.0), 0.0), (Some(0.9), 45.0), (Some(2.0), 100.0)] {
        let profile = four_planes(ratio);
        let out = |pages: u64| Nanos(pages * TRANSFER.0);
        assert_near(read(&profile, 0, 1), us(50.0) + out(1), SLACK);
        for pages in [2, 4] {
            // The first page goes out while the rest is read.
            let expected = us(50.0) + us(rest_us).max(out(1)) + out(pages - 1);
            assert_near(read(&profile, 0, pages as u32), expected, SLACK);
        }
        // Across a border one page of each row is read, and neither has a rest to read.
        assert_near(read(&profile, 3, 2), Nanos(2 * (us(50.0) + out(1)).0), SLACK);
    }
}

#[test]
fn the_die_is_taken_for_as_long() {
    for ratio in [None, Some(1.0)] {
        let profile = four_planes(ratio);
        let mut drive = make(&profile);
        fill(&mut drive);
        idle(&mut drive);
        let start = drive.now();
        let commands = times(40, |row| io(Op::Read, 4 * row, 2));
        closed_loop(&mut drive, 4, commands);
        let each = read(&profile, 0, 2);
        let all = drive.now() - start;
        assert_near(all, Nanos(40 * each.0), 40 * SLACK);
    }
}

#[test]
fn collection_takes_it_too() {
    let written_in = |ratio| {
        let mut profile = four_planes(ratio);
        // So that reads are most of what a die does.
        profile.nand.read_us = 500.0;
        profile.nand.program_us = 100.0;
        let mut drive = make(&profile);
        fill(&mut drive);
        let units = drive.geometry().sectors / 8;
        let start = drive.now();
        overwrite(&mut drive, &mut Random(7), units, 20_000);
        (drive.now() - start).0 as f64
    };
    let [off, zero, on] = [None, Some(0.0), Some(1.0)].map(written_in);
    assert_eq!(off, zero);
    assert!(on > 1.2 * off && on < 2.0 * off, "{on} {off}");
}
