//! Latency by percentile: what share of the I/Os was answered within which time, to the longest.

use fourcorners_record::Figure;

use super::chart::{
    Best, Chart, DataTable, Line, Lines, Marks, Plot, Scale, Up, file_name, seven_digits, time_tick,
};
use super::entries::{Entries, Entry};
use super::speed::{Quantity, compared_by};
use super::words::{NO_VALUE, micros};

/// How long an I/O took, as bars.
const TIMES: [(&str, Quantity); 2] = [
    (
        "Mean",
        Quantity {
            unit: "mean latency",
            best: Best::Lowest,
            of: |figure| figure.latency_us.mean,
            of_reference: |figure| figure.1,
            say: micros,
        },
    ),
    (
        "Longest",
        Quantity {
            unit: "longest latency",
            best: Best::Lowest,
            of: |figure| figure.latency_us.max,
            of_reference: |figure| figure.2,
            say: micros,
        },
    ),
];

/// The mean and the longest latency of a figure, where there are drives to compare.
pub(super) fn times(all: &Entries, entries: &[&Entry], name: &str, words: &str) -> Vec<Chart> {
    let chart = |(what, quantity): &(&str, Quantity)| {
        let title = format!("{what}: {words}");
        compared_by(all, entries, (name, &title), *quantity, None)
    };
    TIMES.iter().map(chart).filter(Chart::has_several_bars).collect()
}

/// Points a curve has for each further nine of its percentile.
const POINTS_PER_NINE: f64 = 16.0;

/// The percentiles that are named.
const SHARES: [(f64, &str); 9] = [
    (2.0, "50 %"),
    (10.0, "90 %"),
    (1e2, "99 %"),
    (1e3, "99.9 %"),
    (1e4, "99.99 %"),
    (1e5, "99.999 %"),
    (1e6, "99.9999 %"),
    (1e7, ""),
    (1e8, ""),
];

/// The figure of one entry.
pub(super) struct CurveOf<'a> {
    /// What it is of.
    pub(super) label: String,
    /// Its style.
    pub(super) style: usize,
    /// The figure.
    pub(super) figure: &'a Figure,
}

/// A point of a curve: at most one I/O in `one_in` took longer than `us`.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Point {
    one_in: f64,
    us: f64,
}

/// The highest value of a bucket whose lowest this is, as `fourcorners_run::Histogram` cuts them: 128 to a power of two,
/// and one for each value where there are fewer.
fn highest_of_bucket(lowest_ns: u64) -> u64 {
    let shift = (lowest_ns | 0xff).ilog2() - 7;
    lowest_ns.saturating_add((1 << shift) - 1)
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
            // Within the lowest of a bucket is hardly any of its I/Os; the ends are known exactly.
            let us = match rank {
                1.0 => latency.min,
                _ => (highest_of_bucket(current) as f64 / 1e3).min(latency.max),
            };
            points.push(Point { one_in, us });
        }
        points.push(Point { one_in: total, us: latency.max });
    }
    // A log axis has no place for zero.
    points.retain(|point| point.us.is_finite() && point.us > 0.0);
    points
}

/// "99.9" from one in 1000: no more than it is, and with two digits of what is left to 100, so that neighbours differ.
fn percentile(one_in: f64) -> String {
    let decimals = (one_in.log10() - 2.0).ceil().clamp(0.0, 9.0) as usize + 1;
    let unit = 10_f64.powi(decimals as i32);
    // What binary fractions lack of a whole number is no reason to say less.
    let floor = ((1.0 - 1.0 / one_in) * 100.0 * unit + 1e-6).floor() / unit;
    let text = format!("{floor:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Latency against the percentile, one line for each figure, a dot at the maximum.
pub(super) fn percentile_curves(title: &str, curves: &[CurveOf]) -> Chart {
    let drawn: Vec<Vec<Point>> = curves.iter().map(|curve| points(curve.figure)).collect();
    let most = drawn.iter().flatten().map(|point| point.one_in).fold(1e4, f64::max);
    let lines: Vec<Line> =
        curves.iter().zip(&drawn).map(|(curve, points)| line(curve, points)).collect();
    let said: Vec<String> = curves.iter().map(spoken).collect();
    let mut across = Scale::log("", (1.0, most.powf(1.03).min(1e300)), |_| String::new());
    across.ticks = SHARES.map(|(one_in, name)| (one_in, name.to_string())).to_vec();
    across.column = "one I/O in so many takes longer, µs";
    across.ticks.retain(|(one_in, _)| *one_in <= across.range.1);
    let values = drawn.iter().flatten().map(|point| point.us);
    Chart {
        name: file_name(&format!("latency {title}")),
        context: String::new(),
        title: title.into(),
        about: "Latency by share of the I/Os".into(),
        note: String::new(),
        description: format!(
            "Latency by percentile, log axis, {title}: {}.",
            if said.is_empty() { NO_VALUE.into() } else { said.join("; ") }
        ),
        table: table(curves),
        plot: Plot::Lines(Box::new(Lines {
            across,
            up: Up::of("", values, true, time_tick),
            lines,
        })),
    }
}

fn line(curve: &CurveOf, points: &[Point]) -> Line {
    let has_max = !curve.figure.latency_bins_ns.is_empty();
    let last = points.len().saturating_sub(1);
    let says = |(index, point): (usize, &Point)| match has_max && index == last {
        true => format!("max {}", micros(point.us)),
        false => format!("{} % within {}", percentile(point.one_in), micros(point.us)),
    };
    Line {
        label: curve.label.clone(),
        style: curve.style,
        points: points
            .iter()
            .map(|point| (seven_digits(point.one_in), seven_digits(point.us)))
            .collect(),
        marks: if has_max { Marks::Last } else { Marks::None },
        says: points.iter().enumerate().map(says).collect(),
    }
}

fn spoken(curve: &CurveOf) -> String {
    let latency = &curve.figure.latency_us;
    format!(
        "{} median {}, 99 % {}, 99.99 % {}, max {}",
        curve.label,
        micros(latency.p50),
        micros(latency.p99),
        micros(latency.p9999),
        micros(latency.max)
    )
}

/// A row for each figure: the numbers that reviews print.
fn table(curves: &[CurveOf]) -> DataTable {
    let head = ["", "mean", "median", "90 %", "99 %", "99.9 %", "99.99 %", "max"];
    let row = |curve: &CurveOf| {
        let latency = &curve.figure.latency_us;
        let times = [
            latency.mean,
            latency.p50,
            latency.p90,
            latency.p99,
            latency.p999,
            latency.p9999,
            latency.max,
        ];
        (curve.label.clone(), times.map(micros).to_vec())
    };
    DataTable { head: head.map(String::from).to_vec(), rows: curves.iter().map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_have_the_places_they_need() {
        let of = [1.0, 2.0, 10.0, 1e2, 1e3, 1e4, 1e8].map(percentile);
        assert_eq!(of, ["0", "50", "90", "99", "99.9", "99.99", "99.999999"]);
        // One in 5623 is 99.982 %, and not more.
        assert_eq!([4870.0, 5623.0].map(percentile), ["99.979", "99.982"]);
        let steps = (0..=128).map(|at| 10_f64.powf(f64::from(at) / POINTS_PER_NINE));
        let all: Vec<(f64, String)> = steps.map(|one_in| (one_in, percentile(one_in))).collect();
        for two in all.windows(2) {
            assert_ne!(two[0].1, two[1].1, "one in {} and {}", two[0].0, two[1].0);
        }
        for (one_in, said) in &all {
            let percent: f64 = said.parse().expect("a number");
            assert!(percent <= (1.0 - 1.0 / one_in) * 100.0 + 1e-9, "{said} of one in {one_in}");
        }
    }

    #[test]
    fn so_many_are_within_as_a_point_says() {
        let text = include_str!("../../results/tests/golden/review-1.json");
        let document = fourcorners_record::from_json(text).expect("an old document");
        let mut figure = document.records[0].figures[0].clone();
        // Most I/Os are in one bucket, above its lowest value.
        let mut histogram = fourcorners_run::Histogram::new();
        let times: Vec<u64> = (0..20_000_u64)
            .map(|at| if at % 50 == 0 { 9_000_000 + at } else { 606_000 + at % 1900 })
            .collect();
        times.iter().for_each(|ns| histogram.record(*ns));
        figure.latency_us = fourcorners_record::Latency::from(&histogram);
        figure.latency_bins_ns = histogram.bins();
        let drawn = points(&figure);
        assert!(drawn.len() > 60, "{}", drawn.len());
        for point in &drawn {
            let within = times.iter().filter(|ns| **ns as f64 / 1e3 <= point.us).count();
            assert!(
                within as f64 >= 20_000.0 * (1.0 - 1.0 / point.one_in) - 1e-6,
                "{point:?}: {within}"
            );
        }
        // As the table says it.
        let at = |one_in: f64| drawn.iter().find(|it| (it.one_in / one_in - 1.0).abs() < 1e-9);
        let told = [10.0, 100.0, 1e3, 1e4].map(|one_in| at(one_in).expect("it is drawn").us);
        let latency = &figure.latency_us;
        assert_eq!(told, [latency.p90, latency.p99, latency.p999, latency.p9999]);
        for ns in [0, 255, 256, 257, 1_000, 606_208, u64::MAX / 3, u64::MAX] {
            let mut one = fourcorners_run::Histogram::new();
            one.record(ns);
            let lowest = one.bins()[0].0;
            assert!(lowest <= ns && ns <= highest_of_bucket(lowest), "{ns}");
        }
    }
}
