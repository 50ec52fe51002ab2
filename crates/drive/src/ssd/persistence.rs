//! When what the host wrote is on the NAND: for whoever cuts the power.
//!
//! A unit is on the NAND when the program of its row has ended. Older versions of it, and what collection moves,
//! stay where they are until their block is erased, so that a version that was on the NAND once can be found again
//! until a newer one is.

use crate::ftl::{FRONTS, LogicalUnit, Stream};
use crate::{Lba, Nanos};

/// A unit of the map, as a write left it, is on the NAND.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Persisted {
    /// The number of the write, from 0, since [`Ssd::track_persistence`](crate::Ssd::track_persistence). All count but those that
    /// [`Geometry::refuses`](crate::Geometry::refuses).
    pub write: u64,
    /// Where the unit begins.
    pub lba: Lba,
    /// Sectors of the unit.
    pub sectors: u32,
    /// When its program ends.
    pub at: Nanos,
}

/// What is on its way to the NAND.
#[derive(Clone, Debug, Default)]
pub(super) struct Persistence {
    writes: u64,
    /// By stream: what is in the row that is being filled, and of which write it is.
    open: [Vec<(LogicalUnit, u64)>; FRONTS],
    /// By die: the last unit of a row that was programmed, where its rest may be in the die's next row.
    going_on: Vec<(u32, LogicalUnit, u64, Nanos)>,
    told: Vec<(LogicalUnit, u64, Nanos)>,
    /// The last unit that was given a place, and of which write.
    last_placed: Option<(LogicalUnit, u64)>,
}

impl Persistence {
    /// A write comes.
    pub(super) fn begin_write(&mut self) {
        self.writes += 1;
    }

    /// Units of it go into the row of a stream. Of a write that takes several commands, one may end and the next
    /// begin in the same unit: it has all of the write then when the later part is on the NAND.
    pub(super) fn placed(&mut self, first: LogicalUnit, count: u32, stream: Stream) {
        let write = self.writes - 1;
        if self.last_placed.replace((first + count - 1, write)) == Some((first, write)) {
            let earlier = |unit: LogicalUnit, of: u64| (unit, of) == (first, write);
            self.open.iter_mut().for_each(|open| open.retain(|&(unit, of)| !earlier(unit, of)));
            self.going_on.retain(|&(_, unit, of, _)| !earlier(unit, of));
            self.told.retain(|&(unit, of, _)| !earlier(unit, of));
        }
        self.open[stream.index()].extend((first..first + count).map(|unit| (unit, write)));
    }

    /// Units of it take the place of what that row has of them.
    pub(super) fn absorbed(&mut self, first: LogicalUnit, count: u32, stream: Stream) {
        let write = self.writes - 1;
        self.last_placed = Some((first + count - 1, write));
        let units = first..first + count;
        for (unit, of) in &mut self.open[stream.index()] {
            if units.contains(unit) {
                *of = write;
            }
        }
    }

    /// The row of a stream on a die will be on the NAND at `end`, but for the last unit of it if that may go on in
    /// the die's next.
    pub(super) fn programmed(&mut self, die: u32, stream: Stream, end: Nanos, may_go_on: bool) {
        let now_whole = self.going_on.extract_if(.., |(of, ..)| *of == die);
        self.told.extend(now_whole.map(|(_, unit, write, begun)| (unit, write, begun.max(end))));
        let open = &mut self.open[stream.index()];
        let last = if may_go_on { open.pop() } else { None };
        self.going_on.extend(last.map(|(unit, write)| (die, unit, write, end)));
        self.told.extend(open.drain(..).map(|(unit, write)| (unit, write, end)));
    }

    /// All rows will be on the NAND at `end`.
    pub(super) fn all_programmed(&mut self, end: Nanos) {
        for open in &mut self.open {
            self.told.extend(open.drain(..).map(|(unit, write)| (unit, write, end)));
        }
        let going_on = self.going_on.drain(..);
        self.told.extend(going_on.map(|(_, unit, write, begun)| (unit, write, begun.max(end))));
    }

    /// What has got its time since this was asked last: unit, write, time.
    pub(super) fn take_told(&mut self) -> Vec<(LogicalUnit, u64, Nanos)> {
        std::mem::take(&mut self.told)
    }

    pub(super) fn clear(&mut self) {
        self.open.iter_mut().for_each(Vec::clear);
        self.going_on.clear();
    }
}
