//! Tests that were measured twice: how far one measurement is from the next.
//!
//! Two drives of one model, or one drive a month later, do not give the same numbers. What they differ by is the least that a
//! model can be asked to be off by, and it stands beside the errors.

use std::collections::BTreeMap;

use super::entry::Entry;
use super::{Compared, Part};

/// By the kind of the first of two entries, how far the second is from it.
pub(super) fn measured_twice(entries: &[&Entry]) -> BTreeMap<String, Part> {
    let mut by_kind: BTreeMap<String, Vec<BTreeMap<String, Compared>>> = BTreeMap::new();
    for (index, first) in entries.iter().enumerate() {
        let again = entries[index + 1..].iter().filter(|second| is_the_same_test(first, second));
        let differences = again.map(|second| difference(first, second));
        by_kind.entry(first.kind.clone()).or_default().extend(differences);
    }
    by_kind.retain(|_, pairs| !pairs.is_empty());
    by_kind.into_iter().map(|(kind, pairs)| (kind, Part::of(pairs.iter()))).collect()
}

/// Whether all that is known of two tests but their day is the same.
fn is_the_same_test(first: &Entry, second: &Entry) -> bool {
    (&first.drive, first.capacity_gb, &first.test)
        == (&second.drive, second.capacity_gb, &second.test)
}

/// The numbers that both have, the second as if it were simulated.
fn difference(first: &Entry, second: &Entry) -> BTreeMap<String, Compared> {
    let both = first.numbers().into_iter().filter_map(|(path, published)| {
        let again = second.number(&path)?;
        let error = (published != 0.0).then(|| again / published - 1.0);
        Some((path, Compared { published, simulated: again, error }))
    });
    both.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::shapes::{PathGroup, parse};

    const TWO: &str = r#"{"entries": [
        {"id": "a", "kind": "reads", "drive": "A", "test": {"jobs": 1, "date": "2023-09-24"}, "result": {"iops": 100, "p99": 50}},
        {"id": "b", "kind": "again", "drive": "A", "test": {"jobs": 1, "date": "2023-11-07"}, "result": {"iops": 104, "max_us": 9}}
    ]}"#;

    fn of(text: &str) -> BTreeMap<String, Part> {
        let entries = parse(text).expect("they are distributions");
        measured_twice(&entries.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_test_of_another_day_is_the_same_and_one_of_more_jobs_or_of_another_drive_is_not() {
        let twice = of(TWO);
        let part = &twice["reads"];
        assert_eq!((twice.len(), part.entries), (1, 1));
        assert!((part.groups[&PathGroup::RatesAndMedians] - 0.04).abs() < 1e-9);
        assert_eq!(part.groups.len(), 1, "numbers that both have");
        let other = |from: &str, to: &str| TWO.replacen(from, to, 1);
        assert_eq!(of(&other("\"jobs\": 1", "\"jobs\": 2")).len(), 0);
        assert_eq!(of(&other("\"drive\": \"A\"", "\"drive\": \"B\"")).len(), 0);
    }
}
