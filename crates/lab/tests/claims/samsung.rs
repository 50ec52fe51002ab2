//! Samsung 840 EVO (AnandTech's review of the 850 EVO). Its SLC buffer is in `tests/lab/turbowrite.rs`.

use super::{ALL_OVER, Method, average, reviewed_for};

/// A quarter of the 250 GB drive, with all of its dies, which is in its steady state all the sooner.
const QUARTER: [&str; 3] =
    ["nand.blocks_per_plane=1024", "capacity.sectors=122099296", "slc_buffer.fixed_mib=715"];

/// I/Os a second on average once it is in its steady state, and the least and the most of a second.
fn steady(set: &[&str]) -> [f64; 3] {
    let name = "samsung-840-evo-250gb";
    let review = reviewed_for(ALL_OVER, name, &[&QUARTER, set].concat(), Method::Consistency);
    let ios = &review.seconds_ios(ALL_OVER)[1400..];
    let ends = |end: fn(f64, f64) -> f64| ios.iter().copied().reduce(end).expect("there are some");
    [average(ios), ends(f64::min), ends(f64::max)]
}

#[test]
fn in_steady_state_the_840_evo_writes_3000_to_5000_times_a_second() {
    let [mean, least, most] = steady(&[]);
    // Within 15 % of the nearer end.
    assert!((3000.0 / 1.15..5000.0 * 1.15).contains(&mean), "{mean} IOPS");
    assert!(least > 0.7 * mean && most < 1.4 * mean, "{least} to {most}, {mean} IOPS");
    // What its firmware takes for what it moves is why; its NAND could do more.
    let [flash, ..] = steady(&["controller.move_4k_us=0"]);
    assert!(flash > 1.25 * mean, "{flash} IOPS, with its firmware {mean}");
}
