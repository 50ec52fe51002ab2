//! The page as a person uses it: every button does what it says, by mouse and by keyboard, in light and
//! dark, on a phone and on paper, and axe finds nothing serious.
//!
//! Playwright drives Debian's Chromium. Both come with `npm ci --prefix crates/fourcorners/tests/browser`, as
//! `.ci/run` does it; without them the tests say so and pass, except in CI.

#[path = "../../results/tests/fixture/mod.rs"]
mod fixture;
#[path = "browser/tools.rs"]
mod tools;

use std::path::Path;
use std::process::Command;

use fourcorners_catalogue::built_in;
use fourcorners_lab::diagnose::{Options, diagnose};
use fourcorners_lab::drive::Drive;
use fourcorners_machine::save::write_atomically;
use fourcorners_record::Document;
use fourcorners_report::{diagnosis_page, page};
use tools::{folder, node_and_browser};

/// What the script counted; `None`, and a word about it, where something is not installed.
fn used(name: &str, page: &str) -> Option<serde_json::Value> {
    let (node, browser) = node_and_browser()?;
    let html = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    write_atomically(&html, page.as_bytes()).expect("the page can be saved");
    // A folder for screenshots, for those who want to look.
    let shots = std::env::var_os("FOURCORNERS_SCREENSHOTS").unwrap_or_else(|| "-".into());
    let output = Command::new(node)
        .arg(folder().join("check.mjs"))
        .args([browser.as_os_str(), html.as_os_str(), &shots])
        .output()
        .expect("node starts");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}{errors}");
    println!("{told}");
    let counts = told.lines().find(|line| line.starts_with('{')).expect("the script counts");
    Some(serde_json::from_str(counts).expect("its counts are JSON"))
}

#[test]
fn everything_on_the_page_does_what_it_says() {
    let document = fixture::everything();
    let Some(counts) = used("everything.html", &page(&document)) else { return };
    let count = |what: &str| counts[what].as_u64().unwrap_or(0);
    // Two spare areas in two parts, and two drives that are steady; and enough of all the others that none was passed over.
    assert_eq!(count("switches"), 6, "{counts}");
    assert!(count("axes") >= 20, "{counts}");
    assert_eq!(count("saved"), 3 * count("links"), "three ways to save each chart: {counts}");
    assert!(count("pastes") >= 9, "{counts}");
    assert!(count("copies") >= 9 && count("folds") > count("links"), "{counts}");
    assert!(count("scriptless") > 20, "charts are there without a script: {counts}");
}

#[test]
fn everything_on_the_page_of_a_diagnosis_does_what_it_says() {
    let profile = built_in("crucial-m4-64gb", &[]).expect("the catalogue has it");
    let mut drive = Drive::from_profile(&profile);
    let found = diagnose(&mut drive, "crucial-m4-64gb", &Options::default(), &mut |_| true);
    let Some(counts) = used("diagnosis.html", &diagnosis_page(&found)) else { return };
    let count = |what: &str| counts[what].as_u64().unwrap_or(0);
    // A chart for each detector that has something to show, and a command for each finding.
    let shown = found.evidence.iter().filter(|evidence| !evidence.series.is_empty()).count() as u64;
    assert!(shown >= 5, "what runs by default: {counts}");
    assert_eq!(
        [count("links"), count("scriptless"), count("saved")],
        [shown, shown, 3 * shown],
        "{counts}"
    );
    assert_eq!(count("copies"), found.findings.len() as u64, "{counts}");
}

#[test]
fn what_is_wrong_is_noticed() {
    // Every kind of control is on a page of two figures.
    let mut record = fixture::m4();
    record.figures.truncate(2);
    let document = Document::new(vec![record]);
    let Some((node, browser)) = node_and_browser() else { return };
    // An image without words, a button that does nothing, a request, and a complaint.
    let spoiled = page(&document)
        .replace("[chart.up, chart.other] = [chart.other, chart.up];", "")
        .replace("</main>", "<img src=\"http://example.invalid/x\"></main>")
        .replace("img-src data: blob:", "img-src *")
        .replace("dataset.ready = \"yes\";", "dataset.ready = \"yes\";\nconsole.error('so');");
    let html = Path::new(env!("CARGO_TARGET_TMPDIR")).join("spoiled.html");
    write_atomically(&html, spoiled.as_bytes()).expect("the page can be saved");
    let output = Command::new(node)
        .arg(folder().join("check.mjs"))
        .args([browser.as_os_str(), html.as_os_str(), "-".as_ref()])
        .output()
        .expect("node starts");
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{told}");
    for needle in ["image-alt", "it asked for http://example.invalid/x", "console: so", "became"] {
        assert!(told.contains(needle), "{needle} was not noticed: {told}");
    }
}
