//! The firmware's limit on host writes while collection moves data.

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::config::WriteLimitSection;
use crate::state::{LATEST, MOST_MOVED};
use crate::variation::{Drift, Factor, stall};

/// How far ahead of its limit a drive is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct WriteLimit {
    each: Nanos,
    burst: Nanos,
    /// From one 4 KiB to the next while it does not hold.
    fresh: Nanos,
    reads_wait: bool,
    pauses: Option<Pauses>,
    stalls: Option<Stalls>,
    /// Whether it is as slow and fast as collection, and by how much it is slower now.
    drifts: bool,
    drift: Factor,
    /// Whether it holds now.
    holds: bool,
    /// When all that was let through is due.
    due: Nanos,
}

/// Times in which no write is let through.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Pauses {
    longest: Nanos,
    /// 4 KiB from one to the next.
    every: u64,
    /// Of the time since the last one, in parts of 65,536, what the next is shorter by.
    recovers: u64,
    /// 4 KiB until the next.
    left: u64,
    /// When the last one ends.
    until: Nanos,
}

/// Times in which no write is let through once the limit is reached.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Stalls {
    longest: Nanos,
    /// Of the variation; without it each is half of the longest.
    seed: Option<u32>,
    /// Stalls so far.
    count: u64,
    /// When the last one ends.
    until: Nanos,
}

impl Stalls {
    /// When a write can go on that could at `at`, and whether a stall begins with it; `at_limit` says whether it would have to wait.
    fn pass(&mut self, at: Nanos, at_limit: impl FnOnce(Nanos) -> bool) -> (Nanos, bool) {
        let at = at.max(self.until);
        let begins = at_limit(at);
        if begins {
            let length = match self.seed {
                Some(seed) => stall(seed, self.count, self.longest),
                None => Nanos(self.longest.0 / 2),
            };
            self.count += 1;
            self.until = at + length;
        }
        (at.max(self.until), begins)
    }

    /// Whether a loaded one is one that `made`, which is new, could have become.
    fn fits(&self, made: &Stalls) -> bool {
        let Stalls { longest, seed, count, until } = *self;
        (longest, seed) == (made.longest, made.seed) && count <= MOST_MOVED && until <= LATEST
    }
}

impl Pauses {
    fn of(section: &WriteLimitSection) -> Option<Pauses> {
        let (pause_us, every_kib) = section.pause_us.zip(section.pause_every_kib)?;
        let every = u64::from(every_kib / 4).max(1);
        let percent = section.pause_recovers_percent.unwrap_or(0.0);
        Some(Pauses {
            longest: Nanos::from_micros(pause_us),
            every,
            recovers: (percent * 655.36) as u64,
            left: every,
            until: Nanos::ZERO,
        })
    }

    /// When a write of so many 4 KiB can go on that could at `at`; `at_limit` says whether writes wait already.
    fn pass(&mut self, at: Nanos, parts: u64, at_limit: bool) -> Nanos {
        if self.left > parts {
            self.left -= parts;
            return at.max(self.until);
        }
        self.left = self.every;
        let begins = at.max(self.until);
        let since = u128::from(begins.since(self.until).0);
        let recovered = (since * u128::from(self.recovers)) >> 16;
        let length = match at_limit {
            true => Nanos::ZERO,
            false => self.longest.since(Nanos(recovered as u64)),
        };
        self.until = begins + length;
        self.until
    }

    /// Collection catches up until then, as in a pause.
    fn catch_up(&mut self, until: Nanos) {
        (self.left, self.until) = (self.every, until);
    }

    /// Whether a loaded one is one that `made`, which is new, could have become.
    fn fits(&self, made: &Pauses) -> bool {
        let Pauses { longest, every, recovers, left, until } = *self;
        (longest, every, recovers) == (made.longest, made.every, made.recovers)
            && (1..=every).contains(&left)
            && until <= LATEST
    }
}

impl WriteLimit {
    /// Of a checked section, with the seed of the variation that is on.
    pub(super) fn new(section: &WriteLimitSection, seed: Option<u32>) -> WriteLimit {
        let each = Nanos::from_micros(section.us_per_4k);
        let burst = Nanos(each.0 * u64::from(section.burst_kib) / 4);
        WriteLimit {
            each,
            burst,
            fresh: Nanos::from_micros(section.fresh_us_per_4k.unwrap_or(0.0)),
            reads_wait: section.reads_wait == Some(true),
            pauses: Pauses::of(section),
            stalls: section.stall_us.filter(|&us| us > 0.0).map(|us| Stalls {
                longest: Nanos::from_micros(us),
                seed,
                count: 0,
                until: Nanos::ZERO,
            }),
            drifts: section.drifts == Some(true),
            drift: Factor::default(),
            holds: false,
            due: Nanos::ZERO,
        }
    }

    /// When a write of so many 4 KiB is let through that could be at `at`.
    #[inline]
    pub(super) fn pass(&mut self, at: Nanos, parts: u64) -> Nanos {
        if !self.holds {
            if self.fresh == Nanos::ZERO {
                return at;
            }
            let passes = at.max(self.due);
            self.due = passes + Nanos(self.drifted(self.fresh).0 * parts);
            return passes;
        }
        let mut at = at;
        if let Some(pauses) = &mut self.pauses {
            at = pauses.pass(at, parts, self.due.since(self.burst) > at);
        }
        let passes = match &mut self.stalls {
            None => at.max(self.due.since(self.burst)),
            Some(stalls) => {
                let (passes, stalled) = stalls.pass(at, |at| self.due.since(self.burst) > at);
                if let (true, Some(pauses)) = (stalled, &mut self.pauses) {
                    pauses.catch_up(passes);
                }
                passes
            }
        };
        self.due = self.due.max(passes) + Nanos(self.drifted(self.each).0 * parts);
        passes
    }

    /// What takes `time` on average, now.
    fn drifted(&self, time: Nanos) -> Nanos {
        if self.drifts { self.drift.of(time) } else { time }
    }

    /// The firmware is slower or faster from now on.
    pub(super) fn drifts(&mut self, drift: Drift) {
        self.drift = drift.of_writes();
    }

    /// What a read waits that comes at `at`.
    #[inline]
    pub(super) fn read_waits(&self, at: Nanos) -> Nanos {
        if !(self.holds && self.reads_wait) {
            return Nanos::ZERO;
        }
        match &self.stalls {
            None => self.due.since(self.burst).since(at),
            Some(stalls) => stalls.until.since(at),
        }
    }

    /// Collection moves much for what the host writes, or little; `None` where that cannot be told.
    #[inline]
    pub(super) fn note(&mut self, moves_much: Option<bool>) {
        self.holds = moves_much.unwrap_or(self.holds);
    }

    /// Nothing is left to be collected.
    pub(super) fn begin_anew(&mut self) {
        self.holds = false;
    }

    /// Whether a loaded one is one that `made`, which is new, could have become.
    pub(super) fn fits(&self, made: &WriteLimit) -> bool {
        let WriteLimit {
            each,
            burst,
            fresh,
            reads_wait,
            pauses,
            stalls,
            drifts,
            drift,
            holds: _,
            due,
        } = *self;
        (each, burst, fresh, reads_wait, drifts)
            == (made.each, made.burst, made.fresh, made.reads_wait, made.drifts)
            && match (&stalls, &made.stalls) {
                (Some(stalls), Some(made)) => stalls.fits(made),
                (None, None) => true,
                _ => false,
            }
            && drift.is_sane()
            && match (&pauses, &made.pauses) {
                (Some(pauses), Some(made)) => pauses.fits(made),
                (None, None) => true,
                _ => false,
            }
            && due <= LATEST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(burst_kib: u32) -> WriteLimit {
        let section = WriteLimitSection { us_per_4k: 10.0, burst_kib, ..Default::default() };
        WriteLimit::new(&section, None)
    }

    #[test]
    fn it_spaces_writes_only_while_it_holds() {
        let mut limit = limit(0);
        assert_eq!([0, 1, 2].map(|at| limit.pass(Nanos(at), 1).0), [0, 1, 2]);
        limit.note(Some(true));
        assert_eq!([3, 4, 50_000].map(|at| limit.pass(Nanos(at), 1).0), [3, 10_003, 50_000]);
        // Of two, the next waits for both.
        assert_eq!([60_000, 60_001].map(|at| limit.pass(Nanos(at), 2).0), [60_000, 80_000]);
        limit.note(None);
        assert_eq!(limit.pass(Nanos(80_001), 1).0, 100_000);
        limit.note(Some(false));
        assert_eq!(limit.pass(Nanos(80_002), 1).0, 80_002);
    }

    #[test]
    fn what_was_not_used_may_come_at_once() {
        let mut limit = limit(8);
        limit.note(Some(true));
        let passed = [0, 0, 0, 0].map(|at| limit.pass(Nanos(at), 1).0);
        assert_eq!(passed, [0, 0, 0, 10_000]);
        assert_eq!(limit.pass(Nanos(20_000), 1).0, 20_000);
        assert_eq!(limit.pass(Nanos(20_000), 1).0, 30_000);
    }

    #[test]
    fn fresh_it_spaces_them_as_well_where_it_should() {
        let section = WriteLimitSection { fresh_us_per_4k: Some(2.0), ..Default::default() };
        let mut limit = WriteLimit::new(&section, None);
        let passed = [0, 0, 1, 50_000].map(|at| limit.pass(Nanos(at), 1).0);
        assert_eq!(passed, [0, 2000, 4000, 50_000]);
    }

    #[test]
    fn pauses_come_after_so_much_and_are_shorter_the_rarer_they_are() {
        let section = WriteLimitSection {
            us_per_4k: 1.0,
            pause_us: Some(1000.0),
            pause_every_kib: Some(12),
            pause_recovers_percent: Some(50.0),
            ..Default::default()
        };
        let mut limit = WriteLimit::new(&section, None);
        limit.note(Some(true));
        let mut pass = |at: u64| limit.pass(Nanos(at), 1).0;
        assert_eq!([10_000, 20_000, 30_000].map(&mut pass), [10_000, 20_000, 30_000 + 985_000]);
        // What came meanwhile is let through after it, one by one.
        assert_eq!([40_000, 50_000].map(&mut pass), [1_016_000, 1_017_000]);
        // At the limit there is none.
        assert_eq!(pass(60_000), 1_018_000);
        assert_eq!([2_000_000, 3_000_000].map(&mut pass), [2_000_000, 3_000_000]);
        // Two milliseconds later nothing is left of a pause of one.
        assert_eq!(pass(4_000_000), 4_000_000);
    }

    #[test]
    fn reads_wait_with_the_writes_where_they_do() {
        for (reads_wait, waits) in [(Some(true), 30_000), (None, 0)] {
            let section = WriteLimitSection { reads_wait, ..Default::default() };
            let mut limit = WriteLimit::new(&section, None);
            limit.note(Some(true));
            (0..4).for_each(|_| {
                limit.pass(Nanos(0), 1);
            });
            assert_eq!(limit.read_waits(Nanos(10_000)).0, waits);
        }
    }

    #[test]
    fn what_is_caught_up_in_a_stall_needs_no_pause() {
        // A pause after every twenty writes; stalls are half of the longest, after thirteen writes and then after every six.
        let section = WriteLimitSection {
            us_per_4k: 10.0,
            burst_kib: 48,
            stall_us: Some(120.0),
            pause_us: Some(1000.0),
            pause_every_kib: Some(80),
            ..Default::default()
        };
        let last = |between: u64| {
            let mut limit = WriteLimit::new(&section, None);
            limit.note(Some(true));
            // One at a time.
            (0..40).fold(0, |at, _| limit.pass(Nanos(at), 1).0 + between) - between
        };
        assert_eq!(last(0), 5 * 60_000);
        // Control: of writes that never reach the limit the twentieth and the fortieth wait.
        let below = 100_000;
        assert_eq!(last(below), 39 * below + 2 * 1_000_000);
    }

    #[test]
    fn at_the_limit_all_wait_for_the_same_and_then_go_on_at_once() {
        // Twelve writes at once; a stall is 60 us, half of the longest.
        let section = WriteLimitSection {
            us_per_4k: 10.0,
            burst_kib: 48,
            stall_us: Some(120.0),
            ..Default::default()
        };
        let mut limit = WriteLimit::new(&section, None);
        limit.note(Some(true));
        let passed: Vec<u64> = (0..30).map(|_| limit.pass(Nanos(0), 1).0 / 1000).collect();
        // What it would have let through meanwhile is six: one by one, the last would pass after 180 us.
        let expected = [(13, 0), (6, 60), (6, 120), (5, 180)];
        let expected: Vec<u64> = expected.iter().flat_map(|&(count, at)| vec![at; count]).collect();
        assert_eq!(passed, expected);
        // With a seed they differ, and none is longer than the longest.
        let mut varied = WriteLimit::new(&section, Some(7));
        varied.note(Some(true));
        let passed: Vec<u64> = (0..400).map(|_| varied.pass(Nanos(0), 1).0).collect();
        let mut ends = passed.clone();
        ends.dedup();
        let lengths: Vec<u64> = ends.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(lengths.iter().all(|&length| length <= 120_000), "{lengths:?}");
        assert!(lengths.iter().any(|&length| length < 30_000), "{lengths:?}");
        assert!(lengths.iter().any(|&length| length > 90_000), "{lengths:?}");
        // In the long run it is the limit, with them or without.
        let last = passed[399];
        assert!((3_800_000..4_000_000).contains(&last), "{last}");
    }
}
