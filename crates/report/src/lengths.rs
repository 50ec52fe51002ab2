//! Quick results and results of full length on one page: which are quick, and why they are not ranked together.

use super::entries::{DriveRecords, Entries};
use super::standings::{is_of_several, is_ranked};
use super::words::method_words;

/// Drives that a sentence names.
const MOST_NAMED: usize = 3;

/// What is said at the head of a page that has quick results; where it has others as well, of which drives they are.
pub(super) fn badge(all: &Entries) -> Option<String> {
    let records = || all.drives.iter().flat_map(|drive| &drive.records);
    if !records().any(|record| record.quick) {
        return None;
    }
    if records().all(|record| record.quick) {
        return Some("quick: durations and spans were cut".into());
    }
    let quick: Vec<String> = all.drives.iter().filter_map(|drive| quick_of(drive, all)).collect();
    Some(format!("quick, with durations and spans cut: {}", listed(&quick)))
}

/// A drive that has quick results; of one that has others as well, which methods they are of.
fn quick_of(drive: &DriveRecords, all: &Entries) -> Option<String> {
    let mut methods: Vec<String> = Vec::new();
    for record in drive.records.iter().filter(|record| record.quick) {
        let words = method_words(&record.method);
        if !methods.contains(&words) {
            methods.push(words);
        }
    }
    let are_all = drive.records.iter().all(|record| record.quick);
    match (methods.is_empty(), are_all, all.drives.len()) {
        (true, ..) => None,
        (false, true, _) => Some(drive.label.clone()),
        (false, false, 1) => Some(methods.join(", ")),
        (false, false, _) => Some(format!("{} ({})", drive.label, methods.join(", "))),
    }
}

/// Whether what a drive would be ranked by is quick, and of full length on another drive.
pub(super) fn is_quick_among_full(drive: &DriveRecords, drives: &[DriveRecords]) -> bool {
    let has = |drive: &DriveRecords, method: &str, quick: bool| {
        drive.records.iter().any(|record| record.method == method && record.quick == quick)
    };
    drive.records.iter().filter(|record| record.quick && is_ranked(record)).any(|record| {
        let method = &record.method;
        !has(drive, method, false) && drives.iter().any(|other| has(other, method, false))
    })
}

/// Why drives are not ranked, or not all of them; `None` where nothing is in the way. `are_ranked`: some of them are.
pub(super) fn why_unranked(drives: &[DriveRecords], are_ranked: bool) -> Option<String> {
    let quick = drives.iter().filter(|drive| is_quick_among_full(drive, drives));
    let quick: Vec<String> = quick.map(|drive| drive.label.clone()).collect();
    let begin = if are_ranked { "The" } else { "No ranking: the" };
    match quick.is_empty() {
        false => Some(format!(
            "{begin} results of {} are quick, with durations and spans cut, and are not ranked with results \
             of full length.",
            listed(&quick)
        )),
        true => (!are_ranked && is_of_several(drives)).then(|| {
            format!("{begin} drives were not measured with the same jobs (time, span or data).")
        }),
    }
}

/// "A", "A and B", "A, B and C", "A, B, C and 4 more".
fn listed(names: &[String]) -> String {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    fourcorners_words::listed(&names, MOST_NAMED, MOST_NAMED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_are_named_and_the_others_counted() {
        let names = |number: usize| -> Vec<String> {
            ["A", "B", "C", "D", "E"].into_iter().take(number).map(String::from).collect()
        };
        let said = [1, 2, 3, 4, 5].map(|number| listed(&names(number)));
        assert_eq!(
            said,
            ["A", "A and B", "A, B and C", "A, B, C and 1 more", "A, B, C and 2 more"]
        );
    }
}
