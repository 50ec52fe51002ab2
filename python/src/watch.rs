//! Checks during a run: Ctrl-C, and progress.

use std::time::{Duration, Instant};

use fourcorners_run::Observer;
use pyo3::prelude::*;

/// How often Python is asked: a look costs microseconds, and a person waits no shorter.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
/// How many calls of the observer pass without a look at the clock: each is thousands of I/Os.
const CALLS_A_LOOK: u32 = 4;

/// Watches a run on the thread that called from Python.
pub(crate) struct Watched<'a> {
    progress: Option<&'a Py<PyAny>>,
    calls: u32,
    looked: Instant,
    /// What Python raised: the run ends, and this is the end of the call.
    pub(crate) raised: Option<PyErr>,
}

impl<'a> Watched<'a> {
    pub(crate) fn new(progress: Option<&'a Py<PyAny>>) -> Watched<'a> {
        Watched { progress, calls: 0, looked: Instant::now(), raised: None }
    }
}

impl Observer for Watched<'_> {
    fn go_on(&mut self, part_done: f64) -> bool {
        if self.raised.is_some() {
            return false;
        }
        self.calls += 1;
        if !self.calls.is_multiple_of(CALLS_A_LOOK) || self.looked.elapsed() < BETWEEN_LOOKS {
            return true;
        }
        self.looked = Instant::now();
        let answer = Python::attach(|py| look(py, self.progress, part_done));
        self.raised = answer.err();
        self.raised.is_none()
    }
}

/// Asks Python once: whether there was a signal, and what the callback says. It stops what is
/// going on by raising.
pub(crate) fn look(py: Python<'_>, progress: Option<&Py<PyAny>>, part_done: f64) -> PyResult<()> {
    py.check_signals()?;
    if let Some(progress) = progress {
        progress.call1(py, (part_done,))?;
    }
    Ok(())
}
