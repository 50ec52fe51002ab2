//! A number of one side, from all its repeats, and how it stands to that of the first.

use serde::Serialize;

use super::stats::{Interval, Sample, matters};

/// A number of one side, and against the first side.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Measure {
    /// The value; of repeats their geometric mean, or their median if one of them is 0.
    pub value: f64,
    /// Where that mean lies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// It over that of the first side; none on that, and where that has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Where the ratio lies, if one of the two has repeats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_interval: Option<(f64, f64)>,
    /// Whether the ratio makes a difference: more than a factor of 1.1 either way, and 1 is not within the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matters: Option<bool>,
}

impl Measure {
    /// Of the values of all repeats, against those of the first side; those are none for the first itself.
    pub(super) fn of(values: &[f64], base: &[f64]) -> Measure {
        let pair = |it: Interval| (it.low, it.high);
        let Some(own) = Sample::of(values) else {
            // A drive that answered nothing, at least once.
            let value = median(values).unwrap_or(0.0);
            let (interval, ratio, ratio_interval, matters) = (None, None, None, None);
            return Measure { value, interval, ratio, ratio_interval, matters };
        };
        let base = Sample::of(base);
        let ratio = base.map(|base| own.mean / base.mean);
        let ratio_interval = base.and_then(|base| own.ratio_interval(&base));
        Measure {
            value: own.mean,
            interval: own.interval().map(pair),
            ratio,
            ratio_interval: ratio_interval.map(pair),
            matters: ratio.map(|ratio| matters(ratio, ratio_interval)),
        }
    }
}

/// The one in the middle, or the mean of the two there; `None` of none.
fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some(f64::midpoint(sorted[last / 2], sorted[last.div_ceil(2)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_of_which_one_is_0_have_a_median_and_no_interval_in_any_order() {
        for values in [[0.0, 900.0, 950.0], [900.0, 950.0, 0.0]] {
            let measure = Measure::of(&values, &[800.0, 800.0]);
            assert_eq!((measure.value, measure.interval, measure.ratio), (900.0, None, None));
        }
        assert_eq!(Measure::of(&[0.0, 2.0], &[]).value, 1.0);
        assert_eq!(Measure::of(&[], &[]).value, 0.0);
        let of_three = Measure::of(&[850.0, 900.0, 950.0], &[800.0, 800.0]);
        assert!(of_three.interval.is_some() && of_three.ratio.is_some());
    }
}
