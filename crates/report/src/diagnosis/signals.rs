//! The samples of a diagnosis as charts, one or two for each detector.
//!
//! A chart shows what was measured and not what was concluded: it is there whether its finding is determined or not. Samples
//! that are not of the form their detector stores are not drawn.

use fourcorners_record::diagnosis::{Diagnosis, Evidence, Series};
use fourcorners_words::three_digits;

use super::super::chart::{
    BarRow, Bars, Best, Chart, DataTable, Line, Lines, Marks, Plot, Scale, Up, count_tick,
    file_name, thinned, time_tick,
};
use super::super::words::{micros, rate};

mod layout;
mod writes;

use writes::rates;

const KIB: f64 = 1024.0;
const MIB: f64 = 1024.0 * KIB;
const GIB: f64 = 1024.0 * MIB;
/// The unit of the detectors' reads, in KiB.
const UNIT_KIB: f64 = 4.0;
/// Reads late in a flush are drawn together by tenths of a program.
const BINS_OF_PROGRAM: f64 = 10.0;
/// Rounds of pieces by which compression is judged: an SLC cache may take the first.
const JUDGED_ROUNDS: usize = 3;

/// The charts of a detector's samples; none where they make none.
pub(super) fn charts(diagnosis: &Diagnosis, evidence: &Evidence) -> Vec<Chart> {
    let series = &evidence.series[..];
    if !series.iter().all(Series::can_be) {
        return Vec::new();
    }
    let all = match (evidence.detector.as_str(), series) {
        ("kind", all) => vec![kind(all)],
        ("row", [both, first, second]) => vec![layout::borders(diagnosis, [both, first, second])],
        ("dies", [places, both]) => vec![layout::pairs(diagnosis, places, both)],
        ("page-kinds", [readings]) => vec![layout::places(readings)],
        ("read-ahead", [ahead, behind]) => vec![third_reads(ahead, behind)],
        ("write-buffer", [trials @ .., _]) => vec![writes::waits(trials)],
        ("slc-cache", [_, _, _, first, again]) => {
            vec![rates(
                "SLC cache",
                "in order",
                &[("into a drive at rest", first), ("after a moment's rest", again)],
            )]
        }
        ("map-unit", [whole, off]) => vec![writes::by_size(whole, off)],
        ("suspension", [alone, sizes @ ..]) => vec![late_reads(alone, sizes)],
        ("mapping", [trials, _, _]) => vec![writes::in_areas(trials)],
        ("map-reach", [spans, _]) => vec![spans_of(spans)],
        ("compression", [rounds @ .., _]) => vec![levels(rounds)],
        ("spare", [_, _, _, _, written, ..]) => {
            vec![rates(
                "Spare",
                "at random to a full drive",
                &[("filled in order before", written)],
            )]
        }
        ("amplification", [_, _, _, _, written, steady, _, trimmed]) => {
            vec![rates(
                "Write amplification",
                "at random to a full drive, to one that is used, and once a fifth is trimmed",
                &[
                    ("filled in order before", written),
                    ("used", steady),
                    ("a fifth trimmed", trimmed),
                ],
            )]
        }
        ("trim", [_, used, without, with, alone, beside, _, _]) => vec![
            rates(
                "TRIM",
                "at random",
                &[
                    ("filled, then used", used),
                    ("used, without a TRIM", without),
                    ("after a TRIM", with),
                ],
            ),
            middles(
                "Reads and TRIM",
                "one read of 4 KiB",
                &[("alone", alone), ("right after a TRIM", beside)],
            ),
        ],
        _ => Vec::new(),
    };
    all.into_iter().flatten().collect()
}

/// Lines between two axes.
struct Drawn<'a> {
    title: &'a str,
    about: &'a str,
    across: Scale,
    up: Up,
    lines: Vec<Line>,
    place: fn(f64) -> String,
    value: fn(f64) -> String,
}

impl Drawn<'_> {
    /// The chart, if there is anything in it.
    fn chart(self) -> Option<Chart> {
        let Drawn { title, about, across, up, lines, place, value } = self;
        let range = |line: &Line| {
            let values = || line.points.iter().map(|point| point.1);
            let ends = values().reduce(f64::min).zip(values().reduce(f64::max));
            ends.map(|(low, high)| format!("{}: {} to {}", line.label, value(low), value(high)))
        };
        let said: Vec<String> = lines.iter().filter_map(range).collect();
        let table = DataTable::of_lines(&across.name, &lines, place, value);
        (!said.is_empty()).then(|| Chart {
            name: file_name(&format!("signal {title}")),
            context: String::new(),
            title: title.into(),
            about: about.into(),
            note: String::new(),
            description: format!("Chart, {title}: {about} {}.", said.join("; ")),
            table,
            plot: Plot::Lines(Box::new(Lines { across, up, lines })),
        })
    }
}

fn line(label: &str, style: usize, points: Vec<(f64, f64)>, marks: Marks) -> Line {
    Line { label: label.into(), style, points: thinned(points).0, marks, says: Vec::new() }
}

fn values(lines: &[Line]) -> impl Iterator<Item = f64> {
    lines.iter().flat_map(|line| line.points.iter().map(|point| point.1))
}

fn last_place(lines: &[Line]) -> f64 {
    lines.iter().flat_map(|line| line.points.iter().map(|point| point.0)).fold(0.0, f64::max)
}

fn number(value: f64) -> String {
    three_digits(value)
}

/// The middle one of some times, or the mean of the two in the middle.
fn median(times: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut all: Vec<f64> = times.into_iter().collect();
    all.sort_unstable_by(f64::total_cmp);
    let upper = *all.get(all.len() / 2)?;
    Some((upper + all[(all.len() - 1) / 2]) / 2.0)
}

/// One point for each place, in order: the median of what was measured there.
fn by_place(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    points.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let places = points.chunk_by(|one, other| one.0 == other.0);
    let middle = |there: &[(f64, f64)]| Some((there[0].0, median(there.iter().map(|it| it.1))?));
    places.filter_map(middle).collect()
}

fn times(series: &Series) -> impl Iterator<Item = f64> {
    series.samples.iter().map(|sample| sample[1])
}

/// Middle times as bars.
fn middles(title: &str, what: &str, all: &[(&str, &Series)]) -> Option<Chart> {
    let rows: Vec<BarRow> = all
        .iter()
        .filter_map(|(label, series)| {
            let value = median(times(series))?;
            Some(BarRow {
                label: (*label).into(),
                value,
                text: micros(value),
                under_test: true,
                ..BarRow::default()
            })
        })
        .collect();
    let longest = rows.iter().map(|row| row.value).fold(0.0, f64::max);
    let said: Vec<String> = rows.iter().map(|row| format!("{} {}", row.label, row.text)).collect();
    let table = DataTable {
        head: vec!["Read".into(), "Median".into()],
        rows: rows.iter().map(|row| (row.label.clone(), vec![row.text.clone()])).collect(),
    };
    let mut bars = Bars::sorted(rows, longest, Best::Lowest);
    bars.what = "Median, microseconds".into();
    (!said.is_empty()).then(|| Chart {
        name: file_name(&format!("signal {title}")),
        context: String::new(),
        title: title.into(),
        about: format!("Median time of {what}"),
        note: String::new(),
        description: format!("Bars, {title}, median time of {what}: {}.", said.join("; ")),
        table,
        plot: Plot::Bars(bars),
    })
}

fn kind(series: &[Series]) -> Option<Chart> {
    let what = [
        "4 KiB within 16 MiB",
        "4 KiB in what was written",
        "4 KiB anywhere",
        "64 KiB in what was written",
        "4 KiB of the machine's memory",
    ];
    // A model is read by no machine.
    if !(4..=what.len()).contains(&series.len()) {
        return None;
    }
    let all: Vec<(&str, &Series)> = what.into_iter().zip(series).collect();
    middles("Reads by place and size", "one read", &all)
}

/// Times in their order, the shortest first, by the percentage of them that are as short.
fn fastest_first(mut all: Vec<f64>) -> Vec<(f64, f64)> {
    all.sort_unstable_by(f64::total_cmp);
    let count = all.len() as f64;
    all.into_iter().zip(1..).map(|(us, rank)| (f64::from(rank) / count * 100.0, us)).collect()
}

/// How long the third of three reads took, the fastest first.
fn third_reads(ahead: &Series, behind: &Series) -> Option<Chart> {
    let sorted = |series: &Series| fastest_first(times(series).collect());
    let lines = vec![
        line("in order", 0, sorted(ahead), Marks::None),
        line("backwards", 1, sorted(behind), Marks::None),
    ];
    Drawn {
        title: "The third of three reads",
        about: "Time of the third read after a pause, the fastest first, in order and backwards.",
        across: Scale::linear("Percent of the reads", (0.0, 100.0), count_tick),
        // One that is late must not make all others a line at the foot.
        up: Up::of("Time", values(&lines), true, time_tick),
        lines,
        place: number,
        value: micros,
    }
    .chart()
}

/// The time of a random read by the span that it is in.
fn spans_of(spans: &Series) -> Option<Chart> {
    let all = spans.samples.iter().map(|[span, us]| (span / GIB, *us));
    let points = by_place(all.filter(|it| it.0 > 0.0).collect());
    let least = points.first()?.0;
    let lines = vec![line("random read of 4 KiB", 0, points, Marks::Each)];
    let across = (least / 1.2, last_place(&lines) * 1.2);
    Drawn {
        title: "Random reads by span",
        about: "Mean time of a random read of 4 KiB by the span that the reads are spread over.",
        across: Scale::log("GiB", across, count_tick),
        up: Up::of("Time", values(&lines), false, time_tick),
        lines,
        place: number,
        value: micros,
    }
    .chart()
}

/// How long reads late in a flush take by how much of it is left: as long as that, or as long as programs take to make way.
fn late_reads(alone: &Series, sizes: &[Series]) -> Option<Chart> {
    // Of the last size of bursts, which tells or is the last that was tried.
    let tried = |size: &&[Series]| size.iter().all(|it| !it.samples.is_empty());
    let [flushes, rest, reads] = sizes.chunks_exact(3).rfind(tried)? else { return None };
    let program_us = median(times(alone))?.min(median(times(flushes))?);
    let bin_us = (program_us / BINS_OF_PROGRAM).max(1.0);
    let bins = reads.samples.iter().map(|[left, us]| ((left / bin_us).floor() * bin_us, *us));
    let mut bins: Vec<(f64, f64)> = bins.collect();
    bins.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let longest = |there: &[(f64, f64)]| {
        let mut all: Vec<f64> = there.iter().map(|it| it.1).collect();
        all.sort_unstable_by(f64::total_cmp);
        Some((there[0].0, *all.get(all.len() * 9 / 10)?))
    };
    let longest: Vec<(f64, f64)> =
        bins.chunk_by(|one, other| one.0 == other.0).filter_map(longest).collect();
    let at_rest = median(times(rest))?;
    let ends = [longest.first()?.0, longest.last()?.0].map(|left| (left, at_rest));
    let lines = vec![
        line("beside the flush", 0, longest, Marks::Each),
        line("at rest", 1, ends.into(), Marks::None),
    ];
    Drawn {
        title: "Reads late in a flush",
        about: "The 90th percentile of reads by how much is left of the flush that they are beside, in tenths of a program: where programs are waited for it grows with that, and where they make way it does not.",
        across: Scale::linear("us left of the flush", (0.0, last_place(&lines)), count_tick),
        up: Up::of("Time", values(&lines), false, time_tick),
        lines,
        place: number,
        value: micros,
    }
    .chart()
}

/// Data rates by how much of the data can be removed.
fn levels(rounds: &[Series]) -> Option<Chart> {
    let judged = &rounds[rounds.len().saturating_sub(JUDGED_ROUNDS)..];
    let samples = || judged.iter().flat_map(|round| &round.samples);
    let mut percents: Vec<f64> = samples().map(|sample| sample[0]).collect();
    percents.sort_unstable_by(f64::total_cmp);
    percents.dedup();
    let middle = |percent: f64| median(samples().filter(|it| it[0] == percent).map(|it| it[1]));
    let of = |percent: f64| middle(percent).filter(|us| *us > 0.0).map(|us| (percent, MIB / us));
    let points: Vec<(f64, f64)> = percents.into_iter().filter_map(of).collect();
    let lines = vec![line("rate", 0, points, Marks::Each)];
    Drawn {
        title: "Writes by what can be removed",
        about: "Median MB/s by how much of the data can be removed; at 100 % one byte repeats.",
        across: Scale::linear("Percent that can be removed", (0.0, 100.0), count_tick),
        up: Up::of("MB/s", values(&lines), false, count_tick),
        lines,
        place: number,
        value: rate,
    }
    .chart()
}

#[cfg(test)]
mod tests {
    use fourcorners_record::diagnosis::Finding;

    use super::super::tests::{diagnosis, evidence};
    use super::*;

    fn of(detector: &str, series: Vec<Vec<[f64; 2]>>) -> Vec<Chart> {
        let row = Finding::number("row_bytes", 16384.0, "bytes", [16384.0, 16384.0]);
        charts(&diagnosis(vec![row]), &evidence(detector, series))
    }

    fn points(chart: &Chart) -> &[(f64, f64)] {
        match &chart.plot {
            Plot::Lines(lines) => &lines.lines[0].points,
            Plot::Bars(_) => &[],
        }
    }

    #[test]
    fn reads_across_borders_stand_where_the_border_is() {
        // Units 1 and 2, 5 and 6 and so on lie on both sides of a border of pages of 8 KiB in rows of 16.
        let samples = |slow: f64| -> Vec<[f64; 2]> {
            (0..64).map(|unit| [f64::from(unit), if unit % 4 == 1 { slow } else { 50.0 }]).collect()
        };
        let chart = of("row", vec![samples(70.0), samples(50.0), samples(50.0)]);
        let slow: Vec<f64> =
            points(&chart[0]).iter().filter(|it| it.1 > 60.0).map(|it| it.0).collect();
        assert_eq!(slow, [8.0, 24.0]);
        assert!(chart[0].description.contains("both at once: 50.0 µs to 70.0 µs"));
    }

    #[test]
    fn two_reads_at_once_stand_where_rows_between_them_are_known_and_at_their_distance_if_not() {
        let places: Vec<[f64; 2]> = (0..64).map(|it| [0.0, f64::from(4 * it)]).collect();
        // Four dies with rows of 16 KiB.
        let both: Vec<[f64; 2]> = places
            .iter()
            .map(|[_, second]| [*second, if second % 16.0 == 0.0 { 90.0 } else { 50.0 }])
            .collect();
        let all = evidence("dies", vec![places, both]);
        let exactly = |key, value| Finding::number(key, value, "", [value, value]);
        let found = vec![exactly("dies", 4.0), exactly("stripe_bytes", 65536.0)];
        let known = charts(&diagnosis(found), &all);
        let slow: Vec<f64> =
            points(&known[0]).iter().filter(|it| it.1 > 60.0).map(|it| it.0).collect();
        assert_eq!(slow, [0.0, 4.0]);
        let unknown = charts(&diagnosis(Vec::new()), &all);
        assert_eq!(points(&unknown[0]).last().map(|it| it.0), Some(960.0));
        // Findings that no layout has leave the distance.
        let odd = vec![exactly("dies", 0.0), exactly("stripe_bytes", 65536.0)];
        assert_eq!(points(&charts(&diagnosis(odd), &all)[0]), points(&unknown[0]));
    }

    #[test]
    fn kinds_of_pages_are_steps_and_one_late_read_of_a_place_is_none() {
        let of_place = |unit: u32| if unit.is_multiple_of(2) { 50.0 } else { 65.0 };
        let reads = (0..40).map(|read| [f64::from(read % 8), of_place(read % 8)]);
        let samples = reads.chain([[0.0, 900.0]]).collect();
        let chart = of("page-kinds", vec![samples]);
        let shown: Vec<f64> = points(&chart[0]).iter().map(|it| it.1).collect();
        assert_eq!(shown, [50.0, 50.0, 50.0, 50.0, 65.0, 65.0, 65.0, 65.0]);
    }

    #[test]
    fn late_reads_stand_where_the_flush_is_as_far_from_its_end() {
        let rest = vec![[0.0, 50.0]; 3];
        let [alone, flushes] = [[0.0, 5000.0], [0.0, 1000.0]].map(|it| vec![it; 3]);
        let beside: Vec<[f64; 2]> =
            (0..40).map(|it| f64::from(it) * 10.0).map(|left| [left, 50.0 + left]).collect();
        let none = Vec::new;
        let first = [none(), vec![[0.0, 9e9]], vec![[5.0, 9e9]]];
        let last = [flushes, rest, beside, none(), none(), none()];
        let wide = vec![[0.0, 900.0]; 3];
        let series = std::iter::once(alone).chain(first).chain(last).chain([wide]).collect();
        let chart = of("suspension", series);
        assert_eq!(
            points(&chart[0]),
            [(0.0, 140.0), (100.0, 240.0), (200.0, 340.0), (300.0, 440.0)]
        );
        let Plot::Lines(lines) = &chart[0].plot else { panic!("no lines") };
        assert_eq!(lines.lines[1].points, [(0.0, 50.0), (300.0, 50.0)]);
    }

    #[test]
    fn writes_by_size_are_medians_of_each_size_and_place() {
        let writes = |us: [f64; 2]| {
            let all = (0..6).map(|it| [[4096.0, 8192.0][it % 2], us[it % 2] + (it / 2) as f64]);
            all.collect::<Vec<[f64; 2]>>()
        };
        let chart = of("map-unit", vec![writes([50.0, 20.0]), writes([50.0, 90.0])]);
        assert_eq!(points(&chart[0]), [(4.0, 51.0), (8.0, 21.0)]);
        let Plot::Lines(lines) = &chart[0].plot else { panic!("no lines") };
        assert_eq!(lines.lines[1].points, [(4.0, 51.0), (8.0, 91.0)]);
    }

    #[test]
    fn rates_are_of_pieces_and_compression_of_the_last_rounds() {
        let piece = 1e6;
        let written = vec![[piece, 2_000.0], [2.0 * piece, 10_000.0]];
        let emptied = [Vec::new(), Vec::new(), Vec::new()];
        let of_cache = emptied.into_iter().chain([written.clone(), written]);
        let chart = of("slc-cache", of_cache.collect());
        assert_eq!(points(&chart[0]).iter().map(|it| it.1).collect::<Vec<f64>>(), [500.0, 100.0]);
        let round = |us: f64| vec![[0.0, us], [50.0, us / 2.0]];
        let rounds = [1.0, 1.0, 1.0, 1e4, 1e4, 1e4].map(round).into_iter().chain([Vec::new()]);
        let chart = of("compression", rounds.collect());
        assert_eq!(points(&chart[0]), [(0.0, MIB / 1e4), (50.0, MIB / 5e3)]);
    }

    #[test]
    fn writes_in_turn_stand_by_the_number_of_areas_the_shortest_of_each() {
        let trials = vec![[8.0, 9000.0], [1.0, 300.0], [8.0, 8000.0], [1.0, 5000.0]];
        let chart = of("mapping", vec![trials, Vec::new(), Vec::new()]);
        assert_eq!(points(&chart[0]), [(1.0, 300.0), (8.0, 8000.0)]);
        let piece = |us: f64| vec![[1e6, us], [2e6, us]];
        let none = Vec::new;
        let series = [none(), none(), none(), none(), piece(2e3), piece(1e4), none(), piece(5e3)];
        let chart = of("amplification", series.into());
        let Plot::Lines(lines) = &chart[0].plot else { panic!("no lines") };
        let of_each: Vec<f64> = lines.lines.iter().map(|line| line.points[0].1).collect();
        assert_eq!(of_each, [500.0, 100.0, 200.0]);
    }

    #[test]
    fn a_place_has_one_point() {
        let points = vec![(2.0, 1.0), (1.0, 5.0), (2.0, 9.0), (2.0, 2.0), (1.0, 6.0)];
        assert_eq!(by_place(points), [(1.0, 5.5), (2.0, 2.0)]);
        assert_eq!(by_place(Vec::new()), []);
    }

    #[test]
    fn samples_that_make_no_chart_make_none() {
        let detectors = [
            "kind",
            "row",
            "dies",
            "page-kinds",
            "read-ahead",
            "write-buffer",
            "map-unit",
            "suspension",
            "slc-cache",
            "map-reach",
            "compression",
            "mapping",
            "spare",
            "amplification",
            "trim",
            "soul",
        ];
        for detector in detectors {
            for count in 0..8 {
                assert!(of(detector, vec![Vec::new(); count]).is_empty(), "{detector} {count}");
                // Whatever they are, nothing panics; what cannot be a sample is not drawn.
                let zeroes = of(detector, vec![vec![[0.0, 0.0]; 3]; count]);
                assert!(zeroes.iter().all(|it| !it.figure(true).into_string().is_empty()));
                assert!(of(detector, vec![vec![[-1.0, 1e300]; 3]; count]).is_empty(), "{detector}");
            }
        }
    }
}
