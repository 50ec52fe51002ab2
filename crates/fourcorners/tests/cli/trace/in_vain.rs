//! Options that would have no effect are refused, and taken where they have one.

use std::fs;

use crate::bench::{M4, folder, refused, run};

const CSV: &str = "time_ms,op,offset_bytes,length_bytes\n0,w,0,4096\n50,r,0,4096\n";

#[test]
fn options_of_another_kind_of_trace_are_refused() {
    let dir = folder();
    fs::write(dir.path().join("t.csv"), CSV).expect("it can be written");
    let event = "t.csv: --event is for kernel traces (blktrace and blkparse), and this is a recording (CSV): leave it out";
    let seed = "t.csv: --seed is for generated traces and tasks, and this is a recording (CSV): leave it out";
    for (trace, option, told) in [
        ("t.csv", &["--event", "queue"][..], event),
        ("t.csv", &["--seed", "7"], seed),
        (
            "t.csv",
            &["--ios", "1"],
            "t.csv: --ios does not apply to a recording; --from and --to take a part of it",
        ),
        (
            "generated:light",
            &["--format", "csv"],
            "generated:light: --format is for recordings, and this is a generated trace: leave it out",
        ),
        (
            "generated:light",
            &["--skip-bad"],
            "generated:light: --skip-bad is for recordings, and this is a generated trace: leave it out",
        ),
        ("generated:light", &["--event", "queue"], "--event is for kernel traces"),
        (
            "task:boot",
            &["--skip-bad"],
            "task:boot: --skip-bad is for recordings, and this is a task: leave it out",
        ),
        ("task:boot", &["--ios", "5"], "task:boot: --ios does not apply to a task: leave it out"),
    ] {
        let commands: [&[&str]; 4] = [
            &["trace", "info", trace],
            &["trace", "convert", trace, "-o", "x.fct"],
            &["trace", "replay", trace, M4],
            &["trace", "replay", trace, "all", "--capacity", "60-70GB"],
        ];
        for command in commands {
            let line = refused(dir.path(), &[command, option].concat());
            assert!(line.contains(told), "{command:?} {option:?}: {line}");
        }
    }
    assert!(!dir.path().join("x.fct").exists());
    for (trace, more) in [
        ("t.csv", &["--skip-bad", "--format", "csv", "--event", "issue"][..]),
        ("generated:light", &["--ios", "100", "--seed", "7"]),
        ("task:boot", &["--seed", "7"]),
    ] {
        let ran = run(dir.path(), &[&["trace", "info", trace], more].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
}

#[test]
fn options_of_another_pace_form_or_output_are_refused() {
    let dir = folder();
    fs::write(dir.path().join("t.csv"), CSV).expect("it can be written");
    let idle = "--idle-cap is for --pace think: leave it out";
    let scale = "--time-scale is of the times of the trace, which --pace fast leaves out";
    let drive = "--drive is for --as fio-iolog";
    let overwrite = "required arguments were not provided: --output";
    for (args, told) in [
        (&["replay", "t.csv", M4, "--pace", "recorded", "--idle-cap", "25"][..], idle),
        (&["replay", "t.csv", M4, "--pace", "fast", "--idle-cap", "5"], idle),
        // With all the pace is the recorded one unless another is named.
        (&["replay", "t.csv", "all", "--idle-cap", "5"], idle),
        (&["replay", "t.csv", M4, "--pace", "fast", "--time-scale", "0.5"], scale),
        (&["replay", "t.csv", "all", "--pace", "fast", "--time-scale", "2"], scale),
        (&["replay", "t.csv", M4, "--overwrite"], overwrite),
        (&["replay", "t.csv", "all", "--overwrite"], overwrite),
        (&["convert", "t.csv", "-o", "x", "--drive", "/dev/sda"], drive),
        (&["convert", "t.csv", "-o", "x", "--as", "csv", "--drive", "/dev/sda"], drive),
    ] {
        let line = refused(dir.path(), &[&["trace"], args].concat());
        assert!(line.contains(told), "{args:?}: {line}");
    }
    for args in [
        &["replay", "t.csv", M4, "--idle-cap", "5", "--no-db"][..],
        &["replay", "t.csv", M4, "--pace", "think", "--idle-cap", "5", "--no-db"],
        &["replay", "t.csv", M4, "--pace", "recorded", "--time-scale", "0.5", "--no-db"],
        &["replay", "t.csv", M4, "--pace", "fast", "--out", ".", "--overwrite", "--no-db"],
        &["convert", "t.csv", "-o", "x", "--as", "fio-iolog", "--drive", "/dev/sdq"],
    ] {
        let ran = run(dir.path(), &[&["trace"], args].concat());
        assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
    }
    let log = fs::read_to_string(dir.path().join("x")).expect("it was written");
    assert!(log.contains(" /dev/sdq write 0 4096"), "{log}");
}
