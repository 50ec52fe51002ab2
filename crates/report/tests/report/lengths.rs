//! Quick results beside those of full length: they are named, marked and not ranked together; alike results are not marked.

use fourcorners_record::{Document, Record};
use fourcorners_report::{card, comparison_sentences, page, part, standings_table, table};
use fourcorners_results::compare::{Comparison, sides};

const NO_RANKING: &str = "No ranking: the results of Quick are quick, with durations and spans cut, and are not ranked with \
                          results of full length.";
const EVERY: &str = "quick: durations and spans were cut";

fn full(title: &str) -> Record {
    let mut record = crate::fixture::m4();
    (record.target.name, record.target.title) = (title.to_lowercase(), title.into());
    record
}

/// The same in seconds, as `--quick` has it.
fn quick(title: &str) -> Record {
    let mut record = full(title);
    record.quick = true;
    for figure in record.figures.values_mut() {
        figure.job.until = fourcorners_record::Until::Seconds(5);
        figure.mb_per_s /= 2.0;
    }
    record
}

fn sentences(records: Vec<Record>) -> Vec<String> {
    comparison_sentences(&Comparison::of(&sides(vec![records])))
}

/// What stands between two marks of a page.
fn between<'p>(page: &'p str, from: &str, to: &str) -> &'p str {
    let (_, rest) = page.split_once(from).unwrap_or_else(|| panic!("no {from}: {page}"));
    rest.split(to).next().unwrap_or(rest)
}

#[test]
fn a_quick_drive_beside_a_full_one_is_named_and_why_there_is_no_ranking() {
    let mixed = Document::new(vec![full("Full"), quick("Quick")]);
    for shown in [page(&mixed), part(&mixed)] {
        assert!(shown.contains("quick, with durations and spans cut: Quick<"), "{shown}");
        assert!(shown.contains(NO_RANKING) && !shown.contains(EVERY));
        let corners = between(&shown, "aria-label=\"The four corners side by side\"", "</table>");
        assert!(corners.contains("Quick (quick)") && !corners.contains("Full ("), "{corners}");
        assert!(shown.contains("not the same job") && !shown.contains("see what was run"));
    }
    let text = table(&mixed, 200, false);
    assert!(text.contains(NO_RANKING) && text.contains("Quick (quick)"), "{text}");
    assert_eq!(
        sentences(mixed.records),
        [
            "Quick (quick) against Full: all 9 data rates are lower. None of them was measured with the same job (time, span or data)."
        ]
    );
    // Whichever comes first.
    let said = sentences(vec![quick("Quick"), full("Full")]);
    assert!(said[0].starts_with("Full against Quick (quick): all 9 data rates are higher. None"));
}

#[test]
fn drives_of_one_length_are_ranked_and_not_marked() {
    for (records, badge) in [
        (vec![full("Full"), full("Other")], false),
        (vec![quick("Quick"), quick("Other")], true),
        (vec![quick("Quick")], true),
        (vec![full("Full")], false),
    ] {
        let (document, several) = (Document::new(records.clone()), records.len() > 1);
        for shown in [page(&document), part(&document)] {
            assert_eq!(shown.contains(EVERY), badge);
            assert_eq!(shown.contains("id=\"ranking\""), several);
            for unsaid in
                ["No ranking", "(quick)", "not the same job", "spans cut:", "not ranked with"]
            {
                assert!(!shown.contains(unsaid), "{unsaid}");
            }
        }
        assert!(!table(&document, 200, false).contains("No ranking"));
        assert!(sentences(records).iter().all(|said| !said.contains("job")));
    }
}

#[test]
fn quick_drives_among_ranked_ones_are_told() {
    let three = vec![full("Full"), full("Other"), quick("Quick")];
    let text = standings_table(&sides(vec![three.clone()]), 200, false);
    let why = "The results of Quick are quick, with durations and spans cut, and are not ranked with results of full length.";
    assert!(text.contains(why) && text.contains("Quick (quick)"), "{text}");
    let shown = page(&Document::new(three));
    assert!(
        shown.contains("id=\"ranking\"") && shown.contains(why) && !shown.contains("No ranking")
    );
}

#[test]
fn of_a_drive_with_both_the_methods_are_named() {
    let sweep = || Record { quick: true, ..crate::fixture::sweep() };
    let shown = page(&Document::new(vec![crate::fixture::m4(), sweep()]));
    assert!(shown.contains("quick, with durations and spans cut: Queue depth sweep<"), "{shown}");
    let shown = page(&Document::new(vec![crate::fixture::m4(), sweep(), full("Other")]));
    let badge = "quick, with durations and spans cut: Crucial m4 256 GB (Queue depth sweep)<";
    assert!(shown.contains(badge) && !shown.contains("(quick)"), "no other drive was swept");
    // Of one method: told apart by that, not by an id.
    let both = vec![crate::fixture::m4(), Record { quick: true, ..crate::fixture::m4() }];
    let shown = page(&Document::new(both));
    assert!(shown.contains("256 GB (quick)<") && shown.contains("256 GB (full length)<"));
}

#[test]
fn other_spans_are_why_there_is_no_ranking_too() {
    let mut odd = full("Odd");
    odd.figures.values_mut().for_each(|figure| figure.job.span_bytes /= 100);
    let shown = page(&Document::new(vec![full("Full"), odd]));
    let why = "No ranking: the drives were not measured with the same jobs (time, span or data).";
    assert!(shown.contains(why) && !shown.contains("quick, with"), "{shown}");
    // Drives that have no measure in common are not to be ranked.
    assert!(
        !page(&Document::new(vec![full("Full"), crate::fixture::file()])).contains("No ranking")
    );
}

#[test]
fn a_card_says_whether_all_or_some_are_quick() {
    let said = |records: Vec<Record>| {
        let svg = card(&Document::new(records)).expect("several drives").svg;
        [", some quick<", ", quick<"].map(|words| svg.contains(words))
    };
    assert_eq!(said(vec![full("A"), full("B"), quick("C")]), [true, false]);
    assert_eq!(said(vec![quick("A"), quick("B")]), [false, true]);
    assert_eq!(said(vec![full("A"), full("B")]), [false, false]);
}
