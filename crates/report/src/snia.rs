//! SNIA's steady state: IOPS of every block size and mix once the drive is steady, how it came to be
//! steady, and the write saturation; a button for each drive.

use fourcorners_record::Figure;
use maud::html;

use super::chapter::{Group, Panel, Part, Switch};
use super::chart::{
    Chart, DataTable, Line, Lines, Marks, Plot, Scale, Up, count_tick, file_name, of_seconds,
    seven_digits, thinned,
};
use super::entries::{Entries, Entry};
use super::words::{FigureName, block, figure_words, iops, micros, rate};

/// The method whose figures these are.
pub(super) const METHOD: &str = "snia";
/// Rounds in a row that are looked at (SNIA PTS 2.0.1, "steady state").
const WINDOW: usize = 5;
/// Over them the tracked figure may spread by 20 % of its mean: this to each side.
const BAND: f64 = 0.10;
/// What ends the name of a curve of rounds, and of a figure in the steady state.
const BY_ROUND: &str = "_by_round";
const STEADY: &str = "steady";
const SATURATION: &str = "saturation";

/// A share of reads, percent, and the figures that have it by their block size.
type OfShare<'a> = (u8, Vec<(u32, &'a Figure)>);

/// The chapter; nothing without a record of the method.
pub(super) fn parts(all: &Entries) -> Vec<Part> {
    let entries = all.of_method(METHOD);
    let panel = |(place, entry): (usize, &&Entry)| Panel {
        choices: vec![place],
        heading: entry.label_with_clock(all),
        charts: [mixes(all, entry), rounds(all, entry), saturation(all, entry)]
            .into_iter()
            .flatten()
            .collect(),
    };
    let panels: Vec<Panel> = entries.iter().enumerate().map(panel).collect();
    if panels.iter().all(|panel| panel.charts.is_empty()) {
        return Vec::new();
    }
    let words = html! { p {
        "Random I/O over all LBAs at QD 32, of a drive that was filled twice: figures are those of the \
         last round. It is steady when over five rounds the 4 KiB writes spread by no more than 20 % of \
         their mean, and change by no more than 10 % of it along their least-squares line."
    } };
    let choices = entries.iter().map(|entry| entry.label_with_clock(all)).collect();
    let groups = vec![Group { what: "Drive", choices }];
    vec![Part::Text(words), Part::Switch(Switch { groups, panels })]
}

/// IOPS against block size, a line for each share of reads.
fn mixes(all: &Entries, entry: &Entry) -> Option<Chart> {
    let mut by_share: Vec<OfShare> = Vec::new();
    for (name, figure) in &entry.record.figures {
        let Some(name) = FigureName::parse(name) else { continue };
        // Those at queue depth 1 are about latency.
        let (true, 2.., Some(reads), Some(bytes)) =
            (name.rest == STEADY, name.queue_depth, name.read_percent(), name.block_bytes())
        else {
            continue;
        };
        match by_share.iter_mut().find(|(share, _)| *share == reads) {
            Some((_, of_share)) => of_share.push((bytes, figure)),
            None => by_share.push((reads, vec![(bytes, figure)])),
        }
    }
    by_share.sort_by_key(|(reads, _)| std::cmp::Reverse(*reads));
    let mut blocks: Vec<u32> = by_share.iter().flat_map(|it| it.1.iter().map(|it| it.0)).collect();
    blocks.sort_unstable();
    blocks.dedup();
    let (&first, &last) = (blocks.first()?, blocks.last()?);
    let line = |(style, (reads, figures)): (usize, &mut OfShare)| {
        figures.sort_by_key(|it| it.0);
        let says = |(bytes, figure): &(u32, &Figure)| {
            format!(
                "{}, {reads} % reads: {} IOPS, {} MB/s, mean {}",
                block(*bytes),
                iops(figure.iops),
                rate(figure.mb_per_s),
                micros(figure.latency_us.mean)
            )
        };
        Line {
            label: format!("{reads} % reads"),
            style,
            points: figures.iter().map(|(bytes, it)| (f64::from(*bytes), it.iops)).collect(),
            marks: Marks::Each,
            says: figures.iter().map(says).collect(),
        }
    };
    let lines: Vec<Line> = by_share.iter_mut().enumerate().map(line).collect();
    let mut across =
        Scale::log("Block size", (f64::from(first) / 1.3, f64::from(last) * 1.3), count_tick);
    // Every second one, where all would not have room.
    let named = blocks.iter().rev().step_by(1 + blocks.len() / 6);
    across.ticks = named.map(|&bytes| (f64::from(bytes), block(bytes))).collect();
    across.ticks.reverse();
    let values = lines.iter().flat_map(|line| line.points.iter().map(|point| point.1));
    let up = Up::of("IOPS", values, true, count_tick);
    let said = |line: &Line| {
        let ends = line.points.first().zip(line.points.last());
        let ends = ends.map(|(a, b)| format!("{} to {}", iops(a.1), iops(b.1)));
        format!("{} {}", line.label, ends.unwrap_or_default())
    };
    Some(Chart {
        name: file_name(&format!("snia mixes {}", entry.label)),
        context: entry.label_with_clock(all),
        title: "IOPS by block size and mix".into(),
        about: "Steady state, QD 32".into(),
        note: unfinished(entry),
        description: format!(
            "Line chart, IOPS against block size from {} to {}, a line for each mix. {}.",
            block(first),
            block(last),
            lines.iter().map(said).collect::<Vec<_>>().join("; ")
        ),
        table: DataTable::of_lines("Block", &lines, |bytes| block(bytes as u32), iops),
        plot: Plot::Lines(Box::new(Lines { across, up, lines })),
    })
}

/// What was cut short.
fn unfinished(entry: &Entry) -> String {
    let figures = entry.record.figures.iter().filter(|(_, figure)| !figure.complete);
    let names: Vec<String> = figures.map(|(name, _)| figure_words(name)).collect();
    if names.is_empty() { String::new() } else { format!("Incomplete: {}", names.join("; ")) }
}

/// The tracked figure round by round, and how its last rounds are judged.
fn rounds(all: &Entries, entry: &Entry) -> Option<Chart> {
    let (name, curve) = entry
        .record
        .curves
        .iter()
        .find(|(name, curve)| name.ends_with(BY_ROUND) && curve.points.len() > 1)?;
    let tracked = figure_words(name.strip_suffix(BY_ROUND).unwrap_or(name));
    let finite = |(x, y): &&(f64, f64)| x.is_finite() && y.is_finite();
    let points: Vec<(f64, f64)> =
        curve.points.iter().filter(finite).map(|&(x, y)| (x, seven_digits(y))).collect();
    let line = |label: String, style: usize, points: Vec<(f64, f64)>, marks: Marks| Line {
        label,
        style,
        points,
        marks,
        says: Vec::new(),
    };
    let mut lines = vec![line(tracked.clone(), 0, points.clone(), Marks::Each)];
    let window = points.len().checked_sub(WINDOW).map(|first| Window::of(&points[first..]));
    if let Some(window) = &window {
        let level = |y: f64| vec![(window.from, y), (window.to, y)];
        let Window { mean, from, to, low, high, .. } = *window;
        let fitted = vec![(from, low), (to, high)];
        lines.push(line("mean of the last five".into(), 1, level(mean), Marks::None));
        for side in [1.0 + BAND, 1.0 - BAND] {
            let label = "10 % above and below it".into();
            lines.push(line(label, 7, level(mean * side), Marks::None));
        }
        lines.push(line("least-squares line".into(), 2, fitted, Marks::None));
    }
    let last = points.last().map_or(1.0, |point| point.0);
    let mut across = Scale::linear("Round", (0.5, last + 0.5), count_tick);
    across.ticks.retain(|(round, _)| round.fract() == 0.0);
    let values = lines.iter().flat_map(|line| line.points.iter().map(|point| point.1));
    let up = Up::of("IOPS", values, false, count_tick);
    let judged = window.map_or_else(String::new, |window| {
        format!(
            " Over the last five their mean is {}, from {} to {}.",
            iops(window.mean),
            iops(window.least),
            iops(window.most)
        )
    });
    Some(Chart {
        name: file_name(&format!("snia rounds {}", entry.label)),
        context: entry.label_with_clock(all),
        title: "IOPS by round".into(),
        about: format!("{tracked}, and the window of {WINDOW} rounds"),
        note: String::new(),
        description: format!(
            "Line chart, {tracked}, IOPS of {} rounds, {}.{judged}",
            points.len(),
            points.iter().map(|point| iops(point.1)).collect::<Vec<_>>().join(", ")
        ),
        table: DataTable::of_lines("Round", &lines, |round| format!("{round}"), iops),
        plot: Plot::Lines(Box::new(Lines { across, up, lines })),
    })
}

/// The rounds that decide whether a drive is steady.
struct Window {
    from: f64,
    to: f64,
    mean: f64,
    least: f64,
    most: f64,
    /// The least-squares line at its two ends.
    low: f64,
    high: f64,
}

impl Window {
    fn of(points: &[(f64, f64)]) -> Window {
        let count = points.len() as f64;
        let mean_of = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (middle, mean) = (mean_of(|it| it.0), mean_of(|it| it.1));
        let along: f64 = points.iter().map(|(x, y)| (x - middle) * (y - mean)).sum();
        let square: f64 = points.iter().map(|(x, _)| (x - middle).powi(2)).sum();
        let slope = if square > 0.0 { along / square } else { 0.0 };
        let (from, to) = (points[0].0, points[points.len() - 1].0);
        let at = |x: f64| mean + slope * (x - middle);
        Window {
            from,
            to,
            mean,
            least: points.iter().map(|it| it.1).fold(f64::INFINITY, f64::min),
            most: points.iter().map(|it| it.1).fold(f64::NEG_INFINITY, f64::max),
            low: at(from),
            high: at(to),
        }
    }
}

/// A purged drive written at random until it is through: IOPS of each second.
fn saturation(all: &Entries, entry: &Entry) -> Option<Chart> {
    let is_it =
        |name: &&String| FigureName::parse(name).is_some_and(|name| name.rest == SATURATION);
    let (name, series) = entry.record.series.iter().find(|(name, _)| is_it(name))?;
    let seconds = series.iops.len();
    let low = series.iops.iter().min()?;
    let high = series.iops.iter().max()?;
    let at = |(index, &value): (usize, &u64)| ((index + 1) as f64, value as f64);
    let (points, step) = thinned(series.iops.iter().enumerate().map(at).collect());
    let words = figure_words(name);
    let lines = vec![Line {
        label: words.clone(),
        style: entry.line,
        points,
        marks: Marks::None,
        says: Vec::new(),
    }];
    let values = series.iops.iter().map(|&value| value as f64);
    Some(Chart {
        name: file_name(&format!("snia write saturation {}", entry.label)),
        context: entry.label_with_clock(all),
        title: "Write saturation".into(),
        about: format!("{words}: {}", of_seconds("IOPS", [step])),
        note: String::new(),
        description: format!(
            "Line chart, {words}, IOPS of each of {seconds} seconds: {} to {}.",
            iops(*low as f64),
            iops(*high as f64)
        ),
        table: DataTable::of_lines("Second", &lines, |x| format!("{x}"), iops),
        plot: Plot::Lines(Box::new(Lines {
            across: Scale::linear("s", (0.0, seconds as f64), count_tick),
            up: Up::of("IOPS", values, false, count_tick),
            lines,
        })),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_window_is_that_of_least_squares() {
        let straight: Vec<(f64, f64)> =
            (3..8).map(|x| (f64::from(x), 10.0 + 2.0 * f64::from(x))).collect();
        let found = Window::of(&straight);
        assert!((found.low - 16.0).abs() < 1e-9 && (found.high - 24.0).abs() < 1e-9);
        assert_eq!(
            (found.from, found.to, found.mean, found.least, found.most),
            (3.0, 7.0, 20.0, 16.0, 24.0)
        );
        // Up and down again: no slope.
        let bump = [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 2.0), (5.0, 1.0)];
        let found = Window::of(&bump);
        assert!((found.low - 1.8).abs() < 1e-12 && (found.high - 1.8).abs() < 1e-12);
    }
}
