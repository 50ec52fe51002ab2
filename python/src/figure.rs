//! Figures of a record, and their latencies.

use std::sync::Arc;

use fourcorners_record::{Figure as LabFigure, Latency as LabLatency, Record as LabRecord};
use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays::view_pairs;
use crate::pickle::{Reduced, again, reduced};
use crate::record::optional;

/// One measured figure.
#[pyclass(frozen, module = "fourcorners")]
pub(crate) struct Figure {
    of: FigureOf,
}

/// Whose it is.
enum FigureOf {
    Record(Arc<LabRecord>, usize),
    /// One that was pickled, with its name.
    Alone(Box<(String, LabFigure)>),
}

impl Figure {
    pub(crate) fn of(record: &Arc<LabRecord>, place: usize) -> Figure {
        Figure { of: FigureOf::Record(Arc::clone(record), place) }
    }

    fn figure(&self) -> &LabFigure {
        match &self.of {
            FigureOf::Record(record, place) => &record.figures[*place],
            FigureOf::Alone(named) => &named.1,
        }
    }
}

#[pymethods]
impl Figure {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        match &self.of {
            FigureOf::Record(record, place) => {
                record.figures.get_index(*place).map_or("", |(name, _)| name)
            }
            FigureOf::Alone(named) => &named.0,
        }
    }
    /// 10^6 bytes a second.
    #[getter]
    fn mb_per_s(&self) -> f64 {
        self.figure().mb_per_s
    }
    /// I/Os a second.
    #[getter]
    fn iops(&self) -> f64 {
        self.figure().iops
    }
    /// Latency, microseconds.
    #[getter]
    fn latency_us(&self) -> Latency {
        Latency::from(self.figure().latency_us)
    }
    /// I/Os completed.
    #[getter]
    fn ios(&self) -> u64 {
        self.figure().ios
    }
    /// Bytes moved.
    #[getter]
    fn bytes(&self) -> u64 {
        self.figure().bytes
    }
    /// From the first submit to the last completion, seconds.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.figure().duration_s
    }
    /// Mean number of I/Os in flight.
    #[getter]
    fn mean_queue_depth(&self) -> f64 {
        self.figure().mean_queue_depth
    }
    /// State of the target before: `fresh`, `used`, `filled`, ...
    #[getter]
    fn state(&self) -> &str {
        &self.figure().state
    }
    /// NAND writes over host writes (virtual SSDs).
    #[getter]
    fn write_amplification(&self) -> Option<f64> {
        self.figure().write_amplification
    }
    /// Over-provisioning of the drive as its profile has it: flash that collection has to work with over user space, less
    /// one. A spare area that the job leaves alone is not in it (virtual SSDs).
    #[getter]
    fn effective_op(&self) -> Option<f64> {
        self.figure().effective_op
    }
    /// Raw space beyond user space over user space (virtual SSDs).
    #[getter]
    fn nameplate_op(&self) -> Option<f64> {
        self.figure().nameplate_op
    }
    /// Mean power, watts.
    #[getter]
    fn mean_power_w(&self) -> Option<f64> {
        self.figure().mean_power_w
    }
    /// Joules for 10^9 bytes.
    #[getter]
    fn joules_per_gb(&self) -> Option<f64> {
        self.figure().joules_per_gb
    }
    /// How worn the flash was afterwards, as a dictionary (virtual SSDs whose flash wears out).
    #[getter]
    fn wear<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        optional(py, self.figure().wear.as_ref())
    }
    /// What else the machine was doing, as a dictionary: `cpu_wait_share`, `cpu_steal_share`, `load`
    /// and, of a device, `other_io_share` (real targets).
    #[getter]
    fn noise<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        optional(py, self.figure().noise.as_ref())
    }
    /// CPU time an I/O, microseconds (real targets).
    #[getter]
    fn cpu_us_per_io(&self) -> Option<f64> {
        self.figure().cpu_us_per_io
    }
    /// False when the job was cut short.
    #[getter]
    fn complete(&self) -> bool {
        self.figure().complete
    }
    /// What was run.
    #[getter]
    fn job<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pythonize::pythonize(py, &self.figure().job)?)
    }
    /// The fio command that runs the same.
    #[getter]
    fn fio(&self) -> &str {
        &self.figure().fio
    }
    /// Latency histogram: lowest value of a bucket in nanoseconds and its count, as two columns; a
    /// view, not a copy.
    #[getter]
    fn latency_bins_ns<'py>(slf: Bound<'py, Figure>) -> Bound<'py, PyArray2<u64>> {
        view_pairs(slf.clone().into_any(), &slf.get().figure().latency_bins_ns)
    }

    /// All numbers as one flat dictionary: a row of a table.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (figure, row) = (self.figure(), PyDict::new(py));
        row.set_item("iops", figure.iops)?;
        row.set_item("mb_per_s", figure.mb_per_s)?;
        row.set_item("ios", figure.ios)?;
        row.set_item("bytes", figure.bytes)?;
        row.set_item("duration_s", figure.duration_s)?;
        // All rates of a job are over its duration.
        row.set_item("busy_s", figure.duration_s)?;
        row.set_item("mean_queue_depth", figure.mean_queue_depth)?;
        Latency::from(figure.latency_us).into_row(&row, figure.ios)?;
        row.set_item("write_amplification", figure.write_amplification)?;
        row.set_item("effective_op", figure.effective_op)?;
        row.set_item("nameplate_op", figure.nameplate_op)?;
        row.set_item("joules", figure.mean_power_w.map(|watts| watts * figure.duration_s))?;
        row.set_item("complete", figure.complete)?;
        Ok(row)
    }

    /// The figure that was pickled.
    #[staticmethod]
    fn _again(text: &str) -> PyResult<Figure> {
        again(text).map(|named| Figure { of: FigureOf::Alone(Box::new(named)) })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Figure>) -> PyResult<Reduced<'py>> {
        let this = slf.get();
        reduced(slf, &(this.name(), this.figure()))
    }

    fn __repr__(&self) -> String {
        let figure = self.figure();
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
    /// Puts them into a row, of so many I/Os: of none there is no latency.
    pub(crate) fn into_row(self, row: &Bound<'_, PyDict>, ios: u64) -> PyResult<()> {
        for (key, value) in self.pairs() {
            row.set_item(format!("latency_{key}_us"), (ios > 0).then_some(value))?;
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
    /// The latencies that were pickled, in the order of the properties.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)] // They are its properties.
    fn _again(
        min: f64,
        mean: f64,
        p50: f64,
        p90: f64,
        p99: f64,
        p999: f64,
        p9999: f64,
        max: f64,
    ) -> Latency {
        Latency { min, mean, p50, p90, p99, p999, p9999, max }
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Latency>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let values = slf.get().pairs().map(|(_, value)| value);
        Ok((slf.get_type().getattr("_again")?, PyTuple::new(slf.py(), values)?))
    }

    fn __repr__(&self) -> String {
        let shown = self.pairs().map(|(key, value)| format!("{key}={value:.1}"));
        format!("Latency({})", shown.join(", "))
    }
}
