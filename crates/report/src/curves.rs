//! Figures measured along something other than time: place, compressibility, fill level, temperature.

use fourcorners_record::Curve;

use super::chart::{
    Chart, DataTable, Line, Lines, Marks, Plot, Scale, Up, count_tick, file_name, seven_digits,
    thinned,
};
use super::entries::{Entries, Entry};
use super::words::{curve_words, rate};

/// Where the highest is this many times the lowest or more, a linear axis would hide the low ones.
const LOG_FROM: f64 = 300.0;
/// From so many points on a line is drawn without dots: some points are told apart by them,
/// hundreds are a line.
const MANY: usize = 30;

/// A curve with the words and the style of its line.
pub(super) struct Drawn<'a> {
    /// Whose it is.
    pub(super) label: String,
    /// Its colour and strokes.
    pub(super) style: usize,
    /// The curve.
    pub(super) curve: &'a Curve,
}

/// A chart for each name of a method's curves, with a line for each drive.
pub(super) fn charts(all: &Entries, method: &str) -> Vec<Chart> {
    let entries = all.of_method(method);
    let drawn = |name: &&str| {
        let curves = of_name(all, &entries, name);
        let like = curves.first().map(|drawn| drawn.curve);
        let values = like.map_or_else(Vec::new, |like| in_the_same_units(&entries, like));
        chart(&curve_words(name), &curves, &values)
    };
    names(&entries).iter().map(drawn).collect()
}

fn names<'a>(entries: &[&Entry<'a>]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for name in entries.iter().flat_map(|entry| entry.record.curves.keys()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

fn of_name<'a>(all: &Entries, entries: &[&Entry<'a>], name: &str) -> Vec<Drawn<'a>> {
    let drawn = |entry: &&Entry<'a>| {
        let curve = entry.record.curves.get(name)?;
        Some(Drawn { label: entry.label_with_clock(all), style: entry.line, curve })
    };
    entries.iter().filter_map(drawn).collect()
}

fn finite(curve: &Curve) -> impl Iterator<Item = (f64, f64)> + '_ {
    curve.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite())
}

/// The values of all curves of these entries that are in the same units, so that what can be compared
/// is drawn alike.
fn in_the_same_units(entries: &[&Entry], like: &Curve) -> Vec<f64> {
    let curves = entries.iter().flat_map(|entry| entry.record.curves.values());
    let alike = curves.filter(|curve| curve.x == like.x && curve.y == like.y);
    alike.flat_map(finite).map(|(_, y)| y).collect()
}

/// A chart of these curves on an axis for all of `values`.
pub(super) fn chart(title: &str, curves: &[Drawn], values: &[f64]) -> Chart {
    let mut lines = Vec::new();
    let mut said = Vec::new();
    let (mut left, mut right) = (f64::INFINITY, f64::NEG_INFINITY);
    for drawn in curves {
        let points: Vec<(f64, f64)> =
            finite(drawn.curve).map(|(x, y)| (seven_digits(x), seven_digits(y))).collect();
        let ys = || points.iter().map(|&(_, y)| y);
        if let Some((low, high)) = ys().reduce(f64::min).zip(ys().reduce(f64::max)) {
            said.push(format!("{} {} to {}", drawn.label, rate(low), rate(high)));
        }
        for &(x, _) in &points {
            (left, right) = (left.min(x), right.max(x));
        }
        lines.push(Line {
            label: drawn.label.clone(),
            style: drawn.style,
            marks: if points.len() > MANY { Marks::None } else { Marks::Each },
            points: thinned(points).0,
            says: Vec::new(),
        });
    }
    let (left, right) = if left < right { (left, right) } else { (0.0, 1.0) };
    let edge = (right - left) * 0.02;
    let (x, y) = curves.first().map_or(("", ""), |drawn| (&drawn.curve.x, &drawn.curve.y));
    let positive = || values.iter().copied().filter(|value| *value > 0.0);
    let spread = positive().reduce(f64::max).zip(positive().reduce(f64::min));
    let wide = spread.is_some_and(|(high, low)| high > low * LOG_FROM);
    Chart {
        name: file_name(title),
        context: String::new(),
        title: title.into(),
        about: if x.is_empty() { String::new() } else { format!("{y} against {x}") },
        note: String::new(),
        description: format!("Line chart, {title}, {y} against {x}: {}.", said.join("; ")),
        table: DataTable::of_lines(x, &lines, |x| format!("{x}"), rate),
        plot: Plot::Lines(Box::new(Lines {
            across: Scale::linear(x, (left - edge, right + edge), count_tick),
            up: Up::of(y, values.iter().copied(), wide, count_tick),
            lines,
        })),
    }
}
