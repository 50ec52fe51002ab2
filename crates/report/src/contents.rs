//! The chapters of a page, in the order they are read.

use maud::{Markup, html};

use super::chapter::{Chapter, Part};
use super::chart::Chart;
use super::entries::{Entries, Entry, figure_names, has_bars, having};
use super::latency::{CurveOf, percentile_curves, times};
use super::speed::{distinct, greys};
use super::standings::Standings;
use super::words::method_words;
use super::{
    access_sizes, bench, consistency, curves, endurance, power, seconds, snia, speed, sweep,
    sync_writes, tables, tasks, trim, used,
};

/// Methods whose curves have a chapter of another kind.
const DRAWN_ELSEWHERE: [&str; 3] = [trim::METHODS[0], endurance::METHOD, snia::METHOD];

/// The chapters there is something for.
pub(super) fn chapters(all: &Entries) -> Vec<Chapter> {
    // A ranking has them, too.
    let corners = match Standings::of(all) {
        Some(_) => Vec::new(),
        None => text(tables::side_by_side(all)),
    };
    let open = |id, heading, parts| Chapter { id, heading, parts, folded: false };
    let folded = |id, heading, parts| Chapter { id, heading, parts, folded: true };
    let mut chapters = vec![
        open("corners", "The four corners", corners),
        open("speed", "Data rate", speed::parts(all)),
        open("used", "Fresh and used", used::parts(all)),
        open("sweep", "Queue depth", sweep::parts(all)),
        folded("sync", "Synchronous writes", sync_writes::parts(all)),
        folded("snia", "Steady state", snia::parts(all)),
        open("consistency", "Consistency", consistency::parts(all)),
        folded("lba-pass", "Across the LBAs", of_curves(all, "lba-pass")),
        folded("trim", "TRIM", trim::parts(all)),
        folded("compressible", "Compressible data", of_curves(all, "compressible")),
        folded("fill-level", "Fill level", of_curves(all, "fill-level")),
        folded("endurance", "Endurance", endurance::parts(all)),
        open("power", "Power", power::parts(all)),
        folded("tasks", "Tasks", text(tasks::sections(all))),
        folded("bench", "Storage bench", storage_bench(all)),
        folded("curves", "Other curves", other_curves(all)),
        folded("latency", "Latency", latency(all)),
        folded("seconds", "Second by second", by_second(all)),
    ];
    chapters.retain(|chapter| !chapter.parts.is_empty());
    chapters
}

fn text(text: Option<Markup>) -> Vec<Part> {
    text.map(Part::Text).into_iter().collect()
}

fn storage_bench(all: &Entries) -> Vec<Part> {
    let tables = text(tasks::bench_sections(all));
    [bench::parts(all), access_sizes::parts(all), tables].into_iter().flatten().collect()
}

/// The methods whose curves have a chapter of their own.
const OF_CURVES: [&str; 3] = ["lba-pass", "compressible", "fill-level"];

fn of_curves(all: &Entries, method: &str) -> Vec<Part> {
    drawn(curves::charts(all, method))
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
    let mut parts = with_words(words, charts);
    let times = of_each_figure(all, |name, words, entries| times(all, entries, name, words));
    if !times.is_empty() {
        let words = html! { p { "How long an I/O took; lower is better." (greys(all)) } };
        parts.splice(0..0, [Part::Text(words), Part::Charts(times)]);
    }
    parts
}

fn by_second(all: &Entries) -> Vec<Part> {
    let charts = per_figure(all, |name, words, entries| seconds::chart(all, name, words, entries));
    with_words("MB/s second by second.", charts)
}

fn with_words(words: &str, charts: Vec<Chart>) -> Vec<Part> {
    if charts.is_empty() {
        return Vec::new();
    }
    vec![Part::Text(html! { p { (words) } }), Part::Charts(charts)]
}

/// One chart for each figure of each method without a chapter of its own.
fn per_figure(all: &Entries, chart: impl Fn(&str, &str, &[&Entry]) -> Option<Chart>) -> Vec<Chart> {
    of_each_figure(all, |name, words, entries| chart(name, words, entries).into_iter().collect())
}

fn of_each_figure(
    all: &Entries,
    charts_of: impl Fn(&str, &str, &[&Entry]) -> Vec<Chart>,
) -> Vec<Chart> {
    // A method is named where figures of several stand together.
    let has_figures =
        |method: &&str| has_bars(method) && !figure_names(&all.of_method(method)).is_empty();
    let methods: Vec<&str> = all.methods().into_iter().filter(has_figures).collect();
    let mut charts = Vec::new();
    for method in &methods {
        let entries = all.of_method(method);
        for (name, words) in distinct(&entries, &figure_names(&entries)) {
            let words = match methods.len() {
                1 => words,
                _ => format!("{}: {words}", method_words(method)),
            };
            let mut made = charts_of(name, &words, &entries);
            let unfinished: Vec<String> = having(&entries, name)
                .into_iter()
                .filter(|(_, figure)| !figure.complete)
                .map(|(entry, _)| entry.label_with_clock(all))
                .collect();
            for chart in made.iter_mut().filter(|_| !unfinished.is_empty()) {
                chart.note = format!("Incomplete: {}", unfinished.join(", "));
            }
            charts.extend(made);
        }
    }
    charts
}
