//! The ranking of the drives of a document: one table across drives and methods, and at most three
//! sentences with figures: the fastest drive, the most consistent and the best in the used state, and the
//! drive to avoid. Differences of 10 % or less share a place.

use fourcorners_record::{Figure, Record};
use fourcorners_results::compare::{NO_MATTER, is_repeat, same_work};

use super::entries::{DriveRecords, Entries, Mean, has_bars};
use super::lengths::is_quick_among_full;
use super::words::{NO_VALUE, clock_words, iops, rate};

/// A quantity that drives are ranked by; more is better.
pub(super) struct Measure {
    /// The two lines of its heading.
    pub(super) heading: [&'static str; 2],
    /// Its name within a sentence.
    what: &'static str,
    unit: &'static str,
    kind: Kind,
    /// Its value in a record that has it complete, and the figure that it is of.
    of: fn(&Record) -> Option<Measured<'_>>,
}

/// A value, and the figure that it is of.
type Measured<'r> = (f64, &'r Figure);

/// The property of a drive that a measure shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Corner,
    Shallow,
    Used,
    Consistency,
}

const MEASURES: [Measure; 9] = [
    Measure {
        heading: ["random", "read"],
        what: "random read",
        unit: "MB/s",
        kind: Kind::Corner,
        of: |record| corner(record, &["random_read_4k_qd3"]),
    },
    Measure {
        heading: ["random", "write"],
        what: "random write",
        unit: "MB/s",
        kind: Kind::Corner,
        of: |record| corner(record, &["random_write_4k_qd3_incompressible", "random_write_4k_qd3"]),
    },
    Measure {
        heading: ["seq.", "read"],
        what: "sequential read",
        unit: "MB/s",
        kind: Kind::Corner,
        of: |record| corner(record, &["sequential_read_128k_qd1"]),
    },
    Measure {
        heading: ["seq.", "write"],
        what: "sequential write",
        unit: "MB/s",
        kind: Kind::Corner,
        of: |record| {
            corner(
                record,
                &["sequential_write_128k_qd1_incompressible", "sequential_write_128k_qd1"],
            )
        },
    },
    Measure {
        heading: ["QD\u{a0}1", "read"],
        what: "random read at QD 1",
        unit: "MB/s",
        kind: Kind::Shallow,
        of: |record| figure(record, &["random_read_4k_qd1"]),
    },
    Measure {
        heading: ["QD\u{a0}1", "write"],
        what: "random write at QD 1",
        unit: "MB/s",
        kind: Kind::Shallow,
        of: |record| figure(record, &["random_write_4k_qd1_incompressible", "random_write_4k_qd1"]),
    },
    Measure {
        heading: ["sync", "write"],
        what: "4 KiB write with a flush",
        unit: "MB/s",
        kind: Kind::Shallow,
        of: |record| figure(record, &["sequential_write_4k_qd1_flush"]),
    },
    Measure {
        heading: ["used", "write"],
        what: "random write in the used state",
        unit: "MB/s",
        kind: Kind::Used,
        // A quick review does not bring it about.
        of: |record| {
            figure(record, &["random_write_4k_qd3_incompressible_used"]).filter(|_| !record.quick)
        },
    },
    Measure {
        heading: ["worst", "second"],
        what: "worst second",
        unit: "IOPS",
        kind: Kind::Consistency,
        of: worst_second,
    },
];

/// The first of these figures in a record, MB/s; `None` if it was cut short.
fn figure<'r>(record: &'r Record, names: &[&str]) -> Option<Measured<'r>> {
    let found = names.iter().find_map(|name| record.figures.get(*name))?;
    found.complete.then_some((found.mb_per_s, found))
}

/// The first of these figures of a method whose figures count among the four corners, MB/s.
fn corner<'r>(record: &'r Record, names: &[&str]) -> Option<Measured<'r>> {
    figure(record, names).filter(|_| has_bars(&record.method))
}

/// The lowest IOPS of any second of the long random write without spare area.
fn worst_second(record: &Record) -> Option<Measured<'_>> {
    let is_default = |name: &&String| record.method == "consistency" && name.ends_with("_default");
    let name = record.figures.keys().find(is_default)?;
    let figure = record.figures.get(name).filter(|figure| figure.complete)?;
    let series = record.series.get(name)?;
    let worst = *series.iops.iter().min()? as f64;
    (figure.ios > 0).then_some((worst, figure))
}

/// Whether drives are ranked by a record.
pub(super) fn is_ranked(record: &Record) -> bool {
    MEASURES.iter().any(|measure| (measure.of)(record).is_some())
}

/// Whether two drives have a measure, be it of the same work or not.
pub(super) fn is_of_several(drives: &[DriveRecords]) -> bool {
    MEASURES.iter().any(|measure| {
        let has = |drive: &&DriveRecords| drive.records.iter().any(|it| (measure.of)(it).is_some());
        drives.iter().filter(has).count() > 1
    })
}

/// A measure across all drives.
pub(super) struct Column {
    pub(super) measure: &'static Measure,
    /// By drive; `None` where it was not measured.
    pub(super) values: Vec<Option<f64>>,
    /// By drive, from 1; values within 10 % of the first of a place share it.
    pub(super) places: Vec<Option<usize>>,
    /// Whether a value is the mean of several.
    of_repeats: bool,
}

/// The ranking of a document's drives.
pub(super) struct Standings {
    /// Labels, the best mean place first; drives without a rank come last, in the document's order.
    pub(super) drives: Vec<String>,
    /// Which of them is the drive under test.
    pub(super) under_test: Option<usize>,
    /// By drive, from 1, by the mean of its places; `None` if it lacks one of the columns.
    pub(super) ranks: Vec<Option<usize>>,
    /// The measures that at least two drives have.
    pub(super) columns: Vec<Column>,
    /// Whether models in virtual time stand beside hardware in wall time.
    pub(super) mixed_clocks: bool,
}

impl Standings {
    /// The units of the columns that are there, whether repeats were averaged, and why a drive has no rank.
    pub(super) fn units(&self) -> String {
        let is_worst = |column: &Column| column.measure.kind == Kind::Consistency;
        let units = match (self.columns.iter().any(is_worst), self.columns.iter().all(is_worst)) {
            (_, true) => "Worst second in IOPS",
            (true, false) => "Rates in MB/s, the worst second in IOPS",
            (false, false) => "Rates in MB/s",
        };
        let repeats = if self.of_repeats() { ", means of the repeats" } else { "" };
        let lacking = match self.ranks.contains(&None) {
            true => format!(
                ". A drive that lacks a measure, or has it of another job, has no rank ({NO_VALUE})"
            ),
            false => String::new(),
        };
        format!("{units}{repeats}{lacking}")
    }

    /// Whether a value is the mean of several.
    pub(super) fn of_repeats(&self) -> bool {
        self.columns.iter().any(|column| column.of_repeats)
    }

    /// The ranking of several drives; `None` if no measure is of two of them.
    pub(super) fn of(all: &Entries) -> Option<Standings> {
        Standings::of_drives(&all.drives)
    }

    /// The same of the drives alone, the one under test first.
    pub(super) fn of_drives(drives: &[DriveRecords]) -> Option<Standings> {
        let clock = |drive: &DriveRecords| drive.records[0].clock;
        let mixed_clocks = drives.iter().any(|drive| clock(drive) != clock(&drives[0]));
        let label = |drive: &DriveRecords| {
            let quick = if is_quick_among_full(drive, drives) { " (quick)" } else { "" };
            let clock = match mixed_clocks {
                true => format!(" · {}", clock_words(clock(drive))),
                false => String::new(),
            };
            format!("{}{quick}{clock}", drive.label)
        };
        let column = |measure| Column::of(measure, drives);
        let columns: Vec<Column> = MEASURES.iter().filter_map(column).collect();
        if columns.is_empty() {
            return None;
        }
        let of_all: Vec<&Column> = columns.iter().collect();
        let sums: Vec<Option<usize>> =
            (0..drives.len()).map(|drive| place_sum(&of_all, drive)).collect();
        let mut order: Vec<usize> = (0..drives.len()).collect();
        // The sort is stable.
        order.sort_by_key(|&drive| (sums[drive].is_none(), sums[drive]));
        let rank = |&drive: &usize| {
            let sum = sums[drive]?;
            Some(1 + sums.iter().flatten().filter(|other| **other < sum).count())
        };
        Some(Standings {
            drives: order.iter().map(|&at| label(&drives[at])).collect(),
            under_test: order.iter().position(|&at| at == 0),
            ranks: order.iter().map(rank).collect(),
            columns: columns.into_iter().map(|column| column.in_order(&order)).collect(),
            mixed_clocks,
        })
    }

    /// At most three sentences with figures.
    pub(super) fn sentences(&self) -> Vec<String> {
        let fastest = self.fastest();
        let avoid = self.to_avoid(fastest);
        let said = [
            fastest.map(|drive| self.fastest_words(drive)),
            self.best_beyond_the_corners(),
            avoid.map(|drive| self.avoid_words(drive)),
        ];
        let mut said: Vec<String> = said.into_iter().flatten().collect();
        if said.is_empty() {
            said.push(self.no_winner());
        }
        said
    }

    /// The drive with the lowest sum of places in the corners, if no other has the same and it is alone in
    /// first place in one of them.
    fn fastest(&self) -> Option<usize> {
        let corners = self.of_kind(Kind::Corner);
        let drives = 0..self.drives.len();
        let sums: Vec<(usize, usize)> =
            drives.filter_map(|drive| Some((place_sum(&corners, drive)?, drive))).collect();
        let &(least, best) = sums.iter().min()?;
        let is_alone = sums.iter().filter(|(sum, _)| *sum == least).count() == 1;
        let leads = corners.iter().any(|column| column.is_first_alone(best));
        (is_alone && leads).then_some(best)
    }

    fn fastest_words(&self, drive: usize) -> String {
        let corners = self.of_kind(Kind::Corner);
        let led: Vec<&&Column> =
            corners.iter().filter(|column| column.is_first_alone(drive)).collect();
        format!(
            "Fastest: {}, first in {} of {} corners ({}).",
            self.drives[drive],
            led.len(),
            corners.len(),
            figures(led.into_iter().copied(), drive)
        )
    }

    /// The drives alone in first place in consistency and in the used state.
    fn best_beyond_the_corners(&self) -> Option<String> {
        let best = |kind| {
            let column = *self.of_kind(kind).first()?;
            let best = (0..self.drives.len()).find(|&drive| column.is_first_alone(drive))?;
            let others = column.values.iter().enumerate().filter(|(drive, _)| *drive != best);
            let next = others.filter_map(|(_, value)| *value).fold(0.0, f64::max);
            let next = column.measure.with_unit(next);
            Some(format!("{} ({}; next {next})", self.drives[best], column.said(best)?))
        };
        let consistent = best(Kind::Consistency).map(|said| format!("ost consistent: {said}"));
        let used = best(Kind::Used).map(|said| format!("est in the used state: {said}"));
        match (consistent, used) {
            (Some(consistent), Some(used)) => Some(format!("M{consistent}; b{used}.")),
            (Some(consistent), None) => Some(format!("M{consistent}.")),
            (None, Some(used)) => Some(format!("B{used}.")),
            (None, None) => None,
        }
    }

    /// Of three drives or more that have values the one alone in last place in half of the columns or more, at least two,
    /// and in more of them than any other. Of two, the other one was named.
    fn to_avoid(&self, fastest: Option<usize>) -> Option<usize> {
        let lasts: Vec<usize> =
            (0..self.drives.len()).map(|drive| self.lasts(drive).len()).collect();
        let most = *lasts.iter().max()?;
        let is_alone = lasts.iter().filter(|number| **number == most).count() == 1;
        let drive = lasts.iter().position(|number| *number == most)?;
        let has_values = |drive: &usize| self.columns.iter().any(|it| it.values[*drive].is_some());
        let are_several = (0..self.drives.len()).filter(has_values).count() > 2;
        let is_often = are_several && most > 1 && most * 2 >= self.columns.len();
        (is_alone && is_often && fastest != Some(drive)).then_some(drive)
    }

    fn avoid_words(&self, drive: usize) -> String {
        let lasts = self.lasts(drive);
        // Where it was not measured it cannot be last.
        let own = self.columns.iter().filter(|it| it.values[drive].is_some()).count();
        let its = if own < self.columns.len() { "its " } else { "" };
        format!(
            "To avoid: {}, last in {} of {its}{own} measures ({}).",
            self.drives[drive],
            lasts.len(),
            figures(lasts.into_iter(), drive)
        )
    }

    /// The columns in which a drive is alone in last place.
    fn lasts(&self, drive: usize) -> Vec<&Column> {
        self.columns.iter().filter(|column| column.is_last_alone(drive)).collect()
    }

    /// How far the drives differ, where none of them stands out.
    fn no_winner(&self) -> String {
        let most = NO_MATTER * 100.0;
        let apart: Vec<&Column> =
            self.columns.iter().filter(|column| column.last_place() > 1).collect();
        match apart.iter().max_by(|a, b| a.factor().total_cmp(&b.factor())) {
            None => format!("Nothing here sets them apart by more than {most:.0} %."),
            Some(column) => format!(
                "No drive stands out: they differ by more than {most:.0} % in {} of {} measures, most in \
                 {}.",
                apart.len(),
                self.columns.len(),
                column.range()
            ),
        }
    }

    fn of_kind(&self, kind: Kind) -> Vec<&Column> {
        self.columns.iter().filter(|column| column.measure.kind == kind).collect()
    }
}

impl Measure {
    /// A value as it is printed, without its unit.
    pub(super) fn value(&self, value: f64) -> String {
        if self.unit == "IOPS" { iops(value) } else { rate(value) }
    }

    fn with_unit(&self, value: f64) -> String {
        format!("{} {}", self.value(value), self.unit)
    }
}

impl Column {
    /// The values of the method that most drives have the measure of; `None` if fewer than two have it.
    /// Figures of another method, of another job, or of a quick run beside full ones, are not of the same work.
    fn of(measure: &'static Measure, drives: &[DriveRecords]) -> Option<Column> {
        // By drive, each record that has it.
        let measured: Vec<Vec<(&Record, Measured<'_>)>> = drives
            .iter()
            .map(|drive| {
                let records = drive.records.iter();
                records.filter_map(|record| Some((*record, (measure.of)(record)?))).collect()
            })
            .collect();
        let is_alike = |(one, (_, a)): (&Record, Measured<'_>),
                        (other, (_, b)): (&Record, Measured<'_>)| {
            let bytes = |record: &Record| record.target.capacity_bytes;
            (&one.method, one.quick) == (&other.method, other.quick)
                && same_work((&a.job, bytes(one)), (&b.job, bytes(other)))
        };
        let mut works: Vec<(&Record, Measured<'_>)> = Vec::new();
        for &one in measured.iter().flatten() {
            if !works.iter().any(|&work| is_alike(work, one)) {
                works.push(one);
            }
        }
        let values = |&work: &(&Record, Measured<'_>)| -> Vec<Option<Mean>> {
            let value = |of_drive: &Vec<(&Record, Measured<'_>)>| {
                let alike = of_drive.iter().filter(|&&it| is_alike(work, it) && it.1.0.is_finite());
                let (first, _) = alike.clone().next()?;
                let repeats = alike.filter(|(record, _)| is_repeat(first, record));
                Mean::of(repeats.map(|(_, (value, _))| *value))
            };
            measured.iter().map(value).collect()
        };
        let known = |values: &Vec<Option<Mean>>| values.iter().flatten().count();
        // Of several with the most, `max_by_key` takes the last: the first of the document here.
        let values = works.iter().rev().map(values).max_by_key(known)?;
        let of_repeats = values.iter().flatten().any(|mean| mean.of > 1);
        let values_of: Vec<Option<f64>> = values.iter().map(|mean| Some((*mean)?.value)).collect();
        (known(&values) > 1).then(|| Column {
            measure,
            places: places(&values_of),
            values: values_of,
            of_repeats,
        })
    }

    fn in_order(self, order: &[usize]) -> Column {
        Column {
            values: order.iter().map(|&at| self.values[at]).collect(),
            places: order.iter().map(|&at| self.places[at]).collect(),
            ..self
        }
    }

    fn said(&self, drive: usize) -> Option<String> {
        Some(format!("{} {}", self.measure.what, self.measure.with_unit(self.values[drive]?)))
    }

    /// Its lowest and highest value.
    fn ends(&self) -> (f64, f64) {
        let values = self.values.iter().flatten();
        values.fold((f64::MAX, f64::MIN), |(low, high), &value| (low.min(value), high.max(value)))
    }

    /// How many times its lowest value the highest is.
    fn factor(&self) -> f64 {
        let (low, high) = self.ends();
        high / low
    }

    fn range(&self) -> String {
        let (low, high) = self.ends();
        let measure = self.measure;
        format!("{} ({} to {})", measure.what, measure.value(low), measure.with_unit(high))
    }

    /// A drive's value as a share of the highest, for its bar.
    pub(super) fn share(&self, drive: usize) -> Option<f64> {
        let highest = self.values.iter().flatten().copied().fold(0.0, f64::max);
        self.values[drive].filter(|_| highest > 0.0).map(|value| (value / highest).max(0.0))
    }

    pub(super) fn is_first_alone(&self, drive: usize) -> bool {
        self.places[drive] == Some(1) && self.sharing(1) == 1
    }

    fn is_last_alone(&self, drive: usize) -> bool {
        let last = self.last_place();
        last > 1 && self.places[drive] == Some(last) && self.sharing(last) == 1
    }

    fn last_place(&self) -> usize {
        self.places.iter().flatten().max().copied().unwrap_or(0)
    }

    fn sharing(&self, place: usize) -> usize {
        self.places.iter().filter(|other| **other == Some(place)).count()
    }
}

/// The first two figures of a drive in these columns, in words.
fn figures<'c>(columns: impl Iterator<Item = &'c Column>, drive: usize) -> String {
    let figures: Vec<String> = columns.take(2).filter_map(|column| column.said(drive)).collect();
    figures.join(", ")
}

/// Places by value, the highest first; values within 10 % of the first of a place share it.
fn places(values: &[Option<f64>]) -> Vec<Option<usize>> {
    let mut order: Vec<(usize, f64)> =
        values.iter().enumerate().filter_map(|(at, value)| Some((at, (*value)?))).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut places = vec![None; values.len()];
    let (mut place, mut first) = (0, f64::NAN);
    for (number, (at, value)) in order.into_iter().enumerate() {
        let is_near = first == value || first <= value * (1.0 + NO_MATTER);
        if !is_near {
            (place, first) = (number + 1, value);
        }
        places[at] = Some(place);
    }
    places
}

/// The sum of a drive's places; `None` if it lacks one of the columns, or there are none.
fn place_sum(columns: &[&Column], drive: usize) -> Option<usize> {
    (!columns.is_empty()).then(|| columns.iter().map(|column| column.places[drive]).sum())?
}
