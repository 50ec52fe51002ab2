//! Small plots for a terminal: seconds as dots of braille, curves as rows of blocks.

use fourcorners_record::{Curve, Series};

use super::chart::{Scale, Up, count_tick};
use super::entries::Entry;
use super::words::{figure_words, rate};

/// The narrowest page with plots.
const NARROWEST: usize = 50;
/// The widest plot: more would not be taken in at a glance.
const WIDEST: usize = 100;
/// Lines of a plot of dots.
const ROWS: usize = 7;
/// What the names of its values take.
const NAMES: usize = 9;
/// Dots of a braille letter across and down.
const DOTS: (usize, usize) = (2, 4);
/// The methods whose seconds are shown: a figure of a minute has nothing to see in them.
const BY_SECOND: [&str; 1] = ["consistency"];
/// Columns of a row of blocks.
const BLOCKS: usize = 40;

/// What there is to see of a record; nothing where the page is too narrow.
pub(super) fn plots(entry: &Entry, width: usize) -> Vec<String> {
    if width < NARROWEST {
        return Vec::new();
    }
    let record = entry.record;
    let mut plots = Vec::new();
    if BY_SECOND.contains(&record.method.as_str()) {
        let seconds = record.series.iter().filter(|(_, series)| series.iops.len() > 1);
        plots.extend(seconds.map(|(name, series)| dots(name, series, width.min(WIDEST))));
    }
    if !record.curves.is_empty() {
        plots.push(record.curves.iter().map(|(name, curve)| blocks(name, curve, width)).collect());
    }
    plots
}

/// I/Os a second on a logarithmic axis, a dot for each second.
fn dots(name: &str, series: &Series, width: usize) -> String {
    let (columns, seconds) = (width - NAMES - 2, series.iops.len());
    let up = Up::of("", series.iops.iter().map(|&value| value as f64), true, count_tick).shown;
    let across = Scale::linear("", (0.0, seconds as f64), count_tick);
    let mut cells = vec![0_u8; columns * ROWS];
    // The bits of a braille letter, column by column, from the top.
    const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
    let last = |count: usize| (count - 1) as f64;
    for (index, &value) in series.iops.iter().enumerate() {
        let x = (across.place(index as f64 + 0.5) * last(columns * DOTS.0)).round() as usize;
        let y = ((1.0 - up.place(value as f64)).clamp(0.0, 1.0) * last(ROWS * DOTS.1)).round();
        let y = y as usize;
        cells[y / DOTS.1 * columns + x / DOTS.0] |= BITS[x % DOTS.0][y % DOTS.1];
    }
    let mut names = vec![String::new(); ROWS];
    for (value, name) in &up.ticks {
        let row = ((1.0 - up.place(*value)) * ROWS as f64) as usize;
        names[row.min(ROWS - 1)].clone_from(name);
    }
    let mut text = format!("{}: IOPS of each second\n", figure_words(name));
    for (row, name) in names.iter().enumerate() {
        let letters = cells[row * columns..(row + 1) * columns].iter();
        let drawn: String =
            letters.filter_map(|&bits| char::from_u32(0x2800 + u32::from(bits))).collect();
        text += &format!("{name:>NAMES$} │{}\n", drawn.trim_end_matches('\u{2800}'));
    }
    let end = format!("{} s", count_tick(seconds as f64));
    text + &format!("{:NAMES$} └{end:─>columns$}\n", "")
}

/// A curve in one line: its values from 0 to the highest, and what they are between.
fn blocks(name: &str, curve: &Curve, width: usize) -> String {
    let values: Vec<f64> =
        curve.points.iter().map(|&(_, y)| y).filter(|value| value.is_finite()).collect();
    let Some((low, high)) =
        values.iter().copied().reduce(f64::min).zip(values.iter().copied().reduce(f64::max))
    else {
        return String::new();
    };
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let level = |value: f64| match high > 0.0 {
        true => (value.max(0.0) / high * 7.0).round() as usize,
        false => 0,
    };
    let step = values.len().div_ceil(BLOCKS).max(1);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let drawn: String = values.chunks(step).map(|part| LEVELS[level(mean(part)).min(7)]).collect();
    let name = match name.split_once("_by_") {
        Some((figure, by)) => format!("{} by {}", figure_words(figure), by.replace('_', " ")),
        None => figure_words(name),
    };
    let numbers = format!("{} to {} {}", rate(low), rate(high), curve.y);
    let line = format!("{drawn} {numbers}");
    match name.chars().count() + 2 + line.chars().count() <= width {
        true => format!("{name}  {line}\n"),
        false => format!("{name}\n  {line}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_where_their_seconds_are() {
        // A second each at the top, and one in the middle that stands still.
        let mut iops = vec![10_000; 100];
        iops[50] = 0;
        let text = dots("x", &Series { iops, ..Series::default() }, 60);
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(rows.len(), ROWS + 2);
        assert!(rows.iter().all(|row| row.chars().count() <= 60), "{text}");
        let at = |row: &str| -> Vec<usize> {
            let letters = row.chars().skip(NAMES + 2).enumerate();
            letters.filter(|(_, c)| *c > '\u{2800}').map(|(index, _)| index).collect()
        };
        assert_eq!(at(rows[1]).len(), 60 - NAMES - 2, "{text}");
        assert_eq!(at(rows[ROWS]), [24], "{text}");
    }

    #[test]
    fn blocks_rise_with_their_values() {
        let curve = |values: &[f64]| Curve {
            x: "GB".into(),
            y: "MB/s".into(),
            points: values.iter().enumerate().map(|(x, &y)| (x as f64, y)).collect(),
        };
        let text = blocks("sequential_read_128k_qd1_pass", &curve(&[0.0, 50.0, 100.0]), 80);
        assert_eq!(text, "128 KiB sequential read, QD 1, pass  ▁▅█ 0.00 to 100.0 MB/s\n");
        let many: Vec<f64> = (0..200).map(f64::from).collect();
        let text = blocks("a", &curve(&many), 80);
        assert_eq!(text.chars().filter(|c| *c >= '▁').count(), BLOCKS);
        assert_eq!(blocks("a", &curve(&[f64::NAN]), 80), "");
    }
}
