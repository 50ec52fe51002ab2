//! Writes by how much was written before, by their size and place, and by where they lie in turn.

use fourcorners_record::diagnosis::Series;

use super::super::super::chart::{Chart, Line, Marks, Scale, Up, count_tick, time_tick};
use super::super::super::words::{micros, rate};
use super::{Drawn, GIB, KIB, by_place, last_place, line, number, values};

/// The time between two writes by how much was written before, into a drive at rest.
pub(super) fn waits(trials: &[Series]) -> Option<Chart> {
    let samples = trials.iter().flat_map(|trial| trial.samples.iter().skip(1));
    let points = by_place(samples.map(|[bytes, us]| (bytes / KIB, *us)).collect());
    let lines = vec![line("all trials", 0, points, Marks::Alone)];
    Drawn {
        title: "Writes into a drive at rest",
        about: "Median time from one write to the next by how much was written; each trial ends with the first long wait.",
        across: Scale::linear("KiB written", (0.0, last_place(&lines) * 1.02), count_tick),
        up: Up::of("Time", values(&lines), true, time_tick),
        lines,
        place: number,
        value: micros,
    }
    .chart()
}

/// Data rates of pieces of one size by how much was written.
pub(super) fn rates(title: &str, how: &str, all: &[(&str, &Series)]) -> Option<Chart> {
    let of = |series: &Series| -> Vec<(f64, f64)> {
        let piece = series.samples.first().map_or(0.0, |sample| sample[0]);
        let timed = series.samples.iter().filter(|sample| sample[1] > 0.0);
        timed.map(|[bytes, us]| (bytes / GIB, piece / us)).collect()
    };
    let lines: Vec<Line> = all
        .iter()
        .enumerate()
        .map(|(style, (label, series))| line(label, style, of(series), Marks::None))
        .collect();
    let about = format!("MB/s by how much was written {how}.");
    Drawn {
        title: &format!("{title}: rate of writes"),
        about: &about,
        across: Scale::linear("GiB written", (0.0, last_place(&lines)), count_tick),
        up: Up::of("MB/s", values(&lines), false, count_tick),
        lines,
        place: number,
        value: rate,
    }
    .chart()
}

/// How long writes take by their size, at multiples of it and half of it off.
pub(super) fn by_size(whole: &Series, off: &Series) -> Option<Chart> {
    let by_size = |series: &Series| {
        let all = series.samples.iter().map(|[bytes, us]| (bytes / KIB, *us));
        by_place(all.filter(|it| it.0 > 0.0).collect())
    };
    let lines = vec![
        line("at a multiple of its size", 0, by_size(whole), Marks::Each),
        line("half of its size off", 1, by_size(off), Marks::Each),
    ];
    let least = lines.iter().filter_map(|it| it.points.first()).map(|it| it.0).reduce(f64::min)?;
    Drawn {
        title: "Writes by size and place",
        about: "Median time of a write by its size and where it lies: one that covers units of the map in part waits for the rest of them.",
        across: Scale::log("KiB", (least / 1.2, last_place(&lines) * 1.2), count_tick),
        up: Up::of("Time", values(&lines), false, time_tick),
        lines,
        place: number,
        value: micros,
    }
    .chart()
}

/// How long writes take by the number of areas that are written in turn.
pub(super) fn in_areas(trials: &Series) -> Option<Chart> {
    let mut points: Vec<(f64, f64)> =
        trials.samples.iter().map(|[count, us]| (*count, *us)).collect();
    points.retain(|it| it.0 > 0.0);
    // The shortest of each number, as it is judged: others wait for what the trial before left.
    points.sort_unstable_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    points.dedup_by_key(|it| it.0);
    let lines = vec![line("write of 16 KiB", 0, points, Marks::Each)];
    Drawn {
        title: "Writes in turn in many areas",
        about: "Mean time of a write of 16 KiB, the shorter of two trials, by the number of areas that are written in turn: as many as log blocks are free for are fast, of a drive that has them.",
        across: Scale::log("Areas", (0.8, last_place(&lines) * 1.2), count_tick),
        up: Up::of("Time", values(&lines), true, time_tick),
        lines,
        place: number,
        value: micros,
    }
    .chart()
}
