//! What holds whatever is written.

use super::*;
use fourcorners_drive::{Lba, Nanos, SsdCounters, Tag};

fn hold_balance(count: &SsdCounters) {
    let placed = count.host_units + count.moved_units + count.padded_units + count.parity_units;
    assert_eq!(placed, count.programmed_units + count.pending_units, "{count:?}");
}

/// Rows of 16 granules, units of up to 9.
fn drive(dies: u32, op: f64) -> SsdConfig {
    let mut profile =
        ssd(Shape { dies, blocks_per_die: 40, pages_per_block: 24, effective_op: op });
    profile.nand.planes = 2;
    profile.compression = Some(CompressionSection {
        overhead_bytes: 24,
        parity_rows: Some(8),
        store_4k_us: None,
        ..compression(512)
    });
    profile
}

/// Neighbours that never weigh the same leave as many fragments as there are units, which are
/// gathered again and again.
#[test]
fn units_of_every_weight_are_kept_apart_and_none_is_lost() {
    let mut random = Random(17);
    for streams in [false, true] {
        let mut profile = drive(3, 0.0);
        // Parity takes an eighth, and what does not compress an eighth more than its size.
        profile.capacity.sectors = 2 * profile.capacity.sectors * 6 / 10 / 8 * 8;
        profile.streams = streams.then(crate::common::streams);
        let mut drive = make(&profile);
        let sectors = drive.geometry().sectors;
        for _ in 0..40 {
            let mut any = |_| {
                let length = 1 + random.below(40);
                let lba = Lba(random.below(sectors - length));
                let compressible_percent = random.below(101) as u8;
                let op =
                    [Op::Write, Op::Write, Op::Write, Op::Read, Op::Trim][random.below(5) as usize];
                Io { op, lba, sectors: length as u32, compressible_percent, ..Io::FLUSH }
            };
            closed_loop(&mut drive, 8, times(2000, &mut any));
            drive.check_map().expect("the map agrees with itself");
            hold_balance(&drive.counters());
        }
        let count = drive.counters();
        assert!(count.moved_units > count.host_units / 20, "{count:?}");
    }
}

#[test]
fn after_a_flush_all_of_a_unit_is_on_the_nand() {
    let mut drive = make(&drive(5, 0.3));
    let mut random = Random(5);
    for round in 0..200u64 {
        let units = 1 + random.below(60) as u32;
        closed_loop(&mut drive, 4, times(3, |i| write((round * 3 + i) * 7 % 900, units, 30)));
        closed_loop(&mut drive, 1, times(1, |_| Io::FLUSH));
        let before = drive.counters();
        // Nothing of the host's waits: what is pending is collection's.
        let mut again = drive.clone();
        closed_loop(&mut again, 1, times(1, |_| Io::FLUSH));
        assert_eq!(again.counters(), before, "a second flush finds nothing to do");
        hold_balance(&before);
        if before.moved_units == 0 {
            assert_eq!(before.pending_units, 0);
        }
    }
}

#[test]
fn the_rest_of_a_unit_is_read_from_the_buffer() {
    // A unit of 9 granules on rows of 16: the second one ends in the next row of its die.
    let mut profile = drive(1, 0.3);
    profile.nand.program_us = 1e5;
    let mut drive = make(&profile);
    closed_loop(&mut drive, 1, times(2, |i| write(i, 1, 0)));
    drive.reap(Nanos::from_secs(1)).expect("nothing in flight, nothing to fail");
    drive.submit(Tag(0), io(Op::Read, 1, 1));
    let asked = drive.now();
    let done = drive.reap(Nanos::MAX).expect("no fault").expect("it is in flight");
    // Only the page with its first part: two pages are 2 x 10.24 us.
    assert_eq!(done.at - asked, Nanos::from_micros(50.0 + 10.24) + Nanos(6827));
}
