//! Latencies in buckets.

use std::sync::Arc;

use fourcorners_run::{Histogram as LabHistogram, Measured};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::view;
use crate::number::Real;
use crate::pickle::{Buckets, Reduced, again, reduced};

/// Latencies of the I/Os of a run or a replay, in buckets under 0.8 % wide; the same buckets for every one.
#[pyclass(frozen, module = "fourcorners")]
pub(crate) struct Histogram {
    /// What arrays keep alive: a frozen object that holds `measured`, too. One that was pickled alone is its own.
    owner: Option<Py<PyAny>>,
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
        Histogram { owner: Some(owner.unbind()), measured: Arc::clone(measured), of }
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
        let owner = slf.get().owner.as_ref().map(|owner| owner.bind(slf.py()).clone());
        let owner = owner.unwrap_or_else(|| slf.clone().into_any());
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
    fn percentile(&self, percent: Real) -> PyResult<u64> {
        self.percentile_of(percent)
    }

    /// The same of several percentages, as an array.
    fn percentiles<'py>(
        &self,
        py: Python<'py>,
        percents: Vec<Real>,
    ) -> PyResult<Bound<'py, PyArray1<u64>>> {
        let all = percents.into_iter().map(|percent| self.percentile_of(percent));
        Ok(PyArray1::from_vec(py, all.collect::<PyResult<Vec<u64>>>()?))
    }

    /// Number of values.
    fn __len__(&self) -> usize {
        self.of().count() as usize
    }

    /// The histogram that was pickled.
    #[staticmethod]
    fn _again(text: &str) -> PyResult<Histogram> {
        let measured = Arc::new(Measured::of_latencies(again::<Buckets>(text)?.histogram()?));
        Ok(Histogram { owner: None, measured, of: Latencies::All })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Histogram>) -> PyResult<Reduced<'py>> {
        reduced(slf, &Buckets::of(slf.get().of()))
    }
}

impl Histogram {
    fn percentile_of(&self, Real(percent): Real) -> PyResult<u64> {
        if !(0.0..=100.0).contains(&percent) {
            return Err(PyValueError::new_err(format!("percent={percent}: it is 0 to 100")));
        }
        match self.of().count() {
            0 => Err(PyValueError::new_err(format!(
                "percent={percent}: the histogram is empty, and nothing has a percentile; look at its len() first"
            ))),
            _ => Ok(self.of().percentile(percent)),
        }
    }
}
