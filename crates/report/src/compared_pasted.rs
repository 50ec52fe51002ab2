//! A comparison as Markdown or BBCode, to paste: a table a method, a row a figure, a column a side.

use comfy_table::Table;
use fourcorners_results::compare::{Cell, Comparison, CurveCell, Measure};

use super::compared::{comparison_sentences, curve_heading};
use super::paste::{self, Pasted};
use super::table::plain;
use super::words::{NO_VALUE, against, clock_words, figure_words, method_words, micros, rate};

/// Sentences, then of each method MB/s with the ratio to the first side in brackets, 99.9th percentiles of latency and means
/// along curves; then what was concluded.
pub fn comparison_pasted(comparison: &Comparison, form: Pasted) -> String {
    let mut blocks = vec![lines(&comparison_sentences(comparison), form)];
    for method in comparison.methods() {
        blocks.push(lines(&[method_words(method)], form));
        blocks.push(paste::table(&numbers(comparison, method), form));
        blocks.push(lines(&conclusions(comparison, method), form));
    }
    let first = comparison.sides.first().map_or("", |side| side.label.as_str());
    blocks.push(lines(
        &[format!(
            "In brackets: the ratio to {first}; ≈ where the difference does not matter (within {:.0} %, or the scatter \
             of repeats).",
            comparison.no_matter * 100.0
        )],
        form,
    ));
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
            of(|cell| measured(&cell.latency_p999_us, micros(cell.latency_p999_us.value))),
        );
    }
    for curve in comparison.curves.iter().filter(|row| row.method == method) {
        let mean = |cell: &CurveCell| measured(&cell.mean, rate(cell.mean.value));
        let cells = curve.sides.iter().map(|cell| cell.as_ref().map(mean)).collect();
        row(format!("{}, mean", curve_heading(curve)), cells);
    }
    table
}

fn speed(cell: &Cell) -> String {
    let other_job = if cell.same_job { "" } else { " (another job)" };
    let incomplete = if cell.complete { "" } else { " (incomplete)" };
    measured(&cell.mb_per_s, rate(cell.mb_per_s.value)) + other_job + incomplete
}

/// A value, and its ratio to the first side's.
fn measured(measure: &Measure, value: String) -> String {
    let Some(ratio) = measure.ratio else { return value };
    let no_matter = if measure.matters == Some(false) { "≈ " } else { "" };
    format!("{value} ({no_matter}{})", against(ratio))
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
