//! OCZ Vertex, with Indilinx's controller.

use fourcorners::catalogue::{Model, built_in};
use fourcorners::workload::{Job, Until};
use fourcorners_drive::profile::SsdProfile;
use fourcorners_drive::{Ssd, Target};

use super::{GB, mb_per_s, measure, pass, random};

fn vertex() -> SsdProfile {
    match built_in("ocz-vertex-120gb", &[]).expect("it is built in").model {
        Model::Ssd(profile) => *profile,
        Model::Hdd(_) => panic!("a hard disk"),
    }
}

/// 4 KiB random writes over 8 GB at depth 3 of a fresh drive and of a used one.
fn fresh_and_used(profile: &SsdProfile) -> (f64, f64) {
    let job = random(0, 3, 8 * GB, Until::Seconds(180));
    let new = || Ssd::new(profile).expect("it was checked");
    let fresh = mb_per_s(&measure(&mut new(), &job));
    let mut used = new();
    let bytes = used.geometry().bytes();
    measure(&mut used, &pass(0, 32, bytes));
    let until = Until::SecondsOrBytes(20 * 60, bytes);
    measure(&mut used, &Job { seed: 3, ..random(0, 32, bytes, until) });
    (fresh, mb_per_s(&measure(&mut used, &job)))
}

#[test]
fn an_indilinx_drive_falls_from_13_to_7_mb_per_s_when_used() {
    let (fresh, used) = fresh_and_used(&vertex());
    assert!((fresh / 13.0 - 1.0).abs() < 0.25, "{fresh}");
    assert!((used / 7.0 - 1.0).abs() < 0.15, "{used}");
    // With a map of pages in place of log blocks, what its controller can do is what it always does.
    let by_page = SsdProfile { log_blocks: None, ..vertex() };
    let (fresh, used) = fresh_and_used(&by_page);
    assert!(used > fresh * 0.95, "{used} of {fresh}");
}
