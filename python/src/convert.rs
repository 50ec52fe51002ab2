//! A trace written in another form, with a warning of what the form has no place for.

use std::cell::RefCell;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fourcorners_machine::save::write_atomically_with;
use fourcorners_trace::{self as trace, Conversion, Options, Output, WriteError, Written};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::background::Told;
use crate::errors::{Error, TraceError, TraceWarning};
use crate::trace::unreadable;

/// The file that is to be made.
pub(crate) struct Destination {
    pub(crate) to: PathBuf,
    pub(crate) output: Output,
    /// What a fio-iolog calls the drive.
    pub(crate) drive: String,
}

/// Writes a trace to a file that is whole or not there.
pub(crate) fn convert(
    path: &Path,
    options: &Options,
    destination: &Destination,
    told: &Arc<Told>,
) -> PyResult<Converted> {
    let written: RefCell<Option<Result<Converted, Unwritten>>> = RefCell::new(None);
    let write = |file: &File| {
        // What failed once for a reason of the trace's does so again.
        if !matches!(&*written.borrow(), Some(Err(_))) {
            *written.borrow_mut() = Some(write_to(path, options, destination, (told, file)));
        }
        match &*written.borrow() {
            Some(Ok(_)) => Ok(()),
            _ => Err(io::Error::other("the trace was not written")),
        }
    };
    let saved = write_atomically_with(&destination.to, &write);
    match (written.into_inner(), saved) {
        (Some(Ok(converted)), Ok(())) => Ok(converted),
        (Some(Err(Unwritten::Trace(error))), _) => Err(unreadable(error)),
        (Some(Err(Unwritten::Nothing(why))), _) => {
            Err(TraceError::new_err(format!("{}: {why}", path.display())))
        }
        (Some(Err(Unwritten::Io(error))), _) | (_, Err(error)) => {
            Err(TraceError::new_err(format!("cannot write {}: {error}", destination.to.display())))
        }
        (None, Ok(())) => Err(Error::new_err("nothing was written")),
    }
}

fn write_to(
    path: &Path,
    options: &Options,
    destination: &Destination,
    (told, mut file): (&Arc<Told>, &File),
) -> Result<Converted, Unwritten> {
    let mut trace = trace::open(path, options)?;
    let conversion = Conversion { output: destination.output, drive: &destination.drive };
    match conversion.write(&mut trace, &mut file, &mut || !told.stopped())? {
        None => Err(Unwritten::Io(io::ErrorKind::Interrupted.into())),
        Some(Written { ios: 0, .. }) => Err(Unwritten::Nothing(why_empty(&trace))),
        Some(written) => Ok(Converted { written, skipped: trace.skipped() }),
    }
}

/// Why nothing is left of a trace that was read to its end.
fn why_empty(trace: &trace::Trace) -> String {
    match (trace.first_skipped(), trace.has_ios()) {
        (None, false) => "there is no I/O in it".into(),
        (None, true) => {
            "from_s, to_s, operations, range_bytes and device leave none of its I/Os to convert"
                .into()
        }
        (Some(first), _) => format!(
            "there is no I/O to convert besides what skip_bad leaves out: {}",
            first.without_name()
        ),
    }
}

/// A trace that was written in another form.
pub(crate) struct Converted {
    pub(crate) written: Written,
    /// Records of it that could not be read.
    skipped: u64,
}

/// Why one was not.
enum Unwritten {
    Trace(trace::TraceError),
    Io(io::Error),
    /// There is no I/O in it, or none of them is taken: which of the two.
    Nothing(String),
}

impl From<trace::TraceError> for Unwritten {
    fn from(error: trace::TraceError) -> Unwritten {
        Unwritten::Trace(error)
    }
}

impl From<WriteError> for Unwritten {
    fn from(error: WriteError) -> Unwritten {
        match error {
            WriteError::Trace(error) => Unwritten::Trace(error),
            WriteError::Io(error) => Unwritten::Io(error),
        }
    }
}

impl Converted {
    /// Warns of what is in the trace and not in the file.
    pub(crate) fn warn(
        &self,
        py: Python<'_>,
        (trace, file, format): (&str, &Path, &str),
        output: Output,
    ) -> PyResult<()> {
        let lost = self.written.lost;
        let words: Vec<&str> = lost.words().collect();
        if !words.is_empty() {
            let others = trace::Lost { compressibility: false, before_first: false, ..lost };
            let hint = match (others.words().next(), lost.compressibility) {
                (None, _) => "",
                (Some(_), _) if output == Output::Compact => "",
                (Some(_), false) if lost.before_first => "; format=\"compact\" keeps the others",
                (Some(_), false) => "; format=\"compact\" keeps them",
                (Some(_), true) => "; format=\"compact\" keeps all but compressibility",
            };
            let (file, words) = (file.display(), words.join(", "));
            warn(py, format!("{file}: {format} has no place for {words}: left out{hint}"))?;
        }
        let skipped = match self.skipped {
            0 => return Ok(()),
            1 => "1 record that cannot be read is".to_string(),
            count => format!("{count} records that cannot be read are"),
        };
        warn(py, format!("{trace}: {skipped} left out of {}, by skip_bad", file.display()))
    }
}

fn warn(py: Python<'_>, message: String) -> PyResult<()> {
    let message =
        CString::new(message).map_err(|error| PyValueError::new_err(error.to_string()))?;
    PyErr::warn(py, &py.get_type::<TraceWarning>(), &message, 1)
}
