//! The storage bench and the tasks: in reviews, listed, and done for real.

use std::fs;

use fourcorners_record::{Ended, Record};

use crate::bench::{HDD, M4, folder, listing, printed, refused, run};

fn reviewed(args: &[&str]) -> Vec<Record> {
    let dir = folder();
    let ran = run(dir.path(), &[&["review"], args, &["--json"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.document().records
}

#[test]
fn the_storage_bench_of_a_review_is_what_trace_replay_measures() {
    // What varies depends on when it is done and after what; the rest has to be the same to the bit.
    let steady = ["--set", "variation.mode=off", "--ios", "200000"];
    let record = reviewed(&[&[M4, "--methods", "storage-bench"], &steady[..]].concat()).remove(0);
    let names: Vec<&str> = record.replays.keys().map(String::as_str).collect();
    assert_eq!(names, ["desktop", "heavy", "light", "2013"]);
    let dir = folder();
    let args = [&["trace", "replay", "generated:light", M4, "--json"], &steady[..]].concat();
    let ran = run(dir.path(), &args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let mut alone = ran.document().records.remove(0).replay.expect("it was replayed");
    let within = &record.replays["light"];
    // Joules are a difference of sums, which are larger after more work: equal but for what rounding leaves.
    for (name, figure) in &mut alone.figures {
        let (own, other) = (figure.joules, within.figures[name].joules);
        let near = own.zip(other).is_some_and(|(own, other)| (own / other - 1.0).abs() < 1e-12);
        assert!(near, "{name}: {own:?} and {other:?} J");
        figure.joules = other;
    }
    assert_eq!((&within.figures, &within.card), (&alone.figures, &alone.card));
    assert_eq!((within.addresses.as_str(), within.idle_cap_ms), ("as_recorded", Some(25.0)));
    // A full drive has less spare, and its reads are of flash that was written.
    for (name, replay) in &record.replays {
        let [empty, full] =
            ["empty", "full"].map(|it| &replay.figures[&format!("storage_bench_{it}")]);
        assert!(full.mb_per_s < empty.mb_per_s, "{name}");
        assert!((full.all.bytes, full.all.ios) == (empty.all.bytes, empty.all.ios), "{name}");
    }
    assert_eq!(record.notes.len(), 4);
}

#[test]
fn tasks_are_compared_side_by_side_with_what_a_person_would_notice() {
    let dir = folder();
    let near = "crucial-m4-512gb";
    let args = ["review", M4, near, HDD, "--methods", "tasks", "--out", "here"];
    let ran = run(dir.path(), &args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let side = ran.stdout.split("Tasks side by side").nth(1).expect("it is there");
    assert!(side.contains("longer,"), "{side}");
    let page = fs::read_to_string(dir.path().join("here/review.html")).expect("it was saved");
    for told in ["Side by side", "Game level load", "task:boot", "photo-catalogue"] {
        assert!(page.contains(told), "{told}");
    }
    let ran = run(dir.path(), &["review", M4, near, "--methods", "tasks", "--out", "two"]);
    // The table breaks lines.
    let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("no difference you"), "{words}");
    let page = fs::read_to_string(dir.path().join("two/review.html")).expect("it was saved");
    assert!(page.contains("no difference you would notice"));
    let document = fs::read_to_string(dir.path().join("here/review.json")).expect("it was saved");
    let records = fourcorners_record::from_json(&document).expect("a document").records;
    let elapsed = |at: usize, task: &str| records[at].replays[task].figures["task"].elapsed_s;
    // The same thought on all of them; what is left is the drive's.
    for task in ["boot", "application", "install"] {
        assert!(elapsed(2, task) > 3.0 * elapsed(0, task), "{task}");
    }
    assert!(elapsed(0, "game-level") > 50.0, "mostly thought, as published");
    for replay in records[0].replays.values() {
        let figure = &replay.figures["task"];
        assert_eq!(figure.all.ios, replay.card.ios);
        assert_eq!(replay.idle_cap_ms, None);
    }
}

#[test]
fn tasks_are_listed_shown_and_made_anew() {
    let listed = printed(&["tasks"]);
    assert!(listed.contains("several-applications") && listed.contains("751.5 MB"), "{listed}");
    let value: serde_json::Value =
        serde_json::from_str(&printed(&["tasks", "--json"])).expect("one document");
    let tasks = value["tasks"].as_array().expect("a list");
    let in_reviews = tasks.iter().filter(|task| task["in_reviews"] == true).count();
    assert_eq!((tasks.len(), in_reviews), (12, 8));
    assert_eq!(value["tasks"][0]["ios"], 20_000);
    let dir = folder();
    let text = printed(&["tasks", "--show", "install"]).replace("ios = 4000", "ios = 40");
    fs::write(dir.path().join("mine.toml"), &text).expect("it can be written");
    let args = ["trace", "replay", "task:./mine.toml", HDD, "--json", "--idle-cap", "3600000"];
    let ran = run(dir.path(), &args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let replay = ran.document().records.remove(0).replay.expect("it was replayed");
    assert_eq!((replay.card.writes, replay.card.flushes), (40, 40));
    fs::write(dir.path().join("bad.toml"), text.replace("burst = 2", "burst = 0"))
        .expect("it can be written");
    for (args, told) in [
        (&["trace", "info", "task:./bad.toml"][..], "step 2: burst = 0"),
        (&["trace", "info", "task:boots"], "task:boot,"),
        (&["trace", "info", "task:boot", "--ios", "7"], "--ios"),
        (&["tasks", "--show", "boots"], "there are: boot"),
        (&["tasks", "--size", "1G"], "--real"),
    ] {
        let line = refused(dir.path(), args);
        assert!(line.contains(told), "{args:?}: {line}");
    }
}

#[test]
fn real_tasks_leave_a_folder_as_it_was() {
    let dir = folder();
    let ran = run(dir.path(), &["tasks", "--real", "scratch", "--size", "3M", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).expect("one document");
    assert_eq!(value["schema"], "fourcorners.real-tasks/1");
    let names: Vec<_> = value["tasks"].as_array().expect("a list").iter().collect();
    assert_eq!(names.len(), 3);
    for task in names {
        assert_eq!((&task["written_bytes"], &task["files"]), (&3_000_000.into(), &30.into()));
    }
    assert!(listing(dir.path()).is_empty());
    fs::create_dir(dir.path().join("empty")).expect("it can be made");
    let in_memory = value["in_memory"].as_bool().expect("it says so");
    let ran = run(dir.path(), &["tasks", "--real", "empty", "--size", "1M"]);
    // One of the two: what is in memory is not taken out of it.
    assert_eq!(ran.stdout.contains("no drive was measured"), in_memory, "{ran:?}");
    assert_eq!(ran.stdout.contains("taken out of the page cache"), !in_memory, "{ran:?}");
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("Copy a tree") && dir.path().join("empty").is_dir());
    fs::write(dir.path().join("empty/letter"), "Dear reader").expect("it can be written");
    for (args, told) in [
        (&["empty"][..], "is not empty"),
        (&["empty/letter"], "is not a folder"),
        (&["none/new"], "cannot be used"),
        (&["new", "--size", "3X"], "--size 3X"),
        (&["new", "--size", "5"], "--size 5"),
        (&["new", "--size", "900T"], "--size"),
        (&["new", "--seed", "-1"], "-1"),
    ] {
        let line = refused(dir.path(), &[&["tasks", "--real"], args].concat());
        assert!(line.contains(told), "{args:?}: {line}");
    }
    let letter = fs::read_to_string(dir.path().join("empty/letter")).expect("it is there");
    assert_eq!(letter, "Dear reader");
}

#[test]
fn a_page_of_a_replay_is_saved_beside_its_figures() {
    let dir = folder();
    let args = ["trace", "replay", "generated:heavy", HDD, "--ios", "2000", "--out", "here"];
    let ran = run(dir.path(), &args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let page = fs::read_to_string(dir.path().join("here/replay.html")).expect("it was saved");
    assert!(page.contains("Storage bench") && page.contains("generated:heavy"));
    let record = reviewed(&[HDD, "--methods", "storage-bench", "--quick"]).remove(0);
    assert_eq!((record.figure_count(), &record.ended), (4, &Ended::Complete));
    // The number of the conclusion is the share of the empty drive's rate that is kept, never a rate.
    let numbers = |record: &Record| -> Vec<Option<f64>> {
        let about = record.notes.iter().filter(|note| note.about == "storage-bench");
        about.map(|note| note.value).collect()
    };
    assert!(!numbers(&record).is_empty() && numbers(&record).iter().all(Option::is_none));
    let ssd = reviewed(&[M4, "--methods", "storage-bench", "--quick"]).remove(0);
    let is_share = |value: &Option<f64>| value.is_some_and(|share| (0.0..2.0).contains(&share));
    assert!(!numbers(&ssd).is_empty() && numbers(&ssd).iter().all(is_share), "{:?}", numbers(&ssd));
}
