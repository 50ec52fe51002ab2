//! Records: what one method measured on one target.

use std::sync::Arc;

use fourcorners::record::{
    Document, Ended, Figure as LabFigure, Latency as LabLatency, Record as LabRecord, SCHEMA,
    Series as LabSeries, TargetInfo,
};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{view, view_pairs};
use crate::errors::RecordError;

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
        Target(Arc::clone(&self.0))
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
    fn failure(&self) -> Option<&str> {
        match &self.0.ended {
            Ended::Complete => None,
            Ended::Interrupted => Some("interrupted"),
            Ended::Failed(why) => Some(why),
        }
    }

    /// Figures by name, in the order they were measured.
    #[getter]
    fn figures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (place, name) in self.0.figures.keys().enumerate() {
            all.set_item(name, Figure { record: Arc::clone(&self.0), place })?;
        }
        Ok(all)
    }

    /// One-second series by the name of their figure.
    #[getter]
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (place, name) in self.0.series.keys().enumerate() {
            let of = SeriesOf::Record(Arc::clone(&self.0), place);
            all.set_item(name, Series { of })?;
        }
        Ok(all)
    }

    /// What was measured against something else than time, by its name.
    #[getter]
    fn curves<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (place, name) in self.0.curves.keys().enumerate() {
            all.set_item(name, Curve { record: Arc::clone(&self.0), place })?;
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
        Ok(self.0.replay.as_ref().map(|replay| pythonize::pythonize(py, replay)).transpose()?)
    }

    /// What figures mean, or why there is none.
    #[getter]
    fn verdicts(&self) -> Vec<Verdict> {
        let verdict = |verdict: &fourcorners::record::Verdict| Verdict {
            about: verdict.about.clone(),
            text: verdict.text.clone(),
            value: verdict.value,
        };
        self.0.verdicts.iter().map(verdict).collect()
    }

    /// All of it as JSON: one of the records of `fourcorners review --json`.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(&*self.0).expect("a record has text keys")
    }

    /// The record that `to_json` wrote.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Record> {
        let record = serde_json::from_str(text);
        record.map(|record| Record(Arc::new(record))).map_err(|e| unreadable("a record", &e))
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
        let LabRecord { id, method, target, figures, .. } = &*self.0;
        format!("<Record {id}: {method} of {}, {} figures>", target.name, figures.len())
    }
}

/// What was measured on.
#[pyclass(frozen, module = "fourcorners")]
pub(crate) struct Target(Arc<LabRecord>);

impl Target {
    fn info(&self) -> &TargetInfo {
        &self.0.target
    }
}

#[pymethods]
impl Target {
    #[getter]
    fn name(&self) -> &str {
        &self.info().name
    }
    #[getter]
    fn title(&self) -> &str {
        &self.info().title
    }
    #[getter]
    fn kind<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize::pythonize(py, &self.info().kind)?)
    }
    #[getter]
    fn capacity_bytes(&self) -> u64 {
        self.info().capacity_bytes
    }
    #[getter]
    fn logical_block_bytes(&self) -> u32 {
        self.info().logical_block_bytes
    }
    #[getter]
    fn model(&self) -> Option<&str> {
        self.info().model.as_deref()
    }
    #[getter]
    fn serial(&self) -> Option<&str> {
        self.info().serial.as_deref()
    }
    #[getter]
    fn profile_hash(&self) -> Option<&str> {
        self.info().profile_hash.as_deref()
    }
    #[getter]
    fn fitted(&self) -> Vec<String> {
        self.info().fitted.clone()
    }
    #[getter]
    fn set(&self) -> Vec<String> {
        self.info().set.clone()
    }
    #[getter]
    fn host_controller(&self) -> Option<&str> {
        self.info().host_controller.as_deref()
    }
    fn __repr__(&self) -> String {
        format!("<Target {}: {}>", self.info().name, self.info().title)
    }
}

/// One measured figure.
#[pyclass(frozen, module = "fourcorners")]
pub(crate) struct Figure {
    record: Arc<LabRecord>,
    place: usize,
}

impl Figure {
    fn of(&self) -> &LabFigure {
        &self.record.figures[self.place]
    }
}

#[pymethods]
impl Figure {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.record.figures.get_index(self.place).map_or("", |(name, _)| name)
    }
    /// 10^6 bytes a second.
    #[getter]
    fn mb_per_s(&self) -> f64 {
        self.of().mb_per_s
    }
    /// I/Os a second.
    #[getter]
    fn iops(&self) -> f64 {
        self.of().iops
    }
    /// Latency, microseconds.
    #[getter]
    fn latency_us(&self) -> Latency {
        Latency::from(self.of().latency_us)
    }
    /// I/Os completed.
    #[getter]
    fn ios(&self) -> u64 {
        self.of().ios
    }
    /// Bytes moved.
    #[getter]
    fn bytes(&self) -> u64 {
        self.of().bytes
    }
    /// From the first submit to the last completion, seconds.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.of().duration_s
    }
    /// Mean number of I/Os in flight.
    #[getter]
    fn mean_queue_depth(&self) -> f64 {
        self.of().mean_queue_depth
    }
    /// State of the target before: `fresh`, `used`, `filled`, ...
    #[getter]
    fn state(&self) -> &str {
        &self.of().state
    }
    /// NAND writes over host writes (virtual SSDs).
    #[getter]
    fn write_amplification(&self) -> Option<f64> {
        self.of().write_amplification
    }
    /// Spare over user space without what collection keeps free (virtual SSDs).
    #[getter]
    fn effective_op(&self) -> Option<f64> {
        self.of().effective_op
    }
    /// Raw space beyond user space over user space (virtual SSDs).
    #[getter]
    fn nameplate_op(&self) -> Option<f64> {
        self.of().nameplate_op
    }
    /// Mean power, watts.
    #[getter]
    fn mean_power_w(&self) -> Option<f64> {
        self.of().mean_power_w
    }
    /// CPU time an I/O, microseconds (real targets).
    #[getter]
    fn cpu_us_per_io(&self) -> Option<f64> {
        self.of().cpu_us_per_io
    }
    /// False when the job was cut short.
    #[getter]
    fn complete(&self) -> bool {
        self.of().complete
    }
    /// What was run.
    #[getter]
    fn job<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize::pythonize(py, &self.of().job)?)
    }
    /// The fio command that runs the same.
    #[getter]
    fn fio(&self) -> &str {
        &self.of().fio
    }
    /// Latency histogram: lowest value of a bucket in nanoseconds and its count, as two columns; a
    /// view, not a copy.
    #[getter]
    fn latency_bins_ns<'py>(slf: Bound<'py, Figure>) -> Bound<'py, PyArray2<u64>> {
        view_pairs(slf.clone().into_any(), &slf.get().of().latency_bins_ns)
    }

    /// All numbers as one flat dictionary: a row of a table.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (figure, row) = (self.of(), PyDict::new(py));
        row.set_item("iops", figure.iops)?;
        row.set_item("mb_per_s", figure.mb_per_s)?;
        row.set_item("ios", figure.ios)?;
        row.set_item("bytes", figure.bytes)?;
        row.set_item("duration_s", figure.duration_s)?;
        row.set_item("mean_queue_depth", figure.mean_queue_depth)?;
        Latency::from(figure.latency_us).into_row(&row)?;
        row.set_item("write_amplification", figure.write_amplification)?;
        row.set_item("effective_op", figure.effective_op)?;
        row.set_item("nameplate_op", figure.nameplate_op)?;
        row.set_item("joules", figure.mean_power_w.map(|watts| watts * figure.duration_s))?;
        row.set_item("complete", figure.complete)?;
        Ok(row)
    }

    fn __repr__(&self) -> String {
        let figure = self.of();
        format!("<Figure {}: {:.0} IOPS, {:.1} MB/s>", self.name(), figure.iops, figure.mb_per_s)
    }
}

/// Latency in microseconds.
#[pyclass(frozen, get_all, module = "fourcorners")]
pub(crate) struct Latency {
    min: f64,
    mean: f64,
    p50: f64,
    p90: f64,
    p99: f64,
    p999: f64,
    p9999: f64,
    max: f64,
}

impl From<LabLatency> for Latency {
    fn from(latency: LabLatency) -> Latency {
        let LabLatency { min, mean, p50, p90, p99, p999, p9999, max } = latency;
        Latency { min, mean, p50, p90, p99, p999, p9999, max }
    }
}

impl Latency {
    pub(crate) fn into_row(self, row: &Bound<'_, PyDict>) -> PyResult<()> {
        for (key, value) in self.pairs() {
            row.set_item(format!("latency_{key}_us"), value)?;
        }
        Ok(())
    }

    fn pairs(&self) -> [(&'static str, f64); 8] {
        [
            ("min", self.min),
            ("mean", self.mean),
            ("p50", self.p50),
            ("p90", self.p90),
            ("p99", self.p99),
            ("p999", self.p999),
            ("p9999", self.p9999),
            ("max", self.max),
        ]
    }
}

#[pymethods]
impl Latency {
    fn __repr__(&self) -> String {
        let shown = self.pairs().map(|(key, value)| format!("{key}={value:.1}"));
        format!("Latency({})", shown.join(", "))
    }
}

/// What a figure means, or why there is none.
#[pyclass(frozen, get_all, module = "fourcorners")]
pub(crate) struct Verdict {
    about: String,
    text: String,
    value: Option<f64>,
}

#[pymethods]
impl Verdict {
    fn __repr__(&self) -> String {
        format!("<Verdict {}: {}>", self.about, self.text)
    }
}

/// A figure second by second.
#[pyclass(frozen, module = "fourcorners")]
pub(crate) struct Series {
    of: SeriesOf,
}

/// Whose it is.
enum SeriesOf {
    Record(Arc<LabRecord>, usize),
    Run(Arc<LabSeries>),
}

impl Series {
    pub(crate) fn of(series: Arc<LabSeries>) -> Series {
        Series { of: SeriesOf::Run(series) }
    }

    fn series(&self) -> &LabSeries {
        match &self.of {
            SeriesOf::Record(record, place) => &record.series[*place],
            SeriesOf::Run(series) => series,
        }
    }
}

#[pymethods]
impl Series {
    /// I/Os completed in each second: as all of these, a view and not a copy.
    #[getter]
    fn iops<'py>(slf: Bound<'py, Series>) -> Bound<'py, PyArray1<u64>> {
        view(slf.clone().into_any(), &slf.get().series().iops)
    }
    /// 10^6 bytes a second.
    #[getter]
    fn mb_per_s<'py>(slf: Bound<'py, Series>) -> Bound<'py, PyArray1<f64>> {
        view(slf.clone().into_any(), &slf.get().series().mb_per_s)
    }
    /// Mean latency, microseconds.
    #[getter]
    fn latency_mean_us<'py>(slf: Bound<'py, Series>) -> Bound<'py, PyArray1<f64>> {
        view(slf.clone().into_any(), &slf.get().series().latency_mean_us)
    }
    /// Longest latency, microseconds.
    #[getter]
    fn latency_max_us<'py>(slf: Bound<'py, Series>) -> Bound<'py, PyArray1<f64>> {
        view(slf.clone().into_any(), &slf.get().series().latency_max_us)
    }
    /// Joules; empty where energy is not known.
    #[getter]
    fn energy_j<'py>(slf: Bound<'py, Series>) -> Bound<'py, PyArray1<f64>> {
        view(slf.clone().into_any(), &slf.get().series().energy_j)
    }
    /// A pandas DataFrame, a row a second.
    fn to_pandas<'py>(slf: &Bound<'py, Series>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("fourcorners._frames")?.call_method1("series_to_pandas", (slf,))
    }
    fn __len__(&self) -> usize {
        self.series().iops.len()
    }
}

/// A figure against something that was varied.
#[pyclass(frozen, module = "fourcorners")]
pub(crate) struct Curve {
    record: Arc<LabRecord>,
    place: usize,
}

#[pymethods]
impl Curve {
    /// What was varied, with its unit.
    #[getter]
    fn x(&self) -> &str {
        &self.record.curves[self.place].x
    }
    /// What was measured, with its unit.
    #[getter]
    fn y(&self) -> &str {
        &self.record.curves[self.place].y
    }
    /// Pairs of the two as two columns; a view, not a copy.
    #[getter]
    fn points<'py>(slf: Bound<'py, Curve>) -> Bound<'py, PyArray2<f64>> {
        let this = slf.get();
        view_pairs(slf.clone().into_any(), &this.record.curves[this.place].points)
    }
}

/// The document of these records, as `fourcorners review --json` prints it.
#[pyfunction]
pub(crate) fn to_json(records: Vec<Record>) -> String {
    let records = records.iter().map(|record| LabRecord::clone(&record.0)).collect();
    fourcorners::report::to_json(&Document::new(records))
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
    Ok(document.records.into_iter().map(|record| Record(Arc::new(record))).collect())
}

fn unreadable(what: &str, error: &serde_json::Error) -> PyErr {
    RecordError::new_err(format!("this is not {what} of {SCHEMA}: {error}"))
}
