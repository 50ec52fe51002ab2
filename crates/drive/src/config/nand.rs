//! The flash: how much of it there is, in what shape, and how long it takes.

use serde::{Deserialize, Serialize};

use super::{ConfigError, within};

/// The flash: its shape and its times.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NandSection {
    /// Buses between controller and dies.
    pub channels: u32,
    /// Dies in all, spread evenly over the channels.
    pub dies: u32,
    /// Planes a die, programmed, read and erased together.
    pub planes: u32,
    /// Bytes of data a page; a read of less costs the page.
    pub page_bytes: u32,
    /// Pages a block.
    pub pages_per_block: u32,
    /// Blocks a plane that hold data.
    pub blocks_per_plane: u32,
    /// Microseconds from array to page register (tR), mean over the pages of a block.
    pub read_us: f64,
    /// Microseconds to program a page, mean over the pages of a block (tPROG).
    pub program_us: f64,
    /// Microseconds to erase a block (tBERS).
    pub erase_us: f64,
    /// 10^6 bytes a second over one channel.
    pub bus_mb_per_s: f64,
    /// Whether a row is read while the one before is on its way out of a second register (cache
    /// reads); false when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_reads: Option<bool>,
    /// Whether a row's data comes in while the one before is programmed (cache programs); false when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_programs: Option<bool>,
    /// Time from array to page register of the rest of a row over that of the page that a read asks for first:
    /// flash that reads a part of a row by itself, and all others after it, if any of them is asked for; 0 when absent,
    /// where one such time brings the whole row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest_read_ratio: Option<f64>,
    /// Whether what was never written, or trimmed, is read from where it would lie had the drive been
    /// written in order, as a controller does that does not ask its map first; false when absent: such
    /// reads touch no NAND. Not with `[compression]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_unwritten: Option<bool>,
}

impl Default for NandSection {
    /// 1 GiB: eight dies, each on a channel of its own, of 256 blocks with 128 pages of 4 KiB. Round times.
    fn default() -> NandSection {
        NandSection {
            channels: 8,
            dies: 8,
            planes: 1,
            page_bytes: 4096,
            pages_per_block: 128,
            blocks_per_plane: 256,
            read_us: 50.0,
            program_us: 500.0,
            erase_us: 2000.0,
            bus_mb_per_s: 400.0,
            cache_reads: None,
            cache_programs: None,
            rest_read_ratio: None,
            reads_unwritten: None,
        }
    }
}

impl NandSection {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        within("nand.channels", self.channels, 1..=256)?;
        within("nand.dies", self.dies, 1..=4096)?;
        within("nand.planes", self.planes, 1..=16)?;
        within("nand.page_bytes", self.page_bytes, 4096..=65_536)?;
        if !self.page_bytes.is_multiple_of(4096) {
            let value = self.page_bytes;
            return Err(ConfigError::new(
                "nand.page_bytes",
                value,
                "it must be a multiple of 4096",
            ));
        }
        within("nand.pages_per_block", self.pages_per_block, 1..=65_536)?;
        within("nand.blocks_per_plane", self.blocks_per_plane, 8..=1 << 20)?;
        within("nand.read_us", self.read_us, 0.0..=1e6)?;
        within("nand.rest_read_ratio", self.rest_read_ratio.unwrap_or(0.0), 0.0..=10.0)?;
        within("nand.program_us", self.program_us, 0.0..=1e6)?;
        within("nand.erase_us", self.erase_us, 0.0..=1e7)?;
        within("nand.bus_mb_per_s", self.bus_mb_per_s, 1.0..=1e5)
    }
}
