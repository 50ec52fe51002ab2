//! What the flash bears and how long it keeps data, as it is rated: the optional section `[flash]`. No
//! I/O depends on it; what a rating comes to under a workload is worked out from it.

use serde::{Deserialize, Serialize};

use super::{ConfigError, within};

/// Ratings of the flash. Each key that is absent is not known.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashSection {
    /// What a cell holds.
    pub cells: Cells,
    /// Program/erase cycles that a block is rated for, 1 to 10^7.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated_cycles: Option<u32>,
    /// What the maker lets a host write to the drive in its life, TB (10^12 bytes), 0.001 to 10^6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated_tb: Option<f64>,
    /// Days that data is kept without power once the rated writes are done, 0.1 to 10^5, at
    /// `retention_celsius`. The three keys of retention go together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention_days: Option<f64>,
    /// Degrees Celsius, -40 to 125.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention_celsius: Option<f64>,
    /// Activation energy of what lets data fade, electron volts, 0 to 3: Arrhenius' law with it gives
    /// other temperatures. 0 for data that fades as fast in the cold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activation_ev: Option<f64>,
}

impl Default for FlashSection {
    /// MLC of which nothing else is known.
    fn default() -> FlashSection {
        FlashSection {
            cells: Cells::Mlc,
            rated_cycles: None,
            rated_tb: None,
            retention_days: None,
            retention_celsius: None,
            activation_ev: None,
        }
    }
}

/// Bits that a cell holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cells {
    /// One.
    Slc,
    /// Two.
    Mlc,
    /// Three.
    Tlc,
    /// Four.
    Qlc,
}

impl Cells {
    /// What everybody calls them.
    pub fn name(self) -> &'static str {
        match self {
            Cells::Slc => "SLC",
            Cells::Mlc => "MLC",
            Cells::Tlc => "TLC",
            Cells::Qlc => "QLC",
        }
    }
}

impl FlashSection {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if let Some(cycles) = self.rated_cycles {
            within("flash.rated_cycles", cycles, 1..=10_000_000)?;
        }
        let keys = [
            ("flash.rated_tb", self.rated_tb, 0.001..=1e6),
            ("flash.retention_days", self.retention_days, 0.1..=1e5),
            ("flash.retention_celsius", self.retention_celsius, -40.0..=125.0),
            ("flash.activation_ev", self.activation_ev, 0.0..=3.0),
        ];
        for (key, value, range) in &keys {
            if let Some(value) = value {
                within(key, *value, range.clone())?;
            }
        }
        let retention = &keys[1..];
        let given = retention.iter().find_map(|(key, value, _)| Some((*key, value.as_ref()?)));
        let missing = retention.iter().find(|(_, value, _)| value.is_none());
        match (given, missing) {
            (Some((key, value)), Some((missing, ..))) => Err(ConfigError::new(
                key,
                value,
                format!("it says nothing without {missing}: give both, or neither"),
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retention_is_given_as_a_whole_or_not_at_all() {
        let mut flash = FlashSection::default();
        flash.check().expect("nothing has to be known");
        flash.retention_days = Some(364.0);
        flash.retention_celsius = Some(30.0);
        let refused = flash.check().expect_err("no law goes without its energy").to_string();
        assert!(refused.contains("flash.activation_ev"), "{refused}");
        flash.activation_ev = Some(1.1);
        flash.check().expect("that is all of it");
    }
}
