//! A chart as the chart library of the page wants it.
//!
//! Colours are written as `var(--name)`: the page's script puts in what the style sheet says, so
//! that charts follow light, dark and paper like everything else.

use std::sync::LazyLock;

use plotly::common::{
    Anchor, DashType, Font, HoverInfo, Label, Line as Stroke, Marker, Mode, Orientation, Pattern,
    PatternFillMode, PatternShape, TextAnchor, TextPosition,
};
use plotly::configuration::{DisplayModeBar, DoubleClick};
use plotly::layout::{Annotation, Axis, AxisType, DragMode, HoverMode, Margin};
use plotly::{Bar, Configuration, Layout, Plot as Library, Scatter, Trace};
use serde::{Serialize, Serializer};

use super::{
    BAR_ROW_PX, BAR_SHARE, BarRow, Bars, Chart, Line, Lines, Marks, Plot, Scale, four_digits,
    line_colour_name,
};

/// The chart library's script element, alone: the crate's sources go on with a formula
/// typesetter of 2 MB that no chart here uses.
static LIBRARY: LazyLock<String> = LazyLock::new(|| {
    let sources = Library::offline_js_sources();
    let end = "</script>";
    match sources.find(end) {
        Some(at) => sources[..at + end.len()].to_string(),
        None => sources,
    }
});

/// The script element with the chart library.
pub(crate) fn library() -> &'static str {
    &LIBRARY
}

/// What the page's script reads.
#[derive(Serialize)]
struct Drawing<'a> {
    data: Vec<Box<dyn Trace>>,
    layout: Layout,
    config: Configuration,
    /// The other axis of the values.
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<Axis>,
    /// What a saved picture says that the page says around the drawing.
    title: String,
    names: [&'a str; 2],
}

/// The drawing as JSON.
pub(super) fn json(chart: &Chart) -> String {
    let (data, layout, other, names) = match &chart.plot {
        Plot::Bars(bars) => {
            (vec![bar_trace(bars)], bar_layout(bars), None, [bars.what.as_str(), ""])
        }
        Plot::Lines(lines) => (
            lines.lines.iter().map(|line| line_trace(line, lines)).collect(),
            line_layout(lines),
            lines.up.other.as_ref().map(axis_of),
            [lines.across.name.as_str(), lines.up.shown.name.as_str()],
        ),
    };
    let config = Configuration::new()
        .display_logo(false)
        .typeset_math(false)
        .double_click(DoubleClick::False)
        .display_mode_bar(DisplayModeBar::False);
    let drawing = Drawing { data, layout, config, other, title: text(&chart.full_title()), names };
    serde_json::to_string(&drawing).expect("a chart has only string keys")
}

/// Text as the chart library is to show it. It reads a subset of HTML in labels, and a name is
/// never that.
fn text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A number without the digits and the ".0" that nobody sees.
#[derive(Clone)]
struct Short(f64);

impl Serialize for Short {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = self.0;
        if value.fract() == 0.0 && value.abs() < 1e15 {
            serializer.serialize_i64(value as i64)
        } else {
            serializer.serialize_f64(value)
        }
    }
}

/// The layout all charts start from.
fn layout(margin: Margin) -> Layout {
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
fn font(size: usize, colour: &'static str) -> Font {
    let family = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif";
    Font::new().family(family).size(size).color(colour)
}

/// An axis that cannot be dragged away, with a quiet grid.
fn axis() -> Axis {
    Axis::new()
        .fixed_range(true)
        .grid_color("var(--grid)")
        .zero_line(false)
        .line_color("var(--rule)")
        .tick_font(font(11, "var(--quiet)"))
}

fn axis_of(scale: &Scale) -> Axis {
    let (low, high) = scale.range;
    let (values, names): (Vec<f64>, Vec<String>) =
        scale.ticks.iter().map(|(value, name)| (*value, text(name))).unzip();
    let axis = axis().tick_values(values).tick_text(names);
    match scale.log {
        true => axis.type_(AxisType::Log).range(vec![low.log10(), high.log10()]),
        false => axis.range(vec![low, high]),
    }
}

fn line_layout(lines: &Lines) -> Layout {
    layout(Margin::new().left(56).right(24).top(8).bottom(28))
        .hover_mode(HoverMode::Closest)
        .x_axis(axis_of(&lines.across).show_grid(false))
        .y_axis(axis_of(&lines.up.shown))
}

fn line_trace(line: &Line, of: &Lines) -> Box<dyn Trace> {
    let (x, y): (Vec<Short>, Vec<Short>) =
        line.points.iter().map(|&(x, y)| (Short(four_digits(x)), Short(four_digits(y)))).unzip();
    let colour = format!("var({})", line_colour_name(line.style));
    let count = line.points.len();
    let trace = Scatter::new(x, y).name(text(&line.label));
    let trace = match line.marks {
        Marks::None => trace.mode(Mode::Lines),
        Marks::Each => {
            trace.mode(Mode::LinesMarkers).marker(Marker::new().size(7).color(colour.clone()))
        }
        Marks::Alone => {
            trace.mode(Mode::Markers).marker(Marker::new().size(3).color(colour.clone()))
        }
        Marks::Last => {
            let sizes = (1..=count).map(|place| if place == count { 8 } else { 0 }).collect();
            let mark = Marker::new()
                .size_array(sizes)
                .color(colour.clone())
                .opacity(1.0)
                .line(Stroke::new().width(0.0));
            trace.mode(Mode::LinesMarkers).marker(mark)
        }
    };
    let dashes =
        [DashType::Solid, DashType::Dash, DashType::Dot, DashType::DashDot, DashType::LongDash];
    let stroke = Stroke::new()
        .color(colour)
        .dash(dashes[line.style % dashes.len()].clone())
        .width(if line.style == 0 { 2.5 } else { 1.8 });
    let trace = if line.marks == Marks::Alone { trace } else { trace.line(stroke) };
    if line.says.is_empty() {
        // The script puts the measured value into `customdata`: what stands at the foot of a
        // logarithmic axis is not there.
        trace.hover_template(format!("%{{x}}: %{{customdata}} {}", unit(&of.up.shown.name)))
    } else {
        let says: Vec<String> = line.says.iter().map(|says| text(says)).collect();
        trace.text_array(says).hover_template("%{text}")
    }
}

/// An axis' name in a template, where percent signs and braces would be read.
fn unit(name: &str) -> String {
    text(name).replace(['%', '{', '}'], "")
}

fn bar_layout(bars: &Bars) -> Layout {
    let (first, last) = (-0.62, bars.rows.len() as f64 - 0.62);
    // Values stand right of their bars; a quarter of the width is room for the longest.
    let room = if bars.longest > 0.0 { bars.longest * 1.22 } else { 1.0 };
    let half_bar_px = BAR_ROW_PX as f64 * BAR_SHARE / 2.0;
    let compared = bars.compared();
    let label = |(place, row): (usize, &BarRow)| {
        let label = text(&row.label);
        Annotation::new()
            .text(if row.under_test && compared { format!("<b>{label}</b>") } else { label })
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
    layout(Margin::new().left(1).right(4).top(0).bottom(0))
        .x_axis(axis().visible(false).range(vec![0.0, room]))
        .y_axis(axis().visible(false).range(vec![last, first]))
        .annotations(bars.rows.iter().enumerate().map(label).collect())
}

fn bar_trace(bars: &Bars) -> Box<dyn Trace> {
    let values: Vec<f64> = bars.rows.iter().map(BarRow::length).collect();
    let places: Vec<usize> = (0..bars.rows.len()).collect();
    let colour = |row: &BarRow| if row.under_test { "var(--accent)" } else { "var(--other)" };
    let shape = |row: &BarRow| match row.hatched {
        true => PatternShape::RightDiagonalLine,
        false => PatternShape::None,
    };
    Bar::new(values, places)
        .orientation(Orientation::Horizontal)
        .width(BAR_SHARE)
        .marker(
            Marker::new().color_array(bars.rows.iter().map(colour).collect()).pattern(
                Pattern::new()
                    .shape_array(bars.rows.iter().map(shape).collect())
                    .fill_mode(PatternFillMode::Overlay)
                    .solidity(0.2),
            ),
        )
        .text_array(bars.rows.iter().map(|row| text(&row.text)).collect::<Vec<_>>())
        .text_position(TextPosition::Outside)
        .outside_text_font(font(13, "var(--ink)"))
        .text_angle(0.0)
        .inside_text_anchor(TextAnchor::End)
        .clip_on_axis(false)
        .hover_info(HoverInfo::Skip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_be_markup_in_a_chart() {
        assert_eq!(text("<b>&"), "&lt;b&gt;&amp;");
        assert_eq!(unit("% of {x}"), " of x");
    }

    #[test]
    fn numbers_are_short() {
        let json = |value| serde_json::to_string(&Short(value)).expect("a number");
        assert_eq!([json(5.0), json(0.25), json(f64::NAN)], ["5", "0.25", "null"]);
    }
}
