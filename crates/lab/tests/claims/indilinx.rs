//! OCZ Vertex, with Indilinx's controller.

use fourcorners_catalogue::Model;
use fourcorners_drive::config::LogBlocksSection;

use super::{Method, Review, fresh_and_used, profile, reviewed};

const VERTEX: &str = "ocz-vertex-120gb";
const INTEL: &str = "intel-x25-m-g2-160gb";
const DISK: &str = "wd-velociraptor-300gb";

#[test]
fn an_indilinx_drive_falls_from_13_to_7_mb_per_s_when_used() {
    let (fresh, used) = fresh_and_used(&reviewed(VERTEX, &[], Method::UsedState));
    assert!((fresh / 13.0 - 1.0).abs() < 0.25, "{fresh}");
    assert!((used / 7.0 - 1.0).abs() < 0.15, "{used}");
    // What it costs is the size of its map's unit: with units of 4 KiB nothing is read and written beside.
    let (fresh, used) =
        fresh_and_used(&reviewed(VERTEX, &["map.unit_bytes=4096"], Method::UsedState));
    assert!(used > fresh * 0.95, "{used} of {fresh}");
}

/// Seconds that a drive works on a task.
fn works(name: &str, set: &[&str], task: &str) -> f64 {
    reviewed(name, set, Method::Tasks).worked_s(task)
}

#[test]
fn it_loads_applications_about_as_fast_as_an_intel_drive_and_copies_faster_than_a_hard_disk() {
    let (indilinx, intel) = (works(VERTEX, &[], "application"), works(INTEL, &[], "application"));
    assert!(indilinx < intel * 2.0, "{indilinx} against {intel} s");
    for task in ["boot", "copy-tree", "install"] {
        let (flash, disk) = (works(VERTEX, &[], task), works(DISK, &[], task));
        assert!(flash < disk, "{task}: {flash} against {disk} s");
    }
    // With a log block for each data block every write all over the drive copies megabytes, and it is neither.
    let logs = with_log_blocks();
    let of = |task: &str| logs.worked_s(task);
    assert!(of("application") > intel * 2.0, "{} against {intel} s", of("application"));
    assert!(of("copy-tree") > works(DISK, &[], "copy-tree"), "{} s", of("copy-tree"));
}

fn with_log_blocks() -> Review {
    let mut profile = profile(VERTEX, &[]);
    let Model::Ssd(ssd) = &mut profile.model else { panic!("a hard disk") };
    ssd.map = None;
    ssd.log_blocks =
        Some(LogBlocksSection { count: 450, stripe_dies: 16, ..LogBlocksSection::default() });
    Review::of(profile, Method::Tasks, false, None)
}
