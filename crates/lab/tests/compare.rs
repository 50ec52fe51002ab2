//! Comparisons: ratios, what repeats say of them, and what does not matter.

mod fixture;

use fourcorners::compare::{Cell, Comparison, Side, document, sides};
use fourcorners::record::Record;
use fourcorners::workload::Until;

const FIGURE: &str = "random_write_4k_qd3_incompressible";

/// A figure of the sides, of these records.
fn cells(groups: &[&[Record]]) -> Vec<Option<Cell>> {
    let sides = sides(groups.iter().map(|group| group.to_vec()).collect());
    let comparison = Comparison::of(&sides, &[]);
    let row = comparison.figures.into_iter().find(|row| row.figure == FIGURE);
    row.expect("they have it").sides
}

/// The m4, with each rate times this.
fn times(factor: f64, seed: u64) -> Record {
    let mut record = fixture::m4_of_seed(seed);
    let all = record.figures.values_mut();
    all.for_each(|figure| figure.mb_per_s *= factor);
    record.target.title = format!("{factor}");
    record.seal();
    record
}

#[test]
fn a_ratio_is_to_the_first_side_and_small_ones_do_not_matter() {
    for (factor, matters) in
        [(1.0, false), (1.09, false), (0.92, false), (1.12, true), (0.5, true), (3.0, true)]
    {
        let [first, second] = &cells(&[&[fixture::m4()], &[times(factor, 42)]])[..] else {
            panic!("two sides")
        };
        let (first, second) = (first.as_ref().expect("one"), second.as_ref().expect("two"));
        assert_eq!((first.mb_per_s.ratio, first.mb_per_s.matters), (None, None));
        let ratio = second.mb_per_s.ratio.expect("a ratio");
        assert!((ratio - factor).abs() < 1e-12, "{ratio}");
        assert_eq!(second.mb_per_s.matters, Some(matters), "{factor}");
        assert_eq!((second.mb_per_s.interval, second.mb_per_s.ratio_interval), (None, None));
        // Latencies were not changed.
        assert_eq!(second.latency_mean_us.ratio, Some(1.0));
        assert_eq!(second.latency_max_us, first.latency_max_us);
    }
}

#[test]
fn repeats_say_how_sure_a_ratio_is() {
    // Seeds are a part in a thousand apart: 1.2 is sure.
    let steady: Vec<Record> = (40..=44).map(|seed| times(1.2, seed)).collect();
    let plain: Vec<Record> = (40..=44).map(fixture::m4_of_seed).collect();
    let second = cells(&[&plain, &steady])[1].clone().expect("it is there");
    let (low, high) = second.mb_per_s.ratio_interval.expect("both have repeats");
    assert_eq!((second.repeats, second.mb_per_s.matters), (5, Some(true)));
    assert!(low > 1.19 && low < 1.2 && high > 1.2 && high < 1.21, "{low} to {high}");
    // Five values a thousandth apart: t(4) x sqrt(2.5) / sqrt(5) / 1000 = 0.00196 to each side.
    let first = cells(&[&plain, &steady])[0].clone().expect("it is there");
    let (low, high) = first.mb_per_s.interval.expect("it has repeats");
    let reach = (high / low).ln() / 2.0;
    assert!((reach / 0.001_963 - 1.0).abs() < 0.005, "{reach}");

    // Repeats that are all over the place: a factor of 1.3 may be chance.
    let wild: Vec<Record> =
        [0.7, 1.9, 1.0, 2.1].iter().zip(40..).map(|(&factor, seed)| times(factor, seed)).collect();
    let mut wild = wild;
    for record in &mut wild {
        record.target.title = "wild".into();
        record.seal();
    }
    let second = cells(&[&plain, &wild])[1].clone().expect("it is there");
    let ratio = second.mb_per_s.ratio.expect("a ratio");
    assert!(ratio > 1.2 && second.mb_per_s.matters == Some(false), "{second:?}");
}

#[test]
fn a_drive_is_one_side_and_set_up_otherwise_another() {
    let mut changed = fixture::m4();
    changed.target.set = vec!["link.gbps=3".into()];
    changed.seal();
    let all = vec![fixture::m4(), fixture::momentus(), fixture::sweep(), changed, fixture::file()];
    let found = sides(vec![all]);
    let labels: Vec<&str> = found.iter().map(|side| side.label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "Crucial m4 256 GB",
            "Seagate Momentus 5400.6",
            "Crucial m4 256 GB (link.gbps=3)",
            "/var/tmp/fourcorners.test"
        ]
    );
    assert_eq!(found[0].records.len(), 2, "both methods");
    let comparison = Comparison::of(&found, &[]);
    assert!(comparison.mixed_clocks);
    assert_eq!(comparison.alone, fixture::sweep().figures.len(), "only the m4 was swept");
    assert!(comparison.figures.iter().all(|row| row.sides.iter().flatten().count() > 1));
    assert_eq!(document(&found, &[]).records.len(), 5);
    assert_eq!(document(&found, &["toms".into()]).records.len(), 1);
    let nobody = Side { label: "nobody".into(), records: Vec::new() };
    assert_eq!(Comparison::of(&[nobody.clone(), found[0].clone()], &[]).sides.len(), 1);
    assert_eq!(Comparison::of(&[nobody], &[]).figures.len(), 0);
    // The same in two documents are two sides.
    let twice = sides(vec![vec![fixture::m4()], vec![fixture::m4()]]);
    let labels: Vec<&str> = twice.iter().map(|side| side.label.as_str()).collect();
    assert_eq!(labels.len(), 2);
    assert_ne!(labels[0], labels[1]);
}

#[test]
fn another_job_of_the_same_name_is_marked_and_no_repeat() {
    let mut short = fixture::m4_of_seed(43);
    short.quick = true;
    short.figures.values_mut().for_each(|figure| figure.job.until = Until::Seconds(5));
    short.seal();
    let marked = cells(&[&[fixture::m4()], &[short.clone()]]);
    let same: Vec<bool> = marked.iter().flatten().map(|cell| cell.same_job).collect();
    assert_eq!(same, [true, false]);
    let one = cells(&[&[fixture::m4(), short], &[fixture::momentus()]]);
    assert_eq!(one[0].as_ref().map(|cell| cell.repeats), Some(1));
    // A pass over each drive is the same job, however large they are.
    let found = sides(vec![vec![fixture::m4()], vec![fixture::momentus()]]);
    let comparison = Comparison::of(&found, &[]);
    let row = comparison.figures.iter().find(|row| row.figure == "sequential_read_128k_qd1");
    let row = row.expect("both have it");
    assert!(row.sides.iter().flatten().all(|cell| cell.same_job));
}
