//! What an earlier version has kept is read by this one.
//!
//! The two files were written by version 0.1.0 and are never written again: when the form of records
//! or databases changes, files of the new form are added beside them.

use std::path::{Path, PathBuf};

use fourcorners_record::{Document, Record, from_json, json_schema, to_json};
use fourcorners_results::store::{Added, Filter, Store};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn record() -> Record {
    let text = std::fs::read_to_string(golden("review-1.json")).expect("it is committed");
    let document = from_json(&text).expect("a document of an earlier version is one");
    document.records.into_iter().next().expect("it has a record")
}

#[test]
fn a_document_of_the_first_form_is_read_and_keeps_its_id() {
    let text = std::fs::read_to_string(golden("review-1.json")).expect("it is committed");
    let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(value["schema"], "fourcorners.review/1");
    let record = record();
    // Its id is still that of its content: nothing was lost, and nothing added.
    assert!(record.is_as_sealed());
    assert_eq!((record.version.as_str(), record.figures.len()), ("0.1.0", 8));
    // What was a verdict then claims nothing by today's rules: it is a note.
    let mut back = serde_json::to_value(&record).expect("it is JSON");
    let first = &value["records"][0];
    assert!(!record.notes.is_empty() && back["notes"] == first["verdicts"]);
    back["verdicts"] = back["notes"].take();
    back.as_object_mut().expect("a record is an object").remove("notes");
    assert_eq!(&back, first, "no key is dropped");
}

#[test]
fn a_record_of_the_first_form_that_was_changed_is_not_as_sealed() {
    let mut record = record();
    record.figures.values_mut().for_each(|figure| figure.mb_per_s *= 2.0);
    assert!(!record.is_as_sealed());
}

#[test]
fn a_document_of_today_is_one_of_the_published_schema() {
    let mut record = record();
    record.seal();
    let schema = serde_json::from_str(&json_schema()).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    let text = to_json(&Document::new(vec![record]));
    let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let errors: Vec<String> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn a_database_of_the_first_form_is_read_and_goes_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("results.db");
    std::fs::copy(golden("results-form-1.db"), &path).expect("it is committed");
    let record = record();
    for store in [Store::open_read_only(&path), Store::open(&path)] {
        let store = store.expect("an earlier form is known");
        let listed = store.list(&Filter::default()).expect("it can be listed");
        assert_eq!(listed.len(), 1);
        assert_eq!((&listed[0].id, listed[0].figures), (&record.id, 8));
        assert_eq!(store.get(&record.id[..7]).expect("it is there"), record);
        assert_eq!(store.figures(&Filter::default()).expect("they are there").len(), 8);
        assert_eq!(store.check().expect("it can be read").damage, [""; 0]);
    }
    let store = Store::open(&path).expect("it can be written");
    assert_eq!(store.add(&record).expect("it is known"), Added::Known);
    assert_eq!(store.remove(&[&record.id]).expect("it can be removed"), 1);
    assert_eq!(store.add(&record).expect("it is new"), Added::New);
}
