//! Progress on stderr: bars when a person is looking, JSON lines for a program that asked for them.

use std::time::Duration;

use fourcorners_lab::review::{Checkpoint, Phase, Step, Watch};
use fourcorners_record::Record;
use fourcorners_run::Second;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::interrupt::Interrupt;
use super::terminal::say;
use super::told::{Told, tell};
use crate::event::Event;

/// Fineness of a bar.
const STEPS: u64 = 10_000;

/// The progress of all reviews of a run.
#[derive(Debug)]
pub(super) struct Progress {
    /// None if a program is told.
    bars: Option<MultiProgress>,
    interrupt: Interrupt,
}

impl Progress {
    /// Draws on stderr if it is a terminal; nowhere otherwise, and not if it is to be quiet.
    pub(super) fn new(interrupt: Interrupt, quiet: bool) -> Progress {
        let target =
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        Progress { bars: Some(MultiProgress::with_draw_target(target)), interrupt }
    }

    /// Whether it was interrupted.
    pub(super) fn stopped(&self) -> bool {
        self.interrupt.asked()
    }

    /// Says something without tearing the bars apart.
    pub(super) fn warn(&self, message: &str) {
        let message = format!("fourcorners: {message}");
        match &self.bars {
            Some(bars) => bars.suspend(|| say(&message)),
            None => say(&message),
        }
    }

    /// Tells a program.
    pub(super) fn told(interrupt: Interrupt) -> Progress {
        Progress { bars: None, interrupt }
    }

    /// Says what will be done: a method of a target, and how long it takes on the drive's clock.
    pub(super) fn planned(&self, target: &str, method: &str, seconds: f64) {
        if self.bars.is_none() {
            let (target, method) = (target.into(), method.into());
            tell(&Event::Planned { target, method, seconds });
        }
    }

    /// That of one target.
    pub(super) fn of(&self, target: &str) -> ReviewProgress {
        self.of_method(target, "")
    }

    /// That of one method of a target.
    pub(super) fn of_method(&self, target: &str, method: &str) -> ReviewProgress {
        let shown = match &self.bars {
            Some(bars) => Shown::Bar(bar(bars, format!("{target} {method}").trim_end())),
            None => Shown::Told(Box::new(Told::new(target.into(), method.into()))),
        };
        ReviewProgress { shown, interrupt: self.interrupt.clone() }
    }

    /// A review has come to its end.
    pub(super) fn ended(&self, target: &str, record: &Record) {
        if self.bars.is_none() {
            let (method, id) = (record.method.clone(), record.id.clone());
            tell(&Event::Ended { target: target.into(), method, id });
        }
    }
}

fn bar(bars: &MultiProgress, what: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{prefix:28!} {wide_bar} {percent:>3} % {msg:34!} {eta:>4} left",
    )
    .expect("the template is well formed");
    let bar = bars.add(ProgressBar::new(STEPS)).with_style(style);
    bar.set_prefix(what.to_string());
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

#[derive(Debug)]
enum Shown {
    Bar(ProgressBar),
    Told(Box<Told>),
}

/// Shows one review and passes a Ctrl-C on to it.
#[derive(Debug)]
pub(super) struct ReviewProgress {
    shown: Shown,
    interrupt: Interrupt,
}

impl Watch for ReviewProgress {
    fn step(&mut self, step: &Step<'_>) {
        if matches!(step.phase, Phase::LeftOut { .. }) {
            return;
        }
        match &mut self.shown {
            Shown::Bar(bar) => bar.set_message(step.phase.words()),
            Shown::Told(told) => told.step(step),
        }
    }

    fn go_on(&mut self, part_done: f64) -> bool {
        match &mut self.shown {
            Shown::Bar(bar) => bar.set_position((part_done * STEPS as f64) as u64),
            Shown::Told(told) => told.part(part_done),
        }
        !self.interrupt.asked()
    }

    fn seconds(&mut self, so_far: &[Second]) {
        if let Shown::Told(told) = &mut self.shown {
            told.seconds(so_far);
        }
    }

    fn measured(&mut self, so_far: &Record) {
        if let Shown::Told(told) = &mut self.shown {
            told.measured(so_far);
        }
    }

    fn reached(&mut self, _checkpoint: &Checkpoint) {}
}

impl Drop for ReviewProgress {
    fn drop(&mut self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}
