//! The Python package: what it does, some commands hand on to it.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::process::{Command, Stdio};

use super::outcome::Failure;

/// The Python that is used unless another is named.
pub(super) const PYTHON: &str = "python3";
/// Names the Python to use.
pub(super) const VARIABLE: &str = "FOURCORNERS_PYTHON";

/// `python -m fourcorners`, if that Python has the package. `what` is what runs in it.
///
/// # Errors
/// What is missing, and how to have it.
pub(super) fn package(named: Option<&OsString>, what: &str) -> Result<Command, Failure> {
    let python = named.cloned().unwrap_or_else(|| OsString::from(PYTHON));
    let shown = python.to_string_lossy();
    let asked = Command::new(&python)
        .args(["-c", "import fourcorners.__main__"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let install = format!(
        "`pip install './python[sweep]'` in this project's source installs it, and {VARIABLE} names \
         another Python"
    );
    match asked {
        Ok(status) if status.success() => {
            let mut command = Command::new(&python);
            command.args(["-m", "fourcorners"]);
            Ok(command)
        }
        Ok(_) => Err(Failure::Usage(format!(
            "{what} runs in Python, and {shown} has no package fourcorners: {install}"
        ))),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(Failure::Usage(format!(
            "{what} runs in Python, and there is no {shown}: {install}"
        ))),
        Err(error) => Err(Failure::Usage(format!("{shown} cannot be run: {error}"))),
    }
}

/// An option and what is given for it, as one word: a name may begin with a dash.
pub(super) fn option(name: &str, value: impl AsRef<std::ffi::OsStr>) -> OsString {
    let mut option = OsString::from(format!("--{name}="));
    option.push(value);
    option
}
