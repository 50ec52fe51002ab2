//! Numbers as callers give them: Python's have any size, and one beyond what is possible is a `ValueError` that names it.

use std::ops::RangeInclusive;

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;

/// Digits of a number that a message shows whole.
const MOST_DIGITS: usize = 40;

/// A whole number of any size.
#[derive(Clone)]
pub(crate) struct Whole {
    /// `None` of one with more than 128 bits.
    value: Option<i128>,
    shown: String,
}

impl Whole {
    /// One that fits.
    pub(crate) fn of(value: u64) -> Whole {
        Whole { value: Some(value.into()), shown: value.to_string() }
    }

    /// The number if it is in this range.
    pub(crate) fn inside(&self, range: RangeInclusive<u64>) -> Option<u64> {
        let value = self.value.and_then(|value| u64::try_from(value).ok());
        value.filter(|value| range.contains(value))
    }

    /// The number, or an error that says what the argument `name` may be.
    pub(crate) fn within(&self, name: &str, range: RangeInclusive<u64>) -> PyResult<u64> {
        let (least, most) = (*range.start(), *range.end());
        self.inside(range).ok_or_else(|| {
            PyValueError::new_err(format!("{name}={}: it is {least} to {most}", self.shown))
        })
    }

    /// As a message shows it.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }
}

impl<'py> FromPyObject<'_, 'py> for Whole {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Whole> {
        match given.extract::<i128>() {
            Ok(value) => Ok(Whole { value: Some(value), shown: value.to_string() }),
            Err(error) if error.is_instance_of::<PyOverflowError>(given.py()) => {
                let bits = given.call_method0("__index__")?.call_method0("bit_length")?;
                // Python itself refuses to write numbers of some thousand digits.
                let digits = given.str().map(|text| text.to_string()).ok();
                let shown = digits.filter(|digits| digits.len() <= MOST_DIGITS);
                let shown = shown.unwrap_or_else(|| format!("a number of {bits} bits"));
                Ok(Whole { value: None, shown })
            }
            Err(error) => Err(error),
        }
    }
}

/// A number; one that no float holds is infinite, which no argument may be.
#[derive(Clone, Copy)]
pub(crate) struct Real(pub(crate) f64);

impl<'py> FromPyObject<'_, 'py> for Real {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Real> {
        match given.extract::<f64>() {
            Ok(value) => Ok(Real(value)),
            Err(error) if error.is_instance_of::<PyOverflowError>(given.py()) => {
                let is_negative = given.lt(0)?;
                Ok(Real(if is_negative { f64::NEG_INFINITY } else { f64::INFINITY }))
            }
            Err(error) => Err(error),
        }
    }
}
