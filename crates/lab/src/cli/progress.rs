//! Progress on stderr, when a person is looking.

use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::interrupt::Interrupt;
use super::terminal::say;
use crate::record::Record;
use crate::review::{Checkpoint, Phase, Step, Watch};

/// Fineness of a bar.
const STEPS: u64 = 10_000;

/// The bars of all reviews of a run.
#[derive(Debug)]
pub(super) struct Progress {
    bars: MultiProgress,
    interrupt: Interrupt,
}

impl Progress {
    /// Draws on stderr if it is a terminal; nowhere otherwise, and not if it is to be quiet.
    pub(super) fn new(interrupt: Interrupt, quiet: bool) -> Progress {
        let target =
            if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        Progress { bars: MultiProgress::with_draw_target(target), interrupt }
    }

    /// What tells whether to stop.
    pub(super) fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// A bar for one review.
    pub(super) fn of(&self, what: &str) -> ReviewProgress {
        let style = ProgressStyle::with_template(
            "{prefix:28!} {wide_bar} {percent:>3} % {msg:34!} {eta:>4} left",
        )
        .expect("the template is well formed");
        let bar = self.bars.add(ProgressBar::new(STEPS)).with_style(style);
        bar.set_prefix(what.to_string());
        bar.enable_steady_tick(Duration::from_millis(250));
        ReviewProgress { bar, interrupt: self.interrupt.clone() }
    }
}

/// Shows one review and passes a Ctrl-C on to it.
#[derive(Debug)]
pub(super) struct ReviewProgress {
    bar: ProgressBar,
    interrupt: Interrupt,
}

impl ReviewProgress {
    /// Says something without tearing the bars apart.
    pub(super) fn warn(&self, message: &str) {
        self.bar.suspend(|| say(&format!("fourcorners: {message}")));
    }
}

impl Watch for ReviewProgress {
    fn step(&mut self, step: &Step<'_>) {
        if matches!(step.phase, Phase::LeftOut { .. }) {
            return;
        }
        let doing = step.phase.words();
        self.bar.set_message(doing);
    }

    fn go_on(&mut self, part_done: f64) -> bool {
        self.bar.set_position((part_done * STEPS as f64) as u64);
        !self.interrupt.asked()
    }

    fn measured(&mut self, _so_far: &Record) {}

    fn reached(&mut self, _checkpoint: &Checkpoint) {}
}

impl Drop for ReviewProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
