//! Progress of a review for programs: one JSON object per line on stderr (`--progress json`), and metrics (`--metrics`).

use std::io::{Write, stderr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fourcorners_lab::review::{Phase, Step};
use fourcorners_record::Record;
use fourcorners_run::Second;

#[cfg(not(feature = "web"))]
use super::web::ReviewMetrics;
use crate::event::Event;
#[cfg(feature = "web")]
use crate::web::ReviewMetrics;

/// Between two lines of the same kind that each take the place of the one before.
const BETWEEN: Duration = Duration::from_millis(100);

/// The programs that are told.
#[derive(Clone, Debug, Default)]
pub(super) struct Audience {
    /// Whoever reads stderr.
    pub(super) stderr: bool,
    pub(super) metrics: Option<Arc<ReviewMetrics>>,
}

impl Audience {
    /// Whether there is nobody.
    pub(super) fn is_empty(&self) -> bool {
        !self.stderr && self.metrics.is_none()
    }

    pub(super) fn tell(&self, event: &Event) {
        if let Some(metrics) = &self.metrics {
            metrics.hear(event);
        }
        if !self.stderr {
            return;
        }
        // Whoever closed stderr does not want to hear it, and a review must not end for that.
        if let Ok(mut line) = serde_json::to_vec(event) {
            line.push(b'\n');
            let _ = stderr().lock().write_all(&line);
        }
    }
}

/// Tells of one method of one target.
#[derive(Debug)]
pub(super) struct Told {
    audience: Audience,
    target: String,
    method: String,
    part: Option<Instant>,
    seconds: Option<Instant>,
    /// Seconds of the running job that were told.
    told: usize,
    figures: usize,
}

impl Told {
    pub(super) fn new(audience: Audience, target: String, method: String) -> Told {
        Told { audience, target, method, part: None, seconds: None, told: 0, figures: 0 }
    }

    /// What every event says first.
    fn of(&self) -> (String, String) {
        (self.target.clone(), self.method.clone())
    }

    pub(super) fn step(&mut self, step: &Step<'_>) {
        (self.told, self.seconds) = (0, None);
        let figure = match step.phase {
            Phase::Measure { figure, .. }
            | Phase::Pass { figure, .. }
            | Phase::Runs { figure, .. }
            | Phase::BesideTrim { figure, .. } => Some(figure.clone()),
            _ => None,
        };
        let (target, method) = self.of();
        let (number, of, words) = (step.number, step.of, step.phase.words());
        self.audience.tell(&Event::Phase { target, method, number, of, words, figure });
    }

    pub(super) fn part(&mut self, done: f64) {
        if is_due(&mut self.part) {
            let (target, method) = self.of();
            self.audience.tell(&Event::Part { target, method, done });
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
        self.tell_seconds(iops, mb_per_s);
    }

    /// Those after what was told.
    fn tell_seconds(&mut self, iops: Vec<u64>, mb_per_s: Vec<f64>) {
        let ((target, method), from) = (self.of(), self.told);
        self.told += iops.len();
        self.audience.tell(&Event::Seconds { target, method, from, iops, mb_per_s });
    }

    pub(super) fn measured(&mut self, so_far: &Record) {
        let last = so_far.series.last().map(|(_, series)| series);
        if let Some(series) = last.filter(|series| series.iops.len() > self.told) {
            let from = self.told;
            self.tell_seconds(series.iops[from..].to_vec(), series.mb_per_s[from..].to_vec());
        }
        for (name, figure) in so_far.figures.iter().skip(self.figures) {
            let ((target, method), name) = (self.of(), name.clone());
            let (mb_per_s, iops) = (figure.mb_per_s, figure.iops);
            self.audience.tell(&Event::Figure { target, method, name, mb_per_s, iops });
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
