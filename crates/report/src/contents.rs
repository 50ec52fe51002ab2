//! The chapters of a page, in the order they are read.

use maud::{Markup, html};

use super::chapter::{Chapter, Part};
use super::chart::Chart;
use super::entries::{Entries, Entry, figure_names, has_bars, having};
use super::latency::{CurveOf, percentile_curves};
use super::words::{figure_words, method_words};
use super::{
    bench, consistency, curves, endurance, power, seconds, snia, speed, sweep, sync_writes, tables,
    tasks, trim, used,
};

/// Methods whose curves have a chapter of another kind.
const DRAWN_ELSEWHERE: [&str; 3] = [trim::METHODS[0], endurance::METHOD, snia::METHOD];

/// The chapters there is something for.
pub(super) fn chapters(all: &Entries) -> Vec<Chapter> {
    let corners = text(tables::side_by_side(all));
    let mut chapters = vec![
        Chapter { id: "corners", heading: "The four corners", parts: corners },
        Chapter { id: "speed", heading: "Data rate", parts: speed::parts(all) },
        Chapter { id: "used", heading: "Fresh and used", parts: used::parts(all) },
        Chapter { id: "sweep", heading: "Queue depth", parts: sweep::parts(all) },
        Chapter { id: "sync", heading: "Synchronous writes", parts: sync_writes::parts(all) },
        Chapter { id: "snia", heading: "Steady state", parts: snia::parts(all) },
        Chapter { id: "consistency", heading: "Consistency", parts: consistency::parts(all) },
        of_curves(all, "lba-pass", "Across the LBAs", "lba-pass"),
        Chapter { id: "trim", heading: "TRIM", parts: trim::parts(all) },
        of_curves(all, "compressible", "Compressible data", "compressible"),
        of_curves(all, "fill-level", "Fill level", "fill-level"),
        Chapter { id: "endurance", heading: "Endurance", parts: endurance::parts(all) },
        Chapter { id: "power", heading: "Power", parts: power::parts(all) },
        Chapter { id: "tasks", heading: "Tasks", parts: text(tasks::sections(all)) },
        Chapter { id: "bench", heading: "Storage bench", parts: storage_bench(all) },
        Chapter { id: "curves", heading: "Other curves", parts: other_curves(all) },
        Chapter { id: "latency", heading: "Latency", parts: latency(all) },
        Chapter { id: "seconds", heading: "Second by second", parts: by_second(all) },
    ];
    chapters.retain(|chapter| !chapter.parts.is_empty());
    chapters
}

fn text(text: Option<Markup>) -> Vec<Part> {
    text.map(Part::Text).into_iter().collect()
}

fn storage_bench(all: &Entries) -> Vec<Part> {
    [bench::parts(all), text(tasks::bench_sections(all))].into_iter().flatten().collect()
}

/// The methods whose curves have a chapter of their own.
const OF_CURVES: [&str; 3] = ["lba-pass", "compressible", "fill-level"];

fn of_curves(all: &Entries, id: &'static str, heading: &'static str, method: &str) -> Chapter {
    Chapter { id, heading, parts: drawn(curves::charts(all, method)) }
}

/// Curves of methods that this version knows no chapter for.
fn other_curves(all: &Entries) -> Vec<Part> {
    let known = |method: &&str| OF_CURVES.contains(method) || DRAWN_ELSEWHERE.contains(method);
    let methods = all.methods().into_iter().filter(|method| !known(method));
    methods
        .flat_map(|method| {
            let parts = drawn(curves::charts(all, method));
            let heading = (!parts.is_empty()).then(|| Part::Heading(method_words(method)));
            heading.into_iter().chain(parts)
        })
        .collect()
}

fn drawn(charts: Vec<Chart>) -> Vec<Part> {
    if charts.is_empty() { Vec::new() } else { vec![Part::Charts(charts)] }
}

fn latency(all: &Entries) -> Vec<Part> {
    let charts = per_figure(all, |name, words, entries| {
        let curves: Vec<CurveOf> = having(entries, name)
            .into_iter()
            .map(|(entry, figure)| CurveOf {
                label: entry.label_with_clock(all),
                style: entry.line,
                figure,
            })
            .collect();
        (!curves.is_empty()).then(|| percentile_curves(words, &curves))
    });
    let words = "The share of I/Os answered within a time, from the shortest to the one that took \
                 longest (the dot). Both axes are logarithmic: each step to the right is one nine more.";
    with_words(words, charts)
}

fn by_second(all: &Entries) -> Vec<Part> {
    let charts = per_figure(all, |name, words, entries| seconds::chart(all, name, words, entries));
    with_words("MB/s of each second.", charts)
}

fn with_words(words: &str, charts: Vec<Chart>) -> Vec<Part> {
    if charts.is_empty() {
        return Vec::new();
    }
    vec![Part::Text(html! { p { (words) } }), Part::Charts(charts)]
}

/// One chart for each figure of each method without a chapter of its own.
fn per_figure(all: &Entries, chart: impl Fn(&str, &str, &[&Entry]) -> Option<Chart>) -> Vec<Chart> {
    let methods: Vec<&str> = all.methods().into_iter().filter(|it| has_bars(it)).collect();
    let mut charts = Vec::new();
    for method in &methods {
        let entries = all.of_method(method);
        for name in figure_names(&entries) {
            let words = match methods.len() {
                1 => figure_words(name),
                _ => format!("{}: {}", method_words(method), figure_words(name)),
            };
            let Some(mut chart) = chart(name, &words, &entries) else { continue };
            let unfinished: Vec<String> = having(&entries, name)
                .into_iter()
                .filter(|(_, figure)| !figure.complete)
                .map(|(entry, _)| entry.label_with_clock(all))
                .collect();
            if !unfinished.is_empty() {
                chart.note = format!("Incomplete: {}", unfinished.join(", "));
            }
            charts.push(chart);
        }
    }
    charts
}
