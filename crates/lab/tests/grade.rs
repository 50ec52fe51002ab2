//! Verdicts against the truth, on a fixed sample of the drives that `fourcorners grade` draws, with as
//! much noise as it has.

use fourcorners_lab::grade::{Condition, Grades, NoiseLevel, Options, draw, grade};

/// In full and quick.
fn graded(only: usize, noise: NoiseLevel) -> Vec<Grades> {
    let conditions = [false, true].map(|quick| Condition { noise, quick }).to_vec();
    let options = Options {
        conditions,
        drives: 300,
        seed: 1,
        only: Some(only),
        methods: Vec::new(),
        workers: 1,
    };
    grade(&options, &|_| true, &|_| ())
}

#[test]
fn on_a_noisy_machine_no_verdict_of_the_sample_is_wrong() {
    // TRIM instant, partial and blocking, on a torture with a mark and one without; a drive that is
    // as fast used as fresh; one whose seconds are steady and unsteady.
    let sample = [0, 8, 12, 5, 3];
    let grades: Vec<Grades> = std::thread::scope(|scope| {
        let each = sample.map(|only| scope.spawn(move || graded(only, NoiseLevel::Host)));
        each.into_iter().flat_map(|each| each.join().expect("it ends")).collect()
    });
    let mut said = Vec::new();
    for grade in grades.iter().flat_map(|grades| &grades.verdicts) {
        assert_eq!(grade.wrong, 0, "{}: {:?} {:?}", grade.id, grade.by_truth, grade.worst);
        let outcomes = grade.by_truth.values().flat_map(|said| said.keys());
        said.extend(outcomes.map(|outcome| (grade.id.as_str(), *outcome)));
    }
    // The sample is no use if nothing is told of it.
    for told in [
        ("trim-works", "yes"),
        ("trim-works", "undetermined"),
        ("trim-reaches", "partly"),
        ("trim-holds-up-reads", "yes"),
        ("slower-when-used", "no"),
        ("steady-random-write", "yes"),
        ("steady-random-write-spare25", "no"),
    ] {
        assert!(said.contains(&told), "{told:?} is not in {said:?}");
    }
}

#[test]
fn a_grade_is_the_same_each_time_and_ends_when_it_is_asked_to() {
    let once = graded(7, NoiseLevel::Lab);
    assert_eq!(once, graded(7, NoiseLevel::Lab));
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
