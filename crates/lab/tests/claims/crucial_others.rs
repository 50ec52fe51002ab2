//! Crucial RealSSD C300, M500 and M550 (AnandTech's reviews).

use fourcorners_catalogue::{built_in_behind, host};

use super::*;

#[test]
fn the_c300_reads_at_random_38_percent_faster_than_the_vertex_2_and_the_g2_at_3_gbps() {
    let rate =
        |name, set: &[&str]| quickly_reviewed(name, set, Method::FourCorners).mb_per_s(READ_QD3);
    let slow = ["link.gbps=3"];
    let others = ["ocz-vertex-2-100gb", "intel-x25-m-g2-160gb"].map(|name| rate(name, &slow));
    let others = (others[0] + others[1]) / 2.0;
    for name in ["crucial-c300-128gb", "crucial-c300-256gb"] {
        let ratio = rate(name, &slow) / others;
        assert!((ratio / 1.38 - 1.0).abs() < 0.15, "{name}: {ratio}");
        // The rate of the link is not why: hardly more with 6 Gb/s.
        let faster = rate(name, &[]) / rate(name, &slow);
        assert!((1.0..=1.1).contains(&faster), "{name}: {faster}");
    }
    // Flash that takes twice as long to read is not ahead.
    let slower = rate("crucial-c300-256gb", &["link.gbps=3", "nand.read_us=100"]) / others;
    assert!(slower < 1.05, "{slower}");
}

#[test]
fn the_c300_writes_at_random_over_twice_as_fast_as_the_g2() {
    let rate =
        |name, set: &[&str]| quickly_reviewed(name, set, Method::FourCorners).mb_per_s(FRESH_QD3);
    let (c300, g2) = (rate("crucial-c300-256gb", &[]), rate("intel-x25-m-g2-160gb", &[]));
    assert!(c300 > 2.0 * g2, "{c300}, the G2 {g2} MB/s");
    // Its many dies are why.
    let few = rate(
        "crucial-c300-256gb",
        &["nand.dies=10", "nand.channels=10", "nand.blocks_per_plane=16384"],
    );
    assert!(few < 2.0 * g2, "{few}, the G2 {g2} MB/s");
}

/// AnandTech's C300 behind Marvell's controller and at Intel's 3 Gb/s: what the detour costs is
/// hidden by three commands at a time where the drive takes long for one.
#[test]
fn the_c300_writes_slower_on_the_marvell_controller_at_256_gb_only() {
    let marvell = host("marvell-9128").expect("it is built in");
    let kept = |gb: u32, set: &[&str]| {
        let name = format!("crucial-c300-{gb}gb");
        let set: Vec<String> = set.iter().map(|set| set.to_string()).collect();
        let behind = built_in_behind(&name, Some(&marvell), &set).expect("a drive");
        let behind = Review::of(behind, Method::FourCorners, true, None).mb_per_s(FRESH_QD3);
        let intel = quickly_reviewed(&name, &["link.gbps=3"], Method::FourCorners);
        behind / intel.mb_per_s(FRESH_QD3)
    };
    let (small, large) = (kept(128, &[]), kept(256, &[]));
    assert!(small > 0.98, "{small}");
    assert!(large < 0.95, "{large}");
    let as_intel = kept(256, &["host.write_command_us=15"]);
    assert!(as_intel > 0.98, "{as_intel}");
}

#[test]
fn the_c300_stutters_while_it_trims() {
    let longest = |set: &[&str]| {
        let review = reviewed("crucial-c300-64gb", set, Method::TrimUnderLoad);
        (review.outcome("trim-holds-up-reads"), review.max_ms("random_read_4k_qd1_during_trim"))
    };
    let (held_up, stutter) = longest(&[]);
    assert!(held_up == Outcome::Yes && stutter > 50.0, "{held_up:?}, {stutter} ms");
    let (held_up, smooth) = longest(&["trim.mode=instant"]);
    assert!(held_up == Outcome::No && smooth < 2.0, "{held_up:?}, {smooth} ms");
}

#[test]
fn a_pass_of_the_c300_after_torture_looks_like_the_m4s() {
    let review = reviewed_for(TORTURED, "crucial-c300-64gb", &[], Method::Trim);
    let (mean, seconds) = (review.mb_per_s(TORTURED), review.seconds_mb(TORTURED));
    // 256 GB fell to 20 MB/s; this one has a quarter of the dies.
    assert!((2.0..=20.0).contains(&mean), "{mean} MB/s");
    let tenth = seconds.len() / 10;
    let first = average(&seconds[..tenth]);
    let last = average(&seconds[seconds.len() - tenth..]);
    assert!(last > 5.0 * first, "{first}, {last} MB/s");
    let paced = reviewed_for(TORTURED, "crucial-c300-64gb", &["gc.pacing=paced"], Method::Trim);
    let paced = paced.mb_per_s(TORTURED);
    assert!(paced > 2.0 * mean, "{paced}, {mean} MB/s");
}

/// I/Os a second once it is in its steady state, in which the method's last ten minutes are.
fn steady(name: &str, set: &[&str]) -> f64 {
    let review = reviewed_for(ALL_OVER, name, set, Method::Consistency);
    average(&review.seconds_ios(ALL_OVER)[1400..])
}

/// A quarter of it, with all of its dies, which is in its steady state all the sooner.
const M550: &str = "crucial-m550-512gb";
const QUARTER: [&str; 3] =
    ["nand.blocks_per_plane=256", "capacity.sectors=250053800", "gc.batch_free_blocks=5"];

#[test]
fn in_steady_state_the_m550_writes_about_4000_times_a_second_and_the_m500_2500() {
    let m550 = steady(M550, &QUARTER);
    assert!((m550 / 4000.0 - 1.0).abs() < 0.15, "{m550} IOPS");
    // Of this one a quarter would lose more of its spare to blocks that are kept free.
    let m500 = steady("crucial-m500-480gb", &[]);
    assert!((m500 / 2500.0 - 1.0).abs() < 0.15, "{m500} IOPS");
    // Firmware is why: the flash could do far more.
    let without = [&QUARTER[..], &["controller.move_4k_us=0"]].concat();
    let flash = steady(M550, &without);
    assert!(flash > 2.0 * m550, "{flash} IOPS");
}

#[test]
fn with_25_percent_spare_the_m550_is_mostly_below_5000_with_peaks_above_50_000() {
    let late = |set: &[&str]| {
        reviewed_for(WITH_SPARE, M550, set, Method::Consistency).seconds_ios(WITH_SPARE)[1400..]
            .to_vec()
    };
    let ends = |ios: &[f64]| {
        let end =
            |end: fn(f64, f64) -> f64| ios.iter().copied().reduce(end).expect("there are some");
        (end(f64::min), end(f64::max))
    };
    let ios = late(&QUARTER);
    let below = ios.iter().filter(|&&ios| ios < 5000.0).count();
    assert!(below * 2 > ios.len(), "{below} of {}", ios.len());
    let (_, peak) = ends(&ios);
    assert!(peak > 50_000.0, "{peak} IOPS");
    // Collecting all the time is steady, and far above 5000.
    let (least, most) = ends(&late(&[&QUARTER[..], &["gc.pacing=paced"]].concat()));
    assert!(least > 5000.0 && most < 1.5 * least, "{least} to {most} IOPS");
}
