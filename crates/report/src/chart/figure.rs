//! A chart's place on the page: heading, drawing, what it can be done with, and its numbers.

use maud::{Markup, html};

use super::{Chart, Plot, REFERENCE_STYLE, dashes, inline, line_colour_name};

impl Chart {
    /// The figure, below a heading of level 3 where `sub` is false, else of level 4.
    pub(crate) fn figure(&self, sub: bool) -> Markup {
        let title = self.full_title();
        html! {
            figure {
                figcaption {
                    @if sub { h4 { (self.title) } } @else { h3 { (self.title) } }
                    @if !self.about.is_empty() { p { (self.about) } }
                    @if !self.note.is_empty() { p.warn { (self.note) } }
                }
                div class=(self.class()) role="img" aria-label=(self.description) data-name=(self.name)
                    data-unit=(self.unit())
                { (inline::drawing(self)) }
                (inline::data(self))
                div.below {
                    details.data {
                        summary { "Table" span.unseen { ": " (title) } }
                        (self.table.markup(&title))
                    }
                    div.tools hidden {
                        (self.axis_button())
                        @for format in ["svg", "png", "csv"] {
                            button type="button" data-save=(format)
                                aria-label=(format!("{}, save: {title}", format.to_uppercase()))
                                { (format.to_uppercase()) }
                        }
                    }
                }
            }
        }
    }

    fn class(&self) -> &'static str {
        match &self.plot {
            Plot::Bars(_) => "chart bars",
            Plot::Lines(_) => "chart lines",
        }
    }

    /// What is measured.
    fn unit(&self) -> &str {
        match &self.plot {
            Plot::Bars(bars) => &bars.what,
            Plot::Lines(lines) => &lines.up.shown.name,
        }
    }

    /// Switches between a logarithmic and a linear axis, where there are both.
    fn axis_button(&self) -> Markup {
        let (log, both) = match &self.plot {
            Plot::Bars(_) => (false, false),
            Plot::Lines(lines) => (lines.up.shown.log, lines.up.other.is_some()),
        };
        html! {
            @if both {
                button.axis type="button" aria-pressed=(log.to_string())
                    aria-label=(format!("Log axis: {}", self.full_title())) { "Log axis" }
            }
        }
    }
}

/// Which line is whose in these charts; nothing where there is only one.
pub(crate) fn legend(charts: &[Chart]) -> Markup {
    let mut shown: Vec<(usize, &str)> = Vec::new();
    for chart in charts {
        let Plot::Lines(lines) = &chart.plot else { continue };
        for line in &lines.lines {
            let label = if line.style == REFERENCE_STYLE { "other drives" } else { &line.label };
            if !shown.contains(&(line.style, label)) {
                shown.push((line.style, label));
            }
        }
    }
    html! {
        @if shown.len() > 1 {
            ul.legend aria-label="Lines" {
                @for (style, label) in shown {
                    li {
                        svg width="34" height="8" aria-hidden="true" {
                            line x1="0" y1="4" x2="34" y2="4" stroke-width="2.5"
                                stroke-dasharray=[dashes(style)]
                                style=(format!("stroke:var({})", line_colour_name(style))) {}
                        }
                        span { (label) }
                    }
                }
            }
        }
    }
}
