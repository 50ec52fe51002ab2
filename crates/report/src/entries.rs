//! The records of a document, each with its display name and its colour.

use std::collections::HashMap;

use fourcorners_record::{Document, Figure, Record, TargetInfo};
use fourcorners_results::compare::{Side, is_repeat};

use super::references::{Reference, References, Role};
use super::words::clock_words;

/// Names are cut here; "what was run" has the whole of them.
const LABEL_CHARS: usize = 64;

/// What is told of a quick record beside one of full length.
const QUICK: &str = "quick";

/// Methods whose figures do not each get a bar, a curve of latencies and their seconds: a method has
/// a chapter with charts of its own, or tables and conclusions say it all: a page with three charts
/// for each of a hundred figures would say nothing. What is not known is shown in full.
const WITHOUT_BARS: [&str; 14] = [
    "toms",
    "consistency",
    "lba-pass",
    "trim",
    "used-state",
    "compressible",
    "fill-level",
    "trim-under-load",
    "trim-reaches",
    "endurance",
    "power",
    "sync-writes",
    "snia",
    "quick",
];

/// Whether each figure of the method is drawn, and counts among the four corners.
pub(super) fn has_bars(method: &str) -> bool {
    !WITHOUT_BARS.contains(&method)
}

/// A record and how it is shown.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    /// The record.
    pub(super) record: &'a Record,
    /// A name that no other record of its method has; it tells a quick record from those of full length.
    pub(super) label: String,
    /// Whether it is of the drive under test.
    pub(super) under_test: bool,
    /// Which colour and line style its lines have; 0 is the first record's.
    pub(super) line: usize,
}

impl Entry<'_> {
    /// The label with its clock where the document has both.
    pub(super) fn label_with_clock(&self, all: &Entries) -> String {
        match all.mixed_clocks {
            true => format!("{} · {}", self.label, clock_words(self.record.clock)),
            false => self.label.clone(),
        }
    }
}

/// All records of one drive, repeats among them.
#[derive(Debug)]
pub(super) struct DriveRecords<'a> {
    /// A name that no other drive has.
    pub(super) label: String,
    /// At least one.
    pub(super) records: Vec<&'a Record>,
}

/// The mean of a drive's repeats.
#[derive(Clone, Copy)]
pub(super) struct Mean {
    pub(super) value: f64,
    pub(super) of: usize,
}

impl Mean {
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Option<Mean> {
        let (sum, of) = values.fold((0.0, 0), |(sum, of), value| (sum + value, of + 1));
        (of > 0).then(|| Mean { value: sum / of as f64, of })
    }
}

/// All records of a document, in its order.
#[derive(Debug)]
pub(super) struct Entries<'a> {
    /// One for each record.
    pub(super) all: Vec<Entry<'a>>,
    /// One for each drive, the drive under test first.
    pub(super) drives: Vec<DriveRecords<'a>>,
    /// Whether virtual and wall time stand together.
    pub(super) mixed_clocks: bool,
    /// Where there is one drive alone, those that its charts show beside it.
    pub(super) beside: Vec<(&'a Reference, Role)>,
    /// What those are chosen from.
    pub(super) references: Option<&'a References>,
}

impl<'a> Entries<'a> {
    /// The entries of a document. The target of its first record is the drive under test.
    pub(super) fn of(document: &'a Document) -> Entries<'a> {
        let records = &document.records;
        let labels = labels(&records.iter().collect::<Vec<_>>());
        let mut lines: Vec<&String> = Vec::new();
        let mut entries = Vec::with_capacity(records.len());
        for (record, label) in records.iter().zip(&labels) {
            let line = lines.iter().position(|known| *known == label).unwrap_or_else(|| {
                lines.push(label);
                lines.len() - 1
            });
            let is_full = |other: &Record| other.method == record.method && !other.quick;
            let mark = format!(" ({QUICK})");
            let is_marked = record.quick && records.iter().any(is_full) && !label.ends_with(&mark);
            entries.push(Entry {
                record,
                label: if is_marked { format!("{label}{mark}") } else { label.clone() },
                under_test: same_drive(record, &records[0]),
                line,
            });
        }
        let mixed_clocks = records.iter().any(|record| record.clock != records[0].clock);
        let drives = drives(records);
        Entries { all: entries, drives, mixed_clocks, beside: Vec::new(), references: None }
    }

    /// The entries of a comparison: each side is a drive, and of its repeats the document has the first.
    pub(super) fn of_sides(document: &'a Document, sides: &'a [Side]) -> Entries<'a> {
        Entries { drives: drives_of(sides), ..Entries::of(document) }
    }

    /// The same, where a drive that is alone stands among reference drives.
    pub(super) fn among(document: &'a Document, references: &'a References) -> Entries<'a> {
        let mut all = Entries::of(document);
        if all.is_of_one_drive() {
            let beside = document.records.iter().map(|record| references.beside(record));
            all.beside = beside.into_iter().find(|beside| !beside.is_empty()).unwrap_or_default();
            all.references = (!all.beside.is_empty()).then_some(references);
        }
        all
    }

    /// The mean data rate of a figure in the complete repeats of a record, MB/s.
    pub(super) fn mean_of_repeats(&self, of: &Record, figure: &str) -> Option<f64> {
        let drive = self.drives.iter().find(|drive| same_drive(drive.records[0], of))?;
        let repeats = drive.records.iter().filter(|it| is_repeat(of, it));
        let complete =
            repeats.filter_map(|it| it.figures.get(figure).filter(|found| found.complete));
        Mean::of(complete.map(|found| found.mb_per_s)).map(|mean| mean.value)
    }

    /// Whether there are repeats that have no entry.
    pub(super) fn leaves_repeats_out(&self) -> bool {
        self.drives.iter().map(|drive| drive.records.len()).sum::<usize>() > self.all.len()
    }

    /// Whether all records are of one drive.
    pub(super) fn is_of_one_drive(&self) -> bool {
        self.all.iter().all(|entry| entry.under_test)
    }

    /// The methods in the order they first appear.
    pub(super) fn methods(&self) -> Vec<&'a str> {
        unique(self.all.iter().map(|entry| entry.record.method.as_str()))
    }

    /// The entries of one method.
    pub(super) fn of_method(&self, method: &str) -> Vec<&Entry<'a>> {
        self.all.iter().filter(|entry| entry.record.method == method).collect()
    }
}

/// The names of all figures of these entries, in the order they first appear.
pub(super) fn figure_names<'a>(entries: &[&Entry<'a>]) -> Vec<&'a str> {
    unique(entries.iter().flat_map(|entry| entry.record.figures.keys().map(String::as_str)))
}

/// The entries that have a figure, with it.
pub(super) fn having<'e, 'a>(
    entries: &[&'e Entry<'a>],
    name: &str,
) -> Vec<(&'e Entry<'a>, &'a Figure)> {
    let figure = |entry: &&'e Entry<'a>| Some((*entry, entry.record.figures.get(name)?));
    entries.iter().filter_map(figure).collect()
}

fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

/// The drives that sides are of.
pub(super) fn drives_of(sides: &[Side]) -> Vec<DriveRecords<'_>> {
    let drives = sides.iter().filter(|side| !side.records.is_empty());
    let drives = drives.map(|side| DriveRecords {
        label: side.label.clone(),
        records: side.records.iter().collect(),
    });
    drives.collect()
}

/// The drives that records are of, in the order they first come.
fn drives(records: &[Record]) -> Vec<DriveRecords<'_>> {
    let mut drives: Vec<Vec<&Record>> = Vec::new();
    for record in records {
        match drives.iter_mut().find(|drive| same_drive(drive[0], record)) {
            Some(drive) => drive.push(record),
            None => drives.push(vec![record]),
        }
    }
    let firsts: Vec<&Record> = drives.iter().map(|records| records[0]).collect();
    let labels = labels(&firsts);
    let drives = labels.into_iter().zip(drives);
    drives.map(|(label, records)| DriveRecords { label, records }).collect()
}

/// Whether two records are of one drive set up the same way, on one clock.
pub(super) fn same_drive(left: &Record, right: &Record) -> bool {
    let identity = |target: &TargetInfo| {
        let TargetInfo {
            name,
            title,
            kind,
            capacity_bytes,
            serial,
            profile_hash,
            set,
            host_controller,
            loaded_state,
            ..
        } = target.clone();
        // What was changed since it was measured has that in its title.
        let called = (name, title, kind, serial);
        (called, capacity_bytes, profile_hash, set, host_controller, loaded_state)
    };
    left.clock == right.clock && identity(&left.target) == identity(&right.target)
}

/// A label for each record: its title and what it was changed by, and as much more as it takes to tell it
/// from the other records of its method.
fn labels(records: &[&Record]) -> Vec<String> {
    let title = |record: &Record| record.target.title_as_set_up();
    let set_up = |record: &Record| record.target.changes().join(", ");
    type More<'m> = &'m dyn Fn(&Record) -> String;
    let steps: [More; 5] = [
        &set_up,
        &|record| record.target.name.clone(),
        &|record| (if record.quick { QUICK } else { "full length" }).into(),
        &|record| format!("seed {}", record.seed),
        &|record| record.id.clone(),
    ];
    let mut labels: Vec<String> = records.iter().map(|record| title(record)).collect();
    for more in steps {
        for index in clashing(records, &labels) {
            let more = more(records[index]);
            if !more.is_empty() && !labels[index].ends_with(&format!("({more})")) {
                let target = &records[index].target;
                labels[index] = match more == set_up(records[index]) {
                    true => format!("{} ({more})", target.title_or_name()),
                    false => format!("{} ({more})", title(records[index])),
                };
            }
        }
    }
    for (place, index) in clashing(records, &labels).into_iter().enumerate() {
        labels[index] = format!("{} (run {})", title(records[index]), place + 1);
    }
    labels.iter().map(|label| shortened(label, LABEL_CHARS)).collect()
}

/// Records whose label another record of their method has too.
fn clashing(records: &[&Record], labels: &[String]) -> Vec<usize> {
    let mut count: HashMap<(&str, &str), usize> = HashMap::new();
    let key = |index: usize| (records[index].method.as_str(), labels[index].as_str());
    for index in 0..records.len() {
        *count.entry(key(index)).or_default() += 1;
    }
    (0..records.len()).filter(|&index| count[&key(index)] > 1).collect()
}

/// `text` in at most `limit` characters: its middle is left out when it is longer, since paths
/// differ at their ends.
pub fn shortened(text: &str, limit: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= limit {
        return text.to_string();
    }
    let tail = limit.saturating_sub(1) / 2;
    let head = limit.saturating_sub(1 + tail);
    let head: String = chars[..head].iter().collect();
    let tail: String = chars[chars.len() - tail..].iter().collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_both_ends() {
        assert_eq!(shortened("abcdefghij", 10), "abcdefghij");
        assert_eq!(shortened("abcdefghijk", 10), "abcde…hijk");
        assert_eq!(shortened("äöü", 1), "…");
    }
}
