//! The SLC cache: after how many bytes written in order a drive becomes slower for good.
//!
//! A write buffer also takes the first of what is written faster. It does so again after a moment's rest, and a cache
//! that is full does not: what is written then is the control.
//!
//! When a full cache is folded, either every piece becomes slower, or a few become much slower: the drive pauses while it
//! empties blocks. Pauses that a drive makes all along start early. Those of a full cache start only after a time without
//! any that is much longer than the time from one to the next.
//!
//! A drive that holds data collects while it is written, and its cache may have fewer blocks: where it becomes slower says
//! nothing of the cache then. So one that was written before is emptied first, and nothing is said of one that is not
//! empty after it (`empty.rs`).

use fourcorners_drive::{Geometry, Nanos, Target};
use fourcorners_record::diagnosis::{Finding, Series};

use super::empty;
use super::probe::{Probe, Stopped};
use super::region::Region;
use super::statistics::{change, mean, quantile, variation};

/// A drive at rest for so long has emptied its cache.
const REST: Nanos = Nanos(60_000_000_000);
/// A write buffer is empty after so long and a flush, and a cache is not.
const MOMENT: Nanos = Nanos(50_000_000);
/// Pieces that a third of the drive is written in, and pieces of the same size that are written after that.
const PIECES: u64 = 600;
const AGAIN: u64 = 100;
/// The first of them are the write buffer's in part: so many bytes, and no more than so many pieces.
const FIRST_BYTES: f64 = 64.0 * 1024.0 * 1024.0;
const MOST_FIRST: usize = 12;
/// A drop of the rate by less is none.
const LEAST_DROP: f64 = 0.15;
/// How much better two rates have to be than one.
const LEAST_BIC: f64 = 10.0;
/// Pieces at each of the two rates at least.
const LEAST_PIECES: usize = 12;
/// Whether there are two rates is told by so many pieces together: a drive that folds takes some at once and then none.
const TOGETHER: usize = 6;
/// More than this share of the pieces after a moment's rest at the higher rate are a buffer's.
const MOST_BUFFERED: f64 = 0.4;
/// The link limits if the first pieces take at least this share of the time of those after them.
const LINK_LIMITS: f64 = 0.9;
/// Each third of the pieces at a rate may be off by this share of the difference.
const STEADY: f64 = 0.3;
/// A pause is in a piece that takes longer than each before the first pause by this factor.
const PAUSE: f64 = 1.5;
/// Pauses with no more pieces from one to the next are one.
const SAME_PAUSE: usize = 3;
/// Pauses at least.
const LEAST_PAUSES: usize = 8;
/// The first pause comes after at least this many times the distance that nine in ten pauses keep to the next.
const PAUSES_BEGIN: f64 = 2.0;
/// The first pause also has to come later than the mean distance by this many standard deviations. Where pauses come at
/// random, that happens in less than one case of a hundred.
const PAUSES_BEGIN_DEVIATIONS: f64 = 6.0;
/// If the second pause comes later than this many times that distance, the first was something else, such as a late answer.
const FIRST_IS_ONE: f64 = 1.5;

/// Bytes that are written.
pub(super) fn bytes(geometry: Geometry) -> u64 {
    piece(geometry) * (PIECES + AGAIN)
}

fn piece(geometry: Geometry) -> u64 {
    const BLOCK: u64 = 128 << 10;
    (geometry.bytes() / 3 / PIECES / BLOCK).max(1) * BLOCK
}

pub(super) fn measure<T: Target>(
    probe: &mut Probe<'_, T>,
    region: Region,
) -> Result<Vec<Series>, Stopped> {
    let geometry = probe.geometry();
    let piece = piece(geometry);
    if bytes(geometry) > geometry.bytes() {
        return Err(Stopped::Lacks("the target is too small".into()));
    }
    probe.flush()?;
    let mut series = empty::measure_unless_new(probe, region)?;
    if empty::is_not(&series).is_some() {
        return Ok(series);
    }
    // What was written before has to leave the cache.
    probe.idle(REST)?;
    let mut written = |start: u64, pieces: u64, what: &str| {
        let times = probe.write_in_order(start, pieces * piece, (128 << 10, 8), piece)?;
        let samples = times.iter().zip(1..).map(|(us, index)| [(index * piece) as f64, *us]);
        let series = Series { what: what.into(), samples: samples.collect() };
        probe.flush()?;
        probe.idle(MOMENT)?;
        Ok(series)
    };
    series.push(written(0, PIECES, "bytes written in order; microseconds of the last of them")?);
    series.push(written(PIECES * piece, AGAIN, "the same after a moment's rest")?);
    Ok(series)
}

pub(super) fn estimate(series: &[Series]) -> Vec<Finding> {
    const KEY: &str = "slc_cache_mib";
    if series.len() == 2 {
        let reason = "an earlier version measured it, and did not look whether the drive was empty";
        return vec![Finding::undetermined(KEY, reason)];
    }
    let (emptied, written) = series.split_at(series.len().min(empty::SERIES));
    if let Some(why) = empty::is_not(emptied) {
        return vec![Finding::undetermined(KEY, why)];
    }
    let [Series { samples, .. }, again] = written else {
        return vec![Finding::undetermined(KEY, "nothing was measured")];
    };
    let Some(piece) = samples.first().map(|[bytes, _]| *bytes).filter(|bytes| *bytes >= 1.0) else {
        return vec![Finding::undetermined(KEY, "too little was written")];
    };
    let first = ((FIRST_BYTES / piece).ceil() as usize).min(MOST_FIRST);
    let times: Vec<f64> = samples.iter().skip(first).map(|[_, us]| *us).collect();
    let Some(last) = samples.last().filter(|_| times.len() > 2 * LEAST_PIECES) else {
        return vec![Finding::undetermined(KEY, "too little was written")];
    };
    let mib = |bytes: f64| bytes / f64::from(1 << 20);
    let rate = |us: f64| piece / us;
    let (end, in_pauses) = match (in_each_piece(&times), in_pauses(&times)) {
        (End::At(at), _) => (at, false),
        (_, Some(at)) => (at, true),
        (End::Outside([before, after]), None) => {
            let reason = format!(
                "the rate drops from {:.0} to {:.0} MB/s at an end of what was written: there it may be the write buffer's",
                rate(before),
                rate(after)
            );
            return vec![Finding::undetermined(KEY, reason)];
        }
        (End::Slope, None) => {
            let reason = "the rate falls, but not from one level to another";
            return vec![Finding::undetermined(KEY, reason)];
        }
        (End::None, None) => {
            let reason = format!(
                "written in order, {:.0} MiB went at one rate, {:.0} MB/s: no cache is seen, and a larger one, or one whose end the link hides, would not be seen either",
                mib(last[0]),
                rate(mean(&times))
            );
            return vec![Finding::undetermined(KEY, reason)];
        }
    };
    let [before, after] = [mean(&times[..end]), mean(&times[end..])];
    // How many of the pieces after a moment's rest were faster than the flash, in pieces at the higher rate.
    let again: Vec<f64> = again.samples.iter().map(|[_, us]| *us).collect();
    let as_long = &again[..again.len().min(first + end)];
    let buffered = as_long.iter().map(|us| (after - us) / (after - before)).sum::<f64>().max(0.0);
    if as_long.is_empty() || buffered > MOST_BUFFERED * as_long.len() as f64 {
        let reason = format!(
            "the rate drops from {:.0} to {:.0} MB/s, and is the higher one again after a moment's rest: a write buffer's",
            rate(before),
            rate(after)
        );
        return vec![Finding::undetermined(KEY, reason)];
    }
    let end = (first + end) as f64;
    let begins = mean(&samples.iter().take(2).map(|[_, us]| *us).collect::<Vec<f64>>());
    let (how, buffered, size) = if in_pauses {
        // The first of them is in the piece in which the cache is full, or once the buffer is, too; what went into it at first
        // tells how much that is, as how many pauses are in a hundred pieces is chance.
        let first =
            samples.iter().map(|[_, us]| us / before).take_while(|part| *part < LINK_LIMITS);
        let absorbed: f64 = first.map(|part| 1.0 - part).sum();
        (", in pauses that there were none of before", absorbed.min(end), end + 0.5)
    } else if begins > LINK_LIMITS * before {
        // Where the link limits, the buffer is empty when the cache is full, and takes some at the higher rate then.
        ("", buffered, end - buffered)
    } else {
        ("", buffered, end)
    };
    let reason = format!(
        "written in order, the rate drops from {:.0} to {:.0} MB/s after {:.0} MiB{how}, and stays there after a moment's rest",
        rate(before),
        rate(after),
        mib(end * piece)
    );
    let later = if in_pauses { 2.0 } else { 1.0 };
    let interval =
        [mib((end - buffered - 2.0).max(0.0) * piece) * 0.98, mib((end + later) * piece) * 1.01];
    vec![Finding::number(KEY, mib(size * piece), "MiB", interval).because(reason)]
}

/// Where pieces become slower.
#[derive(Clone, Copy, PartialEq, Debug)]
enum End {
    /// From this piece on, from one level to another.
    At(usize),
    /// With too few pieces at one of the levels, which are these.
    Outside([f64; 2]),
    /// From no level to none.
    Slope,
    /// Nowhere.
    None,
}

/// Where each piece becomes slower.
fn in_each_piece(times: &[f64]) -> End {
    let together: Vec<f64> = times.chunks(TOGETHER).map(mean).collect();
    let (Some(at), Some(rough)) = (change(times), change(&together)) else { return End::None };
    let [before, after] = at.levels;
    if rough.bic < LEAST_BIC || 1.0 - before / after < LEAST_DROP {
        return End::None;
    }
    let (fast, slow) = times.split_at(at.at);
    if fast.len() < LEAST_PIECES || slow.len() < LEAST_PIECES {
        return End::Outside(at.levels);
    }
    // A rate is steady if the first, the middle and the last third of its pieces have it; on a slope they differ.
    let is_steady = |part: &[f64], level: f64| {
        let mut thirds = part.chunks(part.len().div_ceil(3));
        thirds.all(|third| (mean(third) - level).abs() < STEADY * (after - before))
    };
    let is_one = at.at.abs_diff(rough.at * TOGETHER) <= 2 * TOGETHER;
    if is_one && is_steady(fast, before) && is_steady(slow, after) {
        End::At(at.at)
    } else {
        End::Slope
    }
}

/// Where pauses begin that there are none of before, and that make the drive slower. Longer ones may begin as long after
/// those as those after the first piece: what they cost is another matter.
fn in_pauses(times: &[f64]) -> Option<usize> {
    let (mut longest, mut begin) = (0.0_f64, Vec::<usize>::new());
    for (first, us) in times.iter().enumerate() {
        let is_pause = |us: f64| us > PAUSE * longest;
        let without = first - begin.last().unwrap_or(&0);
        if first >= LEAST_PIECES && is_pause(*us) && begins(without, &times[first..], is_pause) {
            begin.push(first);
        }
        longest = longest.max(*us);
    }
    let ends = begin.iter().copied().skip(1).chain([times.len()]);
    let slower = |&(first, end): &(usize, usize)| {
        1.0 - mean(&times[..first]) / mean(&times[first..end]) >= LEAST_DROP
    };
    begin.iter().copied().zip(ends).find(slower).map(|(first, _)| first)
}

/// Whether the first of these times is the first pause of many; `without` is the number of pieces before it.
fn begins(without: usize, times: &[f64], is_pause: impl Fn(f64) -> bool) -> bool {
    let (mut starts, mut last) = (Vec::new(), None::<usize>);
    for (index, _) in times.iter().enumerate().filter(|(_, us)| is_pause(**us)) {
        if last.is_none_or(|last| index - last > SAME_PAUSE) {
            starts.push(index);
        }
        last = Some(index);
    }
    if starts.len() < LEAST_PAUSES {
        return false;
    }
    let apart: Vec<f64> = starts.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    let most = quantile(&apart, 0.9);
    let spread = variation(&apart) * mean(&apart);
    let without = without as f64;
    apart[0] <= FIRST_IS_ONE * most
        && without >= PAUSES_BEGIN * most
        && without >= mean(&apart) + PAUSES_BEGIN_DEVIATIONS * spread
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disturbed::Random;

    /// The times of 600 pieces; those that `is_pause` accepts are 40 ms longer.
    fn pieces(is_pause: impl Fn(usize) -> bool) -> Vec<f64> {
        let mut random = Random(7);
        (0..600)
            .map(|at| 1000.0 + 100.0 * random.unit() + if is_pause(at) { 40_000.0 } else { 0.0 })
            .collect()
    }

    #[test]
    fn pauses_that_were_there_all_along_have_no_beginning() {
        for every in [8, 20, 50] {
            assert_eq!(in_pauses(&pieces(|at| at % every == every - 1)), None, "every {every}");
        }
        // One pause of a regular series is missing; and there are too few pauses to tell.
        assert_eq!(in_pauses(&pieces(|at| at > 40 && at % 50 == 0)), None);
        assert_eq!(in_pauses(&pieces(|at| at >= 300 && at % 50 == 0)), None);
        assert_eq!(in_pauses(&pieces(|_| false)), None);
    }

    #[test]
    fn short_pauses_that_cost_little_are_not_the_end() {
        // As erases in a cache, or some that cost as much as those behind it.
        let both = |short_us: f64| -> Vec<f64> {
            let long = pieces(|at| at >= 128 && at % 16 < 2);
            let short = |at: usize| if at >= 64 && at.is_multiple_of(12) { short_us } else { 0.0 };
            (0..).zip(long).map(|(at, us)| us + short(at)).collect()
        };
        assert_eq!(in_pauses(&both(1_000.0)), Some(128));
        assert_eq!(in_pauses(&both(10_000.0)), Some(72));
    }

    #[test]
    fn pauses_by_chance_seldom_seem_to_begin() {
        let of = |seed: u64, share: f64| {
            let mut random = Random(seed);
            let times: Vec<f64> = (0..600)
                .map(|_| 1000.0 + if random.unit() < share { 40_000.0 } else { 0.0 })
                .collect();
            in_pauses(&times).is_some()
        };
        for share in [0.02, 0.05, 0.15, 0.4] {
            let seeming = (0..1000).filter(|seed| of(*seed, share)).count();
            assert!(seeming <= 10, "{seeming} of 1000 with pauses in {share} of the pieces");
        }
    }

    /// A drive that takes 1 MiB a piece, with pauses in those that `is_pause` accepts, and again after a moment's rest.
    fn written(is_pause: impl Fn(usize) -> bool, again: impl Fn(usize) -> bool) -> [Series; 2] {
        let series = |times: Vec<f64>| Series {
            what: String::new(),
            samples: (1..).map(|at| f64::from(at << 20)).zip(times).map(|it| it.into()).collect(),
        };
        let mut again = pieces(again);
        again.truncate(AGAIN as usize);
        [series(pieces(is_pause)), series(again)]
    }

    /// What is said of it if it was empty before.
    fn found(is_pause: impl Fn(usize) -> bool, again: impl Fn(usize) -> bool) -> Finding {
        estimate(&[&empty::emptied()[..], &written(is_pause, again)].concat()).remove(0)
    }

    #[test]
    fn of_a_drive_that_is_not_empty_nothing_is_said() {
        let folded = |at: usize| at >= 128 && at % 16 < 2;
        let as_before = |at: usize| at % 16 < 2;
        assert!(found(folded, as_before).determined().is_some());
        let written = written(folded, as_before);
        let mut holds_data = empty::emptied();
        for sample in &mut holds_data[2].samples {
            sample[1] = 150.0;
        }
        for emptied in [&holds_data[..], &holds_data[..2], &[]] {
            let found = estimate(&[emptied, &written].concat()).remove(0);
            assert_eq!(found.determined(), None, "{}", found.reason);
        }
        let holds_data = estimate(&holds_data).remove(0);
        assert!(
            holds_data.reason.contains("nothing says that it is empty"),
            "{}",
            holds_data.reason
        );
    }

    #[test]
    fn a_cache_is_as_large_as_what_is_written_before_the_first_pause_unless_a_rest_ends_them() {
        let folded = |at: usize| at >= 128 && at % 16 < 2;
        let cache = found(folded, |at| at % 16 < 2);
        let [least, most] = cache.interval.expect("a number");
        assert!(least < 128.0 && 128.0 < most && most - least < 10.0, "{least} to {most} MiB");
        assert!(
            cache.reason.contains("in pauses that there were none of before"),
            "{}",
            cache.reason
        );
        let buffer = found(folded, |_| false);
        assert!(
            buffer.determined().is_none() && buffer.reason.contains("a write buffer's"),
            "{}",
            buffer.reason
        );
        let all_along = found(|at| at % 16 < 2, |at| at % 16 < 2);
        assert!(
            all_along.determined().is_none() && all_along.reason.contains("one rate"),
            "{}",
            all_along.reason
        );
    }

    #[test]
    fn pauses_begin_where_a_cache_is_full_and_a_late_answer_is_none() {
        let folded = |at: usize| at >= 128 && at % 16 < 2;
        assert_eq!(in_pauses(&pieces(folded)), Some(128));
        let mut times = pieces(folded);
        times[60] = 9_000.0;
        assert_eq!(in_pauses(&times), Some(128));
        // So late that it might be a pause: then where they begin is not known.
        times[60] = 45_000.0;
        assert_eq!(in_pauses(&times), None);
    }
}
