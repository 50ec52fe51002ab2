//! What a diagnosis may cost: bytes that are written, or minutes.

use fourcorners_drive::Geometry;
use fourcorners_words::{bytes_of, size};

use super::{Detector, Options};

/// A bound for what detectors cost.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Budget {
    /// That are written.
    Bytes(u64),
    /// As [`Options::minutes`] has them.
    Minutes(f64),
}

/// Why a budget allows nothing.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum BudgetError {
    /// It is none.
    #[error("{0}: give a size such as 20G, or a time such as 30m or 2h")]
    NotABudget(String),
    /// The detectors that were named cost more.
    #[error(
        "these detectors write up to {} in about {:.0} min, which is more than {allowed}",
        size(*.bytes),
        .minutes.ceil()
    )]
    TooLittle {
        /// Bytes that they write at most.
        bytes: u64,
        /// What they take.
        minutes: f64,
        /// The budget.
        allowed: Budget,
    },
    /// Not even the first detector costs so little.
    #[error(
        "no detector costs so little; the first writes {} in about {:.0} min",
        size(*.bytes),
        .minutes.ceil()
    )]
    TooLittleForAny {
        /// Bytes that it writes at most.
        bytes: u64,
        /// What it takes.
        minutes: f64,
    },
}

impl std::fmt::Display for Budget {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Budget::Bytes(most) => out.write_str(&size(*most)),
            Budget::Minutes(most) => write!(out, "{most:.0} min"),
        }
    }
}

impl Budget {
    /// Of `20G` or `30m`: a small m alone is minutes, and `M` or `MB` are megabytes.
    ///
    /// # Errors
    /// [`BudgetError::NotABudget`].
    pub fn parse(text: &str) -> Result<Budget, BudgetError> {
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
        budget.ok_or_else(|| BudgetError::NotABudget(text.into()))
    }

    /// That the detectors cost no more on a target of this geometry.
    ///
    /// # Errors
    /// [`BudgetError::TooLittle`].
    pub fn allow(self, options: &Options, geometry: Geometry) -> Result<(), BudgetError> {
        let (bytes, minutes) = (options.bytes_written(geometry), options.minutes(geometry));
        let is_enough = match self {
            Budget::Bytes(most) => bytes <= most,
            Budget::Minutes(most) => minutes <= most,
        };
        match is_enough {
            true => Ok(()),
            false => Err(BudgetError::TooLittle { bytes, minutes, allowed: self }),
        }
    }

    /// The options with all detectors that cost no more together: one after the other, in their order, unless it is one too
    /// many.
    ///
    /// # Errors
    /// [`BudgetError::TooLittleForAny`].
    pub fn spend(self, options: Options, geometry: Geometry) -> Result<Options, BudgetError> {
        let with = |detectors| Options { detectors, ..options.clone() };
        let mut chosen = Vec::new();
        for detector in Detector::ALL {
            chosen.push(detector);
            if self.allow(&with(chosen.clone()), geometry).is_err() {
                chosen.pop();
            }
        }
        let first = with(vec![Detector::ALL[0]]);
        match chosen.is_empty() {
            true => Err(BudgetError::TooLittleForAny {
                bytes: first.bytes_written(geometry),
                minutes: first.minutes(geometry),
            }),
            false => Ok(with(chosen)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_told_apart() {
        assert_eq!(Budget::parse("20G"), Ok(Budget::Bytes(20_000_000_000)));
        assert_eq!(Budget::parse("30M"), Ok(Budget::Bytes(30_000_000)));
        assert_eq!(Budget::parse("30m"), Ok(Budget::Minutes(30.0)));
        assert_eq!(Budget::parse("1.5 h"), Ok(Budget::Minutes(90.0)));
        for nonsense in ["", "m", "-1m", "0h", "NaNm", "1e400m", "much", "G"] {
            assert!(Budget::parse(nonsense).is_err(), "{nonsense}");
        }
    }

    #[test]
    fn a_budget_is_for_as_many_detectors_as_cost_no_more() {
        let geometry = Geometry { sectors: 500_000_000, logical_block_bytes: 512, queue_depth: 32 };
        let of = |budget: Budget| budget.spend(Options::default(), geometry);
        let all = of(Budget::Bytes(u64::MAX)).expect("it is enough for all");
        assert_eq!(all.detectors, Detector::ALL);
        // What is after one that costs too much may still be cheap enough.
        let some = of(Budget::Bytes(50_000_000_000)).expect("it is enough for some").detectors;
        assert!(some.contains(&Detector::Compression), "{some:?}");
        assert!(!some.contains(&Detector::SlcCache), "{some:?}");
        let none = of(Budget::Minutes(0.001)).expect_err("nothing is so short");
        assert!(none.to_string().starts_with("no detector costs so little"), "{none}");
        let little = Budget::Bytes(1_000_000_000).allow(&all, geometry).expect_err("too little");
        assert!(little.to_string().ends_with("which is more than 1.0 GB"), "{little}");
    }
}
