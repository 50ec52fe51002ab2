//! Effective over-provisioning: how much a drive that is full can be written at random before it has to win back space.
//!
//! The drive is emptied by a TRIM of all of it, filled in order and then written at random. Each write takes new flash, and
//! what it replaces stays where it is: when the flash that is spare is used up, collection begins and the rate falls. Where
//! it falls says how much that was, whatever the collection costs. An SLC cache is full by then, as nothing waits between
//! the two, so that its cliff is not seen. What it holds in blocks of its own counts as spare, for so much user data lies
//! there; data that lies in free blocks with one bit a cell takes more of the spare than it would otherwise.
//!
//! A drive that was used shows less than it has: blocks in which old and new data lie together are not free when the fill
//! ends. So the drive has to be empty before. Whether it is, is read (`empty.rs`): a TRIM that is not offered, does nothing,
//! frees a part or acts later leaves something, and then nothing is written and nothing is said.
//!
//! And all of it is done twice: the second time the drive was used by the first, which is the other control. A cache in free
//! blocks, or a TRIM that does not win back all, gives another figure then, and nothing is said.
//!
//! A drive that folds its cache under way is slower and faster by turns. So a fall has to last, and no mean of pieces before
//! it may be as slow as half of the way down: that is the control.

use fourcorners_drive::{Geometry, Target};
use fourcorners_record::diagnosis::{Finding, Series};

use super::empty;
use super::probe::{Probe, Stopped, part};
use super::region::Region;

const KEY: &str = "spare_percent";
/// Pieces of the drive by which times are taken, and most that are written at random.
pub(super) const PIECES: u64 = 400;
/// How often it is measured.
const ROUNDS: u64 = 2;
/// Series of a round: of the empty drive, and of what is written at random.
pub(super) const OF_ROUND: usize = empty::SERIES + 1;
pub(super) const MOST: u64 = 480;
/// Pieces written at a time until the rate has fallen for good.
const AT_A_TIME: u64 = 20;
/// The first are the write buffer's in part.
const FIRST: usize = 2;
/// A rate is the mean of so many pieces: a cycle of a cache that is folded is shorter.
const WINDOW: usize = 16;
/// The rate has fallen when pieces take longer by this factor, and stay so for as many means as these.
pub(crate) const FALL: f64 = 1.05;
const STAYS: usize = 24;
/// Before a fall no mean may be above this share of it, and after it none below.
const STEADY: f64 = 0.4;
/// Pieces on either side of a fall at least.
const LEAST: usize = 4;
/// Points, and share of the value, by which blocks that are open or kept free, and dies that are not equally full, may shift it.
const POINTS: f64 = 0.5;
const SHARE: f64 = 0.05;

/// Percent of the drive up to which a fall can be seen.
pub(crate) fn most_percent() -> f64 {
    let after = WINDOW + STAYS;
    (MOST - after as u64) as f64 / PIECES as f64 * 100.0
}

/// Bytes that are written at most.
pub(super) fn bytes(geometry: Geometry) -> u64 {
    ROUNDS * geometry.bytes() + bytes_at_random(geometry)
}

/// Bytes of them that are written at random.
pub(super) fn bytes_at_random(geometry: Geometry) -> u64 {
    ROUNDS * piece(geometry) * MOST
}

fn piece(geometry: Geometry) -> u64 {
    part(geometry, PIECES)
}

pub(super) fn measure<T: Target>(
    probe: &mut Probe<'_, T>,
    region: Region,
) -> Result<Vec<Series>, Stopped> {
    let geometry = probe.geometry();
    let size = [geometry.bytes() as f64, 0.0];
    let mut series =
        vec![Series { what: "bytes of the drive; nothing".into(), samples: vec![size] }];
    for _ in 0..ROUNDS {
        let round = one_round(probe, region)?;
        let fell = of_round(&round, size[0]).is_ok();
        series.extend(round);
        if !fell {
            break;
        }
    }
    Ok(series)
}

/// Empties a drive, fills it and writes it at random until the rate has fallen.
pub(super) fn one_round<T: Target>(
    probe: &mut Probe<'_, T>,
    region: Region,
) -> Result<Vec<Series>, Stopped> {
    let piece = piece(probe.geometry());
    let mut series = empty::measure(probe, region)?;
    if empty::is_not(&series).is_some() {
        return Ok(series);
    }
    // Without a rest behind it: an SLC cache is full then, and stays so.
    let all = probe.fill()?;
    let mut times: Vec<f64> = Vec::new();
    while times.len() < MOST as usize && fall(&times).is_none() {
        times.extend(probe.write_at_random(all, AT_A_TIME * piece, piece)?);
    }
    let samples = times.iter().zip(1..).map(|(us, number)| [(number * piece) as f64, *us]);
    series.push(Series {
        what: "bytes written at random; microseconds of the last of them".into(),
        samples: samples.collect(),
    });
    Ok(series)
}

/// A fall of the rate that lasts.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Fall {
    /// The first piece that is slower.
    at: usize,
    /// Microseconds of a piece before and after.
    before: f64,
    after: f64,
}

/// The first fall of the rate that lasts, and has a steady rate before it.
fn fall(times: &[f64]) -> Option<Fall> {
    let means: Vec<f64> =
        times.windows(WINDOW).map(|some| some.iter().sum::<f64>() / WINDOW as f64).collect();
    let step = |after: usize| means[after] / means[after - WINDOW];
    (FIRST + WINDOW..means.len()).find_map(|first| {
        if step(first).partial_cmp(&FALL).is_none_or(std::cmp::Ordering::is_lt) {
            return None;
        }
        // The pieces at the end of the steepest part are all after it.
        let near = first..(first + WINDOW).min(means.len());
        let end = near.max_by(|one, other| step(*one).total_cmp(&step(*other)))?;
        let (before, after) = (means[end - WINDOW], means[end]);
        let part_of_the_way = before + STEADY * (after - before);
        let comes_back = means.get(end..=end + STAYS)?.iter().any(|mean| *mean < part_of_the_way);
        let was_there = means[FIRST..=end - WINDOW].iter().any(|mean| *mean > part_of_the_way);
        (!comes_back && !was_there).then_some(())?;
        let from = end - WINDOW;
        let at = from + split(&times[from..end + WINDOW])?;
        // With less before it there is no level to fall from.
        (at >= FIRST + WINDOW).then_some(Fall { at, before, after })
    })
}

/// Where to split a series into two levels by least squares.
fn split(times: &[f64]) -> Option<usize> {
    let squares = |part: &[f64]| part.iter().sum::<f64>().powi(2) / part.len() as f64;
    let explained = |at: &usize| squares(&times[..*at]) + squares(&times[*at..]);
    (LEAST..=times.len().checked_sub(LEAST)?)
        .max_by(|one, other| explained(one).total_cmp(&explained(other)))
}

/// What a round says.
pub(super) struct Cliff {
    /// Percent of the drive from which to which the rate falls.
    pub(super) low: f64,
    high: f64,
    /// The first piece that is slower.
    pub(super) at: usize,
    /// Microseconds of a piece before.
    pub(super) before: f64,
    /// By how many times one takes longer behind it.
    times: f64,
}

impl Cliff {
    pub(super) fn interval(&self) -> [f64; 2] {
        let margin = (SHARE * self.low).max(POINTS);
        [(self.low - margin).max(0.0), self.high + margin]
    }
}

/// Where the rate fell in a round, of a drive of so many bytes; or why that is not known.
pub(super) fn of_round(round: &[Series], all: f64) -> Result<Cliff, String> {
    let (emptied, written) = round.split_at(round.len().min(empty::SERIES));
    if let Some(why) = empty::is_not(emptied) {
        return Err(why);
    }
    let [Series { samples, .. }] = written else {
        return Err("nothing was measured".into());
    };
    let percent = |bytes: f64| bytes / all * 100.0;
    let times: Vec<f64> = samples.iter().map(|[_, us]| *us).collect();
    let Some(Fall { at, before, after }) = fall(&times).filter(|fall| fall.before > 0.0) else {
        let written = samples.last().map_or(0.0, |[bytes, _]| *bytes);
        return Err(format!(
            "emptied by a TRIM and filled, the drive was written at random by {:.0} % of it, and no rate was steady first and \
             lower for good then: collection costs nothing, has not begun, began at once, or comes and goes",
            percent(written)
        ));
    };
    let [low, high] = [at - 1, at].map(|piece| percent(samples[piece][0]));
    Ok(Cliff { low, high, at, before, times: after / before })
}

pub(super) fn estimate(series: &[Series]) -> Vec<Finding> {
    let undetermined = |reason: String| vec![Finding::undetermined(KEY, reason)];
    let size = series.first().and_then(|size| size.samples.first());
    let Some(all) = size.map(|[bytes, _]| *bytes).filter(|bytes| *bytes >= 1.0) else {
        return undetermined("nothing was measured".into());
    };
    let rounds: Result<Vec<Cliff>, String> =
        series[1..].chunks(OF_ROUND).map(|round| of_round(round, all)).collect();
    let rounds = match rounds {
        Ok(rounds) => rounds,
        Err(why) => return undetermined(why),
    };
    let [first, second] = &rounds[..] else {
        return undetermined("it was not measured twice".into());
    };
    let [one, other] = [first.interval(), second.interval()];
    if one[0] > other[1] || other[0] > one[1] {
        return undetermined(format!(
            "emptied by a TRIM and filled, the drive is written at random at one rate for {:.2} % of it, and for {:.2} % the next \
             time: it depends on what was written before",
            first.low, second.low
        ));
    }
    let reason = format!(
        "emptied by a TRIM and filled, the drive is written at random at one rate for {:.2} % of it and {:.2} times as slowly then, and \
         for {:.2} % the next time",
        first.low, first.times, second.low
    );
    let value = (first.low + second.low) / 2.0;
    let interval = [one[0].min(other[0]), one[1].max(other[1])];
    vec![Finding::number(KEY, value, "%", interval).because(reason)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a drive whose pieces take these times, in each of both rounds.
    fn said_of(rounds: [&[f64]; 2]) -> Option<f64> {
        let of = |samples| Series { what: String::new(), samples };
        let mut series = vec![of(vec![[PIECES as f64, 0.0]])];
        for times in rounds {
            let samples = times.iter().zip(1..).map(|(us, number)| [f64::from(number), *us]);
            series.extend(empty::emptied());
            series.push(of(samples.collect()));
        }
        estimate(&series)[0].determined()
    }

    fn said(times: &[f64]) -> Option<f64> {
        said_of([times, times])
    }

    fn level(us: f64, pieces: usize) -> Vec<f64> {
        vec![us; pieces]
    }

    #[test]
    fn where_the_rate_falls_for_good_is_found() {
        assert_eq!(said(&[level(1.0, 40), level(3.0, 60)].concat()), Some(10.0));
        assert_eq!(said(&[level(1.0, 40), level(1.08, 60)].concat()), Some(10.0));
        // A drive that folds takes some at once and then none; below its cliff all of it is slower.
        let by_turns = |number: usize| if number.is_multiple_of(4) { 0.1 } else { 1.0 };
        let folds = (0..200).map(|number| by_turns(number) * if number < 100 { 1.0 } else { 2.0 });
        let found = said(&folds.collect::<Vec<f64>>()).expect("it lasts");
        assert!((found - 25.0).abs() < 0.6, "{found}");
    }

    #[test]
    fn no_other_fall_is_taken_for_it() {
        assert_eq!(said(&level(1.0, 480)), None);
        assert_eq!(said(&[level(1.0, 8), level(3.0, 80)].concat()), None, "at once");
        let back = [level(1.0, 40), level(3.0, 10), level(1.0, 80)].concat();
        assert_eq!(said(&back), None, "it does not last");
        let again = [level(1.0, 20), level(2.0, 20)].concat().repeat(4);
        assert_eq!(said(&again), None, "it comes and goes");
        let slope: Vec<f64> = (0..200).map(|number| 1.0 + 0.002 * f64::from(number)).collect();
        assert_eq!(said(&slope), None, "a slope has no place");
        assert_eq!(said(&[level(1.0, 40), level(3.0, 10)].concat()), None, "not yet known");
        assert_eq!(said(&level(0.0, 200)), None);
        assert_eq!(said(&[]), None);
        assert_eq!(estimate(&[])[0].determined(), None);
        assert_eq!(estimate(&empty::emptied())[0].determined(), None);
    }

    #[test]
    fn what_depends_on_what_was_written_before_is_not_said() {
        let cliff = |pieces| [level(1.0, pieces), level(3.0, 80)].concat();
        assert_eq!(said_of([&cliff(200), &cliff(206)]), Some(50.75));
        assert_eq!(said_of([&cliff(272), &cliff(184)]), None, "as 68 % and 46 %");
        assert_eq!(said_of([&cliff(200), &[]]), None);
    }
}
