//! Read-ahead below the size of a unit: where the last read ended counts, whatever its size.

use crate::common::{Shape, closed_loop, fill, make, ssd, times};
use fourcorners_drive::{Io, Lba, Target};

/// A drive that reads ahead, filled: MB/s of sequential reads of `sectors` at a time, one after the other.
fn sequential_mb_per_s(read_ahead_kib: u32, sectors: u32) -> f64 {
    let mut profile =
        ssd(Shape { dies: 8, blocks_per_die: 32, pages_per_block: 64, effective_op: 0.3 });
    profile.host.command_us = 2.0;
    profile.nand.read_us = 50.0;
    profile.controller.read_ahead_kib = read_ahead_kib;
    let mut drive = make(&profile);
    fill(&mut drive);
    drive.settle();
    let (begin, count) = (drive.now(), 16_384 / u64::from(sectors));
    closed_loop(
        &mut drive,
        1,
        times(count, |number| Io::read(Lba(number * u64::from(sectors)), sectors)),
    );
    (count * u64::from(sectors) * 512) as f64 / (drive.now() - begin).0 as f64 * 1000.0
}

#[test]
fn small_reads_in_order_are_served_from_what_was_fetched_ahead() {
    let rates = [1, 2, 4, 8, 16].map(|sectors| sequential_mb_per_s(128, sectors));
    assert!(rates.is_sorted(), "{rates:?}");
    // From sector to sector only the host and the link are waited for, not the flash.
    assert!(rates[2] > rates[3] / 2.5, "{rates:?}");
    let without = sequential_mb_per_s(0, 4);
    assert!(without < rates[2] / 5.0, "{without} against {rates:?}");
}
