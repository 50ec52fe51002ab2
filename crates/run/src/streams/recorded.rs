//! I/Os that were recorded, in the place of those that are drawn.

use std::sync::Arc;

use fourcorners_drive::{Io, Nanos, Op};

use super::Direction;

/// The I/Os of a recording, as a target is to get them, and when.
#[derive(Clone, PartialEq, Debug)]
pub struct Recorded {
    /// Each with its time after the first; times never go back.
    pub ios: Vec<(Nanos, Io)>,
    /// Whether they are due at those times; otherwise as soon as there is a place in the queue.
    pub timed: bool,
}

impl Recorded {
    /// Whether it has any of this operation.
    pub fn has(&self, op: Op) -> bool {
        self.ios.iter().any(|(_, io)| io.op == op)
    }

    /// The bytes from its first place to its last.
    pub fn covers(&self) -> std::ops::Range<u64> {
        let places = || self.ios.iter().filter(|(_, io)| io.op != Op::Flush);
        let start = places().map(|(_, io)| io.lba.bytes()).min().unwrap_or(0);
        let end = places().map(|(_, io)| io.lba.bytes() + io.bytes()).max().unwrap_or(0);
        start..end
    }

    /// Its longest I/O, bytes.
    pub fn largest(&self) -> u64 {
        self.ios.iter().map(|(_, io)| io.bytes()).max().unwrap_or(0)
    }
}

/// Where a stream is in its recording, which begins again at its end.
#[derive(Clone, Debug)]
pub(super) struct Tape {
    recorded: Arc<Recorded>,
    next: usize,
    /// When this round of it began.
    began: Nanos,
}

impl Tape {
    pub(super) fn new(recorded: Arc<Recorded>) -> Tape {
        Tape { recorded, next: 0, began: Nanos::ZERO }
    }

    pub(super) fn begin(&mut self, start: Nanos) {
        self.began = start;
    }

    /// The next I/O and when it is due; `None` of a recording without any.
    pub(super) fn next(&mut self) -> Option<(Io, Option<Nanos>)> {
        let ios = &self.recorded.ios;
        if self.next == ios.len() {
            self.began = self.began.saturating_add(ios.last()?.0);
            self.next = 0;
        }
        let &(at, io) = ios.get(self.next)?;
        self.next += 1;
        Some((io, self.recorded.timed.then(|| self.began.saturating_add(at))))
    }
}

/// What an I/O counts as; `None` is a flush.
pub(super) fn direction(op: Op) -> Option<Direction> {
    match op {
        Op::Read => Some(Direction::Read),
        Op::Write => Some(Direction::Write),
        Op::Trim => Some(Direction::Trim),
        Op::Flush => None,
    }
}
