//! The commands: each walks the drive's resources to the time it is done.

use std::ops::Range;

use super::Ssd;
use super::checkpoint::Checkpoint;
use super::persistence::ProgrammedRow;
use super::units::{Units, in_4k};
use crate::ftl::{LogicalUnit, Placed, Stream};
use crate::nand::Chores;
use crate::{Io, Nanos};

/// What a command reads from the NAND.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reads {
    /// When the command can ask for it.
    pub(super) at: Nanos,
    /// When the map says where it is.
    pub(super) mapped: Nanos,
    /// When the answer is there that it is nowhere.
    pub(super) unwritten: Nanos,
    /// The row and the page read last, and when that was there.
    pub(super) row: Option<u32>,
    pub(super) page: u32,
    pub(super) ready: Nanos,
}

impl Reads {
    pub(super) fn new(at: Nanos, mapped: Nanos) -> Reads {
        Reads { at, mapped, unwritten: mapped, row: None, page: 0, ready: mapped }
    }
}

impl Ssd {
    /// `None` when the drive wore out before all of it was placed: some units of it may hold the new
    /// data then, as after a power cut.
    pub(super) fn write(&mut self, io: Io, arrives: Nanos) -> Option<Nanos> {
        if let Some(watch) = &mut self.in_order {
            self.ftl.writes_in_order(watch.goes_on(io));
        }
        let units = self.grain.units_of(io);
        if self.plain && units.are_whole() && !io.fua {
            return self.write_plain(io, units, arrives);
        }
        let joined = self.joins(io, units);
        let written = in_4k(io);
        let weight = self.weight(io);
        let stored = u64::from(weight) * u64::from(units.count);
        let handling = Nanos(
            self.costs.write_4k.0 * (written.end - written.start)
                + self.costs.stored_granule.0 * stored,
        );
        let times = self.costs.saves(written.end - written.start);
        let pause = |checkpoint: &mut Checkpoint| checkpoint.before_write(times);
        let pause = self.checkpoint.as_mut().map_or(Nanos::ZERO, pause);
        let handled = self.controller.serve(arrives, pause + self.costs.write + handling);
        let handled = handled + self.costs.write_latency;
        let accepted = handled - handling;
        let mapped = self.look_up(units.iter(), true, accepted);
        let received = self.link.receive(arrives, accepted, io.bytes());
        self.read_ahead.clear();
        let mut durable = Nanos::ZERO;
        // The controller handles the data while the rest of it arrives.
        let mut admitted = received.max(handled);
        if let Some(limit) = &mut self.write_limit {
            admitted = limit.pass(admitted, written.end - written.start);
        }
        let mut unit = units.first;
        while unit < units.first + units.count {
            let whole = units.whole_from(unit);
            let mut together = whole.max(1);
            if self.coalesces || joined && whole == 0 {
                let (count, row) = self.ftl.absorb(unit, together);
                if let Some(stream) = row {
                    // What is kept of a unit that is written in part is here, too.
                    admitted = admitted.max(self.row_ready[stream.index()]);
                    self.row_ready[stream.index()] = admitted;
                    if let Some(persistence) = &mut self.persistence {
                        persistence.absorbed(unit, count, stream);
                    }
                    unit += count;
                    continue;
                }
                together = count;
            }
            let stream = self.ftl.stream_for(unit);
            loop {
                if self.ftl.at_row_start(stream) {
                    self.row_ready[stream.index()] = self.buffer.admit(admitted);
                }
                let Some(cut) = self.ftl.cut_row_before(unit, stream, weight) else {
                    break;
                };
                let ready = admitted.max(self.row_ready[cut.stream.index()]);
                // What the command has in that row already is on the NAND only then.
                durable = durable.max(self.program_if_full(cut, arrives, ready));
            }
            let mut rest = Nanos::ZERO;
            if whole == 0 {
                let pages = self.grain.pages_to_keep(io, unit);
                rest = self.read_unit(unit, pages, &mut Reads::new(accepted, mapped));
                if !joined {
                    admitted = admitted.max(rest);
                }
            }
            // A command that adds to a row waits for the row's space like the one that began it.
            admitted = admitted.max(self.row_ready[stream.index()]);
            self.row_ready[stream.index()] = admitted;
            let Some((written, placed)) = self.ftl.write(unit, together, stream, weight) else {
                self.host_writes.add(self.grain, self.grain.part_before(io, unit));
                return None;
            };
            if let Some(persistence) = &mut self.persistence {
                persistence.placed(unit, written, placed.stream);
            }
            // What is read for a write that did not wait is there before the row is full, unless the write fills it.
            durable = durable.max(self.program_if_full(placed, arrives, admitted.max(rest)));
            unit += written;
        }
        self.host_writes.add(self.grain, io);
        // The data is in the buffer already; it counts as written when the map can say where it is.
        admitted = admitted.max(mapped);
        if self.writes_through || io.fua && !self.power_loss_protected {
            admitted = durable.max(self.program_open_rows(arrives, admitted)).max(admitted);
        }
        if self.writes_sync || io.fua {
            admitted += self.costs.sync_latency;
        }
        Some(self.link.confirm(arrives, admitted))
    }

    /// Whether a write goes on where the last one ended that covered a unit in part, and does so, too.
    #[inline]
    fn joins(&mut self, io: Io, units: Units) -> bool {
        if !self.joins || units.are_whole() {
            return false;
        }
        self.joined_to.replace(io.end()) == Some(io.lba.0)
    }

    /// When the map's entries of `units` are in memory, for a command handled at `at`.
    #[inline]
    fn look_up(&mut self, units: Range<LogicalUnit>, updates: bool, at: Nanos) -> Nanos {
        match &mut self.limited_map {
            None => at,
            Some(map) => {
                // The map says what it said if the buffer absorbs all of them.
                let in_row = |unit| self.ftl.open_row_with(unit).is_some();
                let updates = updates && !(self.coalesces && units.clone().all(in_row));
                map.look_up(units, updates, at, &mut self.nand)
            }
        }
    }

    /// Programs the rows being filled as far as they are filled, from `ready` on. Returns when the
    /// last of them is on the NAND, 0 when no row is begun.
    fn program_open_rows(&mut self, at: Nanos, ready: Nanos) -> Nanos {
        let mut end = Nanos::ZERO;
        while let Some(placed) = self.ftl.pad() {
            let ready = ready.max(self.row_ready[placed.stream.index()]);
            end = end.max(self.program_if_full(placed, at, ready));
        }
        let end = end.max(self.program_rests(at, ready));
        if let Some(persistence) = &mut self.persistence {
            persistence.all_programmed(end);
        }
        end
    }

    /// Programs the row that a unit went to if that filled it. Returns when it is on the NAND, 0
    /// when there is nothing to program.
    #[inline]
    pub(super) fn program_if_full(&mut self, placed: Placed, at: Nanos, ready: Nanos) -> Nanos {
        if !placed.row_full {
            return Nanos::ZERO;
        }
        if let Some(limit) = &mut self.write_limit {
            limit.note(self.ftl.moves_much(placed.die));
        }
        let chores = self.ftl.take_chores(placed.die);
        self.nand.chores(placed.die, &chores, at, ready);
        let mut merged = self.note_moves(&chores, at, ready);
        while let Some((die, chores)) = self.ftl.next_chores() {
            let done = self.nand.chores(die, &chores, at, ready);
            merged = self.note_moves(&chores, at, merged);
            // A log block is won back when all dies of the merge are done; a die that only erases
            // holds up no other.
            if chores.rows_programmed() > 0 || chores.rows_read > 0 {
                merged = merged.max(done);
            }
        }
        let (block, next_row) = self.ftl.open_row(placed.die, placed.stream);
        let row = next_row - 1;
        let shape = self.ftl.shape();
        let nand_row = shape.nand_row(row);
        let end = match placed.stream {
            Stream::Slc => self.nand.program_slc(placed.die, at, merged),
            Stream::Cold | Stream::Hot => self.nand.program(placed.die, nand_row, at, merged),
        };
        let began = end - self.nand.last_program(placed.die);
        if shape.has_parity() && shape.parity_behind(row) > 0 {
            self.nand.program(placed.die, nand_row + 1, at, end);
        }
        self.buffer.programming_until(end);
        let place = self.row_end(placed.die, placed.stream, row);
        self.row_ends[place] = end;
        if let Some(persistence) = &mut self.persistence {
            let beneath = match placed.stream {
                // One bit a cell.
                Stream::Slc => Vec::new(),
                Stream::Cold | Stream::Hot => self.nand.beneath(nand_row),
            };
            let Placed { die, stream, .. } = placed;
            let row = ProgrammedRow { die, block, row: nand_row, beneath, began, end };
            persistence.programmed(row, stream, shape.compresses());
        }
        end
    }

    /// The controller's part of what is moved, ordered at `at`. Returns when that is done, not before
    /// `ready`.
    #[inline]
    pub(super) fn note_moves(&mut self, chores: &Chores, at: Nanos, ready: Nanos) -> Nanos {
        self.costs.note_moves(&mut self.controller, chores, at, ready)
    }

    pub(super) fn read(&mut self, io: Io, arrives: Nanos) -> Nanos {
        let units = self.grain.units_of(io);
        let asked = in_4k(io);
        let cost = self.costs.read + Nanos(self.costs.read_4k.0 * (asked.end - asked.start));
        let handled = self.controller.serve(arrives, cost) + self.costs.read_latency;
        let accepted = match self.costs.read_pipelined {
            false => handled,
            true => handled - Nanos(self.costs.read_4k.0 * (asked.end - asked.start - 1)),
        };
        // Data crosses the link in order, each part as soon as it and the link are there, and the
        // command's own frames close it.
        let mut sent = self.link.send(arrives, accepted, io.bytes());
        let sequential = self.read_ahead.begins(io.lba.0);
        let mapped = self.look_up(units.iter(), false, accepted);
        let mut reads = self.reads_for_host(accepted, mapped);
        let per_unit = Nanos(self.link.data(io.bytes()).0 / u64::from(units.count));
        for unit in units.iter() {
            let ready = match self.read_ahead.find(unit) {
                Some(fetched) => fetched,
                None => {
                    let pages = self.grain.pages_touched(io, unit);
                    self.read_unit(unit, pages, &mut reads)
                }
            };
            sent = sent.max(ready) + per_unit;
        }
        if sequential {
            self.fetch_ahead(self.grain.unit_of_4k(asked.end), accepted);
        }
        self.read_ahead.expect(io.end());
        sent.max(handled) + self.link.command()
    }

    /// Reads that a host waits for, and so for the answer that nothing is there.
    fn reads_for_host(&self, at: Nanos, mapped: Nanos) -> Reads {
        Reads { unwritten: mapped + self.unwritten_read, ..Reads::new(at, mapped) }
    }

    /// When `pages` of a unit (1 if it is no larger than a page) are in the controller. It may
    /// share its row's read with the unit before it.
    #[inline]
    fn read_unit(&mut self, unit: LogicalUnit, pages: u32, reads: &mut Reads) -> Nanos {
        let shape = self.ftl.shape();
        let Some(place) = self.ftl.find(unit) else {
            // Nothing is there, as the map says: no NAND is read.
            return match self.reads_unwritten {
                false => reads.unwritten,
                true => self.read_unwritten(unit, pages, reads),
            };
        };
        let (die, block, within) = shape.locate(place);
        if shape.compresses() {
            return self.read_stored(unit, place, reads);
        }
        let (row_in_block, in_row) = shape.row_of(within);
        if self.is_buffered(die, block, row_in_block, reads.mapped) {
            return reads.mapped;
        }
        let page = place - within + shape.page_of(within);
        let row = Some(place - in_row);
        if reads.row != row {
            (reads.row, reads.page) = (row, page);
            reads.ready = if self.ftl.is_slc(die, block) {
                self.nand.read_slc(die, reads.at, reads.mapped)
            } else {
                self.nand.read(die, Some(row_in_block), reads.at, reads.mapped)
            };
        } else if reads.page != page {
            reads.page = page;
            reads.ready = self.nand.read_more(die, reads.at, reads.ready);
        } else {
            return reads.ready;
        }
        for _ in 1..pages {
            reads.ready = self.nand.read_more(die, reads.at, reads.ready);
        }
        reads.ready
    }

    /// When a unit that was never written is in the controller, where it is read all the same: from
    /// the row it would be in had the drive been written in order.
    pub(super) fn read_unwritten(
        &mut self,
        unit: LogicalUnit,
        pages: u32,
        reads: &mut Reads,
    ) -> Nanos {
        let shape = self.ftl.shape();
        let (row, in_row) = shape.row_of(unit);
        // No row that was written has such a number: there are fewer than 2^31 places.
        let (die, row) = (row % shape.dies, Some(!row));
        let page = shape.page_of(in_row);
        if reads.row != row {
            reads.ready = self.nand.read(die, None, reads.at, reads.mapped);
        } else if reads.page != page {
            reads.ready = self.nand.read_more(die, reads.at, reads.ready);
        } else {
            return reads.ready;
        }
        (reads.row, reads.page) = (row, page);
        for _ in 1..pages {
            reads.ready = self.nand.read_more(die, reads.at, reads.ready);
        }
        reads.ready
    }

    /// Whether a row is still in the write buffer at `at`.
    #[inline]
    pub(super) fn is_buffered(&self, die: u32, block: u32, row: u32, at: Nanos) -> bool {
        let is_in = |stream: Stream| {
            let (open_block, open_row) = self.ftl.open_row(die, stream);
            block == open_block
                && (row >= open_row || self.row_ends[self.row_end(die, stream, row)] > at)
        };
        is_in(Stream::Cold)
            || self.ftl.has_streams() && is_in(Stream::Hot)
            || self.ftl.has_slc() && is_in(Stream::Slc)
    }

    /// The place in `row_ends` of a row of the open block of a die's stream.
    #[inline]
    pub(super) fn row_end(&self, die: u32, stream: Stream, row: u32) -> usize {
        let front = stream.index() * self.ftl.shape().dies as usize + die as usize;
        front * self.rows_per_block + row as usize
    }

    /// Fetches what a sequential reader will ask for next.
    pub(super) fn fetch_ahead(&mut self, from: LogicalUnit, at: Nanos) {
        let end = from.saturating_add(self.read_ahead.window()).min(self.ftl.user_units());
        let wanted = self.read_ahead.fetched_to(from)..end;
        let mapped = self.look_up(wanted.clone(), false, at);
        let mut reads = self.reads_for_host(at, mapped);
        for unit in wanted {
            if self.ahead_contiguous && !self.lies_behind_the_one_before(unit) {
                break;
            }
            let ready = self.read_unit(unit, self.grain.pages_per_unit, &mut reads);
            self.read_ahead.put(unit, ready);
        }
    }

    /// Whether a unit lies on the NAND behind the unit before it: in the same row, or first in the
    /// row that was filled next, which is on another die at the same height or one higher. Of what was
    /// never written it is true.
    fn lies_behind_the_one_before(&self, unit: LogicalUnit) -> bool {
        let place = |unit| self.ftl.find(unit);
        let Some((before, own)) = unit.checked_sub(1).and_then(place).zip(place(unit)) else {
            return true;
        };
        let shape = self.ftl.shape();
        let at = |place| {
            let (_, _, within) = shape.locate(place);
            shape.row_of(within)
        };
        let ((row_before, last), (row, first)) = (at(before), at(own));
        let next_row = last + 1 == shape.units_per_row && first == 0;
        own == before + 1 || next_row && (row == row_before || row == row_before + 1)
    }

    pub(super) fn flush(&mut self, arrives: Nanos) -> Nanos {
        let accepted = self.controller.serve(arrives, self.costs.write) + self.costs.write_latency;
        let answered = self.link.answer(arrives, accepted);
        if self.power_loss_protected {
            return answered + self.costs.sync_latency;
        }
        self.program_open_rows(arrives, accepted);
        self.buffer.drained(answered) + self.costs.sync_latency
    }
}
