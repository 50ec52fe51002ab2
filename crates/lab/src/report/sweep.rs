//! The queue-depth sweep: the same job at one depth after the other.

use maud::{Markup, html};
use plotly::common::{Marker, Mode};
use plotly::layout::{AxisType, HoverMode, Margin};
use plotly::{Scatter, Trace};

use super::charts::{Chart, axis, base_layout, chart_text, four_digits, line_colour, line_style};
use super::entries::{Entries, Entry, figure_names};
use super::tables::legend;
use super::words::{FigureName, iops, micros, rate};
use crate::record::Figure;

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
pub(super) fn sections(all: &Entries) -> Option<Markup> {
    let entries = all.of_method(METHOD);
    let mut kinds: Vec<(Kind, Vec<u32>)> = Vec::new();
    for name in figure_names(&entries).iter().filter_map(|name| FigureName::parse(name)) {
        let kind = Kind::of(&name);
        let depths = match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, depths)) => depths,
            None => {
                kinds.push((kind, Vec::new()));
                &mut kinds.last_mut()?.1
            }
        };
        if !depths.contains(&name.queue_depth) {
            depths.push(name.queue_depth);
        }
    }
    kinds.retain(|(_, depths)| depths.len() > 1);
    kinds.iter_mut().for_each(|(_, depths)| depths.sort_unstable());
    (!kinds.is_empty()).then(|| {
        html! {
            (legend(all, &entries))
            div.grid {
                @for (kind, depths) in &kinds {
                    figure {
                        figcaption { h3 { (kind.words()) } p { "IOPS against queue depth" } }
                        (chart(all, &entries, kind, depths).markup())
                    }
                }
            }
            @for (kind, depths) in &kinds { (table(all, &entries, kind, depths)) }
        }
    })
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
    let mut traces: Vec<Box<dyn Trace>> = Vec::new();
    let mut said = Vec::new();
    let mut highest = 0.0_f64;
    for entry in entries {
        let points: Vec<(u32, &Figure)> =
            depths.iter().filter_map(|&depth| Some((depth, at(entry, kind, depth)?))).collect();
        if points.is_empty() {
            continue;
        }
        let finite = points.iter().map(|(_, figure)| figure.iops).filter(|iops| iops.is_finite());
        highest = finite.fold(highest, f64::max);
        let label = entry.label_with_clock(all);
        let spoken = |(depth, figure): &(u32, &Figure)| format!("QD {depth} {}", iops(figure.iops));
        said.push(format!("{label}: {}", points.iter().map(spoken).collect::<Vec<_>>().join(", ")));
        let hover = |(depth, figure): &(u32, &Figure)| {
            format!(
                "QD {depth}: {} IOPS, {} MB/s, mean {}",
                iops(figure.iops),
                rate(figure.mb_per_s),
                micros(figure.latency_us.mean)
            )
        };
        let x = points.iter().map(|&(depth, _)| depth).collect();
        let y = points.iter().map(|(_, figure)| four_digits(figure.iops)).collect::<Vec<f64>>();
        traces.push(
            Scatter::new(x, y)
                .mode(Mode::LinesMarkers)
                .name(chart_text(&label))
                .line(line_style(entry.line))
                .marker(Marker::new().size(7).color(line_colour(entry.line)))
                .text_array(points.iter().map(hover).collect::<Vec<_>>())
                .hover_template("%{text}"),
        );
    }
    let ends = [depths.first(), depths.last()]
        .map(|end| f64::from(end.copied().unwrap_or(1).max(1)).log10());
    let across = axis()
        .type_(AxisType::Log)
        .range(vec![ends[0] - 0.08, ends[1] + 0.08])
        .tick_values(depths.iter().map(|&depth| f64::from(depth)).collect())
        .tick_text(depths.iter().map(|depth| depth.to_string()).collect());
    let top = if highest > 0.0 { highest * 1.06 } else { 1.0 };
    let layout = base_layout(Margin::new().left(52).right(12).top(8).bottom(28))
        .hover_mode(HoverMode::Closest)
        .x_axis(across)
        .y_axis(axis().range(vec![0.0, top]).n_ticks(6));
    let description =
        format!("Line chart, {}, IOPS against queue depth. {}.", kind.words(), said.join("; "));
    Chart { traces, layout, height_px: 260, description }
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
