//! Dies and channels: which two reads, sent at once, wait for each other.
//!
//! Data that is written in order fills a row of pages of one die after the other, and begins again with the first when it has
//! come to the last. Two reads whose rows lie a whole number of such rounds apart are of one die, which does one after the
//! other; the length of a round is the stripe. Dies on one channel do both at once and send their pages one after the other,
//! which is seen where a page takes longer over its wires than the rest of a read: a smaller wait, at a part of the round.
//!
//! Only where waits are is asked, and not how long they are: a rate says what limits, and not how many there are of it.

use fourcorners_drive::Target;
use fourcorners_record::diagnosis::{Finding, Series};

use super::probe::{Probe, Stopped};
use super::region::{Region, UNIT};
use super::statistics::{median, quantile};

const DIES: &str = "dies";
const CHANNELS: &str = "channels";
const STRIPE: &str = "stripe_bytes";

/// Pairs that are read.
const PAIRS: u64 = 12_000;
/// Units from one of a pair to the other, at least: none of both lies in the same row; and at most.
const NEAREST: u64 = LONGEST_ROW;
const FARTHEST: u64 = 8_192;
/// The longest row, in units, and the longest stripe: two of them lie between those that are farthest apart.
const LONGEST_ROW: u64 = 64;
const LONGEST_STRIPE: u64 = FARTHEST / 2;
/// A longer stripe is not looked for.
pub(crate) const LONGEST_STRIPE_BYTES: u64 = LONGEST_STRIPE * UNIT;
const MOST_DIES: u64 = 512;
/// Pairs at each level at least.
const LEAST: f64 = 20.0;
/// A pattern explains more than chance by so much: the F statistic, of some 30,000 patterns tried.
const LEAST_F: f64 = 50.0;
/// Another pattern in what is left that explains so much of what the best one does says that the layout is another.
const LEAST_SHARE: f64 = 0.1;
/// Two reads of one die take longer than two of others by this share at least.
const LEAST_WAIT: f64 = 0.05;
/// Two reads, one after the other, take no more than twice as long as one. A pair that takes this many times as long as the
/// fastest tenth of all pairs was late for another reason.
const LATE: f64 = 2.5;
const SOONER: f64 = 0.1;
/// Of fewer pairs the middle one says nothing.
const FEW: usize = 8;
/// Pairs that are judged at least.
const ENOUGH: usize = 1_000;

pub(super) fn measure<T: Target>(
    probe: &mut Probe<'_, T>,
    region: Region,
) -> Result<Vec<Series>, Stopped> {
    let farthest = FARTHEST.min(region.units() / 2);
    let mut places = Vec::with_capacity(PAIRS as usize);
    let mut times = Vec::with_capacity(PAIRS as usize);
    for _ in 0..PAIRS {
        let apart = NEAREST + probe.below(farthest - NEAREST + 1);
        let first = probe.below(region.units() - apart);
        let pair = [first, first + apart];
        let us = probe.read_both_us(pair.map(|unit| region.start + unit * UNIT))?;
        places.push(pair.map(|unit| unit as f64));
        times.push([apart as f64, us]);
    }
    let series = [
        ("first unit of 4 KiB; the other one, read at the same time", places),
        ("units of 4 KiB from one to the other; microseconds until both are read", times),
    ];
    Ok(series.map(|(what, samples)| Series { what: what.into(), samples }).into())
}

/// Which pairs wait for each other: those whose rows are a multiple of `dies` apart, and less those that are one of `channels`.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Pattern {
    /// Units in a row.
    row: u64,
    dies: u64,
    /// As many as dies: none is seen.
    channels: u64,
}

/// How a pattern fits: the levels of pairs of two channels, of one, and of one die, and how many squares are explained.
#[derive(Clone, Copy, Debug)]
struct Fit {
    pattern: Pattern,
    levels: [f64; 3],
    explained: f64,
}

/// How many there are, and their sum.
#[derive(Clone, Copy, Default)]
struct Sum {
    count: f64,
    sum: f64,
}

impl Sum {
    fn of<'a>(all: impl Iterator<Item = &'a Sum>) -> Sum {
        all.fold(Sum::default(), |one, other| one.with(*other))
    }

    fn with(self, other: Sum) -> Sum {
        Sum { count: self.count + other.count, sum: self.sum + other.sum }
    }

    fn without(self, other: Sum) -> Sum {
        Sum { count: self.count - other.count, sum: self.sum - other.sum }
    }

    fn mean(self) -> f64 {
        self.sum / self.count.max(1.0)
    }

    /// What its mean explains of the squares of all, around nothing.
    fn explains(self) -> f64 {
        self.sum * self.sum / self.count.max(1.0)
    }
}

/// A pair of units and how long both took.
type Pair = ([u64; 2], f64);

/// How many rows the second lies behind the first.
fn rows_apart(row: u64, [first, second]: [u64; 2]) -> u64 {
    second / row - first / row
}

/// Sums of the times of pairs that lie 0, 1, 2 ... rows apart, for rows of `row` units.
fn by_rows(pairs: &[Pair], row: u64) -> Vec<Sum> {
    let mut sums = vec![Sum::default(); (FARTHEST / row + 2) as usize];
    for (pair, us) in pairs {
        if let Some(sum) = sums.get_mut(rows_apart(row, *pair) as usize) {
            *sum = sum.with(Sum { count: 1.0, sum: *us });
        }
    }
    sums
}

/// All patterns that fit at all, of any number of channels.
fn fits(pairs: &[Pair]) -> Vec<Fit> {
    let mut all = Vec::new();
    for row in 1..=LONGEST_ROW {
        let sums = by_rows(pairs, row);
        let whole = Sum::of(sums.iter());
        let each = |dies: u64| Sum::of(sums.iter().step_by(dies as usize));
        for dies in 2..=(LONGEST_STRIPE / row).min(MOST_DIES) {
            let same = each(dies);
            let others = whole.without(same);
            let enough = same.count >= LEAST && others.count >= LEAST;
            if !enough || same.mean() <= others.mean() {
                continue;
            }
            let pattern = Pattern { row, dies, channels: dies };
            let levels = [others.mean(), others.mean(), same.mean()];
            let explained = same.explains() + others.explains() - whole.explains();
            all.push(Fit { pattern, levels, explained });
            for channels in (2..=dies / 2).filter(|it| dies.is_multiple_of(*it)) {
                let channel = each(channels).without(same);
                let rest = others.without(channel);
                let levels = [rest, channel, same].map(Sum::mean);
                let rises = levels[0] < levels[1] && levels[1] < levels[2];
                if rises && channel.count >= LEAST && rest.count >= LEAST {
                    let explained = [rest, channel, same].map(Sum::explains).iter().sum::<f64>()
                        - whole.explains();
                    all.push(Fit { pattern: Pattern { channels, ..pattern }, levels, explained });
                }
            }
        }
    }
    all
}

fn best(fits: &[Fit]) -> Option<Fit> {
    fits.iter().copied().max_by(|one, other| one.explained.total_cmp(&other.explained))
}

impl Pattern {
    /// Which of the levels of a fit a pair is at.
    fn level(self, pair: [u64; 2]) -> usize {
        match rows_apart(self.row, pair) {
            rows if rows.is_multiple_of(self.dies) => 2,
            rows if rows.is_multiple_of(self.channels) => 1,
            _ => 0,
        }
    }
}

/// Whether the middle pairs of its levels are apart as their means are, and those of one die at each round: a few late ones make
/// no level, and of a stripe of twice the length every other round is none.
fn is_borne_out(fit: &Fit, pairs: &[Pair]) -> bool {
    let mut levels: [Vec<f64>; 3] = Default::default();
    for (pair, us) in pairs {
        levels[fit.pattern.level(*pair)].push(*us);
    }
    let all = levels.iter().zip(fit.levels).filter(|(level, _)| !level.is_empty());
    let apart: Vec<(f64, f64)> = all.map(|(level, mean)| (median(level), mean)).collect();
    let [below, together] = match apart[..] {
        [.., (below, _), (together, _)] => [below, together],
        _ => return false,
    };
    let each_round = [2, 3].into_iter().all(|period| {
        (0..period).all(|which| {
            let those = pairs.iter().filter(|(pair, _)| {
                let rows = rows_apart(fit.pattern.row, *pair);
                rows.is_multiple_of(fit.pattern.dies) && rows / fit.pattern.dies % period == which
            });
            let us: Vec<f64> = those.map(|(_, us)| *us).collect();
            us.len() < FEW || median(&us) - below >= 0.5 * (together - below)
        })
    });
    each_round && apart.windows(2).all(|it| it[1].0 - it[0].0 >= 0.5 * (it[1].1 - it[0].1))
}

/// The pairs that were measured, without places that cannot be; late times are cut off.
fn pairs(places: &Series, times: &Series) -> Vec<Pair> {
    let us: Vec<f64> = times.samples.iter().map(|[_, us]| *us).collect();
    let latest = LATE * quantile(&us, SOONER);
    let all = places.samples.iter().zip(&times.samples);
    all.map(|(pair, [_, us])| (pair.map(|it| it.max(0.0) as u64), us.min(latest)))
        .filter(|([first, second], _)| first <= second && second - first <= FARTHEST)
        .collect()
}

/// The squares of all times around their mean: what there is to explain.
fn squares(pairs: &[Pair]) -> f64 {
    let mean = pairs.iter().map(|(_, us)| us).sum::<f64>() / pairs.len() as f64;
    pairs.iter().map(|(_, us)| (us - mean).powi(2)).sum()
}

pub(super) fn estimate(series: &[Series]) -> Vec<Finding> {
    let undetermined = |reason: &str| {
        [DIES, CHANNELS, STRIPE].map(|key| Finding::undetermined(key, reason)).to_vec()
    };
    let [places, times] = series else { return undetermined("nothing was measured") };
    let pairs = pairs(places, times);
    if pairs.len() < ENOUGH {
        return undetermined("too little was measured");
    }
    const NONE: &str = "no two reads wait for each other more than others: data does not lie on one die after the other";
    let (mut with, without): (Vec<Fit>, Vec<Fit>) =
        fits(&pairs).into_iter().partition(|it| it.pattern.channels < it.pattern.dies);
    let Some(of_dies) = best(&without) else { return undetermined(NONE) };
    // Of a time, if so much is explained. Times without any noise vary by a nanosecond.
    let whole = squares(&pairs);
    let variance = |explained: f64| ((whole - explained) / (pairs.len() as f64 - 3.0)).max(1e-6);
    // Channels are believed in only if they explain more than chance of what dies alone leave.
    with.sort_unstable_by(|one, other| other.explained.total_cmp(&one.explained));
    let gain = |it: &Fit| it.explained - of_dies.explained;
    let counts = |it: &&Fit| gain(it) > LEAST_F * variance(it.explained);
    let more = with.iter().take_while(counts).find(|it| is_borne_out(it, &pairs)).copied();
    let (found, alike) = match more {
        Some(found) => (found, with),
        None => (of_dies, without),
    };
    if !is_borne_out(&found, &pairs) {
        return undetermined(NONE);
    }
    let Pattern { row, dies, channels } = found.pattern;
    let f = |explained: f64| explained / variance(found.explained);
    let [apart, _, together] = found.levels;
    if f(found.explained) < LEAST_F || together - apart < LEAST_WAIT * apart {
        return undetermined(NONE);
    }
    let others: Vec<Fit> =
        alike.into_iter().filter(|it| (it.pattern.row, it.pattern.dies) != (row, dies)).collect();
    if best(&others).is_some_and(|other| f(found.explained - other.explained) < LEAST_F) {
        return undetermined("more than one number of dies fits the times");
    }
    let left: Vec<Pair> = pairs
        .iter()
        .map(|&(pair, us)| (pair, us - found.levels[found.pattern.level(pair)]))
        .collect();
    let another = best(&fits(&left)).map_or(0.0, |it| it.explained);
    if f(another) > LEAST_F && another > LEAST_SHARE * found.explained {
        return undetermined(
            "reads wait for each other in more than one way: data does not lie on one die after the other",
        );
    }
    let kib = row * UNIT / 1024;
    let waits = format!("two reads at once take {together:.1} us");
    let stripe = (dies * row * UNIT) as f64;
    vec![
        Finding::count(DIES, dies as f64).because(format!(
            "{waits} where a multiple of {dies} rows of {kib} KiB lies between them, and {apart:.1} elsewhere"
        )),
        // A number of channels that does not divide that of the dies makes a pattern that others explain a part of.
        match channels < dies && another < LEAST_SHARE * gain(&found) {
            true => Finding::count(CHANNELS, channels as f64).because(format!(
                "{waits} of one die, {:.1} where a multiple of {channels} rows of {kib} KiB lies between them, and {apart:.1} elsewhere",
                found.levels[1]
            )),
            false => Finding::undetermined(
                CHANNELS,
                match channels < dies {
                    true => {
                        "some dies are seen to wait for the same wires, and no number of channels that divides theirs explains which"
                    }
                    false => {
                        "no two dies are seen to wait for the same wires: each has its own, all share one, or a page is sooner over them than the rest of a read"
                    }
                },
            ),
        },
        Finding::number(STRIPE, stripe, "bytes", [stripe, stripe]).because(format!(
            "written in order, data comes back to the same die after {dies} rows of {kib} KiB"
        )),
    ]
}

#[cfg(test)]
mod tests {
    use fourcorners_record::diagnosis::Standing;

    use super::*;
    use crate::disturbed::Random;

    /// Pairs by chance, and how long each takes.
    fn series(us: impl Fn(u64, u64) -> f64) -> [Series; 2] {
        let mut random = Random(7);
        let mut below = |bound| random.next() % bound;
        let (mut places, mut times) = (Vec::new(), Vec::new());
        for _ in 0..PAIRS {
            let apart = NEAREST + below(FARTHEST - NEAREST + 1);
            let first = below(100_000);
            places.push([first as f64, (first + apart) as f64]);
            // Times vary by a few microseconds.
            times.push([apart as f64, us(first, first + apart) + below(1_000) as f64 / 200.0]);
        }
        [places, times].map(|samples| Series { what: String::new(), samples })
    }

    fn found(us: impl Fn(u64, u64) -> f64) -> [Option<f64>; 3] {
        let findings = estimate(&series(us));
        [DIES, CHANNELS, STRIPE].map(|key| {
            let finding = findings.iter().find(|it| it.key == key).expect("looked for");
            finding.determined().filter(|_| finding.standing == Standing::Determined)
        })
    }

    fn rows(row: u64, first: u64, second: u64) -> u64 {
        second / row - first / row
    }

    #[test]
    fn dies_in_turn_are_found_whatever_their_number_and_the_row() {
        for (row, dies) in [(4, 16), (1, 2), (12, 128), (3, 20), (16, 7), (64, 32)] {
            let us = |first, second| match rows(row, first, second).is_multiple_of(dies) {
                true => 110.0,
                false => 60.0,
            };
            let stripe = (row * dies * UNIT) as f64;
            assert_eq!(found(us), [Some(dies as f64), None, Some(stripe)], "{row} {dies}");
        }
    }

    #[test]
    fn channels_are_found_where_they_are_waited_for_and_are_not_taken_for_dies() {
        // The wires take so much longer than the array that those of one channel nearly explain all.
        for wait in [85.0, 120.0, 140.0] {
            let us = |first, second| match rows(4, first, second) {
                rows if rows.is_multiple_of(16) => 150.0,
                rows if rows.is_multiple_of(4) => wait,
                _ => 75.0,
            };
            let stripe = (16 * 4 * UNIT) as f64;
            assert_eq!(found(us), [Some(16.0), Some(4.0), Some(stripe)], "{wait}");
        }
    }

    #[test]
    fn of_a_stripe_that_is_longer_than_what_is_looked_for_no_part_is_found() {
        for dies in [400, 512, 513, 600] {
            let us = |first, second| match rows(12, first, second).is_multiple_of(dies) {
                true => 110.0,
                false => 60.0,
            };
            assert_eq!(found(us), [None; 3], "{dies}");
        }
        // The longest of them.
        let us =
            |first, second| if rows(16, first, second).is_multiple_of(256) { 110.0 } else { 60.0 };
        assert_eq!(found(us)[0], Some(256.0));
    }

    #[test]
    fn a_few_late_pairs_make_no_level_of_their_own() {
        let us = |first: u64, second: u64| match rows(2, first, second) {
            // Four in twelve thousand, all of them at one distance.
            468 if first < 20_000 => 400.0,
            apart if apart.is_multiple_of(4) => 177.0,
            _ => 141.0,
        };
        assert_eq!(found(us), [Some(4.0), None, Some(32_768.0)]);
    }

    #[test]
    fn channels_that_do_not_divide_the_dies_are_not_guessed() {
        let us = |first: u64, second: u64| {
            let [one, other] = [first, second].map(|unit| unit / 4 % 66);
            match () {
                () if one == other => 110.0,
                () if one % 8 == other % 8 => 68.0,
                () => 60.0,
            }
        };
        assert_eq!(found(us), [Some(66.0), None, Some((66 * 4 * UNIT) as f64)]);
    }

    #[test]
    fn noise_makes_no_dies() {
        // Of the patterns that are tried one always explains something; of noise less than half of LEAST_F.
        for (seed, most_us) in (1..=24).flat_map(|seed| [(seed, 30.0), (seed, 100.0)]) {
            let us = |first: u64, second: u64| {
                let mut random = Random(first ^ second.rotate_left(24) ^ (seed << 48));
                random.next();
                60.0 + most_us * (random.next() as f64 / u64::MAX as f64)
            };
            let [places, times] = series(us);
            let pairs = pairs(&places, &times);
            let chance = best(&fits(&pairs)).expect("patterns fit");
            let left = (squares(&pairs) - chance.explained) / pairs.len() as f64;
            let f = chance.explained / left;
            assert!(f > 5.0 && f < LEAST_F / 2.0, "{f}, seed {seed}");
            assert_eq!(found(us), [None; 3], "seed {seed}");
        }
    }

    #[test]
    fn nothing_is_found_where_no_pattern_is_or_more_than_one() {
        assert_eq!(found(|_, _| 60.0), [None; 3]);
        // By chance, or by distance alone.
        assert_eq!(
            found(|first, second| 60.0 + ((first * 7 + second * 13) % 97) as f64),
            [None; 3]
        );
        assert_eq!(found(|first, second| 60.0 + (second - first) as f64 / 100.0), [None; 3]);
        // As much data again lies in another way: half of the drive with rows of three units.
        let us = |first: u64, second| {
            let (row, dies) = if first < 50_000 { (4, 16) } else { (3, 20) };
            if rows(row, first, second).is_multiple_of(dies) { 110.0 } else { 60.0 }
        };
        assert_eq!(found(us), [None; 3]);
        assert!(estimate(&[]).iter().all(|it| it.standing == Standing::Undetermined));
    }
}
