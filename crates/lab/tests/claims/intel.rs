//! Intel: the X25-M of both generations, the 320 and the 730.

use fourcorners_drive::Target;
use fourcorners_record::Until;

use super::{GB, drive, fresh_and_used, max_ms, mb_per_s, measure, pass, random, torture};

#[test]
fn the_first_x25_m_falls_from_41_to_26_mb_per_s_when_used() {
    let (fresh, used) = fresh_and_used(|| drive("intel-x25-m-g1-160gb", &[]), 60);
    assert!((fresh / 40.8 - 1.0).abs() < 0.05, "{fresh}");
    assert!((used / 26.3 - 1.0).abs() < 0.10, "{used}");
    // Collection is what it costs: with twice the flash there is next to none.
    let (fresh, used) =
        fresh_and_used(|| drive("intel-x25-m-g1-160gb", &["nand.blocks_per_plane=8152"]), 60);
    assert!(used > fresh * 0.95, "{used} of {fresh}");
}

#[test]
fn the_second_x25_m_loses_next_to_nothing_and_passes_the_x25_e() {
    let (fresh, used) = fresh_and_used(|| drive("intel-x25-m-g2-160gb", &[]), 60);
    assert!((fresh / 36.1 - 1.0).abs() < 0.05, "{fresh}");
    assert!((used / 35.8 - 1.0).abs() < 0.05 && used > fresh * 0.97, "{used} of {fresh}");
    let (_, slc) = fresh_and_used(|| drive("intel-x25-e-64gb", &[]), 60);
    assert!(used > slc, "{used} against {slc}");
    // With channels as slow as the first one's, collection takes its part again.
    let (fresh, used) =
        fresh_and_used(|| drive("intel-x25-m-g2-160gb", &["nand.bus_mb_per_s=40"]), 60);
    assert!(used < fresh * 0.85, "{used} of {fresh}");
}

#[test]
fn the_first_x25_m_writes_all_over_itself_at_a_third_of_its_speed_for_want_of_memory() {
    let all_over = |set: &[&str]| {
        let mut ssd = drive("intel-x25-m-g1-80gb", set);
        torture(&mut ssd);
        let span = ssd.geometry().bytes();
        let measured = measure(&mut ssd, &random(0, 32, span, Until::Seconds(20)));
        measured.writes as f64 / measured.elapsed.as_secs()
    };
    let (limited, whole) = (all_over(&[]), all_over(&["map.memory_kib=131072"]));
    // Up to 3,300 a second are promised.
    assert!((limited / 3300.0 - 1.0).abs() < 0.3, "{limited}");
    assert!(whole > limited * 1.2, "{whole} against {limited}");
}

/// The part of its fresh speed at which the drive is written in order after the torture.
fn kept(name: &str, set: &[&str]) -> f64 {
    let mut ssd = drive(name, set);
    let job = pass(0, 1, ssd.geometry().bytes());
    let fresh = mb_per_s(&measure(&mut drive(name, set), &job));
    torture(&mut ssd);
    mb_per_s(&measure(&mut ssd, &job)) / fresh
}

#[test]
fn the_320_degrades_less_than_the_m4() {
    let kept_320 = kept("intel-320-300gb", &[]);
    assert!(kept_320 > kept("crucial-m4-256gb", &[]), "{kept_320}");
    // What it keeps, it keeps by its spare: with 2 % less of it there is far less.
    let with_less = kept("intel-320-300gb", &["nand.blocks_per_plane=1840"]);
    assert!(with_less < kept_320 * 0.8, "{with_less} against {kept_320}");
}

#[test]
fn the_320_takes_longer_for_its_longest_write_than_the_m4() {
    let longest = |name: &str, set: &[&str]| {
        let job = random(0, 3, 8 * GB, Until::Seconds(180));
        max_ms(&measure(&mut drive(name, set), &job))
    };
    let (ours, m4) = (longest("intel-320-300gb", &[]), longest("crucial-m4-256gb", &[]));
    assert!(ours > m4, "{ours} ms, the m4 {m4}");
    // Its firmware pauses to save the map.
    let without = longest("intel-320-300gb", &["checkpoint.pause_us=0"]);
    assert!(without < m4, "{without} ms");
}

/// Standard deviation over mean of the I/Os of each second once the drive is in its steady state. An
/// eighth of it, which gets there in an eighth of the time.
fn unsteadiness(set: &[&str]) -> f64 {
    let eighth = ["capacity.sectors=117212880", "nand.blocks_per_plane=256"];
    let mut ssd = drive("intel-730-480gb", &[&eighth, set].concat());
    let span = ssd.geometry().bytes();
    measure(&mut ssd, &pass(0, 32, span));
    let measured = measure(&mut ssd, &random(0, 32, span, Until::Seconds(800)));
    let seconds: Vec<f64> = measured.seconds[600..800].iter().map(|s| s.ios as f64).collect();
    let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
    let variance = seconds.iter().map(|ios| (ios - mean).powi(2)).sum::<f64>();
    (variance / seconds.len() as f64).sqrt() / mean
}

#[test]
fn the_730_is_a_steady_line() {
    let paced = unsteadiness(&[]);
    assert!(paced < 0.05, "{paced}");
    let delayed = unsteadiness(&["gc.pacing=delayed"]);
    assert!(delayed > paced * 3.0, "{delayed} against {paced}");
}
