//! The units of a span that were covered, and the next one that was not.

/// A bit a unit, and above each 64 words of bits one that says which of them are full, so that the
/// next free unit is found in a few steps however full the map is.
#[derive(Clone, Debug)]
pub(super) struct FreeMap {
    units: u64,
    levels: Vec<Vec<u64>>,
}

impl FreeMap {
    /// Nothing of `units`, at least one, is covered.
    pub(super) fn new(units: u64) -> FreeMap {
        let mut map = FreeMap { units, levels: Vec::new() };
        let mut bits = units;
        loop {
            let words = bits.div_ceil(64);
            map.levels.push(vec![0; words as usize]);
            if words == 1 {
                break;
            }
            bits = words;
        }
        map.clear();
        map
    }

    /// Nothing is covered any more.
    pub(super) fn clear(&mut self) {
        let mut bits = self.units;
        for level in &mut self.levels {
            level.fill(0);
            // What the last word has too many is never free.
            if let (Some(last), rest @ 1..) = (level.last_mut(), bits % 64) {
                *last = u64::MAX << rest;
            }
            bits = level.len() as u64;
        }
    }

    #[inline]
    pub(super) fn is_covered(&self, unit: u64) -> bool {
        self.levels[0][(unit / 64) as usize] >> (unit % 64) & 1 == 1
    }

    #[inline]
    pub(super) fn cover(&mut self, unit: u64) {
        let mut bit = unit;
        for level in &mut self.levels {
            let word = &mut level[(bit / 64) as usize];
            *word |= 1 << (bit % 64);
            if *word != u64::MAX {
                return;
            }
            bit /= 64;
        }
    }

    /// The first that is not covered, from `unit` on.
    pub(super) fn next_free(&self, unit: u64) -> Option<u64> {
        let mut bit = unit;
        for (above, level) in self.levels.iter().enumerate() {
            let word = level.get((bit / 64) as usize)?;
            let free = !word & (u64::MAX << (bit % 64));
            if free != 0 {
                let mut found = bit / 64 * 64 + u64::from(free.trailing_zeros());
                for level in self.levels[..above].iter().rev() {
                    let free = !level[found as usize];
                    found = found * 64 + u64::from(free.trailing_zeros());
                }
                return Some(found);
            }
            bit = bit / 64 + 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_next_free_is_the_next_free(
            units in 1u64..20_000, covered in prop::collection::vec((0u64..20_000, 1u64..3000), 0..20),
            from in 0u64..20_000,
        ) {
            let mut map = FreeMap::new(units);
            let mut plain = vec![false; units as usize];
            for (start, length) in covered {
                for unit in start.min(units)..(start + length).min(units) {
                    map.cover(unit);
                    plain[unit as usize] = true;
                }
            }
            let from = from.min(units - 1);
            let expected = (from..units).find(|&unit| !plain[unit as usize]);
            prop_assert_eq!(map.next_free(from), expected);
            prop_assert!((0..units).all(|unit| map.is_covered(unit) == plain[unit as usize]));
            map.clear();
            prop_assert_eq!(map.next_free(from), Some(from));
        }
    }
}
