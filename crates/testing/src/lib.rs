//! Tests that cannot be run on this machine: they say so and pass, except in CI, where they fail unless
//! `.ci/absent` says that the feature they need is absent there, and why.
//!
//! A test that needs a tool, root or a part of the kernel ends with [`skipped`]. With `CI` set in the
//! environment nothing passes by accident: a package that was not installed is a failure.

#![forbid(unsafe_code)]

use std::fmt::Display;
use std::path::Path;

/// Says that the rest of a test is left out because the machine does not have `feature`, and why.
///
/// # Panics
/// With `CI` set in the environment, if `.ci/absent` does not list the feature with a reason.
#[track_caller]
pub fn skipped(feature: &str, why: impl Display) {
    println!("skipped: {why}");
    let in_ci = std::env::var_os("CI").is_some_and(|it| !it.is_empty() && it != "false");
    if in_ci && let Err(wrong) = may_be_skipped(feature, &absent()) {
        panic!("{wrong}; without it: {why}");
    }
}

/// What `.ci/absent` says.
fn absent() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.ci/absent");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Whether a list of `feature: reason`, one a line, has this feature. What follows a `#` is a comment.
fn may_be_skipped(feature: &str, absent: &str) -> Result<(), String> {
    let lines = absent.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let named = lines.map(|line| line.split_once(':').unwrap_or((line, "")));
    let listed = named.into_iter().find(|(name, _)| *name == feature);
    match listed {
        Some((_, reason)) if !reason.trim().is_empty() => Ok(()),
        Some(_) => Err(format!("{feature} is listed in .ci/absent without a reason")),
        None => Err(format!("this test needs {feature}, which .ci/absent does not list")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_listed_with_a_reason_may_be_skipped() {
        let absent = "# kernel\nzram: not in this kernel   # since 6.1\nswap\nblktrace:  \n";
        assert_eq!(may_be_skipped("zram", absent), Ok(()));
        for (feature, wrong) in [
            ("fio", "needs fio, which .ci/absent does not list"),
            ("zra", "does not list"),
            ("kernel", "does not list"),
            ("swap", "swap is listed in .ci/absent without a reason"),
            ("blktrace", "without a reason"),
        ] {
            let error = may_be_skipped(feature, absent).expect_err(feature);
            assert!(error.contains(wrong), "{error}");
        }
    }

    #[test]
    fn each_line_of_the_list_is_a_feature_with_a_reason() {
        for line in absent().lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
            let Some(feature) = line.split(':').next().filter(|it| !it.is_empty()) else {
                continue;
            };
            assert_eq!(may_be_skipped(feature, &absent()), Ok(()), "{line}");
        }
    }
}
