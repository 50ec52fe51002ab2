//! The library's errors as Python's exceptions, with its messages.

use fourcorners_catalogue::CatalogueError;
use fourcorners_drive::Fault;
use fourcorners_fio::jobfile::JobFileError;
use fourcorners_lab::state::StateFileError;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyUserWarning};
use pyo3::prelude::*;

create_exception!(fourcorners, Error, PyException, "What every error of the library is.");
create_exception!(fourcorners, CatalogueError_, Error, "There is no such drive or profile.");
create_exception!(fourcorners, JobError, Error, "A job that this drive cannot do.");
create_exception!(fourcorners, JobFileError_, JobError, "A line of a job file.");
create_exception!(fourcorners, DriveFault, Error, "The drive failed an I/O.");
create_exception!(fourcorners, RecordError, Error, "A text that is no record.");
create_exception!(
    fourcorners,
    StateError,
    Error,
    "A file that is no state of this drive, or a drive that has none."
);
create_exception!(fourcorners, TraceError, Error, "A trace that cannot be read or replayed.");
create_exception!(fourcorners, ResultsError, Error, "What is wrong with a database of results.");
create_exception!(
    fourcorners,
    TraceWarning,
    PyUserWarning,
    "What of a trace is not in the file that it was converted to."
);

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    for (name, class) in [
        ("Error", py.get_type::<Error>()),
        ("CatalogueError", py.get_type::<CatalogueError_>()),
        ("JobError", py.get_type::<JobError>()),
        ("JobFileError", py.get_type::<JobFileError_>()),
        ("DriveFault", py.get_type::<DriveFault>()),
        ("RecordError", py.get_type::<RecordError>()),
        ("ResultsError", py.get_type::<ResultsError>()),
        ("TraceError", py.get_type::<TraceError>()),
        ("StateError", py.get_type::<StateError>()),
        ("TraceWarning", py.get_type::<TraceWarning>()),
    ] {
        // By the name they are imported by, so that they can be pickled on the way from a worker.
        class.setattr("__name__", name)?;
        class.setattr("__qualname__", name)?;
        module.add(name, class)?;
    }
    Ok(())
}

pub(crate) fn catalogue(error: CatalogueError) -> PyErr {
    CatalogueError_::new_err(error.to_string())
}

pub(crate) fn job_file(error: JobFileError) -> PyErr {
    JobFileError_::new_err(error.to_string())
}

pub(crate) fn state(error: StateFileError) -> PyErr {
    let message = error.to_string();
    StateError::new_err(message.replace("the same --set and --host", "the same set and host"))
}

pub(crate) fn fault(fault: Fault) -> PyErr {
    DriveFault::new_err(fault.to_string())
}
