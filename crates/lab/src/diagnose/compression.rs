//! Compression: whether a drive stores less of data that compresses, and how much less.
//!
//! Data is written in order in pieces of eleven compressibilities, by turns. A drive that compresses has less to program,
//! so that its flash takes a piece the sooner the more of it can be removed. That can only be seen where the flash limits:
//! a few writes into a drive at rest tell how fast the link is, which is the control. Data that repeats one byte is kept
//! apart, because a drive may know it without compressing anything.

use fourcorners_drive::{Geometry, Nanos, Target};
use fourcorners_record::diagnosis::{Finding, Series};

use super::probe::{Probe, Stopped};
use super::statistics::{median, quantile};

/// How much of the data can be removed, percent; the last repeats one byte. What is stored of the one before it is the ratio.
const LEVELS: [u8; 11] = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
/// Every level is written so often, and judged by the last of them: an SLC cache may take the first.
const ROUNDS: usize = 6;
const JUDGED: usize = 3;
const MIB: u64 = 1 << 20;
const LEAST_PIECE: u64 = 32 * MIB;
const MOST_PIECE: u64 = 512 * MIB;
/// Bytes and number of the writes into a drive at rest, and how often: the smallest write buffer takes them all.
const SMALL: u64 = 16 << 10;
const SMALL_WRITES: u64 = 6;
const BURSTS: u64 = 33;
const REST: Nanos = Nanos(20_000_000);
/// The link limits what takes no more than so many times as long as the link takes for it.
const LINK_LIMITS: f64 = 1.2;
/// Data that compresses is written faster by this factor at least. Where it is not, data that is half removed or more goes no
/// faster than the rest by that.
const LEAST_GAIN: f64 = 1.1;
const NO_GAIN: f64 = 1.04;
/// A level may be slower than the one before it by this share: more of a piece removed is never more to write.
const MONOTONE: f64 = 0.06;
/// Times of one level may differ by this share: else the levels are not told apart either.
const MOST_SPREAD: f64 = 0.15;

const YES_OR_NO: &str = "compression";
const RATIO: &str = "compression_ratio";

/// Bytes that are written at most.
pub(super) fn bytes(geometry: Geometry) -> u64 {
    piece(geometry.bytes()) * (LEVELS.len() * ROUNDS) as u64 + BURSTS * SMALL * SMALL_WRITES
}

fn piece(capacity: u64) -> u64 {
    (capacity / 600 / MIB * MIB).clamp(LEAST_PIECE, MOST_PIECE)
}

/// Bytes that are written to a target of this capacity before what is judged.
pub(crate) fn before_judged(capacity: u64) -> u64 {
    piece(capacity) * (LEVELS.len() * (ROUNDS - JUDGED)) as u64
}

pub(super) fn measure<T: Target>(probe: &mut Probe<'_, T>) -> Result<Vec<Series>, Stopped> {
    let geometry = probe.geometry();
    let piece = piece(geometry.bytes());
    let pieces = geometry.bytes() / piece;
    if pieces < 2 {
        return Err(Stopped::Lacks("the target is too small".into()));
    }
    let mut rounds = Vec::new();
    let mut next = 0;
    for _ in 0..ROUNDS {
        let mut levels = LEVELS;
        // In an order by chance: what changes with time is not taken for a level's.
        probe.shuffle(&mut levels);
        let mut samples = Vec::new();
        for percent in levels {
            let start = next % pieces * piece;
            next += 1;
            let took = probe.write_compressible(start, piece, percent)?;
            // Until the flash has it: a write buffer must not hide what it is slow at.
            let took = took + probe.flush()?.as_micros();
            samples.push([f64::from(percent), took * MIB as f64 / piece as f64]);
        }
        let what =
            "percent of the data that can be removed; microseconds of a MiB written in order";
        rounds.push(Series { what: what.into(), samples });
    }
    let mut bursts = Vec::new();
    for burst in 0..BURSTS {
        probe.idle(REST)?;
        let bytes = SMALL * SMALL_WRITES;
        let mut between = Vec::new();
        let range = (burst * bytes % piece, bytes);
        probe.write_until(range, (SMALL, SMALL_WRITES as u32), &mut |_, us| {
            between.push(us);
            false
        })?;
        // From the first answer on, which also says that the drive is awake.
        let us: f64 = between.iter().skip(1).sum();
        bursts.push([(bytes - SMALL) as f64, us]);
        probe.flush()?;
    }
    let what = "bytes written into a drive at rest; microseconds".into();
    rounds.push(Series { what, samples: bursts });
    Ok(rounds)
}

/// The times that come next to these, none of which is longer than the one before: those that are lie at their mean.
fn falling(times: &[f64]) -> Vec<f64> {
    // Levels with one time, and how many they are.
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for &time in times {
        let mut pool = (time, 1);
        while let Some(&(before, count)) = pools.last().filter(|(before, _)| *before < pool.0) {
            let all = count + pool.1;
            pool = ((before * count as f64 + pool.0 * pool.1 as f64) / all as f64, all);
            pools.pop();
        }
        pools.push(pool);
    }
    pools.into_iter().flat_map(|(time, count)| std::iter::repeat_n(time, count)).collect()
}

pub(super) fn estimate(series: &[Series]) -> Vec<Finding> {
    let none = |reason: String| {
        let of = |key| Finding::undetermined(key, reason.clone());
        vec![of(YES_OR_NO), of(RATIO)]
    };
    let Some((bursts, rounds)) = series.split_last().filter(|(bursts, rounds)| {
        !bursts.samples.is_empty() && rounds.iter().all(|round| round.samples.len() == LEVELS.len())
    }) else {
        return none("nothing was measured".into());
    };
    let judged = &rounds[rounds.len().saturating_sub(JUDGED)..];
    let of_level = |percent: u8| -> Vec<f64> {
        let of_round = |round: &Series| {
            let of_it = round.samples.iter().find(|[level, _]| *level == f64::from(percent));
            of_it.map(|[_, us]| *us)
        };
        judged.iter().filter_map(of_round).collect()
    };
    let times: Vec<f64> = LEVELS.iter().map(|level| median(&of_level(*level))).collect();
    let a_mib = |[bytes, us]: &[f64; 2]| us * MIB as f64 / bytes;
    let link = median(&bursts.samples.iter().map(a_mib).collect::<Vec<f64>>());
    // A NaN of a level that is missing is above nothing.
    if !(times.iter().all(|us| *us > 0.0) && link > 0.0) {
        return none("the times of the levels are no times".into());
    }
    let apart = |percent: u8| {
        let of_it: Vec<f64> = of_level(percent);
        let (low, high) = (quantile(&of_it, 0.0), quantile(&of_it, 1.0));
        high / low - 1.0
    };
    let rate = |us: f64| MIB as f64 / us;
    if times[0] < LINK_LIMITS * link {
        return none(format!(
            "data that does not compress is written at {:.0} MB/s, and the link takes {:.0}: compression would not be seen",
            rate(times[0]),
            rate(link)
        ));
    }
    let mixed = &times[..times.len() - 1];
    let fitted = falling(mixed);
    let off = mixed.iter().zip(&fitted).map(|(us, fit)| (us / fit - 1.0).abs()).fold(0.0, f64::max);
    let fastest = fitted[fitted.len() - 1];
    let (gain, of_one_byte) = (times[0] / fastest, times[0] / times[times.len() - 1]);
    let (less, more) = mixed.split_at(mixed.len() / 2);
    let of_halves = median(less) / median(more);
    if of_halves < NO_GAIN && gain.max(of_one_byte) < LEAST_GAIN {
        let reason = format!(
            "whatever is written goes at {:.0} MB/s, and the link takes {:.0}",
            rate(times[0]),
            rate(link)
        );
        return vec![
            Finding::class(YES_OR_NO, "no", reason.clone()),
            Finding::undetermined(RATIO, reason),
        ];
    }
    let spread = median(&LEVELS.map(apart));
    if spread > MOST_SPREAD {
        return none(format!(
            "pieces of the same data take times that differ by {:.0} %: what the drive does meanwhile, folding a cache perhaps, hides the rest",
            100.0 * spread
        ));
    }
    if gain < LEAST_GAIN {
        return none(match of_one_byte >= LEAST_GAIN {
            true => format!(
                "only what repeats one byte is written faster, {of_one_byte:.2} times: it may be known without being compressed"
            ),
            false => {
                format!("data that compresses is written {of_halves:.2} times as fast: too little")
            }
        });
    }
    if off > MONOTONE {
        return none(format!(
            "the rate depends on the data, but not by how far it compresses: it is off by {:.0} %",
            100.0 * off
        ));
    }
    let reason = format!(
        "data that does not compress is written at {:.0} MB/s, and data of which {} % can be removed at {:.0}; the link takes {:.0}",
        rate(times[0]),
        LEVELS[mixed.len() - 1],
        rate(fastest),
        rate(link)
    );
    let of_ratio = match fastest < LINK_LIMITS * link {
        true => Finding::at_least(RATIO, 0.95 * gain, "times", reason.clone()),
        false => {
            let interval = [0.95 * gain, 1.1 * gain];
            Finding::number(RATIO, gain, "times", interval).because(reason.clone())
        }
    };
    vec![Finding::class(YES_OR_NO, "yes", reason), of_ratio]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is measured of a flash that takes `flash` microseconds for a MiB and stores `stored` of a level, behind a link.
    fn seen(flash: f64, link: f64, stored: fn(u8) -> f64) -> Vec<Series> {
        let round = |_| Series {
            what: String::new(),
            samples: LEVELS
                .iter()
                .map(|level| [f64::from(*level), (flash * stored(*level)).max(link)])
                .collect(),
        };
        let mut all: Vec<Series> = (0..ROUNDS).map(round).collect();
        let bytes = (SMALL * (SMALL_WRITES - 1)) as f64;
        all.push(Series {
            what: String::new(),
            samples: vec![[bytes, link * bytes / MIB as f64]; BURSTS as usize],
        });
        all
    }

    fn said(series: &[Series]) -> (Option<String>, Option<f64>, bool) {
        let [class, ratio] = &estimate(series)[..] else { unreachable!("two findings") };
        let bound = ratio.standing == fourcorners_record::diagnosis::Standing::Bound;
        (class.as_class().map(String::from), ratio.determined(), bound)
    }

    fn compressed(level: u8) -> f64 {
        (1.0 - f64::from(level) / 100.0).max(0.25)
    }

    #[test]
    fn what_is_stored_less_is_found_and_a_link_hides_it_or_its_end() {
        assert_eq!(
            said(&seen(10_000.0, 1_000.0, compressed)),
            (Some("yes".into()), Some(4.0), false)
        );
        assert_eq!(said(&seen(10_000.0, 4_000.0, compressed)), (Some("yes".into()), None, true));
        assert_eq!(said(&seen(10_000.0, 9_000.0, compressed)), (None, None, false));
    }

    #[test]
    fn what_is_stored_as_it_is_is_no_and_what_is_no_compression_is_neither() {
        assert_eq!(said(&seen(10_000.0, 1_000.0, |_| 1.0)), (Some("no".into()), None, false));
        let repeats = |level| if level == 100 { 0.2 } else { 1.0 };
        assert_eq!(said(&seen(10_000.0, 1_000.0, repeats)), (None, None, false));
        let up_and_down = |level| if level % 20 == 0 { 1.0 } else { 0.5 };
        assert_eq!(said(&seen(10_000.0, 1_000.0, up_and_down)), (None, None, false));
        assert_eq!(said(&[]), (None, None, false));
    }

    #[test]
    fn a_fit_that_falls_is_the_nearest_one() {
        assert_eq!(falling(&[5.0, 4.0, 4.5, 1.0]), [5.0, 4.25, 4.25, 1.0]);
        assert_eq!(falling(&[1.0, 2.0, 3.0]), [2.0; 3]);
    }
}
