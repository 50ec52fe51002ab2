//! `fourcorners fio`: fio's command line, its other formats, and what fio itself says.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use fourcorners_testing::skipped;
use serde_json::Value;

use crate::bench::{M4, Ran, command, folder, refused, run};

fn json(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

const FILE: &str = "[global]\nioengine=libaio\niodepth=4\nsize=64m\nnumber_ios=300\n\
                    [a]\nrw=randread\nbs=4k\n[b]\nstonewall\nrw=randrw\ndescription=hello world\n";
const OPTIONS: [&str; 12] = [
    "--ioengine=libaio",
    "-iodepth=4",
    "--size",
    "64m",
    "--number_ios=300",
    "--name=a",
    "--rw=randread",
    "--bs=4k",
    "--name=b",
    "--stonewall",
    "--rw=randrw",
    "--description=hello world",
];

fn is_fio_there() -> bool {
    Command::new("fio").arg("--version").output().is_ok()
}

#[test]
fn options_a_file_and_standard_input_are_the_same_jobs() {
    let dir = folder();
    fs::write(dir.path().join("job.fio"), FILE).expect("a folder of ours");
    let of_file = json(&run(dir.path(), &["run", "job.fio", M4, "--output-format", "json"]));
    let args = [&["fio"][..], &OPTIONS, &[M4, "--output-format=json"]].concat();
    let of_options = json(&run(dir.path(), &args));
    assert_eq!(of_file["jobs"], of_options["jobs"]);
    for args in [
        &["run", "-", M4, "--output-format", "json"][..],
        &["fio", "-", M4, "--output-format=json"],
    ] {
        let mut child = command(dir.path(), args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary is there");
        child.stdin.take().expect("a pipe").write_all(FILE.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("our child");
        let of_input: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(of_file["jobs"], of_input["jobs"]);
    }
    // Programs that read fio's output look for its version.
    assert_eq!(of_file["fio version"], "fio-3.33");
    assert!(of_file["fourcorners version"].is_string());
    // One section alone.
    let one = json(&run(
        dir.path(),
        &["run", "job.fio", M4, "--section", "b", "--output-format", "json"],
    ));
    assert_eq!(one["jobs"].as_array().map(Vec::len), Some(1));
    assert_eq!(one["jobs"][0]["jobname"], "b");
    let ran = run(dir.path(), &["run", "job.fio", M4, "--section", "c"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("no section [c]; there are: a, b"), "{ran:?}");
}

#[test]
fn a_slip_in_name_is_pointed_to_and_no_other_option_is_taken_for_one() {
    let dir = folder();
    let line = refused(dir.path(), &["fio", "--nam=a", "--rw=read", M4]);
    assert!(line.contains("--nam: there is no such option; did you mean --name?"), "{line}");
    let ran = run(dir.path(), &["fio", "--nice=5", "missing.fio", M4]);
    assert!(!ran.stderr.contains("did you mean --name"), "{ran:?}");
}

#[test]
fn the_command_line_shown_is_fios() {
    let dir = folder();
    fs::write(dir.path().join("job.fio"), FILE).expect("a folder of ours");
    let ran = run(dir.path(), &["fio", "--showcmd", "job.fio"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let words = |text: &str| {
        let quotes = ['"', '\''];
        text.replace(quotes, "").split_whitespace().map(String::from).collect::<Vec<_>>()
    };
    if !is_fio_there() {
        return skipped("fio", "fio is not installed");
    }
    let fio = Command::new("fio").args(["--showcmd", "job.fio"]).current_dir(dir.path()).output();
    let theirs = String::from_utf8(fio.expect("it was there").stdout).expect("text");
    assert_eq!(words(&ran.stdout), words(&theirs));
}

#[test]
fn the_terse_form_has_fios_fields() {
    let dir = folder();
    let args = [&["fio"][..], &OPTIONS, &[M4, "--minimal"]].concat();
    let ran = run(dir.path(), &args);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let lines: Vec<Vec<&str>> = ran.stdout.lines().map(|line| line.split(';').collect()).collect();
    // The last of the second line is its description.
    assert_eq!(lines.iter().map(Vec::len).collect::<Vec<_>>(), [121, 122], "{ran:?}");
    assert_eq!((lines[0][0], lines[0][2], lines[0][3], lines[1][3]), ("3", "a", "0", "1"));
    assert_eq!(lines[1].last(), Some(&"hello world"));
    // As in the JSON: KiB read, and the 99th percentile of the completion latency in microseconds.
    let args = [&["fio"][..], &OPTIONS, &[M4, "--output-format=json"]].concat();
    let read = json(&run(dir.path(), &args))["jobs"][0]["read"].clone();
    assert_eq!(read["io_kbytes"].to_string(), lines[0][5]);
    let p99 = read["clat_ns"]["percentile"]["99.000000"].as_u64().expect("a number") / 1000;
    assert!(lines[0].contains(&format!("99.000000%={p99}").as_str()), "{ran:?}");
    if !is_fio_there() {
        return skipped("fio", "fio is not installed");
    }
    let fio = Command::new("fio")
        .args(["--name=a", "--ioengine=null", "--size=1m", "--rw=randrw", "--minimal"])
        .current_dir(dir.path())
        .output()
        .expect("it was there");
    let theirs = String::from_utf8(fio.stdout).expect("text");
    let theirs: Vec<&str> = theirs.trim().split(';').collect();
    assert_eq!(theirs.len(), lines[0].len());
    let shape = |field: &&str| (field.contains('%'), field.contains("%="), field.contains('.'));
    for (place, (ours, theirs)) in lines[0].iter().zip(&theirs).enumerate().skip(4) {
        // A percentage that is a whole number has a point all the same.
        assert_eq!(shape(ours), shape(theirs), "field {place}: {ours}, {theirs}");
    }
}

#[test]
fn several_formats_come_one_after_the_other() {
    let dir = folder();
    let args = [&["fio"][..], &OPTIONS, &[M4, "--output-format=normal,json,terse"]].concat();
    let ran = run(dir.path(), &args);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let places =
        ["3;fio-3.33;a;", "\"fio version\"", "Run status group 0"].map(|it| ran.stdout.find(it));
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
    let ran = run(dir.path(), &["fio", "--name=a", "--output-format=xml", M4]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
}

#[test]
fn a_refused_engine_is_said_before_a_variable_that_is_missing() {
    let dir = folder();
    let of = |engine: &str| {
        let text = format!("[a]\nbs=${{NOT_THERE}}\nioengine={engine}\nsize=1m\n");
        fs::write(dir.path().join("job.fio"), text).expect("a folder of ours");
        run(dir.path(), &["run", "job.fio", M4])
    };
    let ran = of("rados");
    assert!(ran.stderr.contains("line 3: ioengine=rados does no block I/O"), "{ran:?}");
    // The control: an engine that is taken needs its variables.
    let ran = of("libaio");
    assert!(ran.stderr.contains("line 2: the environment has no variable NOT_THERE"), "{ran:?}");
    assert_eq!(ran.code, Some(1));
    // Where the option has no effect, nothing is missing.
    let text = "[a]\nuri=${NOT_THERE}\nioengine=nbd\nsize=1m\n";
    fs::write(dir.path().join("job.fio"), text).expect("a folder of ours");
    assert_eq!(run(dir.path(), &["run", "job.fio", M4, "--parse-only"]).code, Some(0));
}

#[test]
fn a_file_that_is_missing_is_made_and_one_that_is_somebodys_is_not_written() {
    let dir = folder();
    let options = ["fio", "--name=a", "--rw=randwrite", "--size=32m", "--number_ios=100"];
    let new = [&options[..], &["--filename=./new.img", "--output-format=json"]].concat();
    let ran = run(dir.path(), &new);
    let document = json(&ran);
    assert_eq!(fs::metadata(dir.path().join("new.img")).expect("it was made").len(), 32 << 20);
    assert_eq!(document["jobs"][0]["write"]["total_ios"], 100);
    // Its disk, where it has one of its own.
    for disk in document["disk_util"].as_array().expect("an array") {
        for key in ["name", "read_ios", "write_ios", "write_ticks", "in_queue", "util"] {
            assert!(!disk[key].is_null(), "{disk}");
        }
    }
    let read_only = [&options[..], &["--readonly", M4]].concat();
    assert_eq!(run(dir.path(), &read_only).code, Some(2));
    fs::write(dir.path().join("mine.img"), vec![7; 32 << 20]).expect("it can be written");
    let ran = run(dir.path(), &[&options[..], &["--filename=mine.img"]].concat());
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("--destroy mine.img"), "{ran:?}");
    assert_eq!(fs::read(dir.path().join("mine.img")).expect("it is there"), vec![7; 32 << 20]);
}

#[test]
fn what_is_no_job_is_refused_in_one_line() {
    let dir = folder();
    for (args, said) in [
        (
            &["fio", "--rw=read", "--name=a", "--iodpeth=4", M4][..],
            "command line: iodpeth=4: fio has no such option; did you mean iodepth?",
        ),
        (&["fio", "--rw=read"], "there is no job"),
        (&["fio", "--name=a", "--rw"], "rw needs a value"),
        (&["fio", "--name=a", "--client=x"], "--client: "),
    ] {
        let ran = run(dir.path(), args);
        assert!(
            ran.code.is_some_and(|code| code != 0) && ran.stderr.contains(said),
            "{args:?}: {ran:?}"
        );
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    }
}

#[test]
fn what_fio_is_asked_by_habit_is_answered() {
    let dir = folder();
    for asked in ["--version", "-v"] {
        let ran = run(dir.path(), &["fio", asked]);
        let ours = concat!("fio-3.33 (by fourcorners ", env!("CARGO_PKG_VERSION"), ")\n");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ours), "{asked}");
    }
    // Without a name the options belong to no job, and the drive is taken for a job file.
    let line = refused(dir.path(), &["fio", "--rw=randread", M4]);
    assert!(line.contains("--name=NAME begins one") && line.contains(M4), "{line}");
    // A name of a job file is one; what is wrong with it ends with fio's code.
    let ran = run(dir.path(), &["fio", "--rw=randread", "none.fio"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
    assert!(ran.stderr.contains("none.fio: No such file"), "{ran:?}");
}

#[test]
fn what_came_of_a_search_for_a_depth_is_said_where_it_is_not_a_depth() {
    let dir = folder();
    let said = |latency: &str, more: &[&str]| {
        let search =
            ["--latency_target", latency, "--latency_window=20ms", "--latency_percentile=99"];
        let job =
            ["fio", "--name=a", "--ioengine=libaio", "--iodepth=32", "--rw=randread", "--size=1g"];
        let ran =
            run(dir.path(), &[&job[..], &search, more, &[M4, "--output-format=json"]].concat());
        let met = json(&ran)["jobs"][0]["fourcorners"]["latency_target_met"].clone();
        (met, ran.stderr.contains("is not met"), ran.stderr.contains("cut short"))
    };
    assert_eq!(said("1ms", &[]), (Value::Bool(true), false, false));
    assert_eq!(said("10us", &[]), (Value::Bool(false), true, false));
    // The job ends within the first window, and one that goes on when it is told to.
    assert_eq!(said("1ms", &["--io_size=64k"]), (Value::Null, false, true));
    let goes_on = ["--latency_run=1", "--runtime=1", "--time_based"];
    assert_eq!(said("1ms", &goes_on), (Value::Null, false, false));
}

#[test]
fn what_would_overwrite_a_target_from_its_beginning_is_refused() {
    let dir = folder();
    let options = ["fio", "--name=a", "--rw=write", "--size=32m", "--filename=./new.img"];
    let ran = run(dir.path(), &[&options[..], &["--file_append=1"]].concat());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("file_append=1: a target has no end"), "{ran:?}");
    assert!(!dir.path().join("new.img").exists(), "nothing is made");
    let ran = run(dir.path(), &["fio", "--name=a", "--number_ios=9", "--file_append=0", M4]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
}

#[test]
fn a_group_of_jobs_of_unequal_length_is_as_fast_as_its_jobs() {
    let dir = folder();
    let of = |group: &[&str]| {
        let jobs = [
            "--size=8m",
            "--time_based",
            "--name=r",
            "--rw=randread",
            "--runtime=1",
            "--name=w",
            "--rw=randwrite",
            "--runtime=2",
            M4,
            "--output-format=json",
        ];
        json(&run(dir.path(), &[&["fio"], group, &jobs[..]].concat()))["jobs"].clone()
    };
    let (apart, one) = (of(&[]), of(&["--group_reporting"]));
    assert_eq!(one.as_array().map(Vec::len), Some(1));
    for (place, side, runtime) in [(0, "read", 1000), (1, "write", 2000)] {
        assert_eq!(one[0][side]["runtime"].as_u64().map(|ms| ms / 10), Some(runtime / 10));
        for key in ["runtime", "iops", "bw", "bw_bytes", "total_ios"] {
            assert_eq!(one[0][side][key], apart[place][side][key], "{side} {key}");
        }
    }
}

#[test]
fn a_job_that_ends_within_its_ramp_says_that_nothing_was_measured() {
    let dir = folder();
    let said = |ramp: &str| {
        let job = ["fio", "--name=a", "--rw=randread", "--size=4m", ramp, M4];
        let ran = run(dir.path(), &job);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.stderr.contains("a: nothing was measured: it ended within its ramp_time")
    };
    assert!(said("--ramp_time=1") && !said("--ramp_time=1ms"));
}
