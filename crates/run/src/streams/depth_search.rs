//! Finds how many I/Os can be in flight while enough of them are answered in time: fio's `latency_target`.
//!
//! Each depth is tried for a window. From one on, depths are doubled while enough I/Os of a window are in time; between a depth that
//! was met and one that was not, the middle one is tried. Before fewer are tried, all in flight have to come back: those of the
//! larger depth would be counted against the smaller one.

use fourcorners_drive::Nanos;

/// Windows in a row that meet the target before one more than was missed earlier is tried again.
const AGAIN: u32 = 3;

/// What the depth of a stream is to meet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LatencyTarget {
    /// An I/O that takes longer is late.
    pub latency: Nanos,
    /// How long each depth is tried.
    pub window: Nanos,
    /// At least this percentage of a window's I/Os must be in time, 0 to 100. With 100 a window ends at the first late one.
    pub percent: f64,
    /// The stream goes on and follows the target, instead of ending after one window at the depth that was found.
    pub goes_on: bool,
}

/// What a search came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DepthFound {
    /// The depth of the last window.
    pub depth: u32,
    /// Whether the target is met at that depth, and at no larger one up to that of the stream; `None` if the search did not end the
    /// stream: it was cut short, or goes on.
    pub met: Option<bool>,
}

/// What a stream does once an I/O of it is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// It goes on.
    GoOn,
    /// It measures anew: what follows is the window that counts.
    MeasureAnew,
    /// It ends.
    End,
}

/// Where a search is.
#[derive(Clone, Debug)]
pub(super) struct DepthSearch {
    target: LatencyTarget,
    most: u32,
    depth: u32,
    /// The largest depth that met the target, 0 if none did, and the smallest that did not.
    met: u32,
    missed: Option<u32>,
    met_in_a_row: u32,
    began: Nanos,
    ios: u64,
    late: u64,
    /// Nothing is submitted until all in flight have come back.
    drains: bool,
    /// This window is the one that counts.
    counts: bool,
}

impl DepthSearch {
    /// `most` is the largest depth that is tried.
    pub(super) fn new(target: LatencyTarget, most: u32, now: Nanos) -> DepthSearch {
        DepthSearch {
            target,
            most: most.max(1),
            depth: 1,
            met: 0,
            missed: None,
            met_in_a_row: 0,
            began: now,
            ios: 0,
            late: 0,
            drains: false,
            counts: false,
        }
    }

    /// How many may be in flight now.
    pub(super) fn in_flight(&self) -> u32 {
        if self.drains { 0 } else { self.depth }
    }

    /// An I/O is done, at `at`, and `flying` are still in flight; one without a `latency` failed.
    #[inline]
    pub(super) fn landed(&mut self, at: Nanos, latency: Option<Nanos>, flying: u32) -> Step {
        if !self.drains
            && let Some(latency) = latency
        {
            self.ios += 1;
            self.late += u64::from(latency > self.target.latency);
            if let Step::End = self.judge(at) {
                return Step::End;
            }
        }
        if !self.drains || flying > 0 {
            return Step::GoOn;
        }
        self.drains = false;
        self.begin(at);
        if self.counts { Step::MeasureAnew } else { Step::GoOn }
    }

    /// Ends a window that is over.
    fn judge(&mut self, at: Nanos) -> Step {
        let is_hopeless = self.missed == Some(1);
        let missed_for_sure = self.target.percent >= 100.0 && self.late > 0 && !is_hopeless;
        if at.since(self.began) < self.target.window && !missed_for_sure {
            return Step::GoOn;
        }
        if is_hopeless && self.counts {
            return Step::End;
        }
        let in_time = 100.0 * (self.ios - self.late) as f64 / self.ios as f64;
        match in_time >= self.target.percent {
            true => self.succeed(at),
            false => {
                self.fail();
                Step::GoOn
            }
        }
    }

    fn succeed(&mut self, at: Nanos) -> Step {
        self.met = self.met.max(self.depth);
        self.met_in_a_row += 1;
        if self.target.goes_on && self.met_in_a_row >= AGAIN {
            self.met_in_a_row = 0;
            self.missed = self.missed.map(|missed| missed.max(self.depth + 1) + 1);
        }
        let more = match self.missed {
            None => self.depth.saturating_mul(2),
            Some(missed) => self.depth.midpoint(missed),
        };
        let more = more.clamp(self.depth, self.most);
        let found = more == self.depth;
        if found && self.counts {
            return Step::End;
        }
        if found && !self.target.goes_on {
            (self.counts, self.drains) = (true, true);
        }
        self.depth = more;
        self.begin(at);
        Step::GoOn
    }

    fn fail(&mut self) {
        self.missed = Some(self.depth);
        self.met = self.met.min(self.depth - 1);
        self.met_in_a_row = 0;
        // Nothing less can be tried: how late they are is measured.
        self.counts = self.depth == 1 && !self.target.goes_on;
        self.depth = self.met.midpoint(self.depth).max(1);
        self.drains = true;
    }

    fn begin(&mut self, at: Nanos) {
        (self.began, self.ios, self.late) = (at, 0, 0);
    }

    /// What it came to; `ended` says whether it ended the stream.
    pub(super) fn found(&self, ended: bool) -> DepthFound {
        DepthFound { depth: self.depth, met: ended.then_some(self.missed != Some(1)) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WINDOW: Nanos = Nanos(1_000_000);

    fn target(percent: f64) -> LatencyTarget {
        LatencyTarget { latency: Nanos(1000), window: WINDOW, percent, goes_on: false }
    }

    /// What is found of a drive at which, of `of` I/Os, as many are late as `late` says of the number in flight.
    fn found(target: LatencyTarget, most: u32, of: u64, late: impl Fn(u32) -> u64) -> DepthFound {
        let mut search = DepthSearch::new(target, most, Nanos::ZERO);
        let mut now = Nanos::ZERO;
        let mut number = 0;
        for _ in 0..1_000_000 {
            let in_flight = search.in_flight();
            assert!((1..=most).contains(&in_flight), "{in_flight}");
            number += 1;
            now += Nanos(10_000);
            let latency = Nanos(if number % of < late(in_flight) { 1001 } else { 1000 });
            if let Step::End = search.landed(now, Some(latency), in_flight - 1) {
                return search.found(true);
            }
            // All others come back before the next one.
            for flying in (0..in_flight - 1).rev() {
                if search.in_flight() == 0 {
                    search.landed(now, Some(latency), flying);
                }
            }
        }
        search.found(false)
    }

    proptest! {
        #[test]
        fn the_largest_depth_that_is_in_time_is_found(most in 1_u32..300, in_time in 0_u32..400) {
            let late = |depth| u64::from(depth > in_time);
            for percent in [100.0, 99.9, 50.0] {
                let found = found(target(percent), most, 1, late);
                let is = DepthFound { depth: in_time.clamp(1, most), met: Some(in_time > 0) };
                prop_assert_eq!(found, is, "{} %", percent);
            }
        }
    }

    #[test]
    fn as_many_may_be_late_as_the_percentage_says() {
        // One of ten is late at any depth.
        let late = |_| 1;
        assert_eq!(found(target(89.0), 64, 10, late), DepthFound { depth: 64, met: Some(true) });
        assert_eq!(found(target(91.0), 64, 10, late), DepthFound { depth: 1, met: Some(false) });
    }

    #[test]
    fn one_that_goes_on_follows_a_drive_that_becomes_faster() {
        let goes_on = LatencyTarget { goes_on: true, ..target(99.0) };
        let mut search = DepthSearch::new(goes_on, 64, Nanos::ZERO);
        let mut largest = [0; 2];
        for step in 0..200_000_u64 {
            let half = usize::from(step >= 100_000);
            let most = [8, 20][half];
            let depth = search.in_flight().max(1);
            let latency = Nanos(if depth > most { 2000 } else { 500 });
            let stepped = search.landed(Nanos(step * 10_000), Some(latency), 0);
            assert_eq!(stepped, Step::GoOn);
            if step % 100_000 > 50_000 && depth <= most {
                largest[half] = largest[half].max(depth);
            }
        }
        assert_eq!(largest, [8, 20]);
        assert_eq!(search.found(false).met, None);
    }

    #[test]
    fn what_is_still_in_flight_of_a_larger_depth_is_not_held_against_a_smaller_one() {
        let mut search = DepthSearch::new(target(100.0), 2, Nanos::ZERO);
        let late = Some(Nanos(2000));
        assert_eq!(search.landed(WINDOW, Some(Nanos(500)), 0), Step::GoOn);
        assert_eq!(search.in_flight(), 2);
        search.landed(WINDOW + Nanos(10), late, 1);
        assert_eq!(search.in_flight(), 0);
        // The other one is late as well; one at a time, they are not.
        assert_eq!(search.landed(WINDOW + Nanos(20), late, 0), Step::GoOn);
        assert_eq!(search.in_flight(), 1);
        let window = |turn: u64| Nanos((turn + 1) * 2 * WINDOW.0);
        assert_eq!(search.landed(window(1), Some(Nanos(500)), 0), Step::MeasureAnew);
        assert_eq!(search.landed(window(2), Some(Nanos(500)), 0), Step::End);
        assert_eq!(search.found(true), DepthFound { depth: 1, met: Some(true) });
    }
}
