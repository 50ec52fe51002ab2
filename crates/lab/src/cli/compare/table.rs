//! A comparison for a terminal: under each figure a line for each side.

use crate::compare::{Cell, Comparison, Measure};
use crate::report::{clock_words, figure_words, method_words, micros, plain, rate, shortened};

/// What stands before a ratio that makes no difference.
const NO_MATTER: &str = "≈";
/// Least room for the name of a side.
const LEAST_LABEL: usize = 12;

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
    let chars = |text: &String| text.chars().count();
    let widths: Vec<usize> = (0..headings.len())
        .map(|at| {
            let all = rows.iter().flatten().flatten().map(|row| chars(&row[at]));
            all.max().unwrap_or(0).max(chars(&headings[at]))
        })
        .collect();
    let taken: usize = widths.iter().map(|width| width + 2).sum();
    let room = width.saturating_sub(taken).max(LEAST_LABEL);
    let line = |label: &str, numbers: &[String]| {
        let mut line = format!("{:room$}", shortened(label, room));
        for (number, width) in numbers.iter().zip(&widths) {
            line += &format!("  {number:>width$}");
        }
        format!("{}\n", line.trim_end())
    };
    let mut text = line("", &headings);
    let mut method = "";
    for (row, lines) in comparison.figures.iter().zip(&rows) {
        if row.method != method {
            method = &row.method;
            text += &format!("\n{}\n", plain(&method_words(method)));
        }
        text += &format!("{}\n", plain(&figure_words(&row.figure)));
        for ((side, cell), numbers) in comparison.sides.iter().zip(&row.sides).zip(lines) {
            let (Some(cell), Some(numbers)) = (cell, numbers) else { continue };
            text += &line(&format!("  {}", label(comparison, side, cell)), numbers);
        }
    }
    text + &notes(comparison)
}

fn cells(comparison: &Comparison) -> impl Iterator<Item = &Cell> {
    comparison.figures.iter().flat_map(|row| row.sides.iter().flatten())
}

/// Who it is, and what is to be known about the number.
fn label(comparison: &Comparison, side: &crate::compare::About, cell: &Cell) -> String {
    let mut marks = String::new();
    if !cell.same_job {
        marks.push('*');
    }
    if comparison.mixed_clocks {
        marks += &format!(", {}", clock_words(side.clock));
    }
    if cell.repeats > 1 {
        marks += &format!(", {} times", cell.repeats);
    }
    if !cell.complete {
        marks += ", incomplete";
    }
    plain(&side.label) + &marks
}

fn numbers(cell: &Cell) -> [String; 6] {
    let speed = &cell.mb_per_s;
    [
        rate(speed.value),
        speed.interval.map_or_else(String::new, |interval| spread(speed.value, interval)),
        ratio(speed),
        micros(cell.latency_mean_us.value),
        micros(cell.latency_p999_us.value),
        micros(cell.latency_max_us),
    ]
}

/// How far an interval reaches to its farther side, in percent of the value.
fn spread(value: f64, (_, high): (f64, f64)) -> String {
    let percent = (high / value - 1.0) * 100.0;
    match percent {
        100.0.. => "over 100 %".into(),
        10.0.. => format!("{percent:.0} %"),
        1.0.. => format!("{percent:.1} %"),
        _ => format!("{percent:.2} %"),
    }
}

fn ratio(measure: &Measure) -> String {
    let Some(ratio) = measure.ratio else { return String::new() };
    let text = match ratio {
        100.0.. => format!("{ratio:.0}"),
        10.0.. => format!("{ratio:.1}"),
        0.1.. => format!("{ratio:.2}"),
        _ => format!("{ratio:.4}"),
    };
    match measure.matters {
        Some(false) => format!("{NO_MATTER} {text}"),
        _ => text,
    }
}

fn notes(comparison: &Comparison) -> String {
    let mut notes = Vec::new();
    let first = &comparison.sides[0].label;
    notes.push(format!("Ratios are to {}.", plain(first)));
    if cells(comparison).any(|cell| cell.mb_per_s.matters == Some(false)) {
        notes.push(format!(
            "{NO_MATTER}: no difference that matters, within {:.0} % or within what repeats leave \
             open.",
            comparison.no_matter * 100.0
        ));
    }
    if cells(comparison).any(|cell| cell.mb_per_s.interval.is_some()) {
        notes.push(format!(
            "±: where the mean of the repeats lies, with {:.0} % confidence.",
            comparison.confidence * 100.0
        ));
    }
    if cells(comparison).any(|cell| !cell.same_job) {
        notes.push("*: not the same job (time, span or data): see what was run.".into());
    }
    if comparison.mixed_clocks {
        notes.push("Virtual time is of a model, wall time of hardware.".into());
    }
    if comparison.alone > 0 {
        notes.push(format!("{} figures that only one of them has are left out.", comparison.alone));
    }
    format!("\n{}\n", notes.join("\n"))
}
