//! How the NAND's space is cut up, and where in it a unit is.

use serde::{Deserialize, Serialize};

use super::PhysicalUnit;
use super::blocks::Block;
use crate::divide::Divider;
use crate::profile::{SsdProfile, UNIT_BYTES};

/// How the NAND's space is cut up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub(crate) dies: u32,
    pub(crate) blocks_per_die: u32,
    pub(crate) units_per_page: u32,
    pub(crate) units_per_row: u32,
    pub(crate) units_per_block: u32,
    by_blocks_per_die: Divider,
    by_units_per_page: Divider,
    by_units_per_row: Divider,
    by_units_per_block: Divider,
}

impl Shape {
    pub(super) fn new(profile: &SsdProfile) -> Shape {
        let nand = &profile.nand;
        let units_per_page = nand.page_bytes.value / UNIT_BYTES as u32;
        let units_per_row = units_per_page * nand.planes.value;
        let units_per_block = units_per_row * nand.pages_per_block.value;
        Shape {
            dies: nand.dies.value,
            blocks_per_die: nand.blocks_per_plane.value,
            units_per_page,
            units_per_row,
            units_per_block,
            by_blocks_per_die: Divider::new(nand.blocks_per_plane.value),
            by_units_per_page: Divider::new(units_per_page),
            by_units_per_row: Divider::new(units_per_row),
            by_units_per_block: Divider::new(units_per_block),
        }
    }

    pub(crate) fn units(self) -> u32 {
        self.dies * self.blocks_per_die * self.units_per_block
    }

    /// Die, block within the die and unit within the block.
    #[inline]
    pub(crate) fn locate(self, unit: PhysicalUnit) -> (u32, Block, u32) {
        let (block, within) = self.by_units_per_block.divide(unit);
        let (die, block) = self.by_blocks_per_die.divide(block);
        (die, block, within)
    }

    /// The row of a unit within its block, and its place in the row.
    #[inline]
    pub(crate) fn row_of(self, within: u32) -> (u32, u32) {
        self.by_units_per_row.divide(within)
    }

    /// The page of a unit within its block.
    #[inline]
    pub(crate) fn page_of(self, within: u32) -> u32 {
        self.by_units_per_page.quotient(within)
    }

    pub(super) fn first_unit(self, die: u32, block: Block) -> PhysicalUnit {
        (die * self.blocks_per_die + block) * self.units_per_block
    }
}
