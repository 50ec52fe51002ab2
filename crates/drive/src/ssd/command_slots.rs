//! The commands that the controller has in work at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Nanos;

/// When those in work are answered. A command beyond them stays in the host's queue until one of them is, and holds all
/// behind it: a read that comes after writes waits for the writes' room in the buffer, too.
#[derive(Clone, Debug)]
pub(super) struct CommandSlots {
    count: usize,
    /// At most `count`, some of them maybe in the past.
    answered: BinaryHeap<Reverse<Nanos>>,
}

impl CommandSlots {
    /// At least one.
    pub(super) fn new(count: u32) -> CommandSlots {
        let count = (count as usize).max(1);
        CommandSlots { count, answered: BinaryHeap::with_capacity(count) }
    }

    /// When a command that is there at `at` is taken.
    #[inline]
    pub(super) fn take(&mut self, at: Nanos) -> Nanos {
        if self.answered.len() < self.count {
            return at;
        }
        // The next one that is taken finds this slot used again, and those left are answered no earlier.
        self.answered.pop().map_or(at, |Reverse(first)| at.max(first))
    }

    /// A command that was taken is answered at `at`.
    #[inline]
    pub(super) fn answer(&mut self, at: Nanos) {
        self.answered.push(Reverse(at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_taken_when_one_of_those_in_work_is_answered() {
        let mut slots = CommandSlots::new(2);
        let mut taken = Vec::new();
        for (comes, takes) in [(0, 100), (1, 10), (2, 10), (3, 200), (4, 1), (500, 1)] {
            let at = slots.take(Nanos(comes));
            slots.answer(at + Nanos(takes));
            taken.push(at.0);
        }
        // The third and the fourth wait for the second and the third, the fifth for the first.
        assert_eq!(taken, [0, 1, 11, 21, 100, 500]);
    }
}
