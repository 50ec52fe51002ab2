//! OCZ Vertex, with Indilinx's controller.

use fourcorners_catalogue::{Model, built_in};
use fourcorners_drive::Ssd;
use fourcorners_drive::profile::SsdProfile;

use super::fresh_and_used;

fn vertex() -> SsdProfile {
    match built_in("ocz-vertex-120gb", &[]).expect("it is built in").model {
        Model::Ssd(profile) => *profile,
        Model::Hdd(_) => panic!("a hard disk"),
    }
}

fn new(profile: &SsdProfile) -> Ssd {
    Ssd::new(profile).expect("it was checked")
}

#[test]
fn an_indilinx_drive_falls_from_13_to_7_mb_per_s_when_used() {
    let (fresh, used) = fresh_and_used(|| new(&vertex()), 180);
    assert!((fresh / 13.0 - 1.0).abs() < 0.25, "{fresh}");
    assert!((used / 7.0 - 1.0).abs() < 0.15, "{used}");
    // With a map of pages in place of log blocks, what its controller can do is what it always does.
    let by_page = SsdProfile { log_blocks: None, ..vertex() };
    let (fresh, used) = fresh_and_used(|| new(&by_page), 180);
    assert!(used > fresh * 0.95, "{used} of {fresh}");
}
