//! `fourcorners choose`: the document, the page, the table, and what is refused.

use std::fs;

use fourcorners_record::Choice;

use crate::bench::{HDD, M4, folder, refused, run};

/// A small work.
const TRACE: &str = "time_us,op,offset_bytes,length_bytes\n0,write,0,4096\n5,read,8192,4096\n\
                     9,write,65536,131072\n";

#[test]
fn the_document_is_the_same_every_time_and_the_page_is_made_of_it() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("prices.csv"), "drive,price\ncrucial-m4-64gb,60\n").expect("it can be written");
    let args = [
        "choose",
        "task:boot",
        "--capacity",
        "-70GB",
        "--have",
        HDD,
        "--gb-per-day",
        "20",
        "--prices",
        "prices.csv",
        "--json",
        "-o",
        "page.html",
    ];
    let [first, second] = [0, 1].map(|_| run(dir.path(), &args));
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    assert_eq!(first.stdout, second.stdout);
    let value: serde_json::Value = serde_json::from_str(&first.stdout).expect("one document");
    assert_eq!(value["schema"], "fourcorners.choose/1");
    // What cannot be known is there, and null.
    let keys = [
        "drive",
        "rank",
        "tier",
        "waited_s",
        "band_s",
        "band_standing",
        "rank_p99",
        "p99_us",
        "hours_a_year_vs_have",
        "write_amplification",
        "years",
        "energy_wh",
        "price_per_performance",
    ];
    for drive in value["ranking"].as_array().expect("a list") {
        let missing = keys.iter().find(|key| drive.get(**key).is_none());
        assert_eq!(missing, None, "{drive}");
    }
    let choice: Choice = serde_json::from_str(&first.stdout).expect("a choice");
    let drive = |name: &str| {
        let found = choice.ranking.iter().find(|drive| drive.drive == name);
        found.unwrap_or_else(|| panic!("{name}: {choice:?}"))
    };
    let (m4, had) = (drive("crucial-m4-64gb"), drive(HDD));
    // The drive one has is compared with, whatever its capacity; all others are within.
    assert!(choice.ranking.iter().all(|it| it.drive == HDD || it.capacity_gb < 71.0));
    assert!(m4.hours_a_year_vs_have.is_some_and(|hours| hours > 1.0), "{m4:?}");
    assert_eq!((had.hours_a_year_vs_have, had.years), (Some(0.0), None));
    assert!(m4.years.is_some() && m4.price_per_performance.is_some());
    assert_eq!(drive("intel-x25-e-64gb").price_per_performance, None);
    assert!(choice.ranking.iter().all(|drive| drive.busy_s == drive.waited_s));
    let waited: Vec<f64> = choice.ranking.iter().map(|drive| drive.waited_s).collect();
    assert!(waited.is_sorted(), "{waited:?}");
    let page = fs::read_to_string(at("page.html")).expect("it was written");
    assert!(page.contains("task:boot – which drive</title>"));
    assert!(choice.ranking.iter().all(|drive| page.contains(&drive.drive)));
}

#[test]
fn the_table_has_the_answer_first() {
    let dir = folder();
    fs::write(dir.path().join("t.csv"), TRACE).expect("it can be written");
    let ran = run(dir.path(), &["choose", "t.csv", "--capacity", "60-70GB", "--have", M4]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let words = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for told in ["t.csv: 3 I/Os", "The work waits least for", "Your crucial-m4-256gb", "rank"] {
        assert!(words.contains(told), "{told}: {}", ran.stdout);
    }
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
    let ran = run(dir.path(), &["choose", "t.csv", "--capacity", "60-70GB", "--markdown"]);
    let rows: Vec<&str> = ran.stdout.lines().filter(|line| line.starts_with("| ")).collect();
    assert!(rows[0].starts_with("| rank | drive | waits |") && rows.len() > 3, "{}", ran.stdout);
    let ran = run(dir.path(), &["choose", "t.csv", "--capacity", "60-70GB", "--bbcode"]);
    assert!(ran.stdout.contains("[tr][th]rank[/th][th]drive[/th]"), "{}", ran.stdout);
}

#[test]
fn a_profile_of_ones_own_is_compared() {
    let dir = folder();
    let toml = run(dir.path(), &["drives", "crucial-m4-64gb", "--toml"]).stdout;
    let mine = toml.replacen("crucial-m4-64gb", "mine", 1);
    fs::write(dir.path().join("mine.toml"), mine).expect("it can be written");
    fs::write(dir.path().join("same.toml"), toml).expect("it can be written");
    fs::write(dir.path().join("t.csv"), TRACE).expect("it can be written");
    let args = ["choose", "t.csv", "--capacity", "60-70GB", "--json", "--have"];
    let ran = run(dir.path(), &[&args[..], &["./mine.toml"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let choice: Choice = serde_json::from_str(&ran.stdout).expect("a choice");
    let waited = |name: &str| {
        choice.ranking.iter().find(|drive| drive.drive == name).map(|drive| drive.waited_s)
    };
    assert!(waited("mine").is_some() && waited("mine") == waited("crucial-m4-64gb"));
    let line = refused(dir.path(), &[&args[..], &["./same.toml"]].concat());
    assert!(line.contains("change the name in the file"), "{line}");
}

#[test]
fn several_drives_as_one_are_ranked_among_the_others() {
    let dir = folder();
    fs::write(dir.path().join("w.csv"), TRACE).expect("it can be written");
    let args = ["choose", "w.csv", "--capacity", "64GB", "--json"];
    let ran = |more: &[&str]| run(dir.path(), &[&args, more].concat());
    let ranked = |more: &[&str]| -> Choice {
        let ran = ran(more);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        serde_json::from_str(&ran.stdout).expect("a choice")
    };
    let alone = ranked(&[]);
    let array = "raid0:2xcrucial-m4-256gb";
    let with = ranked(&["--also", array, "--also", "crucial-m4-256gb", "--also", array]);
    let count =
        |choice: &Choice, name: &str| choice.ranking.iter().filter(|it| it.drive == name).count();
    // Named, they stay, whatever their capacity, and each stands there once.
    assert_eq!([array, "crucial-m4-256gb"].map(|name| count(&alone, name)), [0, 0]);
    assert_eq!([array, "crucial-m4-256gb"].map(|name| count(&with, name)), [1, 1]);
    assert_eq!(with.ranking.len(), alone.ranking.len() + 2);
    let found = with.ranking.iter().find(|it| it.drive == array).expect("it was found");
    assert!(found.title.contains("m4") && found.capacity_gb > 500.0, "{found:?}");
    // What one has may be one, too.
    let had = ranked(&["--have", array, "--gb-per-day", "20"]);
    let hours = |it: &fourcorners_record::RankedDrive| it.hours_a_year_vs_have;
    assert_eq!(had.ranking.iter().find(|it| it.drive == array).and_then(hours), Some(0.0));
    let why = refused(dir.path(), &[&args[..], &["--also", "raid0:2xcrucial-m5-256gb"]].concat());
    assert!(why.contains("--also") && why.contains("crucial-m5-256gb"), "{why}");
    let why = refused(dir.path(), &[&args[..], &["--also", "./none.toml"]].concat());
    assert!(why.contains("--also") && why.contains("none.toml"), "{why}");
}

#[test]
fn what_cannot_be_chosen_by_is_refused_in_a_line() {
    let dir = folder();
    let write = |name: &str, text: &str| {
        fs::write(dir.path().join(name), text).expect("it can be written");
    };
    write("t.csv", TRACE);
    write("broken.csv", &format!("{TRACE}3,read,x,4096\n"));
    write("empty.csv", "time_us,op,offset_bytes,length_bytes\n");
    write(
        "huge.csv",
        "time_us,op,offset_bytes,length_bytes\n0,read,0,2000000000000\n\
                       0,read,2000000000000,2000000000000\n0,read,4000000000000,2000000000000\n",
    );
    write("noise.bin", "\u{1}\u{2}\u{3} no trace");
    write("bad.fio", "[a]\nrw=sideways\n");
    write("two.fio", "[a]\nrw=read\nsize=1m\n[b]\nrw=read\nsize=1m\n");
    write("prices.csv", "drive,price\ncrucial-m4-64gb,cheap\n");
    write("unknown.csv", "drive,price\ncrucial-m4-65gb,60\n");
    write("notes.txt", "three months of notes");
    fs::create_dir(dir.path().join("a-folder")).expect("it can be made");
    for (args, told) in [
        (&["missing.csv"][..], "missing.csv"),
        (&["a-folder"], "this is not a file"),
        (&["/dev/null"], "this is not a file"),
        (&["noise.bin"], "noise.bin"),
        (&["broken.csv"], "line 5"),
        (&["empty.csv"], "no I/O in it"),
        (&["huge.csv"], "none of the drives can do it"),
        (&["task:boots"], "task:boot,"),
        (&["generated:none"], "generated:"),
        (&["bad.fio"], "rw=sideways"),
        (&["missing.fio"], "missing.fio"),
        (&["t.csv", "--state", "worn"], "written, used"),
        (&["t.csv", "--have", "crucial-m4-65gb"], "did you mean"),
        (&["t.csv", "--have", "./none.toml"], "none.toml"),
        (&["t.csv", "--capacity", "300-200GB"], "ends before it begins"),
        (&["t.csv", "--capacity", "10-20GB"], "no drive has that"),
        (&["t.csv", "--capacity", "large"], "200-300GB"),
        (&["t.csv", "--gb-per-day", "0"], "a number above 0"),
        (&["t.csv", "--gb-per-day", "NaN"], "a number above 0"),
        (&["t.csv", "--prices", "prices.csv"], "prices.csv: line 2: the price \"cheap\""),
        (&["t.csv", "--prices", "unknown.csv"], "line 2: there is no drive \"crucial-m4-65gb\""),
        (&["t.csv", "--prices", "missing.csv"], "cannot read the prices"),
        (&["t.csv", "--ios", "10"], "leave it out"),
        (
            &["two.fio", "--ios", "1"],
            "--ios is too small for two.fio: its 2 jobs do 2 I/Os at least",
        ),
        (&["t.csv", "-o", "t.csv"], "name another file"),
        (&["t.csv", "-o", "notes.txt"], "--overwrite"),
        (&["t.csv", "-o", "none/page.html"], "no folder none"),
        (&[], "<WORK>"),
    ] {
        let line = refused(dir.path(), &[&["choose"], args].concat());
        assert!(line.contains(told), "{args:?}: {line}");
    }
}
