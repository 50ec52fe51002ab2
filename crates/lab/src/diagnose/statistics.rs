//! The few statistics that detectors share.

/// Sorts numbers none of which is NaN.
pub(super) fn sorted(mut all: Vec<f64>) -> Vec<f64> {
    all.sort_by(f64::total_cmp);
    all
}

/// The value below which a share of them lies; of none NaN.
pub(super) fn quantile(all: &[f64], share: f64) -> f64 {
    let all = sorted(all.to_vec());
    match all.len() {
        0 => f64::NAN,
        count => all[(((count - 1) as f64 * share).round() as usize).min(count - 1)],
    }
}

/// The middle one.
pub(super) fn median(all: &[f64]) -> f64 {
    quantile(all, 0.5)
}

/// The median distance from the median, as a deviation: 1.4826 times it.
pub(super) fn deviation(all: &[f64]) -> f64 {
    let middle = median(all);
    let away: Vec<f64> = all.iter().map(|it| (it - middle).abs()).collect();
    1.4826 * median(&away)
}

/// The mean and its standard error, of none of them more than `most`: a late answer is the host's more often than the
/// drive's.
pub(super) fn capped_mean(all: &[f64], most: f64) -> (f64, f64) {
    let count = all.len() as f64;
    let mean = all.iter().map(|it| it.min(most)).sum::<f64>() / count;
    let squares = all.iter().map(|it| (it.min(most) - mean).powi(2)).sum::<f64>();
    (mean, (squares / (count - 1.0).max(1.0) / count).sqrt())
}

/// The mean; of none NaN.
pub(super) fn mean(all: &[f64]) -> f64 {
    all.iter().sum::<f64>() / all.len() as f64
}

/// The standard deviation, a share of the mean.
pub(super) fn variation(all: &[f64]) -> f64 {
    let middle = mean(all);
    let squares = all.iter().map(|it| (it / middle - 1.0).powi(2)).sum::<f64>();
    (squares / (all.len() as f64 - 1.0).max(1.0)).sqrt()
}

/// Where a series goes from one level to another.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Change {
    /// The first sample of the second level.
    pub(super) at: usize,
    /// The means before and after.
    pub(super) levels: [f64; 2],
    /// By how much two levels are better than one: the difference of the Bayesian information criterion.
    pub(super) bic: f64,
}

/// The best place to split a series into two levels by least squares; of fewer than eight samples none.
pub(super) fn change(all: &[f64]) -> Option<Change> {
    let count = all.len();
    if count < 8 {
        return None;
    }
    let sum: f64 = all.iter().sum();
    let squares = all.iter().map(|it| it * it).sum::<f64>();
    let whole = squares - sum * sum / count as f64;
    let (mut before, mut best) = (0.0, (f64::INFINITY, 0));
    for at in 2..count - 1 {
        before += all[at - 1] + if at == 2 { all[0] } else { 0.0 };
        let after = sum - before;
        let explained = before * before / at as f64 + after * after / (count - at) as f64;
        let rest = squares - explained;
        if rest < best.0 {
            best = (rest, at);
        }
    }
    let (rest, at) = best;
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    // Of levels without any noise, a millionth of them counts as noise.
    let least = (1e-6 * sum / count as f64).powi(2) * count as f64;
    let n = count as f64;
    let bic = n * (whole.max(least) / rest.max(least)).ln() - 2.0 * n.ln();
    Some(Change { at, levels: [mean(&all[..at]), mean(&all[at..])], bic })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_found_where_it_is_and_not_where_none_is() {
        let noise = |index: usize| ((index * 7919) % 101) as f64 / 101.0;
        let one: Vec<f64> = (0..200).map(|index| 10.0 + noise(index)).collect();
        let two: Vec<f64> =
            (0..200).map(|index| 10.0 + noise(index) + f64::from(u8::from(index >= 140))).collect();
        assert!(change(&one).expect("enough").bic < 10.0);
        let found = change(&two).expect("enough");
        assert_eq!(found.at, 140);
        assert!(found.bic > 10.0 && (found.levels[1] - found.levels[0] - 1.0).abs() < 0.1);
        assert_eq!(change(&one[..7]), None);
    }

    #[test]
    fn a_few_late_answers_move_neither_median_nor_deviation() {
        let mut all: Vec<f64> = (0..100).map(f64::from).collect();
        let before = (median(&all), deviation(&all));
        all[99] = 1e9;
        assert_eq!((median(&all), deviation(&all)), before);
        assert!(capped_mean(&all, 99.0).0 < 50.0 && capped_mean(&all, 1e9).0 > 1e6);
    }
}
