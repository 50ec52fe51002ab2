//! The storage bench as bars: how fast each drive replayed a trace, and how long an I/O took.

use fourcorners_record::ReplayFigure;
use maud::html;

use super::chapter::Part;
use super::chart::{BarRow, Bars, Best, Chart, file_name};
use super::entries::{Entries, Entry};
use super::speed::{bars, hatched, longest};
use super::tasks::{are_tasks, replays};
use super::words::{figure_words, micros, rate};

/// A trace, and what each drive did with it from each state.
struct Compared<'e, 'a> {
    trace: &'a str,
    figures: Vec<(&'e Entry<'a>, &'a str, &'a ReplayFigure)>,
}

/// The chapter; nothing without a replay.
pub(super) fn parts(all: &Entries) -> Vec<Part> {
    let mut compared: Vec<Compared> = Vec::new();
    for entry in all.all.iter().filter(|entry| !are_tasks(entry.record)) {
        for (trace, replay) in replays(entry.record) {
            let figures =
                replay.figures.iter().map(|(state, figure)| (entry, state.as_str(), figure));
            match compared.iter_mut().find(|it| it.trace == trace) {
                Some(known) => known.figures.extend(figures),
                None => compared.push(Compared { trace, figures: figures.collect() }),
            }
        }
    }
    let rates = charts(all, &compared, "MB/s", Best::Highest, |figure| figure.mb_per_s, rate);
    let service = |figure: &ReplayFigure| figure.all.service_us;
    let times = charts(all, &compared, "mean service time", Best::Lowest, service, micros);
    if rates.is_empty() {
        return Vec::new();
    }
    vec![
        Part::Heading("Data rate of the replay".into()),
        Part::Text(html! { p {
            "Bytes over the time with at least one I/O in the drive. MB/s, higher is better."
        } }),
        Part::Charts(rates),
        Part::Heading("Service time".into()),
        Part::Text(html! { p { "From submission to completion, on average. Lower is better." } }),
        Part::Charts(times),
    ]
}

fn charts(
    all: &Entries,
    compared: &[Compared],
    unit: &str,
    best: Best,
    value: impl Fn(&ReplayFigure) -> f64,
    say: fn(f64) -> String,
) -> Vec<Chart> {
    let chart = |one: &Compared| {
        let row = |&(entry, state, figure): &(&Entry, &str, &ReplayFigure)| {
            let label = format!("{}, {}", entry.label_with_clock(all), figure_words(state));
            BarRow {
                label: if figure.complete { label } else { format!("Incomplete: {label}") },
                value: value(figure),
                text: say(value(figure)),
                under_test: entry.under_test,
                hatched: hatched(all, entry),
                ..BarRow::default()
            }
        };
        let rows: Vec<BarRow> = one.figures.iter().map(row).collect();
        let longest = longest(&rows);
        let mut chart = bars(one.trace, unit, Bars::sorted(rows, longest, best));
        chart.name = file_name(&format!("{unit} {}", one.trace));
        chart
    };
    compared.iter().map(chart).filter(Chart::has_several_bars).collect()
}
