//! What a review tells: the person or the program at the terminal, and the database.

use fourcorners_lab::campaign::{Sink, Warning};
use fourcorners_record::Record;

use super::keeper::Keeper;
use super::progress::{Progress, ReviewProgress};

/// Shows progress, keeps records, and stops when it is interrupted.
pub(super) struct TerminalSink<'a> {
    pub(super) progress: Progress,
    pub(super) keeper: &'a Keeper,
}

impl Sink for TerminalSink<'_> {
    type Watch = ReviewProgress;

    fn planned(&self, target: &str, method: &str, seconds: f64) {
        self.progress.planned(target, method, seconds);
    }

    fn watch(&self, target: &str, method: &str) -> ReviewProgress {
        self.progress.of_method(target, method)
    }

    fn stopped(&self) -> bool {
        self.progress.stopped()
    }

    fn ended(&self, target: &str, record: &Record) {
        self.progress.ended(target, record);
    }

    fn keep(&self, record: &Record) {
        self.keeper.add(record);
    }

    fn warn(&self, warning: &Warning) {
        self.progress.warn(&warning.to_string());
    }
}
