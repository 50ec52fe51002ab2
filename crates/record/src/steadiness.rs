//! Steadiness of a drive from second to second.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Series;

/// How steady I/Os a second were.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Steadiness {
    /// Whole seconds that were looked at.
    pub seconds: u64,
    /// Mean of their I/Os.
    pub mean_iops: f64,
    /// Standard deviation from second to second.
    pub deviation_iops: f64,
    /// Coefficient of variation: the deviation over the mean.
    pub variation: f64,
    /// 1st percentile: one second in a hundred had as few or fewer.
    pub p1_iops: f64,
    /// Share of the seconds with less than half of the mean, 0 to 1.
    pub share_below_half: f64,
}

impl Steadiness {
    /// Of the I/Os of each second. `None` of less than two seconds, or where nothing was done at all.
    pub fn of(iops: &[f64]) -> Option<Steadiness> {
        let seconds = iops.len() as f64;
        let mean = iops.iter().sum::<f64>() / seconds;
        if iops.len() < 2 || mean <= 0.0 {
            return None;
        }
        let squares: f64 = iops.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (squares / (seconds - 1.0)).sqrt();
        let mut sorted = iops.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        // The nearest rank, as for latencies.
        let rank = (seconds / 100.0).ceil().max(1.0) as usize;
        let below = iops.iter().filter(|&&value| value < mean / 2.0).count();
        Some(Steadiness {
            seconds: iops.len() as u64,
            mean_iops: mean,
            deviation_iops: deviation,
            variation: deviation / mean,
            p1_iops: sorted[rank - 1],
            share_below_half: below as f64 / seconds,
        })
    }
}

impl Series {
    /// The I/Os of each second as numbers to reckon with.
    pub fn iops_of_seconds(&self) -> Vec<f64> {
        self.iops.iter().map(|&iops| iops as f64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steadiness_of_numbers_that_can_be_worked_out() {
        // 98 seconds of 100, one of 200 and one of none: mean 100, squares 20,000 over 99.
        let mut iops = vec![100.0; 98];
        iops.extend([200.0, 0.0]);
        let found = Steadiness::of(&iops).expect("there is something");
        assert_eq!((found.seconds, found.mean_iops, found.p1_iops), (100, 100.0, 0.0));
        assert!((found.deviation_iops - (20_000.0_f64 / 99.0).sqrt()).abs() < 1e-9);
        assert!((found.variation - found.deviation_iops / 100.0).abs() < 1e-12);
        assert!((found.share_below_half - 0.01).abs() < 1e-12);
        assert_eq!((Steadiness::of(&[5.0]), Steadiness::of(&[0.0; 9])), (None, None));
    }
}
