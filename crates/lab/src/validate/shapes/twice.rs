//! Tests that were measured twice: how far one measurement is from the next.
//!
//! Two drives of one model, or one drive a month later, do not give the same numbers. What they differ by stands beside the
//! errors: even a model of the mean of many measurements would be off by some seven tenths of it.
//!
//! Tests beside other programs are never the same: what those reached is a condition of theirs.

use std::collections::BTreeMap;

use super::entry::{Entry, EntryTest};
use super::{Compared, Part, numbers};

/// Numbers by their dotted path in an entry's `result`, as they were compared.
type ComparedNumbers = BTreeMap<String, Compared>;

/// By the kind of the first of two entries, how far the second is from it. With each entry come the numbers of it that were compared.
pub(super) fn measured_twice(entries: &[(&Entry, &ComparedNumbers)]) -> BTreeMap<String, Part> {
    let mut by_kind: BTreeMap<String, Vec<ComparedNumbers>> = BTreeMap::new();
    for (index, (first, compared)) in entries.iter().enumerate() {
        let again =
            entries[index + 1..].iter().filter(|(second, _)| is_the_same_test(first, second));
        let differences = again.map(|(second, _)| difference((first, compared), second));
        by_kind.entry(first.kind.clone()).or_default().extend(differences);
    }
    by_kind.retain(|_, pairs| !pairs.is_empty());
    by_kind.into_iter().map(|(kind, pairs)| (kind, Part::of(pairs.iter()))).collect()
}

/// Two runs of one test may differ in length by this share of the longer: a test that writes a given amount is done when it is written.
const MOST_SHORTER: f64 = 0.1;

/// Whether two entries are of one test: of one source, on drives of one model, under equal conditions. The day, the unit and the
/// processor may differ, and how long it took a little.
fn is_the_same_test(first: &Entry, second: &Entry) -> bool {
    let as_long = match (first.test.duration_s, second.test.duration_s) {
        (Some(a), Some(b)) => (a - b).abs() <= MOST_SHORTER * a.max(b),
        (a, b) => a == b,
    };
    let again = EntryTest { duration_s: first.test.duration_s, ..second.test.clone() };
    as_long
        && (first.source_key(), &first.drive, first.capacity_gb, &first.test)
            == (second.source_key(), &second.drive, second.capacity_gb, &again)
}

/// The numbers that the first was held against its drive in and the second has, as if the second were simulated.
fn difference((first, compared): (&Entry, &ComparedNumbers), second: &Entry) -> ComparedNumbers {
    let both = compared.keys().filter_map(|path| {
        let (published, again) = (first.number(path)?, second.number(path)?);
        let error = numbers::error(path, published, again);
        Some((path.clone(), Compared { published, simulated: again, error }))
    });
    both.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::shapes::{PathGroup, parse};

    const TWO: &str = r#"{"entries": [
        {"id": "a", "kind": "reads", "drive": "A", "source": "s:1", "test": {"jobs": 1, "date": "2023-09-24"},
         "result": {"iops": 100, "p99": 50, "slat_mean_us": 2}},
        {"id": "b", "kind": "again", "drive": "A", "source": "s:2", "test": {"jobs": 1, "date": "2023-11-07"},
         "result": {"iops": 104, "max_us": 9, "slat_mean_us": 3}}
    ]}"#;

    /// The result for entries whose rates and 99th percentiles were compared.
    fn of(text: &str) -> BTreeMap<String, Part> {
        let entries = parse(text).expect("they are distributions");
        let number = Compared { published: 1.0, simulated: 1.0, error: Some(0.0) };
        let compared = [("iops".to_string(), number), ("p99".to_string(), number)].into();
        measured_twice(&entries.iter().map(|entry| (entry, &compared)).collect::<Vec<_>>())
    }

    #[test]
    fn a_test_of_another_day_is_the_same_and_one_of_more_jobs_another_drive_or_source_is_not() {
        let twice = of(TWO);
        let part = &twice["reads"];
        assert_eq!((twice.len(), part.entries), (1, 1));
        assert!((part.groups[&PathGroup::RatesAndMedians] - 0.04).abs() < 1e-9);
        assert_eq!(part.median_abs_error.len(), 1, "what both have and was compared");
        for (from, to) in [
            (r#""jobs": 1"#, r#""jobs": 2"#),
            (r#""drive": "A""#, r#""drive": "B""#),
            (r#""s:1""#, r#""t:1""#),
        ] {
            assert_eq!(of(&TWO.replacen(from, to, 1)).len(), 0, "{to}");
        }
        let lasting = |first: &str, second: &str| {
            let timed =
                TWO.replacen(r#""jobs": 1"#, &format!(r#""jobs": 1, "duration_s": {first}"#), 1);
            of(&timed.replace(
                r#"{"jobs": 1, "date""#,
                &format!(r#"{{"jobs": 1, "duration_s": {second}, "date""#),
            ))
            .len()
        };
        assert_eq!((lasting("273", "278"), lasting("273", "313")), (1, 0));
    }
}
