//! Anything as a document of results: what reads it shows it, and never panics.
#![no_main]

use fourcorners_results::report;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(document) = report::from_json(text) else { return };
    let again = report::from_json(&report::to_json(&document)).expect("it was written by us");
    assert_eq!(report::to_json(&again), report::to_json(&document));
    report::table(&document, 80, false);
    report::page(&document);
});
