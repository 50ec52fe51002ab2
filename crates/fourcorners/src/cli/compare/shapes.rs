//! The parts of a comparison that are more than a number: curves, seconds, conclusions.

use fourcorners_report::{
    against, curve_heading, figure_words, iops, percent, plain, rate, ratio, wrapped,
};
use fourcorners_results::compare::{Comparison, CourseCell, CurveCell, Measure};

use super::grid::Grid;
use super::table::marks;

/// A row of one kind: its heading, and of each side the repeats and the numbers.
type Lines = (String, Vec<Option<(usize, Vec<String>)>>);

/// The curves of a method: the mean along each, and how far the ratio wanders.
pub(super) fn curves(comparison: &Comparison, method: &str, width: usize) -> String {
    let rows = comparison.curves.iter().filter(|row| row.method == method).map(|row| {
        let sides =
            row.sides.iter().map(|cell| Some((cell.as_ref()?.repeats, curve(cell.as_ref()?))));
        (curve_heading(row), sides.collect())
    });
    let headings = ["along it", "ratio", "lowest", "highest", "ratio from", "to"];
    lines(comparison, &headings, rows.collect(), width)
}

fn curve(cell: &CurveCell) -> Vec<String> {
    let (low, high) = match cell.against {
        Some((low, high)) => (against(low.ratio), against(high.ratio)),
        None => (String::new(), String::new()),
    };
    vec![rate(cell.mean.value), ratio(&cell.mean), rate(cell.low), rate(cell.high), low, high]
}

/// The seconds of a method: the first tenth, the last, the worst of a hundred.
pub(super) fn courses(comparison: &Comparison, method: &str, width: usize) -> String {
    let of_method = comparison.courses.iter().filter(|row| row.method == method);
    let rows = of_method.filter(|row| !row.is_flat()).map(|row| {
        let heading = format!("{}: IOPS by second", figure_words(&row.figure));
        let sides =
            row.sides.iter().map(|cell| Some((cell.as_ref()?.repeats, course(cell.as_ref()?))));
        (heading, sides.collect())
    });
    let headings = ["begins", "ratio", "ends", "ratio", "1 %", "ratio", "varies"];
    lines(comparison, &headings, rows.collect(), width)
}

fn course(cell: &CourseCell) -> Vec<String> {
    let both = |measure: &Measure| [iops(measure.value.round()), ratio(measure)];
    let measures = [&cell.begin, &cell.end, &cell.p1];
    let numbers = measures.into_iter().flat_map(both);
    numbers.chain([percent(cell.variation)]).collect()
}

fn lines(comparison: &Comparison, headings: &[&str], rows: Vec<Lines>, width: usize) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let headings: Vec<String> = headings.iter().map(|text| (*text).into()).collect();
    let numbers = rows.iter().flat_map(|(_, sides)| sides.iter().flatten().map(|it| &it.1));
    let grid = Grid::new(&headings, numbers, width);
    let mut text = grid.line("", "", &headings);
    for (heading, sides) in &rows {
        wrapped(&plain(heading), width).iter().for_each(|line| text += &format!("{line}\n"));
        for (side, cell) in comparison.sides.iter().zip(sides) {
            let Some((repeats, numbers)) = cell else { continue };
            let said = marks(comparison, side, *repeats);
            text += &grid.line(&format!("  {}", plain(&side.label)), &said, numbers);
        }
    }
    text
}

/// What was concluded by a method, one side beneath the other.
pub(super) fn conclusions(comparison: &Comparison, method: &str, width: usize) -> String {
    let mut text = String::new();
    for row in comparison.conclusions.iter().filter(|row| row.method == method) {
        if !text.is_empty() {
            text.push('\n');
        }
        for (side, cell) in comparison.sides.iter().zip(&row.sides) {
            let Some(cell) = cell else { continue };
            let who = plain(&side.label) + &marks(comparison, side, 1);
            let said = format!("{who}: {}", plain(&cell.text));
            for (index, line) in wrapped(&said, width.saturating_sub(2)).iter().enumerate() {
                text += &format!("{}{line}\n", if index == 0 { "" } else { "  " });
            }
        }
    }
    text
}
