//! How a drive's flash wears out, and what its controller does about it.

use serde::{Deserialize, Serialize};

use super::{ConfigError, within};

/// The wear of the flash. A drive without this section counts erases and never wears out,
/// and so does one with a log-block map, which cannot have it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WearSection {
    /// Program/erase cycles that a block bears, 1 to 10^7, the mean over all blocks. A block that
    /// has had its own number of cycles keeps its data, but once that is moved away the block is
    /// never used again.
    pub endurance_cycles: u32,
    /// Standard deviation of that number from block to block in percent of it, 0 to 25; 0 for
    /// blocks that are all alike. The distribution is normal, cut off at 6 standard deviations
    /// and at one cycle.
    pub endurance_sigma_percent: f64,
    /// Where the random numbers of that distribution begin, any number.
    pub seed: u64,
    /// How blocks are worn alike.
    pub levelling: Levelling,
    /// Erases by which the most worn block of a die is ahead of its least worn closed one before
    /// `static` moves the latter's data, 1 to 10^7; other ways of levelling do not use it.
    pub threshold_cycles: u32,
    /// Blocks of a die that are closed between two that `static` moves, at least, 1 to 10^6;
    /// other ways of levelling do not use it.
    pub interval_blocks: u32,
}

impl Default for WearSection {
    /// Blocks that all bear 3,000 cycles, and the least worn of the free ones is written next.
    fn default() -> WearSection {
        WearSection {
            endurance_cycles: 3000,
            endurance_sigma_percent: 0.0,
            seed: 1,
            levelling: Levelling::Dynamic,
            threshold_cycles: 20,
            interval_blocks: 10,
        }
    }
}

/// Wear levelling: which free block is written next, and whether data that is never overwritten
/// has to move.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Levelling {
    /// The block that was freed longest ago is written next: blocks in use take turns.
    None,
    /// The free block with the fewest erases is written next. Blocks of cold data stay behind.
    Dynamic,
    /// As `dynamic`, and where a die's blocks differ by more than `wear.threshold_cycles`, the data
    /// of the least worn block moves to a worn one, if it is cold: the die has closed twice as many
    /// blocks as it has since that data was written. Costs about one block moved for every
    /// `wear.threshold_cycles` closed, or for `wear.interval_blocks` if that is more.
    Static,
}

impl WearSection {
    pub(super) fn check(&self, maps_by_log_blocks: bool) -> Result<(), ConfigError> {
        if maps_by_log_blocks {
            return Err(ConfigError::new(
                "wear.endurance_cycles",
                self.endurance_cycles,
                "blocks of a log-block map do not wear out: [wear] and [log_blocks] exclude each other",
            ));
        }
        within("wear.endurance_cycles", self.endurance_cycles, 1..=10_000_000)?;
        within("wear.endurance_sigma_percent", self.endurance_sigma_percent, 0.0..=25.0)?;
        within("wear.threshold_cycles", self.threshold_cycles, 1..=10_000_000)?;
        within("wear.interval_blocks", self.interval_blocks, 1..=1_000_000)
    }
}
