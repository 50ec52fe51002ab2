//! The map of an SSD: the unit it maps by, and the memory it is held in.

use serde::{Deserialize, Serialize};

use super::{ConfigError, SsdConfig, within};

/// Bytes of a map's unit unless the config says otherwise.
const DEFAULT_UNIT_BYTES: u32 = 4096;

/// The map from the user's addresses to the NAND. A drive without the section maps by 4 KiB and
/// has all of its map in memory.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapSection {
    /// Bytes of a unit of the map, a power of two from 4096 to a row (a page on every plane of a
    /// die); 4096 if absent. A write of less than a unit reads the rest of it and writes all of
    /// it. A NAND page holds whole units, or a unit whole pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit_bytes: Option<u32>,
    /// KiB of memory that hold pages of the map, two of them or more; absent: all of the map.
    /// Pages that are not in memory are on the NAND, where they take up blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_kib: Option<u32>,
    /// Bytes of a page of a map with limited memory: a multiple of a NAND page, at most a row; one
    /// NAND page if absent. An entry takes 4 bytes, so 4096 bytes map 1024 units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_bytes: Option<u32>,
}

/// Bytes of an entry of the map.
const ENTRY_BYTES: u32 = 4;

/// Space that the map has on the NAND over what it takes once. With so much its blocks are almost
/// empty when they are reused: of a log cleaned from its tail they hold u = e^(-3 (1 - u)), 6 %
/// (Desnoyers 2012), so that moving what is left would add 6 % to the map's writes. It is left out.
const MAP_SPACE_FACTOR: u64 = 3;

/// How a map with limited memory lies in memory and on the NAND.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MapLayout {
    /// Units of the user's space, each an entry.
    pub(crate) user_units: u32,
    /// Entries of a map page.
    pub(crate) units_per_page: u32,
    /// Pages of the map.
    pub(crate) pages: u32,
    /// Pages of it that fit in memory.
    pub(crate) slots: u32,
    /// NAND pages that a map page takes, all in one row.
    pub(crate) nand_pages: u32,
    /// Map pages that a block of a die (one on every plane) takes.
    pub(crate) pages_per_block: u32,
}

impl SsdConfig {
    /// Bytes of a unit of the map.
    pub fn unit_bytes(&self) -> u32 {
        let given = self.map.as_ref().and_then(|map| map.unit_bytes);
        given.unwrap_or(DEFAULT_UNIT_BYTES)
    }

    /// Units of the user's space; of the last one, a part may lie beyond its end.
    pub(crate) fn user_units(&self) -> u64 {
        (self.capacity.sectors * 512).div_ceil(u64::from(self.unit_bytes()))
    }

    /// How the map lies in memory and on the NAND, if its memory is limited.
    pub(crate) fn map_layout(&self) -> Option<MapLayout> {
        let memory_kib = self.map.as_ref()?.memory_kib?;
        let page_bytes = self.map_page_bytes();
        let units_per_page = page_bytes / ENTRY_BYTES;
        let pages = self.user_units().div_ceil(u64::from(units_per_page));
        let slots = u64::from(memory_kib) * 1024 / u64::from(page_bytes);
        let nand_pages = page_bytes / self.nand.page_bytes;
        Some(MapLayout {
            user_units: self.user_units() as u32,
            units_per_page,
            pages: pages as u32,
            slots: slots.min(pages) as u32,
            nand_pages,
            pages_per_block: self.nand.planes / nand_pages * self.nand.pages_per_block,
        })
    }

    /// Blocks of a die (one on every plane) that hold pages of a limited map and no data.
    pub(crate) fn map_blocks_per_die(&self) -> u32 {
        self.map_layout().map_or(0, |map| {
            let pages = u64::from(map.pages.div_ceil(self.nand.dies)) * MAP_SPACE_FACTOR;
            pages.div_ceil(u64::from(map.pages_per_block)) as u32
        })
    }

    fn map_page_bytes(&self) -> u32 {
        let given = self.map.as_ref().and_then(|map| map.page_bytes);
        given.map_or(self.nand.page_bytes, |page| page)
    }

    /// Units fetched ahead of a sequential reader.
    pub(crate) fn read_ahead_units(&self) -> u32 {
        self.controller.read_ahead_kib / (self.unit_bytes() / 1024)
    }

    /// Checks the section; the NAND's has been.
    pub(super) fn check_map(&self) -> Result<(), ConfigError> {
        if let Some(unit) = self.map.as_ref().and_then(|map| map.unit_bytes) {
            self.check_unit(unit)?;
        }
        self.check_map_memory()?;
        let read_ahead = self.controller.read_ahead_kib;
        let unit = self.unit_bytes();
        if !(u64::from(read_ahead) * 1024).is_multiple_of(u64::from(unit)) {
            let must =
                format!("it must be a multiple of {0} (the map's unit is {0} KiB)", unit / 1024);
            return Err(ConfigError::new("controller.read_ahead_kib", read_ahead, must));
        }
        Ok(())
    }

    fn check_map_memory(&self) -> Result<(), ConfigError> {
        let Some(map) = &self.map else {
            return Ok(());
        };
        if let Some(page) = map.page_bytes {
            const KEY: &str = "map.page_bytes";
            let nand_page = self.nand.page_bytes;
            within(KEY, page, nand_page..=self.row_bytes() as u32)?;
            if !page.is_multiple_of(nand_page) {
                let must = format!("it must be a multiple of a NAND page of {nand_page} bytes");
                return Err(ConfigError::new(KEY, page, must));
            }
            if map.memory_kib.is_none() {
                let must = "it needs map.memory_kib: a map all in memory has no pages";
                return Err(ConfigError::new(KEY, page, must));
            }
        }
        if let Some(memory) = map.memory_kib {
            // One page for a command and one for what is read ahead of it.
            let two_pages_kib = (self.map_page_bytes() * 2).div_ceil(1024);
            within("map.memory_kib", memory, two_pages_kib..=1 << 26)?;
        }
        Ok(())
    }

    fn check_unit(&self, unit: u32) -> Result<(), ConfigError> {
        const KEY: &str = "map.unit_bytes";
        let (row, page) = (self.row_bytes() as u32, self.nand.page_bytes);
        within(KEY, unit, DEFAULT_UNIT_BYTES..=row)?;
        let refuse = |must: String| Err(ConfigError::new(KEY, unit, must));
        if !unit.is_power_of_two() {
            return refuse(format!("it must be a power of two, {DEFAULT_UNIT_BYTES} to {row}"));
        }
        if !(page.is_multiple_of(unit) || unit.is_multiple_of(page)) {
            return refuse(format!(
                "a NAND page of {page} bytes must hold whole units, or a unit whole pages"
            ));
        }
        if !row.is_multiple_of(unit) {
            return refuse(format!(
                "a row (a page on every plane) of {row} bytes must hold whole units"
            ));
        }
        Ok(())
    }
}
