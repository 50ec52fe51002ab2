//! Which block leaves for another: the least recently used, or the choice of 2Q.

use std::collections::{BTreeMap, VecDeque};

use super::config::Replacement;

/// No slot.
const NONE: u32 = u32::MAX;
/// The queue of what was used once lately (2Q's A1in), and that of all else: of LRU there is only this one.
const ONCE: usize = 0;
const MAIN: usize = 1;

/// A doubly linked list through [`Order::links`].
#[derive(Clone, Copy)]
struct Queue {
    /// Entered last, and next to leave.
    front: u32,
    back: u32,
    len: u32,
}

const EMPTY: Queue = Queue { front: NONE, back: NONE, len: 0 };

#[derive(Clone, Copy)]
struct Link {
    before: u32,
    after: u32,
    queue: usize,
}

/// The slots in the order in which they leave.
///
/// 2Q is the full version of Johnson and Shasha, "2Q: a low overhead high performance buffer management replacement
/// algorithm", VLDB 1994: a quarter of the slots for what was used once (Kin), and the names of half as many blocks as
/// there are slots that left it (Kout), who go to the main queue when they come again.
#[derive(Clone)]
pub(super) struct Order {
    replacement: Replacement,
    queues: [Queue; 2],
    links: Vec<Link>,
    most_once: u32,
    most_ghosts: usize,
    /// Blocks that left the queue of what was used once, with the number of their departure.
    ghosts: BTreeMap<u64, u64>,
    departures: VecDeque<(u64, u64)>,
    departed: u64,
}

impl Order {
    pub(super) fn new(replacement: Replacement, slots: u32) -> Order {
        Order {
            replacement,
            queues: [EMPTY; 2],
            links: Vec::new(),
            most_once: (slots / 4).max(1),
            most_ghosts: (slots / 2).max(1) as usize,
            ghosts: BTreeMap::new(),
            departures: VecDeque::new(),
            departed: 0,
        }
    }

    /// A slot was used again.
    pub(super) fn touch(&mut self, slot: u32) {
        // 2Q leaves alone what was used once: soon after, it is most likely the same use.
        if self.links[slot as usize].queue == MAIN {
            self.unlink(slot);
            self.link(slot, MAIN);
        }
    }

    /// A slot has a block now.
    pub(super) fn insert(&mut self, slot: u32, block: u64) {
        let is_main = match self.replacement {
            Replacement::Lru => true,
            Replacement::TwoQ => self.ghosts.remove(&block).is_some(),
        };
        self.link(slot, if is_main { MAIN } else { ONCE });
    }

    /// A slot has a block of a set that is known to be used.
    pub(super) fn insert_used(&mut self, slot: u32) {
        self.link(slot, MAIN);
    }

    /// A slot has no block any more. One that left for another is remembered.
    pub(super) fn remove(&mut self, slot: u32, left: Option<u64>) {
        let queue = self.links[slot as usize].queue;
        self.unlink(slot);
        let Some(block) = left.filter(|_| queue == ONCE) else { return };
        self.departed += 1;
        self.ghosts.insert(block, self.departed);
        self.departures.push_back((block, self.departed));
        if self.departures.len() > self.most_ghosts
            && let Some((block, number)) = self.departures.pop_front()
            && self.ghosts.get(&block) == Some(&number)
        {
            self.ghosts.remove(&block);
        }
    }

    /// Slots in the order in which they should leave.
    pub(super) fn leaving(&self) -> impl Iterator<Item = u32> {
        let first = match self.queues[ONCE].len > self.most_once {
            true => ONCE,
            false => MAIN,
        };
        self.backwards(first).chain(self.backwards(1 - first))
    }

    fn backwards(&self, queue: usize) -> impl Iterator<Item = u32> {
        let some = |slot: u32| (slot != NONE).then_some(slot);
        let back = some(self.queues[queue].back);
        std::iter::successors(back, move |&slot| some(self.links[slot as usize].before))
    }

    fn link(&mut self, slot: u32, queue: usize) {
        let list = &mut self.queues[queue];
        let link = Link { before: NONE, after: list.front, queue };
        match list.front {
            NONE => list.back = slot,
            front => self.links[front as usize].before = slot,
        }
        list.front = slot;
        list.len += 1;
        if self.links.len() <= slot as usize {
            self.links.resize(slot as usize + 1, link);
        }
        self.links[slot as usize] = link;
    }

    fn unlink(&mut self, slot: u32) {
        let Link { before, after, queue } = self.links[slot as usize];
        let list = &mut self.queues[queue];
        match before {
            NONE => list.front = after,
            before => self.links[before as usize].after = after,
        }
        match after {
            NONE => list.back = before,
            after => self.links[after as usize].before = before,
        }
        list.len -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaving(order: &Order) -> Vec<u32> {
        order.leaving().collect()
    }

    #[test]
    fn the_least_recently_used_leaves_first() {
        let mut order = Order::new(Replacement::Lru, 4);
        for slot in 0..4 {
            order.insert(slot, u64::from(slot));
        }
        order.touch(0);
        order.touch(2);
        assert_eq!(leaving(&order), [1, 3, 0, 2]);
        order.remove(3, Some(3));
        order.insert(3, 9);
        assert_eq!(leaving(&order), [1, 0, 2, 3]);
    }

    #[test]
    fn what_was_used_once_leaves_before_what_came_back() {
        let mut order = Order::new(Replacement::TwoQ, 4);
        for slot in 0..4 {
            order.insert(slot, u64::from(slot));
        }
        order.touch(0);
        assert_eq!(leaving(&order), [0, 1, 2, 3], "a second use soon after counts for nothing");
        order.remove(0, Some(0));
        order.insert(0, 7);
        order.remove(1, Some(1));
        // Block 0 is remembered, and block 8 is not.
        order.insert(1, 0);
        assert_eq!(leaving(&order), [2, 3, 0, 1]);
        order.remove(2, Some(2));
        order.insert(2, 8);
        assert_eq!(leaving(&order), [3, 0, 2, 1]);
    }
}
