//! Power: what a drive draws at work, and how much work a watt does.

use fourcorners_record::Figure;
use maud::html;

use super::chapter::Part;
use super::chart::{BarRow, Bars, Best, Chart};
use super::entries::{Entries, Entry, figure_names, having};
use super::speed::{bars, hatched, longest};
use super::words::{figure_words, ratio, watts};

/// The method that measures it.
pub(super) const METHOD: &str = "power";

/// The chapter; nothing where no drive's power is known.
pub(super) fn parts(all: &Entries) -> Vec<Part> {
    let entries = all.of_method(METHOD);
    let draws = charts(all, &entries, "W", Best::Lowest, |figure| figure.mean_power_w, watts);
    let per_watt = |figure: &Figure| Some(figure.mb_per_s / figure.mean_power_w?);
    let works = charts(all, &entries, "MB/s a watt", Best::Highest, per_watt, ratio);
    if draws.is_empty() {
        return Vec::new();
    }
    vec![
        Part::Heading("Mean power at work".into()),
        Part::Text(html! { p { "Watts, lower is better." } }),
        Part::Charts(draws),
        Part::Heading("Work a watt does".into()),
        Part::Text(html! { p { "MB/s a watt, higher is better." } }),
        Part::Charts(works),
    ]
}

/// A chart for each figure, a bar for each drive whose power is known.
fn charts(
    all: &Entries,
    entries: &[&Entry],
    unit: &str,
    best: Best,
    value: impl Fn(&Figure) -> Option<f64>,
    say: fn(f64) -> String,
) -> Vec<Chart> {
    let rows = |name: &str| -> Vec<BarRow> {
        let row = |(entry, figure): (&Entry, &Figure)| {
            let value = value(figure)?;
            Some(BarRow {
                label: entry.label_with_clock(all),
                value,
                text: say(value),
                under_test: entry.under_test,
                hatched: hatched(all, entry),
                ..BarRow::default()
            })
        };
        having(entries, name).into_iter().filter_map(row).collect()
    };
    if let [entry] = entries {
        return alone(all, entry, (unit, best), value, say);
    }
    let named: Vec<(&str, Vec<BarRow>)> =
        figure_names(entries).into_iter().map(|name| (name, rows(name))).collect();
    let longest = named.iter().map(|(_, rows)| longest(rows)).fold(0.0, f64::max);
    let charts = named.into_iter().filter(|(_, rows)| !rows.is_empty()).map(|(name, rows)| {
        let mut chart = bars(&figure_words(name), unit, Bars::sorted(rows, longest, best));
        chart.name = format!("{}-{}", super::chart::file_name(unit), chart.name);
        chart
    });
    charts.filter(Chart::has_several_bars).collect()
}

/// One chart of a drive alone, a bar for each figure.
fn alone(
    all: &Entries,
    entry: &Entry,
    (unit, best): (&str, Best),
    value: impl Fn(&Figure) -> Option<f64>,
    say: fn(f64) -> String,
) -> Vec<Chart> {
    let row = |(name, figure): (&String, &Figure)| {
        let value = value(figure)?;
        Some(BarRow {
            label: figure_words(name),
            value,
            text: say(value),
            under_test: true,
            hatched: hatched(all, entry),
            ..BarRow::default()
        })
    };
    let rows: Vec<BarRow> = entry.record.figures.iter().filter_map(row).collect();
    let longest = longest(&rows);
    let chart = bars(&format!("All figures, {unit}"), unit, Bars::sorted(rows, longest, best));
    Some(chart).filter(Chart::has_several_bars).into_iter().collect()
}
