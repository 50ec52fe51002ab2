//! What commands cost on a drive that stores units compressed.

use super::Ssd;
use super::commands::Reads;
use crate::ftl::{LogicalUnit, PhysicalUnit};
use crate::{Io, Nanos};

impl Ssd {
    /// Places that each unit takes which `io` writes. The rest of a unit that is written in part is
    /// taken to compress as the part does.
    #[inline]
    pub(super) fn weight(&self, io: Io) -> u32 {
        match &self.compression {
            None => 1,
            Some(section) => section.granules(self.ftl.shape().unit_bytes, io.compressible_percent),
        }
    }

    /// When what is stored of a unit, from `place` on, is in the controller: all pages that it lies
    /// in, for no part of it can be made of a part. They may be in two rows, of which one may still
    /// be in the buffer.
    pub(super) fn read_stored(
        &mut self,
        unit: LogicalUnit,
        place: PhysicalUnit,
        reads: &mut Reads,
    ) -> Nanos {
        let shape = self.ftl.shape();
        let (die, block, within) = shape.locate(place);
        let last = within + self.ftl.stored(unit) - 1;
        let mut ready = reads.mapped;
        for page_in_block in shape.page_of(within)..=shape.page_of(last) {
            let (row_in_block, in_row) = shape.row_of(page_in_block * shape.units_per_page);
            if self.is_buffered(die, block, row_in_block, reads.mapped) {
                continue;
            }
            let first_of_block = place - within;
            let page = first_of_block + page_in_block;
            let row = Some(first_of_block + page_in_block * shape.units_per_page - in_row);
            if reads.row != row {
                (reads.row, reads.page) = (row, page);
                let nand_row = Some(shape.nand_row(row_in_block));
                reads.ready = self.nand.read(die, nand_row, reads.at, reads.mapped);
            } else if reads.page != page {
                reads.page = page;
                reads.ready = self.nand.read_more(die, reads.at, reads.ready);
            }
            ready = ready.max(reads.ready);
        }
        ready
    }

    /// Programs the rows that hold nothing but the rest of a unit, padded, from `ready` on. Returns
    /// when the last of them is on the NAND, 0 when there is none. No row is begun.
    pub(super) fn program_rests(&mut self, at: Nanos, ready: Nanos) -> Nanos {
        let mut end = Nanos::ZERO;
        while let Some((stream, turn)) = self.ftl.begin_rest() {
            let ready = self.buffer.admit(ready);
            self.row_ready[stream.index()] = ready;
            let Some(placed) = self.ftl.pad() else {
                return end;
            };
            end = end.max(self.program_if_full(placed, at, ready));
            self.ftl.give_turn(stream, turn);
        }
        end
    }
}
