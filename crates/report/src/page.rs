//! The review as one HTML page that opens from a file and asks nothing of a network.

use fourcorners_record::{ClockName, Document};
use fourcorners_results::compare::{self, Comparison};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::chart::library;
use super::contents::chapters;
use super::entries::Entries;
use super::words::{bytes, ended_words, kind_words, method_words};
use super::{STYLE, compared, conclusions, provenance, ranking, tables};

const SCRIPT: &str = include_str!("page.js");

/// Nothing but what is in the file may load or run, whatever a record's text contains.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; \
    style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'";

/// The page of a review: one HTML document with its charts, tables, style and script inside.
///
/// The target of the first record is the drive under test; all others are what it is compared
/// with. Text from records is escaped wherever it stands.
pub fn page(document: &Document) -> String {
    // Repeats stand beneath each other there as well, so that only what has several drives is compared.
    let sides = compare::sides(vec![document.records.clone()]);
    comparison_page(document, &Comparison::of(&sides, &[]))
}

/// The page of several sides: that of a document in which each has one record of a method, with what
/// their comparison says, which may know of repeats.
pub fn comparison_page(document: &Document, comparison: &Comparison) -> String {
    let all = Entries::of(document);
    let title = match all.all.first() {
        Some(first) => first.label.clone(),
        None => "No records".into(),
    };
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(&format!("{title} – drive review"), POLICY, ""))
            body {
                a.skip href="#content" { "Skip to the results" }
                (masthead(&all, &title))
                @if let Some(ranking) = ranking::section(&all) { (ranking) }
                (tables::summary(&all))
                main #content tabindex="-1" { (content(&all, comparison)) }
                footer {
                    p {
                        (made_by()) " Charts are drawn by plotly.js (MIT licence)."
                    }
                }
                script { (PreEscaped(SCRIPT)) }
                (PreEscaped(library()))
            }
        }
    }
    .into_string()
}

/// The head of a page: nothing but what the policy names may load. `more` is style beyond that of all pages.
pub(super) fn head(title: &str, policy: &str, more: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(policy);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) }
            link rel="icon" href="data:,";
            style { (PreEscaped(STYLE)) (PreEscaped(more)) }
        }
    }
}

/// What made a page, and that it is whole.
pub(super) fn made_by() -> &'static str {
    concat!(
        "Made by fourcorners ",
        env!("CARGO_PKG_VERSION"),
        ". Everything shown is in this file; it loads nothing."
    )
}

fn masthead(all: &Entries, title: &str) -> Markup {
    let first = all.all.first().map(|entry| entry.record);
    html! {
        header.masthead {
            p.kicker { "fourcorners" span { " drive review" } }
            h1 { (title) }
            @if let Some(record) = first {
                p.lede {
                    (bytes(record.target.capacity_bytes)) " " (kind_words(record.target.kind)) ". "
                    @match record.clock {
                        ClockName::Virtual => "Measured on a model of the drive, in its own time.",
                        ClockName::Wall => "Measured on hardware, in wall time.",
                    }
                    @let others = others(all);
                    @if !others.is_empty() { " Compared with " (others.join(", ")) "." }
                }
                p.badges {
                    (tables::clock_badge(record.clock))
                    @for method in all.methods() { span.badge { (method_words(method)) } }
                    @if all.all.iter().any(|entry| entry.record.quick) {
                        span.badge.warn { "quick: durations and spans were cut" }
                    }
                }
                @if all.all.iter().any(|entry| ended_words(&entry.record.ended).is_some()) {
                    ul.notice {
                        @for entry in &all.all {
                            @if let Some(how) = ended_words(&entry.record.ended) {
                                li {
                                    strong { (entry.label) ", " (method_words(&entry.record.method)) }
                                    " " (how) ". What follows is what was measured until then."
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What the drive under test is compared with.
fn others<'a>(all: &'a Entries) -> Vec<&'a str> {
    let mut others: Vec<&str> = Vec::new();
    for entry in all.all.iter().filter(|entry| !entry.under_test) {
        if !others.contains(&entry.label.as_str()) {
            others.push(&entry.label);
        }
    }
    others
}

fn content(all: &Entries, comparison: &Comparison) -> Markup {
    if all.all.is_empty() {
        return html! { p { "This document holds no records." } };
    }
    let chapters = chapters(all);
    let concluded = conclusions::section(all);
    let compared = compared::section(comparison);
    html! {
        nav aria-label="On this page" {
            ul {
                @if concluded.is_some() { li { a href="#verdicts" { "Conclusions" } } }
                @if compared.is_some() { li { a href="#compared" { "Side by side" } } }
                @for chapter in &chapters {
                    li { a href=(format!("#{}", chapter.id)) { (chapter.heading) } }
                }
                li { a href="#figures" { "All figures" } }
                li { a href="#run" { "What was run" } }
            }
        }
        @if let Some(concluded) = concluded { (concluded) }
        @if let Some(compared) = compared { (compared) }
        @for chapter in &chapters { (chapter.markup()) }
        section #figures aria-labelledby="figures-heading" {
            h2 #figures-heading { "All figures" }
            p {
                "Data rates in 10" sup { "6" } " bytes per second. Latency from submit to completion."
            }
            @for entry in &all.all { (tables::figures(all, entry)) }
        }
        section #run aria-labelledby="run-heading" {
            h2 #run-heading { "What was run" }
            @for (index, entry) in all.all.iter().enumerate() {
                (provenance::record(entry, index == 0))
            }
        }
    }
}
