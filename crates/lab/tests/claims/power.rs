//! What the drives draw.

use fourcorners_catalogue::names;

use super::*;

/// Drives of no review but of measured distributions, of which no page with their power was found.
const UNKNOWN: [&str; 7] = [
    "intel-optane-p5800x",
    "intel-p4510",
    "kioxia-cm7-r",
    "micron-7450",
    "samsung-pm9a3",
    "sk-hynix-pe8110",
    "solidigm-d7-p5520",
];

#[test]
fn every_drive_of_the_reviews_has_its_power_and_draws_less_when_idle() {
    let mut with_power = 0;
    for name in names() {
        let profile = profile(&name, &[]);
        let unknown = UNKNOWN.iter().any(|start| name.starts_with(start));
        assert_eq!(profile.has_power(), !unknown, "{name}");
        if let Model::Ssd(config) = &profile.model
            && let Some(power) = &config.power
        {
            assert!(power.idle_w < power.active_w, "{name}: {power:?}");
            with_power += 1;
        }
    }
    assert!(with_power > 40, "{with_power}");
}

/// Watts of the four corners: at rest a drive draws less than when it reads, and most when it writes.
#[test]
fn the_m4_takes_more_for_writes_than_for_reads_and_near_the_5_w_of_a_meter() {
    let review = quickly_reviewed("crucial-m4-512gb", &[], Method::FourCorners);
    let watts = |figure: &str| review.0.figures[figure].mean_power_w.expect("it is in its profile");
    let (read, written) =
        (watts("sequential_read_128k_qd1"), watts("sequential_write_128k_qd1_incompressible"));
    assert!(1.2 < read && read < written, "{read} W, {written} W");
    assert!((4.0..=5.5).contains(&written), "{written} W");
    let none = quickly_reviewed("crucial-m4-512gb", &["power.program_uj=0"], Method::FourCorners);
    let none =
        none.0.figures["sequential_write_128k_qd1_incompressible"].mean_power_w.expect("as above");
    assert!(none < 2.0, "{none} W");
}
