//! Verdicts of a method: a claim that could have come out otherwise, and its outcome.

use fourcorners_words::three_digits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Record;

/// A claim about a target, with all that it rests on. Whoever shows one makes the words from this.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// Which claim it is, the same on every target: `trim-works`.
    pub id: String,
    /// What is claimed, as a statement: `TRIM restores a tortured drive to its clean speed`.
    pub claim: String,
    /// Whether it holds.
    pub outcome: Outcome,
    /// The figures of the record that it rests on, by their names.
    pub figures: Vec<String>,
    /// From where on which outcome is given.
    pub threshold: String,
    /// What would have been measured were the claim false, and what was done to see it.
    pub control: String,
    /// The number that was held against the threshold, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Why it is undetermined; of other outcomes what a reader should know beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// How a claim came out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It holds.
    Yes,
    /// It does not.
    No,
    /// It holds in part.
    Partly,
    /// What was measured leaves it open.
    Undetermined,
}

impl Outcome {
    /// The word for it, as JSON spells it.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Yes => "yes",
            Outcome::No => "no",
            Outcome::Partly => "partly",
            Outcome::Undetermined => "undetermined",
        }
    }
}

impl Verdict {
    /// The verdict in words: claim, outcome, reason, and the rates of the figures it rests on.
    ///
    /// ```text
    /// TRIM restores a tortured drive to its clean speed: yes (clean 241 MB/s, tortured 57.3, trimmed 240).
    /// ```
    pub fn words(&self, record: &Record) -> String {
        let mut text = format!("{}: {}", self.claim, self.outcome.word());
        if let Some(why) = &self.why {
            text.push_str(", ");
            text.push_str(why);
        }
        let names: Vec<&str> = self.figures.iter().map(String::as_str).collect();
        let common = common_prefix(&names);
        let measured = names.iter().filter_map(|name| {
            let rate = record.figures.get(*name)?.mb_per_s;
            let label = name.get(common..).filter(|label| !label.is_empty()).unwrap_or(name);
            Some(format!("{} {}", label.replace('_', " "), three_digits(rate)))
        });
        let mut measured: Vec<String> = measured.collect();
        if let Some(first) = measured.first_mut() {
            first.push_str(" MB/s");
            text.push_str(&format!(" ({})", measured.join(", ")));
        }
        text.push('.');
        text
    }
}

/// Bytes that all names begin with, up to the last underscore of those.
fn common_prefix(names: &[&str]) -> usize {
    let [first, others @ ..] = names else { return 0 };
    let shared =
        |other: &&str| first.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let shared = others.iter().map(shared).min().unwrap_or(0);
    first[..shared].rfind('_').map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_begin_with_is_said_once() {
        let names = ["sequential_write_128k_qd1_clean", "sequential_write_128k_qd1_trimmed"];
        assert_eq!(&names[0][common_prefix(&names)..], "clean");
        assert_eq!(common_prefix(&["alone"]), 0);
        assert_eq!(common_prefix(&["clean", "clear"]), 0, "half a word is none");
        assert_eq!(common_prefix(&[]), 0);
    }
}
