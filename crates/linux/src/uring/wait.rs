//! How long a way into the kernel may take.

use fourcorners_drive::Nanos;

/// How long `io_uring_enter` waits for a completion.
#[derive(Clone, Copy)]
pub(super) enum Wait {
    /// Submits only, and leaves completions where they are.
    Never,
    /// Lets completions in that are there already.
    No,
    /// Until one is there, at most this long.
    For(Nanos),
}
