//! The results that stand for a drive.

use fourcorners_record::{Ended, Record};
use fourcorners_results::store::Store;

use crate::fixture;
use crate::kept::new;

/// A small record with another content for each time, begun at that hour.
fn record(method: &str, seed: u64, hour: u32) -> Record {
    let mut record = fixture::small(seed);
    record.method = method.into();
    record.started_at = format!("2026-03-01T{hour:02}:00:00Z");
    record.figures[0].mb_per_s += f64::from(hour);
    record.seal();
    record
}

fn latest(store: &Store, drive: &str) -> Vec<Vec<String>> {
    let ids = |records: Vec<Record>| records.into_iter().map(|it| it.id).collect();
    store.latest(drive).expect("it can be read").into_iter().map(ids).collect()
}

#[test]
fn of_each_method_the_latest_with_its_repeats() {
    let (_folder, store) = new();
    let corners = [3, 2, 1].map(|seed| record("four-corners", seed, 10 + seed as u32));
    let sweep = record("toms", 1, 5);
    let mut older = record("four-corners", 9, 1);
    older.version = "0.0.9".into();
    older.seal();
    let mut all = corners.to_vec();
    all.extend([sweep.clone(), older]);
    store.add_all(&all).expect("they are kept");
    let repeats: Vec<String> = corners.iter().map(|it| it.id.clone()).collect();
    for name in ["crucial-m4-256gb", "Crucial m4 256 GB", "crucial M4 256 gb"] {
        assert_eq!(latest(&store, name), [repeats.clone(), vec![sweep.id.clone()]], "{name}");
    }
    assert_eq!(latest(&store, "crucial-m4"), [[""; 0]; 0]);
    assert_eq!(store.drives().expect("it can be read"), ["crucial-m4-256gb"]);
    // A drive is called what its latest result calls it.
    let mut renamed = record("toms", 2, 6);
    renamed.target.title = "My m4".into();
    renamed.seal();
    let titled = || store.titled_drives().expect("it can be read");
    assert_eq!(titled(), [("crucial-m4-256gb".into(), "Crucial m4 256 GB".into())]);
    store.add_all(&[renamed]).expect("it is kept");
    assert_eq!(titled(), [("crucial-m4-256gb".into(), "My m4".into())]);
}

#[test]
fn what_is_cut_short_quick_or_set_up_otherwise_stands_back() {
    let (_folder, store) = new();
    let plain = record("four-corners", 1, 1);
    let change = |hour, change: &dyn Fn(&mut Record)| {
        let mut record = record("four-corners", 1, hour);
        change(&mut record);
        record.seal();
        record
    };
    let others = [
        change(2, &|it| it.quick = true),
        change(3, &|it| it.target.set = vec!["link.gbps=3".into()]),
        change(4, &|it| it.target.loaded_state = Some("0123456789abcdef".into())),
        change(5, &|it| it.ended = Ended::Interrupted),
    ];
    store.add_all(&others).expect("they are kept");
    assert_eq!(latest(&store, "crucial-m4-256gb"), [[others[0].id.clone()]]);
    store.add(&plain).expect("it is kept");
    assert_eq!(latest(&store, "crucial-m4-256gb"), [[plain.id]]);
}

#[test]
fn drives_side_by_side_stand_with_results_of_one_job() {
    let (_folder, store) = new();
    let of = |drive: &str, method: &str, quick, hour| {
        let mut record = record(method, 1, hour);
        record.target.name = drive.into();
        record.quick = quick;
        record.seal();
        store.add(&record).expect("it is kept");
        record.id
    };
    let ids = |drives: &[&str]| -> Vec<Vec<String>> {
        let found = store.latest_alike(drives).expect("it can be read");
        let ids = |of_one: Vec<Vec<Record>>| of_one.into_iter().flatten().map(|it| it.id).collect();
        found.into_iter().map(ids).collect()
    };
    let full = of("one", "four-corners", false, 1);
    let quick = of("one", "four-corners", true, 2);
    let other_quick = of("two", "four-corners", true, 3);
    // What a third has of another method says nothing of this one.
    let toms = of("three", "toms", false, 4);
    assert_eq!(ids(&["one", "two"]), [[quick.clone()], [other_quick.clone()]]);
    assert_eq!(ids(&["one", "three"]), [[full.clone()], [toms]]);
    assert_eq!(ids(&["one"]), [[full.clone()]], "alone the full one stands for it");
    // One without a quick result: each with the best it has.
    let third = of("three", "four-corners", false, 5);
    assert_eq!(ids(&["one", "two", "three"])[..2], [[full.clone()], [other_quick]]);
    let other_full = of("two", "four-corners", false, 6);
    assert_eq!(ids(&["one", "two"]), [[full], [other_full]]);
    assert_eq!(ids(&["three"])[0][0], third);
}

#[test]
fn drives_that_were_at_one_path_are_told_apart() {
    let (_folder, store) = new();
    let at_a_path = |title: &str, serial: Option<&str>, method, hour| {
        let mut record = record(method, 1, hour);
        record.target.kind = fourcorners_record::TargetKind::Device;
        record.clock = fourcorners_record::ClockName::Wall;
        record.target.name = "/dev/sda".into();
        record.target.title = title.into();
        record.target.serial = serial.map(str::to_string);
        record.seal();
        store.add(&record).expect("it is kept");
        record.id
    };
    let alpha = at_a_path("Alpha Drive", Some("SER-A"), "four-corners", 1);
    let toms = at_a_path("Alpha Drive", Some("SER-A"), "toms", 2);
    let beta = at_a_path("Beta Drive", Some("SER-B"), "four-corners", 3);
    for name in ["SER-A", "Alpha Drive", "alpha drive"] {
        assert_eq!(latest(&store, name), [[toms.clone()], [alpha.clone()]], "{name}");
    }
    // The path is that of the drive that is there now, which has no result of another's method.
    for name in ["SER-B", "Beta Drive", "/dev/sda"] {
        assert_eq!(latest(&store, name), [[beta.clone()]], "{name}");
    }
    let gamma = at_a_path("Gamma Drive", None, "lba-pass", 4);
    assert_eq!(latest(&store, "/dev/sda"), [[gamma.clone()]]);
    assert_eq!(latest(&store, "SER-B"), [[beta]]);
    // Control: a virtual drive is one whatever it was called (the name of a profile is no place).
    let named = |title: &str, method, hour| {
        let mut record = record(method, 1, hour);
        record.target.title = title.into();
        record.seal();
        store.add(&record).expect("it is kept");
        record.id
    };
    let (old, new) = (named("My m4", "toms", 5), named("Our m4", "four-corners", 6));
    assert_eq!(latest(&store, "My m4"), [[new], [old]]);
}

#[test]
fn repeats_of_a_real_drive_are_those_of_one_review() {
    let (_folder, store) = new();
    let real = |seed, hour| {
        let mut record = record("four-corners", seed, hour);
        record.target.kind = fourcorners_record::TargetKind::Device;
        record.clock = fourcorners_record::ClockName::Wall;
        record.target.name = "/dev/sdb".into();
        record.target.serial = Some("S1D5NS".into());
        record.seal();
        record
    };
    // A month ago, and twice today.
    let all = [real(1, 1), real(2, 2), real(1, 10), real(2, 11)];
    store.add_all(&all).expect("they are kept");
    let today = vec![all[3].id.clone(), all[2].id.clone()];
    for name in ["/dev/sdb", "S1D5NS"] {
        assert_eq!(latest(&store, name), std::slice::from_ref(&today), "{name}");
    }
}
