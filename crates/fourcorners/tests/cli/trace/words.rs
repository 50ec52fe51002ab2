//! Numbers, sizes and what is lost, as `fourcorners trace` tells them.

use std::fs;

use crate::bench::{M4, folder, refused, run};

#[test]
fn a_number_of_hundreds_of_digits_is_told_as_it_was_typed() {
    let dir = folder();
    fs::write(dir.path().join("t.csv"), "time_s,op,sector,sectors\n0,r,0,8\n").expect("written");
    for (args, told) in [
        (
            &["info", "t.csv", "--from", "1e300"][..],
            "--from 1e300: give seconds from 0 to 2305843009 (73 years)",
        ),
        (&["info", "t.csv", "--to", "1e300"], "--to 1e300: give"),
        (&["info", "t.csv", "--from=-1e-300"], "--from -1e-300: give"),
        (&["info", "t.csv", "--time-scale", "1e300"], "--time-scale 1e300: give"),
        (&["replay", "t.csv", M4, "--idle-cap", "1e300"], "--idle-cap 1e300: give"),
        (&["record", "/dev/null", "-o", "x", "--seconds", "1e300"], "--seconds 1e300: give"),
        // What is short stays as it is.
        (&["info", "t.csv", "--from", "-1.5"], "--from -1.5: give"),
        (
            &["info", "t.csv", "--from", "20", "--to", "0.5"],
            "--from 20 --to 0.5: this range is empty",
        ),
    ] {
        let line = refused(dir.path(), &[&["trace"], args].concat());
        assert!(line.contains(told), "{args:?}: {line}");
    }
}

#[test]
fn sizes_have_their_bounds_and_one_is_singular() {
    let dir = folder();
    let card = |length: u64, more: u64| {
        let text = format!("time_s,op,offset_bytes,length_bytes\n0,w,0,{length}\n1,t,0,{more}\n");
        fs::write(dir.path().join("t.csv"), text).expect("it can be written");
        let ran = run(dir.path(), &["trace", "info", "t.csv"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.stdout
    };
    let large = card(2_000_000_000_000, 2);
    assert!(large.contains("> 16 MiB") && !large.contains("> 0"), "{large}");
    assert!(large.contains("2 bytes"), "{large}");
    let small = card(1, 1);
    assert!(small.contains("≤ 512 bytes") && !small.contains("> "), "{small}");
    assert!(small.contains("1 byte") && !small.contains("1 bytes"), "{small}");
}

#[test]
fn text_about_a_trace_is_kept_or_told_as_lost() {
    const TEXT: &[u8] = b"from a test";
    let dir = folder();
    let csv = "time_s,op,offset_bytes,length_bytes\n0,r,0,4096\n";
    fs::write(dir.path().join("t.csv"), csv).expect("it can be written");
    let lost = |from: &str, to: &str, form: &str| {
        let ran = run(dir.path(), &["trace", "convert", from, "-o", to, "--as", form, "--json"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let told: serde_json::Value = serde_json::from_str(&ran.stdout).expect("one document");
        (told["lost"].to_string(), ran.stderr)
    };
    assert_eq!(lost("t.csv", "t.fct", "compact").0, "[]");
    // A block of text as docs/TRACES.md has it: length, no I/Os, CRC-32, what it is.
    let mut bytes = fs::read(dir.path().join("t.fct")).expect("it was written");
    let mut block: Vec<u8> = Vec::new();
    for word in [TEXT.len() as u32, 0, 0x61d5_9a51, 1] {
        block.extend(word.to_le_bytes());
    }
    block.extend(TEXT);
    bytes.splice(16..16, block);
    fs::write(dir.path().join("told.fct"), &bytes).expect("it can be written");
    assert_eq!(lost("told.fct", "again.fct", "compact").0, "[]");
    assert_eq!(fs::read(dir.path().join("again.fct")).expect("it was written"), bytes);
    let (words, stderr) = lost("told.fct", "told.csv", "csv");
    assert_eq!(words, "[\"text about the trace\"]");
    assert!(stderr.contains("csv has no place for text about the trace: left out"), "{stderr}");
    assert_eq!(lost("t.fct", "plain.csv", "csv").0, "[]");
}

#[test]
fn a_depth_that_is_not_known_is_said_to_be_of_reads_and_writes_where_others_tell() {
    let dir = folder();
    let text = "time_us,op,offset_bytes,length_bytes,duration_us\n0,f,,,60\n9,r,0,512,\n";
    fs::write(dir.path().join("t.csv"), text).expect("it can be written");
    let depth = |ops: &str| {
        let ran = run(dir.path(), &["trace", "info", "t.csv", "--ops", ops]);
        let line = ran.stdout.lines().find(|line| line.starts_with("queue depth  "));
        line.unwrap_or_else(|| panic!("{ran:?}")).trim_end().to_string()
    };
    assert!(depth("flush").contains("no durations of reads or writes"));
    assert!(depth("read").ends_with("not known: no durations"));
}

#[test]
fn the_name_of_a_new_trace_does_not_steer_the_terminal() {
    let dir = folder();
    fs::write(dir.path().join("t.csv"), "time_s,op,sector,sectors\n0,r,0,8\n").expect("written");
    let written = |name: &str| {
        let ran = run(dir.path(), &["trace", "convert", "t.csv", "-o", name]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.stdout
    };
    assert_eq!(written("e\u{1b}[31m"), "e\u{fffd}[31m: 1 I/O as compact\n");
    assert_eq!(written("plain"), "plain: 1 I/O as compact\n");
}
