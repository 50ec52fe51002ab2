//! Kinds of pages: in how many times a drive's pages are read.
//!
//! Pages that share cells are not read alike: of flash with two bits a cell every other page needs one sense, and the others
//! two. Places are read again and again, in an order by chance, so that of each the middle time is known better than one read
//! is; these middle times lie in as many groups as there are kinds.
//!
//! Times may fall into groups for other reasons. Kinds are about as frequent as each other, each is as narrow as the times of
//! one place are, and two units side by side, of one page or of one row, are of the same kind but for those at a border. What is
//! not so is none. That all pages are read alike says nothing: one bit a cell, a cache with one bit a cell that they lie
//! in, or kinds that take as long.

use std::collections::BTreeMap;

use fourcorners_drive::{Nanos, Target};
use fourcorners_record::diagnosis::{Finding, Series};

use super::probe::{Probe, Stopped};
use super::region::{Region, UNIT};
use super::statistics::{deviation, mean, median, sorted};

const KEY: &str = "page_kinds";
/// Pairs of units side by side, and how often each unit is read.
const PAIRS: usize = 800;
const ROUNDS: usize = 16;
/// Further sets of as many reads, if the first does not tell.
const MORE: usize = 3;
/// If all places take equally long, a cache has this long to be emptied before they are read again.
const REST: Nanos = Nanos(30_000_000_000);
/// Flash with four bits a cell has four kinds.
const MOST_KINDS: usize = 4;
/// Medians of places of one kind spread by this factor times the error of one median at most; that error counts as no less than
/// `LEAST_WIDTH_US`.
const NARROW: f64 = 1.35;
const LEAST_WIDTH_US: f64 = 0.3;
/// The times of two kinds differ by this factor times that error at least.
const APART: f64 = 4.0;
/// A kind's share of the places, divided by an equal share, lies between these. A kind that is twice as frequent as the other is
/// two kinds that take equally long.
const EQUAL: [f64; 2] = [0.78, 1.27];
/// The least share of pairs whose two units are of the same kind.
const TOGETHER: f64 = 0.9;
/// The least readings of a place, and the least number of places.
const LEAST_READINGS: usize = 8;
const LEAST_PLACES: usize = 40;

pub(super) fn measure<T: Target>(
    probe: &mut Probe<'_, T>,
    region: Region,
) -> Result<Vec<Series>, Stopped> {
    let mut units: Vec<u64> = (0..PAIRS)
        .map(|_| probe.below(region.units() / 2) * 2)
        .flat_map(|it| [it, it + 1])
        .collect();
    units.sort_unstable();
    units.dedup();
    let mut series = Series {
        what: "unit of 4 KiB, many times by chance; microseconds of a read of it".into(),
        samples: read(probe, region, &units)?,
    };
    let mut found = Found::of(&series);
    if found == Found::OneKind {
        probe.idle(REST)?;
        series.samples = read(probe, region, &units)?;
        found = Found::of(&series);
    }
    for _ in 0..MORE {
        if found != Found::Unclear {
            break;
        }
        series.samples.extend(read(probe, region, &units)?);
        found = Found::of(&series);
    }
    Ok(vec![series])
}

/// What reads of places show so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    OneKind,
    Kinds,
    /// More reads may tell.
    Unclear,
}

impl Found {
    fn of(series: &Series) -> Found {
        let Some(places) = Places::of(series) else { return Found::Unclear };
        let kinds = places.kinds();
        match kinds.len() {
            1 => Found::OneKind,
            _ if places.judge(&kinds).is_ok() => Found::Kinds,
            _ => Found::Unclear,
        }
    }
}

/// Reads of places, each many times and all in an order by chance.
fn read<T: Target>(
    probe: &mut Probe<'_, T>,
    region: Region,
    units: &[u64],
) -> Result<Vec<[f64; 2]>, Stopped> {
    let mut order: Vec<u64> = std::iter::repeat_n(units, ROUNDS).flatten().copied().collect();
    probe.shuffle(&mut order);
    let mut samples = Vec::with_capacity(order.len());
    for unit in order {
        samples.push([unit as f64, probe.read_us(region.start + unit * UNIT, UNIT)?]);
    }
    Ok(samples)
}

/// The middle times of the places.
struct Places {
    /// By unit.
    by_unit: BTreeMap<u64, f64>,
    /// The standard error of a place's median.
    noise_us: f64,
}

/// Places with about one time.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Kind {
    us: f64,
    /// The longest time of them.
    to_us: f64,
    places: usize,
}

impl Places {
    /// Of a series with enough readings of enough places.
    fn of(series: &Series) -> Option<Places> {
        let mut readings: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for [unit, us] in &series.samples {
            readings.entry(*unit as u64).or_default().push(*us);
        }
        readings.retain(|_, times| times.len() >= LEAST_READINGS);
        if readings.len() < LEAST_PLACES {
            return None;
        }
        let half = |times: &[f64], first: usize| {
            median(&times.iter().skip(first).step_by(2).copied().collect::<Vec<f64>>())
        };
        // The middle of all is known twice as well as the difference of two halves.
        let differences: Vec<f64> =
            readings.values().map(|times| half(times, 0) - half(times, 1)).collect();
        let by_unit = readings.iter().map(|(unit, times)| (*unit, median(times))).collect();
        Some(Places { by_unit, noise_us: deviation(&differences) / 2.0 })
    }

    /// The error of a median by which kinds are judged.
    fn width_us(&self) -> f64 {
        self.noise_us.max(LEAST_WIDTH_US)
    }

    /// The smallest number of kinds that leaves each as narrow as one place; empty if four do not.
    fn kinds(&self) -> Vec<Kind> {
        let times = sorted(self.by_unit.values().copied().collect());
        (1..=MOST_KINDS)
            .map(|count| split(&times, count))
            .find(|kinds| {
                let off = |us: &f64| kind_of(kinds, *us).map_or(f64::NAN, |kind| us - kind.us);
                deviation_about_zero(&times.iter().map(off).collect::<Vec<f64>>())
                    <= NARROW * self.width_us()
            })
            .unwrap_or_default()
    }

    /// How many kinds these are, or why they are not kinds of pages for certain.
    fn judge(&self, kinds: &[Kind]) -> Result<Finding, String> {
        let (Some(first), Some(last)) = (kinds.first(), kinds.last()) else {
            return Err(format!(
                "places are read in more than {MOST_KINDS} times, which differ by more than those of one place do ({:.1} us)",
                self.width_us()
            ));
        };
        if kinds.len() == 1 {
            return Err(format!(
                "all pages are read in {:.1} us: one bit a cell, a cache that holds one, or kinds that take as long",
                first.us
            ));
        }
        let times: Vec<String> = kinds.iter().map(|kind| format!("{:.1}", kind.us)).collect();
        let reason = match times.split_last() {
            Some((last, others)) => format!("pages are read in {} or {last} us", others.join(", ")),
            None => String::new(),
        };
        let nearest = kinds.windows(2).map(|pair| pair[1].us - pair[0].us).fold(last.us, f64::min);
        if nearest < APART * self.width_us() {
            return Err(format!(
                "{reason}, which are {nearest:.1} us apart where those of one place differ by {:.1}",
                self.width_us()
            ));
        }
        let equal = self.by_unit.len() as f64 / kinds.len() as f64;
        if let Some(rare) =
            kinds.iter().find(|it| !(EQUAL[0]..=EQUAL[1]).contains(&(it.places as f64 / equal)))
        {
            return Err(format!(
                "{reason}, but {} of {} places in {:.1} us: kinds of pages are about equally frequent",
                rare.places,
                self.by_unit.len(),
                rare.us
            ));
        }
        let together: Vec<bool> = self
            .by_unit
            .iter()
            .filter(|(unit, _)| **unit % 2 == 0)
            .filter_map(|(unit, us)| Some([*us, *self.by_unit.get(&(unit + 1))?]))
            .map(|pair| pair.map(|us| kind_of(kinds, us)))
            .map(|[one, other]| one == other)
            .collect();
        let share = together.iter().filter(|it| **it).count() as f64 / together.len().max(1) as f64;
        if share < TOGETHER {
            return Err(format!(
                "{reason}, but of two units side by side both alike in {:.0} % only: they are no pages",
                100.0 * share
            ));
        }
        Ok(Finding::count(KEY, kinds.len() as f64).because(reason))
    }
}

/// The kind that a time is of.
fn kind_of(kinds: &[Kind], us: f64) -> Option<&Kind> {
    kinds.iter().find(|kind| us <= kind.to_us)
}

/// The median distance from nought, as a deviation.
fn deviation_about_zero(all: &[f64]) -> f64 {
    1.4826 * median(&all.iter().map(|it| it.abs()).collect::<Vec<f64>>())
}

/// Splits sorted times into `count` groups with the least sum of squares about their means (Fisher 1958).
fn split(times: &[f64], count: usize) -> Vec<Kind> {
    let sums = |power: i32| {
        let add = |sum: &mut f64, us: &f64| {
            *sum += us.powi(power);
            Some(*sum)
        };
        std::iter::once(0.0).chain(times.iter().scan(0.0, add)).collect::<Vec<f64>>()
    };
    let (sum, squares) = (sums(1), sums(2));
    let rest = |from: usize, to: usize| {
        let all = sum[to] - sum[from];
        squares[to] - squares[from] - all * all / (to - from) as f64
    };
    // By how many times from the first on are split: the least sum of squares, and where the last group begins.
    let mut least: Vec<(f64, usize)> = (0..=times.len())
        .map(|to| if to == 0 { (f64::INFINITY, 0) } else { (rest(0, to), 0) })
        .collect();
    let mut begins = vec![least.iter().map(|it| it.1).collect::<Vec<usize>>()];
    for _ in 1..count {
        least = (0..=times.len())
            .map(|to| {
                let of = (1..to).map(|from| (least[from].0 + rest(from, to), from));
                of.min_by(|one, other| one.0.total_cmp(&other.0)).unwrap_or((f64::INFINITY, 0))
            })
            .collect();
        begins.push(least.iter().map(|it| it.1).collect());
    }
    let mut kinds = Vec::with_capacity(count);
    let mut to = times.len();
    for begin in begins.iter().rev() {
        let from = begin[to];
        let group = &times[from..to];
        let Some(&to_us) = group.last() else { return Vec::new() };
        kinds.push(Kind { us: mean(group), to_us, places: group.len() });
        to = from;
    }
    kinds.reverse();
    kinds
}

pub(super) fn estimate(series: &[Series]) -> Vec<Finding> {
    let undetermined = |reason: String| vec![Finding::undetermined(KEY, reason)];
    let [series] = series else { return undetermined("nothing was measured".into()) };
    let Some(places) = Places::of(series) else {
        return undetermined("too little was measured".into());
    };
    if places.by_unit.values().any(|us| *us <= 0.0) {
        return undetermined("its times are no times".into());
    }
    let found = places.judge(&places.kinds());
    vec![found.unwrap_or_else(|why| Finding::undetermined(KEY, why))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disturbed::Random;

    /// Readings of places: `us` is the time of a unit, and each reading is off by up to `noise` microseconds.
    fn seen(us: impl Fn(u64) -> f64, noise: f64) -> Series {
        let mut random = Random(7);
        let units = (0..2 * PAIRS as u64).map(|place| (place / 2 * 37 % 1009) * 2 + place % 2);
        let mut samples = Vec::new();
        for unit in units {
            for _ in 0..ROUNDS {
                let away = (random.next() % 2001) as f64 / 1000.0 - 1.0;
                samples.push([unit as f64, us(unit) + noise * away]);
            }
        }
        Series { what: String::new(), samples }
    }

    fn said(series: Series) -> Option<f64> {
        let [finding] = &estimate(&[series])[..] else { unreachable!("one finding") };
        finding.determined()
    }

    /// Rows of 16 units, whose kinds follow each other.
    fn in_turn(kinds: &'static [f64]) -> impl Fn(u64) -> f64 {
        move |unit| kinds[(unit / 16) as usize % kinds.len()]
    }

    #[test]
    fn as_many_kinds_are_found_as_there_are() {
        assert_eq!(said(seen(in_turn(&[50.0, 65.0]), 2.0)), Some(2.0));
        assert_eq!(said(seen(in_turn(&[59.0, 64.0, 76.0]), 2.0)), Some(3.0));
        assert_eq!(said(seen(in_turn(&[50.0, 60.0, 75.0, 95.0]), 2.0)), Some(4.0));
        // Of one kind it cannot be told why.
        assert_eq!(said(seen(in_turn(&[50.0]), 2.0)), None);
    }

    #[test]
    fn kinds_too_near_each_other_are_not_told_and_not_taken_for_one() {
        for apart in [0.5, 1.0, 1.5, 2.0] {
            let near = move |unit: u64| [50.0, 50.0 + apart, 70.0][(unit / 16) as usize % 3];
            assert_eq!(said(seen(near, 6.0)), None, "{apart} us");
        }
        assert_eq!(said(seen(in_turn(&[50.0, 50.0, 70.0]), 6.0)), None, "two of three are alike");
        assert_eq!(said(seen(in_turn(&[50.0, 65.0]), 40.0)), None);
    }

    #[test]
    fn groups_that_are_no_pages_are_not_counted() {
        // Every other unit is in two pages, as where what is stored is longer than a unit.
        assert_eq!(said(seen(|unit| [50.0, 65.0][unit as usize % 2], 2.0)), None);
        // One place in eight is late.
        assert_eq!(said(seen(|unit| [50.0, 65.0][usize::from(unit / 16 % 8 == 0)], 2.0)), None);
        // Each row takes another time.
        assert_eq!(said(seen(|unit| 50.0 + (unit / 16 % 29) as f64, 1.0)), None);
        assert_eq!(estimate(&[]).len(), 1);
        assert_eq!(said(Series { what: String::new(), samples: Vec::new() }), None);
    }

    #[test]
    fn a_split_is_the_one_of_least_squares() {
        let times = [1.0, 1.1, 1.2, 5.0, 5.2, 9.0];
        let ends = |count| split(&times, count).iter().map(|it| it.to_us).collect::<Vec<f64>>();
        assert_eq!(ends(1), [9.0]);
        assert_eq!(ends(3), [1.2, 5.2, 9.0]);
        assert_eq!(split(&times, 3)[1], Kind { us: 5.1, to_us: 5.2, places: 2 });
    }
}
