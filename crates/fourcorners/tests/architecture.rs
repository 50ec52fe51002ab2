//! The rules of ARCHITECTURE.md that no compiler keeps. Which crate may use which is in their
//! manifests, and `unsafe` is forbidden where there is none; both need no test.
//!
//! A rule is a function that lists what breaks it. Each is held against the tree, and against a
//! planted violation that it has to find.

use std::fs;
use std::path::{Path, PathBuf};

/// A line that breaks a rule, with its file.
type Violation = String;

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

/// The source folder of every crate.
fn source_folders() -> Vec<PathBuf> {
    let crates = fs::read_dir(root().join("crates")).expect("the crates");
    let folders: Vec<PathBuf> =
        crates.map(|entry| entry.expect("a readable entry").path().join("src")).collect();
    assert!(folders.len() > 10, "the crates are looked for where they are");
    folders
}

/// A file line by line, without comments; unit tests are code like any other.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let without = |line| str::split(line, "//").next().unwrap_or_default();
    text.lines().map(without).enumerate().map(|(index, line)| (index + 1, line))
}

/// Ways out of a model: to the operating system, to the time of day, to an order that differs from
/// run to run.
const WAYS_OUT: [&str; 13] = [
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
];

fn ways_out(path: &Path, text: &str) -> Vec<Violation> {
    let found = code(text).filter_map(|(line, code)| {
        let way = WAYS_OUT.iter().find(|way| code.contains(**way))?;
        Some(format!("{}:{line} uses {way}", path.display()))
    });
    found.collect()
}

/// Crates that a manifest's `[dependencies]` name besides those that are as pure as a model.
fn impure_dependencies(manifest: &str) -> Vec<Violation> {
    let section = manifest.split("\n[dependencies]").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    let names = section.lines().filter_map(|line| line.split(['.', '=', ' ']).next());
    let names = names.filter(|name| !name.is_empty() && !name.starts_with('#'));
    names.filter(|name| !["serde", "thiserror"].contains(name)).map(String::from).collect()
}

#[test]
fn virtual_drives_have_no_way_to_the_operating_system() {
    let drive = root().join("crates/drive");
    let manifest = fs::read_to_string(drive.join("Cargo.toml")).expect("a manifest");
    assert_eq!(impure_dependencies(&manifest), [""; 0]);
    for (path, text) in sources(&drive.join("src")) {
        assert_eq!(ways_out(&path, &text), [""; 0]);
    }
}

#[test]
fn a_way_out_is_found_also_after_unit_tests_and_a_name_in_a_comment_is_none() {
    let planted = "fn pure() {}\n\
                   #[cfg(test)]\nmod tests {}\n\
                   // std::time is not used here.\n\
                   fn now() -> std::time::Instant { std::time::Instant::now() }\n";
    assert_eq!(ways_out(Path::new("a.rs"), planted), ["a.rs:5 uses std::time"]);
    assert_eq!(ways_out(Path::new("a.rs"), "use std::collections::HashMap;").len(), 1);
    let manifest =
        "[package]\nname = \"x\"\n\n[dependencies]\nserde.workspace = true\nrustix = \"1\"\n";
    assert_eq!(impure_dependencies(manifest), ["rustix"]);
}

/// The most lines of a file. At 500 a second concept should be suspected; here it has moved in.
const MOST_LINES: usize = 650;

fn too_long(path: &Path, text: &str) -> Option<Violation> {
    let lines = text.lines().count();
    (lines > MOST_LINES)
        .then(|| format!("{} has {lines} lines: which concept moved in?", path.display()))
}

#[test]
fn no_file_is_a_house_of_its_own() {
    for (path, text) in source_folders().iter().flat_map(|folder| sources(folder)) {
        assert_eq!(too_long(&path, &text), None);
    }
}

#[test]
fn a_file_with_a_line_too_many_is_found() {
    let path = Path::new("a.rs");
    assert_eq!(too_long(path, &"\n".repeat(MOST_LINES)), None);
    assert!(too_long(path, &"\n".repeat(MOST_LINES + 1)).is_some());
}

/// Packages that a lock file has and may not have.
fn locked(lock: &str, unwanted: &[&str]) -> Vec<Violation> {
    let names = lock.lines().filter_map(|line| line.strip_prefix("name = \""));
    let names = names.map(|name| name.trim_end_matches('"'));
    names.filter(|name| unwanted.contains(name)).map(String::from).collect()
}

/// What the command needs and a binding does not: arguments, a terminal, a server, pages.
const OF_THE_COMMAND: [&str; 7] =
    ["axum", "tokio", "clap", "indicatif", "plotly", "resvg", "fourcorners-report"];

#[test]
fn the_bindings_take_no_more_than_they_bind() {
    let lock = fs::read_to_string(root().join("python/Cargo.lock")).expect("a lock file");
    assert_eq!(locked(&lock, &OF_THE_COMMAND), [""; 0]);
    assert!(!locked(&lock, &["fourcorners-lab"]).is_empty(), "it is the lock file of the bindings");
}

#[test]
fn a_package_too_many_is_found() {
    let planted = "[[package]]\nname = \"serde\"\n\n[[package]]\nname = \"axum\"\n";
    assert_eq!(locked(planted, &OF_THE_COMMAND), ["axum"]);
}
