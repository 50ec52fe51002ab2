//! What a campaign tells, and who may stop it.

use std::io;

use fourcorners_record::Record;

use super::SaveError;
use crate::review::{Checkpoint, Step, Watch};

/// Where the events of a campaign go. Reviews run side by side, so it is called from several threads.
pub trait Sink: Sync {
    /// A method of a target that will be run, and how many seconds it takes on the target's clock, roughly.
    fn planned(&self, _target: &str, _method: &str, _seconds: f64) {}

    /// A method of a target begins: who watches it.
    fn watch<'w>(&'w self, target: &str, method: &str) -> Box<dyn Watch + 'w>;

    /// Whether no other review is to be begun; those that are under way ask their watch.
    fn stopped(&self) -> bool;

    /// A review of this target has come to its end, was stopped or failed, or had come to its end before this run.
    fn ended(&self, _target: &str, _record: &Record) {}

    /// A record is as whole as it gets in this run, or was when this run began: the place for a database.
    fn keep(&self, _record: &Record) {}

    /// Something could not be saved; the measurement goes on.
    fn warn(&self, _warning: &Warning) {}
}

/// What could not be saved.
#[derive(Debug, thiserror::Error)]
pub enum Warning {
    /// The document with the figures so far.
    #[error("not saved yet, the measurement goes on: {0}")]
    Document(SaveError),
    /// A place to go on from.
    #[error("--resume could not go on from here: {0}")]
    Checkpoint(io::Error),
    /// A whole record, for a run that goes on.
    #[error("--resume will measure this again: {0}")]
    Record(io::Error),
}

/// Tells nobody, and never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Sink for Unwatched {
    fn watch<'w>(&'w self, _target: &str, _method: &str) -> Box<dyn Watch + 'w> {
        Box::new(Unwatched)
    }

    fn stopped(&self) -> bool {
        false
    }
}

impl Watch for Unwatched {
    fn step(&mut self, _step: &Step<'_>) {}

    fn go_on(&mut self, _part_done: f64) -> bool {
        true
    }

    fn measured(&mut self, _so_far: &Record) {}

    fn reached(&mut self, _checkpoint: &Checkpoint) {}
}
