//! Consistency: the I/Os of every second of a long random write, a dot each, as AnandTech drew them.
//!
//! Three charts for every run, all with the same axes so that runs can be told apart by eye: the
//! whole run on a log axis, and its late part on a log and on a linear one. A button for each drive
//! and for each spare area chooses the run; on paper and without a script all are there.

use maud::{Markup, html};
use plotly::Scatter;
use plotly::common::{Marker, Mode};
use plotly::layout::{AxisType, HoverMode, Margin};

use super::charts::{Chart, axis, base_layout, chart_text, line_colour};
use super::entries::{Entries, Entry, figure_names};
use super::words::{figure_words, iops, percent};
use crate::record::{Series, Steadiness};

/// The method whose series these are.
pub(super) const METHOD: &str = "consistency";
/// From when on the charts look closer, seconds.
const LATE: usize = 1400;
/// Room above the highest dot.
const HEADROOM: f64 = 1.06;

/// A part of a run on one of the two kinds of axis.
#[derive(Clone, Copy)]
struct View {
    heading: &'static str,
    from: usize,
    log: bool,
}

const VIEWS: [View; 3] = [
    View { heading: "The whole run, log axis", from: 0, log: true },
    View { heading: "From 1400 s, log axis", from: LATE, log: true },
    View { heading: "From 1400 s, linear axis", from: LATE, log: false },
];

/// What a view covers in all runs together.
#[derive(Clone, Copy)]
struct Bounds {
    seconds: usize,
    highest: f64,
}

impl Bounds {
    fn of(view: View, runs: &[(&Entry, &str, &Series)]) -> Bounds {
        let values = runs.iter().flat_map(|(.., series)| series.iops.iter().skip(view.from));
        Bounds {
            seconds: runs.iter().map(|(.., series)| series.iops.len()).max().unwrap_or(0),
            highest: values.fold(1, |highest, &value| highest.max(value)) as f64,
        }
    }
}

/// The chapter; nothing without a run.
pub(super) fn sections(all: &Entries) -> Option<Markup> {
    let entries = all.of_method(METHOD);
    let names = figure_names(&entries);
    let mut runs: Vec<(&Entry, &str, &Series)> = Vec::new();
    for &entry in &entries {
        for &name in &names {
            if let Some(series) = entry.record.series.get(name) {
                runs.push((entry, name, series));
            }
        }
    }
    let longest = runs.iter().map(|(.., series)| series.iops.len()).max()?;
    let views: Vec<View> = VIEWS.into_iter().filter(|view| view.from < longest).collect();
    (!views.is_empty()).then(|| {
        html! {
            p {
                "4 KiB random writes at QD 32 on a drive that was filled first: a dot for the I/Os of \
                 every second. All drives are drawn on the same axes."
            }
            div data-switch {
                (buttons("drive", "Drive", entries.iter().map(|entry| entry.label_with_clock(all))))
                (buttons("run", "Spare area", names.iter().map(|name| spare_words(name))))
                @for (entry, name, series) in &runs {
                    div.panel
                        data-drive=(place(&entries, |it| std::ptr::eq(*it, *entry)))
                        data-run=(place(&names, |it| it == name))
                    {
                        h3 { (entry.label_with_clock(all)) ", " (spare_words(name)) }
                        div.grid { @for &view in &views {
                            figure {
                                figcaption { h4 { (view.heading) } p { "IOPS of each second" } }
                                (chart(entry, name, series, view, Bounds::of(view, &runs)).markup())
                            }
                        } }
                    }
                }
            }
            (table(all, &entries))
        }
    })
}

fn place<T>(items: &[T], is_it: impl Fn(&T) -> bool) -> usize {
    items.iter().position(is_it).unwrap_or(0)
}

/// A row of buttons, one pressed; nothing where there is nothing to choose.
fn buttons(key: &str, what: &str, words: impl ExactSizeIterator<Item = String>) -> Markup {
    html! {
        @if words.len() > 1 {
            div.switch role="group" aria-label=(what) data-key=(key) hidden {
                span { (what) }
                @for (value, words) in words.enumerate() {
                    button type="button" data-value=(value)
                        aria-pressed=(if value == 0 { "true" } else { "false" }) { (words) }
                }
            }
        }
    }
}

/// "default" or "25 % spare area", from the end of the figure's name.
fn spare_words(name: &str) -> String {
    match name.rsplit_once("_spare") {
        Some((_, percent)) => format!("{percent} % spare area"),
        None if name.ends_with("_default") => "default".into(),
        None => figure_words(name),
    }
}

fn chart(entry: &Entry, name: &str, series: &Series, view: View, bounds: Bounds) -> Chart {
    let part = series.iops.get(view.from..).unwrap_or_default();
    let times: Vec<usize> = (0..part.len()).map(|index| view.from + index + 1).collect();
    // A log axis has no place for a second without any; it is drawn at its foot.
    let values: Vec<u64> =
        part.iter().map(|&value| if view.log { value.max(1) } else { value }).collect();
    let dots = Scatter::new(times, values)
        .mode(Mode::Markers)
        .name(chart_text(&entry.label))
        .marker(Marker::new().size(3).color(line_colour(entry.line)))
        .hover_template("%{x} s: %{y} IOPS");
    let up = match view.log {
        true => {
            let decades: Vec<f64> = (0..=9).map(|power| 10_f64.powi(power)).collect();
            let names = ["1", "10", "100", "1,000", "10,000", "100,000", "1M", "10M", "100M", "1G"];
            axis()
                .type_(AxisType::Log)
                .range(vec![0.0, (bounds.highest * HEADROOM).log10().max(1.0)])
                .tick_values(decades)
                .tick_text(names.map(String::from).to_vec())
        }
        false => axis().range(vec![0.0, bounds.highest * HEADROOM]).n_ticks(6),
    };
    let across = axis()
        .range(vec![view.from as f64, bounds.seconds.max(view.from + 1) as f64])
        .tick_suffix(" s")
        .show_grid(false);
    let layout = base_layout(Margin::new().left(56).right(12).top(8).bottom(28))
        .hover_mode(HoverMode::Closest)
        .x_axis(across)
        .y_axis(up);
    let (low, high) = (part.iter().min(), part.iter().max());
    let range = match low.zip(high) {
        Some((low, high)) => format!("{} to {}", iops(*low as f64), iops(*high as f64)),
        None => "nothing".into(),
    };
    Chart {
        traces: vec![dots],
        layout,
        height_px: 260,
        description: format!(
            "Dots, IOPS of each second, {}, {}, {}: {range}.",
            entry.label,
            figure_words(name),
            view.heading
        ),
    }
}

/// The numbers beside the pictures.
fn table(all: &Entries, entries: &[&Entry]) -> Markup {
    let rows: Vec<(String, String, &Steadiness)> = entries
        .iter()
        .flat_map(|entry| {
            let label = entry.label_with_clock(all);
            entry.record.steadiness.iter().map(move |(name, steadiness)| {
                let (run, part) = match name.split_once("_from_") {
                    Some((run, from)) => (run, format!("from {}", from.replace('_', " "))),
                    None => (name.as_str(), "whole run".into()),
                };
                (label.clone(), format!("{}, {part}", spare_words(run)), steadiness)
            })
        })
        .collect();
    html! {
        @if !rows.is_empty() {
            div.wide tabindex="0" role="region" aria-label="How steady" {
                table {
                    caption { span { "IOPS from second to second" } }
                    thead { tr {
                        th scope="col" { "Drive" }
                        th.text scope="col" { "Run" }
                        @for heading in [
                            "mean", "standard deviation", "variation", "1st percentile",
                            "below half the mean",
                        ] { th scope="col" { (heading) } }
                    } }
                    tbody { @for (label, run, steadiness) in &rows { tr {
                        th scope="row" { (label) }
                        td.text { (run) }
                        td.main { (iops(steadiness.mean_iops)) }
                        td { (iops(steadiness.deviation_iops)) }
                        td { (percent(steadiness.variation)) }
                        td { (iops(steadiness.p1_iops)) }
                        td { (percent(steadiness.share_below_half)) }
                    } } }
                }
            }
        }
    }
}
