//! A trace with no I/Os left: the message says why, and nothing is written.

use std::fs;

use crate::bench::{M4, folder, refused, run};

const NAMES: &str = "time_s,op,offset_bytes,length_bytes\n";

#[test]
fn it_says_how_many_records_could_not_be_read_and_why_the_first_could_not() {
    let dir = folder();
    let write = |name: &str, lines: &str| {
        fs::write(dir.path().join(name), format!("{NAMES}{lines}")).expect("it can be written");
    };
    write("bad.csv", "0,x,0,8\n1,y,0,8\n2,z,0,8\n");
    write("one.csv", "0,x,0,8\n");
    write("some.csv", "0,x,0,8\n1,r,0,4096\n");
    write("none.csv", "");
    let first = "; the first: CSV, line 2: the op is \"x\"";
    let three = format!(
        "bad.csv: 3 records could not be read and were left out, and no I/O is left{first}"
    );
    let one =
        format!("one.csv: 1 record could not be read and was left out, and no I/O is left{first}");
    let some = format!(
        "some.csv: 1 record could not be read and was left out, and of its I/Os none is left by --ops and --device{first}"
    );
    let skip = &["--skip-bad"][..];
    for (name, more, told) in [
        ("bad.csv", skip, &*three),
        ("one.csv", skip, &one),
        ("some.csv", &["--skip-bad", "--ops", "write", "--device", "0"], &some),
        (
            "some.csv",
            &["--skip-bad", "--from", "9"],
            "of its I/Os none is left by --from; the first",
        ),
        ("none.csv", skip, "none.csv: there is no I/O in it"),
        ("none.csv", &[], "none.csv: there is no I/O in it"),
    ] {
        let commands: [&[&str]; 5] = [
            &["trace", "info", name],
            &["trace", "convert", name, "-o", "x.csv", "--as", "csv"],
            &["trace", "convert", name, "-o", "-", "--as", "csv"],
            &["trace", "replay", name, M4],
            &["trace", "replay", name, "all", "--capacity", "60-70GB"],
        ];
        for command in commands {
            // That nothing is on standard output is seen to as well.
            let line = refused(dir.path(), &[command, more].concat());
            assert!(line.contains(told), "{command:?}: {line}");
        }
        assert!(!dir.path().join("x.csv").exists(), "nothing is left half written");
    }
    let whole = ["trace", "convert", "some.csv", "-o", "-", "--as", "csv", "--skip-bad"];
    let ran = run(dir.path(), &whole);
    assert_eq!((ran.code, ran.stdout.lines().count()), (Some(0), 2), "{ran:?}");
}

#[test]
fn another_version_of_the_compact_form_is_not_skipped() {
    let dir = folder();
    fs::write(dir.path().join("t.csv"), format!("{NAMES}0,r,0,4096\n")).expect("written");
    let made = run(dir.path(), &["trace", "convert", "t.csv", "-o", "t.fct"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let info = ["trace", "info", "t.fct", "--skip-bad"];
    assert_eq!(run(dir.path(), &info).code, Some(0));
    let mut bytes = fs::read(dir.path().join("t.fct")).expect("it was written");
    bytes[12] = 9;
    fs::write(dir.path().join("t.fct"), bytes).expect("it can be written");
    let ran = run(dir.path(), &info);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert!(
        ran.stderr.contains("t.fct: fourcorners compact, byte 0: it is of version 9"),
        "{ran:?}"
    );
}
