//! How far a review is, for programs: a JSON object a line on stderr (`--progress json`).

use std::io::{Write, stderr};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::record::Record;
use crate::review::{Phase, Step};
use crate::run::Second;

/// Between two lines of the same kind that each take the place of the one before.
const BETWEEN: Duration = Duration::from_millis(100);

/// One line. Text that is no JSON object is what is said to a person.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Event<'a> {
    /// A method of a target that will be run, and how long it takes on the drive's clock.
    Planned { target: &'a str, method: &'a str, seconds: f64 },
    /// A phase begins.
    Phase {
        target: &'a str,
        method: &'a str,
        number: usize,
        of: usize,
        words: &'a str,
        /// What it measures, if it measures one thing.
        figure: Option<&'a str>,
    },
    /// How far a method is, 0 to 1.
    Part { target: &'a str, method: &'a str, done: f64 },
    /// Whole seconds of the phase's job, from the one numbered `from`.
    Seconds { target: &'a str, method: &'a str, from: usize, iops: &'a [u64], mb_per_s: &'a [f64] },
    /// A figure was measured.
    Figure { target: &'a str, method: &'a str, name: &'a str, mb_per_s: f64, iops: f64 },
    /// A method has come to its end; the id of its record.
    Ended { target: &'a str, method: &'a str, id: &'a str },
}

impl Event<'_> {
    /// Whoever closed stderr does not want to hear it, and a review must not end for that.
    pub(super) fn tell(&self) {
        if let Ok(mut line) = serde_json::to_vec(self) {
            line.push(b'\n');
            let _ = stderr().lock().write_all(&line);
        }
    }
}

/// Tells of one method of one target.
#[derive(Debug)]
pub(super) struct Told {
    target: String,
    method: String,
    part: Option<Instant>,
    seconds: Option<Instant>,
    /// Seconds of the running job that were told.
    told: usize,
    figures: usize,
}

impl Told {
    pub(super) fn new(target: String, method: String) -> Told {
        Told { target, method, part: None, seconds: None, told: 0, figures: 0 }
    }

    pub(super) fn step(&mut self, step: &Step<'_>) {
        (self.told, self.seconds) = (0, None);
        let figure = match step.phase {
            Phase::Measure { figure, .. }
            | Phase::Pass { figure, .. }
            | Phase::BesideTrim { figure, .. } => Some(figure.as_str()),
            _ => None,
        };
        let (target, method) = (&*self.target, &*self.method);
        let (number, of, words) = (step.number, step.of, &*step.phase.words());
        Event::Phase { target, method, number, of, words, figure }.tell();
    }

    pub(super) fn part(&mut self, done: f64) {
        if is_due(&mut self.part) {
            Event::Part { target: &self.target, method: &self.method, done }.tell();
        }
    }

    pub(super) fn seconds(&mut self, so_far: &[Second]) {
        if so_far.len() < self.told {
            self.told = 0; // Another job of the same phase.
        }
        let new = &so_far[self.told..];
        if new.is_empty() || !is_due(&mut self.seconds) {
            return;
        }
        let iops: Vec<u64> = new.iter().map(|second| second.ios).collect();
        let mb_per_s: Vec<f64> = new.iter().map(|second| second.bytes as f64 / 1e6).collect();
        self.tell_seconds(&iops, &mb_per_s);
    }

    /// Those after what was told.
    fn tell_seconds(&mut self, iops: &[u64], mb_per_s: &[f64]) {
        let (target, method, from) = (&*self.target, &*self.method, self.told);
        Event::Seconds { target, method, from, iops, mb_per_s }.tell();
        self.told += iops.len();
    }

    pub(super) fn measured(&mut self, so_far: &Record) {
        let last = so_far.series.last().map(|(_, series)| series);
        if let Some(series) = last.filter(|series| series.iops.len() > self.told) {
            let from = self.told;
            self.tell_seconds(&series.iops[from..], &series.mb_per_s[from..]);
        }
        let (target, method) = (&*self.target, &*self.method);
        for (name, figure) in so_far.figures.iter().skip(self.figures) {
            let (mb_per_s, iops) = (figure.mb_per_s, figure.iops);
            Event::Figure { target, method, name, mb_per_s, iops }.tell();
        }
        self.figures = so_far.figures.len();
    }
}

/// Whether it is time for the next line of a kind.
fn is_due(last: &mut Option<Instant>) -> bool {
    let due = last.is_none_or(|last| last.elapsed() >= BETWEEN);
    if due {
        *last = Some(Instant::now());
    }
    due
}
