//! Streams: sequential reads, several in flight.
//!
//! The first of a run goes first, and the head reads on to the next. What passes under it goes into the buffer, and commands that
//! wait are answered from there: one may come, or cross the link, when the head is over its first sector already, and would lose a
//! turn. What waits beside a stream has its turn after a sixteenth of the longest wait.

use crate::{Nanos, Op, SECTOR_BYTES, Tag};

use super::read_ahead::{Hit, Return, Transfer};
use super::{Command, FRAME_BYTES, Hdd};

/// How far behind the end of a read the next one of its stream begins at most: 256 KiB.
const NEAR_SECTORS: u64 = 512;

/// What waits beside a stream waits for this part of the longest wait at most, an eighth of a second of two.
const BESIDE_SHARE: u64 = 16;

impl Hdd {
    /// Answers a read that the buffer has or is about to have; all of it could have `crossed` the link by then.
    pub(super) fn answer_hit(
        &mut self,
        tag: Tag,
        (first, end): (u64, u64),
        hit: Hit,
        now: Nanos,
        crossed: Nanos,
    ) {
        let all_there = self.read_to(hit, end, now);
        let last_frame = self.link.data(((end - first) * SECTOR_BYTES).min(FRAME_BYTES));
        self.answer(Op::Read, tag, crossed.max(all_there.saturating_add(last_frame)));
    }

    /// When all of a read that the buffer answers is there; the head reads to its end, and comes back for it where it has to.
    fn read_to(&mut self, hit: Hit, end: u64, now: Nanos) -> Nanos {
        let all_there = match hit.resume {
            Some(sector) => {
                // It stopped behind the sector before.
                self.mechanism.at = self.layout.place(sector.saturating_sub(1)).track;
                let from = now.max(self.arm_free);
                let back = self.reaches(sector, from);
                self.ahead.resume(Return { sector, from, back }, end, &self.layout).max(now)
            }
            None => hit.all_there,
        };
        // The arm may not leave before the last sector has passed; of what is there it is free.
        if all_there > now {
            self.arm_free = self.arm_free.max(all_there);
        }
        all_there
    }

    /// Whether a read waits that begins in what was read now or right behind it, as those of a stream do.
    pub(super) fn is_followed(&self, read: Transfer) -> bool {
        let near = read.first..read.end.saturating_add(NEAR_SECTORS);
        self.commands.iter().any(|command| !command.aim.write && near.contains(&command.first))
    }

    /// The command that has waited longest while a stream goes on beside it, once that is too long.
    pub(super) fn overlooked(&self, at: Nanos) -> Option<usize> {
        if !self.ahead.is_reading() || self.must_destage() {
            return None;
        }
        let most = Nanos(self.max_wait.0 / BESIDE_SHARE);
        // A read right behind another goes with it, however far that reaches.
        let follows =
            |read: &Command| self.commands.iter().any(|it| !it.aim.write && it.end == read.first);
        let beside = |command: &Command| {
            command.aim.write || !(self.ahead.reads_to(command.first) || follows(command))
        };
        let waiting = self.commands.iter().enumerate().filter(|(_, command)| beside(command));
        let (index, oldest) = waiting.min_by_key(|(_, command)| command.aim.since)?;
        (at.since(oldest.aim.since) >= most).then_some(index)
    }

    /// The waiting read of the lowest address from `from` on, and its place among those that wait.
    fn nearest_read(&self, from: u64) -> Option<(usize, Command)> {
        let waiting = self.commands.iter().copied().enumerate();
        waiting
            .filter(|(_, command)| !command.aim.write && command.first >= from)
            .min_by_key(|(_, command)| command.first)
    }

    /// Answers the reads that wait for what has passed under the head meanwhile: of a stream with several in flight a command
    /// may come when the head is over its first sector already, and is not to wait for a turn. Whether there were any.
    pub(super) fn answer_from_ahead(&mut self, at: Nanos) -> bool {
        let is_overdue = |command: &Command| at.since(command.aim.since) >= self.max_wait;
        if !self.ahead.is_reading() || self.must_destage() || self.commands.iter().any(is_overdue) {
            return false;
        }
        let waiting = self.commands.len();
        // In the order of their addresses: what lies before an answered read is kept no longer.
        let mut from = 0;
        while let Some((index, command)) = self.nearest_read(from) {
            let now = at.max(command.aim.ready);
            match self.ahead.answer(command.first, command.end, now, &self.layout) {
                Some(hit) => {
                    self.commands.remove(index);
                    let Command { tag, first, end, .. } = command;
                    let crossed = self.carry(now, (end - first) * SECTOR_BYTES);
                    self.answer_hit(tag, (first, end), hit, now, crossed);
                }
                // The head is not there yet.
                None if self.ahead.reads_to(command.first) => break,
                None => from = command.first + 1,
            }
        }
        self.commands.len() < waiting
    }

    /// The first of the waiting reads that lie one behind the other up to this one. If a later one were served before it, the
    /// first would wait for a turn, or for as long as the stream goes on.
    pub(super) fn first_of_run(&self, mut index: usize) -> usize {
        // A run has no more reads than wait.
        for _ in 0..self.commands.len() {
            let later = &self.commands[index];
            let before = |command: &Command| {
                !command.aim.write && !later.aim.write && command.end == later.first
            };
            let Some(before) = self.commands.iter().position(before) else { break };
            index = before;
        }
        index
    }
}
