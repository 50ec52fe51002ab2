//! What is inside a drive, from the times of its I/Os.

use std::sync::Arc;

use fourcorners_lab::diagnose::{
    Budget, BudgetError, Detector, Diagnosis as LabDiagnosis, Finding as LabFinding, Noise,
    Options, SCHEMA, Standing, Value, diagnose as lab_diagnose,
};
use fourcorners_lab::memory::check_memory;
use fourcorners_linux::Setup;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::background::{finished, in_background};
use crate::errors::{Error, RecordError};
use crate::named::NamedDrive;
use crate::number::Whole;
use crate::pickle::{Reduced, again, reduced};
use crate::record::optional;
use crate::words::names_of;

/// I/Os in flight and bytes of one, at most, of all detectors.
const SETUP: Setup = Setup { queue_depth: 8, max_block_bytes: 128 << 10 };

/// The names of all detectors, in the order in which they are run.
#[pyfunction]
pub(crate) fn detectors() -> Vec<&'static str> {
    Detector::ALL.map(Detector::name).to_vec()
}

/// Finds out what is inside a virtual drive from the times of its I/Os alone, as `fourcorners diagnose` does.
///
/// `drive` is a name, a profile, an array or a Drive, of which only the profile counts: what is diagnosed is new. `only`
/// are names of detectors, one or a list, or "all"; by default "kind", "row", "dies", "page-kinds", "read-ahead" and
/// "write-buffer". With `budget` they write so much at most ("20G") or take so long ("30m", "2h", at 200 MB/s): without
/// `only`, all that fit are run. `seed` is that of the places read and written; `noise` shows the detectors the times as a
/// machine would: "none", "lab" (quiet) or "host" (busy). `progress` is called with the part of the detectors that have
/// begun, 0 to 1.
#[pyfunction]
#[pyo3(signature = (drive, *, only=None, budget=None, seed=Whole::of(1), noise="none", progress=None))]
pub(crate) fn diagnose(
    py: Python<'_>,
    drive: &Bound<'_, PyAny>,
    only: Option<&Bound<'_, PyAny>>,
    budget: Option<&str>,
    seed: Whole,
    noise: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<Diagnosis> {
    let seed = seed.within("seed", 0..=u64::MAX)?;
    let named = NamedDrive::whole(drive, "a diagnosis")?;
    let noise = Noise::ALL.into_iter().find(|it| it.name() == noise).ok_or_else(|| {
        let names = Noise::ALL.map(Noise::name).join(", ");
        PyValueError::new_err(format!("noise={noise:?}: there are {names}"))
    })?;
    check_memory(vec![named.profile.memory_bytes()], 1)
        .map_err(|error| PyMemoryError::new_err(error.to_string()))?;
    let name = named.profile.name().to_string();
    let device = named.profile.under_test();
    let usual = Options { detectors: Detector::USUAL.to_vec(), seed, noise };
    let options = match (only, budget) {
        (None, None) => usual,
        (None, Some(text)) => of_budget(text, |budget| budget.spend(usual, device.geometry()))?,
        (Some(only), budget) => {
            let named = Options { detectors: detectors_of(only)?, ..usual };
            if let Some(text) = budget {
                of_budget(text, |budget| budget.allow(&named, device.geometry()))?;
            }
            named
        }
    };
    let found = in_background(py, progress.as_ref(), 1, move |told| {
        let mut ready = device.open_for(SETUP).map_err(|error| error.to_string())?;
        let in_order = Detector::ALL.into_iter().filter(|it| options.detectors.contains(it));
        let names: Vec<&str> = in_order.map(Detector::name).collect();
        let mut watch = |running: &str| {
            // What is run before all of them is the region that they read.
            let begun = names.iter().position(|name| *name == running).map_or(0, |at| at + 1);
            told.set(begun as f64 / (names.len() + 1) as f64);
            !told.stopped()
        };
        Ok::<_, String>(lab_diagnose(&mut ready.drive, &name, &options, &mut watch))
    })?;
    let found = found.map_err(Error::new_err)?;
    finished(py, progress.as_ref())?;
    Ok(Diagnosis(Arc::new(found)))
}

/// What comes of a budget, or what is wrong with it.
fn of_budget<T>(text: &str, then: impl FnOnce(Budget) -> Result<T, BudgetError>) -> PyResult<T> {
    let wrong = |why: String| PyValueError::new_err(format!("budget={why}"));
    let budget = Budget::parse(text).map_err(|error| wrong(error.to_string()))?;
    then(budget).map_err(|error| wrong(format!("{text}: {error}")))
}

fn detectors_of(names: &Bound<'_, PyAny>) -> PyResult<Vec<Detector>> {
    let names = names_of("only", names)?;
    let mut detectors = Vec::new();
    for name in &names {
        match (name.as_str(), Detector::named(name)) {
            ("all", _) => detectors.extend(Detector::ALL),
            (_, Some(detector)) => detectors.push(detector),
            (_, None) => {
                let all = Detector::ALL.map(Detector::name).join(", ");
                return Err(PyValueError::new_err(format!(
                    "only={name:?}: there is no such detector; choose from: {all}"
                )));
            }
        }
    }
    match detectors.is_empty() {
        true => Err(PyValueError::new_err("only is empty: name a detector, or leave it out")),
        false => Ok(detectors),
    }
}

/// What was found inside a drive: the document of `fourcorners diagnose --json`.
#[pyclass(frozen, eq, module = "fourcorners")]
#[derive(PartialEq)]
pub(crate) struct Diagnosis(Arc<LabDiagnosis>);

#[pymethods]
impl Diagnosis {
    /// The drive as it was named.
    #[getter]
    fn target(&self) -> &str {
        &self.0.target
    }

    /// Seed of the places that were read and written.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed
    }

    /// What was found, and what was not and why.
    #[getter]
    fn findings(&self) -> Vec<Finding> {
        self.0.findings.iter().cloned().map(Finding).collect()
    }

    /// The finding of a key: `diagnosis["write_buffer_kib"]`.
    fn __getitem__(&self, key: &str) -> PyResult<Finding> {
        let found = self.0.findings.iter().find(|finding| finding.key == key);
        found.cloned().map(Finding).ok_or_else(|| {
            let keys: Vec<&str> = self.0.findings.iter().map(|it| it.key.as_str()).collect();
            let message = format!("{key:?} was not looked for; there are {}", keys.join(", "));
            pyo3::exceptions::PyKeyError::new_err(message)
        })
    }

    /// The samples of each detector: a list of what the two numbers are and the samples, two columns.
    #[getter]
    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for evidence in &self.0.evidence {
            let series: PyResult<Vec<_>> = evidence
                .series
                .iter()
                .map(|it| {
                    let flat = it.samples.iter().flatten().copied();
                    let array = PyArray1::from_iter(py, flat).reshape([it.samples.len(), 2])?;
                    Ok((it.what.clone(), array))
                })
                .collect::<PyResult<Vec<(String, Bound<'py, PyArray2<f64>>)>>>();
            all.set_item(&evidence.detector, series?)?;
        }
        Ok(all)
    }

    /// A row for each finding; of an interval `low` and `high`.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows: PyResult<Vec<_>> =
            self.0.findings.iter().map(|finding| row(py, finding)).collect();
        PyList::new(py, rows?)
    }

    /// The same as a pandas DataFrame.
    fn to_pandas<'py>(slf: &Bound<'py, Diagnosis>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("fourcorners._frames")?.call_method1("diagnosis_to_pandas", (slf,))
    }

    /// All of it as JSON, with all samples: what `fourcorners diagnose --json` prints.
    fn to_json(&self) -> String {
        serde_json::to_string(&*self.0).expect("a diagnosis has text keys")
    }

    /// The diagnosis that `to_json` or the command wrote.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Diagnosis> {
        let wrong = |why: String| RecordError::new_err(format!("this is not a diagnosis: {why}"));
        let found: LabDiagnosis =
            serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        match found.schema == SCHEMA {
            true => Ok(Diagnosis(Arc::new(found))),
            false => Err(wrong(format!("it is of \"{}\", and this reads {SCHEMA}", found.schema))),
        }
    }

    /// All of it as dictionaries and lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (self.to_json(),))
    }

    /// The page that `fourcorners diagnose -o` writes, with its charts: one HTML document that asks nothing of a network.
    fn to_html(&self) -> String {
        fourcorners_report::diagnosis_page(&self.0)
    }

    /// What a notebook shows: a row for each finding.
    fn _repr_html_<'py>(slf: &Bound<'py, Diagnosis>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("fourcorners._html")?.call_method1("diagnosis", (slf,))
    }

    fn __len__(&self) -> usize {
        self.0.findings.len()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Diagnosis>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("from_json")?, (slf.get().to_json(),)))
    }

    fn __repr__(&self) -> String {
        let known = self.0.findings.iter().filter(|it| it.standing == Standing::Determined);
        let (known, all) = (known.count(), self.0.findings.len());
        format!("<Diagnosis of {}: {known} of {all} properties determined>", self.0.target)
    }
}

/// One property of a drive: its value, or why there is none.
#[pyclass(frozen, module = "fourcorners")]
pub(crate) struct Finding(LabFinding);

#[pymethods]
impl Finding {
    /// The finding that was pickled.
    #[staticmethod]
    fn _again(text: &str) -> PyResult<Finding> {
        again(text).map(Finding)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Finding>) -> PyResult<Reduced<'py>> {
        reduced(slf, &slf.get().0)
    }

    /// Which property.
    #[getter]
    fn key(&self) -> &str {
        &self.0.key
    }

    /// A number in `unit`, or a class as a text; of a bound, the bound; `None` if it is undetermined.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        optional(py, self.0.value.as_ref())
    }

    /// Unit of the value.
    #[getter]
    fn unit(&self) -> Option<&str> {
        self.0.unit.as_deref()
    }

    /// The value lies in it with the probability `level`: its ends, in `unit`.
    #[getter]
    fn interval(&self) -> Option<(f64, f64)> {
        self.0.interval.map(|[low, high]| (low, high))
    }

    /// Probability that the interval holds the value, 0 to 1.
    #[getter]
    fn level(&self) -> Option<f64> {
        self.0.level
    }

    /// `"determined"`, `"bound"` (it is at least or at most the value) or `"undetermined"`.
    #[getter]
    fn standing(&self) -> &'static str {
        standing(self.0.standing)
    }

    /// Why it is so, or why it is not known.
    #[getter]
    fn reason(&self) -> &str {
        &self.0.reason
    }

    /// The detector that found it.
    #[getter]
    fn detector(&self) -> &str {
        &self.0.evidence
    }

    /// What its detector cost: `gb` written and `read_gb` read, 10^9 bytes, and `minutes` on the drive's clock.
    #[getter]
    fn cost<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize::pythonize(py, &self.0.cost)?)
    }

    /// All of it as one flat dictionary: a row of a table.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        row(py, &self.0)
    }

    fn __repr__(&self) -> String {
        let unit = self.0.unit.as_deref().map(|unit| format!(" {unit}")).unwrap_or_default();
        let value = match &self.0.value {
            None => "not known".into(),
            Some(Value::Number(value)) => format!("{value}{unit}"),
            Some(Value::Class(class)) => class.clone(),
        };
        format!("<Finding {}: {value} ({})>", self.0.key, self.standing())
    }
}

fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Determined => "determined",
        Standing::Bound => "bound",
        Standing::Undetermined => "undetermined",
    }
}

fn row<'py>(py: Python<'py>, finding: &LabFinding) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("key", &finding.key)?;
    row.set_item("value", optional(py, finding.value.as_ref())?)?;
    row.set_item("unit", &finding.unit)?;
    row.set_item("low", finding.interval.map(|[low, _]| low))?;
    row.set_item("high", finding.interval.map(|[_, high]| high))?;
    row.set_item("level", finding.level)?;
    row.set_item("standing", standing(finding.standing))?;
    row.set_item("reason", &finding.reason)?;
    row.set_item("detector", &finding.evidence)?;
    row.set_item("written_gb", finding.cost.gb)?;
    row.set_item("read_gb", finding.cost.read_gb)?;
    row.set_item("minutes", finding.cost.minutes)?;
    Ok(row)
}
