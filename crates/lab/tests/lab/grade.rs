//! Verdicts against the truth, on a fixed sample of the drives that `fourcorners grade` draws, with as
//! much noise as it has.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use fourcorners_lab::grade::{Condition, Grades, NoiseLevel, Options, declared, draw, grade};

fn graded(only: usize, conditions: &[Condition]) -> Vec<Grades> {
    let options = Options {
        conditions: conditions.to_vec(),
        drives: 300,
        seed: 1,
        only: Some(only),
        methods: Vec::new(),
        workers: 1,
    };
    grade(&options, &|_| true, &|_| ())
}

/// The sample: by number, in which condition, and what each drive is there for. In full on a quiet machine a verdict can be told,
/// quickly on a noisy one it cannot always. Of those that tell the same these take least time.
const SAMPLE: [(usize, Condition); 23] = [
    (36, IN_FULL),          // TRIM instant
    (40, IN_FULL),          // TRIM ignored
    (8, IN_FULL),           // TRIM partial, on a torture without a mark
    (296, IN_FULL),         // TRIM partial, on a torture with a mark
    (48, IN_FULL),          // TRIM blocking
    (20, IN_FULL),          // TRIM deferred
    (1, IN_FULL),           // slower used than fresh
    (5, IN_FULL),           // as fast used as fresh
    (97, IN_FULL),          // slower with data that does not compress
    (34, IN_FULL),          // no gap between data, and too full
    (14, IN_FULL),          // a gap between data, and never too full
    (27, IN_FULL),          // unsteady
    (35, IN_FULL),          // steady
    (16, QUICK_WITH_NOISE), // TRIM refused
    (40, QUICK_WITH_NOISE), // TRIM ignored
    (48, QUICK_WITH_NOISE), // TRIM blocking
    (1, QUICK_WITH_NOISE),  // slower used than fresh
    (21, QUICK_WITH_NOISE), // slower with data that does not compress
    (49, QUICK_WITH_NOISE), // a hard disk
    (42, QUICK_WITH_NOISE), // no gap between data
    (35, QUICK_WITH_NOISE), // steady
    // What a quick review leaves open: it has no used state at these depths.
    (5, Condition { noise: NoiseLevel::Host, quick: false }),
    (45, Condition { noise: NoiseLevel::Host, quick: false }),
];

const IN_FULL: Condition = Condition { noise: NoiseLevel::None, quick: false };
const QUICK_WITH_NOISE: Condition = Condition { noise: NoiseLevel::Host, quick: true };

#[test]
fn no_verdict_of_the_sample_is_wrong_and_each_outcome_that_a_verdict_declares_is_given() {
    let next = AtomicUsize::new(0);
    let some = || {
        let mut grades = Vec::new();
        while let Some(&(only, condition)) = SAMPLE.get(next.fetch_add(1, Ordering::Relaxed)) {
            grades.extend(graded(only, &[condition]));
        }
        grades
    };
    let grades: Vec<Grades> = std::thread::scope(|scope| {
        let threads = [(); 2].map(|()| scope.spawn(some));
        threads.into_iter().flat_map(|thread| thread.join().expect("it ends")).collect()
    });
    let mut given: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for grade in grades.iter().flat_map(|grades| &grades.verdicts) {
        assert_eq!(grade.wrong, 0, "{}: {:?} {:?}", grade.id, grade.by_truth, grade.worst);
        let outcomes = grade.by_truth.values().flat_map(|said| said.keys());
        given.entry(&grade.id).or_default().extend(outcomes);
    }
    assert_eq!(given.len(), 15, "{given:?}");
    for (id, given) in given {
        let declared = declared(id).iter().map(|outcome| outcome.word());
        let never: Vec<&str> = declared.filter(|word| !given.contains(word)).collect();
        assert!(never.is_empty(), "{id} is never {never:?}");
    }
}

#[test]
fn a_grade_is_the_same_each_time_and_ends_when_it_is_asked_to() {
    let lab = [false, true].map(|quick| Condition { noise: NoiseLevel::Lab, quick });
    let once = graded(7, &lab);
    assert_eq!(once, graded(7, &lab));
    assert_eq!(once[0].verdicts.len(), 2, "{:?}", once[0].verdicts);
    let conditions = vec![Condition { noise: NoiseLevel::None, quick: false }];
    let options =
        Options { conditions, drives: 8, seed: 1, only: None, methods: Vec::new(), workers: 2 };
    let stopped = grade(&options, &|_| false, &|_| ());
    assert!(stopped[0].stopped && stopped[0].verdicts.is_empty());
}

#[test]
fn the_arguments_of_a_drawn_drive_name_its_settings() {
    let drawn = draw(1, 12);
    let arguments = drawn.arguments();
    assert!(arguments.starts_with(drawn.base) && arguments.contains("--set trim.mode=blocking"));
}
