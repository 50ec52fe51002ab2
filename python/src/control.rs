//! What a server is asked and told while it runs: the lines of `fourcorners serve --control`.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fourcorners_serve::Control;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;

use crate::errors::Error;

/// How often Ctrl-C is looked for while an answer is waited for.
const LOOK: Duration = Duration::from_millis(100);

/// Where a server listens for lines, in a folder of its own.
pub(crate) struct ControlSocket {
    path: PathBuf,
}

impl ControlSocket {
    /// Opens it in this folder; the other half is the server's.
    pub(crate) fn open(folder: &Path) -> PyResult<(ControlSocket, Control)> {
        let path = folder.join("control.sock");
        let control = Control::open(&path).map_err(|error| Error::new_err(error.to_string()))?;
        Ok((ControlSocket { path }, control))
    }

    /// Sends a line. What the server answers; what it refuses is an error.
    pub(crate) fn ask<'py>(&self, py: Python<'py>, line: &str) -> PyResult<Bound<'py, PyAny>> {
        if line.contains('\n') {
            return Err(PyValueError::new_err("give one command, without a line break"));
        }
        let answer: Value = serde_json::from_str(&self.exchange(py, line)?)
            .map_err(|error| Error::new_err(format!("the server's answer: {error}")))?;
        if answer["ok"] == Value::Bool(true) {
            return Ok(pythonize::pythonize(py, &answer)?);
        }
        let why = answer["error"].as_str().unwrap_or("the server refused it");
        Err(Error::new_err(why.to_string()))
    }

    fn exchange(&self, py: Python<'_>, line: &str) -> PyResult<String> {
        let failed = |error: std::io::Error| Error::new_err(format!("the server: {error}"));
        let mut stream = UnixStream::connect(&self.path).map_err(failed)?;
        stream.set_read_timeout(Some(LOOK)).map_err(failed)?;
        stream.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
        let mut answer = Vec::new();
        let mut piece = [0; 4096];
        while !answer.ends_with(b"\n") {
            match py.detach(|| stream.read(&mut piece)) {
                Ok(0) => {
                    return Err(Error::new_err(
                        "the server ended, or let go of the line, before it answered",
                    ));
                }
                Ok(count) => answer.extend_from_slice(&piece[..count]),
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    py.check_signals()?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => py.check_signals()?,
                Err(error) => return Err(failed(error)),
            }
        }
        String::from_utf8(answer).map_err(|error| Error::new_err(error.to_string()))
    }
}
