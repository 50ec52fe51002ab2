//! Why a plan file cannot be carried out.

use thiserror::Error;

use crate::strict_toml::LineError;

/// Why a plan file cannot be carried out.
#[derive(Debug, Error)]
pub enum PlanError {
    /// It cannot be read.
    #[error("cannot read the plan {place}: {cause}")]
    Read {
        /// Its path.
        place: String,
        /// Why.
        cause: std::io::Error,
    },
    /// What is wrong in a line, and what to do.
    #[error("{place}, line {line}: {what}")]
    Form {
        /// Its path.
        place: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
}

impl From<LineError> for PlanError {
    fn from(LineError { place, line, what }: LineError) -> PlanError {
        PlanError::Form { place, line, what }
    }
}
