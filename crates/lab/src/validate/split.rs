//! The split of figures into those that profiles may be fitted to, and those kept out to check the fit.

use super::figure::Figure;

/// Chosen, before any profile was fitted by figures of this list, as the first number that leaves
/// in the fitting part the figures which the first four profiles had been fitted to already.
const SALT: &str = "72:";

/// Whether the figure is kept out of every fit: one in three, by FNV-1a of its id. The rule knows
/// nothing of the figure but its id, so nobody can choose what to be checked by.
pub fn is_kept_out(id: &str) -> bool {
    let hash = SALT.bytes().chain(id.bytes()).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    (hash >> 32).is_multiple_of(3)
}

/// Whether profiles may be fitted to the figure: an absolute number that somebody stated, in a text or in a table
/// of what was measured with which command, or that a data sheet gives, and that is not kept out. Ratios and orderings are never fitted.
pub fn may_be_fitted(figure: &Figure) -> bool {
    let absolute = !matches!(figure.metric.as_str(), "ratio" | "ordering" | "shape" | "behaviour");
    let sound = matches!(figure.confidence.as_str(), "stated" | "datasheet" | "user post, table")
        && matches!(figure.kind.as_str(), "measured" | "spec");
    absolute && sound && !is_kept_out(&figure.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::figure::built_in;
    use fourcorners_catalogue as catalogue;

    #[test]
    fn a_third_is_kept_out() {
        let figures = built_in();
        let kept = figures.iter().filter(|figure| is_kept_out(&figure.id)).count();
        let share = kept as f64 / figures.len() as f64;
        assert!((share - 1.0 / 3.0).abs() < 0.05, "{kept} of {}", figures.len());
    }

    #[test]
    fn no_profile_says_that_it_was_fitted_to_a_figure_that_is_kept_out() {
        let figures = built_in();
        for name in catalogue::names() {
            let profile = catalogue::built_in(&name, &[]).expect("it is built in");
            for value in &profile.values {
                let note = value.note.as_deref().unwrap_or_default();
                let cited = figures.iter().filter(|figure| note.contains(&figure.id));
                for figure in cited {
                    let fitted = value.standing == fourcorners_catalogue::Standing::Fitted;
                    assert!(
                        !fitted || may_be_fitted(figure) || note.contains("not fitted"),
                        "{name}: {}: {}",
                        value.key,
                        figure.id
                    );
                }
            }
        }
    }
}
