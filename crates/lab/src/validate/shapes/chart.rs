//! Measured and virtual curves of a kind of test in one picture: `docs/distributions/KIND.svg`.

use std::fmt::{self, Write};

use super::ShapeRow;
use super::numbers::{PERCENTILES, SLOWER_THAN_US, slower_path};
use crate::validate::chart::{Plain, Text};

/// Pixels of the picture, and of what is between its axes.
const SIZE: [i32; 2] = [760, 420];
const LEFT: i32 = 86;
const RIGHT: i32 = 746;
const TOP: i32 = 40;
const BOTTOM: i32 = 366;
/// Most entries in a picture: more curves cannot be told apart.
const MOST_ENTRIES: usize = 6;
const COLOURS: [&str; MOST_ENTRIES] =
    ["#1F6FB4", "#D95F02", "#1B9E77", "#753FB0", "#C21E56", "#666666"];
/// What a latency's name may begin with, in the order of preference.
const PREFIXES: [&str; 5] = ["", "read.", "latency_last_quarter.", "steady.", "write."];

/// What a picture has along its lower side.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Axis {
    /// Rates by how often the drive was written.
    Written,
    /// Latencies by percentile, of names with a prefix.
    Percentile(&'static str),
    /// The share that is slower than powers of two, microseconds.
    Slower,
    /// Any numbers, side by side.
    Numbers,
}

/// An entry's points: across, measured, virtual.
type Points = Vec<(f64, f64, f64)>;

/// The picture of a kind of test, of some of its entries; `None` where there is nothing to draw. An SVG, the same for the
/// same rows on any machine.
pub fn svg(kind: &str, rows: &[ShapeRow]) -> Option<String> {
    let rows: Vec<&ShapeRow> =
        rows.iter().filter(|row| row.kind == kind && !row.compared.is_empty()).collect();
    let axis = axis_of(&rows)?;
    let with_points = rows.iter().map(|row| (row.id.as_str(), points(row, axis)));
    let all: Vec<(&str, Points)> =
        with_points.filter(|(_, points)| points.len() > 1 || axis == Axis::Numbers).collect();
    let all: Vec<(&str, Points)> = all.into_iter().filter(|(_, p)| !p.is_empty()).collect();
    if all.is_empty() {
        return None;
    }
    // Spread over all of them, the first and the last among them.
    let count = all.len().min(MOST_ENTRIES);
    let drawn: Vec<&(&str, Points)> =
        (0..count).map(|at| &all[at * (all.len() - 1) / (count - 1).max(1)]).collect();
    let mut text = String::new();
    Picture::new(kind, axis, &drawn).draw(&mut text).expect("a String takes all");
    Some(text)
}

fn axis_of(rows: &[&ShapeRow]) -> Option<Axis> {
    let percentiles = PREFIXES.into_iter().map(Axis::Percentile);
    let axes = std::iter::once(Axis::Written).chain(percentiles);
    let fits = |axis: &Axis| rows.iter().any(|row| points(row, *axis).len() > 2);
    axes.chain([Axis::Slower]).find(fits).or((!rows.is_empty()).then_some(Axis::Numbers))
}

fn points(row: &ShapeRow, axis: Axis) -> Points {
    let drawable = |x: f64, path: &str| {
        let compared = row.compared.get(path)?;
        let (measured, simulated) = (compared.published, compared.simulated);
        (measured > 0.0 && simulated > 0.0).then_some((x, measured, simulated))
    };
    let mut points: Points = match axis {
        Axis::Written => {
            let at = |path: &String| path.strip_prefix("iops_at_")?.split_once('.')?.1.parse().ok();
            row.compared.keys().filter_map(|path| drawable(at(path)?, path)).collect()
        }
        Axis::Percentile(prefix) => PERCENTILES
            .iter()
            .filter_map(|(name, percent)| drawable(nines(*percent), &format!("{prefix}{name}")))
            .collect(),
        Axis::Slower => SLOWER_THAN_US
            .filter_map(|power| {
                drawable(f64::from(power - SLOWER_THAN_US.start()), &slower_path(power))
            })
            .collect(),
        Axis::Numbers => {
            let numbered = row.compared.keys().enumerate();
            numbered.filter_map(|(at, path)| drawable(at as f64, path)).collect()
        }
    };
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// How far to the right a percentile is: one for each nine.
fn nines(percent: f64) -> f64 {
    -libm::log10(1.0 - percent / 100.0)
}

/// Entries, and what both axes show.
struct Picture<'a> {
    kind: &'a str,
    axis: Axis,
    drawn: &'a [&'a (&'a str, Points)],
    least: f64,
    most: f64,
    right: f64,
}

impl<'a> Picture<'a> {
    fn new(kind: &'a str, axis: Axis, drawn: &'a [&'a (&'a str, Points)]) -> Picture<'a> {
        let all = || drawn.iter().flat_map(|(_, points)| points);
        let values = all().flat_map(|&(_, measured, simulated)| [measured, simulated]);
        let least = values.clone().fold(f64::INFINITY, f64::min) / 1.5;
        let most = values.fold(0.0, f64::max) * 1.5;
        let right = all().map(|point| point.0).fold(0.0, f64::max).max(1.0) * 1.02;
        Picture { kind, axis, drawn, least, most, right }
    }

    // A hair is added before a pixel is chosen, so that a value at a pixel's edge is at the same pixel on any machine.
    fn x(&self, across: f64) -> i32 {
        LEFT + (f64::from(RIGHT - LEFT) * across / self.right + 1e-3).floor() as i32
    }

    fn y(&self, value: f64) -> i32 {
        let share = libm::log(value / self.least) / libm::log(self.most / self.least);
        BOTTOM - (f64::from(BOTTOM - TOP) * share + 1e-3).floor() as i32
    }

    /// Values with a tick: 1, 2 and 5 of each power of ten, or the powers alone where they are many.
    fn ticks(&self) -> Vec<f64> {
        let (first, last) =
            (libm::log10(self.least).floor() as i32, libm::log10(self.most).floor() as i32);
        let steps: &[f64] = if last - first > 3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let of = |power: i32| steps.iter().map(move |step| step * 10f64.powi(power));
        let within = |tick: &f64| (self.least..self.most).contains(tick);
        (first..=last).flat_map(of).filter(within).collect()
    }

    /// Places along the lower side, each with its word.
    fn places(&self) -> Vec<(f64, String)> {
        match self.axis {
            Axis::Percentile(_) => (0..=self.right.floor() as u32)
                .map(|nines| (f64::from(nines), percentile_label(f64::from(nines))))
                .collect(),
            Axis::Slower => SLOWER_THAN_US
                .map(|power| f64::from(power - SLOWER_THAN_US.start()))
                .zip(SLOWER_THAN_US.map(|power| format!("{} us", 1_u64 << power)))
                .filter(|(at, _)| *at <= self.right)
                .collect(),
            Axis::Written | Axis::Numbers => {
                let step = (self.right / 10.0).ceil().max(1.0);
                let count = (self.right / step).floor() as u32;
                let at = |number: u32| f64::from(number) * step;
                (0..=count).map(|number| (at(number), format!("{}", at(number)))).collect()
            }
        }
    }

    fn draw(&self, f: &mut impl Write) -> fmt::Result {
        let [width, height] = SIZE;
        writeln!(
            f,
            r#"<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">"#
        )?;
        writeln!(f, "<metadata>{}</metadata>", fourcorners_words::MADE_BY)?;
        writeln!(f, r##"<rect x="0" y="0" width="{width}" height="{height}" fill="#FFFFFF"/>"##)?;
        let (across, up) = match self.axis {
            Axis::Written => ("times the drive, or the range, was written", "I/Os a second"),
            Axis::Percentile(_) => ("percentile", "latency, us"),
            Axis::Slower => ("slower than", "% of the reads"),
            Axis::Numbers => {
                ("numbers of the result, in alphabetical order", "in the unit of each")
            }
        };
        let middle = [i32::midpoint(LEFT, RIGHT), i32::midpoint(TOP, BOTTOM)];
        let word = |at, anchor| Text { at, dy: "0.35em", anchor, turned: "" };
        word([middle[0], 18], "middle").write(
            f,
            format_args!("{}: measured (line) and virtual (dashes, crosses)", self.kind),
        )?;
        word([middle[0], height - 14], "middle").write(f, across)?;
        let turned = format!(r#" transform="rotate(270, 16, {})""#, middle[1]);
        Text { at: [16, middle[1]], dy: "0.35em", anchor: "middle", turned: &turned }
            .write(f, up)?;
        for tick in self.ticks() {
            let y = self.y(tick);
            line(f, [LEFT, y], [RIGHT, y], "0.15")?;
            word([LEFT - 8, y], "end").write(f, Plain(tick))?;
        }
        for (at, name) in self.places() {
            let x = self.x(at);
            line(f, [x, BOTTOM], [x, BOTTOM + 5], "1")?;
            word([x, BOTTOM + 14], "middle").write(f, name)?;
        }
        line(f, [LEFT, TOP], [LEFT, BOTTOM], "1")?;
        line(f, [LEFT, BOTTOM], [RIGHT, BOTTOM], "1")?;
        for ((_, points), colour) in self.drawn.iter().zip(COLOURS) {
            let curve = |value: fn(&(f64, f64, f64)) -> f64| -> Vec<[i32; 2]> {
                points.iter().map(|point| [self.x(point.0), self.y(value(point))]).collect()
            };
            path(f, &curve(|point| point.1), colour, "")?;
            let simulated = curve(|point| point.2);
            path(f, &simulated, colour, r#" stroke-dasharray="6 5""#)?;
            for [x, y] in simulated {
                let cross = format!("M{} {}l6 6m-6 0l6 -6", x - 3, y - 3);
                writeln!(
                    f,
                    r#"<path d="{cross}" fill="none" stroke="{colour}" stroke-width="1"/>"#
                )?;
            }
        }
        for (((id, _), colour), row) in self.drawn.iter().zip(COLOURS).zip(0..) {
            let y = TOP + 12 + 15 * row;
            path(f, &[[LEFT + 12, y], [LEFT + 30, y]], colour, "")?;
            word([LEFT + 36, y], "start").write(f, id)?;
        }
        writeln!(f, "</svg>")
    }
}

fn line(f: &mut impl Write, [x1, y1]: [i32; 2], [x2, y2]: [i32; 2], opacity: &str) -> fmt::Result {
    writeln!(
        f,
        r##"<line opacity="{opacity}" stroke="#000000" stroke-width="1" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>"##
    )
}

fn path(f: &mut impl Write, places: &[[i32; 2]], colour: &str, dashes: &str) -> fmt::Result {
    let places: Vec<String> = places.iter().map(|[x, y]| format!("{x},{y}")).collect();
    let points = places.join(" ");
    writeln!(
        f,
        r#"<polyline fill="none" stroke="{colour}" stroke-width="2"{dashes} points="{points}"/>"#
    )
}

/// `90`, `99`, `99.9` at one, two and three nines; nothing in between.
fn percentile_label(nines: f64) -> String {
    let whole = nines.round();
    if (nines - whole).abs() > 0.01 {
        return String::new();
    }
    match whole as u32 {
        0 => "0".into(),
        1 => "90".into(),
        2 => "99".into(),
        more => format!("99.{}", "9".repeat(more as usize - 2)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::Standing;
    use crate::validate::shapes::Compared;

    fn row(id: &str, numbers: &[(&str, f64, f64)]) -> ShapeRow {
        let compared = |&(path, published, simulated): &(&str, f64, f64)| {
            (path.to_string(), Compared { published, simulated, error: None })
        };
        ShapeRow {
            id: id.into(),
            kind: "kind".into(),
            drive: None,
            published_drive: String::new(),
            standing: Standing::Predicted,
            kept_out: false,
            reported: false,
            why: None,
            compared: numbers.iter().map(compared).collect(),
        }
    }

    #[test]
    fn a_picture_has_both_curves_of_its_entries_and_of_no_other_kind() {
        let shape = [("p50", 60.0, 62.0), ("p90", 70.0, 71.0), ("p99", 90.0, 180.0)];
        let rows: Vec<ShapeRow> = (0..20).map(|at| row(&format!("entry-{at}"), &shape)).collect();
        let chart = svg("kind", &rows).expect("there is something");
        let named = (0..20).filter(|at| chart.contains(&format!("entry-{at}\n"))).count();
        assert_eq!(named, MOST_ENTRIES, "{chart}");
        assert!(chart.contains("latency, us") && chart.contains("99.9").eq(&false), "{chart}");
        assert_eq!(svg("kind", &rows).as_deref(), Some(chart.as_str()));
        assert_eq!(svg("another", &rows), None);
        let written = [
            ("iops_at_drive_writes.0.5", 1e5, 9e4),
            ("iops_at_drive_writes.4", 7e4, 7e4),
            ("iops_at_drive_writes.1", 7e4, 7e4),
        ];
        let chart = svg("kind", &[row("a", &written)]).expect("something");
        assert!(chart.contains("was written"), "{chart}");
    }

    #[test]
    fn percentiles_stand_at_their_nines() {
        let labels = [0.0, 1.0, 2.0, 3.0, 4.0, 1.5].map(percentile_label);
        assert_eq!(labels, ["0", "90", "99", "99.9", "99.99", ""]);
        assert!((nines(99.99) - 4.0).abs() < 1e-9);
    }
}
