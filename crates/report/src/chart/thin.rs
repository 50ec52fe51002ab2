//! Fewer points than were measured, and fewer digits, where more could not be seen.

/// Points a line is drawn with at most. More than a screen has columns cannot be told apart.
const MOST_POINTS: usize = 4000;

/// The points of a line, and how many of those that were measured each two of them stand for; 1 where all are there.
pub(crate) type Thinned = (Vec<(f64, f64)>, usize);

/// What the points of lines with a value for each second are, in this unit, from the steps they were thinned by.
pub(crate) fn of_seconds(unit: &str, steps: impl IntoIterator<Item = usize>) -> String {
    let steps: Vec<usize> = steps.into_iter().collect();
    let most = steps.iter().copied().max().unwrap_or(1);
    match most {
        0 | 1 => format!("{unit} of each second"),
        _ if steps.iter().all(|step| *step == most) => {
            format!("{unit}; lowest and highest of every {most} s")
        }
        _ => format!("{unit}; lowest and highest of at most {most} s"),
    }
}

/// At most [`MOST_POINTS`] points: of each of equal parts the lowest and the highest, in the order
/// they come in, so that no outlier is lost. A mean would hide the very seconds a drive stalls in.
pub(crate) fn thinned(points: Vec<(f64, f64)>) -> Thinned {
    if points.len() <= MOST_POINTS {
        return (points, 1);
    }
    let step = points.len().div_ceil(MOST_POINTS / 2);
    let mut kept = Vec::with_capacity(MOST_POINTS);
    for part in points.chunks(step) {
        let by_value = |&(index, (_, _)): &(usize, &(f64, f64))| part[index].1;
        let order = |left: &(usize, &(f64, f64)), right: &(usize, &(f64, f64))| {
            by_value(left).total_cmp(&by_value(right))
        };
        let low = part.iter().enumerate().min_by(order);
        let high = part.iter().enumerate().max_by(order);
        let Some(((low, _), (high, _))) = low.zip(high) else { continue };
        kept.push(part[low.min(high)]);
        if low != high {
            kept.push(part[low.max(high)]);
        }
    }
    (kept, step)
}

/// `value` rounded to four significant digits.
pub(crate) fn four_digits(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// As many as tables and sentences say of it: seven.
pub(crate) fn seven_digits(value: f64) -> f64 {
    if !value.is_finite() {
        return value;
    }
    format!("{value:.6e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_order_and_extremes() {
        let mut points: Vec<(f64, f64)> =
            (0..100_000).map(|second| (f64::from(second), 100.0 + f64::from(second % 7))).collect();
        points[31_415].1 = 3.0;
        points[92_653].1 = 9000.0;
        let (thin, step) = thinned(points.clone());
        assert_eq!(step, 50);
        assert!(thin.len() <= MOST_POINTS && thin.len() > MOST_POINTS / 4, "{}", thin.len());
        assert!(thin.is_sorted_by(|left, right| left.0 < right.0));
        assert!(thin.contains(&points[31_415]) && thin.contains(&points[92_653]));
        points.truncate(MOST_POINTS);
        assert_eq!(thinned(points.clone()), (points, 1));
    }

    #[test]
    fn what_is_thinned_says_of_how_many_seconds() {
        let seconds = |count: u32| thinned((0..count).map(|at| (f64::from(at), 1.0)).collect()).1;
        let said = |counts: &[u32]| of_seconds("IOPS", counts.iter().map(|count| seconds(*count)));
        assert_eq!(said(&[60, 4000]), "IOPS of each second");
        // One value is lowest and highest of each part, so that fewer points are drawn than there might be.
        assert_eq!(said(&[5000]), "IOPS; lowest and highest of every 3 s");
        assert_eq!(said(&[21_600]), "IOPS; lowest and highest of every 11 s");
        assert_eq!(said(&[60, 5000]), "IOPS; lowest and highest of at most 3 s");
    }

    #[test]
    fn digits_are_cut_to_four() {
        assert_eq!(four_digits(123_456.0), 123_500.0);
        assert_eq!([1_342_283.4, 0.0].map(seven_digits), [1_342_283.0, 0.0]);
        assert!(four_digits(f64::NAN).is_nan());
    }
}
