//! Collection while the host asks for nothing.

use serde::{Deserialize, Serialize};

use super::Ssd;
use crate::Nanos;
use crate::profile::GcSection;
use crate::state::LATEST;

/// When the drive uses idle time, and for how long it has had nothing to do.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct IdleTime {
    after: Nanos,
    free_blocks: u32,
    /// When the last command was answered.
    since: Nanos,
}

impl IdleTime {
    /// Of a profile that has passed its check, if it says so.
    pub(super) fn new(gc: &GcSection) -> Option<IdleTime> {
        let (after, blocks) = (gc.idle_ms.as_ref()?, gc.idle_free_blocks.as_ref()?);
        let after = Nanos::from_micros(after.value * 1000.0);
        Some(IdleTime { after, free_blocks: blocks.value, since: Nanos::ZERO })
    }

    /// A command is answered at `at`.
    pub(super) fn answered(&mut self, at: Nanos) {
        self.since = self.since.max(at);
    }

    /// Whether a loaded one is one that `made`, which is new, could have become.
    pub(super) fn fits(&self, made: &IdleTime) -> bool {
        let IdleTime { after, free_blocks, since } = *self;
        (after, free_blocks) == (made.after, made.free_blocks) && since <= LATEST
    }
}

impl Ssd {
    /// Spends the idle time before a command that arrives at `until`: every die collects as far as
    /// it goes, and is busy then with one operation at most. Nothing else looks at idle time, so an
    /// hour of it costs the blocks that are emptied in it.
    #[cold]
    #[inline(never)]
    pub(super) fn collect_while_idle(&mut self, idle: IdleTime, until: Nanos) {
        let from = idle.since + idle.after;
        let mut working = from < until;
        while std::mem::take(&mut working) {
            // A turn for every die, as those of a channel share its time.
            for die in 0..self.ftl.shape().dies {
                working |= self.collect_idle_die(die, idle.free_blocks, [from, until]);
            }
        }
    }

    /// Empties a victim of a die, or a row of it when there is not the time for more. False when
    /// there is no time or nothing to do.
    fn collect_idle_die(&mut self, die: u32, free_blocks: u32, [from, until]: [Nanos; 2]) -> bool {
        if self.nand.next_operation(die, from) >= until {
            return false;
        }
        let Some(all) = self.ftl.idle_work(die, free_blocks) else {
            return false;
        };
        let units = match self.nand.has_time_for(die, &all, from, until) {
            true => u32::MAX,
            false => self.ftl.shape().units_per_row,
        };
        let chores = self.ftl.charge_idle(die, units);
        let left = self.nand.chores_until(die, chores, from, until);
        self.ftl.leave_chores(die, left);
        true
    }
}
