//! The observer of a run: progress, and interruption.

use fourcorners_drive::Nanos;

use crate::measured::Second;

/// On a real drive a loop wakes up this often to notice an interrupt while nothing completes.
pub(crate) const WALL_TICK: Nanos = Nanos(100_000_000);

/// Answers and waits between two looks at the observer.
pub(crate) const LOOK_AFTER: u32 = 8192;

/// Who watches a job: told how far it is, asked whether to go on. Loops take it as `dyn`: it is asked so seldom that a call through a
/// table costs nothing, and they are compiled once for all who watch.
pub trait Observer {
    /// Called every few thousand I/Os (virtual) or at least ten times a second (wall) with the
    /// part that is done, 0 to 1. `false` stops the job.
    fn go_on(&mut self, part_done: f64) -> bool;

    /// What completed in the whole seconds of the job that are over, from its first on. Called
    /// before each `go_on` and at the end of the job.
    fn seconds(&mut self, _so_far: &[Second]) {}
}

/// Watches nothing and never stops a job.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn go_on(&mut self, _part_done: f64) -> bool {
        true
    }
}

/// Tells an observer of a whole what a part of it tells of itself.
pub struct PartObserver<'a> {
    /// Of the whole.
    pub observer: &'a mut dyn Observer,
    /// What came before, 0 to 1.
    pub from: f64,
    /// How much of the whole it is.
    pub share: f64,
}

impl Observer for PartObserver<'_> {
    fn go_on(&mut self, part_done: f64) -> bool {
        self.observer.go_on(self.from + self.share * part_done)
    }

    fn seconds(&mut self, so_far: &[Second]) {
        self.observer.seconds(so_far);
    }
}
