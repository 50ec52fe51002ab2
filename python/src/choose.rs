//! Which drive for a work.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use fourcorners_lab::choose::{
    Candidate, Capacity, Jobs, MOST_GB_PER_DAY, Recording, Request, State, USUAL_IOS, Work,
    WorkError, candidates, choose as lab_choose,
};
use fourcorners_record::{CHOICE_SCHEMA, Choice as LabChoice, RankedDrive};
use fourcorners_trace::Options;
use fourcorners_words::count;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::background::{finished, in_background};
use crate::errors::{self, Error, RecordError, TraceError};
use crate::fio::FioJobs;
use crate::named::NamedDrive;
use crate::number::{Real, Whole};
use crate::profile::DriveProfile;
use crate::review::one_or_several;
use crate::trace::Trace;

/// What a job file that was given as a text is called.
const JOBS: &str = "job.fio";

/// Has drives do the same work in virtual time, and ranks them by the time that the work waited for each, as `fourcorners
/// choose` does.
///
/// `work` is a trace in any format, a job file (`.fio`), `task:NAME` or `generated:NAME`, a Trace, or a `Job.from_fio(text)`.
/// `drives` are those to choose from, by default all of the catalogue; `also` are more: arrays, caches, profiles, Drives.
/// `capacity` leaves of them those of a range, "200-300GB", "500GB-" or "1TB", as `--capacity` does; what `also` and `have` name stays.
/// `have` is the drive that one has, which is ranked among them. Each is a name, a path or a Drive; of a Drive only the
/// profile counts, for each does the work new, in the `state` "written" (what the work touches is there) or "used".
///
/// `gb_per_day` is what the work reads and writes a day, 10^9 bytes, for hours and years; `prices` has prices by the names
/// of drives. `ios` is the most I/Os of a generated workload or a job file, by default 200,000; `seed` is that of a task
/// or a generated workload, by default 1; both of a Trace are its own. `progress` is called with how far it is, 0 to 1.
#[pyfunction]
#[pyo3(signature = (work, drives=None, *, capacity=None, also=None, have=None, state="written", gb_per_day=None, prices=None,
    ios=None, seed=None, progress=None))]
#[allow(clippy::too_many_arguments)] // They are Python's keywords.
pub(crate) fn choose(
    py: Python<'_>,
    work: &Bound<'_, PyAny>,
    drives: Option<&Bound<'_, PyAny>>,
    capacity: Option<&str>,
    also: Option<&Bound<'_, PyAny>>,
    have: Option<&Bound<'_, PyAny>>,
    state: &str,
    gb_per_day: Option<Real>,
    prices: Option<BTreeMap<String, Real>>,
    ios: Option<Whole>,
    seed: Option<Whole>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Choice> {
    let state = match state {
        "written" => State::Written,
        "used" => State::Used,
        other => {
            let message = format!("state={other:?}: it is \"written\" or \"used\"");
            return Err(PyValueError::new_err(message));
        }
    };
    let gb_per_day = gb_per_day.map(|Real(gb)| gb);
    if let Some(gb) = gb_per_day.filter(|gb| !(*gb > 0.0 && *gb <= MOST_GB_PER_DAY)) {
        let most = count(MOST_GB_PER_DAY);
        let message =
            format!("gb_per_day={gb}: give 10^9 bytes a day, a number above 0 and up to {most}");
        return Err(PyValueError::new_err(message));
    }
    let catalogue = candidates();
    let mut all = match drives {
        None => catalogue.clone(),
        Some(drives) => {
            let mut all = Vec::new();
            for drive in one_or_several(drives) {
                add(&drive, &catalogue, &mut all)?;
            }
            if all.is_empty() {
                let message = "drives is empty: name one, or leave it out for all of the catalogue";
                return Err(PyValueError::new_err(message));
            }
            all
        }
    };
    let capacity = capacity.map(|text| Capacity::of_some(text, &all)).transpose();
    let capacity = capacity.map_err(|error| PyValueError::new_err(format!("capacity={error}")))?;
    let have = have.map(|drive| add(drive, &catalogue, &mut all)).transpose()?;
    let mut named: Vec<String> = have.iter().cloned().collect();
    for drive in also.into_iter().flat_map(one_or_several) {
        named.push(add(&drive, &catalogue, &mut all)?);
    }
    if let Some(capacity) = capacity {
        capacity.choose_from(&mut all, &named);
    }
    let prices = prices.unwrap_or_default();
    let prices = prices.into_iter().map(|(drive, Real(price))| (drive, price)).collect();
    check_prices(&prices, &all)?;
    let source = WorkSource::of(work, ios, seed)?;
    let count = all.len();
    let chosen = in_background(py, progress.as_ref(), 1, move |told| {
        let Some(work) = source.read(&mut || !told.stopped())? else { return Ok(None) };
        let request = Request { work, state, candidates: all, have, gb_per_day, prices };
        let watch = |done: usize| {
            told.set(done as f64 / count as f64);
            !told.stopped()
        };
        lab_choose(&request, &watch).map(Some).map_err(|error| Error::new_err(error.to_string()))
    })??;
    finished(py, progress.as_ref())?;
    match chosen {
        Some(choice) => Ok(Choice(Arc::new(choice))),
        // Whoever stops it raises, and that is the end of the call before this.
        None => Err(PyKeyboardInterrupt::new_err("stopped")),
    }
}

/// Adds a drive to those to choose from, unless it is there; the name that it has in the ranking.
fn add(
    drive: &Bound<'_, PyAny>,
    catalogue: &[Candidate],
    all: &mut Vec<Candidate>,
) -> PyResult<String> {
    let NamedDrive { profile, is_as_named, .. } = NamedDrive::whole(drive, "a choice")?;
    let name = profile.name().to_string();
    if let Some(known) = all.iter().find(|known| known.name() == name) {
        // The same drive named twice; with something changed it would be another one of the same name.
        let is_same = match (&profile, &known.made_of) {
            (DriveProfile::One(profile), fourcorners_lab::choose::MadeOf::Drive(known)) => {
                profile.hash() == known.hash()
            }
            (DriveProfile::Several(array), fourcorners_lab::choose::MadeOf::Array(known)) => {
                array.hash() == known.hash()
            }
            _ => false,
        };
        return match is_same {
            true => Ok(name),
            false => Err(PyValueError::new_err(format!(
                "there is another drive called {name}: change the name in its profile, \
                 fc.Drive.from_toml(drive.to_toml().replace(...))"
            ))),
        };
    }
    let of_catalogue = catalogue.iter().find(|it| is_as_named && it.name() == name);
    all.push(match (of_catalogue, profile) {
        // With its family, whose errors the band is from.
        (Some(candidate), _) => candidate.clone(),
        (None, DriveProfile::One(profile)) => Candidate::of(*profile),
        (None, DriveProfile::Several(array)) => Candidate::of_array(*array),
    });
    Ok(name)
}

fn check_prices(prices: &BTreeMap<String, f64>, all: &[Candidate]) -> PyResult<()> {
    for (drive, price) in prices {
        if !all.iter().any(|it| it.name() == drive) {
            let message = format!("prices: {drive:?} is none of the drives to choose from");
            return Err(PyValueError::new_err(message));
        }
        if !(price.is_finite() && *price > 0.0) {
            let message = format!("prices: {drive:?} costs {price}: give a number above 0");
            return Err(PyValueError::new_err(message));
        }
    }
    Ok(())
}

/// Where the work is from; it is read on the thread that does it.
enum WorkSource {
    Named(PathBuf, Option<u64>, u64),
    Trace(PathBuf, Options),
    Jobs(Jobs),
}

impl WorkSource {
    fn of(
        work: &Bound<'_, PyAny>,
        ios: Option<Whole>,
        seed: Option<Whole>,
    ) -> PyResult<WorkSource> {
        let ios = ios.map(|ios| match ios.inside(1..=u64::MAX) {
            Some(ios) => Ok(ios),
            None => Err(PyValueError::new_err(format!(
                "ios={}: give a number from 1 to {}, or leave it out",
                ios.shown(),
                u64::MAX
            ))),
        });
        let ios = ios.transpose()?;
        let seed = seed.map(|seed| seed.within("seed", 0..=u64::MAX)).transpose()?;
        if let (Some(seed), Ok(_)) = (seed, work.cast::<FioJobs>()) {
            return Err(of_no_seed(seed, "a job file has its own, randseed"));
        }
        if let (Some(seed), Ok(_)) = (seed, work.cast::<Trace>()) {
            return Err(of_no_seed(seed, "that of a Trace is its own, fc.Trace(name, seed=...)"));
        }
        if let Ok(jobs) = work.cast::<FioJobs>() {
            let file = jobs.get().file().clone();
            return Ok(WorkSource::Jobs(Jobs::of(JOBS, file, ios.unwrap_or(USUAL_IOS))));
        }
        if let Ok(trace) = work.cast::<Trace>() {
            let trace = trace.get();
            if ios.is_some() {
                let message = "ios of a Trace is its own: leave it out, fc.Trace(name, ios=...)";
                return Err(PyValueError::new_err(message));
            }
            return Ok(WorkSource::Trace(trace.path.clone(), trace.options.clone()));
        }
        let path: PathBuf = work.extract()?;
        let named = path.display().to_string();
        let draws = ["task:", "generated:"].iter().any(|kind| named.starts_with(kind));
        if let Some(seed) = seed.filter(|_| !draws) {
            let why = format!("{named} is neither a task nor a generated workload");
            return Err(of_no_seed(seed, &why));
        }
        Ok(WorkSource::Named(path, ios, seed.unwrap_or(1)))
    }

    fn read(self, go_on: &mut dyn FnMut() -> bool) -> PyResult<Option<Work>> {
        let read = match self {
            WorkSource::Jobs(jobs) => Ok(Some(Work::Jobs(jobs))),
            WorkSource::Named(path, ios, seed) => Work::read(&path, ios, seed, go_on),
            WorkSource::Trace(path, options) => Recording::read(&path, &options, go_on)
                .map(|read| read.map(|read| Work::Recording(Box::new(read)))),
        };
        read.map_err(|error| match error {
            WorkError::Jobs(error) => errors::job_file(error),
            error @ WorkError::HasALength { .. } => PyValueError::new_err(error.to_string()),
            error => TraceError::new_err(error.to_string()),
        })
    }
}

/// A seed that would change nothing.
fn of_no_seed(seed: u64, why: &str) -> PyErr {
    PyValueError::new_err(format!("seed={seed}: {why}: leave it out"))
}

/// A ranking of drives by a work: the document of `fourcorners choose --json`.
#[pyclass(frozen, eq, module = "fourcorners")]
#[derive(PartialEq)]
pub(crate) struct Choice(Arc<LabChoice>);

#[pymethods]
impl Choice {
    /// The work that every drive did, as a dictionary.
    #[getter]
    fn work<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize::pythonize(py, &self.0.work)?)
    }

    /// State of the solid-state drives before it: `"written"` or `"used"`.
    #[getter]
    fn state(&self) -> &str {
        &self.0.state
    }

    /// The drive that one has, by its name.
    #[getter]
    fn have(&self) -> Option<&str> {
        self.0.have.as_deref()
    }

    /// What the work reads and writes a day, 10^9 bytes.
    #[getter]
    fn gb_per_day(&self) -> Option<f64> {
        self.0.gb_per_day
    }

    /// Whether the addresses of the work were changed to fit any of the drives.
    #[getter]
    fn rescaled(&self) -> bool {
        self.0.rescaled
    }

    /// Names of the drives, those that the work waits least for first.
    #[getter]
    fn drives(&self) -> Vec<&str> {
        self.0.ranking.iter().map(|drive| drive.drive.as_str()).collect()
    }

    /// The drives that could not do the work: a dictionary of `drive` and `why` each.
    #[getter]
    fn left_out<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize::pythonize(py, &self.0.left_out)?)
    }

    /// Remarks.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes.clone()
    }

    /// The answer in words, as the command says it: the fastest, how sure that is, and the drive one has.
    #[getter]
    fn text(&self) -> String {
        self.0.sentences().join(" ").replace("--gb-per-day N", "gb_per_day=N")
    }

    /// A row for each drive, the first the one that the work waits least for. Keys are those of the document, with
    /// the band as `band_low_s` and `band_high_s`.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows: PyResult<Vec<_>> = self.0.ranking.iter().map(|drive| row(py, drive)).collect();
        PyList::new(py, rows?)
    }

    /// The same as a pandas DataFrame.
    fn to_pandas<'py>(slf: &Bound<'py, Choice>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("fourcorners._frames")?.call_method1("choice_to_pandas", (slf,))
    }

    /// The same as a table of Arrow.
    fn to_arrow<'py>(slf: &Bound<'py, Choice>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("fourcorners._frames")?.call_method1("choice_to_arrow", (slf,))
    }

    /// All of it as JSON: what `fourcorners choose --json` prints.
    fn to_json(&self) -> String {
        serde_json::to_string(&*self.0).expect("a choice has text keys")
    }

    /// The choice that `to_json` or the command wrote.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Choice> {
        let wrong = |why: String| RecordError::new_err(format!("this is not a choice: {why}"));
        let choice: LabChoice =
            serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        match choice.schema == CHOICE_SCHEMA {
            true => Ok(Choice(Arc::new(choice))),
            false => Err(wrong(format!(
                "it is of \"{}\", and this reads {CHOICE_SCHEMA}",
                choice.schema
            ))),
        }
    }

    /// All of it as dictionaries and lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (self.to_json(),))
    }

    /// The page that `fourcorners choose -o` writes: one HTML document that asks nothing of a network.
    fn to_html(&self) -> String {
        fourcorners_report::choice_page(&self.0)
    }

    /// What a notebook shows: the answer, and a row for each drive.
    fn _repr_html_<'py>(slf: &Bound<'py, Choice>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("fourcorners._html")?.call_method1("choice", (slf,))
    }

    fn __len__(&self) -> usize {
        self.0.ranking.len()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Choice>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("from_json")?, (slf.get().to_json(),)))
    }

    fn __repr__(&self) -> String {
        format!("<Choice of {} drives for {}: {}>", self.__len__(), self.0.work.name, self.text())
    }
}

/// A drive as a flat dictionary.
fn row<'py>(py: Python<'py>, drive: &RankedDrive) -> PyResult<Bound<'py, PyDict>> {
    let of_document = pythonize::pythonize(py, drive)?;
    let row = PyDict::new(py);
    for (key, value) in of_document.cast::<PyDict>()?.iter() {
        if key.eq("band_s")? {
            row.set_item("band_low_s", drive.band_s[0])?;
            row.set_item("band_high_s", drive.band_s[1])?;
        } else {
            row.set_item(key, value)?;
        }
    }
    Ok(row)
}
