//! The scratch file of a directory loses its name as soon as it is open, so that nothing is left of it however
//! the program ends.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use fourcorners_lab::campaign::{Sink, Warning};
use fourcorners_lab::review::{Checkpoint, Step, Watch};
use fourcorners_record::Record;
use fourcorners_run::Second;

use super::super::sink::TerminalSink;

/// Shows progress, and removes the scratch file.
pub(super) struct ScratchSink<'a> {
    inner: TerminalSink<'a>,
    scratch: Mutex<Option<PathBuf>>,
}

impl<'a> ScratchSink<'a> {
    pub(super) fn new(inner: TerminalSink<'a>, scratch: Option<PathBuf>) -> ScratchSink<'a> {
        ScratchSink { inner, scratch: Mutex::new(scratch) }
    }

    /// Removes what is still there, and tells what could not be.
    pub(super) fn finish(self) -> Option<(PathBuf, io::Error)> {
        let scratch = self.scratch.into_inner().ok()??;
        removed(&scratch).err().map(|error| (scratch, error))
    }
}

fn removed(scratch: &Path) -> io::Result<()> {
    match std::fs::remove_file(scratch) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

impl Sink for ScratchSink<'_> {
    fn watch<'w>(&'w self, target: &str, method: &str) -> Box<dyn Watch + 'w> {
        let scratch = self.scratch.lock().ok().and_then(|mut scratch| scratch.take());
        Box::new(ScratchWatch { inner: self.inner.watch(target, method), scratch })
    }

    fn stopped(&self) -> bool {
        self.inner.stopped()
    }

    fn ended(&self, target: &str, record: &Record) {
        self.inner.ended(target, record);
    }

    fn keep(&self, record: &Record) {
        self.inner.keep(record);
    }

    fn warn(&self, warning: &Warning) {
        self.inner.warn(warning);
    }
}

/// Removes the scratch file when the first phase begins: it is open by then, and a file that is open is there
/// without a name.
struct ScratchWatch<'a> {
    inner: Box<dyn Watch + 'a>,
    scratch: Option<PathBuf>,
}

impl Watch for ScratchWatch<'_> {
    fn step(&mut self, step: &Step<'_>) {
        if let Some(scratch) = self.scratch.take() {
            // What cannot be removed now is tried again when this is dropped.
            self.scratch = removed(&scratch).err().map(|_| scratch);
        }
        self.inner.step(step);
    }

    fn go_on(&mut self, part_done: f64) -> bool {
        self.inner.go_on(part_done)
    }

    fn seconds(&mut self, so_far: &[Second]) {
        self.inner.seconds(so_far);
    }

    fn measured(&mut self, so_far: &Record) {
        self.inner.measured(so_far);
    }

    fn reached(&mut self, checkpoint: &Checkpoint) {
        self.inner.reached(checkpoint);
    }
}

impl Drop for ScratchWatch<'_> {
    fn drop(&mut self) {
        if let Some(scratch) = self.scratch.take()
            && let Err(error) = removed(&scratch)
        {
            let scratch = scratch.display();
            super::say(&format!("fourcorners: {scratch} cannot be removed ({error}): remove it"));
        }
    }
}
