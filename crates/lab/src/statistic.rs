//! A number of a run: of what the loop measured, and the same of a record.

use fourcorners_record::{Figure, Record, Series};
use fourcorners_run::{Histogram, Measured};

/// Four digits: more would only be the simulation's.
pub(crate) fn four_digits(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powf(3.0 - value.abs().log10().floor());
    (value * scale).round() / scale
}

/// What of a run is compared.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Statistic {
    MbPerS,
    MibPerS,
    Iops,
    /// Of the seconds from 1400 on.
    SteadyIops,
    /// The same, of the second that half of them are below.
    MedianSteadyIops,
    PeakIops,
    LeastMbPerS,
    MostMbPerS,
    MedianMbPerS,
    MeanMs,
    MaxMs,
    PercentileMs(f64),
    /// Over the run.
    MeanW,
    /// Of its seconds.
    LeastW,
    MostW,
}

/// First second of the steady window.
const STEADY_FROM: usize = 1400;

impl Statistic {
    /// Its unit.
    pub(crate) fn unit(self) -> &'static str {
        match self {
            Statistic::MbPerS
            | Statistic::LeastMbPerS
            | Statistic::MostMbPerS
            | Statistic::MedianMbPerS => "MB/s",
            Statistic::MibPerS => "MiB/s",
            Statistic::Iops
            | Statistic::SteadyIops
            | Statistic::MedianSteadyIops
            | Statistic::PeakIops => "IOPS",
            Statistic::MeanMs | Statistic::MaxMs | Statistic::PercentileMs(_) => "ms",
            Statistic::MeanW | Statistic::LeastW | Statistic::MostW => "W",
        }
    }

    /// Its value; `None` when the run was too short for it.
    pub(crate) fn take(self, measured: &Measured) -> Option<f64> {
        let elapsed = measured.elapsed.as_secs();
        let ios = (measured.reads + measured.writes) as f64;
        let seconds = &measured.seconds;
        let mut rates: Vec<f64> = seconds.iter().map(|second| second.bytes as f64 / 1e6).collect();
        rates.sort_by(f64::total_cmp);
        let ms = |ns: f64| ns / 1e6;
        match self {
            Statistic::MbPerS => Some(measured.bytes as f64 / 1e6 / elapsed),
            Statistic::MibPerS => Some(measured.bytes as f64 / f64::from(1 << 20) / elapsed),
            Statistic::Iops => Some(ios / elapsed),
            Statistic::SteadyIops => {
                let window = seconds.get(STEADY_FROM..).filter(|window| !window.is_empty())?;
                Some(window.iter().map(|s| s.ios as f64).sum::<f64>() / window.len() as f64)
            }
            Statistic::MedianSteadyIops => {
                let window = seconds.get(STEADY_FROM..).filter(|window| !window.is_empty())?;
                let mut ios: Vec<u64> = window.iter().map(|second| second.ios).collect();
                ios.sort_unstable();
                Some(ios[ios.len() / 2] as f64)
            }
            Statistic::PeakIops => {
                let window = seconds.get(STEADY_FROM..).unwrap_or(seconds);
                window.iter().map(|second| second.ios as f64).reduce(f64::max)
            }
            Statistic::LeastMbPerS => rates.first().copied(),
            Statistic::MostMbPerS => rates.last().copied(),
            Statistic::MedianMbPerS => rates.get(rates.len() / 2).copied(),
            Statistic::MeanMs => Some(ms(measured.latency.mean())),
            Statistic::MaxMs => Some(ms(measured.latency.max() as f64)),
            Statistic::PercentileMs(percent) => {
                Some(ms(measured.latency.percentile(percent) as f64))
            }
            Statistic::MeanW => Some(measured.energy.as_ref()?.joules / elapsed),
            // The last second may not be a whole one.
            Statistic::LeastW => whole_seconds_j(measured)?.reduce(f64::min),
            Statistic::MostW => whole_seconds_j(measured)?.reduce(f64::max),
        }
    }
}

/// The joules of each whole second, which are its watts.
fn whole_seconds_j(measured: &Measured) -> Option<impl Iterator<Item = f64>> {
    let seconds = &measured.energy.as_ref()?.seconds;
    Some(seconds.iter().take(measured.elapsed.as_secs() as usize).copied())
}

/// A percentile that a record has no name for, from its histogram, as [`Histogram::percentile`] tells it.
fn percentile_ms(figure: &Figure, percent: f64) -> Option<f64> {
    let bins = &figure.latency_bins_ns;
    let total: u128 = bins.iter().map(|&(_, count)| u128::from(count)).sum();
    let millionths = (percent.clamp(0.0, 100.0) * 1e4).round() as u128;
    let rank = (millionths * total).div_ceil(1_000_000).max(1);
    let mut below = 0;
    let (low, _) = bins.iter().find(|&&(_, count)| {
        below += u128::from(count);
        below >= rank
    })?;
    let high = Histogram::bucket_lows().find(|next| next > low).map(|next| (next - 1) as f64 / 1e6);
    Some(high.unwrap_or(f64::INFINITY).min(figure.latency_us.max / 1e3))
}

impl Statistic {
    /// Its value of a figure of a record; `None` where the record does not have it.
    pub(crate) fn of(self, record: &Record, name: &str) -> Option<f64> {
        let figure: &Figure = record.figures.get(name).filter(|figure| figure.complete)?;
        let empty = Series::default();
        let series = record.series.get(name).unwrap_or(&empty);
        let late = series.iops.get(STEADY_FROM..).filter(|late| !late.is_empty());
        let mut rates = series.mb_per_s.clone();
        rates.sort_by(f64::total_cmp);
        let whole = series.energy_j.get(..figure.duration_s as usize);
        let watts = || whole.into_iter().flatten().copied();
        let latency = &figure.latency_us;
        match self {
            Statistic::MbPerS => Some(figure.mb_per_s),
            Statistic::MibPerS => Some(figure.mb_per_s * 1e6 / f64::from(1 << 20)),
            Statistic::Iops => Some(figure.iops),
            Statistic::SteadyIops => {
                let late = late?;
                Some(late.iter().sum::<u64>() as f64 / late.len() as f64)
            }
            Statistic::MedianSteadyIops => {
                let mut late = late?.to_vec();
                late.sort_unstable();
                Some(late[late.len() / 2] as f64)
            }
            Statistic::PeakIops => {
                let window = late.unwrap_or(&series.iops);
                window.iter().map(|&ios| ios as f64).reduce(f64::max)
            }
            Statistic::LeastMbPerS => rates.first().copied(),
            Statistic::MostMbPerS => rates.last().copied(),
            Statistic::MedianMbPerS => rates.get(rates.len() / 2).copied(),
            Statistic::MeanMs => Some(latency.mean / 1e3),
            Statistic::MaxMs => Some(latency.max / 1e3),
            Statistic::PercentileMs(percent) => {
                let known = [
                    (50.0, latency.p50),
                    (90.0, latency.p90),
                    (99.0, latency.p99),
                    (99.9, latency.p999),
                    (99.99, latency.p9999),
                ];
                let known = known.iter().find(|(of, _)| *of == percent).map(|(_, us)| us / 1e3);
                known.or_else(|| percentile_ms(figure, percent))
            }
            Statistic::MeanW => figure.mean_power_w,
            Statistic::LeastW => watts().reduce(f64::min),
            Statistic::MostW => watts().reduce(f64::max),
        }
    }
}
