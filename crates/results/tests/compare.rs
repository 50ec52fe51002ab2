//! Comparisons: ratios, what repeats say of them, and what does not matter.

mod fixture;

use fourcorners_record::{Curve, Note, Record, Until};
use fourcorners_results::compare::{
    Cell, Comparison, Side, distinct, document, only, shared, sides,
};

const FIGURE: &str = "random_write_4k_qd3_incompressible";

/// A figure of the sides, of these records.
fn cells(groups: &[&[Record]]) -> Vec<Option<Cell>> {
    let sides = sides(groups.iter().map(|group| group.to_vec()).collect());
    let comparison = Comparison::of(&sides);
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
fn a_side_that_has_nothing_of_the_others_is_not_what_ratios_are_to() {
    let mut alone = fixture::m4();
    alone.method = "toms".into();
    alone.target.set = vec!["link.gbps=3".into()];
    alone.target.loaded_state = Some("0123456789abcdef".into());
    alone.seal();
    let groups = vec![vec![alone, fixture::m4()], vec![times(1.2, 42)]];
    let comparison = Comparison::of(&sides(groups.clone()));
    let labels: Vec<&str> = comparison.sides.iter().map(|side| side.label.as_str()).collect();
    assert_eq!(labels.len(), 3);
    assert!(labels[2].ends_with("(link.gbps=3, state 0123456)"), "{labels:?}");
    let row = comparison.figures.iter().find(|row| row.figure == FIGURE).expect("two have it");
    let ratio = row.sides[1].as_ref().and_then(|cell| cell.mb_per_s.ratio).expect("a ratio");
    assert!((ratio - 1.2).abs() < 1e-9 && row.sides[2].is_none(), "{ratio}");
    // With figures of its own to stand against, it is the first as it was named.
    let [with, against] = &groups[..] else { panic!("two groups") };
    let other = vec![against[0].clone(), Record { method: "toms".into(), ..against[0].clone() }];
    let comparison = Comparison::of(&sides(vec![with.clone(), other]));
    assert!(comparison.sides[0].label.ends_with("(link.gbps=3, state 0123456)"));
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
    let comparison = Comparison::of(&found);
    assert!(comparison.mixed_clocks);
    assert_eq!(comparison.alone, fixture::sweep().figures.len(), "only the m4 was swept");
    assert!(comparison.figures.iter().all(|row| row.sides.iter().flatten().count() > 1));
    assert_eq!(document(&found).records.len(), 5);
    assert_eq!(document(&only(found.clone(), &["toms".into()])).records.len(), 1);
    let nobody = Side { label: "nobody".into(), records: Vec::new() };
    assert_eq!(Comparison::of(&[nobody.clone(), found[0].clone()]).sides.len(), 1);
    assert_eq!(Comparison::of(&[nobody]).figures.len(), 0);
    // The same in two documents are two sides.
    let twice = sides(vec![vec![fixture::m4()], vec![fixture::m4()]]);
    let labels: Vec<&str> = twice.iter().map(|side| side.label.as_str()).collect();
    assert_eq!(labels.len(), 2);
    assert_ne!(labels[0], labels[1]);
}

#[test]
fn sides_that_share_a_result_are_told_apart_by_what_they_do_not_share() {
    let repeats: Vec<Record> = [42, 43, 44].map(fixture::m4_of_seed).to_vec();
    let mut toms = fixture::m4_of_seed(42);
    toms.method = "toms".into();
    toms.seal();
    let one = vec![fixture::m4_of_seed(42), toms.clone()];
    let labels = |groups: &[&[Record]]| -> Vec<String> {
        let (kept, _) = distinct(sides(groups.iter().map(|group| group.to_vec()).collect()));
        kept.into_iter().map(|side| side.label).collect()
    };
    let title = &fixture::m4().target.title;
    let of = |record: &Record| format!("{title} ({})", &record.id[..7]);
    assert_eq!(labels(&[&repeats, &one]), [of(&repeats[1]), of(&toms)]);
    // All that the first has is in the second, too.
    assert_eq!(labels(&[&one[..1], &one]), [format!("{title} (1 result)"), of(&toms)]);
    // Without anything in common, each is called by its first.
    assert_eq!(labels(&[&repeats[1..], &one]), [of(&repeats[1]), of(&one[0])]);
    // Each of them is in another.
    let pairs = [[0, 1], [0, 2], [1, 2]].map(|pair| pair.map(|at| repeats[at].clone()).to_vec());
    let all = labels(&[&pairs[0], &pairs[1], &pairs[2]]);
    let same = format!("{title} (2 results)");
    assert_eq!(all, [same.clone(), format!("{same}, again 1"), format!("{same}, again 2")]);

    let found = sides(vec![repeats.clone(), one]);
    assert_eq!(shared(&found), [([0, 1], vec![repeats[0].id.as_str()])]);
    assert_eq!(shared(&sides(vec![repeats[1..].to_vec(), vec![toms]])), []);
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
    let comparison = Comparison::of(&found);
    let row = comparison.figures.iter().find(|row| row.figure == "sequential_read_128k_qd1");
    let row = row.expect("both have it");
    assert!(row.sides.iter().flatten().all(|cell| cell.same_job));
}

#[test]
fn a_run_of_another_job_is_no_repeat_of_curves_seconds_and_conclusions() {
    let pass = |seed: u64, share: f64| {
        let mut record = fixture::m4_of_seed(seed);
        let whole = record.target.capacity_bytes as f64;
        let points = (0..=10).map(|at| f64::from(at) * share);
        let points = points.map(|x| (x, 400.0 - 20.0 * x)).collect();
        record.curves.insert("pass".into(), Curve { x: "GB".into(), y: "MB/s".into(), points });
        let text = format!("It falls to {share}.");
        record.notes = vec![Note { about: "fall".into(), text, value: Some(share) }];
        record.figures[FIGURE].job.span_bytes = (whole * share) as u64;
        record.seal();
        record
    };
    let other = {
        let mut record = pass(42, 1.0);
        record.target.title = "Another".into();
        record.seal();
        record
    };
    let repeats = |records: Vec<Record>| {
        let found = Comparison::of(&sides(vec![records, vec![other.clone()]]));
        let curve = found.curves[0].sides[0].as_ref().expect("it has the curve").repeats;
        let course = found.courses[0].sides[0].as_ref().expect("it has the seconds").repeats;
        let said = found.conclusions[0].sides[0].as_ref().expect("it concludes").repeats;
        (curve, course, said, found.curves[0].over)
    };
    assert_eq!(repeats(vec![pass(42, 1.0), pass(43, 0.5)]), (1, 1, 1, (0.0, 10.0)));
    // Control: one of the same job, which differs in its seed, is a repeat.
    assert_eq!(repeats(vec![pass(42, 1.0), pass(43, 1.0)]), (2, 2, 2, (0.0, 10.0)));
}

#[test]
fn curves_seconds_and_conclusions_are_compared() {
    let all = fixture::everything().records;
    let of = |name: &str| -> Vec<Record> {
        all.iter().filter(|it| it.target.name == name).cloned().collect()
    };
    let found = sides(vec![of("crucial-m4-256gb"), of("momentus-5400-6-500gb")]);
    let comparison = Comparison::of(&found);
    let curve = |name: &str| {
        let row = comparison.curves.iter().find(|row| row.curve == name);
        row.unwrap_or_else(|| panic!("{name} is not compared"))
    };
    // Both fall in a line from 400 (120) to 240 (72) MB/s over their own capacity; the disk is twice as
    // large, so over the first 256 GB it falls by half of that.
    let pass = curve("sequential_read_128k_qd1_pass");
    let (from, to) = pass.over;
    assert!((2.0..3.0).contains(&from) && (256.0..256.1).contains(&to), "{from} to {to}");
    let [Some(first), Some(second)] = &pass.sides[..] else { panic!("both have it") };
    assert!((first.mean.value / 320.0 - 1.0).abs() < 0.01, "{}", first.mean.value);
    assert!((second.mean.value / 107.7 - 1.0).abs() < 0.01, "{}", second.mean.value);
    assert!(first.low < 250.0 && first.high > 390.0 && first.against.is_none());
    let (low, high) = second.against.expect("the first has it");
    // 0.3 where both begin, 96 over 240 at the end; there is 1 % of noise in both.
    assert!(low.ratio > 0.27 && low.ratio < 0.31 && low.at < 60.0, "{low:?}");
    assert!(high.ratio > 0.39 && high.ratio < 0.43 && high.at > 230.0, "{high:?}");
    assert_eq!(second.mean.matters, Some(true));
    // Unlike units are not compared, nor what one side has.
    let mut other = of("momentus-5400-6-500gb");
    for record in &mut other {
        record.curves.retain(|name, curve| {
            curve.y = "miles".into();
            name != "sequential_write_128k_qd1_clean"
        });
    }
    let none = sides(vec![of("crucial-m4-256gb"), other]);
    assert_eq!(Comparison::of(&none).curves, []);

    let course = comparison.courses.iter().find(|row| {
        (&*row.method, &*row.figure)
            == ("consistency", "random_write_4k_qd32_incompressible_default")
    });
    let course = course.expect("both have their seconds");
    let [Some(first), Some(second)] = &course.sides[..] else { panic!("both have it") };
    assert_eq!((first.seconds, first.repeats), (2000, 1));
    // Half of the first tenth is at 50,000, the other half at 5 % of it, a fifth of deviation in both.
    assert!((first.begin.value / 26_250.0 - 1.0).abs() < 0.05, "{}", first.begin.value);
    assert!((first.end.value / 2_500.0 - 1.0).abs() < 0.05, "{}", first.end.value);
    assert!((second.end.ratio.expect("a ratio") - 0.3).abs() < 0.02, "{second:?}");
    assert!(!course.is_flat() && first.variation > 1.0);

    let conclusion = comparison.conclusions.iter().find(|row| row.about == "used-state");
    let conclusion = conclusion.expect("both have it");
    let texts: Vec<&str> = conclusion.sides.iter().flatten().map(|it| it.text.as_str()).collect();
    assert!(texts[0].contains("29.9 %") && texts[1].contains("98.8 %"), "{texts:?}");
    // Only one of them concludes something on compression.
    assert!(comparison.conclusions.iter().all(|row| row.about != "compression"));
}

#[test]
fn what_is_irregular_is_compared_for_the_same_figure_only() {
    let other = "random_write_4k_qd32_incompressible";
    let drifting = |figure: &str, factor: f64| {
        let mut record = times(factor, 42);
        let text = format!(
            "{figure} falls by 20.0 % of its mean during the measurement: not a steady state."
        );
        record.notes.push(Note { about: "drift".into(), text, value: Some(-0.2) });
        record.seal();
        record
    };
    let rows = |first: &str, second: &str| {
        let groups = vec![vec![drifting(first, 1.0)], vec![drifting(second, 2.0)]];
        let compared = Comparison::of(&sides(groups)).conclusions;
        compared.iter().filter(|row| row.about == "drift").count()
    };
    assert_eq!((rows(FIGURE, FIGURE), rows(FIGURE, other)), (1, 0));
}

#[test]
fn repeats_of_curves_and_conclusions_say_how_sure_they_are() {
    let side = |speed: f64| -> Vec<Record> {
        let of_seed = |seed: u64| {
            let mut record = fixture::m4_of_seed(seed);
            let points = (0..=10).map(|x| {
                (f64::from(x), speed * (100.0 - f64::from(x)) * (1.0 + seed as f64 / 1000.0))
            });
            let curve = Curve { x: "x".into(), y: "y".into(), points: points.collect() };
            record.curves.insert("falls".into(), curve);
            let text = format!("It is {speed}.");
            let value = Some(speed * (1.0 + seed as f64 / 1000.0));
            record.notes = vec![Note { about: "speed".into(), text, value }];
            record.target.title = format!("{speed}");
            record.seal();
            record
        };
        (0..5).map(of_seed).collect()
    };
    let comparison = Comparison::of(&sides(vec![side(1.0), side(0.5)]));
    let [Some(first), Some(second)] = &comparison.curves[0].sides[..] else { panic!("both") };
    assert_eq!((first.repeats, second.repeats), (5, 5));
    let (low, high) = second.mean.ratio_interval.expect("both have repeats");
    assert!(low > 0.49 && low < 0.5 && high > 0.5 && high < 0.51, "{low} to {high}");
    assert_eq!((first.low, first.high), (90.0, 100.0 * 1.004));
    let [Some(first), Some(second)] = &comparison.conclusions[0].sides[..] else { panic!("both") };
    assert_eq!((first.repeats, first.text.as_str()), (5, "It is 1."));
    let value = second.value.expect("all of them have one");
    assert!((value.ratio.expect("a ratio") - 0.5).abs() < 1e-9 && value.matters == Some(true));
    assert!(value.interval.is_some());
}
