//! `fourcorners validate`.

use std::fs;

use serde_json::{Value, json};

use crate::bench::{Ran, folder, refused, run};

/// Figures of every kind whose tests take a moment: values of solid-state drives and of a hard
/// disk, ratios, orderings, a bound, what is not run.
const QUICK: &str =
    "m025,m027,m033,m051,m052,m089,m102,m113,m115,m145,m164,m180,m181,m202,m215,m251";

/// What was said besides how far it is, which a pipe is told where a machine takes long.
fn remarks(ran: &Ran) -> String {
    let is_progress = |line: &&str| {
        let percent =
            line.strip_prefix("fourcorners: validate: ").and_then(|it| it.strip_suffix(" %"));
        percent.is_some_and(|percent| percent.parse::<u32>().is_ok())
    };
    ran.stderr.lines().filter(|line| !is_progress(line)).collect()
}

fn validated(args: &[&str]) -> Value {
    let dir = folder();
    let ran = run(dir.path(), args);
    assert_eq!((ran.code, remarks(&ran).as_str()), (Some(0), ""), "{args:?}");
    serde_json::from_str(&ran.stdout).expect("JSON")
}

fn of_file(figures: &Value) -> Value {
    let dir = folder();
    fs::write(dir.path().join("mine.json"), figures.to_string()).expect("it can be written");
    let ran = run(dir.path(), &["validate", "--figures", "mine.json", "--json"]);
    assert_eq!((ran.code, remarks(&ran).as_str()), (Some(0), ""));
    serde_json::from_str(&ran.stdout).expect("JSON")
}

#[test]
fn every_figure_has_its_row() {
    let document = validated(&["validate", "--only", QUICK, "--json"]);
    let rows = document["figures"].as_array().expect("a list");
    assert_eq!(rows.len(), QUICK.split(',').count());
    let row = |id: &str| rows.iter().find(|row| row["id"] == id).expect("it is there");
    for row in rows {
        let keys = row.as_object().expect("an object");
        for key in
            ["id", "drive", "metric", "published", "simulated", "error", "standing", "holds", "why"]
        {
            assert!(keys.contains_key(key), "{key}: {row}");
        }
    }
    // 4 KiB at QD 32: the controller's 23.0 + 1.7 us a read are 40,486 a second.
    let reads = row("m145");
    assert_eq!((&reads["published"], &reads["standing"]), (&json!(40000), &json!("fitted")));
    assert!(
        (reads["simulated"].as_f64().expect("a number") / 40_486.0 - 1.0).abs() < 1e-3,
        "{reads}"
    );
    assert!((reads["error"].as_f64().expect("a number") - 0.0121).abs() < 1e-3, "{reads}");
    // The 8 KiB page costs more than the one of 4 KiB: the smaller drive is faster.
    assert_eq!((&row("m025")["holds"], &row("m025")["error"]), (&json!(true), &Value::Null));
    assert_eq!(row("m102")["standing"], "not_run");
    assert!(row("m102")["why"].as_str().is_some_and(|why| why.contains("turbo")));
    let summary = &document["summary"];
    assert_eq!((&summary["orderings"], &summary["orderings_held"]), (&json!(2), &json!(2)));
    assert!(summary["median_abs_error"].as_f64().is_some_and(|error| error < 0.1), "{summary}");
    assert!(summary["p90_abs_error"].as_f64().is_some(), "{summary}");
}

#[test]
fn the_table_in_the_repository_is_current() {
    let dir = folder();
    let ran = run(dir.path(), &["validate", "--only", QUICK, "--markdown"]);
    assert_eq!((ran.code, remarks(&ran).as_str()), (Some(0), ""));
    let rows = |text: &str| -> Vec<String> {
        let (_, figures) = text.split_once("## Figures").expect("it has figures");
        let row = |line: &&str| ["| m", "| n", "| y"].iter().any(|id| line.starts_with(id));
        figures.lines().filter(row).map(str::to_string).collect()
    };
    let committed = rows(include_str!("../../../../docs/FIDELITY.md"));
    let now = rows(&ran.stdout);
    assert_eq!(now.len(), QUICK.split(',').count());
    for row in now {
        let again = "fourcorners validate --markdown --chart docs/fidelity.svg > docs/FIDELITY.md";
        assert!(committed.contains(&row), "{row}\nmake it anew: {again}");
    }
    // The whole takes minutes and is compared by .ci/run; here, that no figure is missing.
    for figure in fourcorners_lab::validate::built_in() {
        let row = format!("| {} |", figure.id);
        assert!(committed.iter().any(|line| line.starts_with(&row)), "{} has no row", figure.id);
    }
}

#[test]
fn figures_of_ones_own_are_held_against_the_catalogue() {
    let reads =
        json!({"pattern": "random read", "block_size": 4096, "queue_depth": 32, "duration_s": 2});
    let figure = |id: &str, drive: &str, value: Value, bound: Value| {
        json!({"id": id, "drive": drive, "capacity_gb": 256, "test": reads, "metric": "IOPS",
               "value": value, "bound": bound, "kind": "measured", "confidence": "stated"})
    };
    let document = of_file(&json!([
        figure("near", "Crucial m4", json!(40000), Value::Null),
        figure("inside", "Crucial m4", json!([40000, 41000]), Value::Null),
        figure("above", "Crucial m4", json!(30000), json!(">")),
        figure("below", "Crucial m4", json!(30000), json!("<")),
        figure("unknown", "Acme Lightning", json!(1), Value::Null),
        figure("words", "Crucial m4", json!("fast"), Value::Null),
        figure("riddle", "Crucial m4", json!(1), json!("!?")),
    ]));
    let rows = document["figures"].as_array().expect("a list");
    let told = |n: usize| {
        (rows[n]["standing"].as_str(), rows[n]["holds"].as_bool(), rows[n]["error"].as_f64())
    };
    // Nothing was fitted to what nobody has seen.
    assert_eq!((told(0).0, told(0).1), (Some("predicted"), None));
    assert_eq!(told(1), (Some("predicted"), None, Some(0.0)));
    assert_eq!(told(2), (Some("predicted"), Some(true), None));
    assert_eq!(told(3).1, Some(false));
    assert!(told(3).2.is_some_and(|error| (error - 0.35).abs() < 0.01), "{}", rows[3]);
    for (n, why) in [(4, "Acme Lightning"), (5, "no number"), (6, "bound")] {
        assert_eq!(told(n), (Some("not_run"), None, None));
        assert!(rows[n]["why"].as_str().is_some_and(|text| text.contains(why)), "{}", rows[n]);
    }
    let summary = &document["summary"];
    assert_eq!((&summary["figures"], &summary["run"]), (&json!(7), &json!(4)));
    assert_eq!((&summary["bounds"], &summary["bounds_held"]), (&json!(2), &json!(1)));
}

#[test]
fn the_chart_is_written_whole_beside_what_is_printed() {
    let dir = folder();
    let args = ["validate", "--only", "m052,m089", "--markdown", "--chart", "errors.svg"];
    let ran = run(dir.path(), &args);
    assert_eq!((ran.code, remarks(&ran).as_str()), (Some(0), ""));
    assert!(ran.stdout.contains("| m089 |"), "{}", ran.stdout);
    let svg = fs::read_to_string(dir.path().join("errors.svg")).expect("it is there");
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
    for (file, told) in [("none/errors.svg", "there is no folder none"), (".", "this is a folder")]
    {
        let line = refused(dir.path(), &["validate", "--only", "m089", "--chart", file]);
        assert!(line.contains(told), "{line}");
    }
}

#[test]
fn a_file_without_figures_is_validated_too() {
    let document = of_file(&json!([]));
    assert_eq!(document["summary"]["median_abs_error"], Value::Null);
}

#[test]
fn what_is_no_list_of_figures_is_refused() {
    let dir = folder();
    let path = dir.path();
    fs::write(path.join("mine.json"), "{}").expect("it can be written");
    fs::create_dir(path.join("folder.json")).expect("it can be made");
    for (args, told) in [
        (["--figures", "mine.json"], "mine.json: this is not a JSON list"),
        (["--figures", "folder.json"], "folder.json: this is not a file"),
        (["--figures", "none.json"], "none.json: cannot read"),
        (["--only", "m999"], "no figure has this id"),
    ] {
        let line = refused(path, &["validate", args[0], args[1]]);
        assert!(line.contains(told), "{told}: {line}");
    }
    refused(path, &["validate", "--json", "--markdown"]);
}

/// Two distributions of a drive of the catalogue and one of none, and one that was measured through a file system.
fn distributions() -> Value {
    let read = |id: &str, drive: &str| {
        json!({"id": id, "kind": "randread-qd", "drive": drive, "capacity_gb": 250,
            "test": {"pattern": "randread", "block_size": 4096, "queue_depth": 1, "jobs": 1, "span": "whole drive",
                "duration_s": 2, "engine": "io_uring"},
            "result": {"iops": 19000, "p50": 60, "p99": 80, "slat_mean_us": 2}})
    };
    let drive = "Samsung 970 EVO Plus 250GB";
    let mut through_files = read("four", drive);
    through_files["kind"] = json!("text-qd128-threads");
    through_files["test"]["pattern"] = json!("randwrite");
    json!({"entries": [read("one", drive), read("two", drive), read("three", "Nobody 9000"), through_files]})
}

#[test]
fn distributions_of_ones_own_are_held_against_the_catalogue() {
    let dir = folder();
    fs::write(dir.path().join("mine.json"), distributions().to_string())
        .expect("it can be written");
    let ran = run(
        dir.path(),
        &["validate", "--shapes", "mine.json", "--only", "one,three,four", "--json"],
    );
    assert_eq!((ran.code, remarks(&ran).as_str()), (Some(0), ""));
    let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    let rows = document["entries"].as_array().expect("a list");
    let ids: Vec<&str> = rows.iter().filter_map(|row| row["id"].as_str()).collect();
    assert_eq!(ids, ["one", "three", "four"]);
    assert_eq!(rows[0]["standing"], "predicted");
    assert_eq!((&rows[0]["reported"], &rows[2]["reported"]), (&json!(false), &json!(true)));
    assert_eq!(rows[0]["drive"], "samsung-970-evo-plus-250gb");
    assert_eq!(rows[0]["compared"]["p99"]["published"], 80.0);
    assert!(rows[0]["compared"]["p99"]["error"].as_f64().is_some_and(|error| error.abs() < 0.5));
    assert_eq!(rows[1]["standing"], "not_run");
    assert!(rows[1]["why"].as_str().is_some_and(|why| why.contains("Nobody 9000")));
    let of_kind = &document["summary"]["by_kind"]["randread-qd"];
    assert_eq!(
        (&of_kind["predicted"]["entries"], &of_kind["fitted"]["entries"]),
        (&json!(1), &json!(0))
    );
    assert!(of_kind["predicted"]["median_abs_error"]["p99"].as_f64().is_some());
    let through_files = &document["summary"]["by_kind"]["text-qd128-threads"];
    let entries =
        ["fitted", "predicted", "reported"].map(|it| through_files[it]["entries"].as_u64());
    assert_eq!(entries, [Some(0), Some(0), Some(1)]);
}

#[test]
fn charts_of_distributions_replace_only_charts() {
    let dir = folder();
    fs::write(dir.path().join("mine.json"), distributions().to_string())
        .expect("it can be written");
    let args =
        ["validate", "--shapes", "mine.json", "--only", "one", "--markdown", "--charts", "."];
    for _ in 0..2 {
        let ran = run(dir.path(), &args);
        assert_eq!((ran.code, remarks(&ran).as_str()), (Some(0), ""));
        assert!(
            ran.stdout
                .contains("![randread-qd, measured and virtual](distributions/randread-qd.svg)")
        );
        let chart = fs::read_to_string(dir.path().join("randread-qd.svg")).expect("a chart");
        assert!(chart.starts_with("<svg"), "{chart}");
    }
    fs::write(dir.path().join("randread-qd.svg"), "my notes").expect("it can be written");
    let told = refused(dir.path(), &args);
    assert!(told.contains("randread-qd.svg exists and is not"), "{told}");
}

#[test]
fn what_is_no_file_of_distributions_is_refused() {
    let dir = folder();
    fs::write(dir.path().join("list.json"), "[]").expect("it can be written");
    let mut wrong = distributions();
    wrong["entries"][1]["test"]["jobs"] = json!("many");
    fs::write(dir.path().join("wrong.json"), wrong.to_string()).expect("it can be written");
    wrong["entries"][1]["test"]["jobs"] = json!(1);
    wrong["entries"][1]["kind"] = json!("../up");
    fs::write(dir.path().join("kind.json"), wrong.to_string()).expect("it can be written");
    for (args, told) in [
        (vec!["--shapes", "list.json"], "list.json: this is no file of distributions"),
        (vec!["--shapes", "wrong.json"], "wrong.json: entry 2 (\"two\"): test.jobs: invalid type"),
        (vec!["--shapes", "none.json"], "none.json: cannot read"),
        (vec!["--shapes", "--only", "nobody"], "--only nobody: no distribution has this id"),
        (vec!["--shapes", "--profiles", "none"], "none: cannot read the folder of profiles"),
        (vec!["--shapes", "--charts", "none"], "--charts none: this is not a folder"),
        (vec!["--shapes", "kind.json", "--charts", "."], "is no name for a file"),
        (vec!["--shapes", "--figures", "list.json"], "cannot be used with"),
        (vec!["--profiles", "."], "there is no file *.toml in this folder"),
        (vec!["--reference", "r.json", "--profiles", "."], "--profiles"),
    ] {
        let args: Vec<&str> = std::iter::once("validate").chain(args).collect();
        let said = refused(dir.path(), &args);
        assert!(said.contains(told), "{args:?}: {said}");
    }
}
