//! The queue of a virtual drive: its clock, the commands whose finish time is known, and those it
//! refused.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::{Done, Fault, FaultCause, Io, Nanos, Tag};

/// A virtual clock and the completions ahead of it, earliest first. Equal times come out in the
/// order they were pushed, so that an answer never depends on how they happen to be stored.
///
/// Writes are mostly answered in the order they were given, so a completion later than all others
/// goes to the end of a line, which costs nothing, and only one that overtakes into a heap.
///
/// Never holds more than the drive's queue depth, so it does not allocate after `with_depth`.
#[derive(Debug, Clone)]
pub(crate) struct Queue {
    now: Nanos,
    in_order: VecDeque<Completion>,
    overtaking: BinaryHeap<Reverse<Completion>>,
    pushed: u64,
    refused: VecDeque<Fault>,
}

/// When a command is done, what number it was and its tag, in one number that sorts by them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Completion(u128);

/// Tags are below a queue depth, which a profile's check limits to 65,536.
const TAG_BITS: u32 = 17;

impl Completion {
    #[inline]
    fn new(at: Nanos, number: u64, tag: Tag) -> Completion {
        debug_assert!(tag.0 < 1 << TAG_BITS);
        Completion(u128::from(at.0) << 64 | u128::from(number << TAG_BITS | u64::from(tag.0)))
    }

    #[inline]
    fn at(self) -> Nanos {
        Nanos((self.0 >> 64) as u64)
    }

    #[inline]
    fn tag(self) -> Tag {
        Tag(self.0 as u32 & ((1 << TAG_BITS) - 1))
    }
}

impl Queue {
    /// Room for `depth` commands in flight, at time zero.
    pub(crate) fn with_depth(depth: u32) -> Queue {
        Queue {
            now: Nanos::ZERO,
            in_order: VecDeque::with_capacity(depth as usize),
            overtaking: BinaryHeap::with_capacity(depth as usize),
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
        let completion = Completion::new(at, self.pushed, tag);
        self.pushed += 1;
        if self.in_order.back().is_none_or(|&last| last < completion) {
            self.in_order.push_back(completion);
        } else {
            self.overtaking.push(Reverse(completion));
        }
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
        let Some(next) = self.next().filter(|next| next.at() <= until) else {
            self.idle_until(until);
            return Ok(None);
        };
        if self.in_order.front() == Some(&next) {
            self.in_order.pop_front();
        } else {
            self.overtaking.pop();
        }
        self.now = next.at();
        Ok(Some(Done { tag: next.tag(), at: next.at() }))
    }

    /// The earliest completion.
    #[inline]
    fn next(&self) -> Option<Completion> {
        match (self.in_order.front(), self.overtaking.peek()) {
            (Some(&front), Some(&Reverse(top))) => Some(front.min(top)),
            (Some(&front), None) => Some(front),
            (None, Some(&Reverse(top))) => Some(top),
            (None, None) => None,
        }
    }

    /// Whether nothing is in flight.
    pub(crate) fn is_idle(&self) -> bool {
        self.in_order.is_empty() && self.overtaking.is_empty() && self.refused.is_empty()
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
    use proptest::{collection, prelude::*};

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

    proptest! {
        /// Against a sorted list, with answers and new commands in any order.
        #[test]
        fn it_answers_like_a_sorted_list(steps in collection::vec((0u64..50, 0u8..3), 1..200)) {
            let mut queue = Queue::with_depth(200);
            let mut expected: Vec<(Nanos, u32)> = Vec::new();
            for (tag, (after, answers)) in (0..).zip(steps) {
                let at = Nanos(queue.now().0 + after);
                queue.finish(Tag(tag), at);
                expected.push((at, tag));
                expected.sort_by_key(|&(at, tag)| (at, tag));
                for _ in 0..answers {
                    let done = queue.reap(Nanos::MAX).expect("nothing is refused");
                    let first = (!expected.is_empty()).then(|| expected.remove(0));
                    prop_assert_eq!(done.map(|done| (done.at, done.tag.0)), first);
                    prop_assert_eq!(queue.is_idle(), expected.is_empty());
                }
            }
        }
    }
}
