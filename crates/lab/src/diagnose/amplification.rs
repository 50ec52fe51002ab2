//! Write amplification: how much a used drive writes to its flash of what is written at random, without its map.
//!
//! A rate alone says nothing of it: what limits may be the firmware, and what a move costs is not known. But where the rate falls
//! says how much flash is spare (`spare.rs`), and theory says how much a drive with so much spare moves that collects the blocks with the
//! least valid data, or the oldest: when blocks are first collected, which random writes have hit evenly, and in the end. The times only
//! have to agree: they grow by the same cost a move, whatever that is, from before the fall to right behind it, to the end, and in four
//! fifths of the drive once the last fifth is trimmed. A drive that collects any block moves twice as much in the end, about as
//! much as when it begins, and one that the link limits before the fall is too fast when a fifth is trimmed. One that is faster after a pause
//! has a cache, which theory does not know.

use fourcorners_drive::{Geometry, Nanos, Target};
use fourcorners_record::diagnosis::{Finding, Series};

use super::probe::{Probe, Stopped, UNIT, bytes_of_a_fill, part};
use super::region::Region;
use super::spare::{self, PIECES};
use super::statistics::{mean, median};

const AMPLIFICATION: &str = "write_amplification";
const MOVE: &str = "move_cost_us";
/// Pieces that are written until the rate is steady: behind the fall, and again once a part is trimmed.
const TO_STEADY: u64 = 480;
/// The last of them count.
const STEADY: usize = 120;
/// A pause, and pieces that are written behind it.
const PAUSE: Nanos = Nanos(60_000_000_000);
const PAUSED: u64 = 8;
/// The share of the drive that is left when the rest is trimmed.
const LEFT: f64 = 0.8;
/// The first collections are looked for within this many pieces behind the fall, and last for this many in a row.
const BEGINS: usize = 40;
const PEAK: usize = 5;
/// Behind the fall a write takes longer by this share of what it took before at least.
const LEAST_LOST: f64 = 0.1;
/// A rate is steady if it changes by no more than this share from one quarter to the next.
const STEADY_WITHIN: f64 = 0.08;
/// What is won in a pause is less than this share.
const WON: f64 = 0.1;
/// With more spare than this share a drive moves so little that what else it does is taken for it.
pub(crate) const MOST_SPARE: f64 = 0.5;
/// What a move costs when blocks are first collected, as a share of what it costs in the end: less than 1, as others are collected soon.
/// Of a drive that chooses the better of two blocks it is 0.6 by the theory of one that chooses the best.
const FIRST: [f64; 2] = [0.63, 1.25];
/// The same of the trimmed drive: more than 1 where dies fill unevenly, and less where something else limits before collection begins.
const TRIMMED: [f64; 2] = [0.87, 1.4];
/// Below this share of the first the other one has to be below this.
const DOUBTFUL_FIRST: f64 = 0.72;
const DOUBTFUL_TRIMMED: f64 = 1.1;
/// Theory is so exact for a drive of few blocks.
const THEORY_WITHIN: f64 = 0.03;

/// Bytes that are written at most.
pub(super) fn bytes(geometry: Geometry) -> u64 {
    geometry.bytes() + bytes_at_random(geometry)
}

/// Bytes of them that are written at random.
pub(super) fn bytes_at_random(geometry: Geometry) -> u64 {
    part(geometry, PIECES) * (spare::MOST + 2 * TO_STEADY + PAUSED)
}

pub(super) fn measure<T: Target>(
    probe: &mut Probe<'_, T>,
    region: Region,
) -> Result<Vec<Series>, Stopped> {
    let geometry = probe.geometry();
    let piece = part(geometry, PIECES);
    let sizes = [geometry.bytes() as f64, piece as f64];
    let mut series =
        vec![Series { what: "bytes of the drive; of a piece of it".into(), samples: vec![sizes] }];
    series.extend(spare::one_round(probe, region)?);
    if spare::of_round(&series[1..], sizes[0]).is_err() {
        return Ok(series);
    }
    let all = bytes_of_a_fill(geometry);
    let left = (geometry.bytes() as f64 * LEFT) as u64 / UNIT * UNIT;
    let mut write = |probe: &mut Probe<'_, T>, what: &str, span: u64, pieces: u64| {
        let times = probe.write_at_random(span, pieces * piece, piece)?;
        let samples = times.iter().zip(1..).map(|(us, number)| [(number * piece) as f64, *us]);
        series.push(Series {
            what: format!("bytes written at random {what}; microseconds of the last of them"),
            samples: samples.collect(),
        });
        Ok(())
    };
    write(probe, "anywhere behind the fall", all, TO_STEADY)?;
    probe.flush()?;
    probe.idle(PAUSE)?;
    write(probe, "anywhere after a pause", all, PAUSED)?;
    probe.trim_all(left, geometry.bytes() - left)?;
    write(probe, "in what is left when the rest is trimmed", left, TO_STEADY)?;
    Ok(series)
}

/// Write amplification of greedy collection by random writes with so much spare, a share of what is written to:
/// 1/WA = x, and 1 - x = exp(-(1 + spare) x).
pub(crate) fn greedy(spare: f64) -> f64 {
    let (mut low, mut high) = (1e-6, 1.0);
    for _ in 0..60 {
        let x: f64 = (low + high) / 2.0;
        match 1.0 - x > (-(1.0 + spare) * x).exp() {
            true => low = x,
            false => high = x,
        }
    }
    1.0 / low
}

/// Microseconds of a piece that is written at random.
#[derive(Clone, Copy, Debug)]
struct Times {
    /// Before the fall, and longest behind it.
    before: f64,
    first: f64,
    /// In the end, after a pause, and in what is left when the rest is trimmed.
    steady: f64,
    paused: f64,
    trimmed: f64,
}

/// The mean of the last, if those before them take as long.
fn steady(samples: &[[f64; 2]]) -> Option<f64> {
    let times: Vec<f64> = samples.iter().map(|[_, us]| *us).collect();
    let last = times.len().checked_sub(STEADY)?;
    let [before, end] = [&times[last.checked_sub(STEADY)?..last], &times[last..]].map(mean);
    ((before / end - 1.0).abs() <= STEADY_WITHIN).then_some(end)
}

pub(super) fn estimate(series: &[Series]) -> Vec<Finding> {
    let all = |reason: String| {
        [AMPLIFICATION, MOVE].map(|key| Finding::undetermined(key, reason.clone())).to_vec()
    };
    let sizes = series.first().and_then(|sizes| sizes.samples.first());
    let Some([bytes, piece]) = sizes.filter(|sizes| sizes.iter().all(|it| *it >= 1.0)) else {
        return all("nothing was measured".into());
    };
    let (round, rest) = series[1..].split_at((series.len() - 1).min(spare::OF_ROUND));
    let cliff = match spare::of_round(round, *bytes) {
        Ok(cliff) => cliff,
        Err(why) => return all(why),
    };
    let [to_steady, paused, trimmed] = rest else { return all("nothing was measured".into()) };
    if paused.samples.is_empty() {
        return all("nothing was measured after a pause".into());
    }
    let [Some(steady), Some(trimmed)] = [to_steady, trimmed].map(|it| steady(&it.samples)) else {
        return all("writes at random come to no steady rate".into());
    };
    let behind = round[spare::OF_ROUND - 1].samples.iter().chain(&to_steady.samples);
    let behind: Vec<f64> = behind.skip(cliff.at).take(BEGINS).map(|[_, us]| *us).collect();
    let first = behind.windows(PEAK).map(mean).fold(0.0, f64::max);
    let paused = median(&paused.samples.iter().map(|[_, us]| *us).collect::<Vec<f64>>());
    let times = Times { before: cliff.before, first, steady, paused, trimmed };
    let spare = cliff.low / 100.0;
    let reason = format!(
        "with {:.1} % spare, writes at random take {:.2} times as long in the end as before collection, {:.2} times when it begins, and {:.2} times with a fifth trimmed",
        100.0 * spare,
        steady / times.before,
        first / times.before,
        trimmed / times.before
    );
    if let Some(why) = times.disagree(spare) {
        return all(format!("{reason}: {why}"));
    }
    let writes = piece / UNIT as f64;
    let [most, least] = cliff.interval().map(|percent| greedy(percent / 100.0));
    let interval = [least * (1.0 - THEORY_WITHIN), most * (1.0 + THEORY_WITHIN)];
    let value = greedy(spare);
    let of_a_move = |us: f64, moves: f64| us / writes / moves;
    let us = of_a_move(steady - times.before, value - 1.0);
    // By what the trimmed drive spares it is another, and so at other ends of the interval.
    let others = [
        of_a_move(steady - trimmed, value - greedy((1.0 + spare) / LEFT - 1.0)),
        of_a_move(steady - times.before, interval[0] - 1.0),
        of_a_move(steady - times.before, interval[1] - 1.0),
    ];
    let within =
        [others.iter().copied().fold(us, f64::min), others.iter().copied().fold(us, f64::max)];
    vec![
        Finding::number(AMPLIFICATION, value, "", interval).because(reason.clone()),
        Finding::number(MOVE, us, "us", within).because(reason),
    ]
}

impl Times {
    /// Why they do not agree with theory of so much spare, a share of the drive.
    fn disagree(&self, spare: f64) -> Option<&'static str> {
        let Times { before, first, steady, paused, trimmed } = *self;
        let lost = steady - before;
        if lost < LEAST_LOST * before {
            return Some("collection costs too little");
        }
        if paused < (1.0 - WON) * steady {
            return Some("something is won in a pause, as of a cache");
        }
        if spare > MOST_SPARE {
            return Some("with so much spare little is moved");
        }
        // What a move costs, by what it costs in the end.
        let seen = |us: f64, moves: f64| (us - before) / lost * (greedy(spare) - 1.0) / moves;
        let valid = (-spare).exp();
        let first = seen(first, valid / (1.0 - valid));
        if !(FIRST[0]..FIRST[1]).contains(&first) {
            return Some(
                "another share when it begins than of one that collects the blocks with the least valid data",
            );
        }
        let most = if first < DOUBTFUL_FIRST { DOUBTFUL_TRIMMED } else { TRIMMED[1] };
        let trimmed = seen(trimmed, greedy((1.0 + spare) / LEFT - 1.0) - 1.0);
        if !(TRIMMED[0]..most).contains(&trimmed) {
            return Some(
                "another share when it is trimmed: something else limits, or more or less is free then",
            );
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPARE: f64 = 0.12;

    /// Times of a drive, by the units it moves for each write: when collection begins, in the end, and trimmed.
    fn times(moves: [f64; 3]) -> Times {
        let [first, steady, trimmed] = moves.map(|moves| 100.0 + 30.0 * moves);
        Times { before: 100.0, first, steady, paused: steady, trimmed }
    }

    /// By theory of the blocks with the least valid data.
    fn of_greedy(seen_first: f64) -> [f64; 3] {
        let valid = (-SPARE).exp();
        let moves = |spare: f64| greedy(spare) - 1.0;
        [seen_first * valid / (1.0 - valid), moves(SPARE), moves((1.0 + SPARE) / LEFT - 1.0)]
    }

    #[test]
    fn greedy_collection_is_known_by_how_its_times_grow() {
        // As Desnoyers has it (2012).
        assert!((greedy(0.12) - 4.846).abs() < 0.001 && (greedy(0.3) - 2.364).abs() < 0.001);
        assert_eq!(times(of_greedy(0.8)).disagree(SPARE), None);
        // One that collects any block moves 1 / spare in the end.
        let any =
            [(-SPARE).exp() / (1.0 - (-SPARE).exp()), 1.0 / SPARE, LEFT / (1.0 + SPARE - LEFT)];
        assert!(times(any).disagree(SPARE).is_some_and(|why| why.contains("begins")));
        // A TRIM that frees nothing, and a link that limits first.
        let [first, steady, _] = of_greedy(0.8);
        assert!(
            times([first, steady, steady])
                .disagree(SPARE)
                .is_some_and(|why| why.contains("trimmed"))
        );
        let mut limited = times(of_greedy(0.8));
        limited.before *= 1.5;
        assert!(limited.disagree(SPARE).is_some());
        // What a pause wins is of a cache.
        let cache = Times { paused: 150.0, ..times(of_greedy(0.8)) };
        assert!(cache.disagree(SPARE).is_some_and(|why| why.contains("pause")));
        assert!(times([0.05; 3]).disagree(SPARE).is_some());
        assert!(times(of_greedy(0.8)).disagree(0.6).is_some());
    }

    #[test]
    fn without_a_steady_rate_or_anything_nothing_is_said() {
        assert!(estimate(&[]).iter().all(|finding| finding.determined().is_none()));
        let level = |us: f64| vec![[1.0, us]; STEADY];
        assert_eq!(steady(&[level(4.0), level(4.25)].concat()), Some(4.25));
        assert_eq!(steady(&[level(5.0), level(6.0)].concat()), None);
        assert_eq!(steady(&level(5.0)), None);
    }
}
