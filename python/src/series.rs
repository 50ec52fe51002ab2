//! Figures second by second, and against something else than time.

use std::sync::Arc;

use fourcorners_record::{Record as LabRecord, Series as LabSeries};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use crate::arrays::{view, view_pairs};

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
    pub(crate) fn of_record(record: &Arc<LabRecord>, place: usize) -> Series {
        Series { of: SeriesOf::Record(Arc::clone(record), place) }
    }

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

impl Curve {
    pub(crate) fn of(record: &Arc<LabRecord>, place: usize) -> Curve {
        Curve { record: Arc::clone(record), place }
    }
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
