//! What a drive does while the host asks for nothing: it folds what is in its SLC buffer, and collects.

use serde::{Deserialize, Serialize};

use super::Ssd;
use crate::Nanos;
use crate::config::{SlcBufferSection, SsdConfig};
use crate::state::LATEST;

/// What the drive uses idle time for, and for how long it has had nothing to do.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct IdleTime {
    collecting: Option<Collecting>,
    folding: Option<Folding>,
    /// When the last command was answered.
    since: Nanos,
}

/// Collection in idle time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Collecting {
    after: Nanos,
    free_blocks: u32,
}

/// Folding in idle time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Folding {
    after: Nanos,
    /// What a unit takes at least, of all dies together; 0 when they are as fast as they can.
    unit: Nanos,
    /// When the next unit may be folded.
    next: Nanos,
}

impl IdleTime {
    /// Of a config that has passed its check, if it uses any.
    pub(super) fn new(config: &SsdConfig) -> Option<IdleTime> {
        let collecting = Collecting::new(config);
        let unit_bytes = config.unit_bytes();
        let folding = config.slc_buffer.as_ref().map(|slc| Folding::new(slc, unit_bytes));
        let uses_any = collecting.is_some() || folding.is_some();
        uses_any.then_some(IdleTime { collecting, folding, since: Nanos::ZERO })
    }

    /// A command is answered at `at`.
    pub(super) fn answered(&mut self, at: Nanos) {
        self.since = self.since.max(at);
    }

    /// Whether a loaded one is one that `made`, which is new, could have become.
    pub(super) fn fits(&self, made: &IdleTime) -> bool {
        let IdleTime { collecting, folding, since } = *self;
        let next = folding.map_or(Nanos::ZERO, |folding| folding.next);
        let folding = folding.map(|folding| Folding { next: Nanos::ZERO, ..folding });
        (collecting, folding) == (made.collecting, made.folding) && since.max(next) <= LATEST
    }
}

impl Collecting {
    fn new(config: &SsdConfig) -> Option<Collecting> {
        let gc = &config.gc;
        let (after, blocks) = (gc.idle_ms?, gc.idle_free_blocks?);
        let after = Nanos::from_micros(after * 1000.0);
        let free_blocks = config.free_blocks_worked_to(blocks);
        Some(Collecting { after, free_blocks })
    }
}

impl Folding {
    fn new(section: &SlcBufferSection, unit_bytes: u32) -> Folding {
        let unit_us = |mb_per_s: f64| f64::from(unit_bytes) / mb_per_s;
        let unit = section.fold_mb_per_s.map_or(0.0, unit_us);
        Folding {
            after: Nanos::from_micros(section.idle_ms * 1000.0),
            unit: Nanos::from_micros(unit),
            next: Nanos::ZERO,
        }
    }
}

impl Ssd {
    /// Spends the idle time before a command that arrives at `until`: every die folds, then collects, as
    /// far as it goes, and is busy then with one operation at most. Nothing else looks at idle time,
    /// so an hour of it costs the blocks that are emptied in it.
    #[cold]
    #[inline(never)]
    pub(super) fn work_while_idle(&mut self, idle: IdleTime, until: Nanos) {
        if let Some(mut folding) = idle.folding {
            let from = idle.since + folding.after;
            let mut working = from < until;
            while std::mem::take(&mut working) {
                for die in 0..self.ftl.shape().dies {
                    working |= self.fold_idle_die(die, &mut folding, [from, until]);
                }
            }
            self.idle = Some(IdleTime { folding: Some(folding), ..idle });
        }
        let Some(Collecting { after, free_blocks }) = idle.collecting else {
            return;
        };
        let from = idle.since + after;
        let mut working = from < until;
        while std::mem::take(&mut working) {
            // A turn for every die, as those of a channel share its time.
            for die in 0..self.ftl.shape().dies {
                working |= self.collect_idle_die(die, free_blocks, [from, until]);
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

    /// Folds a block of a die's SLC buffer, or a row of it when there is not the time for more or a
    /// pace to be kept. False when there is no time or nothing to do.
    fn fold_idle_die(
        &mut self,
        die: u32,
        folding: &mut Folding,
        [from, until]: [Nanos; 2],
    ) -> bool {
        let from = from.max(folding.next);
        if self.nand.next_operation(die, from) >= until {
            return false;
        }
        let Some(work) = self.ftl.fold_work(die) else {
            return false;
        };
        let row = self.ftl.shape().units_per_row;
        let at_once = folding.unit == Nanos::ZERO || work.units == 0;
        let units = match at_once && self.nand.has_time_for(die, &work.chores, from, until) {
            true => u32::MAX,
            false => row,
        };
        folding.next = from + Nanos(folding.unit.0 * u64::from(work.units.min(row)));
        let chores = self.ftl.charge_idle(die, units);
        let left = self.nand.chores_until(die, chores, from, until);
        self.ftl.leave_chores(die, left);
        true
    }
}
