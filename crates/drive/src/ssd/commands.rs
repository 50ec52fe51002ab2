//! The commands: each walks the drive's resources to the time it is done.

use super::Ssd;
use super::units::{UNIT_SECTORS, units_of};
use crate::ftl::{LogicalUnit, Placed, Stream};
use crate::{Io, Nanos};

/// The row that was read last within a command.
#[derive(Clone, Copy, Debug, Default)]
struct RowRead {
    row: Option<u32>,
    page: u32,
    ready: Nanos,
}

impl Ssd {
    /// `None` when the drive wore out before all of it was placed: some units of it may hold the new
    /// data then, as after a power cut.
    pub(super) fn write(&mut self, io: Io, arrives: Nanos) -> Option<Nanos> {
        if let Some(watch) = &mut self.in_order {
            self.ftl.writes_in_order(watch.goes_on(io));
        }
        let units = units_of(io);
        let handling = Nanos(self.costs.write_unit.0 * u64::from(units.count));
        let handled = self.controller.serve(arrives, self.costs.write + handling);
        let accepted = handled - handling;
        let transfer = self.link.command() + self.link.data(io.bytes());
        let received = self.link_lane.serve_when_ready(arrives, accepted, transfer);
        self.read_ahead.clear();
        // The controller handles the data while the rest of it arrives.
        let mut admitted = received.max(handled);
        for unit in units.iter() {
            let stream = self.ftl.stream_for(unit);
            if let Some(cut) = self.ftl.cut_row_before(unit) {
                let ready = admitted.max(self.row_ready[cut.stream.index()]);
                self.program_if_full(cut, arrives, ready);
            }
            if self.ftl.at_row_start(stream) {
                self.row_ready[stream.index()] = self.buffer.admit(admitted);
            }
            if units.covers_partly(unit) {
                admitted = admitted.max(self.fetch_unit(unit, accepted));
            }
            // A command that adds to a row waits for the row's space like the one that began it.
            admitted = admitted.max(self.row_ready[stream.index()]);
            self.row_ready[stream.index()] = admitted;
            let placed = self.ftl.write(unit, stream)?;
            self.program_if_full(placed, arrives, admitted);
        }
        Some(admitted)
    }

    #[inline]
    fn program_if_full(&mut self, placed: Placed, at: Nanos, ready: Nanos) {
        if !placed.row_full {
            return;
        }
        self.nand.chores(placed.die, placed.chores, at, ready);
        let mut merged = ready;
        while let Some((die, chores)) = self.ftl.next_chores() {
            let done = self.nand.chores(die, chores, at, ready);
            // A log block is won back when all dies of the merge are done; a die that only erases
            // holds up no other.
            if chores.rows_programmed() > 0 || chores.rows_read > 0 {
                merged = merged.max(done);
            }
        }
        let (_, next_row) = self.ftl.open_row(placed.die, placed.stream);
        let row = next_row - 1;
        let end = self.nand.program(placed.die, row, at, merged);
        self.buffer.programming_until(end);
        let place = self.row_end(placed.die, placed.stream, row);
        self.row_ends[place] = end;
    }

    pub(super) fn read(&mut self, io: Io, arrives: Nanos) -> Nanos {
        let units = units_of(io);
        let cost = self.costs.read + Nanos(self.costs.read_unit.0 * u64::from(units.count));
        let accepted = self.controller.serve(arrives, cost);
        // Data crosses the link in order, each part as soon as it and the link are there, and the
        // command's own frames close it.
        let transfer = self.link.command() + self.link.data(io.bytes());
        let mut sent = self.link_lane.backlog_ends(arrives).max(accepted);
        self.link_lane.serve(arrives, transfer);
        let sequential = self.read_ahead.begins(units.first);
        let mut row = RowRead::default();
        let per_unit = Nanos(self.link.data(io.bytes()).0 / u64::from(units.count));
        for unit in units.iter() {
            let ready = match self.read_ahead.take(unit) {
                Some(fetched) => fetched,
                None => self.read_unit(unit, accepted, &mut row),
            };
            sent = sent.max(ready) + per_unit;
        }
        if sequential {
            self.fetch_ahead(units.first + units.count, accepted);
        }
        self.read_ahead.expect(units.first + units.count);
        sent + self.link.command()
    }

    /// When a unit that may share its row's read with the one before it is in the controller.
    #[inline]
    fn read_unit(&mut self, unit: LogicalUnit, at: Nanos, row: &mut RowRead) -> Nanos {
        let shape = self.ftl.shape();
        let Some(place) = self.ftl.find(unit) else {
            // Nothing was ever written there: the map says so, and no NAND is read.
            return at;
        };
        let (die, block, within) = shape.locate(place);
        let (row_in_block, in_row) = shape.row_of(within);
        if self.is_buffered(die, block, row_in_block, at) {
            return at;
        }
        let page = place - within + shape.page_of(within);
        let row_id = place - in_row;
        if row.row != Some(row_id) {
            let ready = self.nand.read(die, row_in_block, at);
            *row = RowRead { row: Some(row_id), page, ready };
        } else if row.page != page {
            row.page = page;
            row.ready = self.nand.read_more(die, at, row.ready);
        }
        row.ready
    }

    fn fetch_unit(&mut self, unit: LogicalUnit, at: Nanos) -> Nanos {
        self.read_unit(unit, at, &mut RowRead::default())
    }

    /// Whether a row is still in the write buffer at `at`.
    #[inline]
    fn is_buffered(&self, die: u32, block: u32, row: u32, at: Nanos) -> bool {
        let is_in = |stream: Stream| {
            let (open_block, open_row) = self.ftl.open_row(die, stream);
            block == open_block
                && (row >= open_row || self.row_ends[self.row_end(die, stream, row)] > at)
        };
        is_in(Stream::Cold) || self.ftl.has_streams() && is_in(Stream::Hot)
    }

    /// The place in `row_ends` of a row of the open block of a die's stream.
    #[inline]
    fn row_end(&self, die: u32, stream: Stream, row: u32) -> usize {
        let front = stream.index() * self.ftl.shape().dies as usize + die as usize;
        front * self.rows_per_block + row as usize
    }

    /// Fetches what a sequential reader will ask for next.
    fn fetch_ahead(&mut self, from: LogicalUnit, at: Nanos) {
        let mut row = RowRead::default();
        let end = from.saturating_add(self.read_ahead.window()).min(self.ftl.user_units());
        for unit in self.read_ahead.fetched_to(from)..end {
            let ready = self.read_unit(unit, at, &mut row);
            self.read_ahead.put(unit, ready);
        }
    }

    pub(super) fn trim(&mut self, io: Io, arrives: Nanos) -> Nanos {
        let accepted = self.controller.serve(arrives, self.costs.write);
        // Only units that lie within it whole: the rest of a unit may still hold data.
        let first = io.lba.0.div_ceil(UNIT_SECTORS);
        let end = io.end() / UNIT_SECTORS;
        (first..end).for_each(|unit| self.ftl.trim(unit as LogicalUnit));
        self.read_ahead.clear();
        self.link_lane.serve_when_ready(arrives, accepted, self.link.command())
    }

    pub(super) fn flush(&mut self, arrives: Nanos) -> Nanos {
        let accepted = self.controller.serve(arrives, self.costs.write);
        let answered = self.link_lane.serve_when_ready(arrives, accepted, self.link.command());
        if self.power_loss_protected {
            return answered;
        }
        while let Some(placed) = self.ftl.pad() {
            let ready = accepted.max(self.row_ready[placed.stream.index()]);
            self.program_if_full(placed, arrives, ready);
        }
        self.buffer.drained(answered)
    }
}
