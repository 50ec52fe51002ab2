//! TRIM: what a pass across the LBAs does before a torture, after it, and after a TRIM of all; and what
//! a read waits while a TRIM is under way.

use maud::{Markup, html};

use super::chapter::Part;
use super::chart::{BarRow, Chart};
use super::curves::{self, Drawn};
use super::entries::{Entries, Entry, having};
use super::latency::{CurveOf, percentile_curves};
use super::speed::{compared, longest};
use super::words::{iops, micros, rate};

/// The methods that this chapter is of.
pub(super) const METHODS: [&str; 3] = ["trim", "trim-under-load", "trim-reaches"];

/// The passes, as their figures' names end.
const PASSES: [(&str, &str); 3] = [
    ("sequential_write_128k_qd1_clean", "Clean"),
    ("sequential_write_128k_qd1_tortured", "Tortured"),
    ("sequential_write_128k_qd1_trimmed", "After a TRIM of all"),
];

/// What runs beside a TRIM: how its figures' names begin, and what it is.
const BESIDE: [(&str, &str); 3] = [
    ("random_read_4k_qd1", "4 KiB reads at QD 1"),
    ("random_write_4k_qd1", "4 KiB writes at QD 1"),
    ("sequential_mixed50_128k_qd1", "a copy, 128 KiB reads and writes in turn"),
];

/// When it was measured, as the names end.
const WHEN: [(&str, &str); 3] = [
    ("_before_trim", "before the TRIM"),
    ("_during_trim", "in the seconds that begin with it"),
    ("_after_trim", "after it"),
];

/// The chapter.
pub(super) fn parts(all: &Entries) -> Vec<Part> {
    let mut parts = Vec::new();
    let passes = all.of_method(METHODS[0]);
    let speeds = bars(all, &passes);
    if !speeds.is_empty() {
        parts.push(Part::Heading("Sequential writes before and after".into()));
        parts.push(Part::Text(html! { p {
            "128 KiB writes across all LBAs: of a drive that was filled in order, after it was written \
             at random, and after a TRIM of all of it. MB/s, higher is better."
        } }));
        parts.push(Part::Charts(speeds));
    }
    let across = across(all, &passes);
    if !across.is_empty() {
        parts.push(Part::Charts(across));
    }
    let loaded = all.of_method(METHODS[1]);
    let waits: Vec<Chart> = loaded
        .iter()
        .flat_map(|entry| BESIDE.iter().filter_map(|beside| latency(all, entry, beside)))
        .collect();
    if !waits.is_empty() {
        parts.push(Part::Heading("Work while a TRIM is under way".into()));
        parts.push(Part::Charts(waits));
        parts.push(Part::Text(waiting(all, &loaded)));
    }
    parts
}

/// How fast each pass was, all on one scale.
fn bars(all: &Entries, entries: &[&Entry]) -> Vec<Chart> {
    let rates = PASSES.iter().flat_map(|(name, _)| having(entries, name));
    let rows: Vec<BarRow> =
        rates.map(|(_, figure)| BarRow { value: figure.mb_per_s, ..BarRow::default() }).collect();
    let longest = longest(&rows);
    let had = PASSES.iter().filter(|(name, _)| !having(entries, name).is_empty());
    had.map(|(name, title)| {
        let mut chart = compared(all, entries, name, title, Some(longest));
        chart.name = format!("trim-{}", chart.name);
        chart.context = "128 KiB sequential write across the LBAs".into();
        chart
    })
    .filter(Chart::has_several_bars)
    .collect()
}

/// The passes of each drive over one another.
fn across(all: &Entries, entries: &[&Entry]) -> Vec<Chart> {
    let charts = entries.iter().filter_map(|entry| {
        let curve = |(style, (name, title)): (usize, &(&str, &str))| {
            let curve = entry.record.curves.get(*name)?;
            Some(Drawn { label: (*title).into(), style, curve })
        };
        let curves: Vec<Drawn> = PASSES.iter().enumerate().filter_map(curve).collect();
        let points = curves.iter().flat_map(|drawn| &drawn.curve.points);
        let values: Vec<f64> = points.map(|&(_, y)| y).collect();
        let title = format!("{}, across its LBAs", entry.label_with_clock(all));
        (!curves.is_empty()).then(|| {
            let mut chart = curves::chart(&title, &curves, &values);
            chart.name = format!("trim-{}", chart.name);
            chart
        })
    });
    charts.collect()
}

/// The latencies of what runs on one drive.
fn latency(all: &Entries, entry: &Entry, (prefix, what): &(&str, &str)) -> Option<Chart> {
    let curve = |(style, (when, title)): (usize, &(&str, &str))| {
        let figure = entry.record.figures.get(&format!("{prefix}{when}"))?;
        Some(CurveOf { label: (*title).into(), style, figure })
    };
    let curves: Vec<CurveOf> = WHEN.iter().enumerate().filter_map(curve).collect();
    let title = format!("{}, {what}", entry.label_with_clock(all));
    (!curves.is_empty()).then(|| {
        let mut chart = percentile_curves(&title, &curves);
        chart.name = format!("trim-{}", chart.name);
        chart
    })
}

fn waiting(all: &Entries, entries: &[&Entry]) -> Markup {
    html! {
        div.wide tabindex="0" role="region" aria-label="Work beside a TRIM" {
            table {
                caption { span { "Work beside a TRIM" } }
                thead { tr {
                    th scope="col" { "Drive" }
                    th.text scope="col" { "What" }
                    th.text scope="col" { "When" }
                    @for heading in ["MB/s", "IOPS", "mean", "99.9 %", "max"] {
                        th scope="col" { (heading) }
                    }
                } }
                tbody { @for entry in entries { @for (prefix, what) in BESIDE { @for (suffix, when) in WHEN {
                    @if let Some(figure) = entry.record.figures.get(&format!("{prefix}{suffix}")) {
                        tr {
                            th scope="row" { (entry.label_with_clock(all)) }
                            td.text { (what) }
                            td.text { (when) }
                            td { (rate(figure.mb_per_s)) }
                            td { (iops(figure.iops)) }
                            td { (micros(figure.latency_us.mean)) }
                            td { (micros(figure.latency_us.p999)) }
                            td.main { (micros(figure.latency_us.max)) }
                        }
                    }
                } } } }
            }
        }
    }
}
