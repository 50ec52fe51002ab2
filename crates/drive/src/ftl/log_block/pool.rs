//! The log blocks: which are in use, what each has taken, and which is merged next.

use super::NOWHERE;
use super::stripe::Superblock;
use crate::config::LogReplacement;
use crate::ftl::LogicalUnit;

/// The number of a log block.
pub(super) type LogId = u32;

/// A place in the log: number of the log block x units a block + position.
pub(super) type LogPlace = u32;

/// A log block.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogBlock {
    /// The block it writes; [`NOWHERE`] while it is idle.
    pub(super) superblock: Superblock,
    /// Units written, padding included.
    pub(super) filled: u32,
    /// Units that are valid.
    pub(super) live: u32,
    /// Logical blocks that were given a place in it. One that left and came back counts twice.
    pub(super) owners: u32,
    /// Whether it holds the units of `logical` from the first on, in order and nothing else.
    pub(super) in_order: bool,
    /// The logical block it was taken into use for.
    pub(super) logical: u32,
    /// When it was taken into use, or written last, as the replacement needs.
    stamp: u64,
}

const IDLE: LogBlock = LogBlock {
    superblock: NOWHERE,
    filled: 0,
    live: 0,
    owners: 0,
    in_order: false,
    logical: NOWHERE,
    stamp: 0,
};

/// All log blocks of a drive.
#[derive(Clone, Debug)]
pub(super) struct LogPool {
    logs: Vec<LogBlock>,
    idle: Vec<LogId>,
    /// By place in the log: what was last written there.
    holds: Vec<LogicalUnit>,
    units: u32,
    replacement: LogReplacement,
    stamps: u64,
}

impl LogPool {
    /// `count` idle log blocks of `units` units.
    pub(super) fn new(count: u32, units: u32, replacement: LogReplacement) -> LogPool {
        LogPool {
            logs: vec![IDLE; count as usize],
            idle: (0..count).rev().collect(),
            holds: vec![NOWHERE; count as usize * units as usize],
            units,
            replacement,
            stamps: 0,
        }
    }

    pub(super) fn units(&self) -> u64 {
        self.holds.len() as u64
    }

    pub(super) fn get(&self, log: LogId) -> &LogBlock {
        &self.logs[log as usize]
    }

    pub(super) fn get_mut(&mut self, log: LogId) -> &mut LogBlock {
        &mut self.logs[log as usize]
    }

    #[inline]
    pub(super) fn has_room(&self, log: LogId) -> bool {
        self.get(log).filled < self.units
    }

    pub(super) fn all_in_use(&self) -> bool {
        self.idle.is_empty()
    }

    /// Log blocks in use.
    pub(super) fn in_use(&self) -> impl Iterator<Item = (LogId, &LogBlock)> {
        (0..).zip(&self.logs).filter(|(_, log)| log.superblock != NOWHERE)
    }

    pub(super) fn place(&self, log: LogId, position: u32) -> LogPlace {
        log * self.units + position
    }

    pub(super) fn holds(&self, place: LogPlace) -> LogicalUnit {
        self.holds[place as usize]
    }

    /// Takes an idle log block into use, for a unit of `logical`. `None` when there is none.
    pub(super) fn open(
        &mut self,
        superblock: Superblock,
        logical: u32,
        in_order: bool,
    ) -> Option<LogId> {
        let log = self.idle.pop()?;
        self.stamps += 1;
        let stamp = self.stamps;
        *self.get_mut(log) = LogBlock { superblock, logical, in_order, stamp, owners: 1, ..IDLE };
        Some(log)
    }

    /// Writes `unit`, at `offset` in its logical block, at the end of a log block with room.
    #[inline]
    pub(super) fn append(&mut self, log: LogId, unit: LogicalUnit, offset: u32) -> LogPlace {
        if self.replacement == LogReplacement::LeastRecentlyWritten {
            self.stamps += 1;
            self.logs[log as usize].stamp = self.stamps;
        }
        let block = &mut self.logs[log as usize];
        let place = log * self.units + block.filled;
        block.in_order &= block.filled == offset;
        block.filled += 1;
        block.live += 1;
        self.holds[place as usize] = unit;
        place
    }

    /// Leaves `units` places at the end of a log block empty.
    pub(super) fn pad(&mut self, log: LogId, units: u32) {
        let place = self.place(log, self.get(log).filled) as usize;
        self.holds[place..place + units as usize].fill(NOWHERE);
        let block = self.get_mut(log);
        block.filled += units;
        block.in_order &= units == 0;
    }

    /// The log block to merge so that a unit of a logical block that writes to `current` gets room.
    ///
    /// One without anything valid costs nothing. The next cheapest is `current`, if it is full of
    /// that logical block alone: only one data block is merged, and a log block that is full loses
    /// no room by it. (With an associativity of 1 that is BAST.)
    pub(super) fn victim(&self, current: LogId) -> Option<LogId> {
        let is_full = |log: &LogBlock| log.filled == self.units;
        if let Some((dead, _)) = self.in_use().find(|(_, log)| log.live == 0 && is_full(log)) {
            return Some(dead);
        }
        if current != NOWHERE && is_full(self.get(current)) && self.get(current).owners == 1 {
            return Some(current);
        }
        self.in_use().min_by_key(|(_, log)| log.stamp).map(|(id, _)| id)
    }

    /// All log blocks are idle.
    pub(super) fn clear(&mut self) {
        self.idle.clear();
        self.idle.extend((0..self.logs.len() as u32).rev());
        self.logs.fill(IDLE);
    }

    /// A log block holds nothing valid any more and is idle.
    pub(super) fn release(&mut self, log: LogId) {
        debug_assert_eq!(self.get(log).live, 0);
        *self.get_mut(log) = IDLE;
        self.idle.push(log);
    }
}
