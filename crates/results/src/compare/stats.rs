//! How far a few repeats are to be trusted: Student's t on the logarithms, since rates and latencies
//! vary in proportion, and a ratio of two is then a difference.

use std::f64::consts::PI;

/// How sure the intervals are.
pub const CONFIDENCE: f64 = 0.95;
/// What is within this share of each other makes no difference to anybody, however sure it is.
pub const NO_MATTER: f64 = 0.10;

/// Repeats of one measurement.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Sample {
    /// How many.
    pub(super) count: usize,
    /// Geometric mean.
    pub(super) mean: f64,
    /// Variance of the logarithms, around their mean; 0 of a single one, of which it is not known.
    log_variance: f64,
}

/// From where to where something lies, with [`CONFIDENCE`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Interval {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Sample {
    /// Of these values; `None` without one, or if one is not a number above zero.
    pub(super) fn of(values: &[f64]) -> Option<Sample> {
        let is_positive = |value: &f64| value.is_finite() && *value > 0.0;
        if values.is_empty() || !values.iter().all(is_positive) {
            return None;
        }
        let count = values.len();
        let log_mean = values.iter().map(|value| value.ln()).sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|value| (value.ln() - log_mean).powi(2)).sum();
        let log_variance = if count > 1 { squares / (count - 1) as f64 } else { 0.0 };
        // One value is itself, to the bit.
        let mean = if count == 1 { values[0] } else { log_mean.exp() };
        Some(Sample { count, mean, log_variance })
    }

    /// Where the mean lies; not known of a single value.
    pub(super) fn interval(&self) -> Option<Interval> {
        let error = (self.log_variance / self.count as f64).sqrt();
        (self.count > 1).then(|| around(self.mean, error, (self.count - 1) as f64))
    }

    /// Where the ratio of this mean to another lies; not known if both are single values. A single
    /// value is taken to vary as the other's repeats do.
    pub(super) fn ratio_interval(&self, to: &Sample) -> Option<Interval> {
        let (left, right) = (self.count as f64, to.count as f64);
        let ratio = self.mean / to.mean;
        match (self.count > 1, to.count > 1) {
            (false, false) => None,
            (true, true) => {
                // Welch 1947: the variances need not be the same.
                let (a, b) = (self.log_variance / left, to.log_variance / right);
                let freedom = match a + b > 0.0 {
                    true => (a + b).powi(2) / (a * a / (left - 1.0) + b * b / (right - 1.0)),
                    false => left + right - 2.0,
                };
                Some(around(ratio, (a + b).sqrt(), freedom))
            }
            _ => {
                let known = if self.count > 1 { self } else { to };
                let error = (known.log_variance * (1.0 / left + 1.0 / right)).sqrt();
                Some(around(ratio, error, (known.count - 1) as f64))
            }
        }
    }
}

fn around(middle: f64, log_error: f64, freedom: f64) -> Interval {
    let reach = (quantile(freedom) * log_error).exp();
    Interval { low: middle / reach, high: middle * reach }
}

/// The standard errors to each side that a normal distribution has [`CONFIDENCE`] between: what Student's t has
/// with no end of freedom, and never less.
const NORMAL: f64 = 1.959_963_984_540_054;
/// Freedom beyond which Student's t is taken to be normal: they differ by 2 parts in 10^6 there.
const MOST_FREEDOM: f64 = 1e6;
/// Intervals of Simpson's rule; it errs by less than 10^-9 with these, and an odd number of it would be wrong.
const INTERVALS: u32 = 500;

/// How many standard errors to each side have [`CONFIDENCE`] between them, for degrees of freedom from 1.
///
/// Newton's method: the share between -t and t is concave in t, so that steps from below never pass the root.
fn quantile(freedom: f64) -> f64 {
    // The widest interval where the freedom is not a number.
    let freedom = if freedom.is_nan() { 1.0 } else { freedom.clamp(1.0, MOST_FREEDOM) };
    let gammas = libm::lgamma((freedom + 1.0) / 2.0) - libm::lgamma(freedom / 2.0);
    // Of the density at zero, over the square root of the freedom.
    let density = gammas.exp() / PI.sqrt();
    let mut reach = NORMAL;
    for _ in 0..64 {
        let angle = (reach / freedom.sqrt()).atan();
        let missing = CONFIDENCE - 2.0 * density * powers_of_cosine(freedom - 1.0, angle);
        let slope = 2.0 * density / freedom.sqrt() * angle.cos().powf(freedom + 1.0);
        let step = missing / slope;
        reach += step;
        if step.abs() < 1e-12 * reach {
            break;
        }
    }
    reach
}

/// The integral of a power of the cosine from 0 to an angle below a quarter turn, by Simpson's rule. Student's density
/// is one in the angle whose tangent is t over the square root of the freedom.
fn powers_of_cosine(power: f64, angle: f64) -> f64 {
    let width = angle / f64::from(INTERVALS);
    let weighted = (0..=INTERVALS).map(|place| {
        let weight = match place {
            0 | INTERVALS => 1.0,
            odd if odd % 2 == 1 => 4.0,
            _ => 2.0,
        };
        weight * (width * f64::from(place)).cos().powf(power)
    });
    weighted.sum::<f64>() * width / 3.0
}

/// Whether a ratio makes a difference: more than a factor of 1 + [`NO_MATTER`] either way, and not by chance.
pub(super) fn matters(ratio: f64, interval: Option<Interval>) -> bool {
    let most = 1.0 + NO_MATTER;
    let is_small = (1.0 / most..=most).contains(&ratio);
    let may_be_none = interval.is_some_and(|it| (it.low..=it.high).contains(&1.0));
    !is_small && !may_be_none
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // Student's t, two-sided 95 %: any book of statistics.
        for (freedom, known) in
            [(1.0, 12.706), (2.0, 4.303), (4.0, 2.776), (9.0, 2.262), (30.0, 2.042), (1e6, 1.960)]
        {
            let found = quantile(freedom);
            assert!((found - known).abs() < 6e-4, "{freedom}: {found}, not {known}");
        }
    }

    #[test]
    fn quantiles_are_those_of_the_closed_forms() {
        // With one degree of freedom Student's t is Cauchy's; with two and with four its distribution has a root.
        let one = (CONFIDENCE * PI / 2.0).tan();
        let apart = 1.0 - CONFIDENCE * CONFIDENCE;
        let two = CONFIDENCE * (2.0 / apart).sqrt();
        let four = 2.0 * ((apart.sqrt().acos() / 3.0).cos() / apart.sqrt() - 1.0).sqrt();
        for (freedom, known) in [(1.0, one), (2.0, two), (4.0, four)] {
            let found = quantile(freedom);
            assert!((found / known - 1.0).abs() < 1e-9, "{freedom}: {found}, not {known}");
        }
    }

    #[test]
    fn freedom_beyond_what_is_known_has_a_quantile_too() {
        assert_eq!(quantile(0.3), quantile(1.0));
        assert_eq!(quantile(f64::NAN), quantile(1.0));
        assert_eq!(quantile(f64::INFINITY), quantile(MOST_FREEDOM));
        assert!((quantile(f64::INFINITY) - NORMAL).abs() < 1e-5);
        let mut before = f64::INFINITY;
        for freedom in (0..60).map(|step| 1.25f64.powi(step)) {
            let found = quantile(freedom);
            assert!(found < before && found > NORMAL, "{freedom}: {found} after {before}");
            before = found;
        }
    }

    #[test]
    fn an_interval_holds_the_truth_as_often_as_it_says() {
        use rand_xoshiro::Xoshiro256PlusPlus;
        use rand_xoshiro::rand_core::{Rng, SeedableRng};
        let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
        let mut uniform = || ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        let mut value = |middle: f64| {
            let normal = (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
            middle * (0.08 * normal).exp()
        };
        let mut draw = |count: usize, middle: f64| {
            let values: Vec<f64> = (0..count).map(|_| value(middle)).collect();
            Sample::of(&values).expect("they are positive")
        };
        for (left, right) in [(5, 5), (3, 8), (1, 6), (6, 1)] {
            let trials = 4000;
            let mut held = 0;
            for _ in 0..trials {
                let ratio = draw(left, 130.0).ratio_interval(&draw(right, 100.0));
                let it = ratio.expect("one of them has repeats");
                held += usize::from((it.low..=it.high).contains(&1.3));
            }
            let share = held as f64 / f64::from(trials);
            // Three standard errors of a share of 4000 are 1 %; Welch's is an approximation.
            assert!((share - CONFIDENCE).abs() < 0.02, "{left} against {right}: {share}");
        }
    }

    #[test]
    fn what_is_close_or_unsure_does_not_matter() {
        assert!(!matters(1.0, None) && !matters(1.099, None) && !matters(0.92, None));
        assert!(matters(1.2, None) && matters(0.8, None));
        let interval = |low, high| Some(Interval { low, high });
        assert!(!matters(1.5, interval(0.9, 2.5)));
        assert!(matters(1.5, interval(1.2, 1.9)));
        assert!(!matters(1.05, interval(1.04, 1.06)), "sure, and of no use to anybody");
        let same = Sample::of(&[2.0, 2.0, 2.0]).expect("positive");
        let it = same.interval().expect("three");
        assert!((it.low - 2.0).abs() < 1e-12 && (it.high - 2.0).abs() < 1e-12);
        assert!(Sample::of(&[]).is_none() && Sample::of(&[0.0]).is_none());
        assert!(Sample::of(&[f64::NAN]).is_none());
    }
}
