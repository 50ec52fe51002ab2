//! What drives a browser, if it is installed.

use std::path::{Path, PathBuf};

use fourcorners_testing::skipped;

/// Where the scripts are.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser")
}

/// A program of the path by the first of its names.
fn program(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named =
        |folder: PathBuf| names.iter().map(move |name| folder.join(name)).collect::<Vec<_>>();
    std::env::split_paths(&path).flat_map(named).find(|program| program.is_file())
}

/// Node and a browser; none, and a word about it, where something is not installed.
pub(crate) fn node_and_browser() -> Option<(PathBuf, PathBuf)> {
    let Some(node) = program(&["node", "nodejs"]) else {
        skipped("node", "node is not installed");
        return None;
    };
    let Some(browser) = program(&["chromium", "chromium-browser", "google-chrome"]) else {
        skipped("chromium", "chromium is not installed");
        return None;
    };
    for module in ["playwright-core", "axe-core"] {
        if !folder().join("node_modules").join(module).is_dir() {
            let why = "is not there: npm ci --prefix crates/fourcorners/tests/browser";
            skipped(module, format!("{module} {why}"));
            return None;
        }
    }
    Some((node, browser))
}
