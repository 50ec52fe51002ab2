//! The work of a choice, by the name that a person gives it: a trace, a task, a generated workload or a job file.

use std::path::Path;

use fourcorners_fio::jobfile::JobFileError;
use fourcorners_trace::{Composition, Options, TraceError};

use super::{Jobs, Recording};

/// I/Os of a generated workload or a job file, unless told otherwise: some seconds a drive.
pub const USUAL_IOS: u64 = 200_000;
/// What stands before the names of works that are no files.
const TASK: &str = "task:";
const GENERATED: &str = "generated:";

/// The work that every drive does.
#[derive(Clone, Debug)]
pub enum Work {
    /// A trace, a task or a generated workload.
    Recording(Box<Recording>),
    /// A job file.
    Jobs(Jobs),
}

/// Why there is no work.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The job file cannot be read or done.
    #[error(transparent)]
    Jobs(#[from] JobFileError),
    /// There is no I/O in it.
    #[error("{name}: there is no I/O in it")]
    Empty {
        /// The trace.
        name: String,
    },
    /// It is read once for each drive: a pipe would be empty then, and a device has no end.
    #[error(
        "{name}: this is not a file: a trace or a job file is one; `fourcorners trace record` records what is done to \
         a device"
    )]
    NotAFile {
        /// As it was typed.
        name: String,
    },
    /// A number of I/Os was given for what has a length of its own.
    #[error(
        "ios is for generated workloads and job files, and {name} is as long as it is: leave it out"
    )]
    HasALength {
        /// As it was typed.
        name: String,
    },
}

impl Work {
    /// Reads a trace in any format, `task:NAME`, `generated:NAME` or a job file (`.fio`). `ios` is the most I/Os of a
    /// generated workload or of a job file, by default [`USUAL_IOS`]; `seed` is that of a task or a generated workload.
    /// `None` when `go_on` said no.
    ///
    /// # Errors
    /// [`WorkError`].
    pub fn read(
        path: &Path,
        ios: Option<u64>,
        seed: u64,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Work>, WorkError> {
        let name = path.display().to_string();
        let is_file = !name.starts_with(TASK) && !name.starts_with(GENERATED);
        if is_file && path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(WorkError::NotAFile { name });
        }
        let most_ios = ios.unwrap_or(USUAL_IOS);
        if path.extension().is_some_and(|extension| extension == "fio") {
            return Ok(Some(Work::Jobs(Jobs::read(path, most_ios)?)));
        }
        let mut options = Options { seed, ..Options::default() };
        match name.strip_prefix(GENERATED) {
            Some(generated) => {
                // Who opens it says that there is none of another name.
                let known = Composition::all().iter().find(|known| known.name == generated);
                options.ios = known.map(|known| known.ios().min(most_ios));
            }
            None if ios.is_some() => return Err(WorkError::HasALength { name }),
            None => {}
        }
        let read = Recording::read(path, &options, go_on)?;
        Ok(read.map(|read| Work::Recording(Box::new(read))))
    }

    /// As it was named.
    pub(super) fn name(&self) -> String {
        match self {
            Work::Recording(recording) => recording.card().trace.clone(),
            Work::Jobs(jobs) => jobs.name().into(),
        }
    }
}
