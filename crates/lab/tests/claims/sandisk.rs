//! SanDisk Extreme II (CDRLabs).

use fourcorners_drive::Nanos;

use super::*;

const EXTREME_II: &str = "sandisk-extreme-ii-240gb";

#[test]
fn it_writes_faster_again_after_an_hour_of_idle_time() {
    let rested = |set: &[&str], seconds: u64| {
        let mut ssd = drive(EXTREME_II, set);
        torture(&mut ssd);
        let until = ssd.now() + Nanos::from_secs(seconds);
        while ssd.now() < until && ssd.reap(until).expect("a virtual drive").is_some() {}
        let quarter = ssd.geometry().bytes() / 4;
        mb_per_s(&measure(&mut ssd, &pass(0, 32, quarter)))
    };
    let (at_once, later) = (rested(&[], 0), rested(&[], 3600));
    // How far back it comes, 410 of 462 MB/s over all of it, is not reached: docs/SOURCES.md.
    assert!(later > at_once * 1.3, "{at_once}, then {later} MB/s");
    let without = rested(&["gc.idle_ms=1e9"], 3600);
    assert!((without / at_once - 1.0).abs() < 0.02, "{without} against {at_once} MB/s");
}
