//! The reference drive: commands as sums of times, over the map and the NAND of the reference.

use std::collections::{BTreeMap, VecDeque};

use fourcorners_drive::config::{LinkSection, SataLinkSection, SsdConfig};
use fourcorners_drive::{
    Clock, Done, Fault, FaultCause, Geometry, Io, Lba, Nanos, Op, SsdCounters, Tag, Target,
};

use crate::common::play::Drive;
use crate::flash::{Flash, Lane, ns};
use crate::limit::WriteLimit;
use crate::space::{FullRow, Space, Written};
use crate::vary::Vary;

/// A plain model of the virtual SSD.
pub(crate) struct Reference {
    profile: SsdConfig,
    space: Space,
    flash: Flash,
    controller: Lane,
    link: Lane,
    /// When each row that was filled is on the NAND, oldest first.
    buffer: VecDeque<u64>,
    /// When the last row that asked had space in the buffer: it is given in the order it is asked for.
    given: u64,
    /// When the row being filled had space in the buffer.
    row_ready: u64,
    limit: WriteLimit,
    /// When every command so far was answered, latest first.
    answered: Vec<u64>,
    /// Where the last write ended that covered a unit in part.
    joined_to: Option<u64>,
    /// Written by the host.
    host_sectors: u64,
    /// Units that had a place, waited to be programmed and went with a purge.
    purged_units: u64,
    /// By die and row of the block host data goes into: when the row is on the NAND.
    row_ends: Vec<Vec<u64>>,
    /// Where each write ended.
    written_to: Vec<u64>,
    /// The sector where the last read ended.
    expected: Option<u64>,
    /// Units fetched for a sequential reader, and when each was there.
    fetched: BTreeMap<usize, u64>,
    now: u64,
    /// By process: until when it is busy.
    processes: Vec<u64>,
    /// When, in which order of submission, and which; sorted.
    completions: Vec<(u64, u64, Tag)>,
    submitted: u64,
    refused: VecDeque<Fault>,
}

/// What a read has in the page registers: die, block, row, page, and since when.
type Registers = Option<(usize, usize, usize, usize, u64)>;

impl Reference {
    /// The profile must have passed its check.
    pub(crate) fn new(profile: &SsdConfig) -> Reference {
        Reference {
            space: Space::new(profile),
            flash: Flash::new(profile),
            controller: Lane::default(),
            link: Lane::default(),
            buffer: VecDeque::new(),
            given: 0,
            row_ready: 0,
            limit: WriteLimit::new(profile.write_limit.clone()),
            answered: Vec::new(),
            joined_to: None,
            host_sectors: 0,
            purged_units: 0,
            row_ends: vec![Vec::new(); profile.nand.dies as usize],
            written_to: Vec::new(),
            expected: None,
            fetched: BTreeMap::new(),
            now: 0,
            processes: vec![0; profile.host.processes.unwrap_or(1) as usize],
            completions: Vec::new(),
            submitted: 0,
            refused: VecDeque::new(),
            profile: profile.clone(),
        }
    }

    pub(crate) fn is_mapped(&self, lba: Lba) -> bool {
        self.space.find(lba.0 as usize / 8).is_some()
    }

    /// Panics unless the map and the blocks say the same.
    pub(crate) fn check(&self) {
        self.space.check();
    }

    /// The only link it knows; whoever draws a drive for it draws no other.
    fn sata(&self) -> &SataLinkSection {
        match &self.profile.link {
            LinkSection::Sata(sata) => sata,
            LinkSection::Pcie(_) => panic!("the reference knows no PCIe"),
        }
    }

    /// The command's own frames on the link.
    fn frames(&self) -> u64 {
        ns(self.sata().command_us)
    }

    /// Data on the link: ten bits a byte, and a pause for every frame of 8 KiB.
    fn data(&self, sectors: u32) -> u64 {
        let bytes = u64::from(sectors) * 512;
        let sata = self.sata();
        let bytes_per_second = sata.gbps * 1e9 / 10.0;
        let wire = (bytes as f64 * 1e9 / bytes_per_second).round() as u64;
        wire + bytes.div_ceil(8192) * ns(sata.frame_us)
    }

    /// Rows the buffer holds besides the one being filled.
    fn buffer_rows(&self) -> usize {
        let row_kib = self.space.sizes().row * 4;
        self.profile.buffer.write_kib as usize / row_kib - 1
    }

    /// A read or a write, in parts that a command can move.
    fn transfer(&mut self, io: Io, arrives: u64) -> u64 {
        let most = u64::from(self.profile.capacity.transfer_kib.unwrap_or(1 << 20)) * 2;
        let starts = (io.lba.0..io.end()).step_by(most as usize);
        let mut answered = 0;
        for start in starts {
            let sectors = (io.end() - start).min(most) as u32;
            let part = Io { lba: Lba(start), sectors, ..io };
            let done = match io.op {
                Op::Read => self.read(part, arrives),
                _ => self.write(part, arrives),
            };
            answered = answered.max(done);
        }
        if io.op == Op::Read { answered + self.limit.read_waits(arrives) } else { answered }
    }

    fn write(&mut self, io: Io, arrives: u64) -> u64 {
        let watched = self.profile.gc.sequential_commands.unwrap_or(0);
        let mut latest = self.written_to.iter().rev().take(watched as usize);
        self.space.in_order = latest.any(|&end| end == io.lba.0);
        self.written_to.push(io.end());
        let (first, last) = units(io);
        self.host_sectors += u64::from(io.sectors);
        let count = (last - first + 1) as u64;
        let command = ns(self.profile.controller.write_command_us);
        let handling = ns(self.profile.controller.write_4k_us) * count;
        let handled = self.controller.serve(arrives, arrives, command + handling);
        let handled = handled + ns(self.profile.controller.write_latency_us.unwrap_or(0.0));
        let accepted = handled - handling;
        let transfer = self.frames() + self.data(io.sectors);
        let received = self.link.serve(arrives, accepted, transfer);
        self.fetched.clear();
        let mut admitted =
            self.limit.let_through(received.max(handled), count, self.flash.vary.as_ref());
        let in_part = !io.lba.0.is_multiple_of(8) || !io.end().is_multiple_of(8);
        let buffer = &self.profile.buffer;
        let coalesces = buffer.coalesce == Some(true);
        let mut goes_on = false;
        if buffer.join == Some(true) && in_part {
            goes_on = self.joined_to == Some(io.lba.0);
            self.joined_to = Some(io.end());
        }
        for unit in first..=last {
            if self.space.at_row_start() {
                self.row_ready = self.admit(admitted);
            }
            let begin = unit as u64 * 8;
            let in_part = io.lba.0 > begin || io.end() < begin + 8;
            let mut rest = 0;
            if in_part {
                // The rest of the unit is read, for which only some writes wait.
                rest = self.read_unit(unit, accepted, &mut None);
                if !goes_on {
                    admitted = admitted.max(rest);
                }
            }
            admitted = admitted.max(self.row_ready);
            self.row_ready = admitted;
            self.space.absorbs = coalesces || goes_on && in_part;
            if let Written::RowFull(full) = self.space.write(unit) {
                self.program(full, arrives, admitted.max(rest));
            }
        }
        admitted
    }

    /// When a row can begin to be filled whose first data is there at `at`.
    fn admit(&mut self, at: u64) -> u64 {
        self.given = self.given.max(at);
        while self.buffer.front().is_some_and(|&end| end <= self.given) {
            self.buffer.pop_front();
        }
        if self.buffer.len() >= self.buffer_rows() {
            self.given = self.buffer.pop_front().expect("it holds at least one row");
        }
        self.given
    }

    fn program(&mut self, full: FullRow, at: u64, ready: u64) {
        if let Some(moves_much) = self.space.moves_much(full.die) {
            self.limit.is_on = moves_much;
        }
        self.flash.chores(full.die, full.chores, at, ready);
        let end = self.flash.program(full.die, at, ready);
        self.buffer.push_back(end);
        let ends = &mut self.row_ends[full.die];
        ends.truncate(full.row);
        ends.push(end);
    }

    fn read(&mut self, io: Io, arrives: u64) -> u64 {
        let (first, last) = units(io);
        let count = (last - first + 1) as u64;
        let controller = &self.profile.controller;
        let cost = ns(controller.read_command_us) + ns(controller.read_4k_us) * count;
        let window = controller.read_ahead_kib as usize / 4;
        let accepted = self.controller.serve(arrives, arrives, cost);
        let handled = accepted + ns(controller.read_latency_us.unwrap_or(0.0));
        let behind_the_first = match controller.read_pipelined {
            Some(true) => ns(controller.read_4k_us) * (count - 1),
            _ => 0,
        };
        let accepted = handled - behind_the_first;
        let mut sent = self.link.free(arrives).max(accepted);
        let transfer = self.frames() + self.data(io.sectors);
        self.link.serve(arrives, arrives, transfer);
        let sequential = window > 0 && self.expected == Some(io.lba.0);
        if !sequential {
            self.fetched.clear();
        }
        let mut registers = None;
        for unit in first..=last {
            let ready = match self.fetched.get(&unit) {
                Some(&ready) => ready,
                None => self.read_for_host(unit, accepted, &mut registers),
            };
            sent = sent.max(ready) + self.data(io.sectors) / count;
        }
        // A read may end within a unit, and the next begin there.
        self.fetched = self.fetched.split_off(&last);
        if sequential {
            let from = self.fetched.last_key_value().map_or(last + 1, |(&unit, _)| unit + 1);
            let end = (last + 1 + window).min(self.space.user_units());
            let mut registers = None;
            for unit in from..end {
                let ready = self.read_for_host(unit, accepted, &mut registers);
                self.fetched.insert(unit, ready);
            }
        }
        self.expected = Some(io.end());
        sent.max(handled) + self.frames()
    }

    /// When a unit that the host reads is in the controller: one without data takes the firmware's time.
    fn read_for_host(&mut self, unit: usize, at: u64, registers: &mut Registers) -> u64 {
        match self.space.find(unit) {
            Some(_) => self.read_unit(unit, at, registers),
            None => at + ns(self.profile.controller.unwritten_read_us.unwrap_or(0.0)),
        }
    }

    /// When a unit is in the controller.
    fn read_unit(&mut self, unit: usize, at: u64, registers: &mut Registers) -> u64 {
        let Some(place) = self.space.find(unit) else { return at };
        let sizes = self.space.sizes();
        let (row, page) = (place.position / sizes.row, place.position / sizes.page);
        if let Some((block, open_row)) = self.space.open_row(place.die)
            && block == place.block
            && (row >= open_row || self.row_ends[place.die][row] > at)
        {
            return at;
        }
        let ready = match *registers {
            Some((die, block, read_row, read_page, ready))
                if (die, block, read_row) == (place.die, place.block, row) =>
            {
                match read_page == page {
                    true => ready,
                    false => self.flash.read_more(die, at, ready),
                }
            }
            _ => self.flash.read(place.die, row, at),
        };
        *registers = Some((place.die, place.block, row, page, ready));
        ready
    }

    fn trim(&mut self, io: Io, arrives: u64) -> u64 {
        let command = ns(self.profile.controller.write_command_us);
        let accepted = self.controller.serve(arrives, arrives, command);
        for unit in 0..self.space.user_units() as u64 {
            if io.lba.0 <= unit * 8 && unit * 8 + 8 <= io.end() {
                self.space.trim(unit as usize);
            }
        }
        self.fetched.clear();
        self.link.serve(arrives, accepted, self.frames())
    }

    fn flush(&mut self, arrives: u64) -> u64 {
        let command = ns(self.profile.controller.write_command_us);
        let accepted = self.controller.serve(arrives, arrives, command);
        let accepted = accepted + ns(self.profile.controller.write_latency_us.unwrap_or(0.0));
        let answered = self.link.serve(arrives, accepted, self.frames());
        let noted = ns(self.profile.controller.sync_latency_us.unwrap_or(0.0));
        if self.profile.buffer.power_loss_protected {
            return answered + noted;
        }
        if let Some(full) = self.space.pad() {
            self.program(full, arrives, accepted.max(self.row_ready));
        }
        self.drained(answered) + noted
    }

    /// When all in the buffer is on the NAND.
    fn drained(&self, at: u64) -> u64 {
        self.buffer.iter().copied().max().map_or(at, |end| end.max(at))
    }
}

/// The first and the last unit an I/O touches.
fn units(io: Io) -> (usize, usize) {
    (io.lba.0 as usize / 8, (io.end() - 1) as usize / 8)
}

impl Target for Reference {
    const CLOCK: Clock = Clock::Virtual;

    fn geometry(&self) -> Geometry {
        Geometry {
            sectors: self.profile.capacity.sectors,
            logical_block_bytes: 512,
            queue_depth: self.profile.capacity.queue_depth,
        }
    }

    fn now(&self) -> Nanos {
        Nanos(self.now)
    }

    fn submit(&mut self, tag: Tag, io: Io) {
        let mut cause = self.geometry().refuses(io);
        if cause.is_none() && io.op == Op::Trim && !self.profile.trim.supported {
            cause = Some(FaultCause::Unsupported);
        }
        if let Some(cause) = cause {
            self.refused.push_back(Fault { tag, io, at: Nanos(self.now), cause });
            return;
        }
        let mut submitted = self.now;
        let busy = ns(self.profile.host.process_us.unwrap_or(0.0));
        if busy > 0 {
            let busy = match &self.flash.vary {
                Some(vary) => Vary::longer(busy, vary.drift),
                None => busy,
            };
            // The process that is free first takes it.
            let first = (0..self.processes.len()).min_by_key(|&process| self.processes[process]);
            let process = &mut self.processes[first.unwrap_or(0)];
            *process = submitted.max(*process) + busy;
            submitted = *process;
        }
        let section = &self.profile.host;
        let host = ns(section.command_us - section.process_us.unwrap_or(0.0));
        let mut arrives = submitted + host / 2;
        if let Some(slots) = self.profile.controller.command_slots
            // So many are in work until the first of them is answered.
            && let Some(&first) = self.answered.get(slots as usize - 1)
        {
            arrives = arrives.max(first);
        }
        if let Some(vary) = &mut self.flash.vary
            && let Some((begins, takes)) = vary.before(arrives)
        {
            self.controller.serve(begins, begins, takes);
        }
        let answered = match io.op {
            Op::Read | Op::Write => self.transfer(io, arrives),
            Op::Trim => self.trim(io, arrives),
            Op::Flush => self.flush(arrives),
        };
        let later = self.answered.partition_point(|&other| other > answered);
        self.answered.insert(later, answered);
        let noticed = match &mut self.flash.vary {
            None => answered + (host - host / 2),
            Some(vary) => vary.noticed(answered, host),
        };
        self.completions.push((noticed, self.submitted, tag));
        self.completions.sort();
        self.submitted += 1;
    }

    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        if let Some(fault) = self.refused.pop_front() {
            return Err(fault);
        }
        if self.completions.first().is_some_and(|&(at, _, _)| at <= until.0) {
            let (at, _, tag) = self.completions.remove(0);
            self.now = at;
            return Ok(Some(Done { tag, at: Nanos(at) }));
        }
        if until != Nanos::MAX {
            self.now = self.now.max(until.0);
        }
        Ok(None)
    }
}

impl Drive for Reference {
    fn settle(&mut self) {
        self.now = self.drained(self.now);
    }

    fn purge(&mut self) {
        self.settle();
        self.purged_units += self.counters().pending_units;
        self.space.erase_all();
        self.buffer.clear();
        self.given = 0;
        self.fetched.clear();
        self.row_ready = 0;
        self.joined_to = None;
        self.limit.is_on = false;
        self.row_ends.iter_mut().for_each(Vec::clear);
    }

    fn counters(&self) -> SsdCounters {
        let programmed = self.flash.rows_programmed * self.space.sizes().row as u64;
        SsdCounters {
            host_sectors: self.host_sectors,
            rmw_sectors: self.space.host_units * 8 - self.host_sectors,
            host_units: self.space.host_units,
            absorbed_units: self.space.absorbed_units,
            moved_units: self.space.moved_units,
            padded_units: self.space.padded_units,
            pending_units: self.space.placed_units() - self.purged_units - programmed,
            programmed_units: programmed,
            blocks_erased: self.flash.blocks_erased,
            // All of its map is in memory.
            ..SsdCounters::default()
        }
    }
}
