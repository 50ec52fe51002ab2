//! Blocks used with one bit a cell, which host data goes to first.

use serde::{Deserialize, Serialize};

use super::{CellKind, ConfigError, SsdConfig, within};

/// An SLC buffer (pseudo-SLC, Samsung's TurboWrite): blocks of the drive's MLC, TLC or QLC used with
/// one bit a cell. They hold 1 / `cell_bits` of the rows and are programmed and read faster. Host data
/// goes there first; in idle time it is folded: what is still valid is read and programmed into the main
/// blocks of its die.
///
/// At least one of `fixed_mib` and `dynamic_mib` is given; with both, the fixed part is filled first.
/// With 0 in both nothing is used so.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlcBufferSection {
    /// MiB of data that fit into blocks which are used for nothing else, 0 to 2^24, rounded up to
    /// whole blocks on every die. They are taken from `nand.blocks_per_plane`: `cell_bits` times this
    /// of the raw space. Their wear is not followed, as a cell that holds one bit bears many times the
    /// cycles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_mib: Option<u32>,
    /// MiB of data at most, 0 to 2^24, rounded up to whole blocks on every die, that go to free
    /// blocks used so while a die has more of them than collection keeps and two for host data: less
    /// and less as the drive fills. When there are none, none is used so until the drive was idle.
    /// Such an erase counts as one of any block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamic_mib: Option<u32>,
    /// Bits that a cell holds otherwise, 2 to 4.
    pub cell_bits: u32,
    /// Microseconds to program a page with one bit a cell, 0 to 10^6.
    pub program_us: f64,
    /// Microseconds to read such a page from the array, 0 to 10^6.
    pub read_us: f64,
    /// What host data does that finds it full.
    pub when_full: WhenSlcFull,
    /// Milliseconds without a command, 0 to 10^9, after which it is emptied until the next.
    pub idle_ms: f64,
    /// 10^6 bytes a second, 0.001 to 10^6, of the whole drive at which it is emptied at most; absent:
    /// as fast as the NAND is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold_mb_per_s: Option<f64>,
}

impl Default for SlcBufferSection {
    /// Up to 16 MiB in free blocks of MLC, folded after a tenth of a second; its pages take half as long as
    /// the default ones to read and to program.
    fn default() -> SlcBufferSection {
        SlcBufferSection {
            fixed_mib: None,
            dynamic_mib: Some(16),
            cell_bits: 2,
            program_us: 250.0,
            read_us: 25.0,
            when_full: WhenSlcFull::Direct,
            idle_ms: 100.0,
            fold_mb_per_s: None,
        }
    }
}

/// What host data does that finds the SLC buffer full.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenSlcFull {
    /// It goes to the main blocks.
    Direct,
    /// It waits until a block of the buffer is folded; to the main blocks it goes only if there is no
    /// space to fold to.
    Fold,
}

impl SlcBufferSection {
    pub(super) fn check(&self, config: &SsdConfig) -> Result<(), ConfigError> {
        for (key, mib) in
            [("slc_buffer.fixed_mib", self.fixed_mib), ("slc_buffer.dynamic_mib", self.dynamic_mib)]
        {
            mib.map_or(Ok(()), |mib| within(key, mib, 0..=1 << 24))?;
        }
        if self.fixed_mib.is_none() && self.dynamic_mib.is_none() {
            let must = "this or slc_buffer.dynamic_mib must be given with [slc_buffer]";
            return Err(ConfigError::new("slc_buffer.fixed_mib", "absent", must));
        }
        within("slc_buffer.cell_bits", self.cell_bits, 2..=4)?;
        let kind = config.nand_cells.as_ref().map(|cells| cells.kind);
        let bits = kind.map_or(self.cell_bits, CellKind::bits);
        if bits != self.cell_bits {
            let must = format_args!("it must be {bits}, which nand_cells.kind says");
            return Err(ConfigError::new("slc_buffer.cell_bits", self.cell_bits, must));
        }
        if config.nand.pages_per_block < self.cell_bits {
            let must = format_args!("it must be at least {bits} with [slc_buffer]");
            let pages = config.nand.pages_per_block;
            return Err(ConfigError::new("nand.pages_per_block", pages, must));
        }
        within("slc_buffer.program_us", self.program_us, 0.0..=1e6)?;
        within("slc_buffer.read_us", self.read_us, 0.0..=1e6)?;
        within("slc_buffer.idle_ms", self.idle_ms, 0.0..=1e9)?;
        if let Some(rate) = self.fold_mb_per_s {
            within("slc_buffer.fold_mb_per_s", rate, 0.001..=1e6)?;
        }
        if config.log_blocks.is_some() {
            let must =
                "a log-block map has no place for it: leave out [slc_buffer] or [log_blocks]";
            return Err(ConfigError::new("slc_buffer.cell_bits", self.cell_bits, must));
        }
        if config.compression.is_some() {
            // Blocks of both kinds would hold parity of their own, and no such drive is known.
            let must =
                "it is not for a drive that compresses: leave out [slc_buffer] or [compression]";
            return Err(ConfigError::new("slc_buffer.cell_bits", self.cell_bits, must));
        }
        // A row of it and one of each stream are being filled, and one is programmed.
        let rows = if config.streams.is_some() { 4 } else { 3 };
        let rows_kib = (config.row_bytes() * rows).div_ceil(1024) as u32;
        within("buffer.write_kib", config.buffer.write_kib, rows_kib..=1 << 22)
    }

    /// Bytes that it holds at most, its blocks being whole ones; of `config`, whose section this is
    /// and which has passed its check.
    pub fn most_bytes(&self, config: &SsdConfig) -> u64 {
        let blocks = self.fixed_blocks(config).saturating_add(self.dynamic_blocks(config));
        let block = config.row_bytes() * u64::from(self.rows_per_block(config));
        let on_every_die = block * u64::from(config.nand.dies);
        on_every_die.saturating_mul(u64::from(blocks))
    }

    /// Rows of a block that is used so.
    pub(crate) fn rows_per_block(&self, config: &SsdConfig) -> u32 {
        config.nand.pages_per_block / self.cell_bits
    }

    /// Blocks of each die that are used for nothing else.
    pub(crate) fn fixed_blocks(&self, config: &SsdConfig) -> u32 {
        self.fixed_mib.map_or(0, |mib| self.blocks(mib, config))
    }

    /// Blocks of each die that are used so at most besides.
    pub(crate) fn dynamic_blocks(&self, config: &SsdConfig) -> u32 {
        self.dynamic_mib.map_or(0, |mib| self.blocks(mib, config))
    }

    /// Blocks a die that hold this much.
    fn blocks(&self, mib: u32, config: &SsdConfig) -> u32 {
        let block = config.row_bytes() * u64::from(self.rows_per_block(config));
        let block_on_every_die = block * u64::from(config.nand.dies);
        (u64::from(mib) << 20).div_ceil(block_on_every_die).try_into().unwrap_or(u32::MAX)
    }
}
