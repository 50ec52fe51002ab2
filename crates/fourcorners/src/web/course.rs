//! How far a review is, put together from what it tells.

use std::time::Duration;

use serde::Serialize;

use crate::event::Event;

/// An end is only foretold after this part of the whole.
const LEAST_TO_FORETELL: f64 = 0.02;

/// How far a review is.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Course {
    /// 0 to 1, by how long the methods take on the drives' clocks.
    pub(super) done: f64,
    pub(super) elapsed_s: f64,
    /// None before there is enough to go by.
    pub(super) remaining_s: Option<f64>,
    pub(super) parts: Vec<Part>,
    pub(super) figures: Vec<Figure>,
}

/// A method of a drive.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Part {
    pub(super) target: String,
    pub(super) method: String,
    /// How long it takes on the drive's clock.
    pub(super) seconds: f64,
    pub(super) done: f64,
    /// What it is doing.
    pub(super) words: String,
    /// What it is measuring.
    pub(super) figure: Option<String>,
    /// Of the job that is running, or was the last one.
    pub(super) iops: Vec<u64>,
    pub(super) mb_per_s: Vec<f64>,
    /// The id of its record, if that was kept.
    pub(super) record: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Figure {
    pub(super) target: String,
    pub(super) method: String,
    name: String,
    pub(super) mb_per_s: f64,
    pub(super) iops: f64,
}

impl Part {
    fn drop_series(&mut self) {
        (self.iops, self.mb_per_s) = (Vec::new(), Vec::new());
    }
}

impl Course {
    /// Adds an event.
    pub(super) fn hear(&mut self, event: Event) {
        match event {
            Event::Planned { target, method, seconds } => self.parts.push(Part {
                target,
                method,
                seconds,
                done: 0.0,
                words: "waiting".into(),
                figure: None,
                iops: Vec::new(),
                mb_per_s: Vec::new(),
                record: None,
            }),
            Event::Phase { target, method, words, figure, .. } => {
                self.part(&target, &method, |part| {
                    (part.words, part.figure) = (words, figure);
                    part.drop_series();
                });
            }
            Event::Part { target, method, done } => {
                self.part(&target, &method, |part| part.done = done.clamp(0.0, 1.0));
            }
            Event::Seconds { target, method, from, iops, mb_per_s } => {
                self.part(&target, &method, |part| {
                    part.iops.truncate(from);
                    part.mb_per_s.truncate(from);
                    part.iops.extend(iops);
                    part.mb_per_s.extend(mb_per_s);
                });
            }
            Event::Figure { target, method, name, mb_per_s, iops } => {
                self.figures.push(Figure { target, method, name, mb_per_s, iops });
            }
            Event::Ended { target, method, id, cut_short, kept } => {
                self.part(&target, &method, |part| {
                    match cut_short {
                        true => part.words = "cut short".into(),
                        false => (part.done, part.words) = (1.0, "done".into()),
                    }
                    part.record = kept.then_some(id);
                });
            }
        }
    }

    fn part(&mut self, target: &str, method: &str, change: impl FnOnce(&mut Part)) {
        let mut parts = self.parts.iter_mut();
        if let Some(part) = parts.find(|part| part.target == target && part.method == method) {
            change(part);
        }
    }

    /// How far it is after `elapsed`.
    pub(super) fn look_at_the_clock(&mut self, elapsed: Duration) {
        let of = |share: fn(&Part) -> f64| self.parts.iter().map(share).sum::<f64>();
        let whole = of(|part| part.seconds);
        if whole > 0.0 {
            self.done = of(|part| part.seconds * part.done) / whole;
        }
        self.elapsed_s = elapsed.as_secs_f64();
        self.remaining_s = (self.done >= LEAST_TO_FORETELL)
            .then(|| self.elapsed_s * (1.0 - self.done) / self.done);
    }

    /// Leaves out what a list does not show.
    pub(super) fn drop_series(&mut self) {
        self.parts.iter_mut().for_each(Part::drop_series);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_kept_has_no_report() {
        let record = |kept| {
            let mut course = Course::default();
            let (target, method) = ("m4".to_string(), "toms".to_string());
            course.hear(Event::Planned {
                target: target.clone(),
                method: method.clone(),
                seconds: 1.0,
            });
            let id = "6287de5".to_string();
            course.hear(Event::Ended { target, method, id, cut_short: true, kept });
            (course.parts[0].record.clone(), course.parts[0].words.clone())
        };
        assert_eq!(record(false), (None, "cut short".into()));
        assert_eq!(record(true), (Some("6287de5".into()), "cut short".into()));
    }
}
