//! Page and row of the flash: where in data written in order a read of two units takes longer than reads of each alone.
//!
//! Data that is written in order fills a row of pages, one page on each plane of a die, then a row of the next die. A read
//! that lies in two pages of one row has both brought over the same wires; one that lies in two rows has two dies at work
//! for it. Where the borders inside of a row are tells the page, and where one is missing tells the row.
//!
//! Pages that are slower than others, those of a cell's upper bit, are slow as well when they are read alone. The later of
//! the two units alone is therefore taken off the time of both. Where noise is as large as what they are slower by, which of
//! the two is the later one is chance, and a border between two kinds of pages looks like another kind of border: such borders
//! are left out.

use fourcorners_drive::Target;
use fourcorners_record::diagnosis::{Finding, Series};

use super::probe::{Probe, Stopped};
use super::region::{Region, UNIT};
use super::statistics::{deviation, median, quantile, sorted};

/// Places, and how often each is read: both units, the first and the second.
const PLACES: u64 = 1_680;
const TIMES: usize = 6;
/// Of a place's times the latest are left out, which are late for another reason.
const LATE: usize = 1;
/// The longest row, in units, and most pages in it.
const LONGEST: u64 = 64;
const MOST_PAGES: u64 = 16;
/// Reads at each level at least.
const LEAST: f64 = 20.0;
/// A pattern explains more than chance by so much: the F statistic, of some 200 patterns tried.
const LEAST_F: f64 = 40.0;
/// Another pattern counts that explains so much of what the best one does; among the same borders, that is as slow as this
/// share of it.
const LEAST_SHARE: f64 = 0.1;
const LEAST_OF_SLOW: f64 = 0.5;
/// A border that costs less of a read is none.
const LEAST_COST: f64 = 0.01;

/// Two units are alike whose times alone differ by less than so many deviations.
const ALIKE: f64 = 2.0;
/// Units on both sides of a border differ more than elsewhere: the F statistic of their order, of some 60 distances of borders.
const LEAST_F_OF_KINDS: f64 = 15.0;

/// The series, in this order; the samples of each are of the same places.
const ALL: [&str; 3] = [
    "first unit of 4 KiB of a read of two; microseconds",
    "first unit of 4 KiB; microseconds of a read of it alone",
    "first unit of 4 KiB; microseconds of a read of the next one alone",
];

pub(super) fn measure<T: Target>(
    probe: &mut Probe<'_, T>,
    region: Region,
) -> Result<Vec<Series>, Stopped> {
    let units: Vec<u64> = (0..PLACES).map(|_| probe.below(region.units() - 1)).collect();
    let mut reads: Vec<(usize, usize)> = (0..units.len())
        .flat_map(|place| (0..ALL.len()).map(move |which| (place, which)))
        .collect();
    let mut times = vec![[(); ALL.len()].map(|()| Vec::with_capacity(TIMES)); units.len()];
    for _ in 0..TIMES {
        // In another order each time: no read follows the one before it in order, or soon after itself.
        probe.shuffle(&mut reads);
        for &(place, which) in &reads {
            let (from, count) = [(0, 2), (0, 1), (1, 1)][which];
            let start = region.start + (units[place] + from) * UNIT;
            times[place][which].push(probe.read_us(start, count * UNIT)?);
        }
    }
    let usual = |times: &[f64]| {
        let kept = &sorted(times.to_vec())[..TIMES - LATE];
        kept.iter().sum::<f64>() / kept.len() as f64
    };
    let series = (0..ALL.len()).map(|which| Series {
        what: ALL[which].into(),
        samples: units
            .iter()
            .zip(&times)
            .map(|(unit, times)| [*unit as f64, usual(&times[which])])
            .collect(),
    });
    Ok(series.collect())
}

/// Which borders of units a pattern says are slow.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Pattern {
    /// Units in a page.
    page: u64,
    /// Pages in a row; `None`: all borders of pages are slow, those of rows as well.
    pages: Option<u64>,
}

impl Pattern {
    fn all() -> impl Iterator<Item = Pattern> {
        let inner = (1..=LONGEST / 2).flat_map(|page| {
            let most = (LONGEST / page).min(MOST_PAGES);
            (2..=most).map(move |pages| Pattern { page, pages: Some(pages) })
        });
        inner.chain((2..=LONGEST).map(|page| Pattern { page, pages: None }))
    }

    /// Whether a read of two units from `unit` on crosses a slow border.
    fn is_slow(self, unit: u64) -> bool {
        let border = unit + 1;
        border.is_multiple_of(self.page)
            && self.pages.is_none_or(|pages| !border.is_multiple_of(self.page * pages))
    }
}

/// How a pattern fits: the levels, and the squares that they leave.
#[derive(Clone, Copy, Debug)]
struct Fit {
    pattern: Pattern,
    fast: f64,
    slow: f64,
    rest: f64,
}

fn fit(pattern: Pattern, samples: &[[f64; 2]]) -> Option<Fit> {
    let mut of = [(0.0, 0.0, 0.0); 2];
    for &[unit, us] in samples {
        let (count, sum, squares) = &mut of[usize::from(pattern.is_slow(unit as u64))];
        (*count, *sum, *squares) = (*count + 1.0, *sum + us, *squares + us * us);
    }
    let rest = |(count, sum, squares): (f64, f64, f64)| (squares - sum * sum / count).max(0.0);
    let [fast, slow] = of;
    let enough = fast.0 >= LEAST && slow.0 >= LEAST;
    enough.then(|| Fit {
        pattern,
        fast: fast.1 / fast.0,
        slow: slow.1 / slow.0,
        rest: rest(fast) + rest(slow),
    })
}

/// The best pattern of slow borders, and by how much it beats the best of those that say something else: both as F.
fn best(samples: &[[f64; 2]]) -> Option<(Fit, f64, f64)> {
    let fits: Vec<Fit> = Pattern::all()
        .filter_map(|pattern| fit(pattern, samples))
        .filter(|fit| fit.slow > fit.fast)
        .collect();
    let best = *fits.iter().min_by(|one, other| one.rest.total_cmp(&other.rest))?;
    let second = fits
        .iter()
        .filter(|fit| fit.pattern != best.pattern)
        .map(|fit| fit.rest)
        .fold(f64::INFINITY, f64::min);
    let lead = (second - best.rest) / variance(&best, samples);
    Some((best, gain(&best, samples), lead))
}

/// Of what a pattern leaves. Times without any noise vary by a nanosecond.
fn variance(fit: &Fit, samples: &[[f64; 2]]) -> f64 {
    (fit.rest / (samples.len() as f64 - 2.0)).max(1e-6)
}

/// What a pattern explains: the F statistic.
fn gain(fit: &Fit, samples: &[[f64; 2]]) -> f64 {
    let mean = samples.iter().map(|[_, us]| us).sum::<f64>() / samples.len() as f64;
    let whole: f64 = samples.iter().map(|[_, us]| (us - mean).powi(2)).sum();
    (whole - fit.rest) / variance(fit, samples)
}

/// What a pattern explains of the order of the times instead of the times: the F statistic. Few very late ones among few
/// places explain much of the times, and little of their order.
fn gain_of_order(pattern: Pattern, samples: &[[f64; 2]]) -> f64 {
    let mut order: Vec<[f64; 2]> = samples.to_vec();
    order.sort_by(|one, other| one[1].total_cmp(&other[1]));
    // Those that took equally long share a place.
    let mut place = 0.0;
    for alike in order.chunk_by_mut(|one, other| one[1] == other[1]) {
        let middle = place + (alike.len() - 1) as f64 / 2.0;
        place += alike.len() as f64;
        alike.iter_mut().for_each(|it| it[1] = middle);
    }
    let fit = fit(pattern, &order).filter(|fit| fit.slow > fit.fast);
    fit.map_or(0.0, |fit| gain(&fit, &order))
}

/// By how much reads of two units take longer than one of the later unit alone, at places whose units are alike. `alone` is the
/// usual time of a read of one unit. Borders of `kinds` are left out.
fn longer(
    [both, first, second]: [&Series; 3],
    alone: f64,
    kinds: Option<Pattern>,
) -> Vec<[f64; 2]> {
    let places = || {
        let alone = first.samples.iter().zip(&second.samples);
        both.samples.iter().zip(alone).map(|(both, (first, second))| (*both, first[1], second[1]))
    };
    // Where one of the two takes longer alone, the other is sent while it is waited for: that says nothing of borders.
    let apart = differences(first, second);
    let us: Vec<f64> = apart.iter().map(|[_, us]| *us).collect();
    let most = (ALIKE * deviation(&us)).max(0.01 * alone);
    let samples: Vec<[f64; 2]> = places()
        .zip(&apart)
        .filter(|(_, [unit, us])| {
            us.abs() <= most && !kinds.is_some_and(|kinds| kinds.is_slow(*unit as u64))
        })
        .map(|(([unit, both], first, second), _)| [unit, both - first.max(second)])
        .collect();
    // What is very late, or early because a unit alone was late, is so for another reason.
    let more: Vec<f64> = samples.iter().map(|[_, us]| *us).collect();
    let (low, high) = (quantile(&more, 0.01), quantile(&more, 0.99));
    samples.iter().map(|[unit, us]| [*unit, us.clamp(low, high)]).collect()
}

/// By how much reads of the two units of a place alone differ, from the middle of these differences.
fn differences(first: &Series, second: &Series) -> Vec<[f64; 2]> {
    let alone = first.samples.iter().zip(&second.samples);
    let apart = || alone.clone().map(|(first, second)| first[1] - second[1]);
    let middle = median(&apart().collect::<Vec<f64>>());
    first.samples.iter().zip(apart()).map(|([unit, _], us)| [*unit, us - middle]).collect()
}

/// At which borders the two units alone differ more than at others, if at any: there kinds of pages change. Pages of one unit
/// may have the same kind as the next one once in a while.
fn borders_of_kinds(first: &Series, second: &Series) -> Option<Pattern> {
    let mut apart = differences(first, second);
    apart.iter_mut().for_each(|it| it[1] = it[1].abs());
    Pattern::all()
        .filter(|pattern| pattern.pages.is_none() || pattern.page == 1)
        .map(|pattern| (pattern, gain_of_order(pattern, &apart)))
        .max_by(|(_, one), (_, other)| one.total_cmp(other))
        .filter(|(_, gain)| *gain > LEAST_F_OF_KINDS)
        .map(|(pattern, _)| pattern)
}

pub(super) fn estimate(series: &[Series]) -> Vec<Finding> {
    let undetermined = |reason: &str| {
        ["page_bytes", "row_bytes"].map(|key| Finding::undetermined(key, reason)).to_vec()
    };
    let [both, first, second] = series else { return undetermined("nothing was measured") };
    if both.samples.is_empty() {
        return undetermined("nothing was measured");
    }
    estimate_without([both, first, second], borders_of_kinds(first, second))
}

/// What the times say without those at borders of `kinds`.
fn estimate_without(series: [&Series; 3], kinds: Option<Pattern>) -> Vec<Finding> {
    let undetermined = |reason: &str| {
        ["page_bytes", "row_bytes"].map(|key| Finding::undetermined(key, reason)).to_vec()
    };
    let alone = median(&series[1].samples.iter().map(|[_, us]| *us).collect::<Vec<f64>>());
    let samples = longer(series, alone, kinds);
    let Some((found, gain, lead)) = best(&samples) else {
        return undetermined("no border of pages is seen: reads take the same wherever they begin");
    };
    let difference = found.slow - found.fast;
    let gain_of_both = gain.min(gain_of_order(found.pattern, &samples));
    if gain_of_both < LEAST_F || difference < LEAST_COST * alone {
        return undetermined("no border of pages is seen: reads take the same wherever they begin");
    }
    if lead < LEAST_F / 2.0 {
        return undetermined("more than one size of page fits the times");
    }
    // What is left must not follow another pattern of borders: the flash is not laid out as was thought then.
    let left: Vec<[f64; 2]> = samples
        .iter()
        .map(|[unit, us]| {
            let slow = found.pattern.is_slow(*unit as u64);
            [*unit, us - if slow { found.slow } else { found.fast }]
        })
        .collect();
    let another = best(&left).filter(|(other, other_gain, _)| {
        let counts = match other.pattern.page.is_multiple_of(found.pattern.page) {
            true => other.slow - other.fast > LEAST_OF_SLOW * difference,
            false => *other_gain > LEAST_SHARE * gain,
        };
        *other_gain > LEAST_F && counts
    });
    if another.is_some() {
        return undetermined(
            "borders are slow in more than one way: data does not lie in rows as it was written",
        );
    }
    let page = (found.pattern.page * UNIT) as f64;
    let reason = format!(
        "a read across a border every {} KiB takes {difference:.1} us more than elsewhere, and a read of 4 KiB {alone:.1}",
        page / 1024.0,
    );
    let exactly = |key: &str, bytes: f64, reason: String| {
        Finding::number(key, bytes, "bytes", [bytes, bytes]).because(reason)
    };
    let row = match found.pattern.pages {
        Some(pages) => {
            let why = format!("one border in {pages} is a faster one: there the next die begins");
            exactly("row_bytes", page * pages as f64, why)
        }
        None => Finding::undetermined(
            "row_bytes",
            "all borders of pages are alike: rows of one page, or dies that share their wires",
        ),
    };
    vec![exactly("page_bytes", page, reason), row]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disturbed::Random;

    /// Reads of memory. `late` is given the place of a read of two units and a random number from 0 to 1, and says how many
    /// microseconds longer that read takes.
    fn measured(seed: u64, late: impl Fn(u64, f64) -> f64) -> [Series; 3] {
        let mut random = Random(seed);
        let mut chance = || random.next() as f64 / u64::MAX as f64;
        let mut series = ALL.map(|what| Series { what: what.into(), samples: Vec::new() });
        for _ in 0..PLACES {
            let place = (chance() * 100_000.0).floor();
            for (which, series) in series.iter_mut().enumerate() {
                // Nearly normal, of a deviation of a tenth of a microsecond.
                let noise = (0..12).map(|_| chance()).sum::<f64>() - 6.0;
                let late = if which == 0 { late(place as u64, chance()) } else { 0.0 };
                series.samples.push([place, 10.0 + 0.1 * noise + late]);
            }
        }
        series
    }

    /// The bytes of page and row that are found.
    fn found(series: &[Series]) -> [Option<f64>; 2] {
        let findings = estimate(series);
        ["page_bytes", "row_bytes"]
            .map(|key| findings.iter().find(|it| it.key == key).expect("looked for").determined())
    }

    #[test]
    fn a_few_late_places_make_no_row() {
        // Among the few borders of a large page one in five is late, of the others one in a hundred: chance has that sometimes.
        let large = Pattern { page: LONGEST, pages: None };
        let mut deceived = 0;
        for seed in 1..=200 {
            let late = |unit, chance| {
                let share = if large.is_slow(unit) { 0.2 } else { 0.01 };
                if chance < share { 1.5 } else { 0.0 }
            };
            let series = measured(seed, late);
            let [both, first, second] = &series;
            let (_, gain, _) =
                best(&longer([both, first, second], 10.0, None)).expect("patterns fit");
            deceived += u32::from(gain >= LEAST_F);
            assert_eq!(found(&series), [None; 2], "seed {seed}");
        }
        assert!(deceived > 50, "the times alone would have told as much: {deceived}");
    }

    #[test]
    fn a_row_is_found_beside_late_places() {
        for (page, pages) in [(4, 2), (4, 4), (2, 8), (32, 2), (16, 4)] {
            let pattern = Pattern { page, pages: Some(pages) };
            let late = |unit, chance: f64| {
                let slow = if pattern.is_slow(unit) { 1.0 } else { 0.0 };
                slow + if chance < 0.02 { 1.5 } else { 0.0 }
            };
            let bytes = [page, page * pages].map(|units| Some((units * UNIT) as f64));
            assert_eq!(found(&measured(7, late)), bytes, "{pattern:?}");
        }
    }

    /// Reads at a busy host: their times vary by `us`. Every `units` units the kind of a page changes; `kinds` are its times. A read of
    /// two units takes as long as the slower one, and longer by 20 us at a border of `pages`.
    fn of_kinds(
        seed: u64,
        (kinds, units, us): ([f64; 3], u64, f64),
        pages: Option<Pattern>,
    ) -> [Series; 3] {
        let mut random = Random(seed);
        let mut chance = || random.next() as f64 / u64::MAX as f64;
        let mut series = ALL.map(|what| Series { what: what.into(), samples: Vec::new() });
        for _ in 0..PLACES {
            let place = (chance() * 100_000.0).floor() as u64;
            let kind = |unit: u64| kinds[(unit / units % 3) as usize];
            let more = if pages.is_some_and(|pages| pages.is_slow(place)) { 20.0 } else { 0.0 };
            let both = f64::max(kind(place), kind(place + 1)) + more;
            for (series, alone) in series.iter_mut().zip([both, kind(place), kind(place + 1)]) {
                let noise = (0..12).map(|_| chance()).sum::<f64>() - 6.0;
                series.samples.push([place as f64, alone + us * noise]);
            }
        }
        series
    }

    #[test]
    fn kinds_of_pages_make_no_row() {
        let two = [40.0, 60.0, 40.0];
        // From unit to unit, too: then all pages are of 4 KiB, and no border can be told from another.
        for how in [(two, 1, 2.0), (two, 1, 5.0), (two, 2, 3.5), (two, 2, 5.0), (two, 4, 5.0)] {
            let mut deceived = 0;
            for seed in 1..=50 {
                let series = of_kinds(seed, how, None);
                let [both, first, second] = &series;
                let without = estimate_without([both, first, second], None);
                deceived += u32::from(without.iter().any(|it| it.determined().is_some()));
                assert_eq!(found(&series), [None; 2], "{how:?}, seed {seed}");
            }
            assert!(deceived > 25, "{how:?}: without borders of kinds as much is told: {deceived}");
        }
        for units in [1, 2, 4, 8, 16, 32] {
            for us in [0.0, 1.0, 3.5] {
                let series = of_kinds(1, ([40.0, 45.0, 55.0], units, us), None);
                assert_eq!(found(&series), [None; 2], "{units} units, {us} us");
            }
        }
    }

    #[test]
    fn a_row_is_found_where_kinds_change_after_some_rows() {
        for (page, pages) in [(4, 2), (2, 4), (8, 4)] {
            let rows = Pattern { page, pages: Some(pages) };
            let bytes = [page, page * pages].map(|units| Some((units * UNIT) as f64));
            for (kinds, us) in [([40.0, 45.0, 55.0], 1.0), ([40.0, 60.0, 40.0], 2.0)] {
                let series = of_kinds(1, (kinds, 4 * page * pages, us), Some(rows));
                assert_eq!(found(&series), bytes, "{rows:?} {kinds:?}");
            }
        }
    }
}
