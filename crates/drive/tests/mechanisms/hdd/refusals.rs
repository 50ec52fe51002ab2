//! Profiles that make no drive are refused by key, value and range.

use fourcorners_drive::Hdd;
use fourcorners_drive::config::{HddConfig, HddPowerSection};

use crate::hdd::support::momentus;

/// The refusal of a profile that `change` broke.
fn refused(change: impl FnOnce(&mut HddConfig)) -> String {
    let mut profile = momentus();
    change(&mut profile);
    Hdd::new(&profile).expect_err("no drive").to_string()
}

/// A drive of 1 W idle.
fn power(seek_w: f64, read_w: f64, write_w: f64) -> HddPowerSection {
    let (idle_w, seek_w) = (1.0, seek_w);
    HddPowerSection { idle_w, seek_w, read_w, write_w }
}

#[test]
fn a_value_out_of_its_range_is_named_with_the_range() {
    assert_eq!(
        refused(|p| p.mechanics.rpm = 0.0),
        "mechanics.rpm = 0 is not possible: it must be 1000 to 60000"
    );
    for (key, message) in [
        ("mechanics.rpm", refused(|p| p.mechanics.rpm = f64::NAN)),
        ("mechanics.heads", refused(|p| p.mechanics.heads = 0)),
        ("mechanics.write_settle_ms", refused(|p| p.mechanics.write_settle_ms = -1.0)),
        ("mechanics.head_switch_ms", refused(|p| p.mechanics.head_switch_ms = 1e9)),
        ("mechanics.average_seek_ms", refused(|p| p.mechanics.average_seek_ms = f64::NAN)),
        ("capacity.sectors", refused(|p| p.capacity.sectors = 0)),
        ("capacity.logical_block_bytes", refused(|p| p.capacity.logical_block_bytes = 520)),
        ("media.zones", refused(|p| p.media.zones = 0)),
        ("media.outer_mb_per_s", refused(|p| p.media.outer_mb_per_s = 0.0)),
        ("cache.write_segments", refused(|p| p.cache.write_segments = 0)),
        ("cache.reorder_segments", refused(|p| p.cache.reorder_segments = 0)),
        ("cache.destage_idle_ms", refused(|p| p.cache.destage_idle_ms = f64::INFINITY)),
        ("cache.size_kib", refused(|p| p.cache.size_kib = u64::MAX)),
        ("ncq.depth", refused(|p| p.ncq.depth = 0)),
        ("ncq.max_wait_ms", refused(|p| p.ncq.max_wait_ms = 0.0)),
        ("link.gbps", refused(|p| p.link.gbps = 0.0)),
        ("host.command_us", refused(|p| p.host.command_us = -1.0)),
        ("power.seek_w", refused(|p| p.power = Some(power(0.5, 2.0, 2.0)))),
        ("power.read_w", refused(|p| p.power = Some(power(2.0, f64::NAN, 2.0)))),
        ("power.write_w", refused(|p| p.power = Some(power(2.0, 2.0, 1001.0)))),
    ] {
        assert!(message.starts_with(&format!("{key} = ")), "{key}: {message}");
    }
}

#[test]
fn values_that_contradict_each_other_are_refused() {
    assert_eq!(
        refused(|p| p.mechanics.average_seek_ms = 19.0),
        "mechanics.average_seek_ms = 19 is not possible: a seek curve that rises from 1 to 20 ms \
         has an average of 7.333 to 14.933"
    );
    assert!(refused(|p| p.mechanics.full_stroke_ms = 0.5).contains("full_stroke_ms = 0.5"));
    assert!(refused(|p| p.media.inner_mb_per_s = 200.0).contains("must not exceed"));
    assert!(refused(|p| p.cache.read_ahead_kib = 9000).contains("must not exceed size_kib"));
    assert!(refused(|p| p.cache.read_ahead_kib = 8192).contains("write cache nothing"));
    assert!(
        refused(|p| {
            p.capacity.logical_block_bytes = 4096;
            p.capacity.sectors = 9;
        })
        .contains("whole logical blocks")
    );
    assert!(
        refused(|p| {
            p.capacity.sectors = 1 << 48;
            p.mechanics.heads = 1;
            p.media.outer_mb_per_s = 1.0;
            p.media.inner_mb_per_s = 1.0;
        })
        .contains("more than 2^32 cylinders")
    );
}
