//! Reads by where data lies: across borders of pages, in two rows at once, and of pages of several kinds.

use fourcorners_record::diagnosis::{Diagnosis, Series};

use super::super::super::chart::{Chart, Marks, Scale, Up, count_tick, time_tick};
use super::super::super::words::micros;
use super::{
    Drawn, KIB, UNIT_KIB, by_place, fastest_first, last_place, line, median, number, times, values,
};

/// Units of the longest row that is looked for.
const LONGEST_ROW: f64 = 64.0;
/// Rows of two rounds of the most dies that are looked for, and KiB that are drawn as one distance where no row is known.
const MOST_ROWS: f64 = 1_024.0;
const BIN_KIB: f64 = 64.0;
/// Places between borders that are named.
const PLACES: f64 = 8.0;

/// The time of a read of two units by where the border between them lies.
pub(super) fn borders(diagnosis: &Diagnosis, [both, first, second]: [&Series; 3]) -> Option<Chart> {
    let unit_bytes = UNIT_KIB * KIB;
    let row = diagnosis.findings.iter().find(|it| it.key == "row_bytes")?;
    let units = row.determined().map(|bytes| bytes / unit_bytes);
    let known = units.filter(|it| it.fract() == 0.0 && (1.0..=LONGEST_ROW).contains(it));
    // Of two rows the second one shows that the first was not chance.
    let period = known.map_or(LONGEST_ROW, |units| 2.0 * units);
    let alone: Vec<[f64; 2]> = first
        .samples
        .iter()
        .zip(&second.samples)
        .map(|(first, second)| [first[0], first[1].max(second[1])])
        .collect();
    let by_border = |samples: &[[f64; 2]]| -> Vec<(f64, f64)> {
        let at = |border: f64| {
            let there = samples.iter().filter(|sample| (sample[0] + 1.0) % period == border);
            Some((border * UNIT_KIB, median(there.map(|sample| sample[1]))?))
        };
        (0..period as usize).filter_map(|border| at(border as f64)).collect()
    };
    let lines = vec![
        line("both at once", 0, by_border(&both.samples), Marks::Each),
        line("the slower one alone", 1, by_border(&alone), Marks::Each),
    ];
    let about = match known {
        Some(_) => {
            "Median time of a read of two units of 4 KiB by where the border between them lies; two rows."
        }
        None => {
            "Median time of a read of two units of 4 KiB by where the border between them lies, over the longest row \
             that is looked for."
        }
    };
    let mut across = Scale::linear("KiB", (0.0, period * UNIT_KIB), count_tick);
    // Borders are where powers of two are.
    let step = (period / PLACES).max(1.0) * UNIT_KIB;
    let places = (0..).map(|tick| f64::from(tick) * step).take_while(|it| *it < period * UNIT_KIB);
    across.ticks = places.map(|it| (it, count_tick(it))).collect();
    Drawn {
        title: "Reads across borders",
        about,
        across,
        up: Up::of("Time", values(&lines), false, time_tick),
        lines,
        place: number,
        value: micros,
    }
    .chart()
}

/// The time of two reads at once by how far apart they lie.
pub(super) fn pairs(diagnosis: &Diagnosis, places: &Series, both: &Series) -> Option<Chart> {
    let number_of = |key| diagnosis.findings.iter().find(|it| it.key == key)?.determined();
    let row = number_of("stripe_bytes").zip(number_of("dies")).map(|(stripe, dies)| {
        // Of two rounds the second one shows that the first was not chance.
        (stripe / dies / (UNIT_KIB * KIB), 2.0 * dies)
    });
    let known = row.filter(|(row, round)| {
        (1.0..=LONGEST_ROW).contains(row) && (4.0..=MOST_ROWS).contains(round)
    });
    let apart = |[first, second]: [f64; 2]| match known {
        Some((row, round)) => ((second / row).floor() - (first / row).floor()) % round,
        None => ((second - first) * UNIT_KIB / BIN_KIB).floor() * BIN_KIB,
    };
    let all = places.samples.iter().zip(times(both)).map(|(places, us)| (apart(*places), us));
    let lines = vec![line("both reads", 0, by_place(all.collect()), Marks::Each)];
    let (about, name) = match known {
        Some(_) => (
            "Median time until two reads sent at once are done, by how many rows lie between them; two rounds of all dies.",
            "Rows",
        ),
        None => {
            ("Median time until two reads sent at once are done, by how far apart they lie.", "KiB")
        }
    };
    Drawn {
        title: "Two reads at once",
        about,
        across: Scale::linear(name, (0.0, last_place(&lines).max(1.0)), count_tick),
        up: Up::of("Time", values(&lines), false, time_tick),
        lines,
        place: number,
        value: micros,
    }
    .chart()
}

/// How long each place takes to be read, the fastest first: kinds of pages are steps.
pub(super) fn places(readings: &Series) -> Option<Chart> {
    let samples = readings.samples.iter().map(|[unit, us]| (*unit, *us)).collect();
    let middle = by_place(samples).into_iter().map(|(_, us)| us).collect();
    let lines = vec![line("a place", 0, fastest_first(middle), Marks::None)];
    Drawn {
        title: "Kinds of pages",
        about: "Median time of a read of each of some places, the fastest place first: each kind of page is a step.",
        across: Scale::linear("Percent of the places", (0.0, 100.0), count_tick),
        up: Up::of("Time", values(&lines), false, time_tick),
        lines,
        place: number,
        value: micros,
    }
    .chart()
}
