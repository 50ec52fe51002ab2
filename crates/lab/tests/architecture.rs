//! The rules of ARCHITECTURE.md that a compiler does not keep: which module may know which, and
//! that the virtual drives have no way to the operating system.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every Rust file below `folder`, with its text.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a source folder") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("UTF-8");
            found.push((path, text));
        }
    }
    found
}

/// The code of a file without its comments and what follows its unit tests.
fn code(text: &str) -> String {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    code.lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

/// The modules of the lab that a file names, as `crate::NAME`.
fn modules_named(text: &str) -> BTreeSet<String> {
    code(text)
        .split("crate::")
        .skip(1)
        .map(|rest| rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect())
        .collect()
}

/// What each module of the lab may name; the order is bottom up.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("histogram", &[]),
    ("cpu", &[]),
    ("huge_pages", &[]),
    ("file_system", &[]),
    ("arrival", &[]),
    ("paced", &["histogram"]),
    ("look_ahead", &["arrival"]),
    ("workload", &["arrival"]),
    ("trim", &[]),
    ("record", &["histogram", "trace", "workload"]),
    ("host", &["record"]),
    ("measured", &["histogram", "paced", "record"]),
    ("observer", &["measured"]),
    ("run", &["arrival", "histogram", "look_ahead", "measured", "observer", "paced", "workload"]),
    ("verify", &["histogram", "observer"]),
    ("streams", &["histogram", "run", "verify"]),
    ("jobfile", &["host", "run", "slip", "streams", "trace", "verify"]),
    ("fio_output", &["histogram", "jobfile", "overhead", "record", "save", "streams", "verify"]),
    ("catalogue", &[]),
    ("uring", &["file_system", "verify"]),
    ("guard", &["file_system"]),
    ("fio", &["record", "workload"]),
    ("verdict", &["record"]),
    ("event", &[]),
    ("save", &[]),
    ("size", &[]),
    ("slip", &[]),
    ("workers", &[]),
    ("real_tasks", &["file_system"]),
    ("state", &["catalogue", "save"]),
    ("trace", &["histogram"]),
    ("validate", &["catalogue", "run", "workers", "workload"]),
    ("compare", &["record", "workload"]),
    ("report", &["compare", "record", "save", "workload"]),
    ("store", &["record", "report"]),
    ("overhead", &["run", "uring", "workload"]),
    ("bench", &["catalogue", "cpu", "run", "workload"]),
    ("drive", &["arrival", "catalogue", "cpu", "run", "streams", "trim", "uring", "workload"]),
    ("replay", &["arrival", "drive", "observer", "paced", "record", "run", "trace", "workload"]),
    (
        "review",
        &[
            "device", "drive", "fio", "observer", "overhead", "record", "replay", "run", "size",
            "slip", "trace", "trim", "verdict", "workload",
        ],
    ),
    ("device", &["guard", "record", "verdict"]),
    ("side_by_side", &["catalogue", "drive", "host", "record", "review", "workers"]),
    ("doctor", &["guard", "host", "uring"]),
    ("web", &["catalogue", "event", "record", "report", "review", "store"]),
    (
        "cli",
        &[
            "bench",
            "catalogue",
            "compare",
            "cpu",
            "device",
            "doctor",
            "drive",
            "event",
            "fio_output",
            "guard",
            "host",
            "jobfile",
            "overhead",
            "real_tasks",
            "record",
            "replay",
            "report",
            "review",
            "run",
            "save",
            "side_by_side",
            "size",
            "state",
            "store",
            "trace",
            "streams",
            "uring",
            "validate",
            "web",
            "workers",
            "workload",
        ],
    ),
];

#[test]
fn arrows_point_down_only() {
    let lab = root().join("crates/lab/src");
    for (path, text) in sources(&lab) {
        let inside = path.strip_prefix(&lab).expect("below the lab");
        let first = inside.iter().next().and_then(|name| name.to_str()).expect("a name");
        let module = first.trim_end_matches(".rs");
        if module == "lib" || module == "main" {
            continue;
        }
        let (_, allowed) = MAY_NAME
            .iter()
            .find(|(name, _)| *name == module)
            .unwrap_or_else(|| panic!("{module} is a new module: give it its place in this list"));
        for named in modules_named(&text) {
            assert!(
                named == module || allowed.contains(&named.as_str()),
                "{} names crate::{named}, which {module} may not know",
                inside.display()
            );
        }
    }
}

#[test]
fn virtual_drives_have_no_way_to_the_operating_system() {
    let drive = root().join("crates/drive");
    let manifest = fs::read_to_string(drive.join("Cargo.toml")).expect("a manifest");
    let dependencies = manifest.split("[dependencies]").nth(1).expect("a list of dependencies");
    let dependencies = dependencies.split("\n[").next().unwrap_or_default();
    let names: Vec<&str> = dependencies
        .lines()
        .filter_map(|line| line.split(['.', '=', ' ']).next())
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .collect();
    assert_eq!(names, ["serde", "thiserror"], "each new one must be as pure as these");

    for (path, text) in sources(&drive.join("src")) {
        for way_out in [
            "std::time",
            "std::fs",
            "std::io",
            "std::env",
            "std::net",
            "std::process",
            "std::thread",
            "std::os",
            "std::sync",
            "Instant",
            "SystemTime",
            "HashMap",
            "HashSet",
            "unsafe",
        ] {
            // Hash maps are in the list because their order differs from run to run. A prefetch
            // is no way out: it changes nothing that a program can see.
            let is_prefetch = way_out == "unsafe" && path.ends_with("prefetch.rs");
            let found = code(&text)
                .lines()
                .any(|line| line.contains(way_out) && !line.contains("deny(unsafe_code)"));
            assert!(!found || is_prefetch, "{} uses {way_out}", path.display());
        }
    }
}

#[test]
fn only_the_io_uring_target_and_the_allocator_are_unsafe() {
    for (path, text) in sources(&root().join("crates/lab/src")) {
        let may_be = ["uring", "huge_pages.rs", "kernel.rs"];
        let may_be =
            path.components().any(|part| may_be.iter().any(|name| part.as_os_str() == *name));
        assert!(may_be || !code(&text).contains("unsafe "), "{} is unsafe", path.display());
    }
}

#[test]
fn no_file_is_a_house_of_its_own() {
    // 500 lines is where a second concept should be suspected; 650 is where it has moved in.
    for folder in ["crates/drive/src", "crates/lab/src"] {
        for (path, text) in sources(&root().join(folder)) {
            let lines = text.lines().count();
            assert!(lines <= 650, "{} has {lines} lines: which concept moved in?", path.display());
        }
    }
}
