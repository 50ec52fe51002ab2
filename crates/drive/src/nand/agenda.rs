//! What a die has been given to do, operation by operation: which one is in progress when a read
//! comes, and whether it can be suspended.

use serde::{Deserialize, Serialize};

use super::suspension::Suspension;
use crate::Nanos;
use crate::state::LATEST;

/// An operation of a die's array that a read may find in progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) enum Operation {
    /// A read of collection's, with its data going out.
    #[default]
    Read,
    /// A program, from when its data goes in.
    Program,
    /// An erase.
    Erase,
}

/// Runs a die remembers one by one. Sixteen are three rows of host data, each with an erase, reads
/// and programs of collection before it.
const MOST_RUNS: usize = 16;

/// What a die has been given to do and has not done.
///
/// Equal operations in a row are one entry, a run, so a command costs a few steps however much
/// it makes a die do. When more runs wait than there is room for, the newest two become one, in
/// which all operations are taken to be like the last: the far end of a long queue is blurred and
/// comes into focus as it comes nearer.
///
/// Reads put off all that waits by the same time. Times in here are therefore kept less what had been
/// put off when they were noted, and putting off is one addition.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Agenda {
    put_off: Nanos,
    current: Option<Current>,
    runs: [Run; MOST_RUNS],
    first: usize,
    count: usize,
}

/// Equal operations, one after the other.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Run {
    operation: Operation,
    start: Nanos,
    end: Nanos,
    each: Nanos,
}

/// The operation that a read found in progress.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Current {
    operation: Operation,
    end: Nanos,
    /// How often it has been suspended.
    suspensions: u32,
}

/// When a read can begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Opening {
    pub(super) start: Nanos,
    /// What the operation that makes way takes to resume; 0 when none does.
    pub(super) resume: Nanos,
}

impl Agenda {
    /// `count` operations, ordered at `at`, follow what the die has to do already, from `start` to
    /// `end`.
    pub(super) fn add(
        &mut self,
        operation: Operation,
        at: Nanos,
        [start, end]: [Nanos; 2],
        count: u32,
    ) {
        if count == 0 || end <= start {
            return;
        }
        if self.count == MOST_RUNS {
            self.forget(at);
        }
        let each = Nanos((end - start).0 / u64::from(count)).max(Nanos(1));
        let (start, end) = (start.since(self.put_off), end.since(self.put_off));
        if self.count == MOST_RUNS {
            let newest = &mut self.runs[(self.first + MOST_RUNS - 1) % MOST_RUNS];
            *newest = Run { operation, start: newest.start, end, each };
            return;
        }
        self.runs[(self.first + self.count) % MOST_RUNS] = Run { operation, start, end, each };
        self.count += 1;
    }

    /// When a read can begin that comes at `at`, after all reads before it: when the operation in
    /// progress ends or, if it can be suspended, once it is.
    pub(super) fn open(&mut self, at: Nanos, suspension: Option<&Suspension>) -> Opening {
        self.go_to(at);
        let Some(current) = &mut self.current else {
            return Opening { start: at, resume: Nanos::ZERO };
        };
        let end = current.end + self.put_off;
        if let Some(suspension) = suspension
            && let Some(wait) = suspension.wait(current.operation)
            && current.suspensions < suspension.most
            && at + wait < end
        {
            current.suspensions += 1;
            return Opening { start: at + wait, resume: suspension.resume };
        }
        // It will be over then, and is not put off by the read.
        self.current = None;
        Opening { start: end, resume: Nanos::ZERO }
    }

    /// All that is not done, the operation in progress included, is put off by `more`.
    pub(super) fn put_off(&mut self, more: Nanos) {
        self.put_off += more;
    }

    /// Whether a loaded one is one that can be reckoned with.
    pub(super) fn is_sane(&self) -> bool {
        let Agenda { put_off, current, runs, first, count } = self;
        let waits = |run: &Run| run.start <= run.end && run.end <= LATEST && run.each > Nanos::ZERO;
        *first < MOST_RUNS
            && *count <= MOST_RUNS
            && *put_off <= LATEST
            && current.is_none_or(|current| current.end <= LATEST)
            && (0..*count).all(|index| waits(&runs[(first + index) % MOST_RUNS]))
    }

    /// Forgets the runs that are over at `at`.
    fn forget(&mut self, at: Nanos) {
        while self.count > 0 && self.runs[self.first].end + self.put_off <= at {
            self.first = (self.first + 1) % MOST_RUNS;
            self.count -= 1;
        }
    }

    /// Forgets what is over at `at` and finds the operation in progress then.
    fn go_to(&mut self, at: Nanos) {
        let put_off = self.put_off;
        if self.current.is_some_and(|current| current.end + put_off > at) {
            return;
        }
        self.current = None;
        self.forget(at);
        let run = &mut self.runs[self.first];
        if self.count == 0 || run.start + put_off >= at {
            return;
        }
        // Counted from the end, so that what a blurred run has too much is at its beginning.
        let left = run.end + put_off - at;
        let end = run.end - Nanos(left.0 / run.each.0 * run.each.0);
        // Between two operations a read goes first.
        if !left.0.is_multiple_of(run.each.0) {
            self.current = Some(Current { operation: run.operation, end, suspensions: 0 });
        }
        run.start = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERASE: u64 = 3000;

    /// Two programs of 500, an erase, and after a pause one more program.
    fn agenda() -> Agenda {
        let mut agenda = Agenda::default();
        agenda.add(Operation::Program, Nanos(0), [Nanos(0), Nanos(1000)], 2);
        agenda.add(Operation::Erase, Nanos(0), [Nanos(1000), Nanos(1000 + ERASE)], 1);
        agenda.add(Operation::Program, Nanos(0), [Nanos(5000), Nanos(5500)], 1);
        agenda
    }

    fn start(at: u64) -> Nanos {
        let opening = agenda().open(Nanos(at), None);
        assert_eq!(opening.resume, Nanos::ZERO);
        opening.start
    }

    #[test]
    fn a_read_waits_for_what_is_in_progress_and_for_nothing_else() {
        assert_eq!(start(0), Nanos(0));
        assert_eq!(start(1), Nanos(500));
        assert_eq!(start(500), Nanos(500));
        assert_eq!(start(501), Nanos(1000));
        assert_eq!(start(1001), Nanos(1000 + ERASE));
        assert_eq!(start(4500), Nanos(4500));
        assert_eq!(start(5499), Nanos(5500));
        assert_eq!(start(6000), Nanos(6000));
    }

    #[test]
    fn what_waits_is_put_off_and_what_was_in_progress_is_not() {
        let mut agenda = agenda();
        assert_eq!(agenda.open(Nanos(100), None).start, Nanos(500));
        agenda.put_off(Nanos(60));
        // The second program is now from 560 to 1060.
        assert_eq!(agenda.open(Nanos(560), None).start, Nanos(560));
        agenda.put_off(Nanos(60));
        assert_eq!(agenda.open(Nanos(621), None).start, Nanos(1120));
    }

    #[test]
    fn an_operation_is_suspended_so_often_and_no_more() {
        let suspension = Suspension {
            program: None,
            erase: Some(Nanos(40)),
            resume: Nanos(20),
            most: 2,
            patience: None,
        };
        let mut agenda = agenda();
        assert_eq!(agenda.open(Nanos(10), Some(&suspension)).start, Nanos(500), "no erase");
        for at in [1100, 1300] {
            let opening = agenda.open(Nanos(at), Some(&suspension));
            assert_eq!(opening, Opening { start: Nanos(at + 40), resume: Nanos(20) });
            // A read of 60.
            agenda.put_off(Nanos(60) + opening.resume);
        }
        // Its end at 4000 is put off by twice a read and resuming.
        let last = agenda.open(Nanos(1500), Some(&suspension));
        assert_eq!(last, Opening { start: Nanos(4160), resume: Nanos::ZERO });
    }

    #[test]
    fn what_ends_before_it_could_be_suspended_is_waited_for() {
        let suspension = Suspension {
            program: Some(Nanos(40)),
            erase: None,
            resume: Nanos(20),
            most: 1,
            patience: None,
        };
        let open = |at| agenda().open(Nanos(at), Some(&suspension));
        assert_eq!(open(460), Opening { start: Nanos(500), resume: Nanos::ZERO });
        assert_eq!(open(459), Opening { start: Nanos(499), resume: Nanos(20) });
    }

    #[test]
    fn a_suspended_operation_is_followed_by_the_others_of_its_run() {
        let suspension = Suspension {
            program: Some(Nanos(0)),
            erase: None,
            resume: Nanos(30),
            most: 1,
            patience: None,
        };
        let mut agenda = agenda();
        assert_eq!(agenda.open(Nanos(490), Some(&suspension)).start, Nanos(490));
        agenda.put_off(Nanos(100 + 30));
        // 10 were left, so it ends at 630, and the second program at 1130.
        assert_eq!(agenda.open(Nanos(600), Some(&suspension)).start, Nanos(630));
        agenda.put_off(Nanos(0));
        assert_eq!(agenda.open(Nanos(640), None).start, Nanos(1130));
    }

    #[test]
    fn too_long_a_queue_is_blurred_at_its_far_end_only() {
        let mut agenda = Agenda::default();
        for i in 0..40u64 {
            // Programs that take 100, 101, 102 ... and no two of which make a run.
            let start = (0..i).map(|i| 100 + i).sum::<u64>();
            agenda.add(Operation::Program, Nanos(0), [Nanos(start), Nanos(start + 100 + i)], 1);
        }
        let end = |i: u64| (0..=i).map(|i| 100 + i).sum::<u64>();
        for i in 0..15 {
            assert_eq!(agenda.open(Nanos(end(i) - 50), None).start, Nanos(end(i)));
        }
        // The sixteenth and all after it are one run of operations of 139.
        let blurred = agenda.open(Nanos(end(20)), None).start;
        assert!(blurred > Nanos(end(20)) && blurred <= Nanos(end(20) + 139), "{blurred}");
        assert_eq!((end(39) - blurred.0) % 139, 0);
        assert_eq!(agenda.open(Nanos(end(39) - 1), None).start, Nanos(end(39)));
        assert_eq!(agenda.open(Nanos(end(39)), None).start, Nanos(end(39)));
    }

    #[test]
    fn what_is_over_makes_room() {
        let mut agenda = Agenda::default();
        for i in 0..100 {
            let start = i * 1000;
            agenda.add(Operation::Program, Nanos(start), [Nanos(start), Nanos(start + 100)], 1);
        }
        agenda.add(Operation::Erase, Nanos(200_000), [Nanos(200_000), Nanos(203_000)], 1);
        agenda.add(Operation::Program, Nanos(200_000), [Nanos(203_000), Nanos(203_100)], 1);
        assert_eq!(agenda.open(Nanos(200_001), None).start, Nanos(203_000));
    }
}
