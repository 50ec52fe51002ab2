//! A skipped test as a test runner sees it, with `CI` set and without.

use std::process::Command;

use fourcorners_testing::skipped;

/// Not a test of its own: run by the one below.
#[test]
#[ignore = "is skipped, which fails in CI"]
fn of_a_feature_that_nobody_lists() {
    skipped("a-feature-that-nobody-lists", "it is not there");
}

#[test]
fn passes_at_home_and_fails_in_ci() {
    let passes = |ci: Option<&str>| {
        let mut runner = Command::new(std::env::current_exe().expect("this program"));
        runner.args(["--ignored", "--exact", "of_a_feature_that_nobody_lists"]).env_remove("CI");
        ci.iter().for_each(|ci| {
            runner.env("CI", ci);
        });
        let output = runner.output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("running 1 test"), "{text}");
        (output.status.success(), text)
    };
    for home in [None, Some(""), Some("false")] {
        assert!(passes(home).0, "{home:?}");
    }
    for ci in ["1", "true"] {
        let (passed, text) = passes(Some(ci));
        assert!(!passed, "{text}");
        let wrong = "this test needs a-feature-that-nobody-lists, which .ci/absent does not list; without it: \
                     it is not there";
        assert!(text.contains(wrong), "{text}");
    }
}
