//! Which drives there are to choose from, by their capacity.

use fourcorners_words::{bytes_of, size};

use super::Candidate;

/// Drives of a nominal capacity may have this share more or less than it: `240GB` is 240,057,409,536
/// bytes, and `1TB` 960 GB to those who sell it.
const NOMINAL: f64 = 0.05;

/// A range of capacities, bytes, both ends in it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Capacity {
    low: f64,
    high: f64,
}

/// Why a text names no range of capacities; each begins with the text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CapacityError {
    /// It is none.
    #[error("{0}: give a range such as 200-300GB, 500GB- or 1TB")]
    NotARange(String),
    /// It ends before it begins.
    #[error("{0}: the range ends before it begins")]
    Backwards(String),
    /// No drive is in it.
    #[error("{text}: no drive has that; they have {} to {}", size(*.least), size(*.most))]
    Nobody {
        /// As it was given.
        text: String,
        /// Bytes of the smallest drive.
        least: u64,
        /// Bytes of the largest drive.
        most: u64,
    },
}

impl Capacity {
    /// `200-300GB`, `200GB-1TB`, `500GB-`, `-256GB`, or `1TB` and what is sold as that.
    ///
    /// # Errors
    /// [`CapacityError`], with what to give instead.
    pub fn parse(text: &str) -> Result<Capacity, CapacityError> {
        let wrong = || CapacityError::NotARange(text.into());
        let bytes = |text: &str| bytes_of(text.trim()).map(|bytes| bytes as f64).ok_or_else(wrong);
        let capacity = match text.split_once('-') {
            None => {
                let nominal = bytes(text)?;
                Capacity { low: nominal * (1.0 - NOMINAL), high: nominal * (1.0 + NOMINAL) }
            }
            Some((low, high)) => {
                let (low, high) = (low.trim(), high.trim());
                if low.is_empty() && high.is_empty() {
                    return Err(wrong());
                }
                // In 200-300GB the unit of the end is that of the beginning, too.
                let unit = high.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
                let bare = low.chars().all(|c: char| c.is_ascii_digit() || c == '.');
                let low = match (low.is_empty(), bare) {
                    (true, _) => 0.0,
                    (false, true) => bytes(&format!("{low}{unit}"))?,
                    (false, false) => bytes(low)?,
                };
                let high = if high.is_empty() { f64::INFINITY } else { bytes(high)? };
                if high < low {
                    return Err(CapacityError::Backwards(text.into()));
                }
                // A drive that is sold as the end of a range has some bytes more.
                Capacity { low, high: high * 1.01 }
            }
        };
        Ok(capacity)
    }

    /// The range that a text names, in which some of the drives are.
    ///
    /// # Errors
    /// [`CapacityError`].
    pub fn of_some(text: &str, drives: &[Candidate]) -> Result<Capacity, CapacityError> {
        let capacity = Capacity::parse(text)?;
        let bytes = drives.iter().map(Candidate::capacity_bytes);
        match bytes.clone().any(|bytes| capacity.has(bytes)) {
            true => Ok(capacity),
            false => Err(CapacityError::Nobody {
                text: text.into(),
                least: bytes.clone().min().unwrap_or(0),
                most: bytes.max().unwrap_or(0),
            }),
        }
    }

    /// Leaves the drives that are in it. What was `named` stays, whatever its capacity.
    pub fn choose_from(self, drives: &mut Vec<Candidate>, named: &[String]) {
        drives.retain(|it| {
            named.iter().any(|name| name == it.name()) || self.has(it.capacity_bytes())
        });
    }

    fn has(self, bytes: u64) -> bool {
        (self.low..=self.high).contains(&(bytes as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_people_mean_them() {
        let has =
            |text: &str, gb: f64| Capacity::parse(text).expect(text).has((gb * 1e9).round() as u64);
        for (text, inside, outside) in [
            ("200-300GB", &[200.0, 240.1, 300.1][..], &[199.9, 320.1][..]),
            ("200GB-1TB", &[250.0, 1000.2], &[160.0, 2000.0]),
            ("0.5-1TB", &[500.1, 1000.2], &[480.0]),
            ("500-500GB", &[500.1], &[480.0, 512.1]),
            ("500GB-", &[500.1, 2000.0], &[480.0]),
            ("-128GB", &[64.0, 128.04], &[160.0]),
            ("1TB", &[960.2, 1000.2], &[800.0, 2000.0]),
            ("256G", &[256.1, 250.1], &[200.0, 300.0]),
        ] {
            inside.iter().for_each(|&gb| assert!(has(text, gb), "{text}: {gb}"));
            outside.iter().for_each(|&gb| assert!(!has(text, gb), "{text}: {gb}"));
        }
        for text in
            ["", "-", "300-200GB", "300-298GB", "1TB-500GB", "a-b", "200-300XB", "1-2-3GB", "NaN"]
        {
            assert!(Capacity::parse(text).is_err(), "{text}");
        }
    }
}
