//! How a method writes down what it concludes.

use crate::{Figure, Record, Verdict};

/// A figure that was measured to its end.
pub fn finished<'a>(record: &'a Record, name: &str) -> Option<&'a Figure> {
    record.figures.get(name).filter(|figure| figure.complete)
}

/// A conclusion with its number.
pub fn verdict(about: &str, text: String, value: f64) -> Verdict {
    // JSON has no number for what is none.
    Verdict { about: about.into(), text, value: value.is_finite().then_some(value) }
}
