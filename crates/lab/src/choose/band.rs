//! How far a simulated time may be from the real drive's: a factor, from the errors of the published
//! figures.
//!
//! The factor of an error is simulated over published or its inverse, whichever is above 1, so that too
//! fast and too slow count alike. A drive's factor for one kind of test is the 90th percentile over its
//! family's figures of that kind that nothing was fitted to, if there are at least [`FEWEST`] of them.
//! Otherwise it is that of the whole catalogue, or the largest of the family's own, if that is more. A
//! work of several kinds has the mean of their factors, by the time each kind took.

use crate::validate::{ErrorTable, FigureError, TestKind, quantile};

/// Figures below which a percentile says nothing.
const FEWEST: usize = 5;
/// Share of the errors that lie within a band.
const SHARE: f64 = 0.9;

/// What errors a band is from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Those of the drive's family.
    Family,
    /// Those of the whole catalogue.
    Catalogue,
    /// Some kinds of the work have the family's, others the catalogue's.
    Both,
}

impl Standing {
    /// The word in the document.
    pub fn name(self) -> &'static str {
        match self {
            Standing::Family => "family",
            Standing::Catalogue => "catalogue",
            Standing::Both => "family and catalogue",
        }
    }
}

/// Between which factors of the simulated time the real one is expected.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Band {
    /// At least 1: the real time is within simulated / factor to simulated x factor.
    pub factor: f64,
    /// What it is from.
    pub standing: Standing,
}

impl Band {
    /// The ends of the band around a time.
    pub fn around(self, time: f64) -> [f64; 2] {
        [time / self.factor, time * self.factor]
    }
}

/// The time that each kind of test took in a work, in any unit; the kinds of [`TestKind::RATES`] only.
pub(super) type Shares = [f64; 4];

/// The band of a drive of this family for a work of these shares.
pub(super) fn of_time(table: &ErrorTable, family: Option<&str>, shares: &Shares) -> Band {
    let whole: f64 = shares.iter().sum();
    // A work of TRIMs and flushes alone is like none of them: it has as much of each.
    let even = [1.0; 4];
    let (shares, whole) = if whole > 0.0 { (shares, whole) } else { (&even, 4.0) };
    let (mut factor, mut from_family, mut from_catalogue) = (0.0, false, false);
    for (kind, share) in TestKind::RATES.into_iter().zip(shares).filter(|(_, share)| **share > 0.0)
    {
        let band = of_kind(table, family, kind);
        factor += band.factor * share / whole;
        match band.standing {
            Standing::Family => from_family = true,
            Standing::Catalogue | Standing::Both => from_catalogue = true,
        }
    }
    let standing = match (from_family, from_catalogue) {
        (true, true) => Standing::Both,
        (true, false) => Standing::Family,
        (false, _) => Standing::Catalogue,
    };
    // The mean of factors of 1 may be less than 1 by the last digit.
    Band { factor: f64::max(factor, 1.0), standing }
}

/// The band of a drive of this family for one kind of test.
pub(super) fn of_kind(table: &ErrorTable, family: Option<&str>, kind: TestKind) -> Band {
    let of_kind = || table.figures.iter().filter(|figure| figure.kind == kind);
    let predicted = || of_kind().filter(|figure| !figure.fitted);
    let mut own = factors(predicted().filter(|figure| Some(figure.family.as_str()) == family));
    if own.len() >= FEWEST {
        let factor = percentile(&mut own).unwrap_or(1.0);
        return Band { factor, standing: Standing::Family };
    }
    let mut all = factors(predicted());
    if all.len() < FEWEST {
        // Fitted figures say less, and more than nothing.
        all = factors(of_kind());
    }
    let worst = own.into_iter().fold(1.0, f64::max);
    let factor = percentile(&mut all).unwrap_or(1.0);
    match worst > factor {
        true => Band { factor: worst, standing: Standing::Family },
        false => Band { factor, standing: Standing::Catalogue },
    }
}

fn factors<'a>(figures: impl Iterator<Item = &'a FigureError>) -> Vec<f64> {
    let factor = |figure: &FigureError| {
        let ratio = 1.0 + figure.error;
        ratio.max(1.0 / ratio)
    };
    figures.map(factor).filter(|factor| factor.is_finite() && *factor >= 1.0).collect()
}

fn percentile(factors: &mut [f64]) -> Option<f64> {
    factors.sort_by(f64::total_cmp);
    quantile(factors, SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(family: &str, kind: TestKind, fitted: bool, error: f64) -> FigureError {
        FigureError { id: String::new(), family: family.into(), kind, fitted, error }
    }

    fn table(figures: Vec<FigureError>) -> ErrorTable {
        ErrorTable { catalogue: String::new(), figures }
    }

    #[test]
    fn a_family_with_enough_figures_has_its_own_band_and_another_that_of_all() {
        use TestKind::{RandomRead, RandomWrite};
        let mut figures: Vec<FigureError> =
            [0.0, 0.01, -0.02, 0.03, 0.10].map(|e| figure("a", RandomRead, false, e)).into();
        figures.extend([0.2, 0.5, -0.6].map(|e| figure("b", RandomRead, false, e)));
        // What was fitted is not looked at where there is enough else.
        figures.push(figure("a", RandomRead, true, 9.0));
        let table = table(figures);
        let a = of_kind(&table, Some("a"), RandomRead);
        assert_eq!(a.standing, Standing::Family);
        assert!((1.03..1.10).contains(&a.factor), "{a:?}");
        let c = of_kind(&table, Some("c"), RandomRead);
        assert_eq!(c.standing, Standing::Catalogue);
        assert!((1.5..=2.0).contains(&c.factor), "{c:?}");
        // Its own worst figure, too low or too high, is not hidden behind the others.
        let b = of_kind(&table, Some("b"), RandomRead);
        assert_eq!(b.standing, Standing::Family);
        assert!((b.factor - 2.5).abs() < 1e-9, "{b:?}");
        assert_eq!(of_kind(&table, None, RandomRead), c);
        assert_eq!(of_kind(&table, Some("a"), RandomWrite).factor, 1.0);
    }

    #[test]
    fn a_work_of_two_kinds_has_the_mean_of_their_factors_by_time() {
        let error = |kind, e| (0..5).map(move |_| figure("a", kind, false, e));
        let figures = error(TestKind::RandomRead, 1.0).chain(error(TestKind::RandomWrite, 0.0));
        let table = table(figures.collect());
        let factor = |shares| of_time(&table, Some("a"), &shares).factor;
        assert_eq!(factor([3.0, 0.0, 0.0, 0.0]), 2.0);
        assert_eq!(factor([0.0, 7.0, 0.0, 0.0]), 1.0);
        assert_eq!(factor([1.0, 3.0, 0.0, 0.0]), 1.25);
        assert_eq!(of_time(&table, Some("a"), &[0.0; 4]).standing, Standing::Both);
        assert_eq!(Band { factor: 2.0, standing: Standing::Family }.around(3.0), [1.5, 6.0]);
    }
}
