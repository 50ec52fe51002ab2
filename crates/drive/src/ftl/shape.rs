//! How the NAND's space is cut up, and where in it a unit is.

use super::PhysicalUnit;
use super::blocks::Block;
use crate::divide::Divider;
use crate::profile::SsdProfile;

/// How the NAND's space is cut up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) dies: u32,
    /// Those that hold data, without those that a limited map has to itself.
    pub(crate) blocks_per_die: u32,
    /// Bytes of a unit, a power of two.
    pub(crate) unit_bytes: u32,
    /// Units that a page holds, or 1 where a unit is larger than a page.
    pub(crate) units_per_page: u32,
    /// Pages that a unit takes, or 1 where a page holds several units.
    pub(crate) pages_per_unit: u32,
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
        let (page_bytes, unit_bytes) = (nand.page_bytes.value, profile.unit_bytes());
        let units_per_page = (page_bytes / unit_bytes).max(1);
        let units_per_row = page_bytes * nand.planes.value / unit_bytes;
        let units_per_block = units_per_row * nand.pages_per_block.value;
        let blocks_per_die = nand.blocks_per_plane.value - profile.map_blocks_per_die();
        Shape {
            dies: nand.dies.value,
            blocks_per_die,
            unit_bytes,
            units_per_page,
            pages_per_unit: (unit_bytes / page_bytes).max(1),
            units_per_row,
            units_per_block,
            by_blocks_per_die: Divider::new(blocks_per_die),
            by_units_per_page: Divider::new(units_per_page),
            by_units_per_row: Divider::new(units_per_row),
            by_units_per_block: Divider::new(units_per_block),
        }
    }

    /// Bytes of a NAND page.
    pub(crate) fn page_bytes(self) -> u32 {
        self.unit_bytes * self.units_per_page / self.pages_per_unit
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

    /// The page of a unit within its block; of units that take several pages, the number of the
    /// group of pages.
    #[inline]
    pub(crate) fn page_of(self, within: u32) -> u32 {
        self.by_units_per_page.quotient(within)
    }

    pub(super) fn first_unit(self, die: u32, block: Block) -> PhysicalUnit {
        (die * self.blocks_per_die + block) * self.units_per_block
    }
}
