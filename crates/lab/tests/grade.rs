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

/// The sample: by number, what each drive is there for.
const SAMPLE: [usize; 12] = [
    0,   // TRIM instant
    4,   // TRIM ignored
    8,   // TRIM partial, on a torture without a mark
    12,  // TRIM blocking
    296, // TRIM partial, on a torture with a mark
    1,   // slower used than fresh
    5,   // as fast used as fresh
    97,  // slower with data that does not compress
    2,   // no gap between data, and never too full
    10,  // a gap between data, and too full
    51,  // unsteady
    15,  // steady
];

/// These are also reviewed in full on a noisy machine, which leaves open whether they are slower when used: a quick
/// review has no used state at these depths.
const IN_FULL_WITH_NOISE: [usize; 2] = [5, 45];

#[test]
fn no_verdict_of_the_sample_is_wrong_and_each_outcome_that_a_verdict_declares_is_given() {
    // In full on a quiet machine a verdict can be told, quickly on a noisy one it cannot always.
    let conditions = [(NoiseLevel::None, false), (NoiseLevel::Host, true)];
    let conditions = conditions.map(|(noise, quick)| Condition { noise, quick });
    let noisy = [Condition { noise: NoiseLevel::Host, quick: false }];
    let all: Vec<(usize, &[Condition])> = SAMPLE
        .iter()
        .map(|&only| (only, &conditions[..]))
        .chain(IN_FULL_WITH_NOISE.iter().map(|&only| (only, &noisy[..])))
        .collect();
    let next = AtomicUsize::new(0);
    let some = || {
        let mut grades = Vec::new();
        while let Some(&(only, conditions)) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            grades.extend(graded(only, conditions));
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
