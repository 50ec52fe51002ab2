//! Consistency: the I/Os of every second of a long random write, a dot each, as AnandTech drew them.
//!
//! All drives stand side by side in small charts with the same axes, so that they can be told apart by eye.
//! Buttons choose the spare area, and the whole run on a log axis or its late part on a linear one; on paper
//! and without a script all are there.

use fourcorners_record::{Series, Steadiness};
use maud::{Markup, html};

use super::chapter::{Group, Panel, Part, Switch};
use super::chart::{
    Chart, DataTable, Line, Lines, Marks, Plot, Scale, Up, count_tick, file_name, of_seconds,
    thinned,
};
use super::entries::{Entries, Entry, figure_names};
use super::words::{figure_words, iops, percent};

/// The method whose series these are.
pub(super) const METHOD: &str = "consistency";
/// From when on the charts look closer, seconds.
const LATE: usize = 1400;

/// A part of a run, and the axis that it is drawn on first.
#[derive(Clone, Copy)]
struct View {
    heading: &'static str,
    from: usize,
    log: bool,
}

const VIEWS: [View; 2] = [
    View { heading: "Whole run", from: 0, log: true },
    View { heading: "From 1400 s", from: LATE, log: false },
];

/// A run of a drive: whose, its figure's name, its seconds.
type Run<'r, 'a> = (&'r Entry<'a>, &'a str, &'a Series);

/// The axes of a view, which all runs share.
fn axes(view: View, runs: &[Run]) -> (Scale, Up) {
    let seconds = runs.iter().map(|(.., series)| series.iops.len()).max().unwrap_or(0);
    let range = (view.from as f64, seconds.max(view.from + 1) as f64);
    let values = runs.iter().flat_map(|(.., series)| series.iops.iter().skip(view.from));
    let up = Up::of("IOPS", values.map(|&value| value as f64), view.log, count_tick);
    (Scale::linear("s", range, count_tick), up)
}

/// The chapter; nothing without a run.
pub(super) fn parts(all: &Entries) -> Vec<Part> {
    let entries = all.of_method(METHOD);
    let names = figure_names(&entries);
    let mut runs: Vec<Run> = Vec::new();
    for &entry in &entries {
        for &name in &names {
            if let Some(series) = entry.record.series.get(name) {
                runs.push((entry, name, series));
            }
        }
    }
    let longest = runs.iter().map(|(.., series)| series.iops.len()).max().unwrap_or(0);
    let views = VIEWS.into_iter().filter(|view| view.from < longest);
    let views: Vec<(View, (Scale, Up))> = views.map(|view| (view, axes(view, &runs))).collect();
    if views.is_empty() {
        return Vec::new();
    }
    let words = html! { p {
        "4 KiB random writes at QD 32 on a drive that was filled first: a dot for the IOPS of a \
         second. All charts have the same axes."
    } };
    let mut panels = Vec::new();
    for (part, (view, axes)) in views.iter().enumerate() {
        for (spare, name) in names.iter().enumerate() {
            let of_name =
                runs.iter().filter(|(_, of, series)| of == name && series.iops.len() > view.from);
            let charts: Vec<Chart> = of_name.map(|&run| chart(all, run, *view, axes)).collect();
            if !charts.is_empty() {
                let heading = format!("{}, {}", view.heading, spare_words(name));
                panels.push(Panel { choices: vec![part, spare], heading, charts });
            }
        }
    }
    let switch = Switch {
        groups: vec![
            Group {
                what: "Part",
                choices: views.iter().map(|(view, _)| view.heading.into()).collect(),
            },
            Group {
                what: "Spare area",
                choices: names.iter().map(|name| capitalised(&spare_words(name))).collect(),
            },
        ],
        panels,
    };
    vec![Part::Text(words), Part::Switch(switch), Part::Text(table(all, &entries))]
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// "default" or "25 % spare area", from the end of the figure's name.
fn spare_words(name: &str) -> String {
    match name.rsplit_once("_spare") {
        Some((_, percent)) => format!("{percent} % spare area"),
        None if name.ends_with("_default") => "default".into(),
        None => figure_words(name),
    }
}

fn chart(all: &Entries, run: Run, view: View, (across, up): &(Scale, Up)) -> Chart {
    let (entry, name, series) = run;
    let part = series.iops.get(view.from..).unwrap_or_default();
    let at = |(index, &value): (usize, &u64)| ((view.from + index + 1) as f64, value as f64);
    let label = entry.label_with_clock(all);
    let (points, step) = thinned(part.iter().enumerate().map(at).collect());
    let lines = vec![Line {
        label: label.clone(),
        style: entry.line,
        points,
        marks: Marks::Alone,
        says: Vec::new(),
    }];
    let range = match part.iter().min().zip(part.iter().max()) {
        Some((low, high)) => format!("{} to {}", iops(*low as f64), iops(*high as f64)),
        None => "nothing".into(),
    };
    Chart {
        name: file_name(&format!("consistency {label} {} {}", spare_words(name), view.heading)),
        context: format!("{}, {}", view.heading, spare_words(name)),
        title: label.clone(),
        // Where each second has its dot, the chapter says so.
        about: if step > 1 { of_seconds("IOPS", [step]) } else { String::new() },
        note: String::new(),
        description: format!(
            "Dots, {}, {label}, {}, {}: {range}.",
            of_seconds("IOPS", [step]),
            figure_words(name),
            view.heading
        ),
        table: DataTable::of_lines("Seconds", &lines, |x| format!("{x}"), iops),
        plot: Plot::Lines(Box::new(Lines { across: across.clone(), up: up.clone(), lines })),
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
