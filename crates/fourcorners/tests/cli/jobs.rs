//! `fourcorners run`: job files on virtual drives, files and devices, and what is refused.

use std::fs;
use std::path::Path;
use std::process::Command;

use fourcorners_testing::skipped;
use rustix::process::Signal;
use serde_json::Value;

use crate::bench::{HDD, M4, Ran, folder, listing, refused, run, start, wait_for};
use crate::media::{Loop, MIB};

/// Writes a job file and runs it.
fn job(dir: &Path, text: &str, args: &[&str]) -> Ran {
    fs::write(dir.join("job.fio"), text).expect("a folder of ours");
    run(dir, &[&["run", "job.fio"][..], args].concat())
}

fn json(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

const MIXED: &str = "[global]\nioengine=libaio\niodepth=4\nsize=64m\nruntime=2\ntime_based\n\
                     [mixed]\nrw=randrw\nbssplit=4k/70:16k/30\nrwmixread=70\nnorandommap\n\
                     [paced]\nrw=randread\nrate_iops=500\n\
                     [after]\nstonewall\nrw=write\nbs=128k\nfsync=8\nend_fsync=1\n";

#[test]
fn jobs_on_a_virtual_drive_are_reported_as_fio_does() {
    let dir = folder();
    let ran = job(dir.path(), MIXED, &[M4, "--output-format", "json+"]);
    let document = json(&ran);
    let jobs = document["jobs"].as_array().expect("an array");
    let names: Vec<&str> = jobs.iter().filter_map(|job| job["jobname"].as_str()).collect();
    assert_eq!(names, ["mixed", "paced", "after"]);
    assert_eq!(document["global options"]["iodepth"], "4");
    assert_eq!(jobs[1]["job options"]["rate_iops"], "500");
    assert_eq!((&jobs[0]["groupid"], &jobs[2]["groupid"]), (&Value::from(0), &Value::from(1)));
    let mixed = &jobs[0];
    let ios = |side: &str| mixed[side]["total_ios"].as_u64().expect("a count") as f64;
    let reads = ios("read") / (ios("read") + ios("write"));
    assert!((reads - 0.7).abs() < 0.01, "{reads}");
    let read = &mixed["read"];
    let number = |value: &Value| value.as_f64().expect("a number");
    // fio's own relations: KiB, milliseconds, a mean block of 0.7 * 4 + 0.3 * 16 KiB.
    let rate = number(&read["io_bytes"]) / number(&read["runtime"]) * 1e3;
    assert!((rate / number(&read["bw_bytes"]) - 1.0).abs() < 0.001);
    assert_eq!(number(&read["bw"]), (number(&read["bw_bytes"]) / 1024.0).floor());
    let mean = number(&read["io_bytes"]) / number(&read["total_ios"]) / 1024.0;
    assert!((mean / 7.6 - 1.0).abs() < 0.02, "{mean}");
    let latency = &read["clat_ns"];
    let binned: u64 =
        latency["bins"].as_object().expect("bins").values().filter_map(Value::as_u64).sum();
    assert_eq!(Some(binned), latency["N"].as_u64());
    assert!(
        number(&latency["percentile"]["99.000000"]) >= number(&latency["percentile"]["50.000000"])
    );
    // Each 500 I/Os a second, whatever the other job does.
    assert_eq!(jobs[1]["read"]["total_ios"], 1000);
    let after = &jobs[2];
    let flushes = after["write"]["total_ios"].as_u64().expect("a count") / 8 + 1;
    assert!(after["sync"]["total_ios"].as_u64().expect("a count").abs_diff(flushes) <= 1);

    let again = json(&job(dir.path(), MIXED, &[M4, "--output-format", "json+"]));
    assert_eq!(again["jobs"], document["jobs"], "the same to the bit");
}

/// All keys that `theirs` has and `ours` has not.
fn missing(ours: &Value, theirs: &Value, place: &str, found: &mut Vec<String>) {
    let free = ["global options", "job options", "percentile", "bins"];
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs))
            if !free.iter().any(|end| place.ends_with(end)) =>
        {
            for (key, theirs) in theirs {
                match ours.get(key) {
                    Some(ours) => missing(ours, theirs, &format!("{place}/{key}"), found),
                    None => found.push(format!("{place}/{key}")),
                }
            }
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            if let (Some(ours), Some(theirs)) = (ours.first(), theirs.first()) {
                missing(ours, theirs, place, found);
            }
        }
        (Value::Number(_), Value::Number(_)) => {}
        _ if std::mem::discriminant(ours) != std::mem::discriminant(theirs) => {
            found.push(format!("{place} is of another kind"));
        }
        _ => {}
    }
}

#[test]
fn the_json_has_every_key_of_fios() {
    if Command::new("fio").arg("--version").output().is_err() {
        return skipped("fio", "fio is not installed");
    }
    let dir = folder();
    let text = "[global]\nioengine=null\nsize=1m\n[a]\nrw=randrw\n[b]\nnew_group\nrw=write\nfsync=4\n\
                ss=iops:1%\nss_dur=2\nruntime=4\ntime_based\n";
    let ours = json(&job(dir.path(), text, &[M4, "--output-format", "json+"]));
    let fio = Command::new("fio")
        .args(["job.fio", "--output-format=json+"])
        .current_dir(dir.path())
        .output()
        .expect("it was there");
    let theirs: Value = serde_json::from_slice(&fio.stdout).expect("fio writes JSON");
    for place in 0..2 {
        let mut found = Vec::new();
        missing(&ours["jobs"][place], &theirs["jobs"][place], "", &mut found);
        assert!(found.is_empty(), "job {place}: {found:?}");
    }
    for key in theirs.as_object().expect("an object").keys() {
        assert!(ours.get(key).is_some(), "{key}");
    }
}

#[test]
fn copies_reported_as_one_are_the_sum_of_themselves() {
    let dir = folder();
    let text =
        |more: &str| format!("[a]\nrw=randread\nsize=64m\nnumber_ios=500\nnumjobs=3\n{more}");
    let apart = json(&job(dir.path(), &text(""), &[M4, "--output-format", "json"]));
    let one = json(&job(dir.path(), &text("group_reporting\n"), &[M4, "--output-format", "json"]));
    assert_eq!(apart["jobs"].as_array().map(Vec::len), Some(3));
    assert_eq!(one["jobs"].as_array().map(Vec::len), Some(1));
    assert_eq!(one["jobs"][0]["read"]["total_ios"], 1500);
    assert!(one["jobs"][0]["read"]["clat_ns"].get("bins").is_none(), "json has no bins");

    // As fio 3.33 tells it: rates and the time of the jobs add up, the time of a direction does not.
    let text = "[a]\nrw=randread\nsize=64m\nruntime=2\ntime_based\nrate_iops=500\nnumjobs=2\n\
                group_reporting\n";
    let document = json(&job(dir.path(), text, &[M4, "--output-format", "json"]));
    let (job, read) = (&document["jobs"][0], &document["jobs"][0]["read"]);
    assert_eq!((&job["job_runtime"], &read["runtime"]), (&Value::from(4000), &Value::from(2000)));
    assert_eq!((&read["iops_min"], &read["bw_agg"]), (&Value::from(1000), &Value::from(100.0)));
    assert_eq!(
        (&read["iops_mean"], &read["bw_mean"]),
        (&Value::from(1000.0), &Value::from(4000.0))
    );
}

#[test]
fn several_targets_are_run_one_after_the_other() {
    let dir = folder();
    let text = "[a]\nrw=randread\nsize=16m\nnumber_ios=100\nwrite_lat_log=a\n";
    let ran = job(dir.path(), text, &[M4, HDD, "--output-format", "json"]);
    let document = json(&ran);
    let jobs = document["jobs"].as_array().expect("an array");
    let targets: Vec<&Value> = jobs.iter().map(|job| &job["fourcorners"]["target"]).collect();
    assert_eq!(targets, [M4, HDD]);
    assert_eq!((&jobs[0]["groupid"], &jobs[1]["groupid"]), (&Value::from(0), &Value::from(1)));
    // A row for each I/O: time, nanoseconds, direction, block size and a 0.
    let log = fs::read_to_string(dir.path().join("a_lat.2.log")).expect("it was written");
    assert_eq!(log.lines().count(), 100);
    let fields: Vec<u64> = log
        .lines()
        .next()
        .expect("a row")
        .split(", ")
        .map(|f| f.parse().expect("a number"))
        .collect();
    assert_eq!((fields.len(), fields[2], fields[3], fields[4]), (5, 0, 4096, 0));
    assert!(fields[1] > 1_000_000, "a disk has to seek: {log}");
}

#[test]
fn logs_and_text_are_like_fios() {
    let dir = folder();
    let text = "[one]\nrw=randread\nsize=16m\nruntime=2\ntime_based\nwrite_bw_log=x\nwrite_iops_log\n\
                log_avg_msec=500\n";
    let ran = job(dir.path(), text, &[M4, "--output", "result.txt"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{ran:?}");
    let result = fs::read_to_string(dir.path().join("result.txt")).expect("it was written");
    for part in ["one: (groupid=0, jobs=1): err= 0:", "  read: IOPS=", "99.99th=[", "READ: bw="] {
        assert!(result.contains(part), "{part}: {result}");
    }
    for name in ["x_bw.1.log", "one_iops.1.log"] {
        let log = fs::read_to_string(dir.path().join(name)).expect("it was written");
        let times: Vec<&str> = log.lines().filter_map(|line| line.split(',').next()).collect();
        assert_eq!(times, ["500", "1000", "1500", "2000"], "{name}");
    }
}

/// Exit code 1, one line, nothing made.
fn refused_as_fio(dir: &Path, text: &str, args: &[&str]) -> String {
    fs::write(dir.join("job.fio"), text).expect("a folder of ours");
    let before = listing(dir);
    let ran = run(dir, &[&["run", "job.fio"][..], args].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    assert_eq!(listing(dir), before, "{ran:?}");
    ran.stderr
}

#[test]
fn a_job_file_that_is_wrong_is_refused_with_its_line() {
    let dir = folder();
    let line = refused_as_fio(dir.path(), "[a]\nrw=read\niodeph=4\n", &[M4]);
    assert_eq!(
        line,
        "fourcorners: job.fio, line 3: iodeph=4: fio has no such option; did you mean iodepth?\n"
    );
    let line = refused_as_fio(dir.path(), "[a]\nioengine=cpuio\ncpuload=50\n", &[M4]);
    assert!(line.contains("line 2: ioengine=cpuio does no block I/O"), "{line}");
    let line = refused_as_fio(dir.path(), "[a]\nrw=read\noffset=99t\n", &[M4]);
    assert!(line.contains("line 3: offset="), "{line}");
    let ran = run(dir.path(), &["run", "nowhere.fio", M4]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("nowhere.fio: No such file"), "{ran:?}");
}

#[test]
fn nothing_is_written_that_was_not_named_for_it() {
    let dir = folder();
    let victim = dir.path().join("victim.img");
    let content = vec![7u8; 32 << 20];
    fs::write(&victim, &content).expect("a folder of ours");
    let unharmed = || assert!(fs::read(&victim).expect("it stays") == content);
    let text = "[a]\nfilename=victim.img\nrw=randwrite\nsize=1m\n";
    // The file in the job file is another than the target: it is left alone.
    let ran = job(dir.path(), text, &[M4]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("filename=victim.img is not used"), "{ran:?}");
    unharmed();
    for args in [
        &["run", "job.fio"][..],
        &["run", "job.fio", "victim.img"],
        &["run", "job.fio", "./victim.img", "--size", "64M"],
        &["run", "job.fio", M4, "--output", "victim.img", "victim.img"],
    ] {
        let line = refused(dir.path(), args);
        assert!(line.contains("victim.img"), "{line}");
        unharmed();
    }
    // Reading needs no permission.
    let ran = job(dir.path(), &text.replace("randwrite", "randread"), &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    unharmed();
    let read = text.replace("randwrite", "randread") + "write_lat_log=x\n";
    fs::write(dir.path().join("job.fio"), read).expect("a folder of ours");
    let line = refused(dir.path(), &["run", "job.fio", "--output", "victim.img"]);
    assert!(line.contains("is a target"), "{line}");
    unharmed();
    let ran = job(dir.path(), text, &["--destroy", "victim.img"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let after = fs::read(&victim).expect("it stays");
    assert!(after[..1 << 20] != content[..1 << 20] && after[1 << 20..] == content[1 << 20..]);
}

#[test]
fn wrong_usage_is_refused() {
    let dir = folder();
    fs::write(dir.path().join("job.fio"), "[a]\nrw=read\n").expect("a folder of ours");
    for (args, said) in [
        (&["run", "job.fio"][..], "names no filename: give a TARGET"),
        (&["run", "job.fio", M4, M4], "is named twice"),
        (&["run", "job.fio", M4, "--size", "1G"], "--size is the size of a file"),
        (&["run", "job.fio", "crucial-m4-256"], "did you mean"),
        (&["run", "job.fio", M4, "--output", "no/such/file"], "there is no such folder"),
        (&["run", "job.fio", M4, "--output", "/dev/urandom"], "is a device or a folder"),
        (&["run", "job.fio", M4, "--output", "/"], "is a device or a folder"),
        (&["run", "job.fio", M4, "--output", "./job.fio"], "is a target, a job file"),
        (&["run", "job.fio", M4, "--output-format", "xml"], "xml"),
        (&["run"], "JOB.fio"),
    ] {
        let line = refused(dir.path(), args);
        assert!(line.contains(said), "{args:?}: {line}");
    }
    let ran = run(dir.path(), &["run", "job.fio", M4, "--parse-only"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
}

#[test]
fn results_take_the_place_of_older_results_only() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    let text = "[a]\nrw=read\nsize=1m\nwrite_bw_log=x\n";
    let ran = job(dir.path(), text, &[M4]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(job(dir.path(), text, &[M4]).code, Some(0), "a log of before");
    fs::write(at("x_bw.1.log"), "my thesis").expect("a folder of ours");
    let line = refused(dir.path(), &["run", "job.fio", M4]);
    assert!(line.contains("exists and is not a log"), "{line}");
    assert_eq!(fs::read(at("x_bw.1.log")).expect("it stays"), b"my thesis");
    fs::remove_file(at("x_bw.1.log")).expect("it is ours");
    std::os::unix::fs::symlink("/dev/full", at("x_bw.1.log")).expect("a folder of ours");
    let line = refused(dir.path(), &["run", "job.fio", M4]);
    assert!(line.contains("exists and is not a log"), "{line}");
    fs::remove_file(at("x_bw.1.log")).expect("it is ours");
    let line = refused(dir.path(), &["run", "job.fio", M4, "--output", "x_bw.1.log"]);
    assert!(line.contains("is one of the logs"), "{line}");

    // What a run is made from stays.
    fs::write(at("more.inc"), "rw=read\nsize=1m\n").expect("a folder of ours");
    fs::write(at("job.fio"), "[a]\ninclude more.inc\n").expect("a folder of ours");
    let toml = include_str!("../../../../drives/seagate-momentus-5400.6.toml");
    fs::write(at("my.toml"), toml).expect("a folder of ours");
    for kept in ["more.inc", "my.toml"] {
        let line = refused(dir.path(), &["run", "job.fio", "my.toml", "--output", kept]);
        assert!(line.contains("what a drive is made from"), "{line}");
    }
    assert_eq!(fs::read_to_string(at("my.toml")).expect("it stays"), toml);

    // Two targets number their jobs one after the other; without numbers one log would be lost.
    let text = "[a]\nrw=read\nsize=1m\nwrite_bw_log=y\nper_job_logs=0\n";
    fs::write(at("job.fio"), text).expect("a folder of ours");
    let line = refused(dir.path(), &["run", "job.fio", M4, HDD]);
    assert!(line.contains("would take the logs of two targets"), "{line}");
}

#[test]
fn a_name_of_the_catalogue_is_that_drive_also_where_a_file_has_it() {
    let dir = folder();
    fs::write(dir.path().join(M4), vec![1; 17 << 20]).expect("a folder of ours");
    for rw in ["read", "write"] {
        let text = format!("[a]\nrw={rw}\nsize=1m\n");
        let document = json(&job(dir.path(), &text, &[M4, "--output-format", "json"]));
        assert_eq!(document["jobs"][0]["fourcorners"]["clock"], "virtual", "{rw}");
    }
    // A size that a file does not have is not taken for the one it has.
    fs::write(dir.path().join("old.img"), vec![1; 17 << 20]).expect("a folder of ours");
    let line = refused(dir.path(), &["run", "job.fio", "./old.img", "--size", "1G"]);
    assert!(line.contains("old.img"), "{line}");
    fs::write(dir.path().join("job.fio"), "[a]\nrw=read\nsize=1m\n").expect("a folder of ours");
    let line = refused(dir.path(), &["run", "job.fio", "./old.img", "--size", "1G"]);
    assert!(line.contains("leave --size out"), "{line}");
}

#[test]
fn numbers_out_of_all_range_are_refused_in_a_line() {
    let dir = folder();
    let long = format!("{}=1", "x".repeat(100_000));
    for (options, said) in [
        ("zonemode=strided\nzonesize=1m\nzoneskip=18446744073709551104", "line 5"),
        ("rw=read:-9223372036854775808", "line 3"),
        ("ss=iops:1%\nss_dur=36000d\nss_interval=1ms", "line 5"),
        (&long, "no such option"),
    ] {
        let text = format!("[a]\nsize=1m\n{options}\n");
        let ran = job(dir.path(), &text, &[M4]);
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        assert!(ran.stderr.contains(said) && ran.stderr.lines().count() == 1, "{}", ran.stderr);
    }
}

#[test]
fn a_new_file_is_laid_out_run_and_kept() {
    let dir = folder();
    let text = "[a]\nioengine=io_uring\niodepth=8\nrw=randrw\nbs=4k,8k\nsize=16m\nend_fsync=1\n\
                [b]\nstonewall\nioengine=libaio\niodepth=4\nrw=randread\nnumjobs=2\nsize=16m\n\
                [c]\nstonewall\nrw=randtrim\noffset=16m\nsize=1m\n";
    let args = ["new.img", "--size", "32M", "--output-format", "json"];
    let document = json(&job(dir.path(), text, &args));
    assert_eq!(document["jobs"][0]["sync"]["total_ios"], 1);
    assert_eq!(document["jobs"][1]["read"]["io_bytes"], 16 << 20);
    assert_eq!(document["jobs"][3]["trim"]["total_ios"], 256);
    assert_eq!(document["jobs"][1]["fourcorners"]["clock"], "wall");
    let content = fs::read(dir.path().join("new.img")).expect("it stays");
    assert_eq!(content.len(), 32_000_000);
    assert!(content[..16 << 20].chunks(4096).all(|block| block.iter().any(|&byte| byte != 0)));
}

#[test]
fn a_signal_keeps_what_was_measured_and_exits_as_fio_does() {
    let dir = folder();
    let text = "[a]\nrw=randread\nsize=16m\nruntime=100000\ntime_based\n";
    fs::write(dir.path().join("job.fio"), text).expect("a folder of ours");
    let mut started = start(dir.path(), &["run", "job.fio", M4, "--output-format", "json"]);
    started.wait_until_it_listens();
    std::thread::sleep(std::time::Duration::from_millis(300));
    started.signal(Signal::INT);
    wait_for("the end", || (!started.is_running()).then_some(()));
    let ran = started.finish();
    assert_eq!(ran.code, Some(128), "{ran:?}");
    let document: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert!(document["jobs"][0]["read"]["total_ios"].as_u64() > Some(0), "{ran:?}");
}

#[test]
fn a_device_is_run_when_it_is_named() {
    let Some(device) = Loop::blank(64 * MIB) else { return };
    let node = device.node.as_str();
    let dir = folder();
    let text = "[a]\nioengine=libaio\niodepth=8\nrw=randwrite\nsize=8m\nfsync=100\n";
    fs::write(dir.path().join("job.fio"), text).expect("a folder of ours");
    let line = refused(dir.path(), &["run", "job.fio", node]);
    assert!(line.contains(&format!("--destroy {node}")), "{line}");
    let args = [node, "--destroy", node, "--output-format", "json"];
    let document = json(&job(dir.path(), text, &args));
    assert_eq!(document["jobs"][0]["write"]["total_ios"], 2048);
    assert_eq!(document["jobs"][0]["sync"]["total_ios"], 20);
}

#[test]
fn shells_and_the_manual_know_every_command() {
    let dir = folder();
    for args in [&["completions", "bash"][..], &["completions", "zsh"], &["man"]] {
        let ran = run(dir.path(), args);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{args:?}");
        for part in ["review", "drives", "output", "destroy"] {
            assert!(ran.stdout.contains(part), "{args:?}: {part}");
        }
    }
    refused(dir.path(), &["completions", "dos"]);

    let pages = dir.path().join("man1");
    let write = |more: &[&str]| run(dir.path(), &[&["man", "-o", "man1"], more].concat());
    assert_eq!(write(&[]).code, Some(0));
    let text = |name: &str| fs::read_to_string(pages.join(name)).expect(name);
    assert!(text("fourcorners.1").contains("review"));
    assert!(text("fourcorners-trace-replay.1").contains("pace"));
    assert!(!pages.join("fourcorners-help.1").exists());
    // An earlier page is replaced, a file of somebody's own is not, and then no page is.
    fs::write(pages.join("fourcorners-review.1"), "mine").expect("a folder of ours");
    fs::remove_file(pages.join("fourcorners.1")).expect("it was written");
    let ran = write(&[]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("fourcorners-review.1 exists"), "{}", ran.stderr);
    assert!(!pages.join("fourcorners.1").exists());
    assert_eq!(text("fourcorners-review.1"), "mine");
    assert_eq!(write(&["--overwrite"]).code, Some(0));
    assert!(text("fourcorners-review.1").contains(".TH fourcorners"));
}

#[test]
fn the_doctor_looks_and_touches_nothing() {
    let dir = folder();
    let content = vec![9u8; 17 << 20];
    fs::write(dir.path().join("data"), &content).expect("a folder of ours");
    let ran = run(dir.path(), &["doctor", "data", "--json"]);
    let document = json(&ran);
    assert_eq!(document["schema"], "fourcorners.doctor/1");
    let found = |part: &str, what: &str| -> Value {
        let all = document[part].as_array().expect("findings");
        all.iter().find(|one| one["what"] == what).unwrap_or_else(|| panic!("{what}")).clone()
    };
    assert_eq!(found("machine", "io_uring")["verdict"], "fine", "other tests need it");
    assert_eq!(found("target", "writes")["found"], "allowed with --destroy");
    assert_eq!(found("target", "direct reads")["means"].as_str().map(|_| ()), Some(()));
    assert_eq!(fs::read(dir.path().join("data")).expect("it stays"), content);
    // A virtual drive needs no check; a file by its name is one.
    let line = refused(dir.path(), &["doctor", M4]);
    assert!(line.contains("is a virtual drive") && line.contains("fourcorners drives"), "{line}");
    let line = refused(dir.path(), &["doctor", "none"]);
    assert!(line.contains("none: No such file"), "{line}");
    let ran = run(dir.path(), &["doctor"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert!(ran.stdout.contains("kernel") && !ran.stdout.contains("scheduler"));
    assert!(refused(dir.path(), &["doctor", "nowhere"]).contains("nowhere"));
    if let Some(device) = Loop::blank(64 * MIB) {
        let ran = run(dir.path(), &["doctor", &device.node]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(ran.stdout.contains("scheduler") && ran.stdout.contains("allowed with --destroy"));
    }
}

#[test]
fn the_loop_runs_as_it_is_asked_to_or_says_why_not() {
    let dir = folder();
    let text = "[a]\nrw=randread\nioengine=io_uring\niodepth=4\nsize=4m\nnumber_ios=100\n";
    let created = job(dir.path(), text, &["it.img", "--size", "32M"]);
    assert_eq!(created.code, Some(0), "{created:?}");
    for more in ["sqthread_poll=1\n", "cpus_allowed=0\n", "numa_cpu_nodes=0\n"] {
        let ran = job(dir.path(), &format!("{text}{more}"), &["it.img", "--output-format", "json"]);
        // A machine may keep us from its first CPU, and a kernel may have no nodes.
        if ran.code == Some(0) {
            let document = json(&ran);
            assert_eq!(document["jobs"][0]["read"]["total_ios"], 100);
            assert!(document["jobs"][0]["fourcorners"]["overhead_ns_per_io"].is_u64(), "{ran:?}");
        } else {
            assert!(
                ran.stderr.contains("may use") || ran.stderr.contains("no NUMA node"),
                "{ran:?}"
            );
        }
    }
    let polled = job(dir.path(), &format!("{text}hipri\n"), &["it.img"]);
    assert!(polled.code == Some(0) || polled.stderr.contains("leave hipri out"), "{polled:?}");
    fs::write(dir.path().join("job.fio"), text).expect("a folder of ours");
    for (list, why) in
        [("0-x", "--cpus 0-x: \"0-x\" is not a CPU"), ("8000", "may use"), ("", "is not a CPU")]
    {
        let line = refused(dir.path(), &["run", "job.fio", "it.img", "--cpus", list]);
        assert!(line.contains(why), "{line}");
    }
}

#[test]
fn a_recording_is_replayed_and_needs_leave_to_write() {
    let dir = folder();
    let args = [
        "trace",
        "convert",
        "generated:light",
        "--ios",
        "300",
        "--as",
        "fio-iolog",
        "-o",
        "io.log",
    ];
    assert_eq!(run(dir.path(), &args).code, Some(0));
    let text = "[a]\nread_iolog=io.log\nreplay_no_stall=1\nioengine=libaio\niodepth=8\nreplay_scale=2000\n";
    let document = json(&job(dir.path(), text, &[M4, "--output-format", "json"]));
    let ios = |side: &str| document["jobs"][0][side]["total_ios"].as_u64().expect("a count");
    assert_eq!(ios("read") + ios("write") + ios("trim"), 300);
    fs::write(dir.path().join("it.img"), vec![0; 64 * MIB as usize]).expect("a folder of ours");
    let refused = job(dir.path(), text, &["it.img"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("--destroy it.img"), "{refused:?}");
    let ran = job(dir.path(), text, &["it.img", "--destroy", "it.img", "--output-format", "json"]);
    assert_eq!(
        json(&ran)["jobs"][0]["write"]["total_ios"],
        document["jobs"][0]["write"]["total_ios"]
    );
    // Nor is a result written over what is replayed.
    let over = job(dir.path(), text, &[M4, "--output", "io.log"]);
    assert!(over.code == Some(2) && over.stderr.contains("io.log"), "{over:?}");
}
