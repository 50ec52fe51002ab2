//! The due time of the next I/O.

use fourcorners_drive::Nanos;

use super::random::unit;

/// The pace of a direction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pace {
    /// How much.
    pub rate: Rate,
    /// Whether I/Os come at random times, as those of many independent users (a Poisson process),
    /// instead of one after the other in equal steps.
    pub poisson: bool,
}

/// An amount a second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Rate {
    /// Bytes.
    Bytes(u64),
    /// I/Os.
    Ios(u64),
}

/// The due times of a direction: what the pace says, whatever the target has kept up with. Each is
/// computed from the beginning, so no rounding adds up.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    pace: Pace,
    start: Nanos,
    /// Bytes or I/Os that were due so far.
    issued: u64,
    /// The Poisson process' own time.
    at_ns: f64,
}

impl Schedule {
    pub(super) fn new(pace: Pace) -> Schedule {
        Schedule { pace, start: Nanos::ZERO, issued: 0, at_ns: 0.0 }
    }

    pub(super) fn begin(&mut self, start: Nanos) {
        self.start = start;
    }

    /// When the next I/O is due.
    #[inline]
    pub(super) fn due(&self) -> Nanos {
        if self.pace.poisson {
            return self.start.saturating_add(Nanos(self.at_ns as u64));
        }
        let a_second = match self.pace.rate {
            Rate::Bytes(a_second) | Rate::Ios(a_second) => a_second.max(1),
        };
        let ns = u128::from(self.issued) * 1_000_000_000 / u128::from(a_second);
        self.start.saturating_add(Nanos(u64::try_from(ns).unwrap_or(u64::MAX)))
    }

    /// That I/O, of so many bytes, is taken.
    #[inline]
    pub(super) fn took(&mut self, bytes: u64, mut random: impl FnMut() -> u64) {
        let (amount, a_second) = match self.pace.rate {
            Rate::Bytes(a_second) => (bytes, a_second),
            Rate::Ios(a_second) => (1, a_second),
        };
        self.issued += amount;
        if self.pace.poisson {
            let mean_ns = amount as f64 * 1e9 / a_second.max(1) as f64;
            self.at_ns -= mean_ns * libm::log(1.0 - unit(random()));
        }
    }
}

/// Pauses between I/Os, as of a program that thinks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Think {
    /// How long.
    pub pause: Nanos,
    /// After so many I/Os.
    pub every: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    #[test]
    fn a_linear_pace_never_drifts() {
        let mut schedule = Schedule::new(Pace { rate: Rate::Ios(3), poisson: false });
        schedule.begin(Nanos(5));
        for number in 0..3_000_000u64 {
            if number % 3 == 0 {
                assert_eq!(schedule.due(), Nanos(5 + number / 3 * 1_000_000_000));
            }
            schedule.took(4096, || 0);
        }
    }

    #[test]
    fn a_pace_of_bytes_waits_for_what_was_moved() {
        let mut schedule = Schedule::new(Pace { rate: Rate::Bytes(1 << 20), poisson: false });
        schedule.took(1 << 19, || 0);
        assert_eq!(schedule.due(), Nanos(500_000_000));
    }

    #[test]
    fn poisson_arrivals_have_the_mean_and_deviation_of_their_law() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
        let mut schedule = Schedule::new(Pace { rate: Rate::Ios(1000), poisson: true });
        let (mut last, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for _ in 0..200_000 {
            schedule.took(4096, || random.next_u64());
            let gap = schedule.due().0 as f64 - last;
            last = schedule.due().0 as f64;
            sum += gap;
            squares += gap * gap;
        }
        let mean = sum / 2e5;
        let deviation = (squares / 2e5 - mean * mean).sqrt();
        assert!((mean / 1e6 - 1.0).abs() < 0.01 && (deviation / 1e6 - 1.0).abs() < 0.02);
    }
}
