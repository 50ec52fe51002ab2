//! Read-ahead: what the controller fetches from NAND before a sequential reader asks for it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::ftl::LogicalUnit;
use crate::state::LATEST;

/// Follows one sequential stream of reads and remembers what was fetched for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReadAhead {
    window: u32,
    /// The sector where the last read ended; a read that begins there continues it, of whatever size.
    expected: Option<u64>,
    /// Consecutive units and when each is in the controller.
    fetched: VecDeque<(LogicalUnit, Nanos)>,
}

impl ReadAhead {
    /// A window of so many units; 0 for no read-ahead.
    pub(crate) fn new(window: u32) -> ReadAhead {
        ReadAhead { window, expected: None, fetched: VecDeque::with_capacity(window as usize) }
    }

    /// Units fetched ahead of a reader.
    pub(crate) fn window(&self) -> u32 {
        self.window
    }

    /// Whether a read from the sector `first` on continues the last one.
    #[inline]
    pub(crate) fn begins(&mut self, first: u64) -> bool {
        let sequential = self.window > 0 && self.expected == Some(first);
        if !sequential && !self.fetched.is_empty() {
            self.fetched.clear();
        }
        sequential
    }

    /// The reader is at the sector `next`.
    #[inline]
    pub(crate) fn expect(&mut self, next: u64) {
        self.expected = Some(next);
    }

    /// When `unit` is in the controller, if it was fetched. It is kept until the reader asks for
    /// the next one, for a read may end within a unit.
    #[inline]
    pub(crate) fn find(&mut self, unit: LogicalUnit) -> Option<Nanos> {
        while self.fetched.front().is_some_and(|&(front, _)| front < unit) {
            self.fetched.pop_front();
        }
        let &(front, ready) = self.fetched.front()?;
        (front == unit).then_some(ready)
    }

    /// The first unit from `from` on that is not fetched.
    pub(crate) fn fetched_to(&self, from: LogicalUnit) -> LogicalUnit {
        self.fetched.back().map_or(from, |&(last, _)| last + 1)
    }

    /// `unit`, the next after all fetched, is in the controller at `ready`.
    pub(crate) fn put(&mut self, unit: LogicalUnit, ready: Nanos) {
        self.fetched.push_back((unit, ready));
    }

    /// Whether a loaded one is one that `made`, which is new, could have become on a drive of
    /// `user_units` and `sectors`.
    pub(crate) fn fits(&self, made: &ReadAhead, user_units: u32, sectors: u64) -> bool {
        let ReadAhead { window, expected, fetched } = self;
        let units = || fetched.iter().map(|&(unit, _)| unit);
        *window == made.window
            && expected.is_none_or(|next| next <= sectors)
            // The unit read last is kept beside the window.
            && fetched.len() <= *window as usize + 1
            && units().all(|unit| unit < user_units)
            && units().zip(units().skip(1)).all(|(one, next)| one + 1 == next)
            && fetched.iter().all(|&(_, ready)| ready <= LATEST)
    }

    /// What was fetched is out of date.
    #[inline]
    pub(crate) fn clear(&mut self) {
        if !self.fetched.is_empty() {
            self.fetched.clear();
        }
    }
}
