//! The queue of a virtual drive: its clock, the commands whose finish time is known, and those it
//! refused.

use std::collections::VecDeque;
use std::hint::select_unpredictable;

use crate::{Done, Fault, FaultCause, Io, Nanos, Tag};

/// A virtual clock and the completions ahead of it, earliest first. Equal times come out in the
/// order they were pushed, so that an answer never depends on how they happen to be stored.
///
/// Writes are mostly answered in the order they were given: they wait in a line, at next to no cost.
/// Where commands overtake one another, they go to a [`Tournament`].
#[derive(Debug, Clone)]
pub(crate) struct Queue {
    now: Nanos,
    in_order: Line,
    overtaking: Tournament,
    /// The latest time of all so far, and how many were pushed since the last that was earlier.
    latest: Nanos,
    in_turn: u64,
    pushed: u64,
    refused: VecDeque<Fault>,
}

/// When a command is done, what number it was and its tag, in one number that sorts by them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Completion(u128);

/// So many commands must have come in order for the next to wait in line. Of reads in any order many are the
/// latest of all; to ask that alone would be to toss a coin for each.
const ORDER: u64 = 100;

/// Tags are below a queue depth, which a config's check limits to 65,536.
const TAG_BITS: u32 = 17;

impl Completion {
    /// Later than any there is.
    const NONE: Completion = Completion(u128::MAX);

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

/// Completions each of which is later than the one before: a ring of a power of two places.
#[derive(Debug, Clone)]
struct Line {
    ring: Box<[Completion]>,
    /// How many have come and gone; the places of both are less the ring's whole turns.
    first: usize,
    end: usize,
}

impl Line {
    fn with_room(depth: u32) -> Line {
        let places = (depth as usize).next_power_of_two();
        Line { ring: vec![Completion::NONE; places].into(), first: 0, end: 0 }
    }

    #[inline]
    fn at(&self, number: usize) -> Completion {
        // The length is a power of two and never 0.
        self.ring[number & (self.ring.len() - 1)]
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.first == self.end
    }

    /// The earliest, or [`Completion::NONE`].
    #[inline]
    fn first(&self) -> Completion {
        if self.is_empty() { Completion::NONE } else { self.at(self.first) }
    }

    /// Whether there is room for another.
    #[inline]
    fn has_room(&self) -> bool {
        self.end.wrapping_sub(self.first) < self.ring.len()
    }

    #[inline]
    fn push(&mut self, completion: Completion) {
        let last = self.ring.len() - 1;
        self.ring[self.end & last] = completion;
        self.end = self.end.wrapping_add(1);
    }
}

/// Completions by tag, beneath a tree of the earlier of every two (Knuth, The Art of Computer
/// Programming, volume 3, 5.4.1).
///
/// A drive whose commands overtake one another answers one and is given the next under its tag: that
/// place changes, and the matches above it are played again. Which command wins is not to be
/// foreseen, and in a heap the processor would guess wrong some times for each; here nothing depends on
/// it but what is written.
#[derive(Debug, Clone)]
struct Tournament {
    /// The root is the second, those below `i` are `2 i` and `2 i + 1`, and the second half is the
    /// tags: as many as are used, for few jobs use all a drive takes, and [`FEWEST`] at least.
    nodes: Vec<Completion>,
    /// How many there are.
    count: usize,
    /// The tag that was answered last, whose matches are not played again yet.
    left: Option<Tag>,
}

/// Tags of the smallest tournament, so that the number of matches is a constant for most jobs.
const FEWEST: usize = 32;

/// Matches of a tag of such a one.
const MATCHES: u32 = FEWEST.ilog2();

impl Tournament {
    fn new() -> Tournament {
        Tournament { nodes: vec![Completion::NONE; 2 * FEWEST], count: 0, left: None }
    }

    /// The earliest, or [`Completion::NONE`].
    #[inline]
    fn first(&mut self) -> Completion {
        if self.left.is_some() {
            self.play_without();
        }
        self.nodes[1]
    }

    #[inline]
    fn insert(&mut self, tag: Tag, completion: Completion) {
        self.count += 1;
        if self.left == Some(tag) {
            self.left = None;
        } else if tag.0 as usize >= self.nodes.len() / 2 {
            self.grow(tag);
        }
        self.place(tag, completion);
    }

    /// The first, which is `tag`'s, is answered. Mostly another follows under the same tag before anybody
    /// asks which is the first now.
    #[inline]
    fn remove_first(&mut self, tag: Tag) {
        self.count -= 1;
        self.left = Some(tag);
    }

    #[cold]
    fn play_without(&mut self) {
        if let Some(left) = self.left.take() {
            self.place(left, Completion::NONE);
        }
    }

    #[inline]
    fn place(&mut self, tag: Tag, completion: Completion) {
        let (mut node, mut earlier) = (self.nodes.len() / 2 + tag.0 as usize, completion);
        self.nodes[node] = completion;
        while node >= 2 * FEWEST {
            earlier = earlier.min(self.nodes[node ^ 1]);
            node /= 2;
            self.nodes[node] = earlier;
        }
        // Not a loop when compiled: in loops compilers choose by a branch.
        let Some(last) = self.nodes.first_chunk_mut::<{ 2 * FEWEST }>() else { return };
        for _ in 0..MATCHES {
            let other = last[(node ^ 1) % (2 * FEWEST)];
            earlier = select_unpredictable(other < earlier, other, earlier);
            node /= 2;
            last[node % (2 * FEWEST)] = earlier;
        }
    }

    #[cold]
    fn grow(&mut self, tag: Tag) {
        let tags = (tag.0 as usize + 1).next_power_of_two();
        let smaller = std::mem::replace(&mut self.nodes, vec![Completion::NONE; 2 * tags]);
        for (tag, &completion) in (0..).zip(&smaller[smaller.len() / 2..]) {
            self.place(Tag(tag), completion);
        }
    }
}

impl Queue {
    /// Room for `depth` commands in flight, at time zero.
    pub(crate) fn with_depth(depth: u32) -> Queue {
        Queue {
            now: Nanos::ZERO,
            in_order: Line::with_room(depth),
            overtaking: Tournament::new(),
            latest: Nanos::ZERO,
            in_turn: 0,
            pushed: 0,
            refused: VecDeque::new(),
        }
    }

    /// The same at another time.
    pub(crate) fn at(self, now: Nanos) -> Queue {
        Queue { now, ..self }
    }

    #[inline]
    pub(crate) fn now(&self) -> Nanos {
        self.now
    }

    /// The command under `tag` will finish at `at`, which is never in the past.
    #[inline(always)]
    pub(crate) fn finish(&mut self, tag: Tag, at: Nanos) {
        debug_assert!(at >= self.now, "completion at {at:?} before now {:?}", self.now);
        let completion = Completion::new(at, self.pushed, tag);
        self.pushed += 1;
        let in_turn = at >= self.latest;
        self.latest = self.latest.max(at);
        self.in_turn = select_unpredictable(in_turn, self.in_turn + 1, 0);
        if self.in_turn >= ORDER && self.in_order.has_room() {
            self.in_order.push(completion);
        } else {
            self.overtaking.insert(tag, completion);
        }
    }

    /// The command under `tag` is answered by a fault at the next reap.
    #[cold]
    pub(crate) fn refuse(&mut self, tag: Tag, io: Io, cause: FaultCause) {
        self.refused.push_back(Fault { tag, io, at: self.now, cause });
    }

    /// [`crate::Target::reap`] for a drive that knows every finish time at submit.
    #[inline]
    pub(crate) fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        if !self.refused.is_empty()
            && let Some(fault) = self.refused.pop_front()
        {
            return Err(fault);
        }
        // Mostly all wait in line, or none does.
        let (next, in_line) = if self.overtaking.count == 0 {
            if self.in_order.is_empty() {
                self.idle_until(until);
                return Ok(None);
            }
            (self.in_order.at(self.in_order.first), true)
        } else {
            let in_order = self.in_order.first();
            let next = in_order.min(self.overtaking.first());
            (next, next == in_order)
        };
        if next.at() > until {
            self.idle_until(until);
            return Ok(None);
        }
        if in_line {
            self.in_order.first = self.in_order.first.wrapping_add(1);
        } else {
            self.overtaking.remove_first(next.tag());
        }
        self.now = next.at();
        Ok(Some(Done { tag: next.tag(), at: next.at() }))
    }

    /// [`crate::Target::due`] for such a drive.
    pub(crate) fn due(&mut self) -> Option<Nanos> {
        if !self.refused.is_empty() {
            return Some(self.now);
        }
        let next = self.in_order.first().min(self.overtaking.first());
        (next != Completion::NONE).then(|| next.at())
    }

    /// Whether nothing is in flight.
    pub(crate) fn is_idle(&self) -> bool {
        self.in_order.is_empty() && self.overtaking.count == 0 && self.refused.is_empty()
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
