//! Published against simulated, drawn: `docs/fidelity.svg`.

use std::fmt;

use plotters::prelude::*;

use super::{Row, Standing, Validation};

const SIZE: (u32, u32) = (760, 720);
const FITTED: RGBColor = RGBColor(0x1f, 0x6f, 0xb4);
const PREDICTED: RGBColor = RGBColor(0xd9, 0x5f, 0x02);
/// Of the band that 30 % of error are, as a factor.
const BAND: f64 = 1.3;

/// A chart that could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("the chart cannot be drawn: {0}")]
pub struct ChartError(String);

impl ChartError {
    /// With what the drawing library says.
    pub(super) fn new(cause: String) -> ChartError {
        ChartError(cause)
    }
}

/// Every absolute figure as a point, in its own unit: both axes are logarithmic, so how far a point is
/// from the diagonal is its error in any unit. An SVG, the same for the same figures on any machine.
///
/// # Errors
/// What the drawing library says.
pub fn svg(validation: &Validation) -> Result<String, ChartError> {
    let points: Vec<(Standing, f64, f64)> = validation.figures.iter().filter_map(point).collect();
    let all = points.iter().flat_map(|&(_, published, simulated)| [published, simulated]);
    let least = all.clone().reduce(f64::min).unwrap_or(1.0) / 2.0;
    let most = all.reduce(f64::max).unwrap_or(10.0) * 2.0;
    let mut text = String::new();
    draw(&mut text, &points, least..most).map_err(|error| ChartError(error.to_string()))?;
    Ok(text)
}

/// The number that was published, or the end of its range that is nearer, and what was simulated.
fn point(row: &Row) -> Option<(Standing, f64, f64)> {
    let simulated = row.simulated.as_ref()?.as_f64()?;
    let published = simulated / (1.0 + row.error?);
    let drawn = published > 0.0 && published.is_finite() && simulated > 0.0;
    drawn.then_some((row.standing, published, simulated))
}

type Drawing<'a> = DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>;

fn draw<'a>(
    text: &'a mut String,
    points: &[(Standing, f64, f64)],
    range: std::ops::Range<f64>,
) -> Result<(), Drawing<'a>> {
    let (least, most) = (range.start, range.end);
    let root = SVGBackend::with_string(text, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .margin(16)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(range.clone().log_scale(), range.log_scale())?;
    let number = |value: &f64| Plain(*value).to_string();
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .x_desc("published, in the unit of each figure")
        .y_desc("simulated")
        .x_label_formatter(&number)
        .y_label_formatter(&number)
        .draw()?;
    let band = [(least, least * BAND), (most / BAND, most), (most, most), (most, most / BAND)];
    let band = band.into_iter().chain([(least * BAND, least), (least, least)]);
    chart.draw_series([Polygon::new(band.collect::<Vec<_>>(), BLACK.mix(0.07).filled())])?;
    chart.draw_series([PathElement::new([(least, least), (most, most)], BLACK.mix(0.5))])?;
    for (standing, name, colour) in
        [(Standing::Fitted, "fitted", FITTED), (Standing::Predicted, "predicted", PREDICTED)]
    {
        let of_it = points.iter().filter(|point| point.0 == standing);
        let dots = of_it.map(|&(_, published, simulated)| {
            Circle::new((published, simulated), 4, colour.mix(0.75).filled())
        });
        chart
            .draw_series(dots)?
            .label(name)
            .legend(move |(x, y)| Circle::new((x + 10, y), 4, colour.mix(0.75).filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .border_style(BLACK.mix(0.3))
        .background_style(WHITE)
        .draw()?;
    root.present()
}

/// A tick of a logarithmic axis without an exponent.
struct Plain(f64);

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            million if million >= 1e6 => write!(f, "{} M", million / 1e6),
            thousand if thousand >= 1e3 => write!(f, "{} k", thousand / 1e3),
            other => write!(f, "{other}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{built_in, validate};
    use super::*;

    fn drawn(ids: &[&str]) -> String {
        let mut figures = built_in();
        figures.retain(|figure| ids.contains(&figure.id.as_str()));
        assert_eq!(figures.len(), ids.len());
        svg(&validate(&figures, 2, &|_| true)).expect("it can be drawn")
    }

    #[test]
    fn every_absolute_figure_is_a_point_in_the_colour_of_its_standing() {
        // A fitted value, a predicted range and an ordering, which is no point.
        let chart = drawn(&["m089", "m049", "m054"]);
        let dots = |colour: &str| {
            let is_dot = |line: &&str| line.starts_with("<circle") && line.contains(colour);
            chart.lines().filter(is_dot).count()
        };
        // One more each for the legend.
        assert_eq!((dots("#1F6FB4"), dots("#D95F02")), (2, 2), "{chart}");
        assert_eq!(chart, drawn(&["m089", "m049", "m054"]));
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert!(drawn(&[]).starts_with("<svg"));
    }

    #[test]
    fn ticks_have_no_exponents() {
        let ticks = [0.001, 0.1, 10.0, 1e4, 1e6].map(|tick| Plain(tick).to_string());
        assert_eq!(ticks, ["0.001", "0.1", "10", "10 k", "1 M"]);
    }
}
