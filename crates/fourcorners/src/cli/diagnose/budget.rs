//! What a diagnosis may cost: bytes that are written, or minutes.

use fourcorners_drive::Geometry;
use fourcorners_lab::diagnose::Options;

use super::super::size::bytes_of;

/// A bound for what detectors cost.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Budget {
    Bytes(u64),
    Minutes(f64),
}

impl Budget {
    /// Of `20G` or `30m`: a small m alone is minutes, and `M` or `MB` are megabytes.
    pub(super) fn of(text: &str) -> Result<Budget, String> {
        let minutes = |number: &str, each: f64| {
            let number: f64 = number.trim().parse().ok()?;
            (number > 0.0 && number.is_finite()).then_some(Budget::Minutes(number * each))
        };
        let trimmed = text.trim();
        let budget = match (trimmed.strip_suffix('m'), trimmed.strip_suffix('h')) {
            (Some(number), _) => minutes(number, 1.0),
            (_, Some(number)) => minutes(number, 60.0),
            _ => bytes_of(trimmed).map(Budget::Bytes),
        };
        budget.ok_or_else(|| {
            format!("--budget {text}: give a size such as 20G, or a time such as 30m or 2h")
        })
    }

    /// Whether the detectors cost no more on a target of this geometry.
    pub(super) fn is_enough(self, options: &Options, geometry: Geometry) -> bool {
        match self {
            Budget::Bytes(most) => options.bytes_written(geometry) <= most,
            Budget::Minutes(most) => options.minutes(geometry) <= most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_told_apart() {
        assert_eq!(Budget::of("20G"), Ok(Budget::Bytes(20_000_000_000)));
        assert_eq!(Budget::of("30M"), Ok(Budget::Bytes(30_000_000)));
        assert_eq!(Budget::of("30m"), Ok(Budget::Minutes(30.0)));
        assert_eq!(Budget::of("1.5 h"), Ok(Budget::Minutes(90.0)));
        for nonsense in ["", "m", "-1m", "0h", "NaNm", "1e400m", "much", "G"] {
            assert!(Budget::of(nonsense).is_err(), "{nonsense}");
        }
    }
}
