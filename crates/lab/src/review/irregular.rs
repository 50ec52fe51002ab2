//! What is irregular in the seconds of a real target: some that are unlike the others, and a rate that
//! goes one way all along.

use fourcorners_record::note::note;
use fourcorners_record::{Note, Series};
use fourcorners_words::{percent, three_digits};

/// Fewer seconds say nothing.
const LEAST: usize = 10;
/// A second is unlike the others from this modified z-score on (Iglewicz and Hoaglin 1993), if it is
/// off by this part of the median as well.
const SCORE: f64 = 3.5;
const OFF: f64 = 0.1;
/// The median absolute deviation of a normal distribution, in its standard deviations.
const NORMAL: f64 = 0.6745;
/// A line through the seconds that changes by this part of their mean, and by this many of its
/// standard errors, is a drift.
const CHANGE: f64 = 0.1;
const ERRORS: f64 = 4.0;

/// What there is to say of a figure's seconds.
pub(super) fn said(figure: &str, series: &Series) -> Vec<Note> {
    let seconds = &series.mb_per_s[..];
    if seconds.len() < LEAST {
        return Vec::new();
    }
    let (unlike, median) = unlike(seconds);
    let outliers = (unlike > 0).then(|| {
        let text = format!(
            "{figure}: outliers in {unlike} of {} seconds (median {} MB/s); possible causes: another program, the \
             drive's background work, heat.",
            seconds.len(),
            three_digits(median)
        );
        note("outliers", text, unlike as f64)
    });
    let drift = drift(seconds).map(|change| {
        let way = if change > 0.0 { "rises" } else { "falls" };
        let text = format!(
            "{figure} {way} by {} of its mean during the measurement: not a steady state.",
            percent(change.abs())
        );
        note("drift", text, change)
    });
    outliers.into_iter().chain(drift).collect()
}

/// How many seconds are unlike the others, and their median.
fn unlike(seconds: &[f64]) -> (usize, f64) {
    let middle = median(seconds.to_vec());
    let spread = median(seconds.iter().map(|second| (second - middle).abs()).collect());
    let is = |second: &&f64| {
        let off = (*second - middle).abs();
        off > OFF * middle && NORMAL * off > SCORE * spread
    };
    (seconds.iter().filter(is).count(), middle)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() % 2 {
        1 => values[half],
        _ => (values[half - 1] + values[half]) / 2.0,
    }
}

/// By what part of the mean the least-squares line changes from end to end, if that is no chance.
fn drift(seconds: &[f64]) -> Option<f64> {
    let count = seconds.len() as f64;
    let (mean, middle) = (seconds.iter().sum::<f64>() / count, (count - 1.0) / 2.0);
    let along = |index: usize| index as f64 - middle;
    let spread: f64 = (0..seconds.len()).map(|index| along(index).powi(2)).sum();
    let slope = |(index, second): (usize, &f64)| along(index) * (second - mean);
    let slope = seconds.iter().enumerate().map(slope).sum::<f64>() / spread;
    let left = |(index, second): (usize, &f64)| (second - mean - slope * along(index)).powi(2);
    let left: f64 = seconds.iter().enumerate().map(left).sum();
    let error = (left / (count - 2.0) / spread).sqrt();
    let change = slope * (count - 1.0) / mean;
    (change.abs() > CHANGE && slope.abs() > ERRORS * error).then_some(change)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rate: impl Fn(usize) -> f64) -> Vec<String> {
        let series = Series { mb_per_s: (0..60).map(rate).collect(), ..Series::default() };
        said("write", &series).into_iter().map(|note| note.about).collect()
    }

    #[test]
    fn outliers_and_drift_are_named_where_they_are_and_nowhere_else() {
        let jitter = |second: usize| 100.0 + (second * 7 % 5) as f64;
        assert!(of(jitter).is_empty());
        assert!(of(|_| 100.0).is_empty());
        let twice = |second| if second == 20 || second == 41 { 30.0 } else { jitter(second) };
        assert_eq!(of(twice), ["outliers"]);
        assert_eq!(of(|second| jitter(second) - second as f64 / 2.0), ["drift"]);
        // Half of the seconds are no outliers: that is how it is.
        assert!(!of(|second| [50.0, 100.0][second % 2]).contains(&"outliers".to_string()));
        assert!(
            said("write", &Series { mb_per_s: vec![1.0, 9.0], ..Series::default() }).is_empty()
        );
    }
}
