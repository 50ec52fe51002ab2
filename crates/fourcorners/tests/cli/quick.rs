//! `fourcorners quick`: the card, on a virtual drive, a directory, a file of somebody's, and what is refused.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use fourcorners_record::{Ended, from_json};
use rustix::process::Signal;
use serde_json::Value;

use crate::bench::{HDD, M4, Ran, folder, listing, obeys_the_laws, refused, run, start, wait_for};

const ROWS: [&str; 6] =
    ["SEQ1M Q8T1", "SEQ1M Q1T1", "RND4K Q32T1", "RND4K Q1T1", "MIX70 Q1T1", "SYNC4K Q1T1"];

fn card(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

fn rate(card: &Value, row: usize, side: &str) -> Option<f64> {
    card["rows"][row][format!("{side}_mb_per_s")].as_f64()
}

#[test]
fn what_it_proposes_is_of_the_drive_as_it_was_set_up() {
    let dir = folder();
    let args = ["quick", M4, "--no-db", "--set", "link.gbps=3", "--host", "intel-ich10r-3gbps"];
    let ran = run(dir.path(), &args);
    let command = format!("fourcorners review {M4} --set link.gbps=3 --host intel-ich10r-3gbps");
    assert!(ran.stdout.trim_end().ends_with(&command), "{ran:?}");
    let ran = run(dir.path(), &args[..3]);
    assert!(ran.stdout.trim_end().ends_with(&format!("fourcorners review {M4}")), "{ran:?}");
}

#[test]
fn a_virtual_drive_has_all_rows_in_the_programs_order_and_a_record() {
    let dir = folder();
    let args = ["quick", M4, "--no-db", "--json", "-o", "card.json"];
    let ran = run(dir.path(), &args);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let first = card(&ran);
    let names: Vec<&str> = first["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .filter_map(|row| row["name"].as_str())
        .collect();
    assert_eq!(names, ROWS);
    for row in 0..5 {
        for side in ["read", "write"] {
            assert!(
                rate(&first, row, side).is_some_and(|rate| rate > 1.0),
                "{}, {side}",
                ROWS[row]
            );
            assert_eq!(first["rows"][row][side]["runs_mb_per_s"].as_array().map(Vec::len), Some(3));
        }
    }
    assert_eq!(rate(&first, 5, "read"), None, "synchronous writes have no reads");
    let of = |row, side| rate(&first, row, side).expect("it was measured");
    // A queue helps, and a flush costs.
    assert!(of(2, "read") > 2.0 * of(3, "read"), "{first}");
    assert!(of(5, "write") < of(3, "write"), "{first}");
    let reads = of(4, "read") / (of(4, "read") + of(4, "write"));
    assert!((reads - 0.7).abs() < 0.03, "{reads}");

    let text = fs::read_to_string(dir.path().join("card.json")).expect("it was written");
    let document = from_json(&text).expect("a document");
    let record = &document.records[0];
    assert_eq!((record.method.as_str(), record.figures.len()), ("quick", 10));
    assert_eq!(
        (&record.ended, record.clock),
        (&Ended::Complete, fourcorners_record::ClockName::Virtual)
    );
    obeys_the_laws(record);
    for (name, figure) in &record.figures {
        let runs = &record.curves[&format!("{name}_runs")].points;
        let best = runs.iter().map(|point| point.1).fold(0.0, f64::max);
        assert!((figure.mb_per_s / best - 1.0).abs() < 1e-9, "{name} is the best of its runs");
    }
    // The same to the bit, and taken by those who take records.
    let again = card(&run(dir.path(), &["quick", M4, "--no-db", "--json"]));
    assert_eq!(again["record"], first["record"]);
    assert_eq!(run(dir.path(), &["report", "card.json"]).code, Some(0));
    let other = run(dir.path(), &["quick", M4, "--no-db", "--seed", "2", "-o", "other.json"]);
    assert_eq!(other.code, Some(0), "{other:?}");
    assert_eq!(run(dir.path(), &["compare", "card.json", "other.json"]).code, Some(0));
}

#[test]
fn the_card_is_text_and_markdown_and_says_what_a_review_would_add() {
    let dir = folder();
    for (args, bar) in [(&[][..], ""), (&["--markdown"], "| ")] {
        let ran = run(dir.path(), &[&["quick", HDD, "--no-db"][..], args].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let places: Vec<usize> = ROWS
            .iter()
            .map(|row| {
                ran.stdout
                    .find(&format!("\n{bar}{row} "))
                    .unwrap_or_else(|| panic!("{row}: {ran:?}"))
            })
            .collect();
        assert!(places.is_sorted(), "{ran:?}");
        assert!(ran.stdout.contains(&format!("fourcorners review {HDD}")), "{ran:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "what will be done is said first: {ran:?}");
        if bar.is_empty() {
            let card =
                ran.stdout.lines().filter(|line| ROWS.iter().any(|row| line.starts_with(row)));
            assert!(
                card.clone().count() == 6 && card.clone().all(|line| line.chars().count() <= 80)
            );
        }
    }
}

/// Stops a card of `target` once it measures.
fn stopped(dir: &Path, target: &str, signal: Signal) -> Ran {
    let mut card = start(dir, &["quick", target, "--size", "64M", "--no-db", "--json"]);
    card.wait_until_it_listens();
    std::thread::sleep(Duration::from_secs(6));
    card.signal(signal);
    card.finish()
}

#[test]
fn nothing_is_left_in_a_directory_whatever_ends_it() {
    let dir = folder();
    fs::create_dir(dir.path().join("disk")).expect("it can be made");
    let ran = stopped(dir.path(), "disk", Signal::INT);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.stderr.starts_with("disk/fourcorners-quick.scratch, a scratch file of "),
        "{ran:?}"
    );
    let card = card(&ran);
    assert_eq!(card["ended"], "interrupted");
    assert!(rate(&card, 0, "read").is_some_and(|rate| rate > 0.0), "what was measured is kept");
    assert_eq!(rate(&card, 5, "write"), None, "what was not is null");
    assert!(listing(&dir.path().join("disk")).is_empty());
    // Nor where nobody can clean up.
    assert_eq!(stopped(dir.path(), "disk", Signal::KILL).code, None);
    assert!(listing(&dir.path().join("disk")).is_empty());
}

#[test]
fn a_file_that_is_not_named_is_only_read() {
    let dir = folder();
    let path = dir.path().join("mine.bin");
    let content: Vec<u8> = (0..32_u64 << 20).map(|at| ((at * 7) >> 3) as u8).collect();
    File::create(&path).and_then(|mut file| file.write_all(&content)).expect("it can be written");
    let mut card_of = start(dir.path(), &["quick", "mine.bin", "--no-db", "--json"]);
    card_of.wait_until_it_listens();
    std::thread::sleep(Duration::from_secs(4));
    card_of.signal(Signal::INT);
    let ran = card_of.finish();
    assert!(ran.stderr.contains("nothing is written; --destroy mine.bin"), "{ran:?}");
    assert!(rate(&card(&ran), 0, "read").is_some_and(|rate| rate > 0.0), "{ran:?}");
    assert!((0..6).all(|row| rate(&card(&ran), row, "write").is_none()), "{ran:?}");
    assert_eq!(fs::read(&path).expect("it is there"), content);
    // The control: named, it is written.
    let mut card_of = start(dir.path(), &["quick", "mine.bin", "--destroy", "mine.bin", "--no-db"]);
    wait_for("a write", || (fs::read(&path).ok()? != content).then_some(()));
    card_of.signal(Signal::INT);
    card_of.finish();
}

#[test]
fn what_cannot_be_measured_is_refused_in_one_line() {
    let dir = folder();
    fs::write(dir.path().join("letter.txt"), "dear").expect("it can be written");
    for (args, said) in [
        (&["quick", "nosuch-drive"][..], "nosuch-drive"),
        (&["quick", "./new.img"], "does not exist"),
        (&["quick", "./", "--size", "1k"], "at least"),
        (&["quick", "./", "--set", "link.gbps=3"], "--set is for virtual drives"),
        (&["quick", "./letter.txt"], "too small"),
        (&["quick", M4, "-o", "letter.txt", "--no-db"], "exists and is not"),
        (&["quick", M4, "-o", "none/card.json", "--no-db"], "no such folder"),
    ] {
        let line = refused(dir.path(), args);
        assert!(line.contains(said), "{args:?}: {line}");
    }
    // Another run's file is not taken for ours.
    fs::write(dir.path().join("fourcorners-quick.scratch"), "dear").expect("it can be written");
    let line = refused(dir.path(), &["quick", "./"]);
    assert!(line.contains("is there already"), "{line}");
}

#[test]
fn without_a_command_the_drives_are_listed_with_what_to_type() {
    let dir = folder();
    let ran = run::<&str>(dir.path(), &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    assert!(ran.stdout.contains("fourcorners quick ./"), "{ran:?}");
    let listed = run(dir.path(), &["doctor"]).stdout;
    let ran = run(dir.path(), &["doctor", "--json"]);
    let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    for drive in document["drives"].as_array().expect("an array") {
        for key in ["path", "bytes", "uses", "standing", "to_type"] {
            assert!(!drive[key].is_null(), "{key}: {drive}");
        }
        // Each line for a person says what it does to the drive; a program is given the command alone.
        let command = drive["to_type"][0].as_str().expect("a command");
        // Other tests attach drives meanwhile.
        if !listed.contains(drive["path"].as_str().expect("a path")) {
            continue;
        }
        let told = listed.lines().find(|line| line.trim_start().starts_with(command));
        assert!(told.is_some_and(|line| line.trim_start().len() > command.len()), "{listed}");
    }
    // What cannot be measured is an exit code; a file that can is the control.
    assert_eq!(run(dir.path(), &["doctor", "/dev/null"]).code, Some(1));
    File::create(dir.path().join("file")).and_then(|file| file.set_len(32 << 20)).expect("a file");
    let ran = run(dir.path(), &["doctor", "file"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}
