//! The reference drives that come with the program are those of its catalogue, as it is now.

use fourcorners_lab::validate::catalogue_hash;
use fourcorners_record::from_json;
use fourcorners_report::References;

use crate::bench::{folder, run};

/// Drives of the built-in references, of which the figures are made again: a drive of pages, one that compresses,
/// and a hard disk.
const SAMPLE: [&str; 3] = ["crucial-m4-256gb", "ocz-vertex-3-240gb", "wd-velociraptor-300gb"];

#[test]
fn the_built_in_references_are_of_this_catalogue_and_simulation() {
    let again = "scripts/evidence reference, and build again";
    let built_in = References::built_in();
    assert_eq!(built_in.catalogue(), catalogue_hash(), "the catalogue has changed: {again}");
    let dir = folder();
    let quick = ["--methods", "four-corners,toms,sync-writes", "--quick"];
    // Seconds do not bring about the used state.
    let whole = ["--methods", "used-state"];
    let reviewed = |how: &[&str]| {
        let arguments = [&["review", "--json", "--no-db"], how, &SAMPLE].concat();
        let ran = run(dir.path(), &arguments);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        from_json(&ran.stdout).expect("a document").records
    };
    let mut records = reviewed(&quick);
    records.extend(reviewed(&whole));
    let known = built_in.to_json().expect("JSON");
    let line = |text: &str, drive: &str| {
        let name = format!("{{\"name\":\"{drive}\"");
        let found = text.lines().find(|line| line.trim_start().starts_with(&name));
        found.map(|line| line.trim().trim_end_matches(',').to_string())
    };
    let now = References::of(&records, "").to_json().expect("JSON");
    for drive in &SAMPLE[..2] {
        assert!(line(&now, drive).is_some_and(|it| it.contains("incompressible_used")), "{drive}");
    }
    for drive in SAMPLE {
        let known = line(&known, drive);
        assert!(known.is_some(), "{drive} is not among them");
        assert_eq!(line(&now, drive), known, "{drive} has other figures now: {again}");
    }
    // Another seed would be noticed.
    let mut other = records;
    other[0].figures[0].mb_per_s *= 1.001;
    let other = References::of(&other, "").to_json().expect("JSON");
    assert_ne!(line(&other, SAMPLE[0]), line(&known, SAMPLE[0]));
}
