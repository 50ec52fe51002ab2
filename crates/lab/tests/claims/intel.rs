//! Intel: the X25-M of both generations, the 320 and the 730.

use super::{
    ALL_OVER, CLEAN, FRESH_QD3, Method, Outcome, TORTURED, average, fresh_and_used, reviewed,
    reviewed_for,
};

fn used_state(name: &str, set: &[&str]) -> (f64, f64) {
    fresh_and_used(&reviewed(name, set, Method::UsedState))
}

#[test]
fn the_first_x25_m_falls_from_41_to_26_mb_per_s_when_used() {
    let (fresh, used) = used_state("intel-x25-m-g1-160gb", &[]);
    assert!((fresh / 40.8 - 1.0).abs() < 0.05, "{fresh}");
    assert!((used / 26.3 - 1.0).abs() < 0.10, "{used}");
    // Collection is what it costs: with twice the flash there is next to none.
    let (fresh, used) = used_state("intel-x25-m-g1-160gb", &["nand.blocks_per_plane=8152"]);
    assert!(used > fresh * 0.95, "{used} of {fresh}");
}

#[test]
fn the_second_x25_m_loses_next_to_nothing_and_passes_the_x25_e() {
    let (fresh, used) = used_state("intel-x25-m-g2-160gb", &[]);
    assert!((fresh / 36.1 - 1.0).abs() < 0.05, "{fresh}");
    assert!((used / 35.8 - 1.0).abs() < 0.05 && used > fresh * 0.97, "{used} of {fresh}");
    let (_, slc) = used_state("intel-x25-e-64gb", &[]);
    assert!(used > slc, "{used} against {slc}");
    // With channels as slow as the first one's, collection takes its part again.
    let (fresh, used) = used_state("intel-x25-m-g2-160gb", &["nand.bus_mb_per_s=40"]);
    assert!(used < fresh * 0.85, "{used} of {fresh}");
}

#[test]
fn the_first_x25_m_writes_all_over_itself_at_a_third_of_its_speed_for_want_of_memory() {
    let all_over = |set: &[&str]| {
        let review = reviewed_for(ALL_OVER, "intel-x25-m-g1-80gb", set, Method::Consistency);
        average(&review.seconds_ios(ALL_OVER)[1400..])
    };
    let (limited, whole) = (all_over(&[]), all_over(&["map.memory_kib=131072"]));
    // Up to 3,300 a second are promised.
    assert!((limited / 3300.0 - 1.0).abs() < 0.3, "{limited}");
    assert!(whole > limited * 1.2, "{whole} against {limited}");
}

/// The part of its fresh speed at which the drive is written in order after the torture.
fn kept(name: &str, set: &[&str]) -> f64 {
    // Up to the tortured pass: both figures are of one drive.
    let review = match name {
        "crucial-m4-256gb" => reviewed(name, set, Method::Trim),
        _ => reviewed_for(TORTURED, name, set, Method::Trim),
    };
    review.mb_per_s(TORTURED) / review.mb_per_s(CLEAN)
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
        reviewed_for(FRESH_QD3, name, set, Method::FourCorners).max_ms(FRESH_QD3)
    };
    let (ours, m4) = (longest("intel-320-300gb", &[]), longest("crucial-m4-256gb", &[]));
    assert!(ours > m4, "{ours} ms, the m4 {m4}");
    // Its firmware pauses to save the map.
    let without = longest("intel-320-300gb", &["checkpoint.pause_us=0"]);
    assert!(without < m4, "{without} ms");
}

/// An eighth of the 730, which is in its steady state in an eighth of the time: the verdict on its
/// steadiness, and the standard deviation over the mean of the I/Os of each second.
fn steadiness(set: &[&str]) -> (Outcome, f64) {
    let eighth = ["capacity.sectors=117212880", "nand.blocks_per_plane=256"];
    let review =
        reviewed_for(ALL_OVER, "intel-730-480gb", &[&eighth, set].concat(), Method::Consistency);
    let late = &review.0.steadiness[&format!("{ALL_OVER}_from_1400_s")];
    (review.outcome("steady-random-write"), late.variation)
}

#[test]
fn the_730_is_a_steady_line() {
    let (steady, paced) = steadiness(&[]);
    assert!(steady == Outcome::Yes && paced < 0.05, "{steady:?}, {paced}");
    let (_, delayed) = steadiness(&["gc.pacing=delayed"]);
    assert!(delayed > paced * 3.0, "{delayed} against {paced}");
}

#[test]
fn the_second_x25_m_stays_below_3_w_when_it_collects() {
    let watts = |set: &[&str], figure: &str| {
        let review = reviewed("intel-x25-m-g2-160gb", set, Method::UsedState);
        review.0.figures[figure].mean_power_w.expect("its power is in its profile")
    };
    let used = format!("{FRESH_QD3}_used");
    assert!((watts(&[], FRESH_QD3) / 1.6 - 1.0).abs() < 0.05);
    let collecting = watts(&[], &used);
    assert!(collecting < 3.0 && collecting > watts(&[], FRESH_QD3), "{collecting} W");
    // What it programs costs it that: dearer, and it is above.
    let dear = watts(&["power.program_uj=45"], &used);
    assert!(dear > 3.0, "{dear} W");
}
