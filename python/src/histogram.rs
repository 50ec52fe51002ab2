//! Latencies in buckets.

use std::sync::Arc;

use fourcorners_run::{Histogram as LabHistogram, Measured};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::view;

/// Latencies of the I/Os of a run or a replay, in buckets under 0.8 % wide; the same buckets for every one.
#[pyclass(frozen, module = "fourcorners")]
pub(crate) struct Histogram {
    /// What arrays keep alive: a frozen object that holds `measured`, too.
    owner: Py<PyAny>,
    measured: Arc<Measured>,
    of: Latencies,
}

/// Whose latencies.
#[derive(Clone, Copy)]
pub(crate) enum Latencies {
    All,
    Reads,
    Writes,
}

impl Histogram {
    pub(crate) fn new(owner: Bound<'_, PyAny>, measured: &Arc<Measured>, of: Latencies) -> Self {
        Histogram { owner: owner.unbind(), measured: Arc::clone(measured), of }
    }

    fn of(&self) -> &LabHistogram {
        match (self.of, self.measured.paced.as_deref()) {
            (Latencies::Reads, Some(paced)) => &paced.reads.latency,
            (Latencies::Writes, Some(paced)) => &paced.writes.latency,
            // A job that is not paced has no others.
            (Latencies::All, _) | (_, None) => &self.measured.latency,
        }
    }
}

#[pymethods]
impl Histogram {
    /// How often each bucket was hit: a view, not a copy.
    #[getter]
    fn counts<'py>(slf: Bound<'py, Histogram>) -> Bound<'py, PyArray1<u64>> {
        let owner = slf.get().owner.bind(slf.py()).clone();
        view(owner, slf.get().of().counts())
    }

    /// Lowest value of each bucket, nanoseconds.
    #[staticmethod]
    fn lows_ns(py: Python<'_>) -> Bound<'_, PyArray1<u64>> {
        PyArray1::from_iter(py, LabHistogram::bucket_lows())
    }

    /// The buckets that hold anything: lowest value in nanoseconds and count, as two columns.
    fn bins<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let rows: Vec<Vec<u64>> =
            self.of().bins().into_iter().map(|(low, count)| vec![low, count]).collect();
        Ok(numpy::PyArray2::from_vec2(py, &rows)?.into_any())
    }

    /// The value in nanoseconds that so many per cent of all do not exceed, at most 0.8 % too high.
    fn percentile(&self, percent: f64) -> PyResult<u64> {
        Ok(self.of().percentile(checked(percent)?))
    }

    /// The same of several percentages, as an array.
    fn percentiles<'py>(
        &self,
        py: Python<'py>,
        percents: Vec<f64>,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let percents = percents.into_iter().map(checked).collect::<PyResult<Vec<f64>>>()?;
        let all = percents.into_iter().map(|percent| self.of().percentile(percent));
        Ok(PyArray1::from_iter(py, all))
    }

    /// Number of values.
    fn __len__(&self) -> usize {
        self.of().count() as usize
    }
}

/// A share of all, per cent.
fn checked(percent: f64) -> PyResult<f64> {
    match (0.0..=100.0).contains(&percent) {
        true => Ok(percent),
        false => Err(PyValueError::new_err(format!("percent={percent}: it is 0 to 100"))),
    }
}
