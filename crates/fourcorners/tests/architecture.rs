//! The rules of ARCHITECTURE.md that no compiler keeps. Which crate may use which is in their
//! manifests, and `unsafe` is forbidden where there is none; both need no test.
//!
//! A rule is a function that lists what breaks it. Each is held against the tree, and against a
//! planted violation that it has to find.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "architecture/imports.rs"]
mod imports;

use imports::Module;

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
    names.filter(|name| !["libm", "serde", "thiserror"].contains(name)).map(String::from).collect()
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

/// The most files that take names from each other in a circle: these few can be read together.
const MOST_IN_A_CIRCLE: usize = 4;

/// Circles of a source folder with too many files, by the crate's name, its first file and their number.
fn large_circles(folder: &Path, sources: &[(PathBuf, String)]) -> Vec<(String, usize)> {
    let circles = imports::circles(&imports::arrows(folder, sources));
    let large = circles.into_iter().filter(|circle| circle.len() > MOST_IN_A_CIRCLE);
    large.map(|circle: Vec<Module>| (circle[0].join("::"), circle.len())).collect()
}

#[test]
fn no_circle_of_imports_has_more_files_than_can_be_read_together() {
    for folder in source_folders() {
        assert_eq!(large_circles(&folder, &sources(&folder)), [], "{}", folder.display());
    }
}

#[test]
fn a_circle_is_found_through_uses_paths_and_names_that_are_handed_on() {
    let circle = |texts: &[(&str, &str)]| {
        let sources: Vec<(PathBuf, String)> = texts
            .iter()
            .map(|(file, text)| (Path::new("src").join(file), (*text).into()))
            .collect();
        imports::circles(&imports::arrows(Path::new("src"), &sources))
    };
    let module = |name: &str| -> Module { name.split("::").map(String::from).collect() };
    let planted = [
        ("lib.rs", "mod a;\nmod b;\nmod c;\npub use c::Thing;\n"),
        ("a.rs", "use crate::{\n    b::{One as First, Two},\n};\n"),
        ("b.rs", "fn b() { super::Thing::new(); }\n"),
        ("c/mod.rs", "mod d;\npub(super) use d::Thing;\n"),
        ("c/d.rs", "use super::super::a::A;\n"),
    ];
    assert_eq!(circle(&planted), [vec![module("a"), module("b"), module("c::d")]]);
    // Not a comment, a text, a unit test, or who may see an item.
    let apart = [
        ("lib.rs", "mod a;\nmod b;\n"),
        ("a.rs", "use crate::b::B;\n"),
        (
            "b.rs",
            "// crate::a::A\npub(in crate::a) fn b() { \"crate::a::A\"; }\n\
             #[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n",
        ),
    ];
    assert!(circle(&apart).is_empty());
}

/// Lines that say themselves that a test is skipped, and so pass in CI.
fn skipped_by_itself(path: &Path, text: &str) -> Vec<Violation> {
    let said = |(_, code): &(usize, &str)| code.contains(concat!("println!(\"skip", "ped"));
    let found = code(text).filter(said);
    found.map(|(line, _)| format!("{}:{line} skips by itself", path.display())).collect()
}

#[test]
fn tests_are_skipped_in_one_way() {
    for folder in source_folders() {
        let tests = folder.with_file_name("tests");
        let of_tests = if tests.is_dir() { sources(&tests) } else { Vec::new() };
        for (path, text) in sources(&folder).into_iter().chain(of_tests) {
            if !path.ends_with("testing/src/lib.rs") {
                assert_eq!(skipped_by_itself(&path, &text), [""; 0]);
            }
        }
    }
    let planted = concat!("return println!(\"skip", "ped: no fio\");\n// println!\n");
    assert_eq!(skipped_by_itself(Path::new("a.rs"), planted), ["a.rs:1 skips by itself"]);
}

/// Packages that a lock file has and may not have.
fn locked(lock: &str, unwanted: &[&str]) -> Vec<Violation> {
    let names = lock.lines().filter_map(|line| line.strip_prefix("name = \""));
    let names = names.map(|name| name.trim_end_matches('"'));
    names.filter(|name| unwanted.contains(name)).map(String::from).collect()
}

/// What the command needs and a binding does not: arguments, a terminal, a server, pictures. Pages it gives (`to_html`).
const OF_THE_COMMAND: [&str; 5] = ["axum", "tokio", "clap", "indicatif", "resvg"];

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

/// What only a model tells. A detector that asks it finds nothing on a real drive.
const TOLD_BY_A_MODEL: [&str; 4] = ["SsdCounters", "Profile", "Ssd", "energy_j"];

fn asks_the_model(path: &Path, text: &str) -> Vec<Violation> {
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let found = code(text).filter_map(|(line, code)| {
        let mut words = code.split(|character| !is_word(character));
        let told = words.find(|word| TOLD_BY_A_MODEL.contains(word))?;
        Some(format!("{}:{line} names {told}", path.display()))
    });
    found.collect()
}

#[test]
fn detectors_see_times_and_nothing_else() {
    let detectors = sources(&root().join("crates/lab/src/diagnose"));
    assert!(detectors.len() > 5, "the detectors are looked for where they are");
    for (path, text) in detectors {
        assert_eq!(asks_the_model(&path, &text), [""; 0]);
    }
    let planted =
        "// An Ssd is not named here.\nfn pages(ssd: &Ssd) -> u64 { ssd.energy_j() as u64 }\n";
    assert_eq!(asks_the_model(Path::new("a.rs"), planted), ["a.rs:2 names Ssd"]);
    assert_eq!(asks_the_model(Path::new("a.rs"), "let it = SsdLike::new();"), [""; 0]);
}
