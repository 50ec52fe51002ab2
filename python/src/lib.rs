//! The drive lab from Python: a thin layer over the library `fourcorners`.
//!
//! What is measured stays where the library put it: arrays are views of it, owned by the object
//! they came from. Python's lock is released while a drive is at work.
//!
//! This is an abi3 extension (PyO3, maturin) with no method of its own. Arrays are views of the data that
//! a frozen class owns (`arrays.rs`, with the one `unsafe`). The calling thread looks for signals between
//! chunks of I/Os (`watch.rs`), or while another thread does the work (`background.rs`). Drives are virtual ones: the guard and its questions belong to the command.
//! The workspace excludes `python/`, so `cargo test --workspace` needs no Python; `fourcorners sweep` only starts the
//! package (`cli/sweep.rs`).
//!
//! In the package, a run of a sweep is a `Cell` (`_task.py`): its result depends on nothing else, neither on
//! the engine nor on the number of workers or the order. `_sweep.py` gives some hundreds of cells at a time to
//! an executor, and again where one was lost; `_parquet.py` writes rows that arrived together to a file,
//! synced and renamed. A twin compares only what a real drive reports as well (`_features.py`: means of parts
//! of the latency distribution, rates, their course; `_objective.py`: a candidate and its distance).
//! `_search.py` climbs from combinations of pages and dies and their neighbours (SciPy), most promising first.
//! `_ranges.py` reads uncertainty from the slopes and from nearby candidates that are as good: a
//! parameter is determined if at most half of what its prior left open remains.

mod arrays;
mod background;
mod catalogue;
mod choose;
mod control;
mod convert;
mod diagnose;
mod drive;
mod errors;
mod figure;
mod fio;
mod histogram;
mod job;
mod named;
mod number;
mod pickle;
mod profile;
mod record;
mod replay;
mod results;
mod review;
mod run;
mod series;
mod serve;
mod share;
mod summary;
mod target;
mod trace;
mod virtual_drive;
mod watch;
mod words;

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
    module.add_class::<histogram::Histogram>()?;
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
    module.add_class::<choose::Choice>()?;
    module.add_class::<diagnose::Diagnosis>()?;
    module.add_class::<diagnose::Finding>()?;
    module.add_class::<serve::Server>()?;
    module.add_function(wrap_pyfunction!(serve::serve, module)?)?;
    module.add_class::<trace::Trace>()?;
    module.add_class::<replay::Replay>()?;
    module.add_function(wrap_pyfunction!(replay::replay, module)?)?;
    module.add_function(wrap_pyfunction!(choose::choose, module)?)?;
    module.add_function(wrap_pyfunction!(diagnose::diagnose, module)?)?;
    module.add_function(wrap_pyfunction!(diagnose::detectors, module)?)?;
    module.add_function(wrap_pyfunction!(review::review, module)?)?;
    module.add_function(wrap_pyfunction!(review::methods, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::drives, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::hosts, module)?)?;
    module.add_function(wrap_pyfunction!(record::to_json, module)?)?;
    module.add_function(wrap_pyfunction!(record::from_json, module)?)?;
    module.add_function(wrap_pyfunction!(record::to_html, module)?)?;
    module.add_function(wrap_pyfunction!(run::empty_run, module)?)?;
    Ok(())
}
