//! A chart within the page: HTML whose parts stand in shares of its size, so that it fits its place without
//! a script, in the colours of the style sheet. `charts.js` adds what a pointer does, and the other axis.

use maud::{Markup, PreEscaped, html};
use serde::{Serialize, Serializer};

use super::{
    BarRow, Bars, Chart, Line, Lines, Marks, Plot, REFERENCE_STYLE, Scale, line_colour_name,
    seven_digits,
};

/// Units of the drawing area in both directions; a screen shows no finer places.
const AREA: f64 = 1000.0;
/// Lines that are labelled at their ends; of more, only the legend says whose they are.
const MOST_LABELLED: usize = 6;
/// Least distance of two labels at the ends of lines, as a share of the height.
const LABEL_SHARE: f64 = 0.075;

/// The drawing, and the data that the script reads.
pub(super) fn drawing(chart: &Chart) -> Markup {
    match &chart.plot {
        Plot::Bars(bars) => bar_drawing(bars),
        Plot::Lines(lines) => line_drawing(lines, &chart.about),
    }
}

/// What the script reads of a chart of lines; bars say it all themselves.
pub(super) fn data(chart: &Chart) -> Markup {
    let Plot::Lines(lines) = &chart.plot else { return html! {} };
    let data = Data {
        across: &lines.across,
        up: &lines.up.shown,
        other: lines.up.other.as_ref(),
        lines: lines.lines.iter().map(LineData::of).collect(),
    };
    let json = serde_json::to_string(&data).expect("a chart has only string keys");
    // Inside a script element only `<` can end or nest it.
    html! { script type="application/json" { (PreEscaped(json.replace('<', "\\u003c"))) } }
}

fn bar_drawing(bars: &Bars) -> Markup {
    let share = |row: &BarRow| match bars.longest > 0.0 {
        true => (row.length() / bars.longest).min(1.0),
        false => 0.0,
    };
    html! {
        @for row in &bars.rows {
            div.row.tested[row.under_test].reference[row.reference] {
                span.of { (row.label) }
                span.track {
                    i.hatched[row.hatched].cut[bars.cuts(row)] style=(format!("--share:{:.4}", share(row))) {}
                    b data-value=[row.value.is_finite().then_some(row.value)] { (row.text) }
                }
            }
        }
    }
}

/// Names that always have room beneath a chart; of more, every second has none in a narrow one.
const FEW_TICKS: usize = 5;

fn line_drawing(lines: &Lines, about: &str) -> Markup {
    let (across, up) = (&lines.across, &lines.up.shown);
    let percent = |share: f64| format!("{:.2}%", share.clamp(0.0, 1.0) * 100.0);
    let ends = ends(lines);
    let grid: String = up
        .ticks
        .iter()
        .map(|(value, _)| format!("M0 {}H{AREA}", units(1.0 - up.place(*value))))
        .collect();
    html! {
        @if !up.name.is_empty() && !about.contains(&up.name) { span.unit { (up.name) } }
        div.plot.ended[!ends.is_empty()] {
            svg viewBox=(format!("0 0 {AREA} {AREA}")) preserveAspectRatio="none" aria-hidden="true" {
                path.grid d=(grid) {}
                @for line in &lines.lines { (strokes(line, lines)) }
            }
            @for (value, name) in &up.ticks {
                span.y style=(format!("top:{}", percent(1.0 - up.place(*value)))) { (name) }
            }
            @for (at, (value, name)) in across.ticks.iter().enumerate() {
                span.x.second[across.ticks.len() > FEW_TICKS && at % 2 == 1]
                    style=(format!("left:{}", percent(across.place(*value)))) { (name) }
            }
            @for (index, place) in ends {
                @let line = &lines.lines[index];
                span.end data-line=(index) title=(line.label)
                    style=(format!("top:{};color:var({})", percent(place), end_colour_name(line.style)))
                    { (line.label) }
            }
        }
        @if !across.name.is_empty() { span.unit.across { (across.name) } }
    }
}

/// A grey that can be read.
fn end_colour_name(style: usize) -> String {
    if style == REFERENCE_STYLE { "--quiet".into() } else { line_colour_name(style) }
}

/// The labels of lines, by which of all lines it is, and where each stands so that none lies over another; none of many
/// lines, nor of one.
fn ends(lines: &Lines) -> Vec<(usize, f64)> {
    let lines_of_all = lines.lines.iter().enumerate();
    let named: Vec<(usize, &Line)> =
        lines_of_all.filter(|(_, line)| !line.points.is_empty()).collect();
    if named.len() < 2
        || named.len() > MOST_LABELLED
        || named.iter().any(|(_, line)| line.marks == Marks::Alone)
    {
        return Vec::new();
    }
    let up = &lines.up.shown;
    let last = |line: &Line| line.points.last().map_or(0.0, |&(_, y)| y);
    let share = |line: &Line| 1.0 - up.place(last(line)).clamp(0.0, 1.0);
    let mut ends: Vec<(usize, f64)> =
        named.into_iter().map(|(index, line)| (index, share(line))).collect();
    ends.sort_by(|a, b| a.1.total_cmp(&b.1));
    // Down from the top, and what went over the foot up again.
    for index in 1..ends.len() {
        ends[index].1 = ends[index].1.max(ends[index - 1].1 + LABEL_SHARE);
    }
    let mut most = 1.0;
    for end in ends.iter_mut().rev() {
        end.1 = end.1.min(most);
        most = end.1 - LABEL_SHARE;
    }
    ends
}

/// A line's path, and its dots: strokes of no length with round ends keep their shape at any size.
fn strokes(line: &Line, lines: &Lines) -> Markup {
    let places: Vec<(i64, i64)> = line
        .points
        .iter()
        .filter(|(x, y)| x.is_finite() && y.is_finite())
        // As the script has them.
        .map(|&(x, y)| (seven_digits(x), seven_digits(y)))
        .map(|(x, y)| (units(lines.across.place(x)), units(1.0 - lines.up.shown.place(y))))
        .collect();
    let dots = match line.marks {
        Marks::None => &places[..0],
        Marks::Last => &places[places.len().saturating_sub(1)..],
        Marks::Each | Marks::Alone => &places[..],
    };
    let of_dots = match line.marks {
        Marks::Alone => "dot small",
        Marks::Last => "dot last",
        Marks::Each | Marks::None => "dot",
    };
    html! {
        g.first[line.style == 0] style=(format!("stroke:var({})", line_colour_name(line.style))) {
            @if line.marks != Marks::Alone && places.len() > 1 {
                path.line d=(path(&places)) stroke-dasharray=[super::dashes(line.style)] {}
            }
            @if !dots.is_empty() { path class=(of_dots) d=(dotted(dots)) {} }
        }
    }
}

fn path(places: &[(i64, i64)]) -> String {
    let mut path = String::new();
    for (index, (x, y)) in places.iter().enumerate() {
        path += if index == 0 { "M" } else { "L" };
        path += &format!("{x} {y}");
    }
    path
}

/// A dot at each place; of several at one place, one.
fn dotted(places: &[(i64, i64)]) -> String {
    let mut path = String::new();
    let mut before = None;
    for &(x, y) in places {
        if before != Some((x, y)) {
            path += &format!("M{x} {y}h0");
            before = Some((x, y));
        }
    }
    path
}

/// A share of the area in its units. What is beyond an axis is at its end.
fn units(share: f64) -> i64 {
    (share.clamp(0.0, 1.0) * AREA).round() as i64
}

#[derive(Serialize)]
struct Data<'a> {
    across: &'a Scale,
    up: &'a Scale,
    /// The other axis of the values.
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<&'a Scale>,
    lines: Vec<LineData<'a>>,
}

#[derive(Serialize)]
struct LineData<'a> {
    label: &'a str,
    x: Places,
    y: Vec<Short>,
    /// What each point says; its two numbers where there is nothing here.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    says: &'a [String],
}

impl<'a> LineData<'a> {
    fn of(line: &'a Line) -> LineData<'a> {
        LineData {
            label: &line.label,
            x: Places::of(line.points.iter().map(|&(x, _)| seven_digits(x)).collect()),
            y: line.points.iter().map(|&(_, y)| Short(seven_digits(y))).collect(),
            says: &line.says,
        }
    }
}

/// Where points are: seconds in order are told by the first and the step.
#[derive(Serialize)]
#[serde(untagged)]
enum Places {
    Steps { from: Short, step: Short },
    Each(Vec<Short>),
}

impl Places {
    fn of(values: Vec<f64>) -> Places {
        let step = values.get(1).map_or(1.0, |second| second - values[0]);
        let is_regular = step.fract() == 0.0
            && values
                .iter()
                .enumerate()
                .all(|(index, value)| *value == values[0] + step * index as f64);
        match values.first() {
            Some(&from) if is_regular && values.len() > 2 => {
                Places::Steps { from: Short(from), step: Short(step) }
            }
            _ => Places::Each(values.into_iter().map(Short).collect()),
        }
    }
}

/// A number without the digits and the ".0" that nobody sees.
#[derive(Clone, Copy)]
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

#[cfg(test)]
mod tests {
    use super::super::{Up, count_tick};
    use super::*;

    fn line(label: &str, points: Vec<(f64, f64)>) -> Line {
        Line { label: label.into(), style: 0, points, marks: Marks::None, says: Vec::new() }
    }

    #[test]
    fn numbers_are_short_and_regular_places_are_two() {
        let json = |value| serde_json::to_string(&Short(value)).expect("a number");
        assert_eq!([json(5.0), json(0.25), json(f64::NAN)], ["5", "0.25", "null"]);
        let places =
            |values: &[f64]| serde_json::to_string(&Places::of(values.to_vec())).expect("numbers");
        assert_eq!(places(&[1401.0, 1402.0, 1403.0]), r#"{"from":1401,"step":1}"#);
        assert_eq!(places(&[1.0, 2.0, 4.0]), "[1,2,4]");
        assert_eq!(places(&[]), "[]");
    }

    #[test]
    fn labels_at_the_ends_keep_apart_and_inside() {
        let lines = |values: &[f64]| {
            let lines: Vec<Line> =
                values.iter().map(|&y| line("a", vec![(0.0, 1.0), (1.0, y)])).collect();
            let values = lines.iter().flat_map(|line| line.points.iter().map(|point| point.1));
            let up = Up::of("", values, false, count_tick);
            Lines { across: Scale::linear("", (0.0, 1.0), count_tick), up, lines }
        };
        for values in [&[10.0, 10.0, 10.0][..], &[0.0, 0.0, 0.1], &[10.0, 5.0, 5.1, 0.0]] {
            let lines = lines(values);
            let places: Vec<f64> = ends(&lines).iter().map(|end| end.1).collect();
            assert_eq!(places.len(), values.len());
            assert!(places.iter().all(|place| (0.0..=1.0).contains(place)), "{places:?}");
            assert!(
                places.windows(2).all(|two| two[1] - two[0] > LABEL_SHARE * 0.99),
                "{places:?}"
            );
        }
        assert!(ends(&lines(&[1.0])).is_empty(), "one line is named by its chart");
        assert!(ends(&lines(&[1.0; MOST_LABELLED + 1])).is_empty());
    }

    #[test]
    fn dots_at_one_place_are_one() {
        assert_eq!(dotted(&[(1, 2), (1, 2), (3, 4)]), "M1 2h0M3 4h0");
        assert_eq!(path(&[(1, 2), (3, 4)]), "M1 2L3 4");
    }
}
