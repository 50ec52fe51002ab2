//! A chapter of the page: words, tables and charts in the order they are read.
//!
//! The charts are kept as data, so that `report --svg` finds them all without reading the page.

use maud::{Markup, html};

use super::chart::{Chart, legend};

/// A chapter.
pub(super) struct Chapter {
    /// Its anchor.
    pub(super) id: &'static str,
    /// Its heading.
    pub(super) heading: &'static str,
    /// What is in it; without any there is no chapter.
    pub(super) parts: Vec<Part>,
    /// Whether it is detail, which a reader opens.
    pub(super) folded: bool,
}

/// A part of a chapter.
pub(super) enum Part {
    /// Words and tables.
    Text(Markup),
    /// A heading above what follows.
    Heading(String),
    /// Charts side by side, with what tells their lines apart.
    Charts(Vec<Chart>),
    /// Charts of which buttons show one panel at a time.
    Switch(Switch),
}

/// Panels, and the buttons that choose among them.
pub(super) struct Switch {
    /// Rows of buttons.
    pub(super) groups: Vec<Group>,
    /// One for each choice there is something for.
    pub(super) panels: Vec<Panel>,
}

/// A row of buttons, of which one is pressed.
pub(super) struct Group {
    /// What is chosen.
    pub(super) what: &'static str,
    /// A button for each.
    pub(super) choices: Vec<String>,
}

/// What is shown while its choices are made.
pub(super) struct Panel {
    /// Which button of each group.
    pub(super) choices: Vec<usize>,
    /// Its heading.
    pub(super) heading: String,
    /// Its charts.
    pub(super) charts: Vec<Chart>,
}

impl Chapter {
    /// Its charts, in the order they are in it.
    pub(super) fn charts(&self) -> impl Iterator<Item = &Chart> {
        self.parts.iter().flat_map(|part| -> Vec<&Chart> {
            match part {
                Part::Text(_) | Part::Heading(_) => Vec::new(),
                Part::Charts(charts) => charts.iter().collect(),
                Part::Switch(switch) => {
                    switch.panels.iter().flat_map(|panel| &panel.charts).collect()
                }
            }
        })
    }

    /// The chapter on the page.
    pub(super) fn markup(&self) -> Markup {
        let heading = html! { h2 id=(format!("{}-heading", self.id)) { (self.heading) } };
        html! {
            section id=(self.id) aria-labelledby=(format!("{}-heading", self.id)) {
                @if self.folded {
                    details.fold {
                        summary { (heading) span { (self.counted()) } }
                        (self.content())
                    }
                } @else {
                    (heading)
                    (self.content())
                }
            }
        }
    }

    /// How much is behind its heading.
    fn counted(&self) -> String {
        match self.charts().count() {
            0 => "tables".into(),
            1 => "1 chart".into(),
            count => format!("{count} charts"),
        }
    }

    fn content(&self) -> Markup {
        // Charts below a heading of their own are a level deeper.
        let mut sub = false;
        html! {
                @for part in &self.parts {
                    @match part {
                        Part::Text(text) => (text),
                        Part::Heading(heading) => {
                            h3.group { (heading) }
                            ({ sub = true; "" })
                        }
                        Part::Charts(charts) => {
                            (legend(charts))
                            div.grid { @for chart in charts { (chart.figure(sub)) } }
                        }
                        Part::Switch(switch) => (switch.markup()),
                    }
                }
        }
    }
}

impl Switch {
    fn markup(&self) -> Markup {
        let chosen = |panel: &Panel| panel.choices.iter().map(usize::to_string).collect::<Vec<_>>();
        html! {
            div data-switch {
                @for group in &self.groups {
                    // A row of one button would choose nothing, but keeps its place among the choices.
                    div.switch role="group" aria-label=(group.what)
                        data-single[group.choices.len() < 2] hidden
                    {
                        span { (group.what) }
                        @for (value, words) in group.choices.iter().enumerate() {
                            button type="button" data-value=(value)
                                aria-pressed=(if value == 0 { "true" } else { "false" }) { (words) }
                        }
                    }
                }
                @for panel in &self.panels {
                    div.panel data-choices=(chosen(panel).join(" ")) {
                        h3 { (panel.heading) }
                        // Lines that are told apart differ from chart to chart.
                        div.grid.multiples[panel.charts.iter().all(Chart::is_dots)] { @for chart in &panel.charts {
                            div { (chart.figure(true)) (legend(std::slice::from_ref(chart))) }
                        } }
                    }
                }
            }
        }
    }
}
