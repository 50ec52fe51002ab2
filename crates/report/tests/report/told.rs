//! What a page says of quick reviews, of other work, of one drive and of the ends of a strip, and where it does not.

use fourcorners_record::{Document, Record};
use fourcorners_report::{card, page, standings_table};
use fourcorners_results::compare::sides;

const METHOD: &str = "used-state";
/// That of the fresh rates and the used ones.
const TABLE: &str = "aria-label=\"Fresh and used\"";

fn called(mut record: Record, title: &str) -> Record {
    (record.target.name, record.target.title) = (title.to_lowercase(), title.into());
    record
}

/// The records of a method of the fixture's two drives.
fn of(method: &str) -> Vec<Record> {
    let mut records = crate::fixture::everything().records;
    records.retain(|record| record.method == method);
    records
}

fn ranking(records: Vec<Record>) -> String {
    let text = standings_table(&sides(vec![records]), 80, false);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_used_state_of_a_quick_review_is_left_open() {
    let says = "A quick review writes too little to bring a drive into its used state";
    let full = of(METHOD);
    let shown = page(&Document::new(full.clone()));
    assert!(shown.contains(TABLE) && !shown.contains(says));
    assert!(ranking(full.clone()).contains("Best in the used state: Crucial m4 256 GB"));
    let mut quick = full.clone();
    quick.iter_mut().for_each(|record| record.quick = true);
    let shown = page(&Document::new(quick.clone()));
    assert!(!shown.contains(TABLE) && shown.contains(says));
    assert!(!ranking(quick.clone()).contains("in the used state"));
    // Each on its own where both stand together.
    let shown = page(&Document::new(vec![full[0].clone(), quick[1].clone()]));
    let (_, left_open) = shown.split_once(says).expect("the second is left open");
    let named = left_open.split("</p>").next().expect("its paragraph");
    assert!(shown.contains(TABLE) && named.contains("Seagate") && !named.contains("m4"));
}

#[test]
fn another_job_is_not_ranked_among_those_that_are_alike() {
    let drives =
        || ["Alpha", "Beta", "Odd"].map(|title| called(crate::fixture::m4(), title)).to_vec();
    assert!(!ranking(drives()).contains('–'), "{}", ranking(drives()));
    let mut odd = drives();
    for figure in odd[2].figures.values_mut() {
        figure.job.span_bytes /= 100;
        figure.mb_per_s *= 9.0;
    }
    // Whichever comes first.
    odd.rotate_right(1);
    let text = ranking(odd);
    assert!(text.contains("– Odd – – – – –") && !text.contains("Fastest: Odd"), "{text}");
}

#[test]
fn of_two_drives_that_have_values_none_is_to_avoid() {
    let [slow, fast] = [1.0, 2.0].map(|factor| {
        let mut record = called(crate::fixture::m4(), if factor == 1.0 { "Slow" } else { "Fast" });
        record.figures.values_mut().for_each(|figure| figure.mb_per_s *= factor);
        record
    });
    let mut none = called(crate::fixture::m4(), "None");
    none.figures.clear();
    let two = ranking(vec![slow.clone(), fast.clone(), none]);
    assert!(two.contains("Fastest: Fast") && !two.contains("To avoid"), "{two}");
    let three = ranking(vec![slow, fast.clone(), called(fast, "Third")]);
    assert!(three.contains("To avoid: Slow"), "{three}");
}

#[test]
fn how_long_data_stays_is_drawn_for_each_drive() {
    let title = "How long data stays on flash that is worn out";
    let both = of("endurance");
    let charts = |records: &[Record]| {
        let shown = page(&Document::new(records.to_vec()));
        let named = |label: &str| shown.contains(&format!("{label}: {title}"));
        (shown.contains(title), named(&both[0].target.title), named(&both[1].target.title))
    };
    assert_eq!(charts(&both), (true, true, true));
    assert_eq!(charts(&both[..1]), (true, false, false), "one needs no name");
    let mut unknown = both.clone();
    unknown[1].curves.clear();
    assert_eq!(charts(&unknown), (true, true, false), "none stands for another");
}

#[test]
fn at_the_end_of_a_strip_stands_the_drive_itself_where_it_is_the_last() {
    let ends = |factor: f64| {
        let mut record = crate::fixture::m4();
        record.figures.values_mut().for_each(|figure| figure.mb_per_s *= factor);
        let shown = page(&Document::new(vec![record]));
        ["fastest: this drive", "slowest: this drive"].map(|end| shown.to_lowercase().contains(end))
    };
    assert_eq!(ends(1.0), [false, false]);
    assert_eq!(ends(1e-4), [false, true]);
    assert_eq!(ends(1e4), [true, false]);
}

#[test]
fn the_used_state_of_four_corners_is_placed_where_it_was_brought_about() {
    let strip = "Random write, used, 4 KiB, QD 3";
    let said = |record: Record| {
        let shown = page(&Document::new(vec![record]));
        let clause = "The used state was measured at full length, on ";
        let grey = "The used state of grey drives was measured at full length.";
        [strip, clause, grey].map(|words| shown.contains(words))
    };
    assert_eq!(said(crate::fixture::m4()), [true; 3]);
    // In seconds, of a part of the drive, of another method, or where there is none, nothing is said of it.
    assert_eq!(said(Record { quick: true, ..crate::fixture::m4() }), [false; 3]);
    let mut part = crate::fixture::m4();
    part.figures.values_mut().for_each(|it| it.job.span_bytes = 8_000_000_000);
    assert_eq!(said(part), [false; 3]);
    assert_eq!(said(Record { method: "mine".into(), ..crate::fixture::m4() }), [false; 3]);
    let mut none = crate::fixture::m4();
    none.figures.shift_remove("random_write_4k_qd3_incompressible_used");
    assert_eq!(said(none), [false; 3]);
}

#[test]
fn a_card_names_as_many_drives_as_it_says() {
    let of = |number: usize| {
        let drives = (0..number).map(|at| called(crate::fixture::m4(), &format!("Drive {at}")));
        card(&Document::new(drives.collect())).expect("several drives").svg
    };
    let (few, many) = (of(9), of(12));
    assert!(few.contains("9 drives") && !few.contains("The first 9"));
    assert!(many.contains("12 drives") && many.contains("The first 9 of 12."));
    assert_eq!([&few, &many].map(|svg| svg.matches(">1 Drive ").count()), [9, 9], "{few}");
}
