//! The hard disks that solid-state drives were compared with.

use fourcorners_catalogue::{Model, built_in};
use fourcorners_drive::{Hdd, Target};
use fourcorners_record::Until;
use fourcorners_run::{Unobserved, run};

use super::{GB, mb_per_s, random};

fn disk(name: &str, set: &[&str]) -> Hdd {
    let set: Vec<String> = set.iter().map(|set| set.to_string()).collect();
    match built_in(name, &set).unwrap_or_else(|error| panic!("{error}")).model {
        Model::Hdd(profile) => Hdd::new(&profile).expect("it was checked"),
        Model::Ssd(_) => panic!("no hard disk"),
    }
}

/// 4 KiB at random at depth 3, reads over all of it and writes over 8 GB.
fn reads_and_writes(name: &str, set: &[&str]) -> (f64, f64) {
    let mut reader = disk(name, set);
    let all = reader.geometry().bytes();
    let seconds = Until::Seconds(180);
    let read = run(&mut reader, &random(100, 3, all, seconds), &mut Unobserved);
    let write = run(&mut disk(name, set), &random(0, 3, 8 * GB, seconds), &mut Unobserved);
    (mb_per_s(&read), mb_per_s(&write))
}

#[test]
fn hard_disks_do_three_to_eight_tenths_of_a_megabyte_a_second_at_random() {
    let (slow, slow_writes) = reads_and_writes("seagate-momentus-5400.6", &[]);
    let (fast, fast_writes) = reads_and_writes("wd-velociraptor-300gb", &[]);
    assert!((0.25..0.4).contains(&slow), "{slow}");
    assert!((0.6..0.8).contains(&fast), "{fast}");
    assert!((slow_writes / 0.81 - 1.0).abs() < 0.1, "{slow_writes}");
    assert!((1.3..1.8).contains(&fast_writes), "{fast_writes}");
    // It is the arm: without seeks the wait for the sector alone is left.
    let still = ["track_to_track_ms", "average_seek_ms", "full_stroke_ms", "head_switch_ms"];
    let still = still.map(|key| format!("mechanics.{key}=0.01"));
    let still: Vec<&str> = still.iter().map(String::as_str).collect();
    let (without, _) = reads_and_writes("seagate-momentus-5400.6", &still);
    assert!(without > slow * 2.0, "{without} against {slow}");
}
