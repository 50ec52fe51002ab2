//! Conflicts between verdicts of several methods about one target, and the one to believe.

use crate::{Outcome, Record, Verdict};

/// Two verdicts about a target that do not go together.
#[derive(Clone, PartialEq, Debug)]
pub struct Disagreement {
    /// The title of the target.
    pub target: String,
    /// What they say, which one is believed, and why; a sentence or two.
    pub text: String,
}

/// Every disagreement among records. Which records there are does not change any of them, so that a
/// method's record is the same alone and beside others; this is for whoever shows them together.
pub fn disagreements<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<Disagreement> {
    let records: Vec<&Record> = records.into_iter().collect();
    let mut found: Vec<Disagreement> = Vec::new();
    for works in &records {
        for reaches in records.iter().filter(|other| are_of_one_drive(works, other)) {
            let verdicts = verdict(works, "trim-works").zip(verdict(reaches, "trim-reaches"));
            let Some(text) = verdicts.and_then(|(works, reaches)| trim(works, reaches)) else {
                continue;
            };
            let disagreement =
                Disagreement { target: works.target.title.clone(), text: text.into() };
            if !found.contains(&disagreement) {
                found.push(disagreement);
            }
        }
    }
    found
}

fn are_of_one_drive(a: &Record, b: &Record) -> bool {
    (&a.target, a.clock) == (&b.target, b.clock)
}

fn verdict<'a>(record: &'a Record, id: &str) -> Option<&'a Verdict> {
    record.verdicts.iter().find(|verdict| verdict.id == id)
}

fn trim(works: &Verdict, reaches: &Verdict) -> Option<&'static str> {
    match (works.outcome, reaches.outcome) {
        (Outcome::Yes | Outcome::Partly, Outcome::No) => Some(
            "The rate recovers after a TRIM, at least in part, and not without one, although trimmed data \
             still reads as written: go by trim-works, since a drive may return data that it has discarded.",
        ),
        (Outcome::No, Outcome::Yes) => Some(
            "TRIM reaches the drive, but the rate does not recover: the drive discards the data and does \
             not (or not yet) use the space. Go by trim-works.",
        ),
        _ => None,
    }
}
