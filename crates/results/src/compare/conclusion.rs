//! Conclusions of several sides, one below the other.

use fourcorners_record::{Note, Record};
use serde::Serialize;

use super::measure::Measure;

/// A conclusion of all sides that have it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ConclusionRow {
    /// The method's name.
    pub method: String,
    /// What it is about.
    pub about: String,
    /// Of each side in their order; none where nothing was concluded.
    pub sides: Vec<Option<ConclusionCell>>,
}

/// A conclusion of one side.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ConclusionCell {
    /// How many results have it.
    pub repeats: usize,
    /// In words, of the result that stands for the side.
    pub text: String,
    /// Its number, where all of them have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Measure>,
}

/// What tells a conclusion from the others of its record.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    pub(super) about: String,
    /// The figure that it begins with, as what is irregular in one does.
    figure: Option<String>,
    /// Which of those that are alike in both, from 0.
    number: usize,
}

/// The conclusions of a record, verdicts in words among them.
pub(super) fn conclusions(record: &Record) -> Vec<(Key, Note)> {
    let mut keyed: Vec<(Key, Note)> = Vec::new();
    for concluded in record.conclusions() {
        let first = concluded.text.split([' ', ':']).next().unwrap_or_default();
        let figure = record.figures.contains_key(first).then(|| first.to_string());
        let about = concluded.about.clone();
        let alike = |(other, _): &&(Key, Note)| (&other.about, &other.figure) == (&about, &figure);
        let number = keyed.iter().filter(alike).count();
        keyed.push((Key { about, figure, number }, concluded));
    }
    keyed
}

/// The row of these conclusions.
pub(super) fn row(method: &str, about: &str, sides: &[Vec<Note>]) -> ConclusionRow {
    let values =
        |notes: &[Note]| -> Option<Vec<f64>> { notes.iter().map(|note| note.value).collect() };
    let cell = |(place, notes): (usize, &Vec<Note>)| {
        let first = notes.first()?;
        let base = if place > 0 { values(&sides[0]) } else { None };
        let value = values(notes).map(|own| Measure::of(&own, &base.unwrap_or_default()));
        Some(ConclusionCell { repeats: notes.len(), text: first.text.clone(), value })
    };
    let sides = sides.iter().enumerate().map(cell).collect();
    ConclusionRow { method: method.into(), about: about.into(), sides }
}
