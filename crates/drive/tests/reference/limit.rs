//! The write limit of the reference: which writes wait while collection moves data, and which reads with them.

use fourcorners_drive::config::WriteLimitSection;

use crate::flash::ns;
use crate::vary::Vary;

/// How fast a drive takes writes, and what of it is used up.
pub(crate) struct WriteLimit {
    section: Option<WriteLimitSection>,
    /// Whether writes are limited now.
    pub(crate) is_on: bool,
    /// When all that were let through are due.
    due: u64,
    /// 4 KiB written since the last pause of writes, and when that ended.
    since_pause: u64,
    pause_ends: u64,
    stalls: u64,
    stall_ends: u64,
}

impl WriteLimit {
    pub(crate) fn new(section: Option<WriteLimitSection>) -> WriteLimit {
        WriteLimit {
            section,
            is_on: false,
            due: 0,
            since_pause: 0,
            pause_ends: 0,
            stalls: 0,
            stall_ends: 0,
        }
    }

    /// When a write of `units` that is ready at `at` is let through.
    pub(crate) fn let_through(&mut self, at: u64, units: u64, vary: Option<&Vary>) -> u64 {
        let Some(limit) = self.section.clone() else { return at };
        let spaced =
            if self.is_on { limit.us_per_4k } else { limit.fresh_us_per_4k.unwrap_or(0.0) };
        let each = ns(spaced);
        if !self.is_on && each == 0 {
            return at;
        }
        let early = if self.is_on { each * u64::from(limit.burst_kib) / 4 } else { 0 };
        let mut at = at;
        if self.is_on {
            at = self.after_pauses(&limit, at, units, self.due.saturating_sub(early) > at);
        }
        let longest = ns(limit.stall_us.unwrap_or(0.0));
        if self.is_on && longest > 0 {
            at = self.after_stalls(at, longest, early, vary);
        } else {
            at = at.max(self.due.saturating_sub(early));
        }
        let each = match vary {
            Some(vary) if limit.drifts == Some(true) => Vary::longer(each, vary.write_drift),
            _ => each,
        };
        self.due = self.due.max(at) + each * units;
        at
    }

    /// When a write may go on once the stall it meets or begins is over.
    fn after_stalls(&mut self, at: u64, longest: u64, early: u64, vary: Option<&Vary>) -> u64 {
        let at = at.max(self.stall_ends);
        if self.due.saturating_sub(early) <= at {
            return at;
        }
        self.stall_ends = at
            + match vary {
                Some(vary) => vary.stall(longest, self.stalls),
                None => longest / 2,
            };
        self.stalls += 1;
        // It is a pause, too.
        (self.since_pause, self.pause_ends) = (0, self.stall_ends);
        self.stall_ends
    }

    /// When a write may go on once the pauses of the limit are over.
    fn after_pauses(
        &mut self,
        limit: &WriteLimitSection,
        at: u64,
        units: u64,
        at_limit: bool,
    ) -> u64 {
        let Some((pause, every_kib)) = limit.pause_us.zip(limit.pause_every_kib) else { return at };
        self.since_pause += units;
        let begins = at.max(self.pause_ends);
        if self.since_pause < u64::from(every_kib / 4) {
            return begins;
        }
        self.since_pause = 0;
        let percent = limit.pause_recovers_percent.unwrap_or(0.0);
        let per_65536 = (percent * 655.36) as u128;
        let since = u128::from(begins - self.pause_ends);
        let length = ns(pause).saturating_sub((since * per_65536 / 65536) as u64);
        self.pause_ends = if at_limit { begins } else { begins + length };
        self.pause_ends
    }

    /// By how much later a read is answered that waits with the writes.
    pub(crate) fn read_waits(&self, at: u64) -> u64 {
        match &self.section {
            Some(limit) if self.is_on && limit.reads_wait == Some(true) => {
                if limit.stall_us.is_some_and(|us| us > 0.0) {
                    return self.stall_ends.saturating_sub(at);
                }
                let early = ns(limit.us_per_4k) * u64::from(limit.burst_kib) / 4;
                self.due.saturating_sub(early).saturating_sub(at)
            }
            _ => 0,
        }
    }
}
