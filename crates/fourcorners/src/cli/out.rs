//! Where the results of a review go: a folder with `review.html` and `review.json`.

use std::path::{Path, PathBuf};

use fourcorners_lab::campaign::{ResultsFolder, SaveError};
use fourcorners_lab::device_under_test::DeviceUnderTest;
use fourcorners_record::Document;
use fourcorners_report::{self as report, References};

use super::review::args::ReviewArgs;

/// The folder of default folders.
pub(super) const RESULTS: &str = "fourcorners-results";
/// Most characters of a target's name in a folder's name: a file name has 255 bytes.
const MOST_NAME: usize = 60;
const PAGE: &str = "review.html";
/// What is in it.
pub(super) const FILES: [&str; 2] = [ResultsFolder::DOCUMENT, PAGE];

/// Makes the folder, so that a place that cannot be written is known before hours of work; none where the
/// results are only printed. By default every review has a folder of its own: an earlier one of a real drive
/// cannot be had again.
pub(super) fn open(
    args: &ReviewArgs,
    targets: &[DeviceUnderTest],
) -> Result<Option<ResultsFolder>, String> {
    let wanted = args.resume.as_ref().or(args.output.as_ref());
    let folders = args.results.as_deref().unwrap_or(Path::new(RESULTS));
    let made = match wanted {
        Some(folder) => ResultsFolder::at(folder, &[PAGE]),
        None if args.json => return Ok(None),
        None => ResultsFolder::new_in(folders, &default_name(targets), &[PAGE]),
    };
    made.map(|made| Some(made.replacing(args.overwrite))).map_err(|error| {
        format!(
            "cannot write into {}: {error}; choose another --output",
            wanted.map_or(folders, PathBuf::as_path).display()
        )
    })
}

/// The page, once it is saved.
pub(super) fn page(results: &ResultsFolder) -> PathBuf {
    results.path().join(PAGE)
}

/// Saves the page, if anything is kept.
pub(super) fn save_page(
    results: Option<&ResultsFolder>,
    document: &Document,
    references: &References,
) -> Result<(), SaveError> {
    match results {
        Some(results) => results.save(PAGE, report::page_among(document, references).as_bytes()),
        None => Ok(()),
    }
}

/// Makes a folder and those above it, and tries to write into it; `what` is what else to choose.
pub(super) fn make_writable(folder: &Path, what: &str) -> Result<(), String> {
    let made = std::fs::create_dir_all(folder);
    made.and_then(|()| tempfile::tempfile_in(folder).map(drop)).map_err(|error| {
        format!("cannot write into {}: {error}; choose another {what}", folder.display())
    })
}

/// When, and of what.
fn default_name(targets: &[DeviceUnderTest]) -> String {
    let time = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
    let first = targets.first().map(DeviceUnderTest::name).unwrap_or_default();
    let plain: String = first
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' })
        .collect();
    // The end of a long path tells more than its beginning.
    let name = &plain[plain.len().saturating_sub(MOST_NAME)..];
    let name = name.trim_matches(['-', '.']);
    let more = match targets.len() {
        0 | 1 => String::new(),
        count => format!("-and-{}-more", count - 1),
    };
    format!("{time}-{name}{more}")
}
