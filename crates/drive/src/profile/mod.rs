//! A drive as data: parameters with units, each with its source.
//!
//! A profile is a TOML file in `drives/`. Every value is a [`Sourced`]: the value, where it comes
//! from and how it stands. No drive has code of its own; what makes a drive itself is in here.
//!
//! This module holds the types and the checks. Reading files, the built-in catalogue and
//! overrides are the lab's business.

mod checkpoint;
mod compression;
mod flash;
mod gc;
mod hdd;
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
mod wear;

use std::fmt::Display;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

pub use checkpoint::CheckpointSection;
pub use compression::CompressionSection;
pub use flash::{Cells, FlashSection};
pub use gc::{GcSection, Pacing, Stall, VictimPolicy};
pub use hdd::{
    HddCacheSection, HddCapacitySection, HddMechanicsSection, HddMediaSection, HddNcqSection,
    HddProfile,
};
pub use host_controller::{HostControllerProfile, PortTrim, PortsSection};
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
pub use ssd::{BufferSection, CapacitySection, ControllerSection, SsdProfile};
pub use streams::{StreamVictims, StreamsSection};
pub use trim::{TrimMode, TrimSection};
pub use wear::{Levelling, WearSection};

/// How a value of a profile stands, weakest last.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// A manufacturer's datasheet says it.
    Datasheet,
    /// A page (review, teardown, manual) says it.
    Stated,
    /// Concluded from other facts; the note says how.
    Inferred,
    /// Chosen so that the model meets published measurements; the note says which.
    Fitted,
    /// Given by whoever runs the tool.
    Set,
}

/// A value with its source.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sourced<T> {
    /// The value, in the unit its key names.
    pub value: T,
    /// How it stands.
    pub standing: Standing,
    /// A key of the profile's `[sources]`.
    pub source: String,
    /// What a reader needs to judge it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A value of a profile that makes no drive.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{key} = {value} is not possible: {must}")]
pub struct ProfileError {
    /// The key, with its section: `nand.dies`.
    pub key: String,
    /// The value as given.
    pub value: String,
    /// What it must be.
    pub must: String,
}

impl ProfileError {
    pub(crate) fn new(key: &str, value: impl Display, must: impl Display) -> ProfileError {
        ProfileError { key: key.into(), value: value.to_string(), must: must.to_string() }
    }
}

/// Checks that a value lies in its range; NaN lies in none.
pub(crate) fn within<T: PartialOrd + Display + Copy>(
    key: &str,
    value: &Sourced<T>,
    range: RangeInclusive<T>,
) -> Result<(), ProfileError> {
    if range.contains(&value.value) {
        return Ok(());
    }
    Err(ProfileError::new(
        key,
        value.value,
        format_args!("it must be {} to {}", range.start(), range.end()),
    ))
}
