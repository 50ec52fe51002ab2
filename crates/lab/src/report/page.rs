//! The review as one HTML page that opens from a file and asks nothing of a network.

use std::sync::LazyLock;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use plotly::Plot;

use super::charts::{BarRow, LineOf, bars, seconds};
use super::curves::{CurveOf, percentile_curves};
use super::entries::{Entries, Entry, figure_names, has_bars, having, shortened};
use super::words::{
    FigureName, bytes, clock_words, ended_words, figure_words, kind_words, method_words,
};
use super::{against, consistency, sweep, tasks};
use super::{provenance, tables};
use crate::record::{ClockName, Document, Figure};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("page.js");

/// Nothing but what is in the file may load or run, whatever a record's text contains.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; \
    style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'";

/// The chart library's script element, alone: the crate's sources go on with a formula
/// typesetter of 2 MB that no chart here uses.
static CHART_LIBRARY: LazyLock<String> = LazyLock::new(|| {
    let sources = Plot::offline_js_sources();
    let end = "</script>";
    match sources.find(end) {
        Some(at) => sources[..at + end.len()].to_string(),
        None => sources,
    }
});

/// What fits above a bar on a phone, with the word "Incomplete" before it.
const BAR_LABEL_CHARS: usize = 44;

/// The groups a review's speed charts are in: heading, access, operation (any when empty).
const GROUPS: [(&str, &str, &str); 3] = [
    ("Random write", "random", "write"),
    ("Random read", "random", "read"),
    ("Sequential", "sequential", ""),
];

/// The page of a review: one HTML document with its charts, tables, style and script inside.
///
/// The target of the first record is the drive under test; all others are what it is compared
/// with. Text from records is escaped wherever it stands.
pub fn page(document: &Document) -> String {
    let all = Entries::of(document);
    let title = match all.all.first() {
        Some(first) => first.label.clone(),
        None => "No records".into(),
    };
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " – drive review" }
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#content" { "Skip to the results" }
                (masthead(&all, &title))
                (tables::summary(&all))
                main #content { (content(&all)) }
                footer {
                    p {
                        "Made by fourcorners " (env!("CARGO_PKG_VERSION")) ". Everything shown is in \
                         this file; it loads nothing. Charts are drawn by plotly.js (MIT licence)."
                    }
                }
                (PreEscaped(CHART_LIBRARY.as_str()))
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string()
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

fn content(all: &Entries) -> Markup {
    if all.all.is_empty() {
        return html! { p { "This document holds no records." } };
    }
    let speed = speed(all);
    let latency = per_figure(all, |name, words, entries| {
        let curves: Vec<CurveOf> = having(entries, name)
            .into_iter()
            .map(|(entry, figure)| CurveOf {
                label: entry.label_with_clock(all),
                line: entry.line,
                figure,
            })
            .collect();
        (!curves.is_empty()).then(|| percentile_curves(words, &curves).markup())
    });
    let second = per_figure(all, |name, words, entries| {
        let lines: Vec<LineOf> = entries
            .iter()
            .filter_map(|entry| {
                let values = &entry.record.series.get(name)?.mb_per_s;
                let label = entry.label_with_clock(all);
                (!values.is_empty()).then_some(LineOf { label, line: entry.line, values })
            })
            .collect();
        (!lines.is_empty()).then(|| seconds(words, &lines).markup())
    });
    let compared: Vec<&Entry> =
        all.all.iter().filter(|entry| has_bars(&entry.record.method)).collect();
    let chapters = [
        ("corners", "The four corners", tables::side_by_side(all)),
        ("speed", "Data rate", speed),
        ("sweep", "Queue depth", sweep::sections(all)),
        ("consistency", "Consistency", consistency::sections(all)),
        ("curves", "Place, data, fill", against::sections(all)),
        ("tasks", "Tasks", tasks::sections(all)),
        ("bench", "Storage bench", tasks::bench_sections(all)),
        (
            "latency",
            "Latency",
            latency.map(|charts| {
                html! {
                    p {
                        "The share of I/Os answered within a time, from the shortest to the one that \
                         took longest (the dot). Both axes are logarithmic: each step to the right \
                         is one nine more."
                    }
                    (tables::legend(all, &compared))
                    div.grid { (charts) }
                }
            }),
        ),
        (
            "seconds",
            "Second by second",
            second.map(|charts| html! {
                p { "MB/s of each second; in runs over 2000 s each point is the mean of several." }
                (tables::legend(all, &compared)) div.grid { (charts) } }),
        ),
    ];
    html! {
        nav aria-label="On this page" {
            ul {
                @if tables::verdict_count(all) > 0 { li { a href="#verdicts" { "Conclusions" } } }
                @for (id, heading, chapter) in &chapters {
                    @if chapter.is_some() { li { a href=(format!("#{id}")) { (heading) } } }
                }
                li { a href="#figures" { "All figures" } }
                li { a href="#run" { "What was run" } }
            }
        }
        (tables::verdicts(all))
        @for (id, heading, chapter) in &chapters {
            @if let Some(chapter) = chapter {
                section id=(id) { h2 { (heading) } (chapter) }
            }
        }
        section #figures {
            h2 { "All figures" }
            p {
                "Data rates in 10" sup { "6" } " bytes per second. Latency from submit to completion."
            }
            @for entry in &all.all { (tables::figures(all, entry)) }
        }
        section #run {
            h2 { "What was run" }
            @for (index, entry) in all.all.iter().enumerate() {
                (provenance::record(entry, index == 0))
            }
        }
    }
}

/// The methods whose figures are shown alike.
fn in_common<'a>(all: &Entries<'a>) -> Vec<&'a str> {
    all.methods().into_iter().filter(|method| has_bars(method)).collect()
}

/// The bar charts of all methods without a chapter of their own; nothing when there are no figures.
fn speed(all: &Entries) -> Option<Markup> {
    let methods: Vec<&str> = in_common(all);
    let charts: Vec<Markup> =
        methods.iter().filter_map(|method| method_bars(all, &all.of_method(method))).collect();
    let several = methods.len() > 1;
    (!charts.is_empty()).then(|| {
        html! {
            p {
                "MB/s, higher is better."
                @if all.mixed_clocks { " Bars of results in wall time are hatched." }
            }
            @for (chart, method) in charts.iter().zip(&methods) {
                @if several { h3.method { (method_words(method)) } }
                (chart)
            }
        }
    })
}

/// The bar charts of one method: by figure when drives are compared, by group when one is alone.
fn method_bars(all: &Entries, entries: &[&Entry]) -> Option<Markup> {
    let names = figure_names(entries);
    let group_of = |name: &str| {
        let name = FigureName::parse(name)?;
        GROUPS
            .iter()
            .position(|(_, access, op)| *access == name.access && (op.is_empty() || *op == name.op))
    };
    let mut groups: Vec<(&str, Vec<&str>)> =
        GROUPS.iter().map(|(heading, ..)| (*heading, Vec::new())).collect();
    groups.push(("Other figures", Vec::new()));
    for name in names {
        groups[group_of(name).unwrap_or(GROUPS.len())].1.push(name);
    }
    groups.retain(|(_, names)| !names.is_empty());
    let alone = entries.len() == 1;
    let longest = |rows: &[BarRow]| rows.iter().map(BarRow::length).fold(0.0, f64::max);
    let all_names: Vec<&str> = groups.iter().flat_map(|(_, names)| names.clone()).collect();
    let longest_of_all = longest(&alone_rows(all, entries, &all_names));
    let compared = |name: &str| {
        let rows = compared_rows(all, entries, name);
        let longest = longest(&rows);
        bars(&figure_words(name), rows, longest).markup()
    };
    (!groups.is_empty()).then(|| {
        html! {
            @if alone {
                div.grid { @for (heading, names) in &groups {
                    figure {
                        figcaption { h3 { (heading) } }
                        (bars(heading, alone_rows(all, entries, names), longest_of_all).markup())
                    }
                } }
            } @else {
                @for (heading, names) in &groups {
                    h3.group { (heading) }
                    div.grid { @for name in names {
                        figure {
                            figcaption { h4 { (figure_words(name)) } }
                            (compared(name))
                        }
                    } }
                }
            }
        }
    })
}

/// A bar for each drive that has the figure.
fn compared_rows(all: &Entries, entries: &[&Entry], name: &str) -> Vec<BarRow> {
    let row = |(entry, figure): (&Entry, &Figure)| BarRow {
        label: bar_label(all, entry, figure),
        mb_per_s: figure.mb_per_s,
        under_test: entry.under_test,
        hatched: all.mixed_clocks && entry.record.clock == ClockName::Wall,
    };
    having(entries, name).into_iter().map(row).collect()
}

/// A bar for each figure of a drive that stands alone.
fn alone_rows(all: &Entries, entries: &[&Entry], names: &[&str]) -> Vec<BarRow> {
    let figures = names.iter().flat_map(|name| {
        having(entries, name).into_iter().map(move |(entry, figure)| (name, entry, figure))
    });
    let row = |(name, entry, figure): (&&str, &Entry, &Figure)| BarRow {
        label: marked(figure_words(name), figure.complete),
        mb_per_s: figure.mb_per_s,
        under_test: true,
        hatched: all.mixed_clocks && entry.record.clock == ClockName::Wall,
    };
    figures.map(row).collect()
}

/// A drive's label above its bar. The name gives way, so that a mark is never what is cut off.
fn bar_label(all: &Entries, entry: &Entry, figure: &Figure) -> String {
    let clock = match all.mixed_clocks {
        true => format!(" · {}", clock_words(entry.record.clock)),
        false => String::new(),
    };
    let name = BAR_LABEL_CHARS - clock.chars().count();
    marked(format!("{}{clock}", shortened(&entry.label, name)), figure.complete)
}

fn marked(label: String, complete: bool) -> String {
    if complete { label } else { format!("Incomplete: {label}") }
}

/// One chart for each figure of each method without a chapter of its own; nothing when there are none.
fn per_figure(
    all: &Entries,
    chart: impl Fn(&str, &str, &[&Entry]) -> Option<Markup>,
) -> Option<Markup> {
    let methods: Vec<&str> = in_common(all);
    let mut figures = Vec::new();
    for method in &methods {
        let entries = all.of_method(method);
        for name in figure_names(&entries) {
            let words = match methods.len() {
                1 => figure_words(name),
                _ => format!("{}: {}", method_words(method), figure_words(name)),
            };
            if let Some(chart) = chart(name, &words, &entries) {
                let unfinished: Vec<String> = having(&entries, name)
                    .into_iter()
                    .filter(|(_, figure)| !figure.complete)
                    .map(|(entry, _)| entry.label_with_clock(all))
                    .collect();
                figures.push((words, unfinished.join(", "), chart));
            }
        }
    }
    (!figures.is_empty()).then(|| {
        html! {
            @for (words, unfinished, chart) in &figures {
                figure {
                    figcaption {
                        h3 { (words) }
                        @if !unfinished.is_empty() { p { "Incomplete: " (unfinished) } }
                    }
                    (chart)
                }
            }
        }
    })
}
