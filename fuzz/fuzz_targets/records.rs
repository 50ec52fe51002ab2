//! Anything as a document of results: what reads it shows it, and never panics.
#![no_main]

use fourcorners_record::{from_json, to_json};
use fourcorners_report as report;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(document) = from_json(text) else { return };
    let again = from_json(&to_json(&document)).expect("it was written by us");
    assert_eq!(to_json(&again), to_json(&document));
    report::table(&document, 80, false);
    report::page(&document);
});
