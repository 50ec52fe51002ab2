//! What was measured against something else than time: place, compressibility, fill level.

use maud::{Markup, html};
use plotly::common::Mode;
use plotly::layout::{AxisType, HoverMode, Margin};
use plotly::{Scatter, Trace};

use super::charts::{Chart, axis, base_layout, chart_text, four_digits, line_style};
use super::entries::{Entries, Entry};
use super::tables::legend;
use super::words::{figure_words, method_words, rate};
use crate::record::Curve;

/// Where the highest is this many times the lowest or more, a linear axis would hide the low ones.
const LOG_FROM: f64 = 300.0;
/// Room above the highest point.
const HEADROOM: f64 = 1.06;

/// A curve of one entry.
type CurveOf<'c, 'a> = (&'c Entry<'a>, &'a Curve);

/// The curves of each method that has any, a chart for each name with a line for each drive.
pub(super) fn sections(all: &Entries) -> Option<Markup> {
    let methods: Vec<&str> = all.methods().into_iter().filter(|it| has_curves(all, it)).collect();
    (!methods.is_empty()).then(|| {
        html! {
            @for method in methods {
                @let entries = all.of_method(method);
                @let names = names(&entries);
                h3.method { (method_words(method)) }
                (legend(all, &entries))
                div.grid { @for name in &names {
                    @let curves = of_name(&entries, name);
                    figure {
                        figcaption {
                            h4 { (heading(name)) }
                            @if let Some((_, curve)) = curves.first() {
                                p { (curve.y) " against " (curve.x) }
                            }
                        }
                        (chart(all, name, &curves, highest(&entries, &curves)).markup())
                    }
                } }
            }
        }
    })
}

/// Whether a method's records have curves.
fn has_curves(all: &Entries, method: &str) -> bool {
    all.of_method(method).iter().any(|entry| !entry.record.curves.is_empty())
}

/// A curve's name in words.
fn heading(name: &str) -> String {
    match name.split_once("_by_") {
        Some((figure, by)) => format!("{}, by {}", figure_words(figure), by.replace('_', " ")),
        None => figure_words(name),
    }
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

fn of_name<'c, 'a>(entries: &[&'c Entry<'a>], name: &str) -> Vec<CurveOf<'c, 'a>> {
    entries.iter().filter_map(|entry| Some((*entry, entry.record.curves.get(name)?))).collect()
}

fn finite(curve: &Curve) -> impl Iterator<Item = (f64, f64)> + '_ {
    curve.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite())
}

/// The highest value of all curves of these entries that are in the same units, so that clean,
/// tortured and trimmed are drawn alike.
fn highest(entries: &[&Entry], curves: &[CurveOf]) -> f64 {
    let Some((_, like)) = curves.first() else { return 1.0 };
    entries
        .iter()
        .flat_map(|entry| entry.record.curves.values())
        .filter(|curve| curve.x == like.x && curve.y == like.y)
        .flat_map(finite)
        .fold(0.0, |highest, (_, y)| highest.max(y))
}

fn chart(all: &Entries, name: &str, curves: &[CurveOf], highest: f64) -> Chart {
    let mut traces: Vec<Box<dyn Trace>> = Vec::new();
    let mut said = Vec::new();
    let (mut left, mut right, mut lowest) = (f64::INFINITY, f64::NEG_INFINITY, highest);
    for (entry, curve) in curves {
        let label = entry.label_with_clock(all);
        let (xs, ys): (Vec<f64>, Vec<f64>) =
            finite(curve).map(|(x, y)| (four_digits(x), four_digits(y))).unzip();
        let low = ys.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ys.iter().copied().fold(0.0, f64::max);
        if low.is_finite() {
            said.push(format!("{label} {} to {}", rate(low), rate(high)));
            lowest = lowest.min(low);
        }
        for &x in &xs {
            (left, right) = (left.min(x), right.max(x));
        }
        // Some points are told apart by their dots, hundreds are a line.
        let mode = if xs.len() > 30 { Mode::Lines } else { Mode::LinesMarkers };
        traces.push(
            Scatter::new(xs, ys)
                .mode(mode)
                .name(chart_text(&label))
                .line(line_style(entry.line))
                .hover_template("%{x}: %{y}"),
        );
    }
    let (left, right) = if left < right { (left, right) } else { (0.0, 1.0) };
    let edge = (right - left) * 0.02;
    let up = if lowest > 0.0 && highest > lowest * LOG_FROM {
        axis().type_(AxisType::Log)
    } else {
        let top = if highest > 0.0 { highest * HEADROOM } else { 1.0 };
        axis().range(vec![0.0, top]).n_ticks(6)
    };
    let layout = base_layout(Margin::new().left(52).right(12).top(8).bottom(28))
        .hover_mode(HoverMode::Closest)
        .x_axis(axis().range(vec![left - edge, right + edge]).show_grid(false))
        .y_axis(up);
    let units =
        curves.first().map_or_else(String::new, |(_, it)| format!("{} against {}", it.y, it.x));
    Chart {
        traces,
        layout,
        height_px: 240,
        description: format!("Line chart, {}, {units}: {}.", heading(name), said.join("; ")),
    }
}
