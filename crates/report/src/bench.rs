//! The storage bench as bars: how fast each drive replayed a trace, and how long an I/O took.

use fourcorners_record::ReplayFigure;
use maud::html;

use super::chapter::Part;
use super::chart::{BarRow, Bars, Best, Chart, file_name};
use super::entries::{Entries, Entry};
use super::speed::{bars, hatched, longest};
use super::tasks::{are_tasks, replays};
use super::words::{figure_words, micros, rate};

/// A figure of one trace from one state, and the drives that have it.
struct Compared<'e, 'a> {
    trace: &'a str,
    state: &'a str,
    figures: Vec<(&'e Entry<'a>, &'a ReplayFigure)>,
}

/// The chapter; nothing without a replay.
pub(super) fn parts(all: &Entries) -> Vec<Part> {
    let mut compared: Vec<Compared> = Vec::new();
    for entry in all.all.iter().filter(|entry| !are_tasks(entry.record)) {
        for (trace, replay) in replays(entry.record) {
            for (state, figure) in &replay.figures {
                let known = compared.iter_mut().find(|it| it.trace == trace && it.state == state);
                match known {
                    Some(known) => known.figures.push((entry, figure)),
                    None => {
                        compared.push(Compared { trace, state, figures: vec![(entry, figure)] })
                    }
                }
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
    let several = compared.iter().any(|one| one.trace != compared[0].trace);
    let chart = |one: &Compared| {
        let row = |&(entry, figure): &(&Entry, &ReplayFigure)| {
            let label = entry.label_with_clock(all);
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
        let state = figure_words(one.state);
        let title = if several { format!("{}, {state}", one.trace) } else { state };
        let mut chart = bars(&title, unit, Bars::sorted(rows, longest, best));
        chart.name = file_name(&format!("{unit} {title}"));
        chart
    };
    compared.iter().map(chart).filter(Chart::has_several_bars).collect()
}
