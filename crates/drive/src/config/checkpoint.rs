//! When the firmware stops to save its map.

use serde::{Deserialize, Serialize};

use super::{ConfigError, within};

/// Saving what changed of the map.
///
/// A map in memory is lost with the power, so firmware writes what changed of it to the NAND now and
/// then, and takes no command meanwhile. A drive with much memory does so seldom and for long, one
/// without any often and for no longer than a page takes. Absent: the map is saved in no time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckpointSection {
    /// Write commands from one to the next, 1 to 2^30; with `by_data` as many times 4 KiB.
    pub every_writes: u32,
    /// Whether 4 KiB that are written count, instead of write commands: so much of the map changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_data: Option<bool>,
    /// Microseconds for which the controller takes no command, 0 to 10^7.
    pub pause_us: f64,
}

impl Default for CheckpointSection {
    /// A millisecond every thousand writes.
    fn default() -> CheckpointSection {
        CheckpointSection { every_writes: 1000, by_data: None, pause_us: 1000.0 }
    }
}

impl CheckpointSection {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        within("checkpoint.every_writes", self.every_writes, 1..=1 << 30)?;
        within("checkpoint.pause_us", self.pause_us, 0.0..=1e7)
    }
}
