//! `fourcorners trace replay TRACE all`: a ranking at the recorded times.

use std::fs;

use fourcorners_record::Choice;

use crate::bench::{folder, refused, run};

/// Writes with pauses that no drive needs, then reads.
const TRACE: &str = "time_us,op,offset_bytes,length_bytes\n0,write,0,4096\n50000,write,131072,65536\n\
                     100000,flush,0,0\n200000,read,0,4096\n";

fn ranking(dir: &std::path::Path, more: &[&str]) -> Choice {
    let args = ["trace", "replay", "t.csv", "all", "--capacity", "60-70GB", "--json"];
    let ran = run(dir, &[&args[..], more].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).expect("a choice")
}

fn waited(choice: &Choice, name: &str) -> f64 {
    let found = choice.ranking.iter().find(|drive| drive.drive == name);
    found.unwrap_or_else(|| panic!("{name}: {choice:?}")).waited_s
}

#[test]
fn every_drive_does_it_as_one_does_alone_at_the_recorded_times_without_a_host() {
    let dir = folder();
    fs::write(dir.path().join("t.csv"), TRACE).expect("it can be written");
    let all = ranking(dir.path(), &["--out", "."]);
    assert!(all.ranking.len() > 3 && all.left_out.is_empty(), "{all:?}");
    assert!(all.ranking.iter().all(|drive| (50.0..71.0).contains(&drive.capacity_gb)));
    assert!(all.ranking.is_sorted_by_key(|drive| drive.rank));
    let replay = all.replay.as_ref().expect("it says how it was replayed");
    assert_eq!((&*replay.pace, &*replay.host, &*all.state), ("recorded", "0", "empty"));
    let alone = |host: &[&str]| {
        let args = ["trace", "replay", "t.csv", "crucial-m4-64gb", "--pace", "recorded"];
        let how = ["--drive-state", "empty", "--json", "--no-db"];
        let ran = run(dir.path(), &[&args[..], &how, host].concat());
        let document: serde_json::Value = serde_json::from_str(&ran.stdout).expect("a document");
        let figures = &document["records"][0]["replay"]["figures"];
        figures["storage_bench_empty"]["busy_s"].as_f64().expect("it was replayed")
    };
    let m4 = waited(&all, "crucial-m4-64gb");
    assert_eq!(m4, alone(&["--set", "host.command_us=0"]));
    assert_ne!(m4, alone(&[]), "with its host it is another");
    // Another state and another pace are other times.
    let full = ranking(dir.path(), &["--drive-state", "full"]);
    assert_ne!(m4, waited(&full, "crucial-m4-64gb"));
    let fast = ranking(dir.path(), &["--pace", "fast"]);
    assert!(waited(&fast, "crucial-m4-64gb") < m4);
    // How long pauses may be is said where it is asked for.
    let caps = ["0", "10"].map(|cap| {
        let choice = ranking(dir.path(), &["--pace", "think", "--idle-cap", cap]);
        choice.replay.expect("it says how it was replayed").idle_cap_ms
    });
    assert_eq!(
        (caps, all.replay.as_ref().and_then(|it| it.idle_cap_ms)),
        ([Some(0.0), Some(10.0)], None)
    );
    // The page and the document are in the folder, and the table says how it was done.
    let page = fs::read_to_string(dir.path().join("replay.html")).expect("it was written");
    assert!(page.contains("Replayed at the recorded times"), "{page}");
    let kept = fs::read_to_string(dir.path().join("replay.json")).expect("it was written");
    assert_eq!(serde_json::from_str::<Choice>(&kept).expect("a choice"), all);
    let args = ["trace", "replay", "t.csv", "all", "--capacity", "60-70GB"];
    let table = run(dir.path(), &args).stdout;
    let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Replayed at the recorded times, at most 32 in flight"), "{table}");
    for (cap, told) in [
        ("0", "Replayed without its think time, at most"),
        ("10", "Replayed after its think time, at most 10.0 ms of it each time, at most"),
    ] {
        let table =
            run(dir.path(), &[&args[..], &["--pace", "think", "--idle-cap", cap]].concat()).stdout;
        let words = table.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(told), "{table}");
    }
}

#[test]
fn several_drives_and_a_profile_are_ranked_among_all_without_a_host_too() {
    let dir = folder();
    fs::write(dir.path().join("t.csv"), TRACE).expect("it can be written");
    let toml = run(dir.path(), &["drives", "crucial-m4-256gb", "--toml"]).stdout;
    fs::write(dir.path().join("mine.toml"), toml.replace("crucial-m4-256gb", "mine"))
        .expect("it can be written");
    let array = "raid0:2xcrucial-m4-256gb";
    let also = ["--also", array, "--also", "./mine.toml"];
    let all = ranking(dir.path(), &also);
    let without = ranking(dir.path(), &[]);
    // What was named stays, whatever its capacity; control: nobody else is there.
    assert_eq!(all.ranking.len(), without.ranking.len() + 2);
    let alone = |target: &str, host: &[&str]| {
        let args = ["trace", "replay", "t.csv", target, "--pace", "recorded", "--json", "--no-db"];
        let ran = run(dir.path(), &[&args[..], &["--drive-state", "empty"], host].concat());
        let document: serde_json::Value = serde_json::from_str(&ran.stdout).expect("a document");
        let figures = &document["records"][0]["replay"]["figures"];
        figures["storage_bench_empty"]["busy_s"].as_f64().expect("it was replayed")
    };
    let no_host = ["--set", "host.command_us=0"];
    assert_eq!(waited(&all, array), alone(array, &no_host));
    assert_eq!(waited(&all, "mine"), alone("crucial-m4-256gb", &no_host));
    assert_ne!(waited(&all, array), alone(array, &[]), "with its host it is another");
    let slow = ranking(dir.path(), &[&also[..], &["--set", "host.command_us=500"]].concat());
    assert!(
        waited(&slow, array) > waited(&all, array) && waited(&slow, "mine") > waited(&all, "mine")
    );
}

#[test]
fn what_is_of_named_targets_is_refused_with_all_and_a_capacity_without_it() {
    let dir = folder();
    fs::write(dir.path().join("t.csv"), TRACE).expect("it can be written");
    for (more, told) in [
        (&["all", "crucial-m4-64gb"][..], "crucial-m4-64gb is named beside it"),
        (&["all", "--size", "1G"], "--size is for targets that are named"),
        (&["all", "--destroy", "/dev/sdz"], "--destroy is for"),
        (&["all", "--db", "x.db"], "--db is for"),
        (&["all", "--host", "marvell-9128"], "--host is for"),
        (
            &["all", "--drive-state", "both"],
            "--drive-state both: a ranking is of drives in one state",
        ),
        (&["all", "--drive-state", "as-found"], "give empty or full"),
        (&["all", "--capacity", "1-2GB"], "no drive has that"),
        (&["all", "--set", "no.such=1"], "no.such"),
        (&["all", "--also", "raid0:2xcrucial-m5-64gb"], "crucial-m5-64gb"),
        (&["all", "--also", "./none.toml"], "none.toml"),
        (&["crucial-m4-64gb", "--also", "raid0:2xcrucial-m4-64gb"], "--also is for all"),
        (&["crucial-m4-64gb", "--capacity", "1TB"], "--capacity is for all"),
    ] {
        let line = refused(dir.path(), &[&["trace", "replay", "t.csv"], more].concat());
        assert!(line.contains(told), "{more:?}: {line}");
    }
}
