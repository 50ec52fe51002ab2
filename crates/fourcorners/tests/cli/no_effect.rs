//! Options that would have no effect are refused, with what they are for; each has the command in which it counts.

use std::fs;

use crate::bench::{M4, folder, refused, run};

#[test]
fn ios_of_a_review_are_those_of_storage_bench() {
    let dir = folder();
    let review = ["review", M4, "--dry-run", "--ios", "5"];
    for more in [
        &["--methods", "four-corners"][..],
        &["--methods", "four-corners", "--quick"],
        &["--quick"],
    ] {
        let line = refused(dir.path(), &[&review[..], more].concat());
        assert!(line.contains("--ios 5 is for storage-bench, which is not asked for"), "{line}");
    }
    for more in [
        &[][..],
        &["--methods", "four-corners,storage-bench"],
        &["--methods", "storage-bench", "--quick"],
    ] {
        let ran = run(dir.path(), &[&review[..], more].concat());
        assert_eq!(ran.code, Some(0), "{more:?}: {}", ran.stderr);
    }
}

#[test]
fn cpus_are_of_a_real_target() {
    let dir = folder();
    fs::write(dir.path().join("job.fio"), "[a]\nrw=read\nbs=4k\nsize=64k\n")
        .expect("a folder of ours");
    let line = refused(dir.path(), &["run", "job.fio", M4, "--cpus", "0"]);
    assert!(line.contains("--cpus 0 is for real targets"), "{line}");
    fs::write(dir.path().join("it.img"), vec![7; 32 << 20]).expect("a folder of ours");
    for targets in [&["it.img"][..], &["it.img", M4]] {
        let ran = run(dir.path(), &[&["run", "job.fio", "--cpus", "0"], targets].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    }
}

#[test]
fn a_seed_is_of_what_is_drawn() {
    let dir = folder();
    fs::write(dir.path().join("job.fio"), "[a]\nrw=read\nbs=4k\nsize=64k\n")
        .expect("a folder of ours");
    let trace = "time_us,op,offset_bytes,length_bytes\n0,write,0,4096\n";
    fs::write(dir.path().join("t.csv"), trace).expect("a folder of ours");
    let choose =
        |work: &str| ["choose", work, "--capacity", "64GB", "--seed", "7"].map(String::from);
    let line = |work: &str| {
        let args = choose(work);
        refused(dir.path(), &args.each_ref().map(String::as_str))
    };
    let said = line("job.fio");
    assert!(
        said.contains(
            "--seed 7 is of a generated trace or task; job.fio is a job file, which has randseed"
        ),
        "{said}"
    );
    let said = line("t.csv");
    assert!(
        said.contains("--seed 7 is of a generated trace or task; t.csv is as it was recorded"),
        "{said}"
    );
    let args = choose("generated:light");
    let args = args.each_ref().map(String::as_str);
    let ran = run(dir.path(), &[&args[..], &["--ios", "100"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

#[test]
fn a_depth_that_does_not_count_is_told_by_run() {
    let dir = folder();
    let ran = |engine: &str| {
        let text = format!("[a]\nrw=randread\nbs=4k\nsize=64k\niodepth=4\n{engine}");
        fs::write(dir.path().join("job.fio"), text).expect("a folder of ours");
        let ran = run(dir.path(), &["run", "job.fio", M4]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.stderr
    };
    let told = "job.fio: job a: iodepth=4 does not count with ioengine=psync (fio's default)";
    assert!(ran("").contains(told));
    assert!(!ran("ioengine=libaio\n").contains("does not count"));
}

#[test]
fn a_value_that_is_set_has_a_name_that_is_known() {
    let dir = folder();
    let review = ["review", M4, "--dry-run", "--quick"];
    for (set, told) in [
        (&["--set", "spare=7"][..], "; use --spare"),
        (&["--set", "nand.read_us=1e300"], "nand.read_us = 1e300 is not possible"),
    ] {
        let line = refused(dir.path(), &[&review[..], set].concat());
        assert!(line.contains(told), "{line}");
    }
    let fine = ["--set", "link.gbps=3", "--set", "nand.read_us=60", "--spare", "7"];
    let ran = run(dir.path(), &[&review[..], &fine].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    // What a replay on all sets by itself is not what was typed.
    let trace = "time_us,op,offset_bytes,length_bytes\n0,write,0,4096\n";
    fs::write(dir.path().join("t.csv"), trace).expect("a folder of ours");
    let all = ["trace", "replay", "t.csv", "all", "--capacity", "64GB", "--set"];
    let line = refused(dir.path(), &[&all[..], &["link.gbps=4"]].concat());
    assert!(line.contains("link.gbps = 4") && !line.contains("command_us"), "{line}");
    let ran = run(dir.path(), &[&all[..], &["host.command_us=9"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}
