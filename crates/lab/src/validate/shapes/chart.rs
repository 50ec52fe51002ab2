//! Measured and virtual curves of a kind of test in one picture: `docs/distributions/KIND.svg`.

use plotters::coord::Shift;
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use super::ShapeRow;
use super::numbers::PERCENTILES;
use crate::validate::chart::ChartError;

const SIZE: (u32, u32) = (760, 420);
/// Most entries in a picture: more curves cannot be told apart.
const MOST_ENTRIES: usize = 6;
const COLOURS: [RGBColor; MOST_ENTRIES] = [
    RGBColor(0x1f, 0x6f, 0xb4),
    RGBColor(0xd9, 0x5f, 0x02),
    RGBColor(0x1b, 0x9e, 0x77),
    RGBColor(0x75, 0x3f, 0xb0),
    RGBColor(0xc2, 0x1e, 0x56),
    RGBColor(0x66, 0x66, 0x66),
];
/// What a latency's name may begin with, in the order of preference.
const PREFIXES: [&str; 5] = ["", "read.", "latency_last_quarter.", "steady.", "write."];

/// What a picture has along its lower side.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Axis {
    /// Rates by how often the drive was written.
    Written,
    /// Latencies by percentile, of names with a prefix.
    Percentile(&'static str),
    /// Any numbers, side by side.
    Numbers,
}

/// An entry's points: across, measured, virtual.
type Points = Vec<(f64, f64, f64)>;

/// The picture of a kind of test, of some of its entries; `None` where there is nothing to draw. An SVG, the same for the
/// same rows on any machine.
///
/// # Errors
/// What the drawing library says.
pub fn svg(kind: &str, rows: &[ShapeRow]) -> Result<Option<String>, ChartError> {
    let rows: Vec<&ShapeRow> =
        rows.iter().filter(|row| row.kind == kind && !row.compared.is_empty()).collect();
    let Some(axis) = axis_of(&rows) else { return Ok(None) };
    let with_points = rows.iter().map(|row| (row.id.as_str(), points(row, axis)));
    let all: Vec<(&str, Points)> =
        with_points.filter(|(_, points)| points.len() > 1 || axis == Axis::Numbers).collect();
    let all: Vec<(&str, Points)> = all.into_iter().filter(|(_, p)| !p.is_empty()).collect();
    if all.is_empty() {
        return Ok(None);
    }
    // Spread over all of them, the first and the last among them.
    let count = all.len().min(MOST_ENTRIES);
    let drawn: Vec<&(&str, Points)> =
        (0..count).map(|at| &all[at * (all.len() - 1) / (count - 1).max(1)]).collect();
    let mut text = String::new();
    draw(&mut text, kind, axis, &drawn).map_err(|error| ChartError::new(error.to_string()))?;
    Ok(Some(text))
}

fn axis_of(rows: &[&ShapeRow]) -> Option<Axis> {
    let percentiles = PREFIXES.into_iter().map(Axis::Percentile);
    let axes = std::iter::once(Axis::Written).chain(percentiles);
    let fits = |axis: &Axis| rows.iter().any(|row| points(row, *axis).len() > 2);
    axes.into_iter().find(fits).or((!rows.is_empty()).then_some(Axis::Numbers))
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

type Drawing<'a> = DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>;

fn draw<'a>(
    text: &'a mut String,
    kind: &str,
    axis: Axis,
    drawn: &[&(&str, Points)],
) -> Result<(), Drawing<'a>> {
    let all = || drawn.iter().flat_map(|(_, points)| points);
    let values = all().flat_map(|&(_, measured, simulated)| [measured, simulated]);
    let least = values.clone().fold(f64::INFINITY, f64::min) / 1.5;
    let most = values.fold(0.0, f64::max) * 1.5;
    let right = all().map(|point| point.0).fold(0.0, f64::max).max(1.0) * 1.02;
    let root: DrawingArea<SVGBackend<'_>, Shift> =
        SVGBackend::with_string(text, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(14)
        .caption(
            format!("{kind}: measured (line) and virtual (dashes, crosses)"),
            ("sans-serif", 16),
        )
        .x_label_area_size(40)
        .y_label_area_size(72)
        .build_cartesian_2d(0.0..right, (least..most).log_scale())?;
    let across = |x: &f64| match axis {
        Axis::Percentile(_) => percentile_label(*x),
        _ => format!("{}", (x * 100.0).round() / 100.0),
    };
    let (across_words, up_words) = match axis {
        Axis::Written => ("times the drive, or the range, was written", "I/Os a second"),
        Axis::Percentile(_) => ("percentile", "latency, us"),
        Axis::Numbers => ("numbers of the result, in alphabetical order", "in the unit of each"),
    };
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc(across_words)
        .y_desc(up_words)
        .x_label_formatter(&across)
        .y_label_formatter(&|value: &f64| plain(*value))
        .draw()?;
    for ((id, points), colour) in drawn.iter().zip(COLOURS) {
        let measured = points.iter().map(|&(x, measured, _)| (x, measured));
        let simulated = points.iter().map(|&(x, _, simulated)| (x, simulated));
        chart
            .draw_series([PathElement::new(measured.collect::<Vec<_>>(), colour.stroke_width(2))])?
            .label(*id)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        let dashes = DashedPathElement::new(
            simulated.clone().collect::<Vec<_>>(),
            6,
            5,
            colour.stroke_width(2),
        );
        chart.draw_series([dashes])?;
        chart.draw_series(simulated.map(|point| Cross::new(point, 3, colour.stroke_width(1))))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .border_style(BLACK.mix(0.3))
        .background_style(WHITE.mix(0.8))
        .draw()?;
    root.present()
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

/// A tick of a logarithmic axis without an exponent.
fn plain(value: f64) -> String {
    match value {
        million if million >= 1e6 => format!("{} M", million / 1e6),
        thousand if thousand >= 1e3 => format!("{} k", thousand / 1e3),
        other => format!("{other}"),
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
            why: None,
            compared: numbers.iter().map(compared).collect(),
        }
    }

    #[test]
    fn a_picture_has_both_curves_of_its_entries_and_of_no_other_kind() {
        let shape = [("p50", 60.0, 62.0), ("p90", 70.0, 71.0), ("p99", 90.0, 180.0)];
        let rows: Vec<ShapeRow> = (0..20).map(|at| row(&format!("entry-{at}"), &shape)).collect();
        let chart = svg("kind", &rows).expect("it can be drawn").expect("there is something");
        let named = (0..20).filter(|at| chart.contains(&format!("entry-{at}\n"))).count();
        assert_eq!(named, MOST_ENTRIES, "{chart}");
        assert!(chart.contains("latency, us") && chart.contains("99.9").eq(&false), "{chart}");
        assert_eq!(svg("kind", &rows).expect("again").as_deref(), Some(chart.as_str()));
        assert_eq!(svg("another", &rows).expect("nothing"), None);
        let written = [
            ("iops_at_drive_writes.0.5", 1e5, 9e4),
            ("iops_at_drive_writes.4", 7e4, 7e4),
            ("iops_at_drive_writes.1", 7e4, 7e4),
        ];
        let chart = svg("kind", &[row("a", &written)]).expect("drawn").expect("something");
        assert!(chart.contains("was written"), "{chart}");
    }

    #[test]
    fn percentiles_stand_at_their_nines() {
        let labels = [0.0, 1.0, 2.0, 3.0, 4.0, 1.5].map(percentile_label);
        assert_eq!(labels, ["0", "90", "99", "99.9", "99.99", ""]);
        assert!((nines(99.99) - 4.0).abs() < 1e-9);
    }
}
