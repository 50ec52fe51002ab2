//! The wall clock, and being there when it shows a certain time.

use fourcorners_drive::Nanos;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// What is known of this machine before it was late once.
const FIRST_GUESS: Nanos = Nanos(20_000);

/// Never more than this is spent looking at the clock: later wakings are those of a busy machine.
const MOST_LEAD: Nanos = Nanos(100_000);

/// `CLOCK_MONOTONIC` now.
#[inline]
pub fn clock() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// How late this machine wakes who sleeps until a time: an I/O that is due at it would be late by as
/// much. So we sleep for less and look at the clock for the rest, as fio does.
#[derive(Clone, Copy, Debug)]
pub struct Waking {
    /// A mean of the last wakings, those of a busy machine left out.
    late: Nanos,
    /// Time spent looking at the clock.
    looked: Nanos,
}

impl Default for Waking {
    fn default() -> Waking {
        Waking::new()
    }
}

impl Waking {
    /// Of a machine that was not late yet.
    pub fn new() -> Waking {
        Waking { late: FIRST_GUESS, looked: Nanos::ZERO }
    }

    /// How much of a time that is left may be slept: some wakings are later than the mean.
    #[inline]
    pub fn asleep(&self, left: Nanos) -> Nanos {
        left.since(Nanos((2 * self.late.0).min(MOST_LEAD.0)))
    }

    /// We were to be woken at a time and were at another.
    #[inline]
    pub fn woke(&mut self, asked: Nanos, at: Nanos) {
        if at < asked {
            // A kernel's thread is waited for in steps.
            return;
        }
        let late = at.since(asked).0.min(MOST_LEAD.0);
        self.late.0 = (7 * self.late.0 + late) / 8;
    }

    /// We looked at the clock for so long.
    #[inline]
    pub fn looked(&mut self, time: Nanos) {
        self.looked += time;
    }

    /// Time spent looking at the clock so far.
    pub fn total_looked(&self) -> Nanos {
        self.looked
    }

    /// Waits until the clock shows `until`, through signals; returns what it shows then.
    pub fn sleep(&mut self, until: Nanos) -> Nanos {
        loop {
            let now = clock();
            let left = until.since(now);
            let asleep = self.asleep(left);
            if asleep > Nanos::ZERO {
                let wake = now.saturating_add(asleep);
                let time = Timespec {
                    tv_sec: (wake.0 / 1_000_000_000) as i64,
                    tv_nsec: (wake.0 % 1_000_000_000) as i64,
                };
                if clock_nanosleep_absolute(ClockId::Monotonic, &time).is_ok() {
                    self.woke(wake, clock());
                }
                continue;
            }
            let mut at = now;
            while at < until {
                std::hint::spin_loop();
                at = clock();
            }
            self.looked(at - now);
            return at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_woken_early_and_a_busy_machine_does_not_make_us_spin() {
        let mut waking = Waking::new();
        for wait in [0, 1_000, 50_000, 300_000, 2_000_000] {
            let until = clock() + Nanos(wait);
            assert!(waking.sleep(until) >= until);
        }
        for _ in 0..100 {
            waking.woke(Nanos(1_000), Nanos(5_000_000_000));
        }
        let left = Nanos(1_000_000);
        assert_eq!(left - waking.asleep(left), MOST_LEAD);
        assert_eq!(waking.asleep(Nanos(1_000)), Nanos::ZERO);
        // A machine that wakes in time is slept on again.
        for _ in 0..100 {
            waking.woke(Nanos(1_000), Nanos(1_500));
        }
        assert!(left - waking.asleep(left) < Nanos(2_000));
    }
}
