//! Commands that say a sentence say the same as one JSON document with `--json`, and what is written goes where `-o` says.

use serde_json::{Value, json};

use crate::bench::{M4, folder, refused, run};
use crate::state::with;

/// What a command prints, which is one document on one line.
fn printed(dir: &std::path::Path, args: &[&str]) -> Value {
    let ran = run(dir, args);
    assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
    assert_eq!(ran.stdout.lines().count(), 1, "{args:?}: {}", ran.stdout);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{args:?}: {}", ran.stdout))
}

#[test]
fn what_is_said_in_a_sentence_is_said_in_json() {
    let dir = folder();
    let at = dir.path();
    let age = with(&["age", M4, "-o", "used.state", "--drive-writes", "1", "--json"]);
    let aged = printed(at, &age);
    assert_eq!(aged["schema"], "fourcorners.aged/1");
    assert_eq!((&aged["drive"], &aged["state"]), (&json!(M4), &json!("used.state")));
    let written = aged["written_bytes"].as_f64().expect("a number");
    let capacity = aged["capacity_bytes"].as_f64().expect("a number");
    // Once in order, and once anywhere.
    assert!((written / capacity - 2.0).abs() < 0.01, "{written} of {capacity}");
    assert!(aged["write_amplification"].as_f64() >= Some(1.0), "{aged}");

    let convert = ["trace", "convert", "generated:light", "--ios", "500"];
    let to = |name| [&convert[..], &["--json", "--as", "csv", "-o", name]].concat();
    assert_eq!(
        printed(at, &to("a.csv")),
        json!({ "schema": "fourcorners.converted/1", "trace": "a.csv", "format": "csv", "ios": 500, "skipped": 0, "lost": [] })
    );
    // Where the trace is printed, nothing else is.
    assert!(refused(at, &to("-")).contains("--json: the new trace is on standard output"));

    let review = ["review", M4, "--quick", "--json", "--db", "r.db"];
    let reviewed = run(at, &with(&review));
    std::fs::write(at.join("a.json"), &reviewed.stdout).expect("it can be written");
    let results = |args: &[&str]| printed(at, &[&["results"], args, &["--json"]].concat());
    let from = |from: &str, new: u32, known: u32| json!({ "from": from, "new": new, "known": known, "unreadable": 0 });
    let imported = |all: &[Value]| json!({ "schema": "fourcorners.imported/1", "imported": all });
    assert_eq!(
        results(&["import", "a.json", "a.json", "--db", "s.db"]),
        imported(&[from("a.json", 1, 0), from("a.json", 0, 1)])
    );
    // One that cannot be read ends it, and what came before that is told; where nothing came, nothing is printed.
    std::fs::write(at.join("broken.json"), "{").expect("it can be written");
    let ends = |why: &str, from: &[&str]| {
        let args = [&["results", "import"], from, &["--json", "--db", "s.db"]].concat();
        let ran = run(at, &args);
        assert!(ran.code != Some(0) && ran.stderr.contains(why), "{ran:?}");
        ran.stdout
    };
    let told = ends("broken.json", &["a.json", "broken.json", "a.json"]);
    let told = serde_json::from_str::<Value>(&told);
    assert_eq!(told.expect("JSON"), imported(&[from("a.json", 0, 1)]));
    assert_eq!(ends("broken.json", &["broken.json", "a.json"]), "");
    // One that is not there is known before anything is taken in.
    assert_eq!(ends("nowhere.json", &["a.json", "nowhere.json", "a.json"]), "");
    assert_eq!(
        results(&["sync", "s.db", "--db", "r.db"]),
        imported(&[from("s.db", 0, 1), from("r.db", 0, 1)])
    );
    let checked = results(&["check", "--db", "r.db"]);
    assert_eq!(checked["schema"], "fourcorners.checked/1");
    assert_eq!((&checked["whole"], &checked["damage"]), (&json!(1), &json!([])));
    let id = reviewed.document().records.remove(0).id;
    assert_eq!(
        results(&["rm", &id, "--db", "r.db"]),
        json!({ "schema": "fourcorners.removed/1", "removed": 1 })
    );
}

#[test]
fn a_database_whose_name_is_no_text_is_imported() {
    use std::os::unix::ffi::OsStrExt;
    let dir = folder();
    let name = std::ffi::OsStr::from_bytes(b"odd\xff.db");
    let quick =
        with(&["review", M4, "--quick", "--methods", "four-corners", "--quiet", "--db", "r.db"]);
    assert_eq!(run(dir.path(), &quick).code, Some(0));
    std::fs::rename(dir.path().join("r.db"), dir.path().join(name)).expect("it can be renamed");
    for (json, says) in [(false, "1 new, 0 known"), (true, "\"new\":0")] {
        let mut import = ["results", "import", "--db", "new.db"].map(Into::into).to_vec();
        import.push(name.to_os_string());
        import.extend(json.then(|| "--json".into()));
        let ran = run::<std::ffi::OsString>(dir.path(), &import);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stdout.contains(says), "{ran:?}");
    }
}

#[test]
fn one_flag_says_where_results_are_written() {
    let dir = folder();
    let at = dir.path();
    std::fs::write(at.join("a.fio"), "[a]\nsize=1m\nrw=randread\n").expect("it can be written");
    // fio's own JSON, by its long name and by ours.
    let job = with(&["run", "a.fio", M4, "-o", "a.json", "--json"]);
    assert_eq!(run(at, &job).code, Some(0));
    let file = std::fs::read_to_string(at.join("a.json")).expect("it is there");
    let report: Value = serde_json::from_str(&file).expect("it is JSON");
    assert_eq!(report["jobs"][0]["jobname"], "a");
    let both = with(&["run", "a.fio", M4, "--json", "--output-format", "terse"]);
    assert!(refused(at, &both).contains("cannot be used with"));

    for (flag, name) in [("-o", "one"), ("--output", "two"), ("--out", "three")] {
        let review = with(&["review", M4, "--quick", "--no-db", "--quiet", flag, name]);
        assert_eq!(run(at, &review).code, Some(0), "{flag}");
        let replay = ["trace", "replay", "generated:light", M4, "--ios", "100", "--no-db"];
        let replay = [&replay[..], &["--drive-state", "empty", flag, name]].concat();
        assert_eq!(run(at, &replay).code, Some(0), "{flag}");
        for file in ["review.json", "review.html", "replay.json", "replay.html"] {
            assert!(at.join(name).join(file).is_file(), "{flag}: {file}");
        }
    }
}
