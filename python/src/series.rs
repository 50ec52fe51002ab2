//! Figures second by second, and against something else than time.

use std::sync::Arc;

use fourcorners_record::{Curve as LabCurve, Record as LabRecord, Series as LabSeries};
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use crate::arrays::{view, view_pairs};
use crate::pickle::{Reduced, again, reduced};

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

    /// The series that was pickled.
    #[staticmethod]
    fn _again(text: &str) -> PyResult<Series> {
        again(text).map(|series| Series::of(Arc::new(series)))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Series>) -> PyResult<Reduced<'py>> {
        reduced(slf, slf.get().series())
    }
}

/// A figure against something that was varied.
#[pyclass(frozen, module = "fourcorners")]
pub(crate) struct Curve {
    of: CurveOf,
}

/// Whose it is.
enum CurveOf {
    Record(Arc<LabRecord>, usize),
    /// One that was pickled.
    Alone(LabCurve),
}

impl Curve {
    pub(crate) fn of(record: &Arc<LabRecord>, place: usize) -> Curve {
        Curve { of: CurveOf::Record(Arc::clone(record), place) }
    }

    fn curve(&self) -> &LabCurve {
        match &self.of {
            CurveOf::Record(record, place) => &record.curves[*place],
            CurveOf::Alone(curve) => curve,
        }
    }
}

#[pymethods]
impl Curve {
    /// What was varied, with its unit.
    #[getter]
    fn x(&self) -> &str {
        &self.curve().x
    }
    /// What was measured, with its unit.
    #[getter]
    fn y(&self) -> &str {
        &self.curve().y
    }
    /// Pairs of the two as two columns; a view, not a copy.
    #[getter]
    fn points<'py>(slf: Bound<'py, Curve>) -> Bound<'py, PyArray2<f64>> {
        view_pairs(slf.clone().into_any(), &slf.get().curve().points)
    }

    /// The curve that was pickled.
    #[staticmethod]
    fn _again(text: &str) -> PyResult<Curve> {
        again(text).map(|curve| Curve { of: CurveOf::Alone(curve) })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Curve>) -> PyResult<Reduced<'py>> {
        reduced(slf, slf.get().curve())
    }
}
