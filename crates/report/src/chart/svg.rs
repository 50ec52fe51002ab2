//! A chart as a picture of its own: an SVG with its heading, axes and legend, in the light colours of
//! the page, that needs neither a script nor a style sheet.

use fourcorners_words::{MADE_BY, reorders_text};
use maud::{Markup, PreEscaped, html};

use super::super::STYLE;
use super::super::words::wrapped;
use super::{
    BAR_ROW_PX, BAR_SHARE, BarRow, Bars, Chart, Line, Lines, Marks, Plot, Scale, dashes,
    line_colour_name,
};

/// Width of all pictures.
const WIDTH: f64 = 800.0;
/// Room around.
const EDGE: f64 = 24.0;
/// From one line of a heading or a legend to the next.
const LEADING: f64 = 22.0;
/// Width of a letter of a heading, on average; fonts differ, so it is a generous one.
const HEADING_LETTER: f64 = 10.5;
/// The area between the axes.
const PLOT_HEIGHT: f64 = 320.0;
/// What the names of the values take at the left of it.
const LEFT: f64 = 84.0;
/// What a bar's value takes at its end, as a factor of the longest bar.
const VALUE_ROOM: f64 = 1.22;
/// Fonts of the page, and the one that PNG pictures are made with.
const FONTS: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";

/// The picture.
pub(crate) fn svg(chart: &Chart, made_by: &str) -> String {
    let title = chart.full_title();
    let unit = match &chart.plot {
        Plot::Bars(bars) => bars.what.as_str(),
        Plot::Lines(_) => "",
    };
    let heading = wrapped(&title, ((WIDTH - 2.0 * EDGE) / HEADING_LETTER) as usize);
    let cut = match &chart.plot {
        Plot::Bars(bars) if bars.rows.iter().any(|row| bars.cuts(row)) => {
            "Bars with a break are longer than there is room for"
        }
        _ => "",
    };
    let about: Vec<&str> = [unit, chart.about.as_str(), chart.note.as_str(), cut]
        .into_iter()
        .filter(|it| !it.is_empty())
        .collect();
    let about = about.join(". ");
    let mut top = EDGE + LEADING * heading.len() as f64;
    if !about.is_empty() {
        top += LEADING;
    }
    let (drawing, height) = match &chart.plot {
        Plot::Bars(bars) => bar_drawing(bars, top),
        Plot::Lines(lines) => line_drawing(lines, top + 14.0),
    };
    let height = top + height + 2.0 * EDGE;
    let small = 12;
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(WIDTH) height=(number(height))
            viewBox=(format!("0 0 {WIDTH} {}", number(height))) font-family=(FONTS) font-size=(small)
            role="img"
        {
            metadata { (MADE_BY) }
            title { (title) }
            desc { (chart.description) }
            rect width="100%" height="100%" fill=(colour("--paper")) {}
            @for (row, words) in heading.iter().enumerate() {
                text x=(EDGE) y=(number(EDGE + LEADING * row as f64 + 14.0)) font-size="18"
                    font-weight="700" fill=(colour("--ink")) { (words) }
            }
            @if !about.is_empty() {
                text x=(EDGE) y=(number(top - 4.0)) font-size="14" fill=(colour("--quiet")) { (about) }
            }
            (drawing)
            text x=(WIDTH - EDGE) y=(number(height - 12.0)) font-size="11" text-anchor="end"
                fill=(colour("--quiet")) { (made_by) }
        }
    };
    let picture: String = picture.into_string().chars().map(of_xml).collect();
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{picture}\n")
}

/// A character that XML 1.0 has; a drive's name may hold others, and one of them makes a picture that
/// nothing opens. Nor one that turns round what stands beside it.
pub(crate) fn of_xml(character: char) -> char {
    match character {
        '\t' | '\n' | '\r' => character,
        '\0'..' ' | '\u{fffe}' | '\u{ffff}' => char::REPLACEMENT_CHARACTER,
        _ if reorders_text(character) => char::REPLACEMENT_CHARACTER,
        _ => character,
    }
}

/// A colour of the style sheet; the first there are the light ones.
pub(crate) fn colour(name: &str) -> &'static str {
    let named = format!("{name}: ");
    let value = STYLE.split(named.as_str()).nth(1).and_then(|rest| rest.split(';').next());
    value.unwrap_or("#000000")
}

/// A length without digits nobody sees.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), String::from)
}

/// What is drawn below `top`, and its height.
type Drawn = (Markup, f64);

fn bar_drawing(bars: &Bars, top: f64) -> Drawn {
    let row_px = BAR_ROW_PX as f64;
    let thick = row_px * BAR_SHARE;
    let full = WIDTH - 2.0 * EDGE;
    let per_unit = if bars.longest > 0.0 { full / (bars.longest * VALUE_ROOM) } else { 0.0 };
    let compared = bars.compared();
    let bar = |(place, row): (usize, &BarRow)| {
        let y = top + row_px * (place as f64 + 1.0) - thick;
        let length = (row.length().min(bars.longest) * per_unit).max(1.0);
        let weight = if row.under_test && compared { "700" } else { "400" };
        let fill = colour(match (row.under_test, row.reference) {
            (true, _) => "--accent",
            (_, true) => "--reference",
            _ => "--other",
        });
        html! {
            text x=(EDGE) y=(number(y - 5.0)) font-size="14" font-weight=(weight)
                fill=(colour("--ink")) { (row.label) }
            rect x=(EDGE) y=(number(y)) width=(number(length)) height=(number(thick)) fill=(fill) {}
            @if bars.cuts(row) {
                path d=(format!("M{} {}l8 -{}m6 0l-8 {}", number(EDGE + length - 26.0), number(y + thick + 2.0),
                    number(thick + 4.0), number(thick + 4.0)))
                    fill="none" stroke=(colour("--paper")) stroke-width="4" {}
            }
            @if row.hatched {
                rect x=(EDGE) y=(number(y)) width=(number(length)) height=(number(thick))
                    fill="url(#wall)" {}
            }
            text x=(number(EDGE + length + 5.0)) y=(number(y + thick / 2.0 + 5.0)) font-size="14"
                fill=(colour("--ink")) { (row.text) }
        }
    };
    let markup = html! {
        @if bars.rows.iter().any(|row| row.hatched) {
            defs { pattern id="wall" width="8" height="8" patternUnits="userSpaceOnUse"
                patternTransform="rotate(45)" {
                rect width="2" height="8" fill=(colour("--paper")) {}
            } }
        }
        @for row in bars.rows.iter().enumerate() { (bar(row)) }
    };
    (markup, row_px * bars.rows.len() as f64 + 8.0)
}

/// The area between the axes, in the picture's own units.
struct Area {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Area {
    /// Where a point is; a point beyond an axis is at its end.
    fn at(&self, lines: &Lines, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x(&lines.across, x), self.y(&lines.up.shown, y))
    }

    fn x(&self, scale: &Scale, value: f64) -> f64 {
        self.left + self.width * scale.place(value).clamp(0.0, 1.0)
    }

    fn y(&self, scale: &Scale, value: f64) -> f64 {
        self.top + self.height * (1.0 - scale.place(value).clamp(0.0, 1.0))
    }
}

fn line_drawing(lines: &Lines, top: f64) -> Drawn {
    let named = !lines.up.shown.name.is_empty();
    let top = if named { top + LEADING } else { top };
    let area = Area { left: LEFT, top, width: WIDTH - LEFT - EDGE, height: PLOT_HEIGHT };
    let foot = top + PLOT_HEIGHT;
    let several = lines.lines.len() > 1;
    let legend_top = foot + if lines.across.name.is_empty() { 34.0 } else { 56.0 };
    let (grid, rule, quiet) = (colour("--grid"), colour("--rule"), colour("--quiet"));
    let markup = html! {
        @if named {
            text x=(EDGE) y=(number(top - 10.0)) fill=(quiet) { (lines.up.shown.name) }
        }
        @for (value, name) in &lines.up.shown.ticks {
            @let y = number(area.y(&lines.up.shown, *value));
            line x1=(LEFT) x2=(WIDTH - EDGE) y1=(y) y2=(y) stroke=(grid) {}
            text x=(LEFT - 8.0) y=(y) dy="4" text-anchor="end" fill=(quiet) { (name) }
        }
        line x1=(LEFT) x2=(WIDTH - EDGE) y1=(number(foot)) y2=(number(foot)) stroke=(rule) {}
        @for (value, name) in &lines.across.ticks {
            @let x = number(area.x(&lines.across, *value));
            line x1=(x) x2=(x) y1=(number(foot)) y2=(number(foot + 5.0)) stroke=(rule) {}
            text x=(x) y=(number(foot + 19.0)) text-anchor="middle" fill=(quiet) { (name) }
        }
        text x=(WIDTH - EDGE) y=(number(foot + 38.0)) text-anchor="end" fill=(quiet)
            { (lines.across.name) }
        @for line in &lines.lines { (drawn(line, lines, &area)) }
        @if several { @for (row, line) in lines.lines.iter().enumerate() {
            @let y = number(legend_top + LEADING * row as f64);
            line x1=(LEFT) x2=(LEFT + 40.0) y1=(y) y2=(y) stroke-width="2.5"
                stroke=(colour(&line_colour_name(line.style)))
                stroke-dasharray=[dashes(line.style)] {}
            text x=(LEFT + 50.0) y=(y) dy="4" font-size="13" fill=(colour("--ink")) { (line.label) }
        } }
    };
    let legend = if several { LEADING * lines.lines.len() as f64 } else { 0.0 };
    (markup, legend_top + legend - top + if named { LEADING } else { 0.0 })
}

fn drawn(line: &Line, lines: &Lines, area: &Area) -> Markup {
    let colour = colour(&line_colour_name(line.style));
    let places: Vec<(f64, f64)> = line
        .points
        .iter()
        .filter(|(x, y)| x.is_finite() && y.is_finite())
        .map(|&point| area.at(lines, point))
        .collect();
    let path: Vec<String> =
        places.iter().map(|&(x, y)| format!("{},{}", number(x), number(y))).collect();
    let (marked, radius) = match line.marks {
        Marks::None => (&places[..0], 0.0),
        Marks::Each => (&places[..], 3.5),
        Marks::Alone => (&places[..], 1.6),
        Marks::Last => (&places[places.len().saturating_sub(1)..], 4.5),
    };
    html! {
        @if line.marks != Marks::Alone && path.len() > 1 {
            polyline points=(PreEscaped(path.join(" "))) fill="none" stroke=(colour)
                stroke-width=(if line.style == 0 { "2.5" } else { "1.8" }) stroke-linejoin="round"
                stroke-dasharray=[dashes(line.style)] {}
        }
        @for (x, y) in marked {
            circle cx=(number(*x)) cy=(number(*y)) r=(radius) fill=(colour) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_does_not_have_is_not_in_a_picture() {
        let shown: String = "a\u{1}b\u{1b}[1m\tc\u{ffff}ü\u{202e}".chars().map(of_xml).collect();
        assert_eq!(shown, "a\u{fffd}b\u{fffd}[1m\tc\u{fffd}ü\u{fffd}");
    }

    #[test]
    fn a_bar_that_is_cut_is_broken_and_one_that_fits_is_whole() {
        let picture = |longest| {
            let row =
                |label: &str, value| BarRow { label: label.into(), value, ..BarRow::default() };
            let bars =
                Bars { rows: vec![row("a", 1.0), row("b", 13.0)], longest, what: "MB/s".into() };
            let chart = super::super::super::speed::bars("t", "MB/s", bars);
            let svg = svg(&chart, "test");
            (svg.contains("Bars with a break are longer"), svg.matches("<path").count())
        };
        assert_eq!(picture(13.0), (false, 0));
        assert_eq!(picture(1.0), (true, 1));
    }

    #[test]
    fn the_colours_are_the_light_ones_of_the_page() {
        assert_eq!([colour("--paper"), colour("--accent")], ["#ffffff", "#c2410c"]);
        for style in 0..super::super::LINE_COLOURS {
            assert!(colour(&line_colour_name(style)).starts_with('#'));
        }
        assert_ne!(colour("--line-1"), "#000000");
    }
}
