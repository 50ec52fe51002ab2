//! What is wrong with a task: its name, its file, or which value of it.

use std::io;

use super::{MOST_FILE_BYTES, MOST_IOS, MOST_SIZE_KIB, MOST_STEPS, MOST_THINK_S, task_names};

/// Why there is no task.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// None of this name.
    #[error(
        "there is no such task; there are: {}, and files ending in .toml",
        task_names().map(|known| format!("task:{known}")).collect::<Vec<_>>().join(", ")
    )]
    Unknown,
    /// The file cannot be read.
    #[error("cannot read the task: {0}")]
    Read(#[from] io::Error),
    /// Not a regular file.
    #[error("a task is a TOML file, and this is not")]
    NoFile,
    /// Too long a file.
    #[error("a task has at most {MOST_FILE_BYTES} bytes, and this has {bytes}")]
    TooLong {
        /// Its bytes.
        bytes: u64,
    },
    /// It is not TOML.
    #[error("{}{what}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
    Toml {
        /// The line, from 1, where it is known.
        line: Option<usize>,
        /// What is wrong.
        what: String,
    },
    /// A key or a type that a task does not have.
    #[error("{}{what}", path.as_ref().map(|path| format!("{path}: ")).unwrap_or_default())]
    Form {
        /// Where in the file; `None` for the whole.
        path: Option<String>,
        /// What is wrong.
        what: String,
    },
    /// Its title.
    #[error("title = {0:?} must be printable and not empty")]
    Title(String),
    /// How many steps it has.
    #[error("it has {0} [[step]]: give 1 to {MOST_STEPS}")]
    Steps(usize),
    /// How many I/Os it has.
    #[error("it has {0} I/Os: give at most {MOST_IOS}")]
    Ios(u64),
    /// How long it thinks.
    #[error(
        "its think_us come to {seconds:.0} s in all: give steps that come to at most {MOST_THINK_S:.0}"
    )]
    Think {
        /// Of all its steps, on average.
        seconds: f64,
    },
    /// A value of a step.
    #[error("step {number}: {error}")]
    Step {
        /// Which, from 1.
        number: usize,
        /// Which value.
        error: StepError,
    },
}

/// A value that a step cannot have.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum StepError {
    /// A number from 0.
    #[error("{key} = {value}: give 0 to {most}")]
    Range {
        /// The key.
        key: &'static str,
        /// What is there.
        value: f64,
        /// The most.
        most: f64,
    },
    /// A whole number from 1.
    #[error("{key} = {value}: give 1 to {most}")]
    Count {
        /// The key.
        key: &'static str,
        /// What is there.
        value: u64,
        /// The most.
        most: u64,
    },
    /// A burst of no I/Os.
    #[error("burst = 0: give 1 or more, or leave it out for one burst")]
    NoBurst,
    /// An area with no room for an I/O.
    #[error("area_gb = [{from}, {to}] has no room for {largest} bytes")]
    NoRoom {
        /// Its beginning, 10^9 bytes.
        from: f64,
        /// Its end.
        to: f64,
        /// The largest I/O.
        largest: u64,
    },
    /// A size of an I/O.
    #[error("{key} has {kib} KiB: give 1 to {MOST_SIZE_KIB}")]
    Size {
        /// The key.
        key: &'static str,
        /// What is there.
        kib: u32,
    },
    /// No sizes at all.
    #[error("{key} = []: give at least one size in KiB with its percent, such as [[4, 100]]")]
    NoSizes {
        /// The key.
        key: &'static str,
    },
    /// The share of a size.
    #[error("{key} has a share of {share}: give percent, 0 to 100")]
    Share {
        /// The key.
        key: &'static str,
        /// What is there.
        share: f64,
    },
    /// The sum of the shares.
    #[error("{key}: the shares add up to {sum} %, and must to 100")]
    Shares {
        /// The key.
        key: &'static str,
        /// What is there.
        sum: f64,
    },
}
