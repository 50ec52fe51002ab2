//! The parameters of a log-block map, the layer of drives with little memory for a map.

use serde::{Deserialize, Serialize};

use super::{ConfigError, NandSection, within};

/// A hybrid log-block map (BAST, Kim et al. 2002; FAST, Lee et al. 2007; associativity as in KAST,
/// Cho et al. 2009) in place of the page map. Absent, the drive maps by page.
///
/// The user's space is cut into *logical blocks*. Each has at most one data block, in which every
/// unit has its fixed place; what the host writes goes to log blocks, which take units in any
/// order, and is merged into data blocks when log blocks run out. `[gc]` does nothing then.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogBlocksSection {
    /// Log blocks in all, each `stripe_dies` blocks of NAND, 1 to what the data blocks and one
    /// block to merge into leave.
    pub count: u32,
    /// Logical blocks whose units may share a log block: 1 is a log block for one data block
    /// (BAST), as many as a block has units is full associativity (FAST). 1 to 2^32 - 1.
    pub associativity: u32,
    /// Dies over which a block is striped, row by row; dies must be a multiple of it.
    pub stripe_dies: u32,
    /// Which log block is merged when none is left.
    pub replacement: LogReplacement,
    /// Whether a log block that holds a logical block's units in order from the first on is
    /// recognised: whole, it becomes the data block (switch merge); else the rest is copied
    /// behind it (partial merge). If not, every merge copies everything.
    pub sequential: bool,
}

impl Default for LogBlocksSection {
    /// Eight log blocks, each of one data block and recognised when it is written in order.
    fn default() -> LogBlocksSection {
        LogBlocksSection {
            count: 8,
            associativity: 1,
            stripe_dies: 1,
            replacement: LogReplacement::Oldest,
            sequential: true,
        }
    }
}

/// Which log block is merged when none is left. One that holds nothing valid any more goes before
/// all, because it costs nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogReplacement {
    /// The one taken into use longest ago.
    Oldest,
    /// The one not written for the longest.
    LeastRecentlyWritten,
}

impl LogBlocksSection {
    /// Checks the section for a NAND of `raw` bytes, units of the map of `unit` bytes and so many sectors.
    pub(super) fn check(
        &self,
        nand: &NandSection,
        raw: u64,
        unit: u32,
        sectors: u64,
    ) -> Result<(), ConfigError> {
        let stripe = self.stripe_dies;
        within("log_blocks.stripe_dies", self.stripe_dies, 1..=nand.dies)?;
        if !nand.dies.is_multiple_of(stripe) {
            let must = format!("the {} dies of nand.dies must be a multiple of it", nand.dies);
            return Err(ConfigError::new("log_blocks.stripe_dies", stripe, must));
        }
        within("log_blocks.associativity", self.associativity, 1..=u32::MAX)?;
        let blocks = u64::from(nand.dies / stripe) * u64::from(nand.blocks_per_plane);
        let block_bytes = raw / blocks;
        let unit = u64::from(unit);
        let data_blocks = (sectors * 512).next_multiple_of(unit).div_ceil(block_bytes);
        // One log block at least, and one block to merge into.
        if data_blocks + 2 > blocks {
            let most = blocks.saturating_sub(2) * block_bytes / 512;
            return Err(ConfigError::new(
                "capacity.sectors",
                sectors,
                format_args!(
                    "it must be at most {most}, which leaves two of the {blocks} blocks of {} units \
                     for a log block and to merge into",
                    block_bytes / unit,
                ),
            ));
        }
        // Fewer than 2^32, as units are.
        let most = (blocks - data_blocks - 1) as u32;
        within("log_blocks.count", self.count, 1..=most)
    }
}
