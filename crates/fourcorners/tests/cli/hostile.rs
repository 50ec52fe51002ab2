//! Argument vectors that nobody would type, or that a script with an empty variable would.

use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::bench::{HDD, M4, folder, listing, run};

/// Words of which none names a real device: nothing here may touch one.
const WORDS: &[&str] = &[
    "review",
    "drives",
    "help",
    "--json",
    "--quick",
    "--help",
    "--version",
    "-h",
    "-V",
    "--",
    "-",
    "",
    " ",
    "--methods",
    "four-corners",
    "toms",
    "all",
    ",",
    "--seed",
    "0",
    "-1",
    "1e9",
    "99999999999999999999999999",
    "18446744073709551615",
    "--spare",
    "NaN",
    "-inf",
    "90",
    "90.0001",
    "--set",
    "--set=",
    "=",
    "==",
    "a.b=c=d",
    "link.gbps",
    "link.gbps=",
    "link.gbps=3",
    "link.gbps=0",
    "link.gbps=NaN",
    "nand.dies=-1",
    "nand.dies=0",
    "ncq.depth=0",
    "capacity.sectors=1",
    "capacity.sectors=18446744073709551615",
    ".=.",
    "\u{1b}[2J",
    "a\nb",
    "\r",
    "\t",
    "'",
    "\"",
    "`id`",
    "$(id)",
    "; rm -rf .",
    "ünï©ødé",
    "\u{202e}drives",
    "🦀",
    "💾.toml",
    "../../../..",
    "x.toml",
    ".toml",
    "no/such.toml",
    "\\",
    "%s%n",
    "--host",
    "marvell-9128",
    "--hosts",
    "--size",
    "64Q",
    "--destroy",
    "--force",
    "--unknown",
    "-j",
    "--json=yes",
    "--seed=",
    "--out=/proc/nowhere",
];

/// A virtual drive with a setting that is refused: whatever stands beside it, nothing long runs.
const NONSENSE: &[&str] = &["--set", "nonsense=1"];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(WORDS).prop_map(str::to_owned),
        2 => prop::sample::select(&[M4, HDD][..]).prop_map(str::to_owned),
        1 => "[^\0/]{0,12}",
        1 => Just("x".repeat(100_000)),
    ]
}

/// Ends well, or with a message and the code for it.
fn is_answered(dir: &Path, args: &[String]) -> Result<(), TestCaseError> {
    let ran = run(dir, args);
    prop_assert!(matches!(ran.code, Some(0..=2)), "{:?}", ran);
    prop_assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    prop_assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{:?}", ran);
    if ran.code != Some(0) {
        prop_assert_eq!(ran.stdout.as_str(), "");
        prop_assert!(!ran.stderr.is_empty());
    }
    Ok(())
}

#[test]
fn no_argument_makes_it_panic() {
    let dir = folder();
    let mut runner = TestRunner::new(Config { cases: 200, ..Config::default() });
    let cases = (prop::collection::vec(word(), 0..8), 0..4u8);
    let result = runner.run(&cases, |(mut args, begin)| {
        // Half of them get past the command's name.
        match begin {
            0 => args.splice(0..0, ["drives".into()]).for_each(drop),
            1 | 2 => {
                let begin = ["review", M4].iter().chain(NONSENSE).map(|&word| word.to_owned());
                args.splice(0..0, begin.collect::<Vec<_>>()).for_each(drop);
            }
            _ => {
                args.retain(|word| word != "review");
            }
        }
        is_answered(dir.path(), &args)
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    assert!(listing(dir.path()).is_empty());
}

#[test]
fn every_odd_setting_is_refused_or_makes_a_drive() {
    let dir = folder();
    let values = ["0", "-1", "1", "2", "3", "0.5", "4096", "65536", "1e18", "1e-18", "NaN", "inf"];
    let keys = |drive: &str| -> Vec<String> {
        let listed = run(dir.path(), &["drives", drive, "--json"]).stdout;
        let listed: serde_json::Value = serde_json::from_str(&listed).expect("JSON");
        let values = listed["values"].as_array().expect("a list");
        values.iter().map(|value| value["key"].as_str().expect("text").to_owned()).collect()
    };
    for drive in [M4, HDD] {
        for (number, key) in keys(drive).iter().enumerate() {
            // A few values for each key; together they meet all of them.
            for value in (0..3).map(|n| values[(number * 3 + n * 5) % values.len()]) {
                let args = ["drives".to_owned(), drive.to_owned()];
                is_answered(dir.path(), &args).unwrap_or_else(|error| panic!("{error}"));
                // The second setting is refused after the first was applied and before any run.
                let set = format!("{key}={value}");
                let args = ["review", drive, "--set", &set, "--set", "nonsense=1"];
                is_answered(dir.path(), &args.map(str::to_owned))
                    .unwrap_or_else(|error| panic!("{set}: {error}"));
            }
        }
    }
}
