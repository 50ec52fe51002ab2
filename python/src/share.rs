//! A share of a drive: a number from 0 to 1, or a text with a per cent sign, as the command line has it.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::number::Real;

/// A share, 1 for all.
#[derive(Clone, Copy)]
pub(crate) struct Share(pub(crate) f64);

impl<'py> FromPyObject<'_, 'py> for Share {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Share> {
        let Ok(text) = given.cast::<PyString>() else {
            let number: Result<Real, PyErr> = given.extract();
            return number.map(|Real(share)| Share(share)).map_err(|_| {
                PyTypeError::new_err("give a share as a number, 0.25, or as a text, \"25%\"")
            });
        };
        let text = text.to_string();
        let percent = text.trim().strip_suffix('%').and_then(|number| number.trim().parse().ok());
        let percent: Option<f64> = percent.filter(|percent: &f64| percent.is_finite());
        percent.map(|percent| Share(percent / 100.0)).ok_or_else(|| {
            let why = format!("{text:?}: give a share as a number, 0.25, or as a text, \"25%\"");
            PyValueError::new_err(why)
        })
    }
}
