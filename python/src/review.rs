//! Reviews: the reviewers' methods on virtual drives.

use std::sync::Arc;

use fourcorners_lab::campaign::{ChosenMethod, Session, Settings, Sink, author_name, measure};
use fourcorners_lab::memory::check_memory;
use fourcorners_lab::review::{Method, UnknownMethod, Watch};
use fourcorners_linux::guard::LEAST_BYTES;
use fourcorners_record::Record as LabRecord;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::background::{Piece, Told, finished, in_background};
use crate::errors::Error;
use crate::named::NamedDrive;
use crate::number::Whole;
use crate::record::Record;
use crate::words::names_of;

/// The names of all methods.
#[pyfunction]
pub(crate) fn methods() -> Vec<&'static str> {
    Method::ALL.map(Method::name).to_vec()
}

/// Tests virtual drives, new ones, by the reviewers' methods: a record for each drive and method.
///
/// `drives` are names, profiles or Drives, one or a list; a Drive's spare area is left alone.
/// `author` is who reviews, for the records and their page.
/// `ios` is the most I/Os of each trace of storage-bench, by default all but for what takes minutes.
/// `progress` is called with how far it is, 0 to 1, on the thread that called.
#[pyfunction]
#[pyo3(signature = (drives, methods=None, *, quick=false, seed=Whole::of(1), ios=None, author=None, progress=None))]
#[allow(clippy::too_many_arguments)] // They are Python's keywords.
pub(crate) fn review<'py>(
    py: Python<'py>,
    drives: &Bound<'py, PyAny>,
    methods: Option<&Bound<'_, PyAny>>,
    quick: bool,
    seed: Whole,
    ios: Option<Whole>,
    author: Option<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let seed = seed.within("seed", 0..=u64::MAX)?;
    let ios = ios.map(|ios| ios.within("ios", 1..=u64::MAX)).transpose()?;
    let author = author.as_deref().map(author_name).transpose();
    let author = author.map_err(|why| PyValueError::new_err(format!("author: {why}")))?;
    let methods = match methods {
        None if quick => Method::QUICK.to_vec(),
        None => Method::default_set(),
        Some(names) => methods_of(names)?,
    };
    if let Some(ios) = ios.filter(|_| !methods.contains(&Method::StorageBench)) {
        return Err(PyValueError::new_err(format!(
            "ios={ios}: it is the most I/Os of a trace of storage-bench, which is none of the methods: leave ios out, or add \
             \"storage-bench\" to methods"
        )));
    }
    let drives = one_or_several(drives);
    if drives.is_empty() {
        return Err(PyValueError::new_err("drives is empty: name one"));
    }
    let chosen: Vec<ChosenMethod> = methods.iter().copied().map(ChosenMethod::from).collect();
    let (mut sessions, mut needs) = (Vec::new(), Vec::new());
    for drive in &drives {
        let NamedDrive { profile, spare, .. } = NamedDrive::of(drive)?;
        let bytes = profile.capacity_bytes();
        if bytes < LEAST_BYTES {
            return Err(Error::new_err(format!(
                "{} is too small with {bytes} bytes: set capacity.sectors to at least {}",
                profile.name(),
                LEAST_BYTES / 512
            )));
        }
        needs.push(profile.memory_bytes());
        let spare_percent = spare * 100.0;
        let settings =
            Settings { quick, spare_percent, seed, most_ios: ios, ..Settings::default() };
        let session = Session::new(profile.under_test(), &chosen, &settings);
        let session = session.map_err(|error| Error::new_err(error.to_string()))?;
        sessions.push(Session { author: author.clone(), ..session });
    }
    check_memory(needs, 1).map_err(|error| PyMemoryError::new_err(error.to_string()))?;
    let reviews = sessions.len() * methods.len();
    let measured = in_background(py, progress.as_ref(), reviews, move |told| {
        measure(&sessions, &Reviews(Arc::clone(told)))
    })?;
    finished(py, progress.as_ref())?;
    let document = measured.map_err(|error| Error::new_err(error.to_string()))?;
    as_list(py, document.records)
}

/// A list that a notebook shows.
pub(crate) fn as_list(py: Python<'_>, records: Vec<LabRecord>) -> PyResult<Bound<'_, PyAny>> {
    let records = records.into_iter().map(|record| Record(Arc::new(record)));
    let list = PyList::new(py, records.collect::<Vec<_>>())?;
    py.import("fourcorners._html")?.call_method1("Records", (list,))
}

/// What a caller gave for several: a list, or one alone.
pub(crate) fn one_or_several<'py>(given: &Bound<'py, PyAny>) -> Vec<Bound<'py, PyAny>> {
    match given.extract() {
        Ok(list) if given.cast::<PyString>().is_err() => list,
        _ => vec![given.clone()],
    }
}

fn methods_of(names: &Bound<'_, PyAny>) -> PyResult<Vec<Method>> {
    let names = names_of("methods", names)?;
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

/// The reviews of one call, told to the thread that waits for them.
struct Reviews(Arc<Told>);

impl Sink for Reviews {
    fn watch<'w>(&'w self, _target: &str, _method: &str) -> Box<dyn Watch + 'w> {
        Box::new(Piece::new(&self.0))
    }

    fn stopped(&self) -> bool {
        self.0.stopped()
    }
}
