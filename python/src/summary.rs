//! The summary of a record in a database.

use fourcorners_results::store::Summary as LabSummary;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::{Deserialize, Serialize};

use crate::pickle::{Reduced, again, reduced};

/// What is listed of a record: what it is of, and how it came about.
#[pyclass(frozen, get_all, eq, module = "fourcorners")]
#[derive(PartialEq, Serialize, Deserialize)]
pub(crate) struct Summary {
    id: String,
    drive: String,
    title: String,
    kind: String,
    capacity_bytes: u64,
    model: Option<String>,
    serial: Option<String>,
    firmware: Option<String>,
    profile_hash: Option<String>,
    set_up: String,
    clock: String,
    method: String,
    quick: bool,
    ended: String,
    figures: u64,
    seed: u64,
    version: String,
    started_at: String,
}

impl From<LabSummary> for Summary {
    fn from(of: LabSummary) -> Summary {
        let LabSummary { id, drive, title, kind, capacity_bytes, model, serial, firmware, .. } = of;
        let LabSummary { profile_hash, set_up, clock, method, quick, ended, figures, .. } = of;
        let LabSummary { seed, version, started_at, .. } = of;
        Summary {
            id,
            drive,
            title,
            kind,
            capacity_bytes,
            model,
            serial,
            firmware,
            profile_hash,
            set_up,
            clock,
            method,
            quick,
            ended,
            figures,
            seed,
            version,
            started_at,
        }
    }
}

#[pymethods]
impl Summary {
    /// All of it as one flat dictionary: a row of a table.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let row = PyDict::new(py);
        row.set_item("id", &self.id)?;
        row.set_item("started_at", &self.started_at)?;
        row.set_item("drive", &self.drive)?;
        row.set_item("title", &self.title)?;
        row.set_item("kind", &self.kind)?;
        row.set_item("capacity_bytes", self.capacity_bytes)?;
        row.set_item("model", &self.model)?;
        row.set_item("serial", &self.serial)?;
        row.set_item("firmware", &self.firmware)?;
        row.set_item("profile_hash", &self.profile_hash)?;
        row.set_item("set_up", &self.set_up)?;
        row.set_item("clock", &self.clock)?;
        row.set_item("method", &self.method)?;
        row.set_item("quick", self.quick)?;
        row.set_item("ended", &self.ended)?;
        row.set_item("figures", self.figures)?;
        row.set_item("seed", self.seed)?;
        row.set_item("version", &self.version)?;
        Ok(row)
    }

    /// The summary that was pickled.
    #[staticmethod]
    fn _again(text: &str) -> PyResult<Summary> {
        again(text)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Summary>) -> PyResult<Reduced<'py>> {
        reduced(slf, slf.get())
    }

    fn __repr__(&self) -> String {
        let Summary { id, method, drive, started_at, .. } = self;
        format!("<Summary {id}: {method} of {drive}, {started_at}>")
    }
}
