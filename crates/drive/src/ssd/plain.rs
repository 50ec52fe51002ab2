//! Whole units written to a drive without optional mechanisms: the same as [`Ssd::write`], without
//! asking for what such a drive has not.

use super::Ssd;
use super::units::{Units, in_4k};
use crate::ftl::{FullRow, Stream, Translation};
use crate::{Io, Nanos};

/// The one stream there is.
const ONLY: usize = 0;

impl Ssd {
    /// A write of whole `units`, not forced, to a drive that has no streams, no SLC buffer, no
    /// compression, a map that is all in memory and a buffer that does not coalesce. `None` when the
    /// drive wore out.
    #[inline(always)]
    pub(super) fn write_plain(&mut self, io: Io, units: Units, arrives: Nanos) -> Option<Nanos> {
        let written = in_4k(io);
        let handling = Nanos(self.costs.write_4k.0 * (written.end - written.start));
        let handled = self.controller.serve(arrives, self.costs.write + handling);
        let received = self.link.receive(arrives, handled - handling, io.bytes());
        self.read_ahead.clear();
        // The controller handles the data while the rest of it arrives.
        let mut admitted = received.max(handled);
        let (mut unit, end) = (units.first, units.first + units.count);
        if units.count > 1
            && let Translation::PageMap(ftl) = &self.ftl
        {
            ftl.prefetch_run(units.first, units.count);
        }
        while unit < end {
            let Translation::PageMap(ftl) = &mut self.ftl else {
                unreachable!("a plain drive has a page map");
            };
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
            if let Some(full) = full {
                self.program_plain(full, arrives, admitted);
            }
            unit += written;
        }
        self.host_writes.sectors += u64::from(io.sectors);
        self.host_writes.rmw_sectors += self.grain.sectors_of(units) - u64::from(io.sectors);
        Some(self.link.confirm(arrives, admitted))
    }

    /// Programs a full row, ordered at `at` with its data in the buffer at `ready`, after what its
    /// die has to do before it.
    fn program_plain(&mut self, full: FullRow, at: Nanos, ready: Nanos) {
        let FullRow { die, row, chores } = full;
        self.nand.chores(die, chores, at, ready);
        let merged = self.note_moves(chores, at, ready);
        let shape = self.ftl.shape();
        let nand_row = shape.nand_row(row);
        let end = self.nand.program(die, nand_row, at, merged);
        if shape.has_parity() && shape.parity_behind(row) > 0 {
            self.nand.program(die, nand_row + 1, at, end);
        }
        self.buffer.programming_until(end);
        let place = self.row_end(die, Stream::Cold, row);
        self.row_ends[place] = end;
    }
}
