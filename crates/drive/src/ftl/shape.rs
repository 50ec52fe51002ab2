//! How the NAND's space is cut up, and where in it a unit is.

use serde::{Deserialize, Serialize};

use super::PhysicalUnit;
use super::blocks::Block;
use crate::divide::Divider;
use crate::profile::SsdProfile;

/// How the NAND's space is cut up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
        Shape {
            unit_bytes,
            pages_per_unit: (unit_bytes / page_bytes).max(1),
            ..Shape::of(
                nand.dies.value,
                nand.blocks_per_plane.value - profile.map_blocks_per_die(),
                [units_per_page, units_per_row, units_per_block],
            )
        }
    }

    /// Of so many units of 4 KiB a page, a row and a block.
    pub(super) fn of(dies: u32, blocks_per_die: u32, units_per: [u32; 3]) -> Shape {
        let [units_per_page, units_per_row, units_per_block] = units_per;
        Shape {
            dies,
            blocks_per_die,
            unit_bytes: 4096,
            units_per_page,
            pages_per_unit: 1,
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

    /// Blocks of all dies.
    pub(super) fn blocks(self) -> u32 {
        self.dies * self.blocks_per_die
    }

    /// Die, block within the die and unit within the block.
    #[inline]
    pub(crate) fn locate(self, unit: PhysicalUnit) -> (u32, Block, u32) {
        let (block, within) = self.block_of(unit);
        let (die, block) = self.die_of(block);
        (die, block, within)
    }

    /// Block of the drive and unit within it.
    #[inline]
    pub(super) fn block_of(self, unit: PhysicalUnit) -> (u32, u32) {
        self.by_units_per_block.divide(unit)
    }

    /// Die and block within it of a block of the drive.
    #[inline]
    pub(super) fn die_of(self, block: u32) -> (u32, Block) {
        self.by_blocks_per_die.divide(block)
    }

    /// The block of the drive that is `block` of `die`.
    #[inline]
    pub(super) fn block_of_die(self, die: u32, block: Block) -> u32 {
        die * self.blocks_per_die + block
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
        self.block_of_die(die, block) * self.units_per_block
    }
}
