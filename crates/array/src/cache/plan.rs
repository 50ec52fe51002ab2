//! What an I/O asks of the SSD and of the disk, given what is cached when its turn has come.

use fourcorners_drive::{Io, Lba, Op, SECTOR_BYTES};

use super::config::{CacheConfig, CacheMode, DISK, SSD, UNIT_BYTES, UNIT_SECTORS};
use super::counts::CacheCounts;
use super::slots::Slots;

/// An I/O of one of the two drives.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Part {
    pub(super) member: usize,
    pub(super) io: Io,
    /// Where its data is on the disk: the first sector.
    pub(super) home: u64,
}

/// The parts of a job, and what they do to the table.
#[derive(Clone, Default)]
pub(super) struct Plan {
    pub(super) first: Vec<Part>,
    /// They wait for all of `first`.
    pub(super) then: Vec<Part>,
    /// Slots it uses.
    pub(super) slots: Vec<u32>,
    /// Units that `then` brings to slots.
    pub(super) arriving: Vec<(u32, u64)>,
    /// Units that `then` writes to the disk.
    pub(super) cleaned: Vec<(u32, u64)>,
    /// Units that are written in part, and whose other part only the SSD has.
    pub(super) rest_is_newer: Vec<(u32, u64)>,
}

impl Plan {
    /// Adds an I/O, or makes the one before it longer.
    fn push(parts: &mut Vec<Part>, part: Part) {
        if let Some(last) = parts.iter_mut().rev().find(|it| it.member == part.member)
            && last.io.op == part.io.op
            && last.io.end() == part.io.lba.0
            && last.home + u64::from(last.io.sectors) == part.home
            && let Some(sectors) = last.io.sectors.checked_add(part.io.sectors)
        {
            last.io.sectors = sectors;
            return;
        }
        parts.push(part);
    }
}

/// The units of an I/O in one block.
struct Piece {
    block: u64,
    units: Vec<Covered>,
    /// Units that the I/O covers, a bit each.
    whole: u64,
    /// Units that it covers in part.
    partly: u64,
}

impl Piece {
    fn bytes(&self) -> u64 {
        self.units.iter().map(|unit| (unit.end - unit.from) * SECTOR_BYTES).sum()
    }
}

/// A unit, and the sectors of it that an I/O is of.
struct Covered {
    bit: u64,
    from: u64,
    end: u64,
}

/// The table and what is known when a job's turn has come.
pub(super) struct Planner<'a> {
    pub(super) config: &'a CacheConfig,
    pub(super) slots: &'a mut Slots,
    pub(super) counts: &'a mut CacheCounts,
    /// Most slots that may hold anything newer than the disk.
    pub(super) most_dirty: u64,
    /// The SSD takes nothing any more, or has too much to do to take what a read brings.
    pub(super) takes_writes: bool,
    pub(super) takes_fills: bool,
}

impl Planner<'_> {
    fn block_sectors(&self) -> u64 {
        self.config.block_bytes / 512
    }

    fn pieces(&self, io: Io) -> Vec<Piece> {
        let block_sectors = self.block_sectors();
        let mut pieces: Vec<Piece> = Vec::new();
        let mut at = io.lba.0;
        while at < io.end() {
            let unit = at / UNIT_SECTORS;
            let end = ((unit + 1) * UNIT_SECTORS).min(io.end());
            let block = at / block_sectors;
            if pieces.last().is_none_or(|piece| piece.block != block) {
                pieces.push(Piece { block, units: Vec::new(), whole: 0, partly: 0 });
            }
            let piece = pieces.last_mut().expect("one was pushed");
            let bit = 1 << (unit - block * block_sectors / UNIT_SECTORS);
            match end - at == UNIT_SECTORS {
                true => piece.whole |= bit,
                false => piece.partly |= bit,
            }
            piece.units.push(Covered { bit, from: at, end });
            at = end;
        }
        pieces
    }

    /// An I/O of the host's kind for some sectors of it, on the disk or in a slot.
    fn part(&self, io: Io, unit: &Covered, slot: Option<u32>) -> Part {
        let lba = match slot {
            Some(slot) => self.on_ssd(slot, unit.from),
            None => unit.from,
        };
        let member = if slot.is_some() { SSD } else { DISK };
        let io = Io { lba: Lba(lba), sectors: (unit.end - unit.from) as u32, ..io };
        Part { member, io, home: unit.from }
    }

    fn on_ssd(&self, slot: u32, home: u64) -> u64 {
        u64::from(slot) * self.block_sectors() + home % self.block_sectors()
    }

    fn hold(&mut self, plan: &mut Plan, slot: u32) {
        self.slots.hold(slot);
        plan.slots.push(slot);
    }

    pub(super) fn read(&mut self, io: Io, bypassed: bool) -> Plan {
        let mut plan = Plan::default();
        let mut missed = 0;
        for piece in self.pieces(io) {
            let mut slot = self.slots.find(piece.block);
            let valid = slot.map_or(0, |slot| self.slots.get(slot).valid);
            let arriving = slot.map_or(0, |slot| self.slots.get(slot).arriving);
            if let Some(slot) = slot {
                self.hold(&mut plan, slot);
                self.slots.touch(slot);
            }
            let wanted = piece.whole & !valid & !arriving;
            let fills = wanted != 0 && !bypassed && self.takes_writes && self.takes_fills;
            if fills && slot.is_none() {
                slot = self.slots.place(piece.block);
                match slot {
                    Some(slot) => self.hold(&mut plan, slot),
                    None => self.counts.bypassed_bytes += piece.bytes(),
                }
            }
            let filled = slot.filter(|_| fills);
            if let Some(slot) = filled {
                self.slots.announce(slot, wanted);
                plan.arriving.push((slot, wanted));
            }
            for unit in &piece.units {
                let is_hit = valid & unit.bit != 0;
                let part = self.part(io, unit, slot.filter(|_| is_hit));
                Plan::push(&mut plan.first, part);
                if !is_hit {
                    missed += unit.end - unit.from;
                }
                if let Some(slot) = filled.filter(|_| wanted & unit.bit != 0) {
                    let write = Io { op: Op::Write, ..io };
                    Plan::push(&mut plan.then, self.part(write, unit, Some(slot)));
                }
            }
        }
        self.counts.reads += 1;
        self.counts.read_hits += u64::from(missed == 0);
        self.counts.read_bytes += io.bytes();
        self.counts.read_hit_bytes += io.bytes() - missed * 512;
        self.counts.filled_bytes += plan.then.iter().map(|part| part.io.bytes()).sum::<u64>();
        self.counts.bypassed_bytes += if bypassed { missed * 512 } else { 0 };
        plan
    }

    pub(super) fn write(&mut self, io: Io, bypassed: bool) -> Plan {
        let mut plan = Plan::default();
        self.counts.written_bytes += io.bytes();
        self.counts.bypassed_bytes += if bypassed { io.bytes() } else { 0 };
        for piece in self.pieces(io) {
            let slot = self.slots.find(piece.block);
            let dirty = slot.map_or(0, |slot| self.slots.get(slot).dirty);
            if let Some(slot) = slot {
                self.hold(&mut plan, slot);
                plan.rest_is_newer.push((slot, dirty & piece.partly));
            }
            let valid = slot.map_or(0, |slot| self.slots.get(slot).valid);
            let more = (piece.whole | (piece.partly & valid)) & !dirty;
            // A block counts whole, since its slot cannot leave, whatever part of it is newer.
            let becomes_dirty = dirty == 0 && more != 0;
            let fits = self.slots.dirty_slots() + u64::from(becomes_dirty) <= self.most_dirty;
            let mode = match self.config.mode {
                _ if bypassed || !self.takes_writes => None,
                CacheMode::ReadOnly => None,
                CacheMode::WriteBack if !fits => {
                    self.counts.bypassed_bytes += piece.bytes();
                    None
                }
                mode => Some(mode),
            };
            let place = |slots: &mut Slots| match slot {
                None if piece.whole != 0 => slots.place(piece.block).map(|slot| (slot, true)),
                slot => slot.map(|slot| (slot, false)),
            };
            let placed = mode.and_then(|mode| Some((mode, place(self.slots)?)));
            if mode.is_some() && placed.is_none() && piece.whole != 0 {
                self.counts.bypassed_bytes += piece.bytes();
            }
            match placed {
                Some((mode, (slot, is_new))) => {
                    if is_new {
                        self.hold(&mut plan, slot);
                    }
                    self.slots.touch(slot);
                    self.write_to_slot(io, &piece, slot, mode == CacheMode::WriteBack, &mut plan);
                }
                None => self.write_around(io, &piece, slot, &mut plan),
            }
        }
        plan
    }

    /// To the SSD, or to both. A part of a unit that is not there goes to the disk only.
    fn write_to_slot(&mut self, io: Io, piece: &Piece, slot: u32, back: bool, plan: &mut Plan) {
        let valid = self.slots.get(slot).valid;
        let here = piece.whole | (piece.partly & valid);
        self.slots.write(slot, here, back);
        for unit in &piece.units {
            let is_here = here & unit.bit != 0;
            if is_here {
                Plan::push(&mut plan.first, self.part(io, unit, Some(slot)));
            }
            if !is_here || !back {
                Plan::push(&mut plan.first, self.part(io, unit, None));
            }
        }
    }

    /// To the disk; what is changed leaves the cache. A part of a unit that is newer on the SSD stays there.
    fn write_around(&mut self, io: Io, piece: &Piece, slot: Option<u32>, plan: &mut Plan) {
        let dirty = slot.map_or(0, |slot| self.slots.get(slot).dirty);
        let stays = dirty & piece.partly;
        for unit in &piece.units {
            let slot = slot.filter(|_| stays & unit.bit != 0);
            Plan::push(&mut plan.first, self.part(io, unit, slot));
        }
        if let Some(slot) = slot {
            self.slots.drop(slot, (piece.whole | piece.partly) & !stays);
        }
    }

    /// Whole units are forgotten, on the SSD as well; the rest of a TRIM is of no use to anybody.
    pub(super) fn trim(&mut self, io: Io, members: [bool; 2]) -> Plan {
        let mut plan = Plan::default();
        let units = io.lba.0.div_ceil(UNIT_SECTORS)..io.end() / UNIT_SECTORS;
        let a_block = self.block_sectors() / UNIT_SECTORS;
        if members[DISK] {
            plan.first.push(Part { member: DISK, io, home: io.lba.0 });
        }
        if units.is_empty() {
            return plan;
        }
        let blocks = units.start / a_block..(units.end - 1) / a_block + 1;
        for (block, slot) in self.slots.blocks_in(blocks) {
            let first = block * a_block;
            let inside = (0..a_block).filter(|unit| units.contains(&(first + unit)));
            let inside = inside.fold(0u64, |bits, unit| bits | 1 << unit);
            self.hold(&mut plan, slot);
            if members[SSD] {
                for unit in self.covered(block, inside & self.slots.get(slot).valid) {
                    Plan::push(&mut plan.first, self.part(io, &unit, Some(slot)));
                }
            }
            self.slots.drop(slot, inside);
        }
        plan
    }

    /// Writes to the disk what the SSD has newer in these units of a block.
    pub(super) fn write_back(&mut self, block: u64, units: &std::ops::Range<u64>) -> Plan {
        let mut plan = Plan::default();
        let Some(slot) = self.slots.find(block) else { return plan };
        let first = block * self.block_sectors() / UNIT_SECTORS;
        let bits = units.clone().fold(0u64, |bits, unit| bits | 1 << (unit - first));
        let dirty = self.slots.get(slot).dirty & bits;
        self.hold(&mut plan, slot);
        plan.cleaned.push((slot, dirty));
        for unit in self.covered(block, dirty) {
            let read = self.part(Io::read(Lba(0), 1), &unit, Some(slot));
            Plan::push(&mut plan.first, read);
            Plan::push(&mut plan.then, self.part(Io::write(Lba(0), 1), &unit, None));
        }
        self.counts.written_back_bytes += u64::from(dirty.count_ones()) * UNIT_BYTES;
        plan
    }

    fn covered(&self, block: u64, bits: u64) -> Vec<Covered> {
        let first = block * self.block_sectors();
        let units = (0..64).filter(|unit| bits >> unit & 1 != 0);
        let one = |unit: u64| {
            let from = first + unit * UNIT_SECTORS;
            Covered { bit: 1 << unit, from, end: from + UNIT_SECTORS }
        };
        units.map(one).collect()
    }
}
