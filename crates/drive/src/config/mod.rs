//! A drive as data: plain numbers, each with its unit in its name, and what makes it impossible.
//!
//! No drive has code of its own; what makes a drive itself is in here. An optional mechanism that is left
//! out (`None`) costs nothing and changes nothing. Fields are added as the model learns, so write what
//! matters and take the rest from `Default`:
//!
//! ```
//! use fourcorners_drive::config::{CapacitySection, NandSection, SsdConfig};
//!
//! let config = SsdConfig {
//!     capacity: CapacitySection { sectors: 1_000_000, ..CapacitySection::default() },
//!     nand: NandSection { dies: 4, program_us: 900.0, ..NandSection::default() },
//!     ..SsdConfig::default()
//! };
//! config.check()?;
//! # Ok::<(), fourcorners_drive::config::ConfigError>(())
//! ```
//!
//! Where numbers come from and how they stand is the business of whoever has them: the catalogue of named
//! drives keeps a source for each beside a config.

mod checkpoint;
mod compression;
mod flash;
mod gc;
mod hdd;
mod heat;
mod host_controller;
mod interface;
mod log_blocks;
mod map;
mod nand;
mod nand_cells;
mod nand_suspend;
mod pcie;
mod power;
mod slc_buffer;
mod ssd;
mod streams;
mod trim;
mod variation;
mod wear;
mod write_limit;

use std::fmt::Display;
use std::ops::RangeInclusive;

pub use checkpoint::CheckpointSection;
pub use compression::CompressionSection;
pub use flash::{Cells, FlashSection};
pub use gc::{GcSection, Pacing, Stall, VictimPolicy};
pub use hdd::{
    HddCacheSection, HddCapacitySection, HddConfig, HddMechanicsSection, HddMediaSection,
    HddNcqSection,
};
pub use heat::{HeatSection, HeatSink, HeatThrottle};
pub use host_controller::{HostControllerConfig, PortTrim, PortsSection};
pub(crate) use interface::check_gbps;
pub use interface::{HostSection, SataLinkSection};
pub use log_blocks::{LogBlocksSection, LogReplacement};
pub(crate) use map::MapLayout;
pub use map::MapSection;
pub use nand::NandSection;
pub use nand_cells::{CellKind, NandCellsSection, PageOrder};
pub use nand_suspend::NandSuspendSection;
pub use pcie::{LinkSection, PcieLinkSection};
pub use power::{HddPowerSection, PowerSection};
pub use slc_buffer::{SlcBufferSection, WhenSlcFull};
pub use ssd::{BufferSection, CapacitySection, ControllerSection, SsdConfig};
pub use streams::{StreamVictims, StreamsSection};
pub use trim::{TrimMode, TrimSection};
pub use variation::{VariationMode, VariationSection};
pub use wear::{Levelling, WearSection};
pub use write_limit::WriteLimitSection;

/// A value of a config that makes no drive.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{key} = {value} is not possible: {must}")]
pub struct ConfigError {
    /// The key, with its section: `nand.dies`.
    pub key: String,
    /// The value as given.
    pub value: String,
    /// What it must be.
    pub must: String,
}

impl ConfigError {
    pub(crate) fn new(key: &str, value: impl Display, must: impl Display) -> ConfigError {
        ConfigError { key: key.into(), value: legible(value.to_string()), must: must.to_string() }
    }
}

/// A number that is longer than any whole number that a config takes, as a person types it: 1e300, not its 301 digits.
fn legible(value: String) -> String {
    /// Digits of the largest whole number of 64 bits.
    const LONGEST: usize = 20;
    match value.parse::<f64>() {
        Ok(number) if value.len() > LONGEST && number.is_finite() => format!("{number:e}"),
        _ => value,
    }
}

/// Checks that a value lies in its range; NaN lies in none.
pub(crate) fn within<T: PartialOrd + Display + Copy>(
    key: &str,
    value: T,
    range: RangeInclusive<T>,
) -> Result<(), ConfigError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(ConfigError::new(
        key,
        value,
        format_args!("it must be {} to {}", range.start(), range.end()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_number_is_told_as_it_is_typed_and_others_as_they_are() {
        let told = |value: f64| ConfigError::new("link.gbps", value, "it must be 3").value;
        assert_eq!([1e300, 5e-324, -2.5e22].map(told), ["1e300", "5e-324", "-2.5e22"]);
        assert_eq!([0.5, 1048576.0, 1e19].map(told), ["0.5", "1048576", "10000000000000000000"]);
        assert_eq!(told(f64::NAN), "NaN");
        assert_eq!(ConfigError::new("nand.dies", u64::MAX, "less").value, u64::MAX.to_string());
    }
}
