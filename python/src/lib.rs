//! The drive lab from Python: a thin layer over the library `fourcorners`.
//!
//! What is measured stays where the library put it: arrays are views of it, owned by the object
//! they came from. Python's lock is released while a drive is at work.

mod arrays;
mod catalogue;
mod drive;
mod errors;
mod figure;
mod fio;
mod job;
mod record;
mod results;
mod review;
mod run;
mod series;
mod summary;
mod target;
mod watch;

use fourcorners_linux::HugePages;
use pyo3::prelude::*;

// As the binary has it: a map of some hundred megabytes is read anywhere.
#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

/// What the package `fourcorners` is made of.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    errors::register(module)?;
    module.add_class::<drive::Drive>()?;
    module.add_class::<job::Job>()?;
    module.add_class::<fio::FioJobs>()?;
    module.add_class::<fio::FioResult>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<run::Histogram>()?;
    module.add_class::<record::Record>()?;
    module.add_class::<figure::Figure>()?;
    module.add_class::<series::Series>()?;
    module.add_class::<series::Curve>()?;
    module.add_class::<target::Target>()?;
    module.add_class::<figure::Latency>()?;
    module.add_class::<record::Verdict>()?;
    module.add_class::<record::Note>()?;
    module.add_class::<results::Results>()?;
    module.add_class::<summary::Summary>()?;
    module.add_function(wrap_pyfunction!(review::review, module)?)?;
    module.add_function(wrap_pyfunction!(review::methods, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::drives, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::hosts, module)?)?;
    module.add_function(wrap_pyfunction!(record::to_json, module)?)?;
    module.add_function(wrap_pyfunction!(record::from_json, module)?)?;
    module.add_function(wrap_pyfunction!(run::empty_run, module)?)?;
    Ok(())
}
