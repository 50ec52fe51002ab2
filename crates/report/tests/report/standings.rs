//! The ranking of several drives follows their figures, and says nothing that they do not.

use fourcorners_record::{ClockName, Document, Record};
use fourcorners_report::{page, standings_table, table};
use fourcorners_results::compare::sides;

/// A drive whose figures are those of the fixture's m4 times `factor`.
fn drive(title: &str, factor: f64) -> Record {
    let mut record = crate::fixture::m4();
    record.target.title = title.into();
    record.target.name = title.to_lowercase();
    for figure in record.figures.values_mut() {
        figure.mb_per_s *= factor;
    }
    record
}

fn ranking(records: Vec<Record>) -> String {
    standings_table(&sides(vec![records]), 80, false)
}

/// The ranking in one line, as the sentences are broken over several.
fn flat(records: Vec<Record>) -> String {
    ranking(records).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn equal_drives_have_no_winner_and_different_ones_do() {
    let text = flat(vec![drive("Alpha", 1.0), drive("Beta", 1.05)]);
    assert!(text.contains("Nothing here sets them apart by more than 10 %."), "{text}");
    assert!(text.contains("1 Alpha") && text.contains("1 Beta"), "they share a rank: {text}");
    for word in ["Fastest", "est in the used state", "To avoid"] {
        assert!(!text.contains(word), "{word}: {text}");
    }
    let text = flat(vec![drive("Alpha", 1.0), drive("Beta", 1.2)]);
    assert!(
        text.contains("Fastest: Beta, first in 4 of 4 corners (random read 79.6 MB/s"),
        "{text}"
    );
    assert!(!text.contains("To avoid"), "of two, the other one is named: {text}");
    assert!(!text.contains("Nothing here"), "{text}");
    let text = flat(vec![drive("Alpha", 1.0), drive("Beta", 1.2), drive("Gamma", 1.2)]);
    assert!(text.contains("To avoid: Alpha, last in 5 of 5 measures (random read 66.3"), "{text}");
    // A measure that it lacks does not count.
    let mut lacking = drive("Alpha", 1.0);
    lacking.figures.shift_remove("random_write_4k_qd3_incompressible_used");
    let text = flat(vec![lacking, drive("Beta", 1.2), drive("Gamma", 1.2)]);
    assert!(text.contains("To avoid: Alpha, last in 4 of its 4 measures (random"), "{text}");
}

#[test]
fn swapped_figures_swap_the_ranking() {
    let ranked = |alpha, beta| {
        let text = ranking(vec![drive("Alpha", alpha), drive("Beta", beta)]);
        let rank = |name: &str| {
            let line = text.lines().find(|line| line.trim_end().contains(&format!("\u{a0}{name}")));
            line.and_then(|line| line.chars().next()).expect("it has a line")
        };
        (rank("Alpha"), rank("Beta"), text.find("Alpha") < text.find("Beta"))
    };
    assert_eq!(ranked(2.0, 1.0), ('1', '2', true));
    assert_eq!(ranked(1.0, 2.0), ('2', '1', false));
}

#[test]
fn drives_that_each_lead_somewhere_have_no_overall_winner() {
    let mut reads = drive("Reads", 1.0);
    let writes = drive("Writes", 1.0);
    for (name, figure) in &mut reads.figures {
        figure.mb_per_s *= match name.contains("_read_") {
            true if name.starts_with("sequential") => 3.0,
            true => 2.0,
            false => 0.5,
        };
    }
    // Both lead two corners.
    reads.figures.shift_remove("random_write_4k_qd3_incompressible_used");
    let text = flat(vec![reads, writes]);
    assert!(!text.contains("Fastest") && !text.contains("To avoid"), "{text}");
    assert!(
        text.contains("No drive stands out: they differ by more than 10 % in 4 of 4"),
        "{text}"
    );
    assert!(text.contains("measures, most in sequential read ("), "{text}");
}

#[test]
fn one_drive_alone_is_not_ranked() {
    assert_eq!(ranking(vec![crate::fixture::m4()]), "");
    assert_eq!(
        ranking(vec![crate::fixture::m4(), crate::fixture::sweep()]),
        "",
        "two methods of one drive"
    );
    assert_eq!(ranking(vec![crate::fixture::m4(), crate::fixture::m4_of_seed(43)]), "", "repeats");
    assert_eq!(ranking(Vec::new()), "");
    let alone = Document::new(vec![crate::fixture::m4()]);
    assert!(!table(&alone, 80, false).contains("All drives"));
    assert!(!page(&alone).contains("id=\"ranking\""));
}

#[test]
fn a_hard_disk_beside_ssds_is_last() {
    let records = vec![crate::fixture::momentus(), drive("Slower", 0.8), crate::fixture::m4()];
    let text = flat(records.clone());
    assert!(text.contains("Fastest: Crucial m4 256 GB, first in 4 of 4"), "{text}");
    let used = "Best in the used state: Crucial m4 256 GB (random write in the used state 61.4 MB/s; \
                next 49.1 MB/s).";
    assert!(text.contains(used), "{text}");
    let avoid = "To avoid: Seagate Momentus 5400.6, last in 5 of 5 measures (random read 0.31 MB/s";
    assert!(text.contains(avoid), "{text}");

    let document = Document::new(records);
    let whole = table(&document, 80, false);
    assert!(
        whole.ends_with(&standings_table(&sides(vec![document.records.clone()]), 80, false)),
        "it comes last: {whole}"
    );
    assert!(whole.lines().all(|line| line.chars().count() <= 80), "{whole}");
    let html = page(&document);
    let at = |needle: &str| html.find(needle).unwrap_or_else(|| panic!("no {needle}"));
    assert!(at("<h1>") < at("id=\"ranking\"") && at("id=\"ranking\"") < at("<main"));
    assert!(at("To avoid: Seagate Momentus 5400.6") < at("<main"));
}

#[test]
fn all_columns_fit_eighty_characters() {
    let document = Document::new(vec![
        crate::fixture::m4(),
        crate::fixture::sweep(),
        drive("A drive with quite a long name 512 GB", 9.0),
        renamed(crate::fixture::sweep(), "A drive with quite a long name 512 GB"),
        crate::fixture::momentus(),
    ]);
    let text = standings_table(&sides(vec![document.records]), 80, false);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("1,847") && text.contains("QD\u{a0}1"), "numbers stay whole: {text}");
}

fn renamed(mut record: Record, title: &str) -> Record {
    record.target.title = title.into();
    record.target.name = title.to_lowercase();
    record
}

#[test]
fn consistency_is_by_the_worst_second_of_the_run_without_spare_area() {
    let of = |title, worst| {
        let mut records = crate::fixture::everything().records;
        records.retain(|record| record.method == "consistency");
        let mut record = renamed(records.swap_remove(0), title);
        for (name, series) in &mut record.series {
            series.iops = vec![5_000, if name.ends_with("_default") { worst } else { 0 }];
        }
        record
    };
    let text = flat(vec![of("Alpha", 40), of("Beta", 700)]);
    let most = "Most consistent: Beta (worst second 700.0 IOPS; next 40.0 IOPS).";
    assert!(text.contains(most) && text.contains("place. Worst second in IOPS "), "{text}");
    let text = flat(vec![of("Alpha", 700), of("Beta", 680)]);
    assert!(!text.contains("Most consistent"), "within 10 %: {text}");
}

#[test]
fn a_drive_without_a_figure_has_no_rank() {
    let mut lacking = drive("Lacking", 3.0);
    lacking.figures.shift_remove("random_read_4k_qd3");
    let text = flat(vec![lacking, drive("Alpha", 1.0), drive("Beta", 2.0)]);
    let (ranked, _) = text.split_once("– Lacking –").expect("a dash for its rank and its figure");
    assert!(ranked.contains("1 Beta") && ranked.contains("2 Alpha"), "{text}");
    assert!(text.contains("Fastest: Beta"), "{text}");
    let why = "A drive that lacks a measure, or has it of another job, has no rank (–)";
    assert!(text.contains(why), "{text}");
    assert!(!flat(vec![drive("Alpha", 1.0), drive("Beta", 2.0)]).contains(why));
    // Nor does a figure count that was cut short.
    let mut cut = drive("Cut", 3.0);
    cut.figures["random_read_4k_qd3"].complete = false;
    assert!(flat(vec![cut, drive("Alpha", 1.0), drive("Beta", 2.0)]).contains("– Cut –"));
}

#[test]
fn a_quick_run_is_not_ranked_among_full_ones() {
    let mut quick = drive("Quick", 9.0);
    quick.quick = true;
    assert!(flat(vec![quick.clone(), crate::fixture::m4()]).starts_with("No ranking: "));
    let text = flat(vec![quick, drive("Alpha", 1.0), drive("Beta", 2.0)]);
    assert!(text.contains("Fastest: Beta") && text.contains("– Quick (quick) – – – – –"), "{text}");
}

#[test]
fn clocks_are_named_where_both_stand_together() {
    let words = "Virtual time comes from a model, wall time from hardware.";
    let mut hardware = drive("Hardware", 0.5);
    hardware.clock = ClockName::Wall;
    let text = flat(vec![drive("Model", 1.0), hardware]);
    assert!(text.contains(words), "{text}");
    assert!(text.contains("Fastest: Model · virtual time"), "{text}");
    let text = flat(vec![drive("Model", 1.0), drive("Other", 0.5)]);
    assert!(!text.contains(words) && !text.contains("virtual time"), "{text}");
}

#[test]
fn repeats_are_ranked_by_their_mean() {
    let repeat = |title, seed, factor| Record { seed, ..drive(title, factor) };
    let once = vec![drive("Alpha", 1.0), drive("Beta", 1.5)];
    let text = flat(once);
    assert!(text.contains("random read 99.4 MB/s") && !text.contains("means"), "{text}");
    let repeated = vec![
        repeat("Alpha", 1, 1.0),
        repeat("Beta", 1, 1.5),
        repeat("Alpha", 2, 3.0),
        repeat("Beta", 2, 1.5),
    ];
    let text = flat(repeated);
    let fastest = "Fastest: Alpha, first in 4 of 4 corners (random read 132.6 MB/s";
    assert!(text.contains(fastest) && text.contains("MB/s, means of the repeats"), "{text}");
}

#[test]
fn what_is_of_other_work_is_no_repeat() {
    let mut spared = Record { seed: 2, ..drive("Alpha", 3.0) };
    for figure in spared.figures.values_mut() {
        figure.job.span_bytes /= 2;
    }
    let mut older = Record { seed: 3, ..drive("Alpha", 5.0) };
    older.version = "0.0.1".into();
    let text = flat(vec![drive("Alpha", 1.0), drive("Beta", 1.5), spared]);
    assert!(text.contains("2 Alpha 66.3") && !text.contains("means"), "{text}");
    let html = page(&Document::new(vec![drive("Alpha", 1.0), drive("Beta", 1.5), older]));
    assert!(!html.contains("means of the repeats"));
    // What was changed since it was measured is not averaged with what was not.
    let mut changed = Record { seed: 4, ..drive("Alpha", 7.0) };
    changed.target.title = "Alpha (changed)".into();
    let html = page(&Document::new(vec![drive("Alpha", 1.0), changed]));
    assert!(!html.contains("means of the repeats") && html.contains("1 Alpha (changed)"));
}

#[test]
fn a_drive_that_was_changed_is_not_called_by_its_title_alone() {
    let mut changed = drive("Alpha", 1.0);
    changed.target.set =
        ["nand.dies=4", "nand.read_us=9", "gc.pacing=eager", "seed=3"].map(String::from).to_vec();
    let text = flat(vec![changed.clone(), drive("Beta", 2.0), drive("Gamma", 2.0)]);
    assert!(text.contains("Alpha (nand.dies=4, nand.read_us=9 and 2 more)"), "{text}");
    changed.target.set.clear();
    assert!(!flat(vec![changed.clone(), drive("Beta", 2.0)]).contains("Alpha ("), "it was not");
    changed.target.host_controller = Some("old-ahci".into());
    let html = page(&Document::new(vec![changed]));
    assert!(html.contains("<h1>Alpha (old-ahci)</h1>"));
}
