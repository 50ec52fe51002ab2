//! What makes an SSD warm, and how long commands wait for that: see [`crate::heat`].

use super::Ssd;
use crate::Nanos;
use crate::heat::{EnergySinceReading, SsdHeat};

impl Ssd {
    /// How warm it is now, and what that cost so far. `None` for a drive whose config has no `[heat]`.
    pub fn heat(&self) -> Option<SsdHeat> {
        let mut heat = **self.heat.as_ref()?;
        let now = self.queue.now();
        let total_j = self.energy(now).map_or(0.0, |energy| energy.total_j());
        heat.read(now, self.since_reading(total_j, total_j));
        Some(heat.reading())
    }

    /// From now on [`SsdHeat::highest_c`] is the highest temperature since now.
    pub fn forget_highest_temperature(&mut self) {
        let at = self.queue.now();
        if let (Some(now), Some(heat)) = (self.heat(), &mut self.heat) {
            heat.forget_highest(at, now.temperature_c);
        }
    }

    fn since_reading(&self, before_idle_work_j: f64, total_j: f64) -> EnergySinceReading {
        EnergySinceReading { before_idle_work_j, total_j, busy_until: self.answered_until }
    }

    /// The arrival of a command at a drive that gets warm: when it may begin.
    #[inline(never)]
    pub(super) fn warm_up(&mut self, arrives: Nanos) -> Nanos {
        let total_j = |drive: &Ssd| drive.energy(arrives).map_or(0.0, |energy| energy.total_j());
        let is_due = self.heat.as_ref().is_some_and(|heat| heat.is_due(arrives));
        let before_idle_work_j = if is_due { total_j(self) } else { 0.0 };
        if let Some(idle) = self.idle {
            self.work_while_idle(idle, arrives);
        }
        let read = is_due.then(|| self.since_reading(before_idle_work_j, total_j(self)));
        let (buffer, answered_until) = (&self.buffer, self.answered_until);
        let Some(heat) = &mut self.heat else { return arrives };
        if let Some(energy) = read {
            heat.read(arrives, energy);
        }
        heat.admit(arrives, || buffer.drained(answered_until))
    }
}
