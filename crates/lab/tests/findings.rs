//! What `diagnose` finds of drives whose truth is known: a small judge. `fourcorners grade --findings` is the large one.

use fourcorners_lab::diagnose::{Detector, Noise, SCHEMA, diagnose, judge};
use fourcorners_lab::drive::Drive;
use fourcorners_lab::grade::findings::{Graded, draw, grade_findings, table};

/// Half of the drives have no cache and no limited map, many have no border to be seen, and most a buffer that empties as
/// it fills: a detector without a control says something of them, which is wrong.
#[test]
fn nothing_is_found_that_is_not_so_and_most_of_what_can_be_told_is_found() {
    for noise in [Noise::None, Noise::Host] {
        let graded = Graded {
            detectors: Detector::ALL.to_vec(),
            drives: 20,
            seed: 5,
            noise,
            only: None,
            workers: 2,
        };
        let tally = grade_findings(&graded, &|_| true);
        let shown = table(std::slice::from_ref(&tally));
        let keys = Detector::ALL.iter().flat_map(|detector| detector.keys());
        for key in keys {
            let of_it = &tally.findings[*key];
            assert_eq!(of_it.drives, 20);
            assert_eq!(of_it.wrong, 0, "{:?}\n{shown}", of_it.worst);
            assert!(
                of_it.identifiable > 0 && of_it.identifiable < 20
                    || *key == "kind"
                    || *key == "map_reach_gib"
            );
            let least = of_it.identifiable as f64 * 0.75;
            assert!(of_it.right as f64 >= least, "{key}: {:?}\n{shown}", of_it.missed);
        }
    }
}

#[test]
fn a_finding_is_made_of_its_evidence_and_the_same_seed_finds_the_same() {
    let drawn = draw(5, 0);
    let options = fourcorners_lab::diagnose::Options {
        detectors: Detector::ALL.to_vec(),
        seed: 3,
        noise: Noise::Lab,
    };
    let found = || diagnose(&mut Drive::from_profile(&drawn.profile), "a", &options, &mut |_| true);
    let one = found();
    assert_eq!(one, found());
    assert_eq!(one.schema, SCHEMA);
    assert_eq!(judge(&one.evidence), one.findings);
    for finding in &one.findings {
        assert!(one.evidence.iter().any(|it| it.detector == finding.evidence), "{finding:?}");
        assert!(!finding.reason.is_empty());
    }
    let text = serde_json::to_string(&one).expect("it can be written");
    let read: fourcorners_lab::diagnose::Diagnosis = serde_json::from_str(&text).expect("and read");
    assert_eq!(judge(&read.evidence), one.findings);
}

#[test]
fn what_is_stopped_says_so_and_finds_nothing() {
    let drawn = draw(5, 0);
    let options = fourcorners_lab::diagnose::Options::default();
    let mut asked = 0;
    let found = diagnose(&mut Drive::from_profile(&drawn.profile), "a", &options, &mut |what| {
        asked += usize::from(what == "row");
        asked < 2
    });
    let reason = |key: &str| {
        found
            .findings
            .iter()
            .find(|it| it.key == key)
            .map(|it| it.reason.clone())
            .unwrap_or_default()
    };
    assert!(!reason("kind").contains("interrupted"), "that was done by then");
    for key in ["page_bytes", "row_bytes", "write_buffer_kib"] {
        assert!(reason(key).contains("interrupted"), "{key}: {}", reason(key));
    }
}
