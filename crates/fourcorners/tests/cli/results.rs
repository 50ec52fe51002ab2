//! The database that reviews and replays go into, and what is done with it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use fourcorners_record::{Document, from_json, to_json};
use fourcorners_results::store::{Filter, Store};
use fourcorners_testing::skipped;
use rustix::process::Signal;

use crate::bench::{HDD, M4, Ran, Started, command, folder, refused, saved, without_defaults};
use crate::fixture;
use crate::media::{Undo, is_root, run as tool};

/// Runs with a database of its own in `dir`.
fn with_home(dir: &Path, args: &[&str]) -> Ran {
    started(dir, args).finish()
}

fn started(dir: &Path, args: &[&str]) -> Started {
    let mut command = command(dir, args);
    command.env("XDG_DATA_HOME", dir.join("data"));
    Started::of(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
}

/// What a command printed that succeeded.
fn printed(dir: &Path, args: &[&str]) -> String {
    let ran = with_home(dir, args);
    assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
    ran.stdout
}

fn store(dir: &Path) -> Store {
    Store::open_read_only(&dir.join("data/fourcorners/results.db")).expect("it was made")
}

fn ids(document: &Document) -> Vec<String> {
    let mut ids: Vec<String> = document.records.iter().map(|it| it.id.clone()).collect();
    ids.sort();
    ids
}

#[test]
fn two_databases_get_what_the_other_has_and_nothing_else_is_written_to() {
    let dir = folder();
    let at = dir.path();
    for (drive, database) in [(M4, "a.db"), (HDD, "b.db")] {
        printed(at, &["review", drive, "--quick", "--quiet", "--db", database, "-o", drive]);
    }
    let drives = |database: &str| {
        let store = Store::open_read_only(&at.join(database)).expect("it was made");
        store.drives().expect("it is whole")
    };
    assert_eq!(drives("a.db").len(), 1, "apart");
    let said = printed(at, &["results", "sync", "b.db", "--db", "a.db"]);
    assert_eq!(said, "b.db: 1 new, 0 known\na.db: 1 new, 1 known\n");
    assert_eq!((drives("a.db").len(), drives("b.db")), (2, drives("a.db")));
    let again = printed(at, &["results", "sync", "b.db", "--db", "a.db"]);
    assert_eq!(again, "b.db: 0 new, 2 known\na.db: 0 new, 2 known\n");
    // A mistyped database is not made, a document is none, and one cannot be synchronised with itself.
    for (other, why) in [
        ("c.db", "it does not exist"),
        ("crucial-m4-256gb/review.json", "review.json"),
        ("./a.db", "is the database itself"),
    ] {
        let said = refused(at, &["results", "sync", other, "--db", "a.db"]);
        assert!(said.contains(why), "{other}: {said}");
    }
    assert!(!at.join("c.db").exists());
}

#[test]
fn every_review_and_replay_goes_in_and_is_found() {
    let dir = folder();
    let at = dir.path();
    let empty = with_home(at, &["results", "list"]);
    assert_eq!((empty.code, empty.stdout.as_str()), (Some(0), ""));
    assert!(empty.stderr.contains("it does not exist"), "{}", empty.stderr);
    assert!(!at.join("data").exists(), "to look makes nothing");

    let review = ["review", M4, HDD, "--quick", "--json", "--repeat", "2"];
    let document = from_json(&printed(at, &review)).expect("a document");
    assert_eq!(document.records.len(), 4);
    let seeds: Vec<u64> = document.records.iter().map(|it| it.seed).collect();
    assert_eq!(seeds, [1, 2, 1, 2]);
    let replay = ["trace", "replay", "generated:light", HDD, "--ios", "200", "--json"];
    let replayed = from_json(&printed(at, &replay)).expect("a document");
    let listed = |args: &[&str]| -> Vec<String> {
        let mut all = vec!["results", "list", "--json"];
        all.extend(args);
        let value: serde_json::Value = serde_json::from_str(&printed(at, &all)).expect("JSON");
        assert_eq!(value["schema"], "fourcorners.results/1");
        let rows = value["results"].as_array().expect("a list").clone();
        rows.iter().map(|row| row["id"].as_str().expect("an id").to_string()).collect()
    };
    assert_eq!(listed(&[]).len(), 5);
    assert_eq!(listed(&["--method", "storage-bench"]), [replayed.records[0].id.clone()]);
    assert_eq!(listed(&["--drive", "crucial", "--since", "1h"]).len(), 2);
    assert_eq!(listed(&["--clock", "wall"]), [""; 0]);
    assert_eq!(listed(&["--until", "2020-01-01"]), [""; 0]);
    // The same review once more is known, and one that is not to be kept is not.
    printed(at, &review);
    printed(at, &["review", HDD, "--quick", "--seed", "7", "--json", "--no-db"]);
    assert_eq!(listed(&[]).len(), 5);

    // None of them is not that there are none.
    let none = printed(at, &["results", "list", "--limit", "0"]);
    assert_eq!(none, "none of 5; --limit 5 lists them\n");
    let none = printed(at, &["results", "list", "--drive", "nonesuch", "--limit", "0"]);
    assert_eq!(none, "No results like that.\n");
    // A table of no results has its columns all the same.
    let csv = printed(at, &["results", "list", "--csv"]);
    let none = printed(at, &["results", "list", "--csv", "--drive", "nonesuch"]);
    assert_eq!((csv.lines().count(), none.lines().count()), (6, 1));
    assert_eq!(csv.lines().next(), none.lines().next());

    let table = printed(at, &["results", "list"]);
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    assert_eq!(table.lines().count(), 6, "{table}");
    let short = &document.records[0].id[..7];
    assert!(table.contains(&format!("{short}  2")) && table.contains("quick"), "{table}");
    let shown = from_json(&printed(at, &["results", "show", short, "--json"])).expect("a document");
    assert_eq!(shown.records, [document.records[0].clone()]);
    assert!(printed(at, &["results", "show", short]).contains("Four corners"));
    // As short as it is still no other's, wherever results are named.
    let shorter = &short[..3];
    let known = listed(&[]).iter().filter(|id| id.starts_with(shorter)).count();
    assert!(known > 1 || printed(at, &["report", shorter]).contains("Four corners"));

    let exported = printed(at, &["results", "export", "--method", "four-corners"]);
    assert_eq!(ids(&from_json(&exported).expect("a document")), ids(&document));
    let csv = printed(at, &["results", "export", short, "--csv"]);
    assert_eq!(csv.lines().count(), 1 + document.records[0].figures.len());
    printed(at, &["results", "export", "-o", "all.json"]);
    let imported = printed(at, &["results", "import", "all.json", "--db", "other.db"]);
    assert_eq!(imported, "all.json: 5 new, 0 known\n");
    let again = printed(at, &["results", "import", "other.db"]);
    assert_eq!(again, "other.db: 0 new, 5 known\n");
    assert_eq!(printed(at, &["results", "rm", short]), "1 removed\n");
    assert_eq!(store(at).count(&Filter::default()).ok(), Some(4));
    let checked = printed(at, &["results", "check"]);
    assert!(checked.ends_with(": 4 records are whole; no damage\n"), "{checked}");
}

#[test]
fn slips_are_refused_in_a_line() {
    let dir = folder();
    let at = dir.path();
    fs::write(at.join("notes.txt"), "mine").expect("it can be written");
    fs::write(at.join("a.json"), to_json(&fixture::review())).expect("it can be written");
    printed(at, &["results", "import", "a.json", "--db", "r.db"]);
    let other = Document::new(vec![fixture::m4_of_seed(9)]);
    fs::write(at.join("other.json"), to_json(&other)).expect("it can be written");
    let edited = to_json(&other).replacen("\"seed\":9", "\"seed\":8", 1);
    fs::write(at.join("edited.json"), edited).expect("it can be written");
    for (args, told) in [
        (&["results", "show", "ffff", "--db", "none.db"][..], "it does not exist"),
        (&["results", "rm", "ffff", "--db", "none.db"], "it does not exist"),
        (&["results", "show", "fffffff", "--db", "r.db"], "no record \"fffffff\""),
        (&["results", "show", "x", "--db", "r.db"], "no record \"x\""),
        (&["results", "show", "x", "--db", "r.db"], "`fourcorners results list --db r.db` lists"),
        (&["results", "import", "edited.json", "--db", "r.db"], "edited.json: the record \""),
        (&["results", "list", "--db", "notes.txt"], "is not a database of results"),
        (&["review", M4, "--quick", "--db", "notes.txt"], "is not a database of results"),
        (&["review", M4, "--quick", "--db", "."], "it is a folder"),
        (&["review", M4, "--quick", "--db", "notes.txt/x.db"], "cannot open"),
        (&["review", M4, "--quick", "--db", "r.db", "--no-db"], "cannot be used with"),
        (&["results", "list", "--since", "soon", "--db", "r.db"], "--since \"soon\""),
        (&["results", "list", "--until", "2026-13-01", "--db", "r.db"], "--until \"2026-13-01\""),
        (
            &["results", "list", "--since", "2026-12-01", "--until", "2026-11-01", "--db", "r.db"],
            "--since 2026-12-01 --until 2026-11-01: there is no time between them",
        ),
        (&["results", "list", "--method", "nonesuch", "--db", "r.db"], "no such method"),
        (&["results", "export", "--method", "tom", "--db", "r.db"], "four-corners, toms, "),
        (&["results", "list", "--clock", "atomic", "--db", "r.db"], "atomic"),
        (&["results", "import", "notes.txt", "--db", "r.db"], "notes.txt: it is not"),
        (&["results", "import", "none.json", "--db", "r.db"], "cannot read none.json"),
        (&["results", "export", "ffff", "--drive", "m4", "--db", "r.db"], "not both"),
        (&["review", M4, "--repeat", "0"], "--repeat 0"),
        (&["review", M4, "--repeat", "1001"], "from 1 to 1000"),
        (&["review", M4, "--repeat", "2", "--seed", "18446744073709551615"], "no seed beyond"),
        (&["compare", "m4", "--db", "r.db"], "there are no results of \"m4\""),
        (&["compare", "crucial-m4-256g", M4, "--db", "r.db"], "did you mean \"crucial-m4-256gb\"?"),
        (&["compare", M4, "--db", "r.db"], "name another drive"),
        (&["compare", M4, "notes.txt", "--db", "r.db"], "notes.txt: it is not"),
        (
            &["compare", M4, "other.json", "--methods", "snia", "--db", "r.db"],
            "there are: four-corners, toms",
        ),
    ] {
        let line = refused(at, args);
        assert!(line.contains(told), "{args:?}: {line}");
    }
    // A day is a range, and a method of ours may have no result.
    for args in [&["--since", "2026-03-01", "--until", "2026-03-01"][..], &["--method", "power"]] {
        let ran = with_home(at, &[&["results", "list", "--db", "r.db"], args].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
}

#[test]
fn two_reviews_at_once_go_into_one_database() {
    let dir = folder();
    let seeds = ["1", "2", "3", "4"];
    let runs = seeds
        .map(|seed| started(dir.path(), &["review", HDD, M4, "--quick", "--json", "--seed", seed]));
    let mut wanted = Vec::new();
    for ran in runs.map(Started::finish) {
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(!ran.stderr.contains("database"), "{}", ran.stderr);
        wanted.extend(ids(&ran.document()));
    }
    let store = store(dir.path());
    let mut found: Vec<String> =
        store.list(&Filter::default()).expect("a list").into_iter().map(|it| it.id).collect();
    wanted.sort();
    found.sort();
    assert_eq!(found, wanted);
    assert_eq!(store.check().expect("it can be read").damage, [""; 0]);
}

/// Imports documents one after the other and is killed after `lines` of them were said to be kept and a
/// moment more. The ids that were.
fn killed(dir: &Path, files: &[(String, String)], lines: usize, spins: u32) -> Vec<String> {
    let mut args = vec!["results", "import", "--db", "k.db"];
    args.extend(files.iter().map(|(path, _)| path.as_str()));
    let mut child = command(dir, &args)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary is there");
    let out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut said = Vec::new();
    let mut rest = out.lines();
    while said.len() < lines {
        match rest.next() {
            Some(line) => said.push(line.expect("text")),
            None => break,
        }
    }
    for _ in 0..spins {
        std::hint::spin_loop();
    }
    child.kill().expect("it can be killed");
    // What it had said before it was killed counts, too.
    said.extend(rest.map_while(Result::ok));
    child.wait().expect("it is our child");
    let kept = |line: &String| {
        let file = line.strip_suffix(": 1 new, 0 known").map(|path| {
            files.iter().find(|(name, _)| name == path).expect("one of them").1.clone()
        });
        file.unwrap_or_else(|| panic!("{line}"))
    };
    // A line that it had no time to finish says nothing.
    said.iter().filter(|line| line.ends_with(" known")).map(kept).collect()
}

#[test]
fn killed_200_times_while_it_writes_nothing_is_lost_and_nothing_half_there() {
    const TIMES: u64 = 200;
    const FILES: u64 = 6;
    let dir = folder();
    let path = dir.path().join("k.db");
    let (mut finished, mut cut) = (Vec::new(), 0);
    for time in 0..TIMES {
        let files: Vec<(String, String)> = (0..FILES)
            .map(|number| {
                let record = fixture::small(1000 + time * FILES + number);
                let (name, id) = (format!("{time}-{number}.json"), record.id.clone());
                let text = to_json(&Document::new(vec![record]));
                fs::write(dir.path().join(&name), text).expect("it can be written");
                (name, id)
            })
            .collect();
        // From before the first to after the last but one, and between any two moments of a write.
        let kept = killed(dir.path(), &files, time as usize % FILES as usize, time as u32 * 750);
        cut += usize::from(kept.len() < FILES as usize);
        finished.extend(kept);
        if time % 20 == 19 {
            let store = Store::open(&path).expect("it is whole");
            let checked = store.check().expect("it can be read");
            assert_eq!(checked.damage, [""; 0], "after {time}");
            for id in &finished {
                store.get(id).unwrap_or_else(|error| panic!("after {time}: {error}"));
            }
        }
    }
    println!("{cut} of {TIMES} were killed before their end, {} records were kept", finished.len());
    assert!(cut > TIMES as usize / 4 && finished.len() as u64 > TIMES, "{cut}, {}", finished.len());
}

#[test]
fn a_review_outlives_a_database_that_cannot_be_written() {
    if !is_root() {
        return skipped("root", "mounting needs root");
    }
    let dir = folder();
    let data = dir.path().join("data");
    fs::create_dir(&data).expect("it can be made");
    let at = data.to_str().expect("temporary paths are text");
    if let Err(error) = tool(&["mount", "-t", "tmpfs", "-o", "size=1m", "none", at]) {
        return skipped("mount", error);
    }
    let _mounted = Undo::with(&["umount", at]);
    let first = with_home(dir.path(), &["review", HDD, "--quick", "--json"]);
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    let kept = ids(&first.document());

    // Full.
    let filler = data.join("filler");
    let mut left = 1 << 20;
    while left > 0 {
        let mut whole = fs::read(&filler).unwrap_or_default();
        whole.resize(whole.len() + left, 1);
        if fs::write(&filler, &whole).is_err() {
            left /= 2;
        }
    }
    let ran = with_home(dir.path(), &["review", HDD, "--quick", "--seed", "2", "--out", "full"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("no space left"), "{}", ran.stderr);
    assert_eq!(saved(&dir.path().join("full")).map(|it| it.records.len()), Some(1));
    let listed = |told: &str| {
        let text = printed(dir.path(), &["results", "list", "--json"]);
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(value["total"], 1, "{told}");
        assert_eq!(value["results"][0]["id"], kept[0].as_str(), "{told}");
    };
    listed("when it is full");

    // Read-only.
    fs::remove_file(&filler).expect("it is there");
    tool(&["mount", "-o", "remount,ro", at]).expect("it is ours");
    let ran = with_home(dir.path(), &["review", HDD, "--quick", "--seed", "3", "--out", "ro"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("into no database"), "{}", ran.stderr);
    assert_eq!(saved(&dir.path().join("ro")).map(|it| it.records.len()), Some(1));
    listed("when it is read-only");
    let line = refused(dir.path(), &["review", HDD, "--quick", "--db", &format!("{at}/x.db")]);
    assert!(line.contains("--db: "), "{line}");
    tool(&["mount", "-o", "remount,rw", at]).expect("it is ours");
    let back = printed(dir.path(), &["results", "import", "full", "ro"]);
    assert_eq!(back, "full: 1 new, 0 known\nro: 1 new, 0 known\n");
}

#[test]
fn a_file_that_may_not_grow_is_said_and_what_is_there_stays() {
    let dir = folder();
    let at = dir.path();
    fs::write(at.join("a.json"), to_json(&fixture::review())).expect("it can be written");
    printed(at, &["results", "import", "a.json", "--db", "r.db"]);
    let many: Vec<_> = (0..300).map(fixture::small).collect();
    fs::write(at.join("many.json"), to_json(&Document::new(many))).expect("it can be written");
    // In blocks of 512 bytes; being told so by a signal would end it.
    let script = "trap '' XFSZ; ulimit -f 400; exec \"$0\" \"$@\"";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_fourcorners")]);
    shell.args(["results", "import", "many.json", "--db", "r.db"]).current_dir(at);
    without_defaults(&mut shell);
    let ran = Started::of(shell.stdout(Stdio::piped()).stderr(Stdio::piped())).finish();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
    assert!(ran.stderr.starts_with("fourcorners: the database r.db: "), "{}", ran.stderr);
    let store = Store::open(&at.join("r.db")).expect("it is whole");
    assert_eq!(store.count(&Filter::default()).ok(), Some(4));
    assert_eq!(store.check().expect("it can be read").damage, [""; 0]);
}

#[test]
fn a_damaged_database_is_set_aside_and_the_review_kept_in_a_new_one() {
    let dir = folder();
    let at = dir.path();
    printed(at, &["review", HDD, "--quick", "--json"]);
    let path = at.join("data/fourcorners/results.db");
    fs::write(&path, b"not a database any more".repeat(1000)).expect("it can be written");
    let list = with_home(at, &["results", "list"]);
    assert_eq!((list.code, list.stdout.as_str()), (Some(1), ""));
    assert!(list.stderr.contains("is damaged") && list.stderr.contains("nothing was changed"));
    let ran = with_home(at, &["review", HDD, "--quick", "--json", "--seed", "2"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("results.db.damaged-1 now"), "{}", ran.stderr);
    let aside = at.join("data/fourcorners/results.db.damaged-1");
    assert!(fs::read(aside).expect("it is there").starts_with(b"not a database"));
    assert_eq!(store(at).count(&Filter::default()).ok(), Some(1));
}

#[test]
fn without_a_home_a_review_says_so_and_goes_on() {
    let dir = folder();
    let mut command = command(dir.path(), &["review", HDD, "--quick", "--json"]);
    command.env_remove("HOME").env("XDG_DATA_HOME", "not/absolute");
    let ran = Started::of(command.stdout(Stdio::piped()).stderr(Stdio::piped())).finish();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("there is no home folder"), "{}", ran.stderr);
    assert!(!dir.path().join("not").exists());
}

#[test]
fn a_stopped_review_keeps_what_was_measured_and_its_end_is_another_record() {
    let dir = folder();
    let mut review =
        started(dir.path(), &["review", "./f.img", "--size", "64M", "--quick", "--out", "o"]);
    review.wait_until_it_listens();
    let place = dir.path().join("o");
    crate::bench::wait_for("a figure", || saved(&place).filter(|it| !it.records.is_empty()));
    review.signal(Signal::INT);
    let ran = review.finish();
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let kept = store(dir.path()).list(&Filter::default()).expect("a list");
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].ended, "interrupted");
    assert_eq!(ids(&saved(&place).expect("it is there")), [kept[0].id.clone()]);
}
