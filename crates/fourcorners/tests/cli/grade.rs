//! `fourcorners grade`.

use serde_json::Value;

use crate::bench::{folder, refused, run};

fn graded(args: &[&str]) -> String {
    let dir = folder();
    let ran = run(dir.path(), args);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{args:?}");
    ran.stdout
}

#[test]
fn every_verdict_has_its_grade() {
    let args = ["grade", "--noise", "lab", "--only", "7", "--json"];
    let document: Value = serde_json::from_str(&graded(&args)).expect("JSON");
    assert_eq!((&document["noise"], &document["drives"]), (&"lab".into(), &100.into()));
    let verdicts = document["verdicts"].as_array().expect("a list");
    assert_eq!(verdicts.len(), 2);
    for verdict in verdicts {
        let keys = verdict.as_object().expect("an object");
        for key in ["id", "drives", "identifiable", "right", "wrong", "undetermined", "coverage"] {
            assert!(keys.contains_key(key), "{key}: {verdict}");
        }
        assert!(verdict["by_truth"].is_object() && verdict["worst"].is_array(), "{verdict}");
    }
}

#[test]
fn a_hard_disk_that_is_drawn_has_no_verdict_on_flash() {
    let shown = graded(&["grade", "--only", "24"]);
    assert!(shown.contains("On a quiet machine: fourcorners review seagate-momentus"), "{shown}");
    assert!(!shown.contains("trim-works"), "{shown}");
    // A method that it is drawn for may be named, and one that it is not is refused (below).
    graded(&["grade", "--quick", "--only", "1", "--methods", "used-state"]);
}

#[test]
fn findings_are_graded_by_property() {
    let args =
        ["grade", "--findings", "--noise", "lab", "--drives", "40", "--only", "19", "--json"];
    let document: Value = serde_json::from_str(&graded(&args)).expect("JSON");
    assert_eq!(document["noise"], "lab");
    let kind = &document["findings"]["kind"];
    assert_eq!(
        (&kind["drives"], &kind["right"], &kind["wrong"]),
        (&1.into(), &1.into(), &0.into())
    );
    let shown = graded(&["grade", "--findings", "--drives", "40", "--only", "19"]);
    assert!(shown.contains("fourcorners diagnose seagate-momentus"), "{shown}");
    assert!(shown.contains("| none | `page_bytes` | 1 | 0 |"), "{shown}");
}

#[test]
fn slips_are_refused_in_a_line() {
    for (slip, named) in [
        (&["--drives", "0"][..], "from 1 to 1,000,000"),
        (&["--drives", "many"], "give a whole number"),
        (&["--noise", "loud"], "host"),
        (&["--drives", "10", "--only", "10"], "counted from 0"),
        (&["--json", "--markdown"], "--markdown"),
        (&["--findings", "--quick"], "--quick"),
        (
            &["--only", "1", "--methods", "trim-reaches"],
            "drive 1 is drawn for four-corners,used-state",
        ),
    ] {
        let args = [&["grade"], slip].concat();
        let line = refused(folder().path(), &args);
        assert!(line.contains(named), "{args:?}: {line}");
    }
}
