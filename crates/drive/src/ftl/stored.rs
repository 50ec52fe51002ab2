//! Units that take several places each: what a drive that compresses stores.
//!
//! They lie one behind the other in a block, and a row may end within one. The rest of that unit
//! comes first in the next row of the same block, which the die fills when its turn comes; until
//! then it waits in the buffer. At the end of a block what is too little for a unit is left over.

use super::fragments::Filling;
use super::stream::Stream;
use super::{Ftl, LogicalUnit, OpenRow, Placed};

impl Ftl {
    /// How many of `count` units of `weight` places the open row of a stream takes, on `die`, and how
    /// many places. The last one may end in the next row, not in the next block.
    #[inline]
    pub(super) fn fitting(&self, count: u32, weight: u32, die: u32, stream: Stream) -> (u32, u32) {
        let left = self.rows[stream.index()].left;
        let filled = self.dies[die as usize].fronts[stream.index()].host.filled;
        let in_block = (self.shape.units_per_block - filled) / weight;
        let count = count.min(left.div_ceil(weight)).min(in_block);
        (count, count * weight)
    }

    /// The open row, filled up with nothing because a unit of so many places does not fit into its
    /// block any more; to be programmed before that unit is written. The row is opened if none is.
    #[inline]
    pub(crate) fn cut_row_before(&mut self, stream: Stream, weight: u32) -> Option<Placed> {
        // One place is always left.
        if weight == 1 {
            return None;
        }
        if self.at_row_start(stream) {
            // A drive that is worn out says so when the unit is written.
            self.begin_row(stream)?;
        }
        let die = self.rows[stream.index()].die;
        let filled = self.dies[die as usize].fronts[stream.index()].host.filled;
        (self.shape.units_per_block - filled < weight).then(|| self.pad_row(stream))
    }

    /// Opens a row that holds nothing but the rest of a unit, and is not the one of its stream that
    /// host data is filling, with which it is then padded: for data that has to be on the NAND now.
    /// `None` when there is no such row.
    ///
    /// No row of the stream may be begun. Its next row is on the die whose turn it was.
    pub(crate) fn begin_rest(&mut self) -> Option<(Stream, u32)> {
        if !self.shape.compresses() {
            return None;
        }
        for stream in Stream::ALL {
            for (die, space) in (0..).zip(&mut self.dies) {
                let fronts = &mut space.fronts[stream.index()];
                let (_, rest) = self.shape.row_of(fronts.host.filled);
                if rest > 0 {
                    fronts.filling = Filling::NONE;
                    let left = self.shape.units_per_row - rest;
                    let open = OpenRow { die, left };
                    let turn = std::mem::replace(&mut self.rows[stream.index()], open).die;
                    return Some((stream, turn));
                }
            }
        }
        None
    }

    /// The next row of a stream is on this die again.
    pub(crate) fn give_turn(&mut self, stream: Stream, die: u32) {
        self.rows[stream.index()].die = die;
    }

    /// Counts the parity that comes behind the row of a stream that was just filled.
    #[inline(always)]
    pub(super) fn count_parity(&mut self, die: u32, stream: Stream) {
        if self.shape.has_parity() {
            let (_, next_row) = self.open_row(die, stream);
            let rows = self.shape.parity_behind(next_row - 1);
            self.counts.parity_units += u64::from(rows * self.shape.units_per_row);
        }
    }

    /// Places that a unit takes which is mapped.
    pub(crate) fn stored(&self, unit: LogicalUnit) -> u32 {
        self.fragments.weight(self.map[unit as usize])
    }
}
