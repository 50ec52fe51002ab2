//! How the NAND's space is cut up, and where in it a unit is.
//!
//! A place on the NAND takes a unit of the map; of a drive that compresses, a granule of one, and a
//! unit lies in several. All that is counted by page, row or block counts places.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::blocks::Block;
use crate::config::SsdConfig;
use crate::divide::Divider;

/// A unit of the user's space: byte offset / bytes of a unit.
pub(crate) type LogicalUnit = u32;

/// A place on the NAND, which takes a unit or, with compression, a granule of one: global block
/// number x places a block + place within the block. A unit is at the first of its granules.
pub(crate) type PhysicalUnit = u32;

/// How the NAND's space is cut up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub(crate) dies: u32,
    /// Those that hold data, without those that a limited map has to itself.
    pub(crate) blocks_per_die: u32,
    /// Bytes of a unit, a power of two.
    pub(crate) unit_bytes: u32,
    compresses: bool,
    /// Granules that a unit has; 1 without compression.
    pub(crate) granules_per_unit: u32,
    /// Granules that are stored of a unit which does not compress; 1 without compression.
    pub(crate) most_granules: u32,
    /// Units that a page holds, or 1 where a unit is larger than a page.
    pub(crate) units_per_page: u32,
    /// Pages that a unit takes, or 1 where a page holds several units.
    pub(crate) pages_per_unit: u32,
    pub(crate) units_per_row: u32,
    pub(crate) units_per_block: u32,
    /// Rows of data that share one of parity; 0 without parity.
    rows_per_parity: u32,
    by_blocks_per_die: Divider,
    by_units_per_page: Divider,
    by_units_per_row: Divider,
    by_units_per_block: Divider,
}

impl Shape {
    pub(super) fn new(config: &SsdConfig) -> Shape {
        let nand = &config.nand;
        let (page_bytes, granule_bytes) = (nand.page_bytes, config.granule_bytes());
        let units_per_page = (page_bytes / granule_bytes).max(1);
        let units_per_row = page_bytes * nand.planes / granule_bytes;
        let units_per_block = units_per_row * config.data_rows_per_block();
        Shape {
            unit_bytes: config.unit_bytes(),
            compresses: config.compression.is_some(),
            granules_per_unit: config.unit_bytes() / granule_bytes,
            most_granules: config.most_granules(),
            pages_per_unit: (granule_bytes / page_bytes).max(1),
            rows_per_parity: config.parity_rows().map_or(0, |rows| rows - 1),
            ..Shape::of(
                nand.dies,
                nand.blocks_per_plane - config.map_blocks_per_die(),
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
            compresses: false,
            granules_per_unit: 1,
            most_granules: 1,
            units_per_page,
            pages_per_unit: 1,
            units_per_row,
            units_per_block,
            rows_per_parity: 0,
            by_blocks_per_die: Divider::new(blocks_per_die),
            by_units_per_page: Divider::new(units_per_page),
            by_units_per_row: Divider::new(units_per_row),
            by_units_per_block: Divider::new(units_per_block),
        }
    }

    /// Bytes of a NAND page.
    pub(crate) fn page_bytes(self) -> u32 {
        self.granule_bytes() * self.units_per_page / self.pages_per_unit
    }

    /// Whether units take several places.
    #[inline]
    pub(crate) fn compresses(self) -> bool {
        self.compresses
    }

    /// Whether some rows hold the parity of others.
    #[inline]
    pub(crate) fn has_parity(self) -> bool {
        self.rows_per_parity > 0
    }

    /// Bytes of a place: a unit, or a granule of one.
    pub(crate) fn granule_bytes(self) -> u32 {
        self.unit_bytes / self.granules_per_unit
    }

    /// From how many valid units on a block is as good as full: a victim of fewer is sure to win space,
    /// though almost a unit that does not compress may be left over at the end of the block it goes to.
    pub(crate) fn full_from(self) -> u32 {
        self.units_per_block.saturating_sub(self.most_granules - 1)
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

    /// The row of the NAND's block that row `row` of data is; of the row behind the last, how many
    /// are used. The parity of rows comes behind them.
    #[inline]
    pub(crate) fn nand_row(self, row: u32) -> u32 {
        if self.rows_per_parity == 0 {
            return row;
        }
        if row == self.row_of(self.units_per_block).0 {
            return row + row.div_ceil(self.rows_per_parity);
        }
        row + row / self.rows_per_parity
    }

    /// Rows of parity that come right behind row `row` of data: one or none.
    #[inline]
    pub(crate) fn parity_behind(self, row: u32) -> u32 {
        self.nand_row(row + 1) - self.nand_row(row) - 1
    }

    /// Whether a block that is closed after so many rows of data lacks the parity of the last.
    pub(crate) fn cuts_parity(self, rows: u32) -> bool {
        self.rows_per_parity > 0
            && !rows.is_multiple_of(self.rows_per_parity)
            && rows < self.row_of(self.units_per_block).0
    }

    /// The page of a unit within its block; of units that take several pages, the number of the
    /// group of pages.
    #[inline]
    pub(crate) fn page_of(self, within: u32) -> u32 {
        self.by_units_per_page.quotient(within)
    }

    /// The places of a block of the drive.
    pub(super) fn places_of(self, block: u32) -> Range<PhysicalUnit> {
        block * self.units_per_block..(block + 1) * self.units_per_block
    }

    pub(super) fn first_unit(self, die: u32, block: Block) -> PhysicalUnit {
        self.block_of_die(die, block) * self.units_per_block
    }
}
