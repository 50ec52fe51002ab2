//! Records: what one method measured on one target.

use std::sync::Arc;

use fourcorners_record::{Document, Ended, Record as LabRecord, SCHEMA, record_from_json};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::{Deserialize, Serialize};

use crate::errors::RecordError;
use crate::figure::Figure;
use crate::pickle::{Reduced, again, reduced};
use crate::series::{Curve, Series};
use crate::target::Target;
use crate::words::in_keywords;

/// What one method measured on one target.
#[pyclass(frozen, module = "fourcorners", from_py_object)]
#[derive(Clone)]
pub(crate) struct Record(pub(crate) Arc<LabRecord>);

#[pymethods]
impl Record {
    /// Hash of everything but the times of day: equal results have equal ids.
    #[getter]
    fn id(&self) -> &str {
        &self.0.id
    }

    /// What it was measured on.
    #[getter]
    fn target(&self) -> Target {
        Target::of(&self.0)
    }

    /// `"virtual"` or `"wall"`.
    #[getter]
    fn clock<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize::pythonize(py, &self.0.clock)?)
    }

    /// The method's name.
    #[getter]
    fn method(&self) -> &str {
        &self.0.method
    }

    /// Whether durations and spans were cut.
    #[getter]
    fn quick(&self) -> bool {
        self.0.quick
    }

    /// Seed of all random numbers.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.seed
    }

    /// The version that measured it.
    #[getter]
    fn version(&self) -> &str {
        &self.0.version
    }

    /// Who reviewed it, if that was said.
    #[getter]
    fn author(&self) -> Option<&str> {
        self.0.author.as_deref()
    }

    /// When it was begun, UTC.
    #[getter]
    fn started_at(&self) -> &str {
        &self.0.started_at
    }

    /// When it was finished, UTC.
    #[getter]
    fn finished_at(&self) -> &str {
        &self.0.finished_at
    }

    /// Whether everything planned was measured.
    #[getter]
    fn complete(&self) -> bool {
        self.0.ended == Ended::Complete
    }

    /// Why not, if so.
    #[getter]
    fn failure(&self) -> Option<String> {
        match &self.0.ended {
            Ended::Complete => None,
            Ended::Interrupted => Some("interrupted".into()),
            Ended::Failed(why) => Some(in_keywords(why)),
        }
    }

    /// Figures by name, in the order they were measured.
    #[getter]
    fn figures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (place, name) in self.0.figures.keys().enumerate() {
            all.set_item(name, Figure::of(&self.0, place))?;
        }
        Ok(all)
    }

    /// One-second series by the name of their figure.
    #[getter]
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (place, name) in self.0.series.keys().enumerate() {
            all.set_item(name, Series::of_record(&self.0, place))?;
        }
        Ok(all)
    }

    /// What was measured against something else than time, by its name.
    #[getter]
    fn curves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (place, name) in self.0.curves.keys().enumerate() {
            all.set_item(name, Curve::of(&self.0, place))?;
        }
        Ok(all)
    }

    /// How steady figures were from second to second, as dictionaries.
    #[getter]
    fn steadiness<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize::pythonize(py, &self.0.steadiness)?)
    }

    /// What a trace was replayed to, as a dictionary.
    #[getter]
    fn replay<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        optional(py, self.0.replay.as_ref())
    }

    /// The same of each of several, by its name.
    #[getter]
    fn replays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize::pythonize(py, &self.0.replays)?)
    }

    /// The plan file it was measured by, if it was, as a dictionary.
    #[getter]
    fn plan<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        optional(py, self.0.plan.as_ref())
    }

    /// What a real drive said of its health before and after, as a dictionary.
    #[getter]
    fn health<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        optional(py, self.0.health.as_ref())
    }

    /// The machine, of a real target, as a dictionary.
    #[getter]
    fn host<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        optional(py, self.0.host.as_ref())
    }

    /// What the method concludes: claims, each with its control.
    #[getter]
    fn verdicts(&self) -> Vec<Verdict> {
        let verdict = |verdict: &fourcorners_record::Verdict| Verdict {
            id: verdict.id.clone(),
            claim: verdict.claim.clone(),
            outcome: verdict.outcome.word().into(),
            figures: verdict.figures.clone(),
            threshold: verdict.threshold.clone(),
            control: verdict.control.clone(),
            value: verdict.value,
            why: verdict.why.clone(),
            text: verdict.words(&self.0),
        };
        self.0.verdicts.iter().map(verdict).collect()
    }

    /// What else the figures say, and what could not be measured and why.
    #[getter]
    fn notes(&self) -> Vec<Note> {
        let note = |note: &fourcorners_record::Note| Note {
            about: note.about.clone(),
            text: in_keywords(&note.text),
            value: note.value,
        };
        self.0.notes.iter().map(note).collect()
    }

    /// All of it as JSON: one of the records of `fourcorners review --json`.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(&*self.0).expect("a record has text keys")
    }

    /// The record that `to_json` wrote.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Record> {
        let record = record_from_json(text.as_bytes()).map_err(|e| unreadable("a record", &e))?;
        as_measured(&record)?;
        Ok(Record(Arc::new(record)))
    }

    /// All of it as dictionaries and lists.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (self.to_json(),))
    }

    /// Its figures as a pandas DataFrame, a row each.
    fn to_pandas<'py>(slf: &Bound<'py, Record>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("fourcorners._frames")?.call_method1("to_pandas", ((slf,),))
    }

    /// The same as a table of Arrow.
    fn to_arrow<'py>(slf: &Bound<'py, Record>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("fourcorners._frames")?.call_method1("to_arrow", ((slf,),))
    }

    /// What a notebook shows: its figures, and the seconds of each as a chart.
    fn _repr_html_<'py>(slf: &Bound<'py, Record>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("fourcorners._html")?.call_method1("record", (slf,))
    }

    fn __eq__(&self, other: &Record) -> bool {
        self.0.id == other.0.id
    }

    fn __hash__(&self) -> u64 {
        u64::from_str_radix(&self.0.id, 16).unwrap_or(0)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Record>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("from_json")?, (slf.get().to_json(),)))
    }

    fn __repr__(&self) -> String {
        let LabRecord { id, method, target, .. } = &*self.0;
        let short = if self.complete() { "" } else { ", incomplete" };
        let count = self.0.figure_count();
        format!("<Record {id}: {method} of {}, {count} figures{short}>", target.name)
    }
}

/// A claim about a drive, how it came out ("yes", "no", "partly" or "undetermined"), and what that
/// rests on.
#[pyclass(frozen, get_all, module = "fourcorners")]
#[derive(Serialize, Deserialize)]
pub(crate) struct Verdict {
    id: String,
    claim: String,
    outcome: String,
    figures: Vec<String>,
    threshold: String,
    control: String,
    value: Option<f64>,
    why: Option<String>,
    text: String,
}

#[pymethods]
impl Verdict {
    /// The verdict that was pickled.
    #[staticmethod]
    fn _again(text: &str) -> PyResult<Verdict> {
        again(text)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Verdict>) -> PyResult<Reduced<'py>> {
        reduced(slf, slf.get())
    }

    fn __repr__(&self) -> String {
        format!("<Verdict {}: {}>", self.id, self.outcome)
    }
}

/// What a figure means, or why there is none.
#[pyclass(frozen, get_all, module = "fourcorners")]
#[derive(Serialize, Deserialize)]
pub(crate) struct Note {
    about: String,
    text: String,
    value: Option<f64>,
}

#[pymethods]
impl Note {
    /// The note that was pickled.
    #[staticmethod]
    fn _again(text: &str) -> PyResult<Note> {
        again(text)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Note>) -> PyResult<Reduced<'py>> {
        reduced(slf, slf.get())
    }

    fn __repr__(&self) -> String {
        format!("<Note {}: {}>", self.about, self.text)
    }
}

/// What may not be there, as Python's types.
pub(crate) fn optional<'py>(
    py: Python<'py>,
    value: Option<&impl serde::Serialize>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    Ok(value.map(|value| pythonize::pythonize(py, value)).transpose()?)
}

/// The document of these records, as `fourcorners review --json` prints it.
#[pyfunction]
pub(crate) fn to_json(records: Vec<Record>) -> String {
    fourcorners_record::to_json(&document(&records))
}

/// The page of these records with all its charts, as `fourcorners review --out` writes it: one HTML document that asks
/// nothing of a network.
#[pyfunction]
pub(crate) fn to_html(records: Vec<Record>) -> String {
    fourcorners_report::page(&document(&records))
}

fn document(records: &[Record]) -> Document {
    Document::new(records.iter().map(|record| LabRecord::clone(&record.0)).collect())
}

/// The records of such a document.
#[pyfunction]
pub(crate) fn from_json(text: &str) -> PyResult<Vec<Record>> {
    let document: Document =
        serde_json::from_str(text).map_err(|error| unreadable("a document of records", &error))?;
    if document.schema != SCHEMA {
        let schema = document.schema;
        let message = format!("the document is of \"{schema}\", and this reads \"{SCHEMA}\"");
        return Err(RecordError::new_err(message));
    }
    document.records.iter().try_for_each(as_measured)?;
    Ok(document.records.into_iter().map(|record| Record(Arc::new(record))).collect())
}

/// Refuses what was changed since it was measured, as the commands do.
fn as_measured(record: &LabRecord) -> PyResult<()> {
    if record.is_as_sealed() {
        return Ok(());
    }
    let LabRecord { id, method, target, .. } = record;
    let of = &target.name;
    Err(RecordError::new_err(format!(
        "the record {id} of {of} ({method}) is not what was measured: its content does not go with its id"
    )))
}

fn unreadable(what: &str, error: &serde_json::Error) -> PyErr {
    RecordError::new_err(format!("this is not {what} of {SCHEMA}: {error}"))
}
