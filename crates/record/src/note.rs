//! Notes of a method beside its verdicts: facts with their numbers, and measurements that were impossible.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Figure, Record};

/// What a figure means, or why there is none. A note claims nothing: it has no control.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// What it is about: `used-state`, `latency`, `not-run`, ...
    pub about: String,
    /// One sentence with its numbers.
    pub text: String,
    /// The number, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
}

/// A figure that was measured to its end.
pub fn finished<'a>(record: &'a Record, name: &str) -> Option<&'a Figure> {
    record.figures.get(name).filter(|figure| figure.complete)
}

/// A note with its number.
pub fn note(about: &str, text: String, value: f64) -> Note {
    // JSON has no number for what is none.
    Note { about: about.into(), text, value: value.is_finite().then_some(value) }
}
