//! The firmware's limit on host writes while collection moves data.

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::config::WriteLimitSection;
use crate::state::LATEST;

/// How far ahead of its limit a drive is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct WriteLimit {
    each: Nanos,
    burst: Nanos,
    /// From one 4 KiB to the next while it does not hold.
    fresh: Nanos,
    reads_wait: bool,
    pauses: Option<Pauses>,
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

    /// Whether a loaded one is one that `made`, which is new, could have become.
    fn fits(&self, made: &Pauses) -> bool {
        let Pauses { longest, every, recovers, left, until } = *self;
        (longest, every, recovers) == (made.longest, made.every, made.recovers)
            && (1..=every).contains(&left)
            && until <= LATEST
    }
}

impl WriteLimit {
    /// Of a checked section.
    pub(super) fn new(section: &WriteLimitSection) -> WriteLimit {
        let each = Nanos::from_micros(section.us_per_4k);
        let burst = Nanos(each.0 * u64::from(section.burst_kib) / 4);
        WriteLimit {
            each,
            burst,
            fresh: Nanos::from_micros(section.fresh_us_per_4k.unwrap_or(0.0)),
            reads_wait: section.reads_wait == Some(true),
            pauses: Pauses::of(section),
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
            self.due = passes + Nanos(self.fresh.0 * parts);
            return passes;
        }
        let mut at = at;
        if let Some(pauses) = &mut self.pauses {
            at = pauses.pass(at, parts, self.due.since(self.burst) > at);
        }
        let passes = at.max(self.due.since(self.burst));
        self.due = self.due.max(passes) + Nanos(self.each.0 * parts);
        passes
    }

    /// What a read waits that comes at `at`.
    #[inline]
    pub(super) fn read_waits(&self, at: Nanos) -> Nanos {
        if !(self.holds && self.reads_wait) {
            return Nanos::ZERO;
        }
        self.due.since(self.burst).since(at)
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
        let WriteLimit { each, burst, fresh, reads_wait, pauses, holds: _, due } = *self;
        (each, burst, fresh, reads_wait) == (made.each, made.burst, made.fresh, made.reads_wait)
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
        WriteLimit::new(&WriteLimitSection {
            us_per_4k: 10.0,
            burst_kib,
            ..WriteLimitSection::default()
        })
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
        let mut limit = WriteLimit::new(&section);
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
        let mut limit = WriteLimit::new(&section);
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
            let mut limit =
                WriteLimit::new(&WriteLimitSection { reads_wait, ..Default::default() });
            limit.note(Some(true));
            (0..4).for_each(|_| {
                limit.pass(Nanos(0), 1);
            });
            assert_eq!(limit.read_waits(Nanos(10_000)).0, waits);
        }
    }
}
