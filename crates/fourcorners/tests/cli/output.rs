//! Where output goes: pipes, files, full disks, nobody.

use std::fs::File;
use std::process::Stdio;

use crate::bench::{HDD, M4, Ran, Started, command, folder, listing, refused, run};

/// Plain text that fits: no escape codes, and nothing wider than 80 columns but an address that has a line of its own.
fn is_plain(ran: &Ran) {
    for text in [&ran.stdout, &ran.stderr] {
        let control = text.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(control, None, "{text:?}");
    }
    let may_be_longer =
        |line: &str| line.starts_with("page: ") || line.starts_with("http") && !line.contains(' ');
    for line in ran.stdout.lines().filter(|line| !may_be_longer(line)) {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
}

#[test]
fn without_a_terminal_it_is_plain_text_of_80_columns() {
    let dir = folder();
    for args in [
        &["review", M4, HDD, "--quick", "--methods", "all"][..],
        &["review", M4, "--quick", "--set", "link.gbps=3"],
        &["drives"],
        &["drives", M4],
        &["drives", HDD],
    ] {
        let ran = run(dir.path(), args);
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
        assert!(ran.stdout.lines().count() > 5, "{args:?}: {}", ran.stdout);
        is_plain(&ran);
    }
    // Help is as wide as it wants, but plain.
    for args in [&["--help"][..], &["review", "--help"], &["drives", "--help"], &["help"]] {
        let ran = run(dir.path(), args);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{args:?}");
        assert!(ran.stdout.contains("Usage: fourcorners"), "{args:?}: {}", ran.stdout);
        assert!(!ran.stdout.contains('\u{1b}'), "{args:?}");
    }
}

#[test]
fn the_version() {
    let dir = folder();
    let ran = run(dir.path(), &["--version"]);
    let version = format!("fourcorners {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!((ran.code, ran.stdout, ran.stderr), (Some(0), version, String::new()));
}

/// Runs it with its output going into a pipe that nobody reads.
fn into_a_closed_pipe(args: &[&str], also_errors: bool) -> Ran {
    let dir = folder();
    let closed = || {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        Stdio::from(writer)
    };
    let errors = if also_errors { closed() } else { Stdio::piped() };
    Started::of(command(dir.path(), args).stdout(closed()).stderr(errors)).finish()
}

#[test]
fn whoever_stops_reading_has_seen_enough() {
    for args in [
        &["drives"][..],
        &["drives", "--json"],
        &["drives", M4],
        &["review", HDD, "--quick"],
        &["review", HDD, "--quick", "--json"],
        &["--help"],
        &["--version"],
    ] {
        let ran = into_a_closed_pipe(args, false);
        assert!(!ran.stderr.contains("panicked"), "{args:?}: {}", ran.stderr);
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
        // `2>&1 | head -1`
        assert_eq!(into_a_closed_pipe(args, true).code, Some(0), "{args:?}");
    }
    for args in [&["review", "nosuch"][..], &["review"], &["--nonsense"]] {
        assert_eq!(into_a_closed_pipe(args, true).code, Some(2), "{args:?}");
    }
}

#[test]
fn a_result_that_cannot_be_printed_is_a_failure() {
    let dir = folder();
    for args in [&["drives"][..], &["review", HDD, "--quick", "--json"]] {
        let full = File::options().write(true).open("/dev/full").expect("Linux has it");
        let ran = Started::of(command(dir.path(), args).stdout(full).stderr(Stdio::piped()));
        let ran = ran.finish();
        assert_eq!(ran.code, Some(1), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("No space left on device"), "{args:?}: {}", ran.stderr);
    }
    // Of a file it is said which.
    let args = ["trace", "convert", "generated:light", "--ios", "1000", "-o", "/dev/full"];
    let ran = run(dir.path(), &args);
    let why = "fourcorners: cannot write /dev/full: No space left on device";
    assert!(ran.code == Some(1) && ran.stderr.contains(why), "{}", ran.stderr);
}

#[test]
fn a_dry_run_shows_everything_and_does_nothing() {
    let dir = folder();
    let args = ["review", M4, "./new.img", "--size", "64M", "--dry-run", "--methods"];
    let ran = run(dir.path(), &[&args[..], &["four-corners"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(listing(dir.path()).is_empty(), "nothing is created");
    let lines = |text: &str| ran.stdout.lines().filter(|line| line.contains(text)).count();
    // Two random spans of two kinds of data, and the others: every purge is shown.
    assert_eq!((lines("purge"), lines("already in this state")), (16, 2));
    assert_eq!(lines("prepare: laid out"), 1, "a file is written before it is measured");
    assert_eq!((lines("prepare: filled"), lines(" 256 GB ")), (4, 1));
    assert_eq!(lines("writes    takes"), 2, "{}", ran.stdout);
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
    assert!(ran.stdout.contains("random_write_4k_qd3_incompressible_used"), "{}", ran.stdout);
    refused(dir.path(), &["review", M4, "--dry-run", "--methods", "nosuch"]);
    // What is not purged is not said to be, and a hard disk has no used state to leave out for speed.
    let disk = run(dir.path(), &["review", HDD, "--quick", "--dry-run"]).stdout;
    let purges = |text: &str| text.lines().filter(|line| line.contains("  purge")).count();
    let not_done =
        |text: &str| text.lines().filter(|line| line.contains("purge: a hard disk")).count();
    assert!(purges(&disk) > 1 && not_done(&disk) == purges(&disk), "{disk}");
    assert!(
        disk.contains("does not apply to a hard disk") && !disk.contains("by --quick"),
        "{disk}"
    );
    assert_eq!(not_done(&ran.stdout), 0);
    // Of an array with one, none of its purges is made; of a cache in front of one, each is.
    let raid =
        run(dir.path(), &["review", "raid0:2xwd-velociraptor-300gb", "--quick", "--dry-run"]);
    let of_raid = (not_done(&raid.stdout), purges(&raid.stdout));
    assert!(of_raid.0 > 1 && of_raid.0 == of_raid.1, "{}", raid.stdout);
    let cache = "cache:crucial-m4-64gb+wd-velociraptor-300gb";
    let cache = run(dir.path(), &["review", cache, "--quick", "--dry-run"]).stdout;
    assert!(purges(&cache) > 1 && not_done(&cache) == 0, "{cache}");
}

#[test]
fn a_dry_run_as_json_has_the_phases_that_are_shown() {
    let dir = folder();
    let args = ["review", M4, "--dry-run", "--methods", "four-corners,lba-pass", "--repeat", "3"];
    let shown = run(dir.path(), &args).stdout;
    let ran = run(dir.path(), &[&args[..], &["--json"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).expect("one document");
    assert_eq!(
        (&document["schema"], &document["times"]),
        (&"fourcorners.dry-run/1".into(), &3.into())
    );
    let session = &document["sessions"][0];
    assert_eq!((&session["target"], &session["seed"]), (&M4.into(), &1.into()));
    let methods = session["methods"].as_array().expect("a list");
    assert_eq!(methods.len(), 2);
    let steps: Vec<&serde_json::Value> =
        methods.iter().flat_map(|it| it["phases"].as_array().expect("a list")).collect();
    let spared = |it: &&&serde_json::Value| it["left_out"] == "already in this state";
    assert_eq!(steps.iter().filter(spared).count(), shown.matches("already in this state").count());
    for step in &steps {
        assert!(shown.contains(step["what"].as_str().expect("words")), "{step}");
    }
    let all: u64 = steps.iter().filter_map(|it| it["writes_bytes"].as_u64()).sum();
    assert_eq!(session["writes_bytes"].as_u64(), Some(all));
    assert!(listing(dir.path()).is_empty(), "nothing is created");
    // README.md says what all methods write.
    let ran = run(dir.path(), &["review", M4, "--dry-run", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).expect("one document");
    let session = &document["sessions"][0];
    let number = |key: &str| session[key].as_f64().expect("a number");
    let said = format!("(of 256 GB: {:.1} TB, in a day)", number("writes_bytes") / 1e12);
    assert!(include_str!("../../../../README.md").contains(&said), "{said}");
    assert!((20.0..28.0).contains(&(number("seconds") / 3600.0)), "{session}");
}

#[test]
fn programs_are_told_how_far_it_is() {
    let dir = folder();
    let ran = run(dir.path(), &["review", M4, "--quick", "--json", "--progress", "json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).expect("a document");
    let record = &document["records"][0];
    let told: Vec<serde_json::Value> =
        ran.stderr.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let of = |event: &str| -> Vec<&serde_json::Value> {
        told.iter().filter(|line| line["event"] == event).collect()
    };
    assert_eq!(of("planned").len(), 1);
    assert_eq!(of("ended")[0]["id"], record["id"]);
    let parts: Vec<f64> = of("part").iter().filter_map(|line| line["done"].as_f64()).collect();
    assert!(!parts.is_empty() && parts.is_sorted() && parts.iter().all(|part| *part <= 1.0));
    // The seconds told of a figure are those of its series, each once and in order.
    let mut figure = None;
    let mut seconds = std::collections::HashMap::<String, Vec<f64>>::new();
    for line in &told {
        match line["event"].as_str() {
            Some("phase") => figure = line["figure"].as_str(),
            Some("seconds") => {
                let Some(figure) = figure else { continue };
                let so_far = seconds.entry(figure.into()).or_default();
                assert_eq!(line["from"], so_far.len());
                let new = line["mb_per_s"].as_array().expect("a list");
                so_far.extend(new.iter().filter_map(serde_json::Value::as_f64));
            }
            _ => {}
        }
    }
    let figures = record["figures"].as_object().expect("figures");
    assert_eq!(of("figure").len(), figures.len());
    for name in figures.keys() {
        assert_eq!(record["series"][name]["mb_per_s"], serde_json::json!(seconds[name]), "{name}");
    }
}
