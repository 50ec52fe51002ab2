//! Reading on after a read, in case its successor is asked for.

use crate::Nanos;

use super::layout::{Layout, Place};

/// One buffer of consecutive sectors, growing at its end while the head reads on.
///
/// There is a single one: a drive of several would keep several interleaved sequential streams
/// going, this one keeps the last.
#[derive(Clone, Debug)]
pub(super) struct ReadAhead {
    most_sectors: u64,
    /// First sector in the buffer.
    low: u64,
    /// Sectors before it are in the buffer; those from it on come off the media.
    origin: u64,
    origin_place: Place,
    /// When `origin` is under the head.
    since: Nanos,
    /// The sector the head stops at. Not after `origin` when it does not read on.
    limit: u64,
    reading: bool,
    /// Whether the time it takes is counted.
    metered: bool,
    /// When the head began to read on last, and how long it did so before.
    began: Nanos,
    spent: Nanos,
}

/// A transfer of `first` to `end` that began at `since`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub(super) first: u64,
    pub(super) end: u64,
    pub(super) since: Nanos,
}

/// How a head comes back to a sector that it had stopped at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Return {
    pub(super) sector: u64,
    /// When it sets out, and when it is there.
    pub(super) from: Nanos,
    pub(super) back: Nanos,
}

/// A read that the buffer answers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    /// When its last sector is in the buffer.
    pub(super) all_there: Nanos,
    /// The head had stopped at this sector and has to come back for it.
    pub(super) resume: Option<u64>,
}

impl ReadAhead {
    /// A buffer of `most_sectors`; of 0 it never reads on.
    pub(super) fn new(most_sectors: u64, metered: bool, layout: &Layout) -> ReadAhead {
        ReadAhead {
            most_sectors,
            low: 0,
            origin: 0,
            origin_place: layout.place(0),
            since: Nanos::ZERO,
            limit: 0,
            reading: false,
            metered,
            began: Nanos::ZERO,
            spent: Nanos::ZERO,
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.most_sectors > 0
    }

    /// Whether the head reads on.
    pub(super) fn is_reading(&self) -> bool {
        self.reading
    }

    /// Whether a sector is among those that the buffer holds or the head reads on to.
    pub(super) fn reads_to(&self, sector: u64) -> bool {
        (self.low..self.limit.max(self.origin)).contains(&sector)
    }

    /// The transfer of `first` to `end`, which began at `since`, is over at `at`: the head reads on.
    pub(super) fn read_on(&mut self, read: Transfer, at: Nanos, layout: &Layout) {
        let Transfer { first, end, since } = read;
        *self = ReadAhead {
            most_sectors: self.most_sectors,
            metered: self.metered,
            began: at,
            spent: self.spent,
            low: first.max(self.kept_from(end)),
            origin: first,
            origin_place: layout.place(first),
            since,
            limit: self.stop_after(end, layout),
            reading: true,
        };
    }

    /// A quarter of the buffer keeps what the read that ended at `end` read.
    fn kept_from(&self, end: u64) -> u64 {
        end.saturating_sub(self.most_sectors / 4)
    }

    /// The rest of it takes what follows.
    fn stop_after(&self, end: u64, layout: &Layout) -> u64 {
        end.saturating_add(self.most_sectors - self.most_sectors / 4).min(layout.sectors())
    }

    /// When the sectors before `end` are in the buffer.
    fn there(&self, end: u64, layout: &Layout) -> Nanos {
        if end <= self.origin {
            return Nanos::ZERO;
        }
        let (ns, _) = layout.pass(&self.origin_place, self.origin, end);
        self.since.saturating_add(Nanos(ns))
    }

    /// Whether the buffer answers a read of `first` to `end` at `now`: it begins with what is in
    /// the buffer, and the rest is there or about to pass under the head. Reading on goes further
    /// by as much as was taken out.
    pub(super) fn answer(
        &mut self,
        first: u64,
        end: u64,
        now: Nanos,
        layout: &Layout,
    ) -> Option<Hit> {
        let begun = first <= self.origin || (self.reading && self.there(first, layout) <= now);
        if first < self.low || !begun || first >= self.limit.max(self.origin) {
            return None;
        }
        if !self.reading {
            let hit = Hit { all_there: now, resume: None };
            return (end <= self.origin).then_some(hit);
        }
        let stopped = self.there(self.limit, layout) <= now;
        let limit = self.stop_after(end, layout);
        let resume = (stopped && limit > self.limit).then_some(self.limit);
        let hit = Hit { all_there: self.there(end, layout).max(now), resume };
        self.low = self.low.max(first).max(self.kept_from(end));
        self.limit = self.limit.max(limit);
        Some(hit)
    }

    /// The head comes back and reads on. Returns when the sectors before `end` are in the buffer.
    pub(super) fn resume(&mut self, way: Return, end: u64, layout: &Layout) -> Nanos {
        if self.metered {
            self.spent += self.there(way.sector, layout).since(self.began);
            self.began = way.from;
        }
        self.origin = way.sector;
        self.origin_place = layout.place(way.sector);
        self.since = way.back;
        self.there(end, layout)
    }

    /// How long the head has read on until `at`, the way back to where it had stopped included;
    /// nothing unless it is metered.
    pub(super) fn spent(&self, at: Nanos, layout: &Layout) -> Nanos {
        if !(self.metered && self.reading) {
            return self.spent;
        }
        self.spent + self.there(self.limit, layout).min(at).since(self.began)
    }

    /// The head is wanted elsewhere at `at`. Returns the sector it is over, if it was reading on.
    pub(super) fn stop(&mut self, at: Nanos, layout: &Layout) -> Option<u64> {
        if !self.reading {
            return None;
        }
        self.spent = self.spent(at, layout);
        self.reading = false;
        let ns = at.since(self.since).0;
        let most = self.limit - self.origin;
        self.origin += layout.passed_in(&self.origin_place, self.origin, ns, most);
        Some(self.origin.min(layout.sectors() - 1))
    }

    /// The host wrote `first` to `end`: what of it is here is no longer true. What lies after it
    /// stays. Returns whether the head has to stop reading on.
    pub(super) fn overwritten(
        &mut self,
        first: u64,
        end: u64,
        now: Nanos,
        layout: &Layout,
    ) -> bool {
        if end <= self.low || first >= self.limit.max(self.origin) {
            return false;
        }
        let passed = end <= self.origin || (self.reading && self.there(end, layout) <= now);
        self.low = if passed { end } else { u64::MAX };
        !passed && self.reading
    }
}
