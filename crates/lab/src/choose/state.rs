//! The state that a work finds a drive in.

/// The state of a solid-state drive before the work. A hard disk is the same in all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// New: nothing was written before.
    Empty,
    /// New, then what the work touches was written in order, in whole blocks of 128 KiB.
    Written,
    /// New, then filled in order.
    Full,
    /// New, then filled in order, then overwritten at random for 20 minutes or once: the used state of
    /// a review.
    Used,
}

impl State {
    /// The word in the document.
    pub fn name(self) -> &'static str {
        match self {
            State::Empty => "empty",
            State::Written => "written",
            State::Full => "full",
            State::Used => "used",
        }
    }
}
