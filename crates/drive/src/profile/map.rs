//! The map of an SSD: the unit it maps by, and the memory it is held in.

use serde::{Deserialize, Serialize};

use super::{ProfileError, Sourced, SsdProfile, within};

/// Bytes of a map's unit unless the profile says otherwise.
const DEFAULT_UNIT_BYTES: u32 = 4096;

/// The map from the user's addresses to the NAND. A drive without the section maps by 4 KiB.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapSection {
    /// Bytes of a unit of the map, a power of two from 4096 to a row (a page on every plane of a
    /// die); 4096 if absent. A write of less than a unit reads the rest of it and writes all of
    /// it. A NAND page holds whole units, or a unit whole pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit_bytes: Option<Sourced<u32>>,
}

impl SsdProfile {
    /// Bytes of a unit of the map.
    pub fn unit_bytes(&self) -> u32 {
        let given = self.map.as_ref().and_then(|map| map.unit_bytes.as_ref());
        given.map_or(DEFAULT_UNIT_BYTES, |unit| unit.value)
    }

    /// Units of the user's space; of the last one, a part may lie beyond its end.
    pub(crate) fn user_units(&self) -> u64 {
        (self.capacity.sectors.value * 512).div_ceil(u64::from(self.unit_bytes()))
    }

    /// Units fetched ahead of a sequential reader.
    pub(crate) fn read_ahead_units(&self) -> u32 {
        self.controller.read_ahead_kib.value / (self.unit_bytes() / 1024)
    }

    /// Checks the section; the NAND's has been.
    pub(super) fn check_map(&self) -> Result<(), ProfileError> {
        if let Some(unit) = self.map.as_ref().and_then(|map| map.unit_bytes.as_ref()) {
            self.check_unit(unit)?;
        }
        let read_ahead = self.controller.read_ahead_kib.value;
        let unit = self.unit_bytes();
        if !(u64::from(read_ahead) * 1024).is_multiple_of(u64::from(unit)) {
            let must =
                format!("it must be a multiple of {0} (the map's unit is {0} KiB)", unit / 1024);
            return Err(ProfileError::new("controller.read_ahead_kib", read_ahead, must));
        }
        Ok(())
    }

    fn check_unit(&self, unit: &Sourced<u32>) -> Result<(), ProfileError> {
        const KEY: &str = "map.unit_bytes";
        let (row, page) = (self.row_bytes() as u32, self.nand.page_bytes.value);
        within(KEY, unit, DEFAULT_UNIT_BYTES..=row)?;
        let unit = unit.value;
        let refuse = |must: String| Err(ProfileError::new(KEY, unit, must));
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
