//! Published against simulated, drawn: `docs/fidelity.svg`.

use std::fmt;
use std::ops::Range;

use super::{Row, Standing, Validation};

const FITTED: &str = "#1F6FB4";
const PREDICTED: &str = "#D95F02";
/// Of the band that 30 % of error are, as a factor.
const BAND: f64 = 1.3;
/// Pixels of the picture, and of what is between its axes.
const SIZE: [i32; 2] = [760, 720];
const LEFT: i32 = 80;
const RIGHT: i32 = 743;
const TOP: i32 = 16;
const BOTTOM: i32 = 659;
/// Ticks of an axis, at most.
const MOST_TICKS: i32 = 11;

/// Every absolute figure as a point, in its own unit: both axes are logarithmic, so how far a point is
/// from the diagonal is its error in any unit. An SVG, the same for the same figures on any machine.
pub fn svg(validation: &Validation) -> String {
    let points: Vec<Point> = validation.figures.iter().filter_map(point).collect();
    let all = points.iter().flat_map(|point| [point.published, point.simulated]);
    let least = all.clone().reduce(f64::min).unwrap_or(1.0) / 2.0;
    let most = all.reduce(f64::max).unwrap_or(10.0) * 2.0;
    Picture { points: &points, range: least..most }.to_string()
}

/// A figure that is a number.
struct Point {
    standing: Standing,
    /// What was published, or the end of its range that is nearer.
    published: f64,
    simulated: f64,
}

fn point(row: &Row) -> Option<Point> {
    let simulated = row.simulated.as_ref()?.as_f64()?;
    let published = simulated / (1.0 + row.error?);
    let drawn = published > 0.0 && published.is_finite() && simulated > 0.0;
    drawn.then_some(Point { standing: row.standing, published, simulated })
}

/// The points, and what both axes show.
struct Picture<'a> {
    points: &'a [Point],
    range: Range<f64>,
}

impl Picture<'_> {
    /// How far along an axis a value is, 0 to 1.
    fn share(&self, value: f64) -> f64 {
        let (least, most) = (self.range.start.ln(), self.range.end.ln());
        (value.ln() - least) / (most - least)
    }

    // A hair is added before a pixel is chosen, so that a value at a pixel's edge is at the same pixel on any machine.
    fn x(&self, published: f64) -> i32 {
        LEFT + (f64::from(RIGHT - LEFT) * self.share(published) + 1e-3).floor() as i32
    }

    fn y(&self, simulated: f64) -> i32 {
        BOTTOM - (f64::from(BOTTOM - TOP) * self.share(simulated) + 1e-3).floor() as i32
    }

    /// Powers of ten, each or every so many; all multiples of one where there is no second.
    fn ticks(&self) -> Vec<f64> {
        let (first, last) =
            (self.range.start.log10().ceil() as i32, self.range.end.log10().floor() as i32);
        let apart = ((last - first) / MOST_TICKS + 1).max(1);
        let powers = (first..=last).step_by(apart as usize).map(|power| 10f64.powi(power));
        match first >= last {
            true => (first - 1..=last)
                .flat_map(|power| (1..10).map(move |digit| f64::from(digit) * 10f64.powi(power)))
                .filter(|tick| self.range.contains(tick))
                .collect(),
            false => powers.collect(),
        }
    }

    fn line(f: &mut fmt::Formatter<'_>, [x1, y1]: [i32; 2], [x2, y2]: [i32; 2]) -> fmt::Result {
        writeln!(
            f,
            r##"<line opacity="0.2" stroke="#000000" stroke-width="1" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>"##
        )
    }

    fn stroke(
        f: &mut fmt::Formatter<'_>,
        opacity: f64,
        [x1, y1]: [i32; 2],
        [x2, y2]: [i32; 2],
    ) -> fmt::Result {
        writeln!(
            f,
            r##"<polyline fill="none" opacity="{opacity}" stroke="#000000" stroke-width="1" points="{x1},{y1} {x2},{y2} "/>"##
        )
    }

    fn dot(f: &mut fmt::Formatter<'_>, [x, y]: [i32; 2], colour: &str) -> fmt::Result {
        writeln!(
            f,
            r##"<circle cx="{x}" cy="{y}" r="4" opacity="0.75" fill="{colour}" stroke="none" stroke-width="1"/>"##
        )
    }

    fn axes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ticks = self.ticks();
        let below = "0.76em";
        let (middle_x, middle_y) = (i32::midpoint(LEFT, RIGHT + 1), i32::midpoint(TOP, BOTTOM + 1));
        let turned = format!(r#" transform="rotate(270, {TOP}, {middle_y})""#);
        Text { at: [TOP, middle_y], dy: below, anchor: "middle", turned: &turned }
            .write(f, "simulated")?;
        Text { at: [middle_x, SIZE[1] - TOP], dy: "-0.5ex", anchor: "middle", turned: "" }
            .write(f, "published, in the unit of each figure")?;
        for x in ticks.iter().map(|&tick| self.x(tick)) {
            Self::line(f, [x, BOTTOM], [x, TOP])?;
        }
        for y in ticks.iter().map(|&tick| self.y(tick)) {
            Self::line(f, [LEFT, y], [RIGHT, y])?;
        }
        Self::stroke(f, 1.0, [LEFT - 1, TOP], [LEFT - 1, BOTTOM])?;
        for &tick in &ticks {
            let y = self.y(tick);
            Text { at: [LEFT - 10, y], dy: "0.5ex", anchor: "end", turned: "" }
                .write(f, Plain(tick))?;
            Self::stroke(f, 1.0, [LEFT - 6, y], [LEFT - 1, y])?;
        }
        Self::stroke(f, 1.0, [LEFT, BOTTOM + 1], [RIGHT, BOTTOM + 1])?;
        for &tick in &ticks {
            let x = self.x(tick);
            Text { at: [x, BOTTOM + 11], dy: below, anchor: "middle", turned: "" }
                .write(f, Plain(tick))?;
            Self::stroke(f, 1.0, [x, BOTTOM + 1], [x, BOTTOM + 6])?;
        }
        Ok(())
    }

    /// Where the error is at most 30 %, and where it is none.
    fn band(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Range { start: least, end: most } = self.range;
        let corners = [
            (least, least * BAND),
            (most / BAND, most),
            (most, most),
            (most, most / BAND),
            (least * BAND, least),
            (least, least),
        ];
        write!(f, r##"<polygon opacity="0.07" fill="#000000" points=""##)?;
        for (published, simulated) in corners {
            write!(f, "{},{} ", self.x(published), self.y(simulated))?;
        }
        writeln!(f, r#""/>"#)?;
        Self::stroke(f, 0.5, [self.x(least), self.y(least)], [self.x(most), self.y(most)])
    }

    fn legend(f: &mut fmt::Formatter<'_>, of: &[(Standing, &str, &str)]) -> fmt::Result {
        let [x, y] = [LEFT + 5, TOP + 5];
        let shape = format!(r#"<rect x="{x}" y="{y}" width="99" height="45""#);
        writeln!(f, r##"{shape} opacity="1" fill="#FFFFFF" stroke="none"/>"##)?;
        writeln!(f, r##"{shape} opacity="0.3" fill="none" stroke="#000000"/>"##)?;
        for ((_, name, _), row) in of.iter().zip(0..) {
            Text { at: [x + 40, y + 10 + 15 * row], dy: "0.76em", anchor: "start", turned: "" }
                .write(f, name)?;
        }
        for ((_, _, colour), row) in of.iter().zip(0..) {
            Self::dot(f, [x + 20, y + 15 + 15 * row], colour)?;
        }
        Ok(())
    }
}

impl fmt::Display for Picture<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [width, height] = SIZE;
        writeln!(
            f,
            r#"<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">"#
        )?;
        writeln!(f, "<metadata>{}</metadata>", fourcorners_words::MADE_BY)?;
        writeln!(
            f,
            r##"<rect x="0" y="0" width="{width}" height="{height}" opacity="1" fill="#FFFFFF" stroke="none"/>"##
        )?;
        self.axes(f)?;
        self.band(f)?;
        let standings =
            [(Standing::Fitted, "fitted", FITTED), (Standing::Predicted, "predicted", PREDICTED)];
        for (standing, _, colour) in standings {
            for point in self.points.iter().filter(|point| point.standing == standing) {
                Self::dot(f, [self.x(point.published), self.y(point.simulated)], colour)?;
            }
        }
        Self::legend(f, &standings)?;
        writeln!(f, "</svg>")
    }
}

/// Where words are: their place, and how they lie around it.
pub(super) struct Text<'a> {
    pub(super) at: [i32; 2],
    pub(super) dy: &'a str,
    pub(super) anchor: &'a str,
    pub(super) turned: &'a str,
}

impl Text<'_> {
    pub(super) fn write(&self, f: &mut impl fmt::Write, words: impl fmt::Display) -> fmt::Result {
        let Text { at: [x, y], dy, anchor, turned } = self;
        writeln!(
            f,
            "<text x=\"{x}\" y=\"{y}\" dy=\"{dy}\" text-anchor=\"{anchor}\" font-family=\"sans-serif\" \
             font-size=\"9.67741935483871\" opacity=\"1\" fill=\"#000000\"{turned}>\n{words}\n</text>"
        )
    }
}

/// A tick of a logarithmic axis without an exponent.
pub(super) struct Plain(pub(super) f64);

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
    use super::super::{Drives, built_in, validate};
    use super::*;

    fn drawn(ids: &[&str]) -> String {
        let mut figures = built_in();
        figures.retain(|figure| ids.contains(&figure.id.as_str()));
        assert_eq!(figures.len(), ids.len());
        svg(&validate(&figures, &Drives::of_catalogue(), (2, &|_| true)))
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
    fn a_figure_is_on_the_diagonal_if_it_is_met_and_off_it_if_it_is_not() {
        let at = |published, simulated| {
            let points = [Point { standing: Standing::Fitted, published, simulated }];
            let picture = Picture { points: &points, range: 0.1..1000.0 };
            let (x, y) = (picture.x(published), picture.y(simulated));
            assert!(picture.to_string().contains(&format!(r#"<circle cx="{x}" cy="{y}""#)));
            (
                f64::from(x - LEFT) / f64::from(RIGHT - LEFT),
                f64::from(BOTTOM - y) / f64::from(BOTTOM - TOP),
            )
        };
        // Of four decades, ten is in the middle and a hundred at three quarters.
        let near = |(x, y): (f64, f64), (right, up): (f64, f64)| {
            (x - right).abs() < 2e-3 && (y - up).abs() < 2e-3
        };
        assert!(near(at(10.0, 10.0), (0.5, 0.5)) && near(at(0.1, 1000.0), (0.0, 1.0)));
        assert!(near(at(10.0, 100.0), (0.5, 0.75)) && near(at(100.0, 10.0), (0.75, 0.5)));
    }

    #[test]
    fn ticks_are_no_more_than_can_be_read() {
        let ticks = |range| Picture { points: &[], range }.ticks();
        assert_eq!(ticks(0.05..200.0), [0.1, 1.0, 10.0, 100.0]);
        assert_eq!(ticks(50.0..350.0), [50.0, 60.0, 70.0, 80.0, 90.0, 100.0, 200.0, 300.0]);
        assert_eq!(ticks(2.5..4.5), [3.0, 4.0]);
        assert!(ticks(1e-9..1e9).len() <= MOST_TICKS as usize);
    }

    #[test]
    fn ticks_have_no_exponents() {
        let ticks = [0.001, 0.1, 10.0, 1e4, 1e6].map(|tick| Plain(tick).to_string());
        assert_eq!(ticks, ["0.001", "0.1", "10", "10 k", "1 M"]);
    }
}
