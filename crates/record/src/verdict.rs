//! Verdicts of a method: a claim that could have come out otherwise, and its outcome.

use fourcorners_words::{part_words, three_digits};
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
    /// The verdict in words: claim, outcome, reason, and the rates of the figures it compares.
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
        let names: Vec<&str> = match &self.figures[..] {
            // What is said of one is in the reason.
            [_] => Vec::new(),
            several => several.iter().map(String::as_str).collect(),
        };
        let labels = labels(&names);
        let measured = names.iter().zip(labels).filter_map(|(name, label)| {
            let rate = three_digits(record.figures.get(*name)?.mb_per_s);
            Some(format!("{label} {rate}"))
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

/// What tells figures apart, in words: their names without what all begin with. That of a used drive beside
/// the same without the word is of a fresh one.
fn labels(names: &[&str]) -> Vec<String> {
    let parts: Vec<Vec<&str>> = names.iter().map(|name| name.split('_').collect()).collect();
    let [first, others @ ..] = &parts[..] else { return Vec::new() };
    let shared = |other: &Vec<&str>| first.iter().zip(other).take_while(|(a, b)| a == b).count();
    let common = others.iter().map(shared).min().unwrap_or(0);
    let is_used = |parts: &Vec<&str>| parts[common..] == ["used"];
    let shortest = parts.iter().map(Vec::len).min().unwrap_or(0);
    // A name that is the beginning of all others keeps its last word, unless the others say what it is.
    let from = match shortest == common && !parts.iter().any(is_used) {
        true => common.saturating_sub(1),
        false => common,
    };
    let label = |parts: &Vec<&str>| match &parts[from..] {
        [] => "fresh".into(),
        rest => rest.iter().map(|part| part_words(part)).collect::<Vec<_>>().join(" "),
    };
    parts.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_called_by_what_tells_them_apart() {
        let names = ["sequential_write_128k_qd1_clean", "sequential_write_128k_qd1_trimmed"];
        assert_eq!(labels(&names), ["clean", "trimmed"]);
        let names =
            ["random_write_4k_qd3_incompressible", "random_write_4k_qd3_incompressible_used"];
        assert_eq!(labels(&names), ["fresh", "used"]);
        assert_eq!(labels(&["a_b", "a_b_c"]), ["b", "b c"], "nothing says what the first is");
        assert_eq!(labels(&["w_full10", "w_full100"]), ["10 % full", "100 % full"]);
        assert_eq!(labels(&["w_qd3_spare25", "w_qd32_jobs4"]), ["QD 3 25 % spare", "QD 32 4 jobs"]);
        assert_eq!(labels(&["w_full", "w_fuller"]), ["full", "fuller"], "no number, no share");
        assert_eq!(labels(&["clean", "clear"]), ["clean", "clear"], "half a word is none");
        assert_eq!(labels(&["twice", "twice"]), ["twice", "twice"]);
        assert_eq!(labels(&[]), [""; 0]);
    }
}
