//! What is newer on the SSD than on the disk is written back.

use fourcorners_drive::Target;

use super::super::config::{CacheMode, UNIT_BYTES};
use super::{Cache, IDLE, Purpose};

/// Blocks that are written back at a time: some, so that the disk can choose, and few, so that reads find room.
const WRITE_BACKS: usize = 4;
/// Of the share that may be newer than the disk, the part that is left alone: bcache's 10 % of 40 %.
const LEFT_ALONE: u64 = 4;

impl<T: Target> Cache<T> {
    /// Writes back all that is newer on the SSD than on the disk. Nothing of the host's may be in flight.
    pub fn clean(&mut self) {
        debug_assert_eq!(self.in_flight, 0);
        self.cleaning = true;
        self.finish_background(true);
        self.cleaning = false;
    }

    /// Whether nothing was asked of it for a while.
    fn is_idle(&self) -> bool {
        self.in_flight == 0 && self.now >= self.used_at.saturating_add(IDLE)
    }

    /// Begins to write back what should be.
    pub(super) fn write_back_on(&mut self) {
        if self.config.mode != CacheMode::WriteBack || self.is_stuck {
            return;
        }
        let a_block = self.config.block_bytes / UNIT_BYTES;
        while self.write_backs.len() < WRITE_BACKS {
            let too_many = self.slots.dirty_slots() > self.most_dirty / LEFT_ALONE;
            let all = too_many || self.cleaning || self.is_idle();
            let next = self.slots.next_dirty(self.write_back_from, all, &self.write_backs);
            let Some((block, slot)) = next.and_then(|block| Some((block, self.slots.find(block)?)))
            else {
                return;
            };
            self.write_backs.push(block);
            self.write_back_from = block + 1;
            let dirty = self.slots.get(slot).dirty;
            let first = block * a_block;
            let units = first + u64::from(dirty.trailing_zeros())
                ..first + 64 - u64::from(dirty.leading_zeros());
            self.begin(Purpose::WriteBack { block }, units, false);
        }
    }

    /// What the cache does by itself is done to its end, and what it would begin then, too.
    pub(super) fn finish_background(&mut self, and_more: bool) {
        loop {
            if and_more {
                self.write_back_on();
            }
            self.carry_on();
            let Some(next) = self.next_answer() else { return };
            self.now = self.now.max(next);
            self.advance();
        }
    }
}
