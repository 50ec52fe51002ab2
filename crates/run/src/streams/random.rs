//! Uniform numbers from 64 random bits.

/// A uniform number below `bound`, by multiplication (Lemire 2019). Without the rejection step its
/// bias is below `bound` / 2^64, under 1e-10 for any drive.
#[inline]
pub(super) fn below(random: u64, bound: u64) -> u64 {
    ((u128::from(random) * u128::from(bound)) >> 64) as u64
}

/// A uniform number from 0 to just below 1, in steps of 2^-53.
#[inline]
pub(super) fn unit(random: u64) -> f64 {
    (random >> 11) as f64 / (1u64 << 53) as f64
}
