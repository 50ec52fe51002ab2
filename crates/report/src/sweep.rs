//! The queue-depth sweep: the same job at one depth after the other.

use fourcorners_record::Figure;
use maud::{Markup, html};

use super::chapter::Part;
use super::chart::{
    Chart, DataTable, Line, Lines, Marks, Plot, REFERENCE_STYLE, Scale, Up, count_tick, file_name,
};
use super::entries::{Entries, Entry, figure_names};
use super::references::{Reference, Role};
use super::words::{FigureName, iops, micros, rate};

/// The method whose figures are a sweep.
pub(super) const METHOD: &str = "toms";

/// A kind of I/O of a sweep: all that a figure's name says but the queue depth.
#[derive(Clone, PartialEq, Eq)]
struct Kind {
    what: String,
    rest: String,
}

impl Kind {
    fn of(name: &FigureName) -> Kind {
        Kind { what: name.what(), rest: name.rest.into() }
    }

    fn words(&self) -> String {
        match self.rest.as_str() {
            "" => self.what.clone(),
            rest => format!("{}, {}", self.what, rest.replace('_', ", ")),
        }
    }
}

/// The charts and tables of a sweep; nothing when no kind of I/O has two depths.
pub(super) fn parts(all: &Entries) -> Vec<Part> {
    let entries = all.of_method(METHOD);
    let mut kinds: Vec<(Kind, Vec<u32>)> = Vec::new();
    for name in figure_names(&entries).iter().filter_map(|name| FigureName::parse(name)) {
        let kind = Kind::of(&name);
        let depths = match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, depths)) => depths,
            None => {
                kinds.push((kind, vec![name.queue_depth]));
                continue;
            }
        };
        if !depths.contains(&name.queue_depth) {
            depths.push(name.queue_depth);
        }
    }
    kinds.retain(|(_, depths)| depths.len() > 1);
    kinds.iter_mut().for_each(|(_, depths)| depths.sort_unstable());
    if kinds.is_empty() {
        return Vec::new();
    }
    let charts = kinds.iter().map(|(kind, depths)| chart(all, &entries, kind, depths)).collect();
    let tables = kinds.iter().map(|(kind, depths)| table(all, &entries, kind, depths));
    [Part::Charts(charts)].into_iter().chain(tables.map(Part::Text)).collect()
}

/// The figure of an entry at one depth.
fn at<'a>(entry: &Entry<'a>, kind: &Kind, depth: u32) -> Option<&'a Figure> {
    let is_it = |name: &str| {
        FigureName::parse(name)
            .is_some_and(|name| name.queue_depth == depth && Kind::of(&name) == *kind)
    };
    entry.record.figures.iter().find(|(name, _)| is_it(name)).map(|(_, figure)| figure)
}

fn chart(all: &Entries, entries: &[&Entry], kind: &Kind, depths: &[u32]) -> Chart {
    let mut lines = Vec::new();
    let mut said = Vec::new();
    for entry in entries {
        let points: Vec<(u32, &Figure)> =
            depths.iter().filter_map(|&depth| Some((depth, at(entry, kind, depth)?))).collect();
        if points.is_empty() {
            continue;
        }
        let label = entry.label_with_clock(all);
        let spoken = |(depth, figure): &(u32, &Figure)| format!("QD {depth} {}", iops(figure.iops));
        said.push(format!("{label}: {}", points.iter().map(spoken).collect::<Vec<_>>().join(", ")));
        let says = |(depth, figure): &(u32, &Figure)| {
            format!(
                "QD {depth}: {} IOPS, {} MB/s, mean {}",
                iops(figure.iops),
                rate(figure.mb_per_s),
                micros(figure.latency_us.mean)
            )
        };
        lines.push(Line {
            label,
            style: entry.line,
            points: points.iter().map(|(depth, it)| (f64::from(*depth), it.iops)).collect(),
            marks: Marks::Each,
            says: points.iter().map(says).collect(),
        });
    }
    let references = references(all, entries, kind, depths);
    // They are of all classes.
    let log = !references.is_empty();
    // The review's own lines lie over them.
    lines.splice(0..0, references);
    let end = |depth: Option<&u32>| f64::from(depth.copied().unwrap_or(1).max(1));
    let range = (end(depths.first()) / 1.2, end(depths.last()) * 1.2);
    let mut across = Scale::log("Queue depth", range, count_tick);
    across.ticks = depths.iter().map(|&depth| (f64::from(depth), depth.to_string())).collect();
    let values = lines.iter().flat_map(|line| line.points.iter().map(|&(_, y)| y));
    let up = Up::of("IOPS", values, log, count_tick);
    Chart {
        name: file_name(&format!("queue depth {}", kind.words())),
        context: String::new(),
        title: kind.words(),
        about: "IOPS against queue depth".into(),
        note: String::new(),
        description: format!(
            "Line chart, {}, IOPS against queue depth. {}.",
            kind.words(),
            said.join("; ")
        ),
        table: DataTable::of_lines("Queue depth", &lines, |x| format!("{x}"), iops),
        plot: Plot::Lines(Box::new(Lines { across, up, lines })),
    }
}

/// Grey lines of the reference drives.
fn references(all: &Entries, entries: &[&Entry], kind: &Kind, depths: &[u32]) -> Vec<Line> {
    let Some(entry) = entries.first() else { return Vec::new() };
    let names = entry.record.figures.iter().filter_map(|(name, figure)| {
        let parsed = FigureName::parse(name)?;
        let is_of = Kind::of(&parsed) == *kind && depths.contains(&parsed.queue_depth);
        is_of.then_some((parsed.queue_depth, name, f64::from(figure.job.block_bytes)))
    });
    let mut names: Vec<(u32, &String, f64)> = names.collect();
    names.sort_unstable_by_key(|&(depth, ..)| depth);
    let line = |(drive, _): &(&Reference, Role)| {
        let point = |&(depth, name, block): &(u32, &String, f64)| {
            let figure = drive.figure(entry.record, name)?;
            Some((f64::from(depth), figure.0 * 1e6 / block))
        };
        Line {
            label: drive.short_title().into(),
            style: REFERENCE_STYLE,
            points: names.iter().filter_map(point).collect(),
            marks: Marks::None,
            says: Vec::new(),
        }
    };
    all.beside.iter().map(line).filter(|line| line.points.len() > 1).collect()
}

fn table(all: &Entries, entries: &[&Entry], kind: &Kind, depths: &[u32]) -> Markup {
    html! {
        div.wide tabindex="0" role="region" aria-label=(format!("{} by queue depth", kind.words())) {
            table {
                caption { span { (kind.words()) ": IOPS, and MB/s beneath" } }
                thead { tr {
                    th scope="col" { "Drive" }
                    @for depth in depths { th scope="col" { "QD " (depth) } }
                } }
                tbody {
                    @for entry in entries {
                        tr {
                            th scope="row" { (entry.label_with_clock(all)) }
                            @for &depth in depths {
                                td {
                                    @if let Some(figure) = at(entry, kind, depth) {
                                        (iops(figure.iops)) br; small { (rate(figure.mb_per_s)) }
                                    @if !figure.complete { br; small.warn { "incomplete" } }
                                    } @else { "–" }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
