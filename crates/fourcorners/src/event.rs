//! How far a review is, for programs: what `--progress json` writes, an object a line, and what
//! `fourcorners web` reads of the reviews it started.

use serde::{Deserialize, Serialize};

/// One line. Text that is no such object is what is said to a person.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event {
    /// A method of a target that will be run, and how long it takes on the drive's clock.
    Planned { target: String, method: String, seconds: f64 },
    /// A phase begins.
    Phase {
        target: String,
        method: String,
        /// From 1.
        number: usize,
        of: usize,
        words: String,
        /// What it measures, if it measures one thing.
        figure: Option<String>,
    },
    /// How far a method is, 0 to 1.
    Part { target: String, method: String, done: f64 },
    /// Whole seconds of the phase's job, from the one numbered `from`.
    Seconds { target: String, method: String, from: usize, iops: Vec<u64>, mb_per_s: Vec<f64> },
    /// A figure was measured.
    Figure { target: String, method: String, name: String, mb_per_s: f64, iops: f64 },
    /// A method has come to its end.
    Ended {
        target: String,
        method: String,
        /// Of its record.
        id: String,
        /// Whether it was stopped or failed before all was measured.
        cut_short: bool,
        /// Whether its record is one to keep: not that of a method that was stopped before anything was measured.
        kept: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        let of = || ("a".to_string(), "toms".to_string());
        let ((target, method), name) = (of(), "f".to_string());
        let figure = Event::Figure { target, method, name, mb_per_s: 1.5, iops: 2.0 };
        let (target, method) = of();
        let (words, figure_name) = ("x".into(), Some("f".into()));
        let phase = Event::Phase { target, method, number: 1, of: 2, words, figure: figure_name };
        for (event, line) in [
            (
                figure,
                r#"{"event":"figure","target":"a","method":"toms","name":"f","mb_per_s":1.5,"iops":2.0}"#,
            ),
            (
                phase,
                r#"{"event":"phase","target":"a","method":"toms","number":1,"of":2,"words":"x","figure":"f"}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&event).expect("a line"), line);
            assert_eq!(serde_json::from_str::<Event>(line).expect("an event"), event);
        }
    }
}
