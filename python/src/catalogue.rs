//! The names of the catalogue.

use fourcorners_catalogue as catalogue;
use pyo3::prelude::*;

/// Names of the virtual drives there are.
#[pyfunction]
pub(crate) fn drives() -> Vec<String> {
    catalogue::names()
}

/// Names of the host controllers a drive can be put behind.
#[pyfunction]
pub(crate) fn hosts() -> Vec<&'static str> {
    catalogue::host_names()
}
