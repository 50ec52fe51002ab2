//! Whether one figure is slower than another, as far as the seconds of the two runs tell.

use fourcorners_record::note::finished;
use fourcorners_record::{Figure, Outcome, Record, Series, Verdict};

/// A figure that keeps this part of another is not said to be slower: nobody would notice.
const MATTERS: f64 = 0.9;
/// Standard errors to either side of a ratio that are left open: all but 1 in 370.
const ERRORS: f64 = 3.0;
/// Fewer whole seconds than this say nothing of how they vary.
const LEAST_SECONDS: usize = 4;
/// A loop that waited for a processor for more of its time than this, or whose processors were
/// taken away for more, measured its machine.
const MOST_NOISE: f64 = 0.05;
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
    /// Why the two cannot be held against each other, where they cannot.
    pub(super) open: Option<String>,
}

impl Slower<'_> {
    /// The verdict; `None` where one of the figures was not measured to its end.
    pub(super) fn verdict(self, record: &Record) -> Option<Verdict> {
        let [slow, fast] = self.figures.map(|name| finished(record, name));
        let (slow, fast) = (slow?, fast?);
        let series = self.figures.map(|name| record.series.get(name));
        let noise = [slow, fast].into_iter().find_map(noise);
        let ratio = slow.mb_per_s / fast.mb_per_s;
        let (outcome, why) = match self.open.or(noise) {
            Some(why) => (Outcome::Undetermined, Some(why)),
            None => judge(ratio, series.map(|series| series.and_then(relative_error))),
        };
        Some(Verdict {
            id: self.id.into(),
            claim: self.claim,
            outcome,
            // As they were measured: what it is held against first.
            figures: vec![self.figures[1].into(), self.figures[0].into()],
            threshold: format!(
                "yes below {MATTERS} of the other, no above, each with {ERRORS} standard errors of the \
                 runs' seconds to spare"
            ),
            control: self.control.into(),
            value: ratio.is_finite().then_some(ratio),
            why,
        })
    }
}

/// Why a figure is more of its machine than of its drive.
fn noise(figure: &Figure) -> Option<String> {
    let noise = figure.noise?;
    let share = |what: &str, share: f64| {
        (share > MOST_NOISE).then(|| format!("{what} {:.0} % of the time", share * 100.0))
    };
    share("the loop waited for a processor", noise.cpu_wait_share)
        .or_else(|| share("other machines had the processors", noise.cpu_steal_share))
}

/// The outcome of a ratio, given the relative standard errors of both rates.
fn judge(ratio: f64, errors: [Option<f64>; 2]) -> (Outcome, Option<String>) {
    let [Some(slow), Some(fast)] = errors else {
        let why = format!("fewer than {LEAST_SECONDS} whole seconds were measured");
        return (Outcome::Undetermined, Some(why));
    };
    let error = ERRORS * slow.hypot(fast);
    let (low, high) = (ratio * (-error).exp(), ratio * error.exp());
    if high < MATTERS {
        (Outcome::Yes, Some(format!("it keeps {:.0} %", ratio * 100.0)))
    } else if low > MATTERS {
        (Outcome::No, Some(format!("it keeps {:.0} %", ratio * 100.0)))
    } else {
        let repeats = (error / (ratio / MATTERS).ln()).powi(2).ceil();
        let decide = match repeats {
            ..=MOST_REPEATS => format!("{repeats:.0} repeats would decide"),
            _ => "repeats would hardly decide".into(),
        };
        let why = format!(
            "the seconds of the runs leave {:.0} to {:.0} % open; {decide}",
            low * 100.0,
            high * 100.0
        );
        (Outcome::Undetermined, Some(why))
    }
}

/// The standard error of the mean rate over the mean, with seconds that follow one another counted
/// for as many as are independent of each other (first-order autocorrelation).
fn relative_error(series: &Series) -> Option<f64> {
    let seconds = &series.mb_per_s;
    let count = seconds.len() as f64;
    let mean = seconds.iter().sum::<f64>() / count;
    if seconds.len() < LEAST_SECONDS || mean <= 0.0 {
        return None;
    }
    let around = |second: &f64| second - mean;
    let variance = seconds.iter().map(|it| around(it).powi(2)).sum::<f64>() / (count - 1.0);
    if variance == 0.0 {
        return Some(0.0);
    }
    let pairs = seconds.windows(2).map(|pair| around(&pair[0]) * around(&pair[1]));
    let correlation = (pairs.sum::<f64>() / (count - 1.0) / variance).clamp(0.0, 0.95);
    let independent = (count * (1.0 - correlation) / (1.0 + correlation)).max(1.0);
    Some((variance / independent).sqrt() / mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(rate: impl Fn(usize) -> f64) -> Series {
        Series { mb_per_s: (0..60).map(rate).collect(), ..Series::default() }
    }

    #[test]
    fn a_difference_is_concluded_only_beyond_what_the_seconds_leave_open() {
        let still = Some(0.001);
        let outcome = |ratio: f64, errors| judge(ratio, errors).0;
        assert_eq!(outcome(0.5, [still; 2]), Outcome::Yes);
        assert_eq!(outcome(0.98, [still; 2]), Outcome::No);
        assert_eq!(outcome(1.5, [still; 2]), Outcome::No);
        // The same ratios where the seconds vary: nothing can be said.
        let wild = Some(0.3);
        assert_eq!(outcome(0.5, [wild; 2]), Outcome::Undetermined);
        assert_eq!(outcome(0.98, [still, wild]), Outcome::Undetermined);
        assert_eq!(outcome(0.5, [still, None]), Outcome::Undetermined);
        let (_, why) = judge(0.5, [wild; 2]);
        assert!(why.is_some_and(|why| why.contains("repeats would decide")));
        let (_, why) = judge(0.9, [still; 2]);
        assert!(why.is_some_and(|why| why.contains("hardly")));
    }

    #[test]
    fn seconds_that_follow_one_another_count_for_less() {
        let alternating = relative_error(&series(|second| 100.0 + (second % 2) as f64 * 20.0));
        let halves = relative_error(&series(|second| if second < 30 { 100.0 } else { 120.0 }));
        let (alternating, halves) = (alternating.expect("60 s"), halves.expect("60 s"));
        // One change in a minute is one look at each of two rates, not sixty looks.
        assert!(halves > 4.0 * alternating, "{halves} {alternating}");
        assert_eq!(relative_error(&series(|_| 100.0)), Some(0.0));
        assert_eq!(relative_error(&series(|_| 0.0)), None);
    }
}
