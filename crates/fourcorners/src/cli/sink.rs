//! What a review tells: the person or the program at the terminal, and the database.

use fourcorners_lab::campaign::{Sink, Warning};
use fourcorners_lab::review::Watch;
use fourcorners_record::Record;

use super::keeper::Keeper;
use super::progress::Progress;

/// Shows progress, keeps records, and stops when it is interrupted.
pub(super) struct TerminalSink<'a> {
    pub(super) progress: Progress,
    pub(super) keeper: &'a Keeper,
}

impl Sink for TerminalSink<'_> {
    fn planned(&self, target: &str, method: &str, seconds: f64) {
        self.progress.planned(target, method, seconds);
    }

    fn watch<'w>(&'w self, target: &str, method: &str) -> Box<dyn Watch + 'w> {
        Box::new(self.progress.of_method(target, method))
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
