//! Coalescing: a unit that is written again while its row is still being filled keeps its place.
//!
//! A row that is not full has not been ordered to be programmed, so the new data takes the place of the
//! old in the write buffer. The map says what it said, and only counts change. That is so wherever the
//! unit lies: in the row of its stream, in that of an SLC buffer, or in that of the stream it was of
//! when it was placed, though by now it would go to another. It is told apart the next time it is placed.

use super::{Ftl, FtlCounts, LogicalUnit, Stream, Translation};

impl Translation {
    /// Writes units of host data that are in an open row to where they are there: as many of the
    /// `most` from `first` on as are in the same, and the stream of that. Without one, how many
    /// from `first` on are in none; nothing was written then, and as many may be placed together.
    ///
    /// It looks no further than a row is long, beyond which another row would be open.
    pub(crate) fn absorb(&mut self, first: LogicalUnit, most: u32) -> (u32, Option<Stream>) {
        let most = match self {
            Translation::PageMap(map) if !map.has_streams() => most.min(map.shape.units_per_row),
            // These are given their places one at a time.
            _ => 1,
        };
        let end = first + most;
        let row = self.open_row_with(first);
        let alike = (first + 1..end).take_while(|&unit| self.open_row_with(unit) == row).count();
        let count = 1 + alike as u32;
        if row.is_some() {
            match self {
                Translation::PageMap(map) => map.counts.absorb(count),
                Translation::LogBlock(map) => map.absorb(count),
            }
        }
        (count, row)
    }

    /// The stream whose open row a unit is in, if it is in one.
    pub(crate) fn open_row_with(&self, unit: LogicalUnit) -> Option<Stream> {
        match self {
            Translation::PageMap(map) => map.open_row_with(unit),
            Translation::LogBlock(map) => map.is_in_open_row(unit).then_some(Stream::Cold),
        }
    }
}

impl FtlCounts {
    pub(super) fn absorb(&mut self, units: u32) {
        self.host_units += u64::from(units);
        self.absorbed_units += u64::from(units);
    }
}

impl Ftl {
    fn open_row_with(&self, unit: LogicalUnit) -> Option<Stream> {
        let mut open =
            Stream::ALL.into_iter().filter(|&stream| !self.at_row_start(stream)).peekable();
        open.peek()?;
        let (die, block, within) = self.shape.locate(self.find(unit)?);
        let row = (block, self.shape.row_of(within).0);
        open.find(|&stream| {
            self.rows[stream.index()].die == die && self.open_row(die, stream) == row
        })
    }
}
