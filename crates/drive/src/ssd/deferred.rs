//! TRIM that takes effect later: the drive answers at once, notes the range, and frees what lies in
//! it after a time. What the host writes meanwhile stays.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crate::Nanos;
use crate::ftl::LogicalUnit;

/// What waits to be freed.
#[derive(Clone, Debug)]
pub(super) struct Deferred {
    wait: Nanos,
    /// By their first unit, ranges that do not overlap: their end, and when they are due.
    ranges: BTreeMap<LogicalUnit, (LogicalUnit, Nanos)>,
    /// As the ranges came, with what may be left of them.
    due: VecDeque<(Nanos, Range<LogicalUnit>)>,
}

impl Deferred {
    pub(super) fn new(wait: Nanos) -> Deferred {
        Deferred { wait, ranges: BTreeMap::new(), due: VecDeque::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.ranges.clear();
        self.due.clear();
    }

    /// A TRIM at `at`. What it has of ranges that wait already begins to wait anew.
    pub(super) fn add(&mut self, units: Range<LogicalUnit>, at: Nanos) {
        if units.is_empty() {
            return;
        }
        self.keep(units.clone());
        // The controller takes one after the other, so that what comes later is due later.
        let latest = self.due.back().map_or(Nanos::ZERO, |(due, _)| *due);
        let due = at.saturating_add(self.wait).max(latest);
        self.ranges.insert(units.start, (units.end, due));
        self.due.push_back((due, units));
    }

    /// These units are not to be freed any more, because they were written.
    pub(super) fn keep(&mut self, units: Range<LogicalUnit>) {
        if units.is_empty() {
            return;
        }
        self.split(units.start);
        self.split(units.end);
        while let Some((&start, _)) = self.ranges.range(units.clone()).next() {
            self.ranges.remove(&start);
        }
    }

    /// No range goes across `unit`.
    fn split(&mut self, unit: LogicalUnit) {
        if let Some((_, range)) = self.ranges.range_mut(..unit).next_back()
            && range.0 > unit
        {
            let rest = std::mem::replace(&mut range.0, unit);
            let due = range.1;
            self.ranges.insert(unit, (rest, due));
        }
    }

    /// The next of what is due by `now`: when, and which units are to be freed.
    pub(super) fn take_due(&mut self, now: Nanos) -> Option<(Nanos, Vec<Range<LogicalUnit>>)> {
        let (due, units) = self.due.pop_front_if(|(due, _)| *due <= now)?;
        // What a later TRIM has covered again is due with that one.
        let ours = self.ranges.range(units).filter(|(_, range)| range.1 == due);
        let left: Vec<Range<LogicalUnit>> = ours.map(|(&start, range)| start..range.0).collect();
        for range in &left {
            self.ranges.remove(&range.start);
        }
        Some((due, left))
    }

    /// Whether a unit waits for a time that is over at `now`.
    pub(super) fn is_due(&self, unit: LogicalUnit, now: Nanos) -> bool {
        let before = self.ranges.range(..=unit).next_back();
        before.is_some_and(|(_, &(end, due))| unit < end && due <= now)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Trim(Range<u32>),
        Write(Range<u32>),
        Wait(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let range = || (0..40_u32, 0..20_u32).prop_map(|(start, length)| start..start + length);
        let step = prop_oneof![
            range().prop_map(Step::Trim),
            range().prop_map(Step::Write),
            (0..6_u64).prop_map(Step::Wait),
        ];
        prop::collection::vec(step, 1..60)
    }

    proptest! {
        /// Against one that notes of every unit when it is due.
        #[test]
        fn each_unit_is_freed_when_its_last_trim_is_due_unless_it_was_written(steps in steps()) {
            let wait = Nanos(10);
            let mut deferred = Deferred::new(wait);
            let mut by_unit: BTreeMap<u32, Nanos> = BTreeMap::new();
            let mut now = Nanos::ZERO;
            for step in steps {
                match step {
                    Step::Trim(units) => {
                        deferred.add(units.clone(), now);
                        by_unit.extend(units.map(|unit| (unit, now + wait)));
                    }
                    Step::Write(units) => {
                        deferred.keep(units.clone());
                        by_unit.retain(|unit, _| !units.contains(unit));
                    }
                    Step::Wait(time) => {
                        now += Nanos(time);
                        for unit in 0..60 {
                            let expected = by_unit.get(&unit).is_some_and(|due| *due <= now);
                            prop_assert_eq!(deferred.is_due(unit, now), expected, "{}", unit);
                        }
                        while let Some((due, ranges)) = deferred.take_due(now) {
                            for unit in ranges.into_iter().flatten() {
                                prop_assert_eq!(by_unit.remove(&unit), Some(due), "{}", unit);
                            }
                        }
                        prop_assert!(by_unit.values().all(|due| *due > now));
                    }
                }
                prop_assert_eq!(deferred.is_empty(), by_unit.is_empty());
            }
        }
    }
}
