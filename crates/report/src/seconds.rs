//! Data rate second by second.

use super::chart::{
    Chart, DataTable, Line, Lines, Marks, Plot, Scale, Up, count_tick, file_name, of_seconds,
    thinned,
};
use super::entries::{Entries, Entry};
use super::words::{NO_VALUE, rate};

/// The seconds of a figure, a line for each drive; nothing without any.
pub(super) fn chart(all: &Entries, name: &str, title: &str, entries: &[&Entry]) -> Option<Chart> {
    let series: Vec<(&Entry, &[f64])> = entries
        .iter()
        .filter_map(|entry| Some((*entry, entry.record.series.get(name)?.mb_per_s.as_slice())))
        .filter(|(_, values)| !values.is_empty())
        .collect();
    let longest = series.iter().map(|(_, values)| values.len()).max()?;
    let drawn = series.iter().map(|(entry, values)| line(all, entry, values));
    let (lines, steps): (Vec<Line>, Vec<usize>) = drawn.unzip();
    let all_values = series.iter().flat_map(|(_, values)| values.iter().copied());
    Some(Chart {
        name: file_name(&format!("seconds {title}")),
        context: String::new(),
        title: title.into(),
        about: of_seconds("MB/s", steps),
        note: String::new(),
        description: format!("Line chart, {title}, MB/s of each second: {}.", said(&series, all)),
        table: DataTable::of_lines("Second", &lines, |x| format!("{x}"), rate),
        plot: Plot::Lines(Box::new(Lines {
            across: Scale::linear("s", (0.0, longest.max(1) as f64), count_tick),
            up: Up::of("MB/s", all_values, false, count_tick),
            lines,
        })),
    })
}

/// The line of a drive, and how many seconds its points stand for.
fn line(all: &Entries, entry: &Entry, values: &[f64]) -> (Line, usize) {
    let points = values.iter().enumerate().filter(|(_, value)| value.is_finite());
    let (points, step) =
        thinned(points.map(|(index, &value)| ((index + 1) as f64, value)).collect());
    let line = Line {
        label: entry.label_with_clock(all),
        style: entry.line,
        points,
        marks: Marks::None,
        says: Vec::new(),
    };
    (line, step)
}

/// The lowest and the highest of each.
fn said(series: &[(&Entry, &[f64])], all: &Entries) -> String {
    let one = |(entry, values): &(&Entry, &[f64])| {
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let range = match finite().reduce(f64::min).zip(finite().reduce(f64::max)) {
            Some((low, high)) => format!("{} to {}", rate(low), rate(high)),
            None => NO_VALUE.into(),
        };
        format!("{} {range}", entry.label_with_clock(all))
    };
    format!("lowest to highest: {}", series.iter().map(one).collect::<Vec<_>>().join("; "))
}
