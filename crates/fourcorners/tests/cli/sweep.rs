//! `fourcorners sweep` becomes the Python package, or says in a line what is missing.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::bench::{Ran, Started, command, folder};

/// Sweeps with this in place of Python; `none` where it is not made.
fn sweep(script: Option<&str>, args: &[&str]) -> Ran {
    let dir = folder();
    let python = dir.path().join("python");
    if let Some(script) = script {
        fs::write(&python, format!("#!/bin/sh\n{script}\n")).expect("it can be written");
        fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
    let mut sweep = command(dir.path(), &[&["sweep"], args].concat());
    sweep.env("FOURCORNERS_PYTHON", &python);
    sweep.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    Started::of(&mut sweep).finish()
}

#[test]
fn what_is_missing_is_said_with_how_to_have_it() {
    let nothing = sweep(None, &["plan.toml"]);
    assert_eq!(nothing.code, Some(2));
    assert!(nothing.stderr.contains("there is no "), "{nothing:?}");
    let bare = sweep(Some("exit 1"), &["plan.toml"]);
    assert_eq!(bare.code, Some(2));
    assert!(bare.stderr.contains("has no package fourcorners: `pip install"), "{bare:?}");
    for ran in [nothing, bare] {
        assert!(ran.stderr.lines().count() == 1 && ran.stdout.is_empty(), "{ran:?}");
    }
}

#[test]
fn all_that_is_given_is_handed_on_and_so_is_how_it_ended() {
    let says = "[ \"$1\" = -c ] || { printf '%s|' \"$@\"; exit 7; }";
    let ran = sweep(Some(says), &["plan.toml", "--scheduler", "tcp://a:1", "--into", "a folder"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(7), "-m|fourcorners|sweep|--scheduler=tcp://a:1|--output=a folder|--|plan.toml|")
    );
    let ran = sweep(Some(says), &["plan.toml", "-o", "a", "--json"]);
    assert_eq!(ran.stdout, "-m|fourcorners|sweep|--output=a|--json|--|plan.toml|");
    let ran = sweep(Some(says), &["--workers", "2", "plan.toml"]);
    assert_eq!(ran.stdout, "-m|fourcorners|sweep|--workers=2|--|plan.toml|");
}
