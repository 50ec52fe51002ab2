//! What was concluded of several sides, one beneath the other.

use fourcorners_record::{Record, Verdict};
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

/// What it is about, and which of those of the record that are.
pub(super) type Key = (String, usize);

/// The conclusions of a record.
pub(super) fn conclusions<'r>(record: &'r Record) -> Vec<(Key, &'r Verdict)> {
    let all = &record.verdicts;
    let keyed = |(index, verdict): (usize, &'r Verdict)| {
        let about = &verdict.about;
        let before = all[..index].iter().filter(|other| other.about == *about).count();
        ((about.clone(), before), verdict)
    };
    all.iter().enumerate().map(keyed).collect()
}

/// The row of these conclusions.
pub(super) fn row(method: &str, about: &str, sides: &[Vec<&Verdict>]) -> ConclusionRow {
    let values = |verdicts: &[&Verdict]| -> Option<Vec<f64>> {
        verdicts.iter().map(|verdict| verdict.value).collect()
    };
    let cell = |(place, verdicts): (usize, &Vec<&Verdict>)| {
        let first = verdicts.first()?;
        let base = if place > 0 { values(&sides[0]) } else { None };
        let value = values(verdicts).map(|own| Measure::of(&own, &base.unwrap_or_default()));
        Some(ConclusionCell { repeats: verdicts.len(), text: first.text.clone(), value })
    };
    let sides = sides.iter().enumerate().map(cell).collect();
    ConclusionRow { method: method.into(), about: about.into(), sides }
}
