//! Whole units read and written on a drive without optional mechanisms: the same as [`Ssd::read`] and
//! [`Ssd::write`], without asking for what such a drive has not. Most commands of the host are of one
//! unit, and those have a way of their own from end to end.

use super::Ssd;
use super::commands::Reads;
use super::one_unit::{OneUnit, WriteTimes};
use super::units::{Units, in_4k};
use crate::ftl::{LogicalUnit, Stream};
use crate::nand::Chores;
use crate::{FaultCause, Io, Nanos, Op, Tag};

/// The one stream there is.
const ONLY: usize = 0;

impl Ssd {
    /// Every command goes the long way from now on, which asks for what most drives do not have.
    pub(super) fn leave_the_short_way(&mut self) {
        self.plain = false;
        self.one = OneUnit::NONE;
    }

    /// Whether a read or a write is of one whole unit: see [`OneUnit`].
    #[inline(always)]
    pub(super) fn is_one_unit(&self, io: Io) -> bool {
        let OneUnit { sectors, within, end, .. } = self.one;
        io.sectors == sectors && io.lba.0 & within == 0 && io.lba.0 < end
    }

    /// [`crate::Target::submit`] of a read of one unit.
    #[inline(always)]
    pub(super) fn submit_read(&mut self, tag: Tag, io: Io) {
        let arrives = self.arrival(Op::Read);
        let answered = self.read_one(io, self.grain.unit_of(io.lba), arrives);
        self.answer(tag, (Op::Read, io.bytes()), arrives, answered);
    }

    /// The same of a write of one unit, not forced.
    #[inline(always)]
    pub(super) fn submit_write(&mut self, tag: Tag, io: Io) {
        let arrives = self.arrival(Op::Write);
        let unit = self.grain.unit_of(io.lba);
        let written = if self.is_read_only() { None } else { self.write_one(io, unit, arrives) };
        match written {
            Some(answered) => self.answer(tag, (Op::Write, io.bytes()), arrives, answered),
            None => self.queue.refuse(tag, io, FaultCause::WornOut),
        }
    }

    #[inline(always)]
    fn read_one(&mut self, io: Io, unit: LogicalUnit, arrives: Nanos) -> Nanos {
        let begin = in_4k(io).start;
        let accepted = self.controller.serve(arrives, self.one.read) + self.costs.read_latency;
        let data = self.one.data;
        let sent = self.link.send_for(arrives, accepted, self.link.command() + data);
        let sequential = self.read_ahead.begins(io.lba.0);
        let ready = match self.read_ahead.find(unit) {
            Some(fetched) => fetched,
            None => self.fetch_one(unit, accepted),
        };
        let sent = sent.max(ready) + data;
        let end = begin + self.one.touched_4k;
        if sequential {
            self.fetch_ahead(self.grain.unit_of_4k(end), accepted);
        }
        self.read_ahead.expect(io.end());
        sent + self.link.command()
    }

    /// When a unit is in the controller that is asked for at `at`.
    #[inline(always)]
    fn fetch_one(&mut self, unit: LogicalUnit, at: Nanos) -> Nanos {
        let ftl = self.ftl.page_map();
        let Some((die, block, row)) = ftl.row_with(unit) else {
            // Nothing is there, as the map says: no NAND is read.
            return match self.reads_unwritten {
                false => at + self.unwritten_read,
                true => self.read_unwritten(unit, 1, &mut Reads::new(at, at)),
            };
        };
        if block == ftl.open_block(die) && self.is_buffered(die, block, row, at) {
            return at;
        }
        self.nand.read(die, Some(row), at, at)
    }

    #[inline(always)]
    fn write_one(&mut self, io: Io, unit: LogicalUnit, arrives: Nanos) -> Option<Nanos> {
        if let Some(watch) = &mut self.in_order {
            self.ftl.writes_in_order(watch.goes_on(io));
        }
        let mut admitted = self.take_plain(arrives, self.one.write);
        if let Some(limit) = &mut self.write_limit {
            admitted = limit.pass(admitted, self.one.touched_4k);
        }
        let ftl = self.ftl.page_map_mut();
        if ftl.at_row_start(Stream::Cold) {
            self.row_ready[ONLY] = self.buffer.admit(admitted);
        }
        admitted = admitted.max(self.row_ready[ONLY]);
        self.row_ready[ONLY] = admitted;
        if let Some(die) = ftl.write_one(unit)? {
            self.program_plain(die, arrives, admitted);
        }
        self.host_writes.sectors += u64::from(io.sectors);
        Some(self.link.confirm(arrives, admitted))
    }

    /// A write of whole `units`, not forced, to a drive that has no streams, no SLC buffer, no
    /// compression, a map that is all in memory and a buffer that does not coalesce. `None` when the
    /// drive wore out.
    #[inline(always)]
    pub(super) fn write_plain(&mut self, io: Io, units: Units, arrives: Nanos) -> Option<Nanos> {
        let written = in_4k(io);
        let handling = Nanos(self.costs.write_4k.0 * (written.end - written.start));
        let link = self.link.frames() + self.link.data(io.bytes());
        let times = WriteTimes { controller: self.costs.write + handling, handling, link };
        let mut admitted = self.take_plain(arrives, times);
        if let Some(limit) = &mut self.write_limit {
            admitted = limit.pass(admitted, written.end - written.start);
        }
        let (mut unit, end) = (units.first, units.first + units.count);
        if units.count > 1 {
            self.ftl.page_map().prefetch_run(units.first, units.count);
        }
        while unit < end {
            let ftl = self.ftl.page_map_mut();
            if ftl.at_row_start(Stream::Cold) {
                self.row_ready[ONLY] = self.buffer.admit(admitted);
            }
            // A command that adds to a row waits for the row's space like the one that began it.
            admitted = admitted.max(self.row_ready[ONLY]);
            self.row_ready[ONLY] = admitted;
            let Some((written, full)) = ftl.write_plain(unit, end - unit) else {
                self.host_writes.add(self.grain, self.grain.part_before(io, unit));
                return None;
            };
            if let Some(die) = full {
                self.program_plain(die, arrives, admitted);
            }
            unit += written;
        }
        self.host_writes.sectors += u64::from(io.sectors);
        self.host_writes.rmw_sectors += self.grain.sectors_of(units) - u64::from(io.sectors);
        Some(self.link.confirm(arrives, admitted))
    }

    /// When the data of a write is in the drive and handled.
    #[inline(always)]
    fn take_plain(&mut self, arrives: Nanos, times: WriteTimes) -> Nanos {
        let handled = self.controller.serve(arrives, times.controller) + self.costs.write_latency;
        let received = self.link.receive_for(arrives, handled - times.handling, times.link);
        self.read_ahead.clear();
        // The controller handles the data while the rest of it arrives.
        received.max(handled)
    }

    /// Programs the row that was filled on a die, ordered at `at` with its data in the buffer at `ready`,
    /// after what the die has to do before it.
    #[inline(never)]
    fn program_plain(&mut self, die: u32, at: Nanos, ready: Nanos) {
        let ftl = self.ftl.page_map_mut();
        let row = ftl.plain_row_filled(die);
        if let Some(limit) = &mut self.write_limit {
            limit.note(ftl.moves_much(die));
        }
        let (nand_row, parity) = match ftl.has_parity() {
            false => (row, false),
            true => (ftl.shape().nand_row(row), ftl.shape().parity_behind(row) > 0),
        };
        let chores = ftl.chores_of(die);
        let mut merged = ready;
        if !chores.is_empty() {
            self.nand.chores(die, chores, at, ready);
            merged = self.costs.note_moves(&mut self.controller, chores, at, ready);
            *chores = Chores::default();
        }
        let end = self.nand.program(die, nand_row, at, merged);
        if parity {
            self.nand.program(die, nand_row + 1, at, end);
        }
        self.buffer.programming_until(end);
        let place = self.row_end(die, Stream::Cold, row);
        self.row_ends[place] = end;
    }
}
