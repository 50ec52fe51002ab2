//! A virtual drive that is left alone, and what it draws meanwhile.

use fourcorners_drive::{Nanos, Target};

use super::{Drive, View};

/// What a drive draws while nothing is asked of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct IdlePower {
    /// Watts, the mean of the whole time, with what it moved and erased by itself.
    pub mean_w: f64,
    /// Watts in the last second of it; `None` when the drive was still at work by itself then.
    pub settled_w: Option<f64>,
}

impl Drive {
    /// Leaves a virtual drive alone for a time. A real one is left alone by whoever waits.
    pub fn leave_alone(&mut self, time: Nanos) {
        fn leave<T: Target>(target: &mut T, time: Nanos) {
            let end = target.now() + time;
            // Nothing is in flight, so nothing comes and the clock goes on.
            while target.now() < end && matches!(target.reap(end), Ok(Some(_))) {}
        }
        match self.view() {
            View::Ssd(ssd) => leave(ssd, time),
            View::Hdd(hdd) => leave(hdd, time),
            View::Model(mut model) => leave(&mut model, time),
            View::Real(_) => {}
        }
    }

    /// Leaves a virtual drive alone for more than a second; what it draws then, if that is known.
    pub fn idle(&mut self, time: Nanos) -> Option<IdlePower> {
        const LAST: Nanos = Nanos::from_secs(1);
        let begun = self.used_j();
        self.leave_alone(time.since(LAST));
        let (before, counts) = (self.used_j(), self.all_counters());
        self.leave_alone(time.min(LAST));
        let ended = self.used_j()?;
        let is_done = self.all_counters() == counts;
        let settled_w = (ended - before?) / time.min(LAST).as_secs();
        Some(IdlePower {
            mean_w: (ended - begun?) / time.as_secs(),
            settled_w: is_done.then_some(settled_w),
        })
    }

    /// Joules that a virtual drive has used until now, with what it did by itself, if that is known.
    fn used_j(&mut self) -> Option<f64> {
        fn used<T: Target>(target: &mut T) -> Option<f64> {
            target.catch_up();
            target.energy_j(target.now())
        }
        match self.view() {
            View::Ssd(ssd) => used(ssd),
            View::Hdd(hdd) => used(hdd),
            View::Model(mut model) => used(&mut model),
            View::Real(_) => None,
        }
    }
}
