//! A comparison for a terminal: method by method, under each figure a line for each side.

use fourcorners_report::{
    clock_words, comparison_notes, figure_words, method_words, micros, plain, rate, ratio, spread,
};
use fourcorners_results::compare::{About, Cell, Comparison};

use super::grid::Grid;
use super::shapes;

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
    let notes = comparison_notes(comparison, &text);
    text + &format!("{}\n", notes.join("\n"))
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
