//! When what the host wrote is on the NAND: for whoever cuts the power.
//!
//! A unit is on the NAND when the program of its row has ended. Older versions of it, and what collection moves,
//! stay where they are until their block is erased, so that a version that was on the NAND once can be found again
//! until a newer one is.

use std::collections::BTreeMap;

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
    /// The program, by its number; `None` of a unit whose last part was stored in several rows.
    pub program: Option<u64>,
}

/// A row that was programmed with what the host wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowProgram {
    /// When its cells begin to change.
    pub began: Nanos,
    /// When they hold what they are to hold.
    pub ended: Nanos,
    /// The programs, by their numbers, of the rows that share its cells and held the host's data before: the lower
    /// pages, at most two. None where the profile says nothing of cells (`[nand_cells]`), or they have one bit.
    pub beneath: [Option<u64>; 2],
}

/// Where a row is that is programmed, and when.
#[derive(Clone, Debug)]
pub(super) struct ProgrammedRow {
    pub(super) die: u32,
    pub(super) block: u32,
    pub(super) row: u32,
    /// The rows of its block that share its cells and come before it.
    pub(super) beneath: Vec<u32>,
    pub(super) began: Nanos,
    pub(super) end: Nanos,
}

/// A unit of a write, when it is on the NAND, and by which program.
pub(super) type Told = (LogicalUnit, u64, Nanos, Option<u64>);

/// What is on its way to the NAND.
#[derive(Clone, Debug, Default)]
pub(super) struct Persistence {
    /// By die and block, as the host's data filled it last: its rows, in their order, and their programs.
    blocks: BTreeMap<(u32, u32), Vec<(u32, u64)>>,
    /// All programs so far.
    programs: u64,
    /// Those that nobody has asked for.
    rows: Vec<RowProgram>,
    writes: u64,
    /// By stream: what is in the row that is being filled, and of which write it is.
    open: [Vec<(LogicalUnit, u64)>; FRONTS],
    /// By die: the last unit of a row that was programmed, where its rest may be in the die's next row.
    going_on: Vec<(u32, LogicalUnit, u64, Nanos)>,
    told: Vec<Told>,
    /// The unit placed last, and the write that it is of.
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
            self.told.retain(|&(unit, of, ..)| !earlier(unit, of));
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

    /// The row of a stream will be on the NAND at its end, but for the last unit of it if that may go on in the die's
    /// next.
    pub(super) fn programmed(&mut self, row: ProgrammedRow, stream: Stream, may_go_on: bool) {
        let (die, end) = (row.die, row.end);
        let program = Some(self.number(row));
        let now_whole = self.going_on.extract_if(.., |(of, ..)| *of == die);
        let now_whole =
            now_whole.map(|(_, unit, write, begun)| (unit, write, begun.max(end), None));
        self.told.extend(now_whole);
        let open = &mut self.open[stream.index()];
        let last = if may_go_on { open.pop() } else { None };
        self.going_on.extend(last.map(|(unit, write)| (die, unit, write, end)));
        self.told.extend(open.drain(..).map(|(unit, write)| (unit, write, end, program)));
    }

    /// Numbers the program of a row.
    fn number(&mut self, row: ProgrammedRow) -> u64 {
        let ProgrammedRow { die, block, row, beneath, began, end } = row;
        let number = self.programs;
        self.programs += 1;
        let programs = self.blocks.entry((die, block)).or_default();
        // The rows of a block go in order, from the first: the block was erased since.
        if programs.last().is_some_and(|(last, _)| *last >= row) {
            programs.clear();
        }
        let mut lower = beneath.iter().filter_map(|lower| {
            let place = programs.binary_search_by_key(lower, |(row, _)| *row);
            place.ok().map(|place| programs[place].1)
        });
        let beneath = [lower.next(), lower.next()];
        programs.push((row, number));
        self.rows.push(RowProgram { began, ended: end, beneath });
        number
    }

    /// All rows will be on the NAND at `end`.
    pub(super) fn all_programmed(&mut self, end: Nanos) {
        for open in &mut self.open {
            self.told.extend(open.drain(..).map(|(unit, write)| (unit, write, end, None)));
        }
        let going_on = self.going_on.drain(..);
        let going_on = going_on.map(|(_, unit, write, begun)| (unit, write, begun.max(end), None));
        self.told.extend(going_on);
    }

    /// What has got its time since this was asked last.
    pub(super) fn take_told(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.told)
    }

    /// The programs since this was asked last, in the order of their numbers.
    pub(super) fn take_rows(&mut self) -> Vec<RowProgram> {
        std::mem::take(&mut self.rows)
    }

    pub(super) fn clear(&mut self) {
        self.open.iter_mut().for_each(Vec::clear);
        self.going_on.clear();
        self.blocks.clear();
    }
}
