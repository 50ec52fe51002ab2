//! A chart as the chart library wants it, and the ones that show data rates: bars and seconds.
//!
//! Colours are written as `var(--name)`: the page's script puts in what the style sheet says, so
//! that charts follow light, dark and paper like everything else.

use maud::{Markup, PreEscaped, html};
use plotly::common::{
    Anchor, DashType, Font, HoverInfo, Label, Line, Marker, Mode, Orientation, Pattern,
    PatternFillMode, PatternShape, TextAnchor, TextPosition,
};
use plotly::configuration::{DisplayModeBar, DoubleClick};
use plotly::layout::{Annotation, Axis, DragMode, HoverMode, Margin};
use plotly::{Bar, Configuration, Layout, Scatter, Trace};
use serde::Serialize;

use super::words::{NO_VALUE, rate};

/// Line colours the style sheet defines, `--line-0` upwards.
const LINE_COLOURS: usize = 8;
/// A series is drawn with at most this many points; a longer one is averaged in equal steps.
const SERIES_POINTS: usize = 2000;
/// Height of one bar with its label above it.
const BAR_ROW_PX: usize = 48;
/// Share of that height the bar itself takes.
const BAR_SHARE: f64 = 0.38;

/// A chart and what it says, for those who cannot see it.
pub(super) struct Chart {
    /// The lines or bars.
    pub(super) traces: Vec<Box<dyn Trace>>,
    /// Axes and labels.
    pub(super) layout: Layout,
    /// Height on the page.
    pub(super) height_px: usize,
    /// What it shows, in a sentence with its numbers.
    pub(super) description: String,
}

impl Chart {
    /// The chart's place in the page with its data beside it.
    pub(super) fn markup(&self) -> Markup {
        #[derive(Serialize)]
        struct Drawing<'a> {
            data: &'a [Box<dyn Trace>],
            layout: &'a Layout,
            config: Configuration,
        }
        let config = Configuration::new()
            .responsive(true)
            .display_logo(false)
            .typeset_math(false)
            .double_click(DoubleClick::False)
            .display_mode_bar(DisplayModeBar::False);
        let drawing = Drawing { data: &self.traces, layout: &self.layout, config };
        // Inside a script element only `<` can end or nest it.
        let json = serde_json::to_string(&drawing)
            .expect("a chart has only string keys")
            .replace('<', "\\u003c");
        html! {
            div.chart role="img" aria-label=(self.description)
                style=(format!("height:{}px", self.height_px)) {}
            script type="application/json" { (PreEscaped(json)) }
        }
    }
}

/// Text as the chart library is to show it. It reads a subset of HTML in labels, and a name is
/// never that.
pub(super) fn chart_text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The layout all charts start from.
pub(super) fn base_layout(margin: Margin) -> Layout {
    Layout::new()
        .auto_size(true)
        .show_legend(false)
        .margin(margin)
        .drag_mode(DragMode::False)
        .paper_background_color("var(--clear)")
        .plot_background_color("var(--clear)")
        .font(font(12, "var(--ink)"))
        .hover_label(
            Label::new()
                .background_color("var(--paper)")
                .border_color("var(--rule)")
                .font(font(13, "var(--ink)"))
                .name_length(-1),
        )
}

/// A font of the page's family.
pub(super) fn font(size: usize, colour: &'static str) -> Font {
    let family = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif";
    Font::new().family(family).size(size).color(colour)
}

/// An axis that cannot be dragged away, with a quiet grid.
pub(super) fn axis() -> Axis {
    Axis::new()
        .fixed_range(true)
        .grid_color("var(--grid)")
        .zero_line(false)
        .line_color("var(--rule)")
        .tick_font(font(11, "var(--quiet)"))
}

/// How the lines of an entry are drawn.
pub(super) fn line_style(line: usize) -> Line {
    let dashes =
        [DashType::Solid, DashType::Dash, DashType::Dot, DashType::DashDot, DashType::LongDash];
    let dash = dashes[line % dashes.len()].clone();
    Line::new().color(line_colour(line)).dash(dash).width(if line == 0 { 2.5 } else { 1.8 })
}

/// The colour of an entry's lines.
pub(super) fn line_colour(line: usize) -> String {
    format!("var(--line-{})", line % LINE_COLOURS)
}

/// One bar.
pub(super) struct BarRow {
    /// What it is of.
    pub(super) label: String,
    /// Its length, MB/s.
    pub(super) mb_per_s: f64,
    /// Whether it is the drive under test.
    pub(super) under_test: bool,
    /// Whether it is in wall time beside others in virtual time; hatched, and said in its label.
    pub(super) hatched: bool,
}

impl BarRow {
    /// The bar's length: none for what is not a number.
    pub(super) fn length(&self) -> f64 {
        if self.mb_per_s.is_finite() { self.mb_per_s.max(0.0) } else { 0.0 }
    }
}

/// Horizontal bars, the best first, each with its label above and its value at its end. `longest`
/// is the length that fills the width: charts that share it can be compared.
pub(super) fn bars(what: &str, mut rows: Vec<BarRow>, longest: f64) -> Chart {
    // What is not a number sorts last and has no length.
    let sortable = |row: &BarRow| if row.mb_per_s.is_finite() { row.mb_per_s } else { -1.0 };
    rows.sort_by(|left, right| sortable(right).total_cmp(&sortable(left)));
    let values: Vec<f64> = rows.iter().map(BarRow::length).collect();
    let places: Vec<usize> = (0..rows.len()).collect();
    let texts: Vec<String> = rows.iter().map(|row| rate(row.mb_per_s)).collect();
    let colour = |row: &BarRow| if row.under_test { "var(--accent)" } else { "var(--other)" };
    let shape = |row: &BarRow| match row.hatched {
        true => PatternShape::RightDiagonalLine,
        false => PatternShape::None,
    };
    let bar = Bar::new(values, places)
        .orientation(Orientation::Horizontal)
        .width(BAR_SHARE)
        .marker(
            Marker::new().color_array(rows.iter().map(colour).collect()).pattern(
                Pattern::new()
                    .shape_array(rows.iter().map(shape).collect())
                    .fill_mode(PatternFillMode::Overlay)
                    .solidity(0.2),
            ),
        )
        .text_array(texts.clone())
        .text_position(TextPosition::Outside)
        .outside_text_font(font(13, "var(--ink)"))
        .text_angle(0.0)
        .inside_text_anchor(TextAnchor::End)
        .clip_on_axis(false)
        .hover_info(HoverInfo::Skip);
    // Where all bars are of the drive under test there is nothing to pick out.
    let compared = rows.iter().any(|row| !row.under_test);
    let half_bar_px = BAR_ROW_PX as f64 * BAR_SHARE / 2.0;
    let label = |(place, row): (usize, &BarRow)| {
        Annotation::new()
            .text(if row.under_test && compared {
                bold(&row.label)
            } else {
                chart_text(&row.label)
            })
            .font(font(12, "var(--ink)"))
            .show_arrow(false)
            .x_ref("paper")
            .x(0.0)
            .x_anchor(Anchor::Left)
            .border_pad(0.0)
            .y(place)
            .y_anchor(Anchor::Bottom)
            .y_shift(half_bar_px + 2.0)
    };
    let (first, last) = (-0.62, rows.len() as f64 - 0.62);
    // Values stand right of their bars; a quarter of the width is room for the longest.
    let room = if longest > 0.0 { longest * 1.22 } else { 1.0 };
    let layout = base_layout(Margin::new().left(1).right(4).top(0).bottom(0))
        .x_axis(axis().visible(false).range(vec![0.0, room]))
        .y_axis(axis().visible(false).range(vec![last, first]))
        .annotations(rows.iter().enumerate().map(label).collect());
    let said: Vec<String> =
        rows.iter().zip(&texts).map(|(row, text)| format!("{} {text}", row.label)).collect();
    Chart {
        traces: vec![bar],
        layout,
        height_px: rows.len() * BAR_ROW_PX,
        description: format!("Bar chart, {what}, MB/s: {}.", said.join("; ")),
    }
}

fn bold(label: &str) -> String {
    format!("<b>{}</b>", chart_text(label))
}

/// One line of a chart.
pub(super) struct LineOf<'a> {
    /// What it is of.
    pub(super) label: String,
    /// Its style.
    pub(super) line: usize,
    /// Its values, one a second.
    pub(super) values: &'a [f64],
}

/// Data rate against time.
pub(super) fn seconds(what: &str, lines: &[LineOf]) -> Chart {
    let longest = lines.iter().map(|line| line.values.len()).max().unwrap_or(0);
    let step = longest.div_ceil(SERIES_POINTS).max(1);
    let mut highest = 0.0_f64;
    let mut said = Vec::new();
    let mut traces: Vec<Box<dyn Trace>> = Vec::new();
    for line in lines {
        let values = averaged(line.values, step);
        let times: Vec<usize> = (0..values.len()).map(|index| (index + 1) * step).collect();
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(0.0, f64::max));
        highest = highest.max(high);
        let range = if low.is_finite() {
            format!("{} to {}", rate(low), rate(high))
        } else {
            NO_VALUE.into()
        };
        said.push(format!("{} {range}", line.label));
        traces.push(
            Scatter::new(times, values)
                .mode(Mode::Lines)
                .name(chart_text(&line.label))
                .line(line_style(line.line))
                .hover_template("%{x} s: %{y} MB/s"),
        );
    }
    let top = if highest > 0.0 { highest * 1.06 } else { 1.0 };
    let layout = base_layout(Margin::new().left(44).right(12).top(8).bottom(28))
        .hover_mode(HoverMode::Closest)
        .x_axis(axis().range(vec![0.0, longest.max(1) as f64]).tick_suffix(" s").show_grid(false))
        .y_axis(axis().range(vec![0.0, top]).n_ticks(6));
    let averaging =
        if step > 1 { format!(", each point the mean of {step} s") } else { String::new() };
    Chart {
        traces,
        layout,
        height_px: 210,
        description: format!(
            "Line chart, {what}, MB/s of each second{averaging}, lowest to highest: {}.",
            said.join("; ")
        ),
    }
}

/// Means of `step` values each, to four significant digits: more cannot be seen.
fn averaged(values: &[f64], step: usize) -> Vec<f64> {
    let mean = |part: &[f64]| four_digits(part.iter().sum::<f64>() / part.len() as f64);
    values.chunks(step).map(mean).collect()
}

/// `value` rounded to four significant digits.
pub(super) fn four_digits(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    format!("{value:.3e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_sorted_and_what_is_no_number_is_last() {
        let row = |label: &str, mb_per_s| BarRow {
            label: label.into(),
            mb_per_s,
            under_test: false,
            hatched: false,
        };
        let rows = vec![row("a", 1.0), row("b", f64::NAN), row("c", 30.0), row("d", 0.0)];
        let said = bars("x", rows, 30.0).description;
        assert_eq!(said, "Bar chart, x, MB/s: c 30.0; a 1.00; d 0.00; b –.");
    }

    #[test]
    fn a_name_cannot_be_markup_in_a_chart() {
        assert_eq!(chart_text("<b>&"), "&lt;b&gt;&amp;");
    }

    #[test]
    fn long_series_are_averaged() {
        assert_eq!(averaged(&[1.0, 3.0, 5.0], 2), [2.0, 5.0]);
        assert_eq!(four_digits(123_456.0), 123_500.0);
        assert!(four_digits(f64::NAN).is_nan());
    }
}
