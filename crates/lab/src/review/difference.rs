//! Decides whether one figure is slower than another, as far as the seconds of the two runs show.

use fourcorners_record::note::finished;
use fourcorners_record::{Figure, Outcome, Record, Verdict};

/// A figure that keeps this part of another is not said to be slower: nobody would notice.
pub(super) const MATTERS: f64 = 0.9;
/// Standard errors to either side of a ratio that are left open: all but 1 in 370.
const ERRORS: f64 = 3.0;
/// Fewer whole seconds than this say nothing of how they vary.
pub(super) const LEAST_SECONDS: usize = 4;
/// A machine that took more of a loop's time than this measured itself.
pub(super) const MOST_TAKEN: f64 = 0.5;
/// More repeats than this are not worth proposing.
const MOST_REPEATS: f64 = 100.0;

/// A claim that one figure is slower than another.
pub(super) struct Slower<'a> {
    pub(super) id: &'a str,
    pub(super) claim: String,
    /// What would have been measured otherwise.
    pub(super) control: &'a str,
    /// The one that is claimed to be slower, and the one it is held against.
    pub(super) figures: [&'a str; 2],
    /// The rate of the one it is held against, in words: `the fresh rate`.
    pub(super) of: &'a str,
    /// It is slower where it keeps less than this part of the other.
    pub(super) threshold: f64,
    /// Why the two cannot be held against each other, where they cannot.
    pub(super) open: Option<String>,
}

impl Slower<'_> {
    /// The verdict; `None` where one of the figures was not measured to its end.
    pub(super) fn verdict(self, record: &Record) -> Option<Verdict> {
        let Judged { ratio, outcome, why } =
            is_slower(record, self.figures, self.threshold, self.of)?;
        let (outcome, why) = match self.open {
            Some(why) => (Outcome::Undetermined, Some(why)),
            None => (outcome, why),
        };
        Some(Verdict {
            id: self.id.into(),
            claim: self.claim,
            outcome,
            // As they were measured: what it is held against first.
            figures: vec![self.figures[1].into(), self.figures[0].into()],
            threshold: format!(
                "yes below {} of {}, no above, each by a margin of {ERRORS} standard errors of the per-second rates \
                 and of the time lost to interference; else undetermined",
                self.threshold, self.of
            ),
            control: self.control.into(),
            value: ratio.is_finite().then_some(ratio),
            why,
        })
    }
}

/// How one figure compares with another.
pub(super) struct Judged {
    /// The rate of the one over that of the other.
    pub(super) ratio: f64,
    pub(super) outcome: Outcome,
    /// Why it is so, or left open.
    pub(super) why: Option<String>,
}

/// Whether one figure keeps less than a part of another; `None` where one of them was not measured to its end.
pub(super) fn is_slower(
    record: &Record,
    figures: [&str; 2],
    threshold: f64,
    of: &str,
) -> Option<Judged> {
    let [slow, fast] = figures.map(|name| finished(record, name));
    let (slow, fast) = (slow?, fast?);
    let [slow_series, fast_series] = figures.map(|name| record.series.get(name));
    let seconds = slow_series.zip(fast_series);
    let open = seconds.and_then(|(slow, fast)| open(&slow.mb_per_s, &fast.mb_per_s));
    let ratio = slow.mb_per_s / fast.mb_per_s;
    let (outcome, why) = judge((ratio, threshold, of), open, [slow, fast].map(taken));
    Some(Judged { ratio, outcome, why })
}

/// The whole seconds of the shortest of some figures; none where they are too few to tell how they vary.
pub(super) fn whole_seconds<const N: usize>(record: &Record, figures: [&str; N]) -> Option<usize> {
    let seconds = figures.map(|name| record.series.get(name).map_or(0, |it| it.mb_per_s.len()));
    seconds.into_iter().min().filter(|least| *least >= LEAST_SECONDS)
}

/// The verdict, left open where it came out as one of these.
pub(super) fn left_open(verdict: Verdict, outcomes: &[Outcome], why: &str) -> Verdict {
    match outcomes.contains(&verdict.outcome) {
        true => Verdict { outcome: Outcome::Undetermined, why: Some(why.into()), ..verdict },
        false => verdict,
    }
}

/// The part of a figure's time that its machine took: while the loop waited for a processor or was stopped, or
/// the processors or the drive were others'.
pub(super) fn taken(figure: &Figure) -> f64 {
    let noise = figure.noise.map_or(0.0, |noise| {
        noise.cpu_wait_share
            + noise.cpu_steal_share
            + noise.stopped_share
            + noise.other_io_share.unwrap_or(0.0)
    });
    noise.clamp(0.0, 0.99)
}

/// The outcome of a ratio against its threshold, given what the seconds leave open of it (between these
/// two parts of it) and what the machine took of the times of both rates. A rate could have been higher by all that was taken, or by
/// nothing of it: that depends on whether the drive was at work meanwhile.
fn judge(
    (ratio, threshold, of): (f64, f64, &str),
    open: Option<[f64; 2]>,
    taken: [f64; 2],
) -> (Outcome, Option<String>) {
    let undetermined = |why: String| (Outcome::Undetermined, Some(why));
    let machine = taken.into_iter().fold(0.0, f64::max);
    let percent = machine * 100.0;
    if machine > MOST_TAKEN {
        return undetermined(format!("{percent:.0} % of the time was lost to interference"));
    }
    let Some([least, most]) = open else {
        return undetermined(format!("fewer than {LEAST_SECONDS} whole seconds were measured"));
    };
    let at = format!("at {:.0} % of {of}", ratio * 100.0);
    let low = ratio * least * (1.0 - taken[1]);
    let high = ratio * most / (1.0 - taken[0]);
    if high < threshold {
        return (Outcome::Yes, Some(at));
    }
    if low > threshold {
        return (Outcome::No, Some(at));
    }
    let left = match high {
        ..10.0 => format!("anything from {:.0} to {:.0} % of {of}", low * 100.0, high * 100.0),
        _ => format!("{:.0} % of {of} and more", low * 100.0),
    };
    let seconds = (most - 1.0).max(1.0 - least);
    if machine > seconds {
        return undetermined(format!(
            "{percent:.0} % of the time was lost to interference, which leaves {left} possible"
        ));
    }
    // The error goes with the root of their number.
    let repeats = (seconds / (threshold / ratio - 1.0)).powi(2).ceil();
    let decide = match repeats {
        ..=1.0 => "one repeat would decide".into(),
        ..=MOST_REPEATS => format!("{repeats:.0} repeats would decide"),
        _ => "repeats are unlikely to decide".into(),
    };
    undetermined(format!("the variation from second to second leaves {left} possible; {decide}"))
}

/// Between which parts of it the ratio of two runs' means is left open, by whichever leaves less: the
/// seconds of each run by itself, or the second of one beside the same second of the other. Two runs
/// that slow down together, as a buffer fills, differ by the latter alone. Places of two passes do as well as seconds.
pub(super) fn open(slow: &[f64], fast: &[f64]) -> Option<[f64; 2]> {
    let relative = |seconds: &[f64], of: f64| standard_error(seconds).map(|it| ERRORS * it / of);
    let (slow_mean, fast_mean) = (mean(slow), mean(fast));
    let (of_slow, of_fast) = (relative(slow, slow_mean)?, relative(fast, fast_mean)?);
    let most = if of_fast < 1.0 { (1.0 + of_slow) / (1.0 - of_fast) } else { f64::INFINITY };
    let alone = [(1.0 - of_slow).max(0.0) / (1.0 + of_fast), most];
    let ratio = slow_mean / fast_mean;
    let both = slow.iter().zip(fast);
    let residuals: Vec<f64> = both.map(|(slow, fast)| slow - ratio * fast).collect();
    let beside = match relative(&residuals, slow_mean) {
        Some(error) => [(1.0 - error).max(0.0), 1.0 + error],
        None => alone,
    };
    let width = |[least, most]: [f64; 2]| most - least;
    Some(if width(beside) < width(alone) { beside } else { alone })
}

fn mean(seconds: &[f64]) -> f64 {
    seconds.iter().sum::<f64>() / seconds.len() as f64
}

/// The standard error of the mean of seconds, with those that follow one another counted for as many
/// as are independent of each other (first-order autocorrelation).
fn standard_error(seconds: &[f64]) -> Option<f64> {
    let count = seconds.len() as f64;
    if seconds.len() < LEAST_SECONDS {
        return None;
    }
    let mean = mean(seconds);
    let around = |second: &f64| second - mean;
    let variance = seconds.iter().map(|it| around(it).powi(2)).sum::<f64>() / (count - 1.0);
    if variance == 0.0 {
        return Some(0.0);
    }
    let pairs = seconds.windows(2).map(|pair| around(&pair[0]) * around(&pair[1]));
    let correlation = (pairs.sum::<f64>() / (count - 1.0) / variance).clamp(0.0, 0.95);
    let independent = (count * (1.0 - correlation) / (1.0 + correlation)).max(1.0);
    Some((variance / independent).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(rate: impl Fn(usize) -> f64) -> Vec<f64> {
        (0..60).map(rate).collect()
    }

    #[test]
    fn a_difference_is_concluded_only_beyond_what_the_seconds_leave_open() {
        let still = Some([0.999, 1.001]);
        let judged = |ratio: f64, open| judge((ratio, MATTERS, "it"), open, [0.0; 2]);
        let outcome = |ratio: f64, open| judged(ratio, open).0;
        assert_eq!(outcome(0.5, still), Outcome::Yes);
        assert_eq!(outcome(0.98, still), Outcome::No);
        assert_eq!(outcome(1.5, still), Outcome::No);
        // The same ratios where the seconds vary: nothing can be said.
        let wild = Some([0.1, 2.2]);
        assert_eq!(outcome(0.5, wild), Outcome::Undetermined);
        assert_eq!(outcome(0.98, wild), Outcome::Undetermined);
        assert_eq!(outcome(0.5, None), Outcome::Undetermined);
        let (_, why) = judged(0.5, wild);
        assert!(why.is_some_and(|why| why.contains("3 repeats would decide")));
        let (_, why) = judged(0.7, Some([0.8, 1.29]));
        let one = "leaves anything from 56 to 90 % of it possible; 2 repeats would decide";
        assert!(why.as_ref().is_some_and(|why| why.contains(one)), "{why:?}");
        // Of what the machine took of two runs, the more is said.
        let (open, why) = judge((0.5, MATTERS, "it"), still, [0.6, 0.9]);
        assert_eq!(open, Outcome::Undetermined);
        assert!(why.as_ref().is_some_and(|why| why.starts_with("90 % of the time")), "{why:?}");
        // Seconds and interference together leave it open, and the seconds alone hardly.
        let (_, why) = judge((0.93, MATTERS, "it"), Some([0.97, 1.03]), [0.02; 2]);
        assert!(
            why.as_ref().is_some_and(|why| why.contains("; one repeat would decide")),
            "{why:?}"
        );
        let (_, why) = judged(0.9, still);
        assert!(why.is_some_and(|why| why.contains("unlikely")));
        assert_eq!(outcome(f64::NAN, still), Outcome::Undetermined);
        let (_, why) = judged(0.5, Some([0.0, f64::INFINITY]));
        assert!(why.is_some_and(|why| why.contains("0 % of it and more possible")));
    }

    #[test]
    fn what_the_machine_took_is_left_open() {
        let judged = |ratio: f64, taken| judge((ratio, MATTERS, "it"), Some([0.999, 1.001]), taken);
        // The loop of the slow one waited: it may not have been slow at all.
        assert_eq!(judged(0.85, [0.0, 0.0]).0, Outcome::Yes);
        let (outcome, why) = judged(0.85, [0.1, 0.0]);
        assert_eq!(outcome, Outcome::Undetermined);
        assert!(why.is_some_and(|why| why.contains("10 % of the time was lost to interference")));
        assert_eq!(judged(0.5, [0.1, 0.0]).0, Outcome::Yes, "no wait makes a half of it");
        // The loop of the fast one waited: it may have been faster still.
        assert_eq!(judged(0.95, [0.0, 0.0]).0, Outcome::No);
        assert_eq!(judged(0.95, [0.0, 0.1]).0, Outcome::Undetermined);
        assert_eq!(judged(0.1, [0.6, 0.0]).0, Outcome::Undetermined);
    }

    /// How far a series is left open beside a flat one, upwards.
    fn above(rate: impl Fn(usize) -> f64) -> f64 {
        open(&seconds(rate), &seconds(|_| 100.0)).expect("60 s")[1] - 1.0
    }

    #[test]
    fn seconds_that_follow_one_another_count_for_less() {
        let alternating = above(|second| 100.0 + (second % 2) as f64 * 20.0);
        let halves = above(|second| if second < 30 { 100.0 } else { 120.0 });
        // One change in a minute is one look at each of two rates, not sixty looks.
        assert!(halves > 4.0 * alternating, "{halves} {alternating}");
        assert_eq!(above(|_| 100.0), 0.0);
        assert_eq!(open(&[], &seconds(|_| 100.0)), None);
    }

    #[test]
    fn two_runs_that_slow_down_together_are_held_against_each_other_second_by_second() {
        let falls =
            |part: f64| seconds(move |second| if second < 20 { 400.0 } else { 80.0 } * part);
        let [least, most] = open(&falls(0.5), &falls(1.0)).expect("60 s");
        assert!(most - least < 1e-9);
        // At another second each: what is common to them is no more than chance.
        let later = seconds(|second| if second < 40 { 400.0 } else { 80.0 });
        let [least, most] = open(&later, &falls(1.0)).expect("60 s");
        assert!(most - least > 0.5);
    }
}
