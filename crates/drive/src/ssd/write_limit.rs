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
    /// Whether it holds now.
    holds: bool,
    /// When all that was let through is due.
    due: Nanos,
}

impl WriteLimit {
    /// Of a checked section.
    pub(super) fn new(section: &WriteLimitSection) -> WriteLimit {
        let each = Nanos::from_micros(section.us_per_4k);
        let burst = Nanos(each.0 * u64::from(section.burst_kib) / 4);
        WriteLimit { each, burst, holds: false, due: Nanos::ZERO }
    }

    /// When a write of so many 4 KiB is let through that could be at `at`.
    #[inline]
    pub(super) fn pass(&mut self, at: Nanos, parts: u64) -> Nanos {
        if !self.holds {
            return at;
        }
        let passes = at.max(self.due.since(self.burst));
        self.due = self.due.max(passes) + Nanos(self.each.0 * parts);
        passes
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
        let WriteLimit { each, burst, holds: _, due } = *self;
        each == made.each && burst == made.burst && due <= LATEST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(burst_kib: u32) -> WriteLimit {
        WriteLimit::new(&WriteLimitSection { us_per_4k: 10.0, burst_kib })
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
}
