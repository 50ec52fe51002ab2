//! Places and tiers from times and their bands.

use super::band::Band;

/// A drive that takes up to this share longer than the first of its tier is no different to a user.
const NOTICEABLE: f64 = 0.10;

/// The place of each of these times, which are sorted: its number from 1, or that of the time before it
/// from which the model cannot tell it. The first of a place is what the others are held against: two
/// share it when each time lies within the other's band.
pub(super) fn places(times: &[(f64, Band)]) -> Vec<usize> {
    let mut places = Vec::with_capacity(times.len());
    let mut first = 0;
    for (at, &(time, band)) in times.iter().enumerate() {
        let (leader, leaders) = times[first];
        let within = time <= leaders.around(leader)[1] && leader >= band.around(time)[0];
        if !within {
            first = at;
        }
        places.push(first + 1);
    }
    places
}

/// The tier of each of these times, which are sorted.
pub(super) fn tiers(times: &[f64]) -> Vec<usize> {
    let (mut tier, mut first) = (0, f64::NEG_INFINITY);
    let tiers = times.iter().map(|&time| {
        if tier == 0 || time > first * (1.0 + NOTICEABLE) {
            (tier, first) = (tier + 1, time);
        }
        tier
    });
    tiers.collect()
}

#[cfg(test)]
mod tests {
    use super::super::band::Standing;
    use super::*;

    fn band(factor: f64) -> Band {
        Band { factor, standing: Standing::Family }
    }

    #[test]
    fn drives_within_each_others_band_share_a_place() {
        let places = |times: &[(f64, f64)]| {
            let times: Vec<(f64, Band)> =
                times.iter().map(|&(time, factor)| (time, band(factor))).collect();
            places(&times)
        };
        // 1.15 is within 20 % of 1; 1.3 is not, though it is of 1.15.
        assert_eq!(places(&[(1.0, 1.2), (1.15, 1.2), (1.3, 1.2), (9.0, 1.2)]), [1, 1, 3, 4]);
        // A sure drive is not within reach of an unsure one, nor the other way about.
        assert_eq!(places(&[(1.0, 1.05), (1.3, 2.0)]), [1, 2]);
        assert_eq!(places(&[(1.0, 2.0), (1.3, 1.05)]), [1, 2]);
        // A model without errors tells all but equal ones apart.
        assert_eq!(places(&[(1.0, 1.0), (1.0, 1.0), (1.001, 1.0)]), [1, 1, 3]);
        assert_eq!(places(&[]), [0; 0]);
    }

    #[test]
    fn a_tier_is_what_nobody_would_notice() {
        assert_eq!(tiers(&[1.0, 1.1, 1.11, 1.2, 1.3]), [1, 1, 2, 2, 3]);
        assert_eq!(tiers(&[0.0, 0.0, 1.0]), [1, 1, 2]);
    }
}
