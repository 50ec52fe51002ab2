//! The queue of a virtual drive: its clock, the commands whose finish time is known, and those it
//! refused.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::{Done, Fault, FaultCause, Io, Nanos, Tag};

/// A virtual clock and the completions ahead of it, earliest first. Equal times come out in the
/// order they were pushed, so that an answer never depends on how the heap happens to be laid out.
///
/// Never holds more than the drive's queue depth, so it does not allocate after `with_depth`.
#[derive(Debug, Clone)]
pub(crate) struct Queue {
    now: Nanos,
    completions: BinaryHeap<Reverse<(Nanos, u64, Tag)>>,
    pushed: u64,
    refused: VecDeque<Fault>,
}

impl Queue {
    /// Room for `depth` commands in flight, at time zero.
    pub(crate) fn with_depth(depth: u32) -> Queue {
        Queue {
            now: Nanos::ZERO,
            completions: BinaryHeap::with_capacity(depth as usize),
            pushed: 0,
            refused: VecDeque::new(),
        }
    }

    /// The same at another time.
    pub(crate) fn at(self, now: Nanos) -> Queue {
        Queue { now, ..self }
    }

    pub(crate) fn now(&self) -> Nanos {
        self.now
    }

    /// The command under `tag` will finish at `at`, which is never in the past.
    pub(crate) fn finish(&mut self, tag: Tag, at: Nanos) {
        debug_assert!(at >= self.now, "completion at {at:?} before now {:?}", self.now);
        self.completions.push(Reverse((at, self.pushed, tag)));
        self.pushed += 1;
    }

    /// The command under `tag` is answered by a fault at the next reap.
    pub(crate) fn refuse(&mut self, tag: Tag, io: Io, cause: FaultCause) {
        self.refused.push_back(Fault { tag, io, at: self.now, cause });
    }

    /// [`crate::Target::reap`] for a drive that knows every finish time at submit.
    pub(crate) fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        if let Some(fault) = self.refused.pop_front() {
            return Err(fault);
        }
        if let Some(&Reverse((at, _, tag))) = self.completions.peek()
            && at <= until
        {
            self.completions.pop();
            self.now = at;
            return Ok(Some(Done { tag, at }));
        }
        self.idle_until(until);
        Ok(None)
    }

    /// Whether nothing is in flight.
    pub(crate) fn is_idle(&self) -> bool {
        self.completions.is_empty() && self.refused.is_empty()
    }

    /// Moves the clock to `until` without a completion; `Nanos::MAX` is no time and leaves it.
    pub(crate) fn idle_until(&mut self, until: Nanos) {
        if until < Nanos::MAX {
            self.now = self.now.max(until);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earliest_first_and_ties_in_order_of_submission() {
        let mut queue = Queue::with_depth(4);
        for (at, tag) in [(5, 0), (3, 1), (5, 2), (3, 3)] {
            queue.finish(Tag(tag), Nanos(at));
        }
        let order: Vec<u32> = std::iter::from_fn(|| queue.reap(Nanos(9)).expect("no fault"))
            .map(|done| done.tag.0)
            .collect();
        assert_eq!(order, [1, 3, 0, 2]);
        assert_eq!(queue.now(), Nanos(9));
    }

    #[test]
    fn nothing_later_than_asked_and_no_end_of_time() {
        let mut queue = Queue::with_depth(1);
        queue.finish(Tag(0), Nanos(10));
        assert_eq!(queue.reap(Nanos(9)), Ok(None));
        assert_eq!(queue.now(), Nanos(9));
        assert_eq!(queue.reap(Nanos(10)), Ok(Some(Done { tag: Tag(0), at: Nanos(10) })));
        assert_eq!(queue.reap(Nanos::MAX), Ok(None));
        assert_eq!(queue.now(), Nanos(10));
    }
}
