//! Where a value of a profile comes from, and how it stands.

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

/// How a value of a profile stands, weakest last.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// A manufacturer's datasheet says it.
    Datasheet,
    /// A page (review, teardown, manual) says it.
    Stated,
    /// Concluded from other facts; the note says how.
    Inferred,
    /// Nobody published it, and nothing it could be concluded from is known; the note says what it is taken from.
    Assumed,
    /// Chosen so that the model meets published measurements; the note says which.
    Fitted,
    /// Given by whoever runs the tool.
    Set,
}

/// A value with its source, as a profile's file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sourced {
    /// The value, in the unit its key names.
    pub(super) value: Value,
    /// How it stands.
    pub(super) standing: Standing,
    /// A key of the profile's `[sources]`.
    pub(super) source: String,
    /// What a reader needs to judge it.
    #[serde(default)]
    pub(super) note: Option<String>,
}

/// The numbers alone of sections whose entries all are [`Sourced`]: what a config is read from.
pub(super) fn plain(mut sections: Table) -> Table {
    let tables = sections.iter_mut().filter_map(|(_, section)| section.as_table_mut());
    for (_, entry) in tables.flatten() {
        if let Some(value) = entry.as_table_mut().and_then(|entry| entry.remove("value")) {
            *entry = value;
        }
    }
    sections
}
