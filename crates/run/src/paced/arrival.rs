//! The due time of the next I/O, as a source of I/Os tells the loop that runs them.

use fourcorners_drive::{Io, Nanos};

/// When an I/O may be submitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// As soon as there is a place in the queue.
    Now,
    /// At this time after the job's beginning, or as soon after it as there is a place in the queue.
    /// Its latency counts from then, not from when it was submitted: a drive that does not keep up
    /// makes its users wait from when they asked (coordinated omission).
    At(Nanos),
    /// This long after the I/O before it was submitted.
    AfterSubmit(Nanos),
    /// This long after the later of two: the I/O before it was submitted, and so few were left in
    /// flight.
    After {
        /// The think time.
        think: Nanos,
        /// I/Os that may be in flight.
        in_flight: u32,
    },
}

/// Where a loop has its I/Os from.
pub trait Source {
    /// Whether an I/O may have to wait for its time. Where none has, no times are kept: all are
    /// [`Due::Now`].
    const PACED: bool;

    /// The next I/O; `None` at the end.
    fn next(&mut self) -> Option<(Io, Due)>;
}

impl<S: Source> Source for &mut S {
    const PACED: bool = S::PACED;

    fn next(&mut self) -> Option<(Io, Due)> {
        (**self).next()
    }
}
