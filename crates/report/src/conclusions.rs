//! What the records conclude, in words with their numbers: by drive, and of each by method.

use fourcorners_record::disagreements;
use maud::{Markup, html};

use super::entries::{Entries, Entry, same_drive};
use super::tables::clock_badge;
use super::words::method_words;

/// The section; nothing where nothing was concluded. What several drives conclude is folded, a drive each.
pub(super) fn section(all: &Entries) -> Option<Markup> {
    let mut drives: Vec<&Entry> = Vec::new();
    for entry in all.all.iter().filter(|entry| !entry.record.conclusions().is_empty()) {
        if drives.iter().all(|drive| !same_drive(drive.record, entry.record)) {
            drives.push(entry);
        }
    }
    (!drives.is_empty()).then(|| {
        html! {
            section #verdicts aria-labelledby="verdicts-heading" {
                h2 #verdicts-heading { "Conclusions" }
                @for found in disagreements(all.all.iter().map(|entry| entry.record)) {
                    p.note { strong { (found.target) ": verdicts differ. " } (found.text) }
                }
                @if let [drive] = drives[..] {
                    // One for each method; the rest is folded.
                    dl.notes { @for entry in of(all, drive).into_iter().filter(|it| has_measured(it)) {
                        @if let Some(first) = entry.record.conclusions().first() {
                            div { dt { (method_words(&entry.record.method)) } dd { (first.text) } }
                        }
                    } }
                }
                @for drive in &drives {
                    @let entries = of(all, drive);
                    @let count: usize = entries.iter().map(|it| it.record.conclusions().len()).sum();
                    details {
                        summary {
                            span { @if drives.len() == 1 { "All conclusions" } @else { (drive.label) } } " "
                            @if all.mixed_clocks { (clock_badge(drive.record.clock)) " " }
                            small { (count) @if count == 1 { " conclusion" } @else { " conclusions" } }
                        }
                        dl.notes { @for entry in entries {
                            div {
                                dt { (method_words(&entry.record.method)) }
                                @for concluded in entry.record.conclusions() { dd { (concluded.text) } }
                            }
                        } }
                    }
                }
            }
        }
    })
}

/// Whether a record is more than the reason why there is nothing in it.
fn has_measured(entry: &Entry) -> bool {
    entry.record.figure_count() > 0 || !entry.record.curves.is_empty()
}

/// The entries of a drive that conclude something.
fn of<'e, 'a>(all: &'e Entries<'a>, drive: &Entry) -> Vec<&'e Entry<'a>> {
    let is_of = |entry: &&Entry| same_drive(drive.record, entry.record);
    let entries = all.all.iter().filter(is_of);
    entries.filter(|entry| !entry.record.conclusions().is_empty()).collect()
}
