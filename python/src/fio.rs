//! fio's job files, and what came of them in fio's words.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use fourcorners_drive::Geometry;
use fourcorners_fio::jobfile::{JobFile, Jobs, Placed};
use fourcorners_fio::output::{Cost, Report, TargetRun, json, normal};
use fourcorners_record::{ClockName, TargetInfo};
use fourcorners_run::streams::RunResult;
use pyo3::prelude::*;

use crate::errors;

/// What errors call a text without a name.
pub(crate) const NAME: &str = "job.fio";
/// Where the random numbers of jobs with `randrepeat=0` begin: a drive's answers depend on nothing
/// that is not said.
const SEED: u64 = 1;

/// Jobs of a fio job file.
#[pyclass(frozen, module = "fourcorners")]
pub(crate) struct FioJobs {
    /// The job file.
    #[pyo3(get)]
    text: String,
    /// What errors call it; what it includes is looked for beside that.
    name: String,
    /// The variables of the environment that it uses, as they were when it was read.
    #[pyo3(get)]
    environment: BTreeMap<String, String>,
    file: JobFile,
}

#[pymethods]
impl FioJobs {
    #[new]
    #[pyo3(signature = (text, *, name=NAME.to_string()))]
    pub(crate) fn new(text: String, name: String) -> PyResult<FioJobs> {
        FioJobs::read(text, name, &|variable| std::env::var(variable).ok())
    }

    /// The jobs that were pickled: a worker's environment is another one.
    #[staticmethod]
    fn _again(
        text: String,
        name: String,
        environment: BTreeMap<String, String>,
    ) -> PyResult<FioJobs> {
        FioJobs::read(text, name, &|variable| environment.get(variable).cloned())
    }

    fn __reduce__<'py>(slf: &Bound<'py, FioJobs>) -> PyResult<(Bound<'py, PyAny>, Again)> {
        let FioJobs { text, name, environment, .. } = slf.get();
        let all = (text.clone(), name.clone(), environment.clone());
        Ok((slf.get_type().getattr("_again")?, all))
    }

    fn __repr__(&self) -> String {
        format!("Job.from_fio({:?})", self.text)
    }
}

/// What `_again` takes.
type Again = (String, String, BTreeMap<String, String>);

impl FioJobs {
    fn read(
        text: String,
        name: String,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> PyResult<FioJobs> {
        let used = RefCell::new(BTreeMap::new());
        let noted = |variable: &str| {
            let value = environment(variable)?;
            used.borrow_mut().insert(variable.to_string(), value.clone());
            Some(value)
        };
        let file = JobFile::from_text(&text, Path::new(&name), &noted);
        let file = file.map_err(errors::job_file)?;
        Ok(FioJobs { text, name, environment: used.into_inner(), file })
    }

    pub(crate) fn file(&self) -> &JobFile {
        &self.file
    }

    /// The jobs on what they may touch of a drive; whatever file they name, it is that drive.
    pub(crate) fn on(&self, geometry: Geometry) -> PyResult<Jobs> {
        let placed = Placed { geometry, is_virtual: true, seed: SEED, first_job: 0 };
        self.file.on(placed, |_| true).map_err(errors::job_file)
    }
}

/// What came of a fio job file.
#[pyclass(frozen, module = "fourcorners")]
pub(crate) struct FioResult {
    /// What a user should know of the job file.
    #[pyo3(get)]
    warnings: Vec<String>,
    /// fio's JSON as text, with the bins of every latency (`json+`).
    #[pyo3(get)]
    json: String,
    /// fio's report for people.
    #[pyo3(get)]
    text: String,
}

#[pymethods]
impl FioResult {
    /// fio's JSON as a dictionary.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (&self.json,))
    }

    /// The result that was pickled.
    #[staticmethod]
    fn _again(warnings: Vec<String>, json: String, text: String) -> FioResult {
        FioResult { warnings, json, text }
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, FioResult>,
    ) -> PyResult<(Bound<'py, PyAny>, (Vec<String>, String, String))> {
        let FioResult { warnings, json, text } = slf.get();
        let all = (warnings.clone(), json.clone(), text.clone());
        Ok((slf.get_type().getattr("_again")?, all))
    }

    /// The jobs of fio's JSON.
    #[getter]
    fn jobs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_dict(py)?.get_item("jobs")
    }

    fn __repr__(&self) -> &str {
        &self.text
    }
}

impl FioResult {
    pub(crate) fn of(
        jobs: &FioJobs,
        placed: Jobs,
        target: TargetInfo,
        result: RunResult,
    ) -> FioResult {
        let warnings = placed.warnings.clone();
        let run = TargetRun {
            disk: None,
            target,
            clock: ClockName::Virtual,
            jobs: placed,
            result,
            cost: Cost::default(),
            seconds: 0.0,
            // A virtual drive's clock is not waited for.
            looked_s: 0.0,
            overhead_ns_per_io: None,
        };
        let now = jiff::Timestamp::now();
        let report = Report {
            globals: jobs.file.globals.clone(),
            runs: vec![run],
            at_ms: now.as_millisecond(),
            at: now.strftime("%a %b %e %H:%M:%S %Y").to_string(),
        };
        FioResult { warnings, json: json(&report, true), text: normal(&report) }
    }
}
