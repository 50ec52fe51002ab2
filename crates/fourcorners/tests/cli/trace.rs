//! `fourcorners trace` from end to end.

#[path = "trace/empty.rs"]
mod empty;
#[path = "trace/in_vain.rs"]
mod in_vain;
#[path = "trace/words.rs"]
mod words;

use std::fs;

use fourcorners_record::{Ended, Record, TargetKind, json_schema};
use fourcorners_testing::skipped;

use crate::bench::{HDD, M4, folder, refused, run};

/// A small m4.
const SMALL: [&str; 4] =
    ["--set", "nand.blocks_per_plane=64", "--set", "capacity.sectors=14680064"];

#[test]
fn the_card_as_a_table_and_as_json() {
    let dir = folder();
    let args = ["trace", "info", "generated:heavy", "--ios", "20000"];
    let table = run(dir.path(), &args);
    assert_eq!(table.code, Some(0), "{table:?}");
    for told in ["20,000", "mean queue depth", "sequential", "≤ 4 KiB", "think time"] {
        assert!(table.stdout.contains(told), "{told}: {}", table.stdout);
    }
    assert!(table.stdout.lines().all(|line| line.chars().count() <= 80), "{}", table.stdout);
    let json = run(dir.path(), &[&args[..], &["--json"]].concat());
    let card: serde_json::Value = serde_json::from_str(&json.stdout).expect("one document");
    assert_eq!((&card["schema"], &card["ios"]), (&"fourcorners.trace/1".into(), &20000.into()));
    let bins = card["sizes"].as_array().expect("a histogram");
    let count = |bin: &serde_json::Value| {
        bin["reads"].as_u64().unwrap_or(0) + bin["writes"].as_u64().unwrap_or(0)
    };
    assert_eq!(bins.iter().map(count).sum::<u64>(), 20_000);
}

#[test]
fn converted_there_and_back_it_is_the_same() {
    let dir = folder();
    let convert = |from: &str, to: &str, format: &str| {
        let ran = run(dir.path(), &["trace", "convert", from, "-o", to, "--as", format]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    };
    let ran = run(
        dir.path(),
        &["trace", "convert", "generated:light", "--ios", "5000", "-o", "a.csv", "--as", "csv"],
    );
    assert!(ran.stdout.contains("a.csv: 5,000 I/Os as csv"), "{ran:?}");
    convert("a.csv", "a.fct", "compact");
    convert("a.fct", "b.csv", "csv");
    let [first, second] =
        ["a.csv", "b.csv"].map(|name| fs::read(dir.path().join(name)).expect("made"));
    assert!(first == second);
    // Not in its own place: what is read is not replaced.
    let line = refused(dir.path(), &["trace", "convert", "a.fct", "-o", "a.fct", "--as", "csv"]);
    assert!(line.contains("a.fct, which is read for it"), "{line}");
    let piped = run(dir.path(), &["trace", "convert", "a.csv", "-o", "-", "--as", "csv"]);
    assert!(piped.stdout.as_bytes() == first);
}

#[test]
fn fio_reads_what_is_written_for_it() {
    if std::process::Command::new("fio").arg("--version").output().is_err() {
        return skipped("fio", "fio is not installed");
    }
    let dir = folder();
    let file = dir.path().join("file.img");
    fs::write(&file, vec![0; 4 << 20]).expect("a small file");
    let csv =
        "time_us,op,offset_bytes,length_bytes\n0,read,0,4096\n50,write,8192,4096\n90,read,0,512\n";
    fs::write(dir.path().join("a.csv"), csv).expect("it can be written");
    let drive = file.to_str().expect("temporary paths are text");
    let ran = run(
        dir.path(),
        &["trace", "convert", "a.csv", "-o", "a.log", "--as", "fio-iolog", "--drive", drive],
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let fio = std::process::Command::new("fio")
        .args(["--name=it", "--read_iolog=a.log", "--ioengine=psync", "--output-format=json"])
        .current_dir(dir.path())
        .output()
        .expect("it is there");
    let text = String::from_utf8_lossy(&fio.stdout);
    let from = text.find('{').unwrap_or_else(|| panic!("{fio:?}"));
    let report: serde_json::Value = serde_json::from_str(&text[from..]).expect("one document");
    let job = &report["jobs"][0];
    assert_eq!((&job["read"]["total_ios"], &job["write"]["total_ios"]), (&2.into(), &1.into()));
}

#[test]
fn a_replay_is_a_document_of_the_published_schema() {
    let dir = folder();
    let args = ["trace", "replay", "generated:light", M4, HDD, "--ios", "3000", "--json"];
    let args = [&args[..], &["--rescale-address", "--out", "here"]].concat();
    let ran = run(dir.path(), &args);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let schema = serde_json::from_str(&json_schema()).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).expect("one document");
    assert!(validator.is_valid(&value));
    let saved = fs::read_to_string(dir.path().join("here/replay.json")).expect("it was saved");
    assert_eq!(saved.trim(), ran.stdout.trim());
    let records = ran.document().records;
    let figures = |at: usize| {
        let replay = records[at].replay.as_ref().expect("it was replayed");
        assert_eq!(replay.card.ios, 3000);
        replay.figures.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(figures(0), ["storage_bench_empty", "storage_bench_full"]);
    assert_eq!(figures(1), ["storage_bench_as_found"]);
    for record in &records {
        assert_eq!((record.method.as_str(), &record.ended), ("storage-bench", &Ended::Complete));
        for figure in record.replay.iter().flat_map(|replay| replay.figures.values()) {
            assert_eq!(figure.reads.ios + figure.writes.ios, 3000);
            assert!(figure.busy_s <= figure.elapsed_s && figure.mean_queue_depth >= 1.0);
        }
    }
}

#[test]
fn a_file_is_replayed_full_and_only_read_without_leave() {
    let dir = folder();
    let replay = |target: &str, more: &[&str]| {
        let args = ["trace", "replay", "generated:light", target, "--ios", "200", "--pace", "fast"];
        let args = [&args[..], &["--rescale-address", "--json"], more].concat();
        let ran = run(dir.path(), &args);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.document().records.remove(0)
    };
    let record = replay("./new.img", &["--size", "64M"]);
    let figures = &record.replay.as_ref().expect("it was replayed").figures;
    assert_eq!(figures.keys().collect::<Vec<_>>(), ["storage_bench_full"]);
    assert_eq!((record.target.kind, figures[0].all.ios), (TargetKind::File, 200));
    assert!(record.host.is_some() && figures[0].cpu_us_per_io.is_some());
    let has_holes = |record: &Record| {
        record.target.in_memory.as_ref().is_some_and(|why| why.contains("were holes"))
    };
    assert!(!has_holes(&record), "it was filled before");
    let in_memory = record.target.in_memory.is_some();
    fs::File::create(dir.path().join("holes.img"))
        .and_then(|file| file.set_len(64 << 20))
        .expect("a file of nothing");
    let record = replay("./holes.img", &["--ops", "read", "--drive-state", "as-found"]);
    assert!(has_holes(&record) || in_memory, "the control: {:?}", record.target.in_memory);

    let content: Vec<u8> = (0..20u32 << 20).map(|n| (n % 251) as u8).collect();
    fs::write(dir.path().join("photos.tar"), &content).expect("it can be written");
    let args = ["trace", "replay", "generated:light", "./photos.tar", "--rescale-address"];
    let line = refused(dir.path(), &[&args[..], &["--ios", "200"]].concat());
    assert!(line.contains("--destroy ./photos.tar"), "{line}");
    // Reads alone, but in a state that has to be made.
    let line = refused(dir.path(), &[&args[..], &["--ops", "read", "--ios", "200"]].concat());
    assert!(line.contains("--destroy ./photos.tar"), "{line}");
    let record = replay("./photos.tar", &["--ops", "read", "--drive-state", "as-found"]);
    assert_eq!(record.ended, Ended::Complete);
    assert!(fs::read(dir.path().join("photos.tar")).expect("it is there") == content);
}

#[test]
fn what_cannot_be_done_is_refused_in_a_line() {
    let dir = folder();
    fs::write(dir.path().join("letter"), "Dear reader").expect("it can be written");
    fs::write(dir.path().join("far.csv"), "time_s,op,sector,sectors\n0,r,9999999999,8\n")
        .expect("written");
    fs::write(dir.path().join("none.csv"), "time_s,op,sector,sectors\n").expect("written");
    let trim = |bytes: u64| format!("time_s,op,offset_bytes,length_bytes\n0,t,0,{bytes}\n");
    fs::write(dir.path().join("trim.csv"), trim(4096)).expect("written");
    fs::write(dir.path().join("large.csv"), trim(900_000_000_000)).expect("written");
    let cases: &[(&[&str], &str)] = &[
        (&["info", "missing"], "No such file"),
        (&["info", "boot"], "did you mean task:boot?"),
        (&["info", "."], "it is a folder"),
        (&["info", "letter"], "--format"),
        (&["info", "letter", "--format", "cvs"], "there is no format \"cvs\""),
        (&["info", "generated:lite"], "generated:light"),
        (&["info", "far.csv", "--event", "done"], "issue or queue"),
        (&["info", "far.csv", "--ops", "read,erase"], "--ops erase"),
        (&["info", "far.csv", "--range", "10G"], "--range 10G"),
        (&["info", "far.csv", "--range", "10G-1G"], "--range 10G-1G"),
        (&["info", "far.csv", "--from", "-1"], "--from -1"),
        (&["info", "far.csv", "--from", "2", "--to", "1"], "this range is empty"),
        (&["info", "far.csv", "--time-scale", "NaN"], "--time-scale NaN"),
        (&["info", "far.csv", "--address-scale", "-2"], "--address-scale -2"),
        (&["info", "far.csv", "--device", "8:0"], "--device 8:0"),
        (&["info", "generated:light", "--ios", "0"], "--ios"),
        (&["convert", "far.csv", "-o", "x", "--as", "msr"], "there are: fio-iolog, csv, compact"),
        (&["convert", "far.csv", "-o", "."], "is a folder"),
        (&["convert", "far.csv", "-o", "x", "--from", "1"], "of its I/Os none is left by --from"),
        (&["convert", "letter", "-o", "x"], "--format"),
        (
            &["convert", "far.csv", "-o", "x", "--as", "fio-iolog", "--drive", "a b"],
            "without blanks",
        ),
        (&["replay", "far.csv", M4], "--rescale-address"),
        (&["replay", "none.csv", M4], "there is no I/O in it"),
        (&["replay", "far.csv", M4, "--pace", "slow"], "think, recorded and fast"),
        (&["replay", "far.csv", M4, "--depth", "0"], "--depth 0"),
        (&["replay", "far.csv", M4, "--idle-cap", "-1"], "--idle-cap -1"),
        (&["replay", "far.csv", M4, "--drive-state", "used"], "as-found"),
        (&["replay", "far.csv", M4, M4, "--wrap-address"], "named twice"),
        (&["replay", "far.csv", M4, "--wrap-address", "--rescale-address"], "cannot be used with"),
        (
            &["replay", "trim.csv", HDD],
            "has TRIMs and the target takes none: --ops read,write,flush",
        ),
        (&["replay", "large.csv", M4, "--wrap-address"], "an I/O of 900000000000 bytes"),
    ];
    for (args, told) in cases {
        let line = refused(dir.path(), &[&["trace"], *args].concat());
        assert!(line.contains(told), "{args:?}: {line}");
    }
}

#[test]
fn a_pipe_is_read_where_once_is_enough_and_refused_where_it_is_not() {
    let dir = folder();
    let text = "time_s,op,sector,sectors\n0,r,0,8\n1,w,8,8\n";
    fs::write(dir.path().join("a.csv"), text).expect("it can be written");
    let made = std::process::Command::new("mkfifo").arg(dir.path().join("pipe")).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo is part of coreutils");
    // Nobody writes to the pipe: if it were opened, this would wait for ever.
    for args in [
        &["convert", "pipe", "-o", "x"][..],
        &["convert", "pipe", "-o", "-"],
        &["replay", "pipe", M4],
        &["replay", "pipe", "all"],
        &["convert", "/dev/null", "-o", "x"],
    ] {
        let line = refused(dir.path(), &[&["trace"], args].concat());
        assert!(line.contains("this is not a file"), "{args:?}: {line}");
    }
    let to = dir.path().join("pipe");
    let writer = std::thread::spawn(move || fs::write(to, text));
    let ran = run(dir.path(), &["trace", "info", "pipe", "--json"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("\"ios\":2"), "{ran:?}");
    writer.join().expect("no panic").expect("it was read");
    let ran = run(dir.path(), &["trace", "convert", "a.csv", "-o", "x"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn broken_records_are_counted_when_they_may_be_left_out() {
    let dir = folder();
    let text = "time_s,op,sector,sectors\n0,r,0,8\n1,x,0,8\n2,w,8,8\n";
    fs::write(dir.path().join("a.csv"), text).expect("it can be written");
    let ran = run(dir.path(), &["trace", "info", "a.csv"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.contains("a.csv: CSV, line 3: the op is \"x\""), "{ran:?}");
    let ran = run(dir.path(), &["trace", "convert", "a.csv", "-o", "b.fct"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(!dir.path().join("b.fct").exists(), "nothing is left half written");
    let replay = ["trace", "replay", "a.csv", M4, "--skip-bad", "--json"];
    let ran = run(dir.path(), &[&replay[..], &SMALL].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("1 record could not be read and was left out"), "{ran:?}");
    let replay = ran.document().records.remove(0).replay.expect("it was replayed");
    assert_eq!((replay.card.ios, replay.card.skipped), (2, 1));
}
