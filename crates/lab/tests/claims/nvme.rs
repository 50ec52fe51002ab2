//! NVMe: what a PCIe link and deep queues give, and a medium without erases.

use fourcorners_drive::Target;
use fourcorners_record::{Job, Until};

use super::{GB, drive, mb_per_s, measure, pass, random};

const SMALL: &str = "samsung-970-evo-plus-250gb";

/// I/Os a second of 4 KiB random reads over 8 GB.
fn read_iops(queue_depth: u32, set: &[&str]) -> f64 {
    let mut ssd = drive(SMALL, set);
    measure(&mut ssd, &pass(0, 32, 8 * GB));
    let job = random(100, queue_depth, 8 * GB, Until::Seconds(2));
    let measured = measure(&mut ssd, &job);
    measured.reads as f64 / measured.elapsed.as_secs()
}

#[test]
fn the_970_evo_plus_needs_depth_and_dies_for_its_random_reads() {
    let (one, deep) = (read_iops(1, &[]), read_iops(128, &[]));
    assert!((one / 17_000.0 - 1.0).abs() < 0.2, "{one}");
    assert!((deep / 250_000.0 - 1.0).abs() < 0.3, "{deep}");
    let few = read_iops(128, &["nand.dies=8", "nand.blocks_per_plane=4096"]);
    assert!(few < deep * 0.7, "{few} against {deep}");
}

#[test]
fn sequential_reads_are_the_links() {
    let in_order = |set: &[&str]| {
        let mut ssd = drive(SMALL, set);
        measure(&mut ssd, &pass(0, 32, 8 * GB));
        mb_per_s(&measure(&mut ssd, &pass(100, 32, 8 * GB)))
    };
    let (own, half) = (in_order(&[]), in_order(&["link.generation=2"]));
    assert!((own / 3500.0 - 1.0).abs() < 0.1, "{own}");
    assert!((half / 1750.0 - 1.0).abs() < 0.1, "{half}");
}

/// An Optane drive of a sixty-fourth of the capacity, which is used all the sooner.
const SHRUNK: [&str; 2] = ["capacity.sectors=11446688", "nand.blocks_per_plane=64"];

#[test]
fn optane_answers_in_nine_microseconds_and_knows_no_used_state() {
    let deep = |set: &[&str]| {
        let mut ssd = drive("intel-optane-p4800x-375gb", &[&SHRUNK, set].concat());
        let span = ssd.geometry().bytes();
        let job = random(0, 16, span, Until::Seconds(1));
        let fresh = mb_per_s(&measure(&mut ssd, &job));
        let more = random(0, 32, span, Until::Bytes(3 * span));
        measure(&mut ssd, &Job { seed: 3, ..more });
        mb_per_s(&measure(&mut ssd, &job)) / fresh
    };
    let mut ssd = drive("intel-optane-p4800x-375gb", &SHRUNK);
    measure(&mut ssd, &pass(0, 32, 4 * GB));
    let one = measure(&mut ssd, &random(100, 1, 4 * GB, Until::Seconds(1)));
    assert!((one.latency.mean() / 8_900.0 - 1.0).abs() < 0.05, "{}", one.latency.mean());
    let kept = deep(&[]);
    assert!(kept > 0.97, "{kept}");
    // With the times of flash it is a drive like any other.
    let flash = deep(&["nand.program_us=600", "nand.erase_us=3000"]);
    assert!(flash < 0.6, "{flash}");
}
