//! The review as one HTML page that opens from a file and asks nothing of a network.

use fourcorners_record::{ClockName, Document};
use fourcorners_results::compare::{self, Comparison, Side};
use fourcorners_words::reorders_text;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::contents::chapters;
use super::entries::Entries;
use super::lengths;
use super::references::References;
use super::words::{bytes, ended_words, kind_words, method_words};
use super::{STYLE, compared, conclusions, placing, provenance, ranking, tables};

/// What a pointer does with a chart; `fourcorners web` has it, too.
pub(super) const PART_SCRIPT: &str = include_str!("charts.js");
/// What is done with a page beyond its parts.
pub(super) const SCRIPT: &str = include_str!("page.js");

/// Nothing but what is in the file may load or run, whatever a record's text contains.
pub(super) const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; \
    style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'";

/// The page of a review: one HTML document with its charts, tables, style and script inside. A drive that
/// stands alone is shown among those of the catalogue.
///
/// The target of the first record is the drive under test; all others are what it is compared
/// with. Text from records is escaped wherever it stands.
pub fn page(document: &Document) -> String {
    page_among(document, References::built_in())
}

/// The same, with other reference drives, or none.
pub fn page_among(document: &Document, references: &References) -> String {
    // Repeats stand beneath each other there as well, so that only what has several drives is compared.
    let sides = compare::sides(vec![document.records.clone()]);
    page_of(&Entries::among(document, references), &Comparison::of(&sides))
}

/// The page of several sides: that of a document in which each has one record of a method, with their
/// ranking and what their comparison says, which know of repeats.
pub fn comparison_page(document: &Document, sides: &[Side], comparison: &Comparison) -> String {
    page_of(&Entries::of_sides(document, sides), comparison)
}

fn page_of(all: &Entries, comparison: &Comparison) -> String {
    let title = match all.drives.first() {
        Some(first) => first.label.clone(),
        None => "No records".into(),
    };
    in_order(html! {
        (DOCTYPE)
        html lang="en" {
            (head(&format!("{title} – drive review"), POLICY, ""))
            body {
                a.skip href="#content" { "Skip to the results" }
                (masthead(all, &title))
                @if let Some(answer) = answer(all) { (answer) }
                main #content tabindex="-1" {
                    @if !all.all.is_empty() { (contents(all, comparison)) }
                    (content(all, comparison))
                    @if !all.all.is_empty() { (what_was_run(all)) }
                }
                footer {
                    p { (made_by()) }
                }
                script { (PreEscaped(PART_SCRIPT)) (PreEscaped(SCRIPT)) }
            }
        }
    })
}

/// HTML without marks of direction: one in a drive's name would turn round the sentence that it stands in.
pub(super) fn in_order(html: Markup) -> String {
    let html = html.into_string();
    match html.contains(reorders_text) {
        true => html.replace(reorders_text, "\u{fffd}"),
        false => html,
    }
}

/// The first thing on a page: how its drives rank, or where its one drive stands.
fn answer(all: &Entries) -> Option<Markup> {
    ranking::section(all).or_else(|| placing::section(all))
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
            h1 { (heading(all, title)) }
            @if let Some(record) = first {
                p.lede {
                    (bytes(record.target.capacity_bytes)) " " (kind_words(record.target.kind)) ". "
                    @match record.clock {
                        ClockName::Virtual => "Measured on a model of the drive, in its own time.",
                        ClockName::Wall => "Measured on hardware, in wall time.",
                    }
                    @let others = others(all);
                    @if !others.is_empty() { " Compared with " (others.join(", ")) "." }
                    @let authors = authors(all);
                    @if !authors.is_empty() { " Reviewed by " (authors.join(", ")) "." }
                    @if let Some(quick) = lengths::badge(all) { " " span.badge.warn { (quick) } }
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

/// Of several drives how many there are; the first is the one under test.
fn heading(all: &Entries, title: &str) -> String {
    match others(all).len() {
        0 => title.into(),
        more => format!("{title} and {more} more"),
    }
}

/// Who measured what is shown, each once, where the records say so.
fn authors<'a>(all: &'a Entries) -> Vec<&'a str> {
    let mut authors: Vec<&str> = Vec::new();
    for author in all.all.iter().filter_map(|entry| entry.record.author.as_deref()) {
        if !authors.contains(&author) {
            authors.push(author);
        }
    }
    authors
}

/// What the drive under test is compared with.
fn others<'a>(all: &'a Entries) -> Vec<&'a str> {
    all.drives.iter().skip(1).map(|drive| drive.label.as_str()).collect()
}

/// What a page says of some records, as a part of another page that has [`style_sheet`](crate::style_sheet) and
/// [`part_script`](crate::part_script): which results are quick, the answer, the
/// chapters and all figures.
pub fn part(document: &Document) -> String {
    let all = Entries::among(document, References::built_in());
    let sides = compare::sides(vec![document.records.clone()]);
    let comparison = Comparison::of(&sides);
    in_order(html! {
        @if let Some(quick) = lengths::badge(&all) { p { span.badge.warn { (quick) } } }
        @if let Some(answer) = answer(&all) { (answer) }
        (content(&all, &comparison))
    })
}

fn contents(all: &Entries, comparison: &Comparison) -> Markup {
    html! {
        nav aria-label="On this page" {
            ul {
                @if conclusions::section(all).is_some() { li { a href="#verdicts" { "Conclusions" } } }
                @if compared::section(comparison).is_some() { li { a href="#compared" { "Side by side" } } }
                @for chapter in &chapters(all) {
                    li { a href=(format!("#{}", chapter.id)) { (chapter.heading) } }
                }
                li { a href="#figures" { "All figures" } }
                li { a href="#run" { "What was run" } }
            }
        }
    }
}

fn content(all: &Entries, comparison: &Comparison) -> Markup {
    if all.all.is_empty() {
        return html! { p { "This document holds no records." } };
    }
    html! {
        @if let Some(concluded) = conclusions::section(all) { (concluded) }
        @if let Some(compared) = compared::section(comparison) { (compared) }
        @for chapter in &chapters(all) { (chapter.markup()) }
        section #figures aria-labelledby="figures-heading" {
            h2 #figures-heading { "All figures" }
            p {
                "Data rates in 10" sup { "6" } " bytes per second. Latency from submit to completion."
            }
            @for (index, entry) in all.all.iter().enumerate() {
                details open[index == 0 && all.is_of_one_drive()] {
                    summary { span { (entry.label) } " " small { (method_words(&entry.record.method)) } }
                    (tables::figures(all, entry))
                }
            }
        }
    }
}

fn what_was_run(all: &Entries) -> Markup {
    html! {
        section #run aria-labelledby="run-heading" {
            h2 #run-heading { "What was run" }
            @for (index, entry) in all.all.iter().enumerate() {
                (provenance::record(entry, index == 0))
            }
        }
    }
}
