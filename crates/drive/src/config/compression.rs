//! Compression: what a controller stores of the data it is given.

use serde::{Deserialize, Serialize};

use super::{ConfigError, SsdConfig, within};

/// A controller that compresses, as SandForce's do: it stores less of data that compresses, one unit
/// of the map behind the other whatever pages they begin in, so that more spare is left and write
/// amplification may be below 1. Absent: every unit is stored as it is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompressionSection {
    /// Bytes of the granules that a stored unit takes, a power of two from 512 to a unit of the map,
    /// of which a NAND page holds whole ones.
    pub granule_bytes: u32,
    /// What is stored of a unit that is one byte over and over, in percent of it, 1 to 100: nothing
    /// compresses further.
    pub least_stored_percent: u32,
    /// Bytes that are stored with every unit, however far it compresses: its header, 0 to the bytes
    /// of a unit.
    pub overhead_bytes: u32,
    /// Rows of a block of which one is the parity of the others, 2 to 65,536 (RAISE). It takes its
    /// space and its program operation. Rows of a block that are left over have one, too; a single
    /// one is not used. Absent when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parity_rows: Option<u32>,
    /// Microseconds of the controller for each 4 KiB that is stored of what the host writes, beside
    /// those for what it writes, 0 to 10^6: encryption, parity and correction codes are made of what
    /// compression leaves. None where it is left out; what collection moves does not pay it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store_4k_us: Option<f64>,
}

impl Default for CompressionSection {
    /// Stores what is left to the sector, and nothing beside it.
    fn default() -> CompressionSection {
        CompressionSection {
            granule_bytes: 512,
            least_stored_percent: 1,
            overhead_bytes: 0,
            parity_rows: None,
            store_4k_us: None,
        }
    }
}

/// Units of the map that a drive that compresses may have. Units that compress differently cannot be
/// named together, and there are 2^26 names.
const MOST_UNITS: u64 = 7 << 23;

/// Granules that the NAND may have: places are numbers of 32 bits.
const MOST_GRANULES: u64 = 1 << 31;

impl CompressionSection {
    /// Granules that a unit of `unit_bytes` takes, of which compression removes so much.
    pub(crate) fn granules(&self, unit_bytes: u32, compressible_percent: u8) -> u32 {
        let percent = 100u32.saturating_sub(u32::from(compressible_percent));
        let percent = u64::from(percent.max(self.least_stored_percent));
        let stored = (u64::from(unit_bytes) * percent).div_ceil(100);
        let all = stored + u64::from(self.overhead_bytes);
        all.div_ceil(u64::from(self.granule_bytes)) as u32
    }

    /// Checks the section; NAND and map have been.
    pub(super) fn check(&self, config: &SsdConfig) -> Result<(), ConfigError> {
        const GRANULE: &str = "compression.granule_bytes";
        let refuse = |key: &str, value: u32, must: String| Err(ConfigError::new(key, value, must));
        let unit = config.unit_bytes();
        let granule = self.granule_bytes;
        within(GRANULE, self.granule_bytes, 512..=unit)?;
        if !granule.is_power_of_two() {
            return refuse(GRANULE, granule, format!("it must be a power of two, 512 to {unit}"));
        }
        if !config.nand.page_bytes.is_multiple_of(granule) {
            let page = config.nand.page_bytes;
            let must = format!("a NAND page of {page} bytes must hold whole granules");
            return refuse(GRANULE, granule, must);
        }
        within("compression.least_stored_percent", self.least_stored_percent, 1..=100)?;
        within("compression.overhead_bytes", self.overhead_bytes, 0..=unit)?;
        let row = config.row_bytes();
        let most = u64::from(self.granules(unit, 0)) * u64::from(granule);
        if most > row {
            let must = format!(
                "with it a unit of {unit} bytes that does not compress takes {most} bytes, and a row \
                 (a page on every plane) of {row} bytes must hold one"
            );
            return refuse("compression.overhead_bytes", self.overhead_bytes, must);
        }
        if let Some(rows) = self.parity_rows {
            within("compression.parity_rows", rows, 2..=65_536)?;
            if config.nand.pages_per_block < 2 {
                let must = "a block of one row cannot hold parity beside data";
                return refuse("compression.parity_rows", rows, must.into());
            }
        }
        if let Some(store) = self.store_4k_us {
            within("compression.store_4k_us", store, 0.0..=1e6)?;
        }
        if config.log_blocks.is_some() {
            let must =
                "compression is a page map's: leave out [compression] or [log_blocks]".to_string();
            return refuse(GRANULE, granule, must);
        }
        if config.raw_bytes() / u64::from(granule) > MOST_GRANULES {
            let must =
                format!("NAND of {} bytes must hold 2^31 granules at most", config.raw_bytes());
            return refuse(GRANULE, granule, must);
        }
        if config.user_units() > MOST_UNITS {
            let sectors = config.capacity.sectors;
            let most = MOST_UNITS * u64::from(unit) / 512;
            let must = format!(
                "with [compression] it must be at most {most} ({MOST_UNITS} units of the map)"
            );
            return Err(ConfigError::new("capacity.sectors", sectors, must));
        }
        Ok(())
    }
}

impl SsdConfig {
    /// Bytes that places on the NAND are counted in: a unit of the map, or a granule of one.
    pub(crate) fn granule_bytes(&self) -> u32 {
        self.compression.as_ref().map_or(self.unit_bytes(), |section| section.granule_bytes)
    }

    /// Granules that a unit takes which does not compress; 1 without compression.
    pub(crate) fn most_granules(&self) -> u32 {
        self.compression.as_ref().map_or(1, |section| section.granules(self.unit_bytes(), 0))
    }

    /// Rows of a block of which one is parity, if there is any.
    pub(crate) fn parity_rows(&self) -> Option<u32> {
        self.compression.as_ref()?.parity_rows
    }

    /// Rows of a block that hold data and no parity.
    pub(crate) fn data_rows_per_block(&self) -> u32 {
        let rows = self.nand.pages_per_block;
        rows - self.parity_rows().map_or(0, |stripe| rows.div_ceil(stripe))
    }

    /// Bytes of a block of a die that data is sure to find room for, and of a unit that does not
    /// compress. A unit lies in one block, so less than one may be left over at its end.
    pub(crate) fn sure_bytes(&self) -> [u64; 2] {
        let (granule, most) = (u64::from(self.granule_bytes()), u64::from(self.most_granules()));
        let block = self.row_bytes() * u64::from(self.data_rows_per_block());
        [block.saturating_sub((most - 1) * granule), most * granule]
    }
}
