//! Blocks striped over dies: where a place in one is on the NAND.

use crate::divide::Divider;
use crate::ftl::blocks::Block;
use crate::ftl::{PhysicalUnit, Shape};

/// A block of every die of a group, erased together. Groups alternate from number to number.
pub(super) type Superblock = u32;

/// How superblocks lie on the dies: row after row, each on the next die of the group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stripe {
    pub(super) shape: Shape,
    pub(super) dies: u32,
    groups: u32,
    pub(super) units_per_superblock: u32,
    pub(super) rows_per_superblock: u32,
    by_dies: Divider,
    by_groups: Divider,
}

impl Stripe {
    /// Over `dies` dies, of which the drive has a multiple.
    pub(super) fn new(shape: Shape, dies: u32) -> Stripe {
        let groups = shape.dies / dies;
        let units_per_superblock = shape.units_per_block * dies;
        Stripe {
            shape,
            dies,
            groups,
            units_per_superblock,
            rows_per_superblock: units_per_superblock / shape.units_per_row,
            by_dies: Divider::new(dies),
            by_groups: Divider::new(groups),
        }
    }

    pub(super) fn superblocks(self) -> u32 {
        self.groups * self.shape.blocks_per_die
    }

    /// The dies of a superblock and its block on each of them.
    pub(super) fn dies_of(self, superblock: Superblock) -> (std::ops::Range<u32>, Block) {
        let (block, group) = self.by_groups.divide(superblock);
        (group * self.dies..(group + 1) * self.dies, block)
    }

    /// Die, block of that die and row in that block of a row of a superblock.
    #[inline]
    pub(super) fn row(self, superblock: Superblock, row: u32) -> (u32, Block, u32) {
        let (block, group) = self.by_groups.divide(superblock);
        let (row_in_block, die) = self.by_dies.divide(row);
        (group * self.dies + die, block, row_in_block)
    }

    /// Where the unit at `position` of a superblock is.
    #[inline]
    pub(super) fn place(self, superblock: Superblock, position: u32) -> PhysicalUnit {
        let (row, in_row) = self.shape.row_of(position);
        let (die, block, row_in_block) = self.row(superblock, row);
        self.shape.first_unit(die, block) + row_in_block * self.shape.units_per_row + in_row
    }
}
