//! One entry of each kind of distribution, run on a small drive of the catalogue, and what comes of it when it is altered.

use fourcorners_lab::validate::Standing;
use fourcorners_lab::validate::shapes::{Drives, Entry, ShapesValidation, parse, validate_shapes};
use serde_json::{Value, json};

const DRIVE: &str = "Samsung 970 EVO Plus 250GB";

fn entry(kind: &str, test: Value, result: Value) -> Value {
    json!({"id": kind, "kind": kind, "drive": DRIVE, "capacity_gb": 250, "test": test, "result": result,
        "source": "icpe24:a file"})
}

/// Short ones; what was published is of no drive.
fn entries() -> Vec<Entry> {
    let read = json!({"pattern": "randread", "block_size": 4096, "queue_depth": 4, "jobs": 2,
        "span": "whole drive", "duration_s": 1, "engine": "io_uring"});
    let latency = json!({"iops": 100000, "p50": 70, "p99": 100, "p999": 200, "mean_us": 75, "slat_mean_us": 2,
        "lat_mean_us": 77, "stddev_us": 10});
    let with = |base: &Value, more: Value| {
        let mut all = base.clone();
        all.as_object_mut()
            .expect("an object")
            .extend(more.as_object().expect("an object").clone());
        all
    };
    let background = |rw: &str| {
        let background = json!({"programs": 1, "rw": rw, "block_size": "4k", "queue_depth_each": 32,
            "total_iops": 200000});
        with(&read, json!({"drives": 2, "background": background}))
    };
    let writes = |more: Value| {
        let base = json!({"pattern": "randwrite uniform", "block_size": 4096, "queue_depth": 32, "jobs": 4,
            "span": "1 GiB of the drive", "engine": "io_uring"});
        with(&base, more)
    };
    let kinds = vec![
        entry("randread-qd", read.clone(), latency.clone()),
        entry("host-limit", with(&read, json!({"drives": 3})), latency.clone()),
        entry("randread-qd-spdk", with(&read, json!({"engine": "spdk"})), latency.clone()),
        entry("read-beside-readers", background("randread"), latency.clone()),
        entry("read-beside-writers", background("randwrite"), latency.clone()),
        entry(
            "paced-writes-steady",
            json!({"block_size": 4096, "queue_depth_max": 64, "offered_write_iops": 6000, "duration_s": 2}),
            json!({"write_iops": 6000, "read": {"p50": 70, "p99": 200}, "write": {"p50": 20}}),
        ),
        entry(
            "write-fresh-to-steady",
            writes(json!({})),
            json!({"first_minute": {"iops": 1, "p50": 1}, "iops_at_drive_writes": {"0.5": 1, "1": 1}}),
        ),
        entry(
            "write-series-by-fill",
            writes(json!({"state": "range written once sequentially before", "duration_s": 10})),
            json!({"mean_iops": 60000, "last_quarter": {"iops": 1, "cv_per_second": 0.01},
                "write_amplification_last_quarter": 1.1, "iops_at_range_writes": {"1": 1}}),
        ),
        entry(
            "seqwrite",
            json!({"pattern": "write sequential", "block_size": 524288, "queue_depth": 1,
                "span": "9 GiB of the drive", "duration_s": 8}),
            json!({"iops": 2000, "p50": 300, "mb_per_s": 1000}),
        ),
        entry(
            "repeat5",
            json!({"pattern": "random", "block_size": 4096, "rwmix_read": 50, "threads": 2, "span": "file of 1G",
                "duration_s": 1, "engine": "libaio"}),
            json!({"iops": 200000, "gib_per_s": 0.8}),
        ),
        entry("iocost-rates", json!({"engine": "libaio"}), json!({"randread4k_iops": 100000})),
        entry("act-tail", json!({"engine": "sync"}), json!({"p99": 100})),
        entry("of-no-kind", read.clone(), latency.clone()),
    ];
    parse(&json!({ "entries": kinds }).to_string()).expect("they are entries")
}

fn validated(entries: &[Entry], workers: usize) -> ShapesValidation {
    validate_shapes(entries, |_| true, &Drives::of_catalogue(), (workers, &|_| true))
}

#[test]
fn one_of_each_kind_runs_and_says_the_same_on_any_number_of_threads() {
    let entries = entries();
    let validation = validated(&entries, 2);
    let text = serde_json::to_string(&validation).expect("it is data");
    assert_eq!(serde_json::to_string(&validated(&entries, 1)).expect("it is data"), text);
    let whys: Vec<(&str, Option<&str>)> =
        validation.entries.iter().map(|row| (row.kind.as_str(), row.why.as_deref())).collect();
    for row in &validation.entries {
        let runs = !["act-tail", "of-no-kind"].contains(&row.kind.as_str());
        assert_eq!(row.standing == Standing::NotRun, !runs, "{}: {whys:?}", row.kind);
        assert!(runs || row.why.is_some(), "{}", row.kind);
        // Nothing is fitted to somebody's file.
        assert_ne!(row.standing, Standing::Fitted, "{}", row.kind);
        let published = entries.iter().find(|entry| entry.id == row.id).expect("it is there");
        for (path, compared) in &row.compared {
            assert_eq!(Some(compared.published), published.number(path), "{} {path}", row.id);
            assert!(compared.simulated > 0.0, "{} {path}", row.id);
        }
        let compared: Vec<&String> = row.compared.keys().collect();
        let all: Vec<String> = published.numbers().into_iter().map(|(path, _)| path).collect();
        // All that was published is compared, but for what no drive gives.
        let given = all.iter().filter(|path| *path != "slat_mean_us").count();
        assert!(!runs || compared.len() == given, "{}: {compared:?} of {all:?}", row.kind);
    }
}

#[test]
fn what_the_drive_gives_has_no_error_and_what_is_altered_has_that_one() {
    let mut entries = entries();
    entries.truncate(1);
    let first = validated(&entries, 1).entries.remove(0);
    for (path, compared) in &first.compared {
        entries[0].result.insert(path.clone(), json!(compared.simulated));
    }
    // The length of the run follows from the rate.
    let errors = |entries: &[Entry]| -> Vec<(String, f64)> {
        let row = validated(entries, 1).entries.remove(0);
        let error = |(path, c): (&String, &fourcorners_lab::validate::shapes::Compared)| {
            (path.clone(), c.error.expect("nothing is zero"))
        };
        row.compared.iter().map(error).collect()
    };
    for (path, error) in errors(&entries) {
        assert!(error.abs() < 0.05, "{path}: {error}");
    }
    let p99 = first.compared["p99"].simulated;
    entries[0].result.insert("p99".into(), json!(p99 / 2.0));
    let wrong: Vec<(String, f64)> =
        errors(&entries).into_iter().filter(|(_, error)| error.abs() > 0.05).collect();
    assert!(
        matches!(&wrong[..], [(path, error)] if path == "p99" && (error - 1.0).abs() < 0.05),
        "{wrong:?}"
    );
}

#[test]
fn a_ratio_is_held_to_its_base_and_the_base_to_nothing() {
    let read = |id: &str, block: u64, iops: f64| {
        json!({"id": id, "kind": "randread-bs", "drive": DRIVE, "capacity_gb": 250,
            "test": {"pattern": "randread", "block_size": block, "queue_depth": 1, "jobs": 1, "span": "whole drive",
                "duration_s": 20, "engine": "io_uring"},
            "result": {"iops": iops, "iops_cv_500ms": iops / 1e5}})
    };
    let of = |base: f64| {
        let text = json!({"entries": [read("small", 4096, base), read("large", 65536, 5000.0)]});
        let entries = parse(&text.to_string()).expect("they are entries");
        let rows = validated(&entries, 1).entries;
        assert_eq!(rows[0].standing, Standing::NotRun);
        ["iops", "iops_cv_500ms"].map(|path| rows[1].compared[path].simulated)
    };
    let ([fast, varies], [slow, varies_alike]) = (of(20_000.0), of(10_000.0));
    // Twice the base, twice what the ratio makes of it; but what varies is compared as it is.
    assert!((fast / slow - 2.0).abs() < 1e-3, "{fast} {slow}");
    assert_eq!(varies, varies_alike);
    assert!(varies < 0.02, "{varies}, where the base was published with 0.1 and 0.2");
}

#[test]
fn a_drive_that_is_not_there_is_not_run_and_a_folder_has_it() {
    let mut entries = entries();
    entries.truncate(1);
    entries[0].drive = "Nobody 9000".into();
    let row = validated(&entries, 1).entries.remove(0);
    assert_eq!((row.standing, row.drive), (Standing::NotRun, None));
    assert!(row.why.expect("why").contains("\"Nobody 9000\""));
    let folder = tempfile::tempdir().expect("a folder");
    assert!(
        Drives::with_folder(folder.path()).err().expect("empty").to_string().contains("no file")
    );
    let text = include_str!("../../../../drives/samsung-970-evo-plus.toml")
        .replace("usual =", "names = [\"nobody 9000\"]\nusual =");
    std::fs::write(folder.path().join("nobody.toml"), text).expect("a file");
    let drives = Drives::with_folder(folder.path()).expect("a drive");
    let found = validate_shapes(&entries, |_| true, &drives, (1, &|_| true)).entries.remove(0);
    assert_eq!(found.drive.as_deref(), Some("samsung-970-evo-plus-250gb"));
    std::fs::write(folder.path().join("wrong.toml"), "kind = 3").expect("a file");
    let told = Drives::with_folder(folder.path()).err().expect("no drive").to_string();
    assert!(told.contains("wrong.toml"), "{told}");
}
