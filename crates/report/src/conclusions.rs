//! What the records conclude, in words with their numbers: by method, so that drives stand under one
//! another.

use fourcorners_record::disagreements;
use maud::{Markup, html};

use super::entries::{Entries, Entry};
use super::tables::clock_badge;
use super::words::method_words;

/// The section; nothing where nothing was concluded.
pub(super) fn section(all: &Entries) -> Option<Markup> {
    let methods: Vec<&str> =
        all.methods().into_iter().filter(|method| !of(all, method).is_empty()).collect();
    (!methods.is_empty()).then(|| {
        html! {
            section #verdicts aria-labelledby="verdicts-heading" {
                h2 #verdicts-heading { "Conclusions" }
                @for found in disagreements(all.all.iter().map(|entry| entry.record)) {
                    p.note { strong { (found.target) ": verdicts differ. " } (found.text) }
                }
                @for method in &methods {
                    @if all.methods().len() > 1 { h3 { (method_words(method)) } }
                    dl.notes { @for entry in of(all, method) {
                        div {
                            dt {
                                @if entry.under_test { strong { (entry.label) } }
                                @else { (entry.label) }
                                @if all.mixed_clocks { " " (clock_badge(entry.record.clock)) }
                            }
                            @for concluded in entry.record.conclusions() { dd { (concluded.text) } }
                        }
                    } }
                }
            }
        }
    })
}

/// The entries of a method that conclude something, the drive under test first.
fn of<'e, 'a>(all: &'e Entries<'a>, method: &str) -> Vec<&'e Entry<'a>> {
    let mut entries = all.of_method(method);
    entries.retain(|entry| !entry.record.conclusions().is_empty());
    entries.sort_by_key(|entry| !entry.under_test);
    entries
}
