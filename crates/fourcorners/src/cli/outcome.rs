//! How a command ended; `cli/mod.rs` makes an exit code of it.

/// What a command ended with.
pub(super) enum End {
    Done,
    /// Something was measured, but not all of it.
    Incomplete,
    /// What fio would exit with.
    Code(u8),
}

/// Why a command did not end well.
pub(super) enum Failure {
    /// Nothing was run; the message says what to type instead.
    Usage(String),
    /// It was begun and failed.
    Failed(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Failed(error.into())
    }
}
