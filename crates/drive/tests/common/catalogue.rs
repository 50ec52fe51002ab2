//! A drive as the catalogue writes it: its numbers without their sources.

use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// The config that a file of one drive has.
pub(crate) fn config<T: DeserializeOwned>(text: &str) -> T {
    let mut table: Table = text.parse().expect("TOML");
    for key in ["name", "title", "kind", "sources"] {
        assert!(table.remove(key).is_some(), "{key}");
    }
    table.remove("published"); // what is known of the drive and no value of its model
    let sections = table.iter_mut().filter_map(|(_, section)| section.as_table_mut());
    for (_, entry) in sections.flatten() {
        *entry = entry.get("value").cloned().expect("a value with its source");
    }
    Value::Table(table).try_into().expect("the sections of a drive")
}
