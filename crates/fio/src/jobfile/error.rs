//! Errors in a job file, with their place.

use std::fmt;
use std::path::{Path, PathBuf};

/// A place in a job file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; 0 for the file as a whole.
    pub line: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}", self.file.display()),
            line => write!(f, "{}, line {line}", self.file.display()),
        }
    }
}

/// Why a job file cannot be run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{at}: {what}")]
pub struct JobFileError {
    /// Where.
    pub at: Location,
    /// What is wrong, and what to do.
    pub what: String,
}

impl JobFileError {
    pub(super) fn new(at: &Location, what: impl Into<String>) -> JobFileError {
        JobFileError { at: at.clone(), what: what.into() }
    }

    pub(super) fn whole(file: &Path, what: impl Into<String>) -> JobFileError {
        JobFileError::new(&Location { file: file.to_path_buf(), line: 0 }, what)
    }
}
