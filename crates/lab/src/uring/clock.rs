//! The wall clock.

use fourcorners_drive::Nanos;
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

/// `CLOCK_MONOTONIC`.
#[inline]
pub(super) fn clock() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Sleeps until the monotonic clock shows `until`, through signals; returns what it shows then.
pub(super) fn sleep(until: Nanos) -> Nanos {
    let time = Timespec {
        tv_sec: (until.0 / 1_000_000_000) as i64,
        tv_nsec: (until.0 % 1_000_000_000) as i64,
    };
    loop {
        let now = clock();
        if now >= until {
            return now;
        }
        let _ = clock_nanosleep_absolute(ClockId::Monotonic, &time);
    }
}
