//! A comparison for a terminal: method by method, under each figure a line for each side.

use fourcorners_report::{
    against, clock_words, figure_words, method_words, micros, plain, rate, spread,
};
use fourcorners_results::compare::{About, Cell, Comparison, Measure};

use super::grid::Grid;
use super::shapes;

/// What stands before a ratio that makes no difference.
const NO_MATTER: &str = "≈";

/// The comparison, no wider than `width` unless names would have no room at all.
pub(super) fn table(comparison: &Comparison, width: usize) -> String {
    let repeated = cells(comparison).any(|cell| cell.mb_per_s.interval.is_some());
    let headings = ["MB/s", "±", "ratio", "mean", "99.9 %", "max"];
    let columns = |row: [String; 6]| -> Vec<String> {
        row.into_iter().enumerate().filter(|(at, _)| repeated || *at != 1).map(|it| it.1).collect()
    };
    let headings = columns(headings.map(String::from));
    let rows: Vec<Vec<Option<Vec<String>>>> = comparison
        .figures
        .iter()
        .map(|row| row.sides.iter().map(|cell| Some(columns(numbers(cell.as_ref()?)))).collect())
        .collect();
    let grid = Grid::new(&headings, rows.iter().flatten().flatten(), width);
    let mut text = String::new();
    for method in comparison.methods() {
        text += &format!("{}\n", plain(&method_words(method)));
        let of_method = comparison.figures.iter().zip(&rows).filter(|it| it.0.method == method);
        for (index, (row, lines)) in of_method.enumerate() {
            if index == 0 {
                text += &grid.line("", "", &headings);
            }
            text += &format!("{}\n", plain(&figure_words(&row.figure)));
            for ((side, cell), numbers) in comparison.sides.iter().zip(&row.sides).zip(lines) {
                let (Some(cell), Some(numbers)) = (cell, numbers) else { continue };
                let mut said = if cell.same_job { String::new() } else { "*".into() };
                said += &marks(comparison, side, cell.repeats);
                if !cell.complete {
                    said += ", incomplete";
                }
                text += &grid.line(&format!("  {}", plain(&side.label)), &said, numbers);
            }
        }
        for part in [
            shapes::curves(comparison, method, width),
            shapes::courses(comparison, method, width),
            shapes::conclusions(comparison, method, width),
        ] {
            if !part.is_empty() {
                text += &format!("\n{part}");
            }
        }
        text.push('\n');
    }
    text + &notes(comparison)
}

fn cells(comparison: &Comparison) -> impl Iterator<Item = &Cell> {
    comparison.figures.iter().flat_map(|row| row.sides.iter().flatten())
}

/// What is to be known about the numbers of a side.
pub(super) fn marks(comparison: &Comparison, side: &About, repeats: usize) -> String {
    let mut marks = String::new();
    if comparison.mixed_clocks {
        marks += &format!(", {}", clock_words(side.clock));
    }
    if repeats > 1 {
        marks += &format!(", {repeats} times");
    }
    marks
}

fn numbers(cell: &Cell) -> [String; 6] {
    let speed = &cell.mb_per_s;
    [
        rate(speed.value),
        speed.interval.map_or_else(String::new, |(_, high)| spread(high / speed.value)),
        ratio(speed),
        micros(cell.latency_mean_us.value),
        micros(cell.latency_p999_us.value),
        micros(cell.latency_max_us),
    ]
}

/// A ratio, and whether it matters.
pub(super) fn ratio(measure: &Measure) -> String {
    let Some(ratio) = measure.ratio else { return String::new() };
    let text = against(ratio);
    match measure.matters {
        Some(false) => format!("{NO_MATTER} {text}"),
        _ => text,
    }
}

fn notes(comparison: &Comparison) -> String {
    let mut notes = Vec::new();
    let first = &comparison.sides[0].label;
    notes.push(format!("Ratios are to {}.", plain(first)));
    let figures = cells(comparison).map(|cell| &cell.mb_per_s);
    let curves = comparison.curves.iter().flat_map(|row| row.sides.iter().flatten());
    if figures.chain(curves.map(|cell| &cell.mean)).any(|it| it.matters == Some(false)) {
        notes.push(format!(
            "{NO_MATTER}: the difference does not matter (within {:.0} %, or the scatter of repeats).",
            comparison.no_matter * 100.0
        ));
    }
    if cells(comparison).any(|cell| cell.mb_per_s.interval.is_some()) {
        notes.push(format!(
            "±: confidence interval of the mean of the repeats, {:.0} %.",
            comparison.confidence * 100.0
        ));
    }
    if cells(comparison).any(|cell| !cell.same_job) {
        notes.push("*: not the same job (time, span or data).".into());
    }
    if comparison.mixed_clocks {
        notes.push("Virtual time comes from a model, wall time from hardware.".into());
    }
    if comparison.alone > 0 {
        notes.push(format!("{} figures that only one side has are left out.", comparison.alone));
    }
    format!("{}\n", notes.join("\n"))
}
