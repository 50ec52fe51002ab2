//! A real drive that is passed on: written only if it was named, recorded, and tried on others.

use std::os::unix::fs::FileExt;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::nbd::Client;
use super::{fourcorners, temporary};

const BYTES: usize = 32 << 20;

fn scratch() -> tempfile::TempDir {
    let dir = temporary();
    std::fs::write(dir.path().join("scratch"), vec![1; BYTES]).expect("it can be written");
    dir
}

/// Serves the file `scratch` to a client that does something, until it has gone.
fn served(dir: &tempfile::TempDir, more: &[&str], client: impl FnOnce(&mut Client)) -> Output {
    let args = ["serve", "./scratch", "--at", "unix:s", "--until-last-disconnect=0"];
    let mut command = fourcorners(dir, &[&args[..], more].concat());
    let server = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let mut connected = Client::connect(&dir.path().join("s"));
    client(&mut connected);
    drop(connected);
    server.wait_with_output().expect("it ends")
}

#[test]
fn what_is_done_to_a_real_drive_is_in_it_and_recorded_and_tried_on_others() {
    let dir = scratch();
    let more = ["--destroy", "./scratch", "--record", "r", "--progress", "json"];
    let tried = ["--record-data", "d", "--then-try", "crucial-m4-64gb,intel-s3700-200gb"];
    let output = served(&dir, &[&more[..], &tried].concat(), |client| {
        for n in 0..50u8 {
            client.write(u64::from(n) * 8192, n);
        }
    });
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let event = |name: &str| -> Value {
        let found = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        found.into_iter().find(|event| event["event"] == name).expect("it came")
    };
    let end = event("end");
    assert_eq!((&end["pacing"], &end["lateness_us"]), (&"real".into(), &Value::Null));
    assert_eq!((&end["recorded"]["ios"], &end["recorded"]["lost"]), (&50.into(), &0.into()));
    assert_eq!(end["recorded_data"]["bytes"], 50 * 4096);
    let write = &end["operations"][0];
    assert_eq!((&write["name"], &write["ios"]), (&"write".into(), &50.into()));
    let p50 = write["latency_us"]["p50"].as_f64();
    assert!(p50 > Some(0.0) && p50 < Some(50_000.0), "its answers are heard of at once: {write}");
    let ranked = event("then_try")["choice"]["ranking"].as_array().map(Vec::len);
    assert_eq!(ranked, Some(2), "{text}");
    let file = std::fs::File::open(dir.path().join("scratch")).expect("it is there");
    for n in 0..50u64 {
        let mut both = [0; 8192];
        file.read_exact_at(&mut both, n * 8192).expect("it is as long");
        assert!(both[..4096] == [n as u8; 4096] && both[4096..] == [1; 4096], "{n}");
    }
    let info = fourcorners(&dir, &["trace", "info", "r", "--json"]).output().expect("it runs");
    let info: Value = serde_json::from_slice(&info.stdout).expect("JSON");
    let counted = (&info["ios"], &info["writes"], &info["write_bytes"]);
    assert_eq!(counted, (&50.into(), &50.into(), &(50 * 4096).into()), "{info}");
}

#[test]
fn what_was_not_named_is_not_written() {
    let untouched = |dir: &tempfile::TempDir| {
        let held = std::fs::read(dir.path().join("scratch")).expect("it is there");
        held == vec![1; BYTES]
    };
    // Neither named nor only read: nothing is served.
    let dir = scratch();
    let args = ["serve", "./scratch", "--at", "unix:s", "--record", "r"];
    let output = fourcorners(&dir, &args).output().expect("it runs");
    let line = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert!(line.contains("--destroy") && line.contains("--read-only"), "{line}");
    assert!(!dir.path().join("s").exists() && !dir.path().join("r").exists() && untouched(&dir));
    // Only read: a write is refused (EPERM).
    let output = served(&dir, &["--read-only"], |client| {
        assert_eq!(client.write_or_fail(0, 7), 1);
    });
    assert!(output.status.success() && untouched(&dir));
    // Named: it is written.
    let named = ["--destroy", "./scratch"];
    let output = served(&dir, &named, |client| client.write(0, 7));
    assert!(output.status.success() && !untouched(&dir));
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(words.contains("a real drive: clients saw the latencies above"), "{words}");
}

#[test]
fn what_only_a_model_can_is_refused_of_a_real_drive() {
    let dir = scratch();
    for (option, value) in [
        ("--contents", "c"),
        ("--state", "c"),
        ("--time", "x10"),
        ("--door", "0"),
        ("--fault", "dead@n=1"),
        ("--seed", "5"),
        ("--control", "c"),
        ("--set", "trim.supported=false"),
    ] {
        let args = ["serve", "./scratch", "--destroy", "./scratch", option, value];
        let output = fourcorners(&dir, &args).output().expect("it runs");
        let line = String::from_utf8_lossy(&output.stderr);
        let told = format!("{option} is for virtual drives, and ./scratch is a real one");
        assert!(output.status.code() == Some(2) && line.contains(&told), "{option}: {line}");
        assert!(!dir.path().join("c").exists(), "{option}");
    }
}

#[test]
fn a_long_write_is_in_the_images_of_its_own_recording_and_of_no_other() {
    let dir = scratch();
    for (record, data, at) in [("r", "d", 0), ("q", "e", 4096)] {
        let named = ["--destroy", "./scratch", "--record", record, "--record-data", data];
        let output = served(&dir, &named, |client| {
            // Longer than what a drive is handed at once.
            assert_eq!(client.write_bytes(at, &vec![7; 2 << 20]), 0);
        });
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let cut = |data: &str, more: &[&str]| {
        let args = ["crash", "r", "crucial-m4-256gb", "--fault", "honest", "--at", "every 2"];
        let args = [&args[..], &["--data", data], more].concat();
        let output = fourcorners(&dir, &args).output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, told) = cut("d", &["--check", "test -s {}"]);
    assert_eq!((code, told.as_str()), (Some(0), ""));
    for more in [&["--check", "test -s {}"][..], &[]] {
        let (code, told) = cut("e", more);
        assert!(code == Some(2) && told.contains("not of one run"), "{more:?}: {told}");
    }
}

/// What others wrote as clients keeps its bytes on the way, with many requests at once.
#[test]
fn qemu_and_fio_find_on_a_real_drive_what_they_wrote() {
    let dir = scratch();
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    for program in ["qemu-img", "fio"] {
        if !has(program) {
            return fourcorners_testing::skipped(program, format!("there is no {program}"));
        }
    }
    let image: Vec<u8> =
        (0..BYTES as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    std::fs::write(dir.path().join("image"), &image).expect("it can be written");
    let done = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).current_dir(dir.path()).output();
        let output = output.expect("it is there");
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let uri = "nbd+unix:///?socket=s";
    let output = served(&dir, &["--destroy", "./scratch", "--record", "r"], |_| {
        done("qemu-img", &["convert", "-n", "-f", "raw", "-O", "raw", "image", uri]);
        done("qemu-img", &["compare", "-f", "raw", "-F", "raw", "image", uri]);
    });
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let held = std::fs::read(dir.path().join("scratch")).expect("it is there");
    assert!(held == image, "the file has what was copied");
    let output = served(&dir, &["--destroy", "./scratch"], |_| {
        let job = ["--name=v", "--ioengine=nbd", "--uri=nbd+unix:///?socket=s", "--rw=randwrite"];
        let more = ["--bs=4k", "--iodepth=32", "--size=16M", "--verify=crc32c"];
        done("fio", &[&job[..], &more].concat());
    });
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let held = std::fs::read(dir.path().join("scratch")).expect("it is there");
    assert!(held[..16 << 20] != image[..16 << 20] && held[16 << 20..] == image[16 << 20..]);
}
