//! The target of a record.

use fourcorners_record::{Record as LabRecord, TargetInfo};
use pyo3::prelude::*;

use crate::pickle::{Reduced, again, reduced};

/// What was measured on.
#[pyclass(frozen, module = "fourcorners")]
pub(crate) struct Target(TargetInfo);

impl Target {
    pub(crate) fn of(record: &LabRecord) -> Target {
        Target(record.target.clone())
    }

    fn info(&self) -> &TargetInfo {
        &self.0
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
    fn firmware(&self) -> Option<&str> {
        self.info().firmware.as_deref()
    }
    /// Whether a real target's page cache was gone round.
    #[getter]
    fn direct(&self) -> Option<bool> {
        self.info().direct
    }
    /// What is known to answer in place of a real drive, in a clause.
    #[getter]
    fn in_memory(&self) -> Option<&str> {
        self.info().in_memory.as_deref()
    }
    #[getter]
    fn profile_hash(&self) -> Option<&str> {
        self.info().profile_hash.as_deref()
    }
    /// Erases that each block is rated for (virtual SSDs whose flash wears out).
    #[getter]
    fn rated_cycles(&self) -> Option<u32> {
        self.info().rated_cycles
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
    /// The saved state that a virtual drive began in.
    #[getter]
    fn loaded_state(&self) -> Option<&str> {
        self.info().loaded_state.as_deref()
    }

    /// The target that was pickled.
    #[staticmethod]
    fn _again(text: &str) -> PyResult<Target> {
        again(text).map(Target)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Target>) -> PyResult<Reduced<'py>> {
        reduced(slf, slf.get().info())
    }

    fn __repr__(&self) -> String {
        format!("<Target {}: {}>", self.info().name, self.info().title)
    }
}
