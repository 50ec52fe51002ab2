//! What is irregular in the seconds of a real target: some that are unlike the others, a rate that
//! goes one way all along, and time that was not the drive's.

use fourcorners_record::note::note;
use fourcorners_record::{Figure, Note, Series};
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

/// What there is to say of what the machine did while a figure was measured: of what takes this part of the time, the figure is not
/// the drive's.
pub(super) fn interference(name: &str, figure: &Figure) -> Vec<Note> {
    /// A loop that waits for a processor mostly counts only what it missed then.
    const MOST_WAITED: f64 = 0.5;
    const MOST_OF_OTHERS: f64 = 0.1;
    /// A longest latency of so long is the stop's, however long the measurement.
    const LONGEST_STOP_S: f64 = 0.1;
    let Some(noise) = figure.noise else { return Vec::new() };
    let stopped_s = noise.stopped_share * figure.duration_s;
    let others = noise.other_io_share.unwrap_or(0.0);
    let all = [
        (stopped_s >= LONGEST_STOP_S).then(|| {
            let text = format!(
                "{name}: this program was stopped for {} s; the rate and the longest latencies are not the drive's.",
                three_digits(stopped_s)
            );
            note("stopped", text, stopped_s)
        }),
        (others > MOST_OF_OTHERS).then(|| {
            let text = format!(
                "{name}: {} of the bytes that the device moved were not this program's; others used it.",
                percent(others)
            );
            note("other-io", text, others)
        }),
        (noise.cpu_wait_share > MOST_WAITED).then(|| {
            let waited = noise.cpu_wait_share.min(1.0);
            let text = format!(
                "{name}: this program waited for a processor for {} of the time; the figure is the machine's.",
                percent(waited)
            );
            note("cpu-wait", text, waited)
        }),
    ];
    all.into_iter().flatten().collect()
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
    use fourcorners_record::Noise;

    use super::super::figure;
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

    #[test]
    fn what_the_machine_did_is_said_where_the_figure_is_no_more_the_drives() {
        let said = |change: fn(&mut Noise)| {
            let mut noise = Noise {
                cpu_wait_share: 0.2,
                cpu_steal_share: 0.0,
                load: 1.0,
                other_io_share: None,
                stopped_share: 0.0,
            };
            change(&mut noise);
            let figure = Figure { noise: Some(noise), duration_s: 10.0, ..figure::example() };
            interference("read", &figure)
        };
        assert_eq!(said(|_| {}), []);
        assert_eq!(said(|noise| noise.other_io_share = Some(0.02)), []);
        assert_eq!(said(|noise| noise.stopped_share = 0.005), []);
        let [stopped] = &said(|noise| noise.stopped_share = 0.8)[..] else { panic!("one is said") };
        assert!(
            stopped.text.starts_with("read: this program was stopped for 8.00 s;"),
            "{stopped:?}"
        );
        let [others] = &said(|noise| noise.other_io_share = Some(0.974))[..] else {
            panic!("one is said")
        };
        assert!(others.text.starts_with("read: 97"), "{others:?}");
        let [waited] = &said(|noise| noise.cpu_wait_share = 0.7)[..] else { panic!("one is said") };
        assert!(waited.text.contains("70"), "{waited:?}");
        // A virtual drive has a machine of its own.
        assert_eq!(interference("read", &figure::example()), []);
    }
}
