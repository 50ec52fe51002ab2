//! Verdicts on the terminal and on the page: words made of their data, and what is said where two do
//! not go together.

use fourcorners_record::{Document, Outcome, Record, Verdict, disagreements};
use fourcorners_report::{page, table};

fn judged(method: &str, id: &str, outcome: Outcome) -> Record {
    let mut record = crate::fixture::m4();
    record.method = method.into();
    record.notes.clear();
    record.verdicts = vec![Verdict {
        id: id.into(),
        claim: format!("{id} is claimed"),
        outcome,
        figures: record.figures.keys().take(2).cloned().collect(),
        threshold: "a threshold".into(),
        control: "a control".into(),
        value: None,
        why: Some("a reason".into()),
    }];
    record.seal();
    record
}

fn both(works: Outcome, reaches: Outcome) -> Document {
    Document::new(vec![
        judged("trim", "trim-works", works),
        judged("trim-reaches", "trim-reaches", reaches),
    ])
}

#[test]
fn a_verdict_is_shown_with_outcome_reason_and_figures() {
    for outcome in [Outcome::Yes, Outcome::No, Outcome::Partly, Outcome::Undetermined] {
        let document = Document::new(vec![judged("trim", "trim-works", outcome)]);
        let record = &document.records[0];
        let words = record.verdicts[0].words(record);
        let expected = format!("trim-works is claimed: {}, a reason (", outcome.word());
        assert!(words.starts_with(&expected), "{words}");
        let rate = record.figures.values().next().expect("it has figures").mb_per_s;
        assert!(words.contains(&format!("{rate:.0} MB/s")), "{words}");
        assert!(table(&document, 500, false).contains(&words), "{words}");
        assert!(page(&document).contains(&words), "{words}");
    }
}

#[test]
fn verdicts_that_do_not_go_together_are_named_and_others_are_not() {
    for (works, reaches, differ, believed) in [
        (Outcome::Yes, Outcome::Yes, false, ""),
        (Outcome::No, Outcome::No, false, ""),
        (Outcome::Undetermined, Outcome::Yes, false, ""),
        (Outcome::Undetermined, Outcome::No, false, ""),
        (Outcome::Yes, Outcome::Undetermined, false, ""),
        (Outcome::Yes, Outcome::No, true, "go by trim-works, since"),
        (Outcome::Partly, Outcome::No, true, "go by trim-works, since"),
        (Outcome::No, Outcome::Yes, true, "does not recover"),
    ] {
        let document = both(works, reaches);
        let found = disagreements(&document.records);
        assert_eq!(found.len(), usize::from(differ), "{works:?} {reaches:?}: {found:?}");
        let shown = [table(&document, 500, false), page(&document)];
        for text in shown {
            assert_eq!(text.contains("verdicts differ"), differ, "{works:?} {reaches:?}");
            assert!(text.contains(believed), "{works:?} {reaches:?}");
        }
    }
}

#[test]
fn verdicts_of_different_drives_do_not_meet() {
    let mut document = both(Outcome::Yes, Outcome::No);
    document.records[1].target.name = "another".into();
    assert_eq!(disagreements(&document.records), []);
}
