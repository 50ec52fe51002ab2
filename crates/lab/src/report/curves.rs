//! Latency by percentile: what share of the I/Os was answered within which time, to the longest.

use plotly::common::{Line, Marker, Mode};
use plotly::layout::{Axis, AxisType, HoverMode, Margin};
use plotly::{Scatter, Trace};

use super::charts::{Chart, axis, base_layout, chart_text, four_digits, line_colour, line_style};
use super::words::{NO_VALUE, micros};
use crate::record::Figure;

/// Points a curve has for each further nine of its percentile.
const POINTS_PER_NINE: f64 = 16.0;

/// The figure of one entry.
pub(super) struct CurveOf<'a> {
    /// What it is of.
    pub(super) label: String,
    /// Its style.
    pub(super) line: usize,
    /// The figure.
    pub(super) figure: &'a Figure,
}

/// A point of a curve: one I/O in `one_in` took longer than `us`.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Point {
    one_in: f64,
    us: f64,
}

/// The curve of a figure, from its histogram; from its percentiles where it has none.
fn points(figure: &Figure) -> Vec<Point> {
    let mut bins = figure.latency_bins_ns.clone();
    bins.sort_unstable();
    let total: u128 = bins.iter().map(|&(_, count)| u128::from(count)).sum();
    let latency = &figure.latency_us;
    let mut points = Vec::new();
    if total == 0 {
        let known = [
            (2.0, latency.p50),
            (10.0, latency.p90),
            (1e2, latency.p99),
            (1e3, latency.p999),
            (1e4, latency.p9999),
        ];
        points.extend(known.map(|(one_in, us)| Point { one_in, us }));
    } else {
        let total = total as f64;
        let mut below = 0_u128;
        let mut bins = bins.into_iter();
        let mut current = 0;
        for index in 0.. {
            let one_in = 10_f64.powf(f64::from(index) / POINTS_PER_NINE);
            if one_in >= total {
                break;
            }
            let rank = (total * (1.0 - 1.0 / one_in)).ceil().max(1.0);
            while (below as f64) < rank {
                let Some((ns, count)) = bins.next() else { break };
                below += u128::from(count);
                current = ns;
            }
            points.push(Point { one_in, us: current as f64 / 1e3 });
        }
        points.push(Point { one_in: total, us: latency.max });
    }
    // A log axis has no place for zero.
    points.retain(|point| point.us.is_finite() && point.us > 0.0);
    points
}

/// "99.9 %" from one in 1000.
fn percentile(one_in: f64) -> String {
    let nines = one_in.log10();
    let decimals = (nines - 2.0).ceil().clamp(0.0, 9.0) as usize + usize::from(nines < 1.0);
    format!("{:.decimals$}", (1.0 - 1.0 / one_in) * 100.0)
}

/// Latency on a log axis against the percentile, one line for each entry, a dot at the maximum.
pub(super) fn percentile_curves(what: &str, curves: &[CurveOf]) -> Chart {
    let mut traces: Vec<Box<dyn Trace>> = Vec::new();
    let mut said = Vec::new();
    let (mut low, mut high, mut most) = (f64::INFINITY, 0.0_f64, 1e4_f64);
    for curve in curves {
        let points = points(curve.figure);
        for point in &points {
            low = low.min(point.us);
            high = high.max(point.us);
            most = most.max(point.one_in);
        }
        let latency = &curve.figure.latency_us;
        said.push(format!(
            "{} median {}, 99 % {}, 99.99 % {}, max {}",
            curve.label,
            micros(latency.p50),
            micros(latency.p99),
            micros(latency.p9999),
            micros(latency.max)
        ));
        let last = points.len().saturating_sub(1);
        let is_max = |index: usize| index == last && !curve.figure.latency_bins_ns.is_empty();
        let hover = |(index, point): (usize, &Point)| match is_max(index) {
            true => format!("max {}", micros(point.us)),
            false => format!("{} % within {}", percentile(point.one_in), micros(point.us)),
        };
        let hovers: Vec<String> = points.iter().enumerate().map(hover).collect();
        let sizes: Vec<usize> =
            (0..points.len()).map(|index| if is_max(index) { 8 } else { 0 }).collect();
        let x = points.iter().map(|point| four_digits(point.one_in)).collect();
        let y = points.iter().map(|point| four_digits(point.us)).collect::<Vec<f64>>();
        traces.push(
            Scatter::new(x, y)
                .mode(Mode::LinesMarkers)
                .name(chart_text(&curve.label))
                .line(line_style(curve.line))
                .marker(
                    Marker::new()
                        .size_array(sizes)
                        .color(line_colour(curve.line))
                        .opacity(1.0)
                        .line(Line::new().width(0.0)),
                )
                .text_array(hovers)
                .hover_template("%{text}"),
        );
    }
    let shares = [1.0, 2.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];
    let names = ["", "50 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %", "99.9999 %", "", ""];
    let across = axis()
        .type_(AxisType::Log)
        .tick_values(shares.to_vec())
        .tick_text(names.map(String::from).to_vec())
        .range(vec![0.0, most.log10() * 1.03]);
    let layout = base_layout(Margin::new().left(52).right(12).top(8).bottom(28))
        .hover_mode(HoverMode::Closest)
        .x_axis(across)
        .y_axis(time_axis(low, high));
    let said = if said.is_empty() { NO_VALUE.into() } else { said.join("; ") };
    Chart {
        traces,
        layout,
        height_px: 250,
        description: format!("Latency by percentile, log axis, {what}: {said}."),
    }
}

/// A log axis of microseconds that covers `low` to `high` and names each decade in its own unit.
fn time_axis(low: f64, high: f64) -> Axis {
    let (low, high) = if low <= high { (low, high) } else { (1.0, 1e3) };
    let bottom = low.log10().floor().clamp(-4.0, 17.0);
    let top = high.log10().ceil().clamp(bottom + 1.0, 18.0);
    let decades = (bottom as i32..=top as i32).map(|power| 10_f64.powi(power));
    // Within two decades the grid of decades alone would say too little.
    let parts: &[f64] = if top - bottom <= 2.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let ticks: Vec<f64> =
        decades.flat_map(|decade| parts.iter().map(move |part| decade * part)).collect();
    let texts = ticks.iter().map(|&us| tick(us)).collect();
    axis().type_(AxisType::Log).range(vec![bottom, top]).tick_values(ticks).tick_text(texts)
}

/// A tick's time without places it does not need: "10 ms".
fn tick(us: f64) -> String {
    match us {
        us if us >= 0.9995e6 => format!("{} s", four_digits(us / 1e6)),
        us if us >= 999.5 => format!("{} ms", four_digits(us / 1e3)),
        us if us >= 0.9995 => format!("{} µs", four_digits(us)),
        us => format!("{} ns", four_digits(us * 1e3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_have_the_places_they_need() {
        let of = [1.0, 2.0, 10.0, 1e2, 1e3, 1e4].map(percentile);
        assert_eq!(of, ["0.0", "50.0", "90", "99", "99.9", "99.99"]);
    }

    #[test]
    fn ticks_are_in_their_own_unit() {
        assert_eq!(
            [0.01, 1.0, 500.0, 1e3, 2e4, 1e6, 1e7].map(tick),
            ["10 ns", "1 µs", "500 µs", "1 ms", "20 ms", "1 s", "10 s"]
        );
    }
}
