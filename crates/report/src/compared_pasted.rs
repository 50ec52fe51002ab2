//! A comparison as Markdown or BBCode, to paste: a table a method, a row a figure, a column a side.

use comfy_table::Table;
use fourcorners_results::compare::{Cell, Comparison, CurveCell, Measure};

use super::compared::{comparison_notes, comparison_sentences, curve_heading, ratio};
use super::paste::{self, Pasted};
use super::table::plain;
use super::words::{NO_VALUE, clock_words, figure_words, method_words, micros, rate, spread};

/// Sentences, then of each method MB/s with the ratio to the first side in brackets, 99.9th percentiles of latency and means
/// along curves; then what was concluded.
pub fn comparison_pasted(comparison: &Comparison, form: Pasted) -> String {
    let mut blocks = vec![lines(&comparison_sentences(comparison), form)];
    for method in comparison.methods() {
        blocks.push(lines(&[method_words(method)], form));
        blocks.push(paste::table(&numbers(comparison, method), form));
        blocks.push(lines(&conclusions(comparison, method), form));
    }
    let notes = comparison_notes(comparison, &blocks.concat());
    blocks.push(lines(&notes, form));
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n")
}

/// A line each.
fn lines(said: &[String], form: Pasted) -> String {
    let mut table = Table::new();
    said.iter().for_each(|line| {
        table.add_row([plain(line)]);
    });
    paste::table(&table, form)
}

fn numbers(comparison: &Comparison, method: &str) -> Table {
    let mut table = Table::new();
    let labels = comparison.sides.iter().map(|side| match comparison.mixed_clocks {
        true => plain(&format!("{}, {}", side.label, clock_words(side.clock))),
        false => plain(&side.label),
    });
    table.set_header([String::new()].into_iter().chain(labels));
    let mut row = |what: String, cells: Vec<Option<String>>| {
        let cells = cells.into_iter().map(|cell| cell.unwrap_or_else(|| NO_VALUE.into()));
        table.add_row([plain(&what)].into_iter().chain(cells));
    };
    for figure in comparison.figures.iter().filter(|row| row.method == method) {
        let words = figure_words(&figure.figure);
        let of = |value: fn(&Cell) -> String| {
            figure.sides.iter().map(|cell| cell.as_ref().map(value)).collect::<Vec<_>>()
        };
        row(format!("{words}, MB/s"), of(speed));
        row(
            format!("{words}, latency at 99.9 %"),
            of(|cell| measured(&cell.latency_p999_us, micros)),
        );
    }
    for curve in comparison.curves.iter().filter(|row| row.method == method) {
        let mean = |cell: &CurveCell| measured(&cell.mean, rate);
        let cells = curve.sides.iter().map(|cell| cell.as_ref().map(mean)).collect();
        row(format!("{}, mean", curve_heading(curve)), cells);
    }
    table
}

fn speed(cell: &Cell) -> String {
    let other_job = if cell.same_job { "" } else { "*" };
    let incomplete = if cell.complete { "" } else { " (incomplete)" };
    measured(&cell.mb_per_s, rate) + other_job + incomplete
}

/// A value, its interval if it was measured more than once, and its ratio to the first side's.
fn measured(measure: &Measure, say: fn(f64) -> String) -> String {
    let interval = measure
        .interval
        .map_or_else(String::new, |(_, high)| format!(" ± {}", spread(high / measure.value)));
    let ratio = match ratio(measure) {
        ratio if ratio.is_empty() => ratio,
        ratio => format!(" ({ratio})"),
    };
    say(measure.value) + &interval + &ratio
}

fn conclusions(comparison: &Comparison, method: &str) -> Vec<String> {
    let mut said = Vec::new();
    for row in comparison.conclusions.iter().filter(|row| row.method == method) {
        for (side, cell) in comparison.sides.iter().zip(&row.sides) {
            let Some(cell) = cell else { continue };
            said.push(format!("{}: {}", side.label, cell.text));
        }
    }
    said
}
