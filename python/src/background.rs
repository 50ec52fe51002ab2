//! Work on a thread of its own, while the thread that called looks for signals and tells how far it is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fourcorners_lab::review::{Checkpoint, Step, Watch};
use fourcorners_record::Record as LabRecord;
use fourcorners_run::Observer;
use pyo3::prelude::*;

use crate::errors::Error;
use crate::watch::look;

/// How often Python is asked while the drives are at work.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// What the work tells the thread that waits for it, and it the work.
#[derive(Default)]
pub(crate) struct Told {
    /// How far each piece that was begun is, 0 to 1.
    parts: Mutex<Vec<f64>>,
    stop: AtomicBool,
}

impl Told {
    /// Whether the work is to stop.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Says how far the work is that is one piece.
    pub(crate) fn set(&self, part: f64) {
        *self.parts.lock().expect("no holder panics") = vec![part];
    }

    fn part_of(&self, pieces: usize) -> f64 {
        let parts = self.parts.lock().expect("no holder panics");
        (parts.iter().sum::<f64>() / pieces.max(1) as f64).min(1.0)
    }
}

/// Does `work` of so many pieces while Python goes on. What Python raises, Ctrl-C or a callback's
/// exception, stops it and is the end of the call.
pub(crate) fn in_background<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    pieces: usize,
    work: impl FnOnce(&Arc<Told>) -> T + Send + 'static,
) -> PyResult<T> {
    let told = Arc::new(Told::default());
    let (done, mut finished) = channel();
    let of_worker = Arc::clone(&told);
    let worker = std::thread::spawn(move || {
        // Whoever asked is gone only if it was stopped.
        let _ = done.send(work(&of_worker));
    });
    let mut raised = None;
    let result = loop {
        let waiting = &mut finished;
        match py.detach(move || waiting.recv_timeout(BETWEEN_LOOKS)) {
            Ok(result) => break result,
            Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                if let Err(error) = look(py, progress, told.part_of(pieces)) {
                    told.stop.store(true, Ordering::Relaxed);
                    raised = Some(error);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let _ = worker.join();
                return Err(Error::new_err("the work panicked: please report it"));
            }
        }
    };
    match raised {
        Some(raised) => Err(raised),
        None => Ok(result),
    }
}

/// Tells that all is done.
pub(crate) fn finished(py: Python<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    progress.map_or(Ok(()), |progress| progress.call1(py, (1.0,)).map(drop))
}

/// How far one piece is.
pub(crate) struct Piece {
    told: Arc<Told>,
    place: usize,
    calls: u32,
}

impl Piece {
    pub(crate) fn new(told: &Arc<Told>) -> Piece {
        let mut parts = told.parts.lock().expect("no holder panics");
        parts.push(0.0);
        Piece { told: Arc::clone(told), place: parts.len() - 1, calls: 0 }
    }

    fn is_at(&mut self, part_done: f64) -> bool {
        self.calls += 1;
        // A lock for every call would be one every few thousand I/Os of all threads.
        if self.calls.is_multiple_of(64) {
            self.told.parts.lock().expect("no holder panics")[self.place] = part_done;
        }
        !self.told.stopped()
    }
}

impl Watch for Piece {
    fn step(&mut self, _step: &Step<'_>) {}

    fn go_on(&mut self, part_done: f64) -> bool {
        self.is_at(part_done)
    }

    fn measured(&mut self, _so_far: &LabRecord) {}

    fn reached(&mut self, _checkpoint: &Checkpoint) {}
}

impl Observer for Piece {
    fn go_on(&mut self, part_done: f64) -> bool {
        self.is_at(part_done)
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        if let Ok(mut parts) = self.told.parts.lock() {
            parts[self.place] = 1.0;
        }
    }
}
