//! Why a map does not agree with itself.

/// The first place where two of a drive's tables say different things.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Inconsistency(String);

impl From<String> for Inconsistency {
    fn from(what: String) -> Inconsistency {
        Inconsistency(what)
    }
}

impl From<&str> for Inconsistency {
    fn from(what: &str) -> Inconsistency {
        Inconsistency(what.into())
    }
}
