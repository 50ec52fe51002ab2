//! OCZ Vertex 2, with SandForce's SF-1200 (AnandTech's reviews of it and of the C300).

use super::*;

const VERTEX_2: &str = "ocz-vertex-2-100gb";

/// 4 KiB random writes over 8 GB, MB/s.
fn writes(name: &str, set: &[&str], depth: u32, data: Data) -> f64 {
    let data = if data == Data::Repeating { "repeating" } else { "incompressible" };
    let figure = format!("random_write_4k_qd{depth}_{data}");
    quickly_reviewed(name, set, Method::FourCorners).mb_per_s(&figure)
}

#[test]
fn data_that_repeats_is_written_faster_than_data_that_does_not_compress() {
    for depth in [3, 32] {
        let gap = |set: &[&str]| {
            let repeating = writes(VERTEX_2, set, depth, Data::Repeating);
            repeating / writes(VERTEX_2, set, depth, Data::Incompressible)
        };
        let as_it_is = gap(&[]);
        assert!(as_it_is > 1.2, "depth {depth}: {as_it_is}");
        // What the controller does with all that it stores is why: fresh flash takes both.
        let for_nothing = gap(&["compression.store_4k_us=0"]);
        assert!(for_nothing < 1.05, "depth {depth}: {for_nothing}");
        // And that it stores less of it.
        let all_stored = gap(&["compression.least_stored_percent=100"]);
        assert!((all_stored - 1.0).abs() < 0.01, "depth {depth}: {all_stored}");
    }
}

#[test]
fn the_c300_of_128_gb_is_between_its_best_case_and_its_worst() {
    let c300 = |depth| writes("crucial-c300-128gb", &[], depth, Data::Repeating);
    for depth in [3, 32] {
        let best = writes(VERTEX_2, &[], depth, Data::Repeating);
        let worst = writes(VERTEX_2, &[], depth, Data::Incompressible);
        let other = c300(depth);
        assert!(best > other && other > worst, "depth {depth}: {best}, {other}, {worst} MB/s");
    }
    // Without compression it is never ahead.
    let all_stored = ["compression.least_stored_percent=100"];
    let best = writes(VERTEX_2, &all_stored, 3, Data::Repeating);
    assert!(best < c300(3), "{best} MB/s");
}

#[test]
fn the_c300_of_256_gb_is_about_as_fast_as_its_best_case() {
    for depth in [3, 32] {
        let rate = |set: &[&str]| writes(VERTEX_2, set, depth, Data::Repeating);
        let c300 = writes("crucial-c300-256gb", &[], depth, Data::Repeating);
        let equal = rate(&[]) / c300;
        assert!((equal - 1.0).abs() < 0.15, "depth {depth}: {equal}");
        let all_stored = rate(&["compression.least_stored_percent=100"]) / c300;
        assert!(all_stored < 0.85, "depth {depth}: {all_stored}");
    }
}

/// HD Tach's data compresses, what the drive was tortured with does not (AnandTech's SSD Diaries).
#[test]
fn a_pass_after_torture_with_random_data_stays_above_180_mb_per_s() {
    let after_torture = |set: &[&str]| {
        let mut ssd = drive(VERTEX_2, set);
        torture(&mut ssd);
        let pass = Job { data: Data::Repeating, ..pass(0, 1, ssd.geometry().bytes()) };
        mb_per_s(&measure(&mut ssd, &pass))
    };
    let rate = after_torture(&[]);
    assert!(rate > 180.0, "{rate} MB/s");
    let all_stored = after_torture(&["compression.least_stored_percent=100"]);
    assert!(all_stored < 150.0, "{all_stored} MB/s");
}

#[test]
fn installing_windows_and_office_writes_less_than_half_of_it() {
    // A part of such an installation is copied.
    let amplified =
        |name: &str, set: &[&str]| reviewed(name, set, Method::Tasks).amplified("copy-tree");
    let sandforce = amplified("ocz-vertex-3-240gb", &[]);
    assert!(sandforce < 0.5, "{sandforce}");
    assert!(amplified("crucial-m4-256gb", &[]) >= 1.0);
    let all_stored = amplified("ocz-vertex-3-240gb", &["compression.least_stored_percent=100"]);
    assert!(all_stored >= 1.0, "{all_stored}");
}
