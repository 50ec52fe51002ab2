//! Reviews: the reviewers' methods on virtual drives.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use fourcorners_lab::campaign::{ChosenMethod, Session, Settings, Sink, measure};
use fourcorners_lab::device_under_test::DeviceUnderTest;
use fourcorners_lab::memory::check_memory;
use fourcorners_lab::review::{Checkpoint, Method, Step, UnknownMethod, Watch};
use fourcorners_linux::guard::LEAST_BYTES;
use fourcorners_record::Record as LabRecord;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::drive::Drive;
use crate::errors::Error;
use crate::record::Record;
use crate::watch::look;

/// How often Python is asked while the drives are at work.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// The names of all methods.
#[pyfunction]
pub(crate) fn methods() -> Vec<&'static str> {
    Method::ALL.map(Method::name).to_vec()
}

/// Tests virtual drives, new ones, by the reviewers' methods: a record for each drive and method.
///
/// `drives` are names, profiles or Drives, one or a list; a Drive's spare area is left alone.
/// `ios` is the most I/Os of each trace of storage-bench, by default all but for what takes minutes.
/// `progress` is called with how far it is, 0 to 1, on the thread that called.
#[pyfunction]
#[pyo3(signature = (drives, methods=None, *, quick=false, seed=1, ios=None, progress=None))]
pub(crate) fn review<'py>(
    py: Python<'py>,
    drives: &Bound<'py, PyAny>,
    methods: Option<&Bound<'_, PyAny>>,
    quick: bool,
    seed: u64,
    ios: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let methods = match methods {
        None if quick => Method::QUICK.to_vec(),
        None => Method::default_set(),
        Some(names) => methods_of(names)?,
    };
    let drives: Vec<Bound<'_, PyAny>> = match drives.extract() {
        Ok(list) if drives.cast::<pyo3::types::PyString>().is_err() => list,
        _ => vec![drives.clone()],
    };
    let chosen: Vec<ChosenMethod> = methods.iter().copied().map(ChosenMethod::from).collect();
    let (mut sessions, mut needs) = (Vec::new(), Vec::new());
    for drive in &drives {
        let (profile, spare) = Drive::of(drive)?;
        let bytes = profile.capacity_bytes();
        if bytes < LEAST_BYTES {
            return Err(Error::new_err(format!(
                "{} is too small with {bytes} bytes: set capacity.sectors to at least {}",
                profile.name,
                LEAST_BYTES / 512
            )));
        }
        needs.push(profile.memory_bytes());
        let spare_percent = spare * 100.0;
        let settings =
            Settings { quick, spare_percent, seed, most_ios: ios, ..Settings::default() };
        let target = DeviceUnderTest::Virtual(Box::new(profile));
        let session = Session::new(target, &chosen, &settings);
        sessions.push(session.map_err(|error| Error::new_err(error.to_string()))?);
    }
    check_memory(needs, 1).map_err(|error| PyMemoryError::new_err(error.to_string()))?;
    let reviews = sessions.len() * methods.len();
    let told = Arc::new(Told { parts: Mutex::default(), stop: AtomicBool::new(false) });
    let sink = Reviews(Arc::clone(&told));
    let (done, mut finished) = channel();
    let worker = std::thread::spawn(move || {
        let measured = measure(&sessions, &sink);
        // Whoever asked is gone only if it was stopped.
        let _ = done.send(measured);
    });
    let mut raised = None;
    let measured = loop {
        let waiting = &mut finished;
        match py.detach(move || waiting.recv_timeout(BETWEEN_LOOKS)) {
            Ok(measured) => break measured,
            Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                let part = told.part_of(reviews);
                if let Err(error) = look(py, progress.as_ref(), part) {
                    told.stop.store(true, Ordering::Relaxed);
                    raised = Some(error);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let _ = worker.join();
                return Err(Error::new_err("a review panicked: please report it"));
            }
        }
    };
    if let Some(raised) = raised {
        return Err(raised);
    }
    if let Some(progress) = &progress {
        progress.call1(py, (1.0,))?;
    }
    let document = measured.map_err(|error| Error::new_err(error.to_string()))?;
    let records = document.records.into_iter().map(|record| Record(Arc::new(record)));
    // A list that a notebook shows.
    let list = PyList::new(py, records.collect::<Vec<_>>())?;
    py.import("fourcorners._html")?.call_method1("Records", (list,))
}

fn methods_of(names: &Bound<'_, PyAny>) -> PyResult<Vec<Method>> {
    let names: Vec<String> = match names.extract::<String>() {
        Ok(list) => list.split(',').map(|name| name.trim().to_string()).collect(),
        Err(_) => names.extract()?,
    };
    let mut methods = Vec::new();
    for name in &names {
        let named = match name.as_str() {
            "all" => Method::ALL.to_vec(),
            name => {
                let method: Result<Method, UnknownMethod> = name.parse();
                vec![method.map_err(|error| PyValueError::new_err(error.to_string()))?]
            }
        };
        for method in named {
            if !methods.contains(&method) {
                methods.push(method);
            }
        }
    }
    if methods.is_empty() {
        return Err(PyValueError::new_err("methods is empty: name one, or leave it out"));
    }
    Ok(methods)
}

/// What the reviews tell the thread that waits for them, and it them.
struct Told {
    /// How far each that was begun is.
    parts: Mutex<Vec<f64>>,
    stop: AtomicBool,
}

impl Told {
    fn part_of(&self, reviews: usize) -> f64 {
        let parts = self.parts.lock().expect("no holder panics");
        (parts.iter().sum::<f64>() / reviews.max(1) as f64).min(1.0)
    }
}

/// The reviews of one call, told to the thread that waits for them.
struct Reviews(Arc<Told>);

impl Sink for Reviews {
    type Watch = Progress;

    fn watch(&self, _target: &str, _method: &str) -> Progress {
        Progress::new(&self.0)
    }

    fn stopped(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed)
    }
}

/// How far one review is.
struct Progress {
    told: Arc<Told>,
    place: usize,
    calls: u32,
}

impl Progress {
    fn new(told: &Arc<Told>) -> Progress {
        let mut parts = told.parts.lock().expect("no holder panics");
        parts.push(0.0);
        Progress { told: Arc::clone(told), place: parts.len() - 1, calls: 0 }
    }
}

impl Watch for Progress {
    fn step(&mut self, _step: &Step<'_>) {}

    fn go_on(&mut self, part_done: f64) -> bool {
        self.calls += 1;
        // A lock for every call would be one every few thousand I/Os of all threads.
        if self.calls.is_multiple_of(64) {
            self.told.parts.lock().expect("no holder panics")[self.place] = part_done;
        }
        !self.told.stop.load(Ordering::Relaxed)
    }

    fn measured(&mut self, _so_far: &LabRecord) {}

    fn reached(&mut self, _checkpoint: &Checkpoint) {}
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Ok(mut parts) = self.told.parts.lock() {
            parts[self.place] = 1.0;
        }
    }
}
