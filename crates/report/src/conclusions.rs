//! What the records conclude, in words with their numbers: by drive, and of each by method.

use fourcorners_record::{ClockName, Record, disagreements};
use fourcorners_results::compare::is_repeat;
use maud::{Markup, html};

use super::entries::{DriveRecords, Entries};
use super::tables::clock_badge;
use super::words::method_words;

/// The section; nothing where nothing was concluded. What several drives conclude is folded, a drive each.
pub(super) fn section(all: &Entries) -> Option<Markup> {
    let drives: Vec<Concluded> = all.drives.iter().filter_map(Concluded::of).collect();
    (!drives.is_empty()).then(|| {
        html! {
            section #verdicts aria-labelledby="verdicts-heading" {
                h2 #verdicts-heading { "Conclusions" }
                @for found in disagreements(all.all.iter().map(|entry| entry.record)) {
                    p.note { strong { (found.target) ": verdicts differ. " } (found.text) }
                }
                @if let [drive] = &drives[..] {
                    // One for each method; the rest is folded.
                    dl.notes { @for part in drive.parts.iter().filter(|it| has_measured(it.record)) {
                        @if let Some(first) = part.texts.first() {
                            div { dt { (method_words(&part.record.method)) } dd { (first) } }
                        }
                    } }
                }
                @for drive in &drives {
                    @let count: usize = drive.parts.iter().map(|part| part.texts.len()).sum();
                    details {
                        summary {
                            span { @if drives.len() == 1 { "All conclusions" } @else { (drive.label) } } " "
                            @if all.mixed_clocks { (clock_badge(drive.clock)) " " }
                            small { (count) @if count == 1 { " conclusion" } @else { " conclusions" } }
                        }
                        dl.notes { @for part in &drive.parts {
                            div {
                                dt {
                                    (method_words(&part.record.method))
                                    @if part.of > 1 { ", the first of " (part.of) " repeats" }
                                }
                                @for text in &part.texts { dd { (text) } }
                            }
                        } }
                    }
                }
            }
        }
    })
}

/// What a drive's records conclude.
struct Concluded<'a> {
    label: &'a str,
    clock: ClockName,
    parts: Vec<Part<'a>>,
}

/// What one of its records concludes; of repeats the first.
struct Part<'a> {
    record: &'a Record,
    /// How many repeats there are.
    of: usize,
    texts: Vec<String>,
}

impl<'a> Concluded<'a> {
    /// Of a drive that concludes something.
    fn of(drive: &'a DriveRecords) -> Option<Concluded<'a>> {
        let mut parts: Vec<Part> = Vec::new();
        for &record in &drive.records {
            if let Some(first) = parts.iter_mut().find(|part| is_repeat(part.record, record)) {
                first.of += 1;
                continue;
            }
            let texts: Vec<String> =
                record.conclusions().into_iter().map(|concluded| concluded.text).collect();
            if !texts.is_empty() {
                parts.push(Part { record, of: 1, texts });
            }
        }
        let clock = drive.records[0].clock;
        (!parts.is_empty()).then_some(Concluded { label: &drive.label, clock, parts })
    }
}

/// Whether a record is more than the reason why there is nothing in it.
fn has_measured(record: &Record) -> bool {
    record.figure_count() > 0 || !record.curves.is_empty()
}
