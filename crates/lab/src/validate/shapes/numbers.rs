//! The numbers of a run under the names that a file of distributions gives them.

use std::collections::BTreeMap;

use fourcorners_run::Histogram;

use super::question::SHARE_WITHOUT_FLASH;

/// Numbers by their dotted path in an entry's `result`.
pub(super) type Numbers = BTreeMap<String, f64>;

/// Percentiles by name.
pub(super) const PERCENTILES: [(&str, f64); 10] = [
    ("p1", 1.0),
    ("p5", 5.0),
    ("p10", 10.0),
    ("p50", 50.0),
    ("p90", 90.0),
    ("p95", 95.0),
    ("p99", 99.0),
    ("p999", 99.9),
    ("p9999", 99.99),
    ("p99999", 99.999),
];

/// Those of the list `p20_30_40_60_70_80`.
const LISTED: [f64; 6] = [20.0, 30.0, 40.0, 60.0, 70.0, 80.0];

/// So many values at least lie beyond a percentile that is told.
const LEAST_BEYOND: f64 = 10.0;

/// What is faster than this is counted apart in some sources, us.
const FAST_US: f64 = 50.0;

/// Adds what a histogram says of latencies, each less `excluded_us`, under names that begin with `prefix`.
pub(super) fn add_latencies(
    numbers: &mut Numbers,
    prefix: &str,
    latency: &Histogram,
    excluded_us: f64,
) {
    if latency.count() == 0 {
        return;
    }
    let count = latency.count() as f64;
    let us = |ns: f64| (ns / 1e3 - excluded_us).max(0.0);
    let mut add = |name: &str, value: f64| {
        numbers.insert(format!("{prefix}{name}"), value);
    };
    let told = |percent: f64| count * percent.min(100.0 - percent) / 100.0 >= LEAST_BEYOND;
    let percentile = |percent: f64| us(latency.percentile(percent) as f64);
    for (name, percent) in PERCENTILES {
        if told(percent) {
            add(name, percentile(percent));
        }
    }
    for (at, percent) in LISTED.into_iter().enumerate() {
        if told(percent) {
            add(&format!("p20_30_40_60_70_80.{at}"), percentile(percent));
        }
    }
    let mean = latency.mean();
    add("mean_us", us(mean));
    // Whatever the source leaves out of its percentiles is in this one.
    add("lat_mean_us", mean / 1e3);
    add("min_us", us(latency.min() as f64));
    add("max_us", us(latency.max() as f64));
    let bins = latency.bins();
    let squares: f64 = bins.iter().map(|&(ns, n)| (ns as f64 - mean).powi(2) * n as f64).sum();
    add("stddev_us", (squares / count).sqrt() / 1e3);
    let fast_ns = ((FAST_US + excluded_us) * 1e3) as u64;
    let fast: u64 = bins.iter().filter(|(ns, _)| *ns < fast_ns).map(|(_, n)| n).sum();
    add(SHARE_WITHOUT_FLASH, fast as f64 / count * 100.0);
}

/// The times that ACT counts what is slower than, as powers of two: 32 us to 4 ms.
pub(super) const SLOWER_THAN_US: std::ops::RangeInclusive<u32> = 5..=12;

/// What the share that is slower than this power of two is called.
pub(super) fn slower_path(power: u32) -> String {
    format!("percent_of_reads_slower_than.{}", 1_u64 << power)
}

/// Adds per cent of the I/Os that took longer than powers of two, microseconds.
pub(super) fn add_slower(numbers: &mut Numbers, latency: &Histogram, excluded_us: f64) {
    let bins = latency.bins();
    for power in SLOWER_THAN_US {
        let us = 1_u64 << power;
        let limit_ns = ((us as f64 + excluded_us) * 1e3) as u64;
        let slower: u64 = bins.iter().filter(|(ns, _)| *ns > limit_ns).map(|(_, n)| n).sum();
        if slower as f64 >= LEAST_BEYOND {
            let percent = slower as f64 / latency.count() as f64 * 100.0;
            numbers.insert(slower_path(power), percent);
        }
    }
}

/// What a variation per minute is at least: where a source counts seconds in 32 bits, a minute hours later is told to a millisecond,
/// and what is below that of it is the clock's.
const LEAST_PER_MINUTE: f64 = 2e-5;

/// Simulated over published, less one; `None` where nothing was published but zero.
pub(super) fn error(path: &str, published: f64, simulated: f64) -> Option<f64> {
    let told = |value: f64| match path.ends_with("cv_per_minute") {
        true => value.max(LEAST_PER_MINUTE),
        false => value,
    };
    (published != 0.0).then(|| told(simulated) / told(published) - 1.0)
}

/// Standard deviation over mean; `None` of fewer than three values, or of none but zeros.
pub(super) fn variation(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (squares / values.len() as f64).sqrt();
    (values.len() > 2 && mean > 0.0).then(|| deviation / mean)
}

/// The correlation of a series with itself so many places later; `None` where it is shorter than ten times that, or
/// constant.
pub(super) fn autocorrelation(values: &[f64], lag: usize) -> Option<f64> {
    if values.len() < 10 * lag {
        return None;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let products = values.iter().zip(&values[lag..]).map(|(a, b)| (a - mean) * (b - mean));
    (squares > 0.0).then(|| products.sum::<f64>() / squares)
}

/// The value that a share of the sorted values does not exceed.
pub(super) fn quantile_of(sorted: &[f64], share: f64) -> Option<f64> {
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(rank.saturating_sub(1).min(sorted.len().saturating_sub(1))).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_told_where_ten_values_lie_beyond_and_lack_what_is_left_out() {
        let mut latency = Histogram::new();
        (1..=1000).for_each(|us| latency.record(us * 1000));
        let mut numbers = Numbers::new();
        add_latencies(&mut numbers, "read.", &latency, 100.0);
        let near = |path: &str, us: f64| {
            assert!((numbers[path] / us - 1.0).abs() < 0.01, "{path}: {}", numbers[path]);
        };
        near("read.p50", 400.0);
        near("read.p99", 890.0);
        near("read.mean_us", 400.5);
        near("read.lat_mean_us", 500.5);
        near("read.p20_30_40_60_70_80.5", 700.0);
        near("read.max_us", 900.0);
        near("read.share_under_50us_pct", 14.9);
        near("read.stddev_us", 288.7);
        assert!(numbers.contains_key("read.p1") && !numbers.contains_key("read.p999"));
    }

    #[test]
    fn the_share_that_is_slower_than_each_power_of_two_is_told_where_there_are_ten() {
        let mut latency = Histogram::new();
        (1..=1000).for_each(|us| latency.record(us * 1000));
        let mut numbers = Numbers::new();
        add_slower(&mut numbers, &latency, 0.0);
        for (us, percent) in [(32, 96.8), (128, 87.2), (512, 48.8)] {
            let told = numbers[&format!("percent_of_reads_slower_than.{us}")];
            assert!((told - percent).abs() < 0.8, "{us}: {told}");
        }
        assert!(!numbers.contains_key("percent_of_reads_slower_than.1024"), "none is");
    }

    #[test]
    fn minutes_that_differ_by_less_than_the_clock_tells_are_alike_and_others_are_not() {
        let per_minute = |published, simulated| error("steady.cv_per_minute", published, simulated);
        assert_eq!(per_minute(1e-5, 1e-8), Some(0.0));
        assert_eq!(per_minute(1e-5, 2e-3).map(f64::round), Some(99.0));
        assert_eq!(per_minute(4e-5, 1e-8), Some(-0.5));
        assert_eq!(error("iops_cv_500ms", 1e-5, 5e-6), Some(-0.5));
        assert_eq!(error("p99", 0.0, 5.0), None);
    }

    #[test]
    fn a_series_says_how_it_varies_and_what_follows_from_what() {
        let waves: Vec<f64> = (0..100).map(|at| if at % 2 == 0 { 9.0 } else { 11.0 }).collect();
        assert_eq!(variation(&waves), Some(0.1));
        assert!((autocorrelation(&waves, 1).expect("long enough") + 0.99).abs() < 1e-9);
        assert!((autocorrelation(&waves, 10).expect("long enough") - 0.9).abs() < 1e-9);
        assert_eq!(autocorrelation(&waves, 11), None);
        assert_eq!((variation(&[1.0, 2.0]), variation(&[0.0; 5])), (None, None));
        assert_eq!(quantile_of(&[1.0, 2.0, 3.0], 0.5), Some(2.0));
        assert_eq!(quantile_of(&[], 0.5), None);
    }
}
