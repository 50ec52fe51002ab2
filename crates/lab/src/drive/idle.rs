//! A virtual drive that is left alone, and what it draws meanwhile.

use fourcorners_array::{ArrayCounts, CacheCounts};
use fourcorners_drive::{Nanos, Ssd, SsdCounters, Target};

use super::{Drive, View};
use crate::virtual_drive::Virtual;

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
        let (before, work) = (self.used_j(), self.work());
        self.leave_alone(time.min(LAST));
        let ended = self.used_j()?;
        let is_done = self.work() == work;
        let settled_w = (ended - before?) / time.min(LAST).as_secs();
        Some(IdlePower {
            mean_w: (ended - begun?) / time.as_secs(),
            settled_w: is_done.then_some(settled_w),
        })
    }

    /// What a virtual drive has done so far; it goes on while nothing is asked of it as long as that changes.
    fn work(&self) -> (Vec<SsdCounters>, Option<ArrayCounts>, Option<CacheCounts>) {
        // A hard disk does nothing by itself.
        let of = |member: &Virtual| member.ssd().map(Ssd::counters);
        match self {
            Drive::Array(array) => {
                (array.members().filter_map(of).collect(), Some(array.counts()), None)
            }
            Drive::Cache(cache) => {
                (cache.members().into_iter().filter_map(of).collect(), None, Some(cache.counts()))
            }
            _ => (self.counters().into_iter().collect(), None, None),
        }
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

#[cfg(test)]
mod tests {
    use super::super::mapped::{drive, write};
    use super::*;

    /// What an SSD with an SLC cache and a hard disk behind it draw in the last of these seconds, after the cache was filled.
    fn settled(seconds: u64) -> Option<f64> {
        let mut drive = drive("concat:samsung-840-evo-120gb+wd-velociraptor-300gb");
        write(&mut drive, 2_900 << 20);
        drive.idle(Nanos::from_secs(seconds)).expect("the power of both is known").settled_w
    }

    #[test]
    fn an_ssd_beside_a_hard_disk_is_not_idle_while_it_folds() {
        assert_eq!(settled(10), None);
        let idle = settled(120).expect("it folds for half a minute at most");
        assert!((4.0..6.0).contains(&idle), "{idle}");
    }
}
