//! The writes of a drive at work that are not safe yet, with what they replaced: what a power cut now would take.
//!
//! It is the end of a [`History`] that goes on. What has to be known of events that nothing can be lost of any more is let
//! go of; when what is kept grows too large, because nobody flushes, the oldest events count as safe.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ops::Range;

use fourcorners_drive::{Io, Nanos, Op, Persisted, RowProgram, SECTOR_BYTES};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::cut::RECENT;
use super::{Class, Cut, Event, Flushes, History, Persisting, Unit};
use crate::contents::{Contents, Memory};

/// Events that are kept although they are safe: rows under way share cells with rows that were programmed shortly before.
const SAFE_KEPT: usize = 4096;

/// Copied at once.
const PIECE: u64 = 1 << 20;

/// A part of a request.
#[derive(Debug)]
pub(crate) struct LedgerEvent {
    pub(crate) io: Io,
    /// Whether a write stores zeros.
    pub(crate) zeroes: bool,
    /// What was stored in its place; `None` of what changes nothing, or if that is too much to be kept.
    pub(crate) before: Option<Memory>,
}

#[derive(Debug)]
struct Entry {
    event: Event,
    /// What it replaced.
    before: Option<Memory>,
    /// By unit: the event that wrote it before, if something may be lost of that one.
    older: Vec<Option<u64>>,
    bytes: u64,
}

/// Events in the order they came in, from the first that something can be lost of.
#[derive(Debug)]
pub(crate) struct Ledger {
    flushes: Flushes,
    unit_sectors: u64,
    sectors: u64,
    protected: bool,
    entries: VecDeque<Entry>,
    /// The number of the first of them.
    first: u64,
    /// The number of the first event that something may be lost of.
    open: u64,
    /// The number of the first that is not in the drive yet.
    next_submitted: u64,
    /// By the drive's number of a write, from `first_write` on: the event.
    writes: VecDeque<u64>,
    first_write: u64,
    /// From `first_program` on.
    programs: VecDeque<RowProgram>,
    first_program: u64,
    /// By the first sector of a unit: the last event that wrote it, if something may be lost of that one.
    newest: BTreeMap<u64, u64>,
    /// Events that were answered and not promised.
    unpromised: Vec<u64>,
    bytes: u64,
    most_bytes: u64,
}

impl Ledger {
    /// Nothing is lost of a drive with nothing in flight. What was replaced may take so many bytes.
    pub(crate) fn new(drive: &impl Persisting, flushes: Flushes, most_bytes: u64) -> Ledger {
        Ledger {
            flushes,
            unit_sectors: u64::from(drive.unit_sectors()),
            sectors: drive.geometry().sectors,
            protected: drive.is_protected(),
            entries: VecDeque::new(),
            first: 0,
            open: 0,
            next_submitted: 0,
            writes: VecDeque::new(),
            first_write: 0,
            programs: VecDeque::new(),
            first_program: 0,
            newest: BTreeMap::new(),
            unpromised: Vec::new(),
            bytes: 0,
            most_bytes,
        }
    }

    /// What the drive does with a flush.
    pub(crate) fn flushes(&self) -> Flushes {
        self.flushes
    }

    /// Writes and TRIMs that a cut at a moment might take, and the bytes of those writes.
    pub(crate) fn at_risk(&self, now: Nanos) -> (u64, u64) {
        let open = self.entries.iter().skip((self.open - self.first) as usize);
        let at_risk = open.filter(|entry| !is_safe(&entry.event, now)).map(|entry| {
            let event = &entry.event;
            let written = event.op == Op::Write;
            if written { (event.sectors.end - event.sectors.start) * SECTOR_BYTES } else { 0 }
        });
        at_risk.fold((0, 0), |(events, bytes), of| (events + 1, bytes + of))
    }

    /// An event comes; the drive gets it later.
    pub(crate) fn begin(&mut self, at: Nanos, new: LedgerEvent) {
        let LedgerEvent { io, zeroes, before } = new;
        let sectors = io.lba.0..io.lba.0 + u64::from(io.sectors);
        let event = Event::new(io.op, sectors, self.unit_sectors, (zeroes, io.fua), at);
        let changes = matches!(io.op, Op::Write | Op::Trim);
        let (is_too_large, stored) = match &before {
            None => (changes, 0),
            Some(before) => (false, before.stored_bytes()),
        };
        let number = self.first + self.entries.len() as u64;
        let units = event.units.iter();
        let older: Vec<_> = units.map(|unit| self.newest.insert(unit.first, number)).collect();
        let own = size_of::<Entry>() + size_of_val(&event.units[..]) + size_of_val(&older[..]);
        let bytes = stored + own as u64;
        self.bytes += bytes;
        self.entries.push_back(Entry { event, before, older, bytes });
        self.let_go(at);
        if is_too_large {
            // What it replaced is not kept, so nothing before it can be taken back either.
            while self.open < self.first + self.entries.len() as u64 {
                self.count_as_safe(at);
            }
        }
        while self.bytes > self.most_bytes {
            if self.first < self.open && self.first < self.next_submitted {
                self.forget_first();
            } else if self.open < self.first + self.entries.len() as u64 {
                self.count_as_safe(at);
            } else {
                break;
            }
        }
    }

    /// The next event is in the drive; its number. `is_counted`: it is a write that the drive numbers.
    pub(crate) fn submitted(&mut self, is_counted: bool) -> u64 {
        let number = self.next_submitted;
        self.next_submitted += 1;
        if is_counted {
            self.writes.push_back(number);
        }
        number
    }

    /// An event is answered. One that has failed promises nothing, and nobody counts on it; what a write of these stored is there
    /// all the same.
    pub(crate) fn answered(&mut self, number: u64, at: Nanos, failed: bool) {
        let protected = self.protected;
        let Some(event) = self.event(number) else { return };
        event.failed = failed;
        if protected {
            event.units.iter_mut().for_each(|unit| unit.persisted = at);
        }
        if failed {
            return;
        }
        event.answered = at;
        match event.op {
            Op::Read => {}
            Op::Write | Op::Trim if event.forced || protected => {
                event.promised = event.promised.min(at);
            }
            Op::Write | Op::Trim => self.unpromised.push(number),
            Op::Flush => {
                let asked = event.asked;
                self.promises(asked, at);
            }
        }
    }

    /// A flush that was asked for is answered: all that was answered before it was asked for is promised.
    pub(crate) fn promises(&mut self, asked: Nanos, at: Nanos) {
        for number in std::mem::take(&mut self.unpromised) {
            match self.event(number) {
                None => {}
                Some(event) if event.answered <= asked => {
                    event.promised = event.promised.min(at);
                    if event.op == Op::Trim {
                        let trimmed = event.sectors.clone();
                        self.supersede_trimmed(number, trimmed, at);
                    }
                }
                Some(_) => self.unpromised.push(number),
            }
        }
    }

    /// The drive has told when units are on the NAND.
    pub(crate) fn told(&mut self, persisted: Vec<Persisted>, programs: Vec<RowProgram>) {
        self.programs.extend(programs);
        for told in persisted {
            let place = told.write.checked_sub(self.first_write).map(|place| place as usize);
            let Some(&number) = place.and_then(|place| self.writes.get(place)) else { continue };
            let (unit_sectors, protected) = (self.unit_sectors, self.protected);
            let Some(event) = self.event(number) else { continue };
            let first = event.units.first().map_or(0, |unit| unit.first);
            let place = told.lba.0.saturating_sub(first) / unit_sectors;
            if let Some(unit) = event.units.get_mut(place as usize) {
                unit.program = told.program.map(|program| program as usize);
                // With capacitors it is safe once it is answered.
                if !protected {
                    unit.persisted = unit.persisted.min(told.at);
                    self.supersede(number, told.lba.0, told.at);
                }
            }
        }
    }

    /// Older versions of a unit are of no use from when one is on the NAND; many never get there.
    fn supersede(&mut self, number: u64, first: u64, at: Nanos) {
        let mut next = self.older_of(number, first);
        while let Some(number) = next {
            let Some(unit) = self.unit(number, first).filter(|unit| unit.persisted > at) else {
                return;
            };
            unit.persisted = at;
            next = self.older_of(number, first);
        }
    }

    /// The same of units that a TRIM, which is kept, has taken whole.
    fn supersede_trimmed(&mut self, trim: u64, trimmed: Range<u64>, at: Nanos) {
        let unit_sectors = self.unit_sectors;
        let whole = |first: &u64| first + unit_sectors <= trimmed.end;
        let units: Vec<(u64, u64)> = self
            .newest
            .range(trimmed.start..trimmed.end)
            .map(|(first, number)| (*first, *number))
            .filter(|(first, _)| whole(first))
            .collect();
        for (first, number) in units {
            let mut before = Some(number);
            while let Some(newer) = before.filter(|it| *it > trim) {
                before = self.older_of(newer, first);
            }
            let Some(number) = before else { continue };
            if let Some(unit) = self.unit(number, first) {
                unit.persisted = unit.persisted.min(at);
                self.supersede(number, first, at);
            }
        }
    }

    /// The place of a unit in what an event wrote.
    fn place_of(&self, number: u64, first: u64) -> Option<(usize, usize)> {
        let entry = number.checked_sub(self.first)? as usize;
        let begin = self.entries.get(entry)?.event.units.first()?.first;
        Some((entry, (first.checked_sub(begin)? / self.unit_sectors) as usize))
    }

    fn unit(&mut self, number: u64, first: u64) -> Option<&mut Unit> {
        let (entry, place) = self.place_of(number, first)?;
        self.entries[entry].event.units.get_mut(place)
    }

    fn older_of(&self, number: u64, first: u64) -> Option<u64> {
        let (entry, place) = self.place_of(number, first)?;
        *self.entries[entry].older.get(place)?
    }

    fn event(&mut self, number: u64) -> Option<&mut Event> {
        let place = number.checked_sub(self.first)? as usize;
        self.entries.get_mut(place).map(|entry| &mut entry.event)
    }

    /// Lets go of the first events, of which nothing can be lost any more.
    fn let_go(&mut self, now: Nanos) {
        while let Some(entry) = self.entries.get((self.open - self.first) as usize)
            // A drive that loses writes out of order loses one of the last.
            && self.open + (RECENT as u64) < self.first + self.entries.len() as u64
            && self.open < self.next_submitted
            && is_safe(&entry.event, now)
        {
            self.count_as_safe(now);
        }
    }

    /// The first event that something may be lost of is safe from here on.
    fn count_as_safe(&mut self, now: Nanos) {
        let number = self.open;
        let Some(entry) = self.entries.get_mut((number - self.first) as usize) else { return };
        let before = entry.before.take().map_or(0, |before| before.stored_bytes());
        entry.bytes -= before;
        self.bytes -= before;
        if !entry.event.failed {
            entry.event.promised = entry.event.promised.min(now);
        }
        for unit in &mut entry.event.units {
            unit.persisted = unit.persisted.min(now);
            if self.newest.get(&unit.first) == Some(&number) {
                self.newest.remove(&unit.first);
            }
        }
        self.open += 1;
        if self.open - self.first > SAFE_KEPT as u64 && self.first < self.next_submitted {
            self.forget_first();
        }
    }

    /// The first event, which is safe, is of no use any more.
    fn forget_first(&mut self) {
        self.bytes -= self.entries.pop_front().map_or(0, |entry| entry.bytes);
        self.first += 1;
        while self.writes.front().is_some_and(|number| *number < self.first) {
            self.writes.pop_front();
            self.first_write += 1;
        }
        self.forget_programs();
    }

    /// Programs that no event here is of are of no use, but for as many as rows may lie beneath.
    fn forget_programs(&mut self) {
        if self.programs.len() > 4 * SAFE_KEPT {
            let unit_of =
                |entry: &Entry| entry.event.units.iter().filter_map(|unit| unit.program).min();
            let least =
                self.entries.iter().filter_map(unit_of).min().map_or(u64::MAX, |it| it as u64);
            let keep_from =
                least.min(self.first_program + (self.programs.len() - SAFE_KEPT) as u64);
            while self.first_program < keep_from {
                self.programs.pop_front();
                self.first_program += 1;
            }
        }
    }

    /// Takes from the contents what a cut of a class takes, at a moment, drawn by a number. The ledger is of no use then.
    ///
    /// # Errors
    /// When contents cannot be read or written: then they are of neither before nor after.
    pub(crate) fn cut(
        &mut self,
        (class, at, drawn_by): (Class, Nanos, u64),
        contents: &mut Contents,
    ) -> io::Result<Cut> {
        let mut entries: Vec<Entry> = self.entries.drain(..).collect();
        let program = |absolute: u64| absolute.checked_sub(self.first_program);
        let mut events: Vec<Event> = Vec::with_capacity(entries.len());
        for entry in &mut entries {
            for unit in &mut entry.event.units {
                unit.program = unit.program.and_then(|it| program(it as u64)).map(|it| it as usize);
            }
            events.push(entry.event.clone());
        }
        let programs = self.programs.iter().map(|row| RowProgram {
            beneath: row.beneath.map(|beneath| beneath.and_then(program)),
            ..*row
        });
        let history = History {
            programs: programs.collect(),
            end: at,
            events,
            unit_sectors: self.unit_sectors,
            sectors: self.sectors,
            protected: self.protected,
        };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(drawn_by);
        let mut cut = history.drawn(class, at, &mut random);
        // Backwards: what each event replaced is there again, and what it stored is kept instead.
        let back_to = cut.settled.max((self.open - self.first) as usize);
        for entry in entries[back_to..].iter_mut().rev() {
            if let Some(before) = entry.before.take() {
                let (offset, length) = place(&entry.event.sectors);
                entry.before = contents.part(offset, length, u64::MAX)?;
                put_back(contents, &before, offset, length)?;
            }
        }
        for left in &cut.left {
            let (Some(entry), true) = (entries.get(left.event), left.event >= back_to) else {
                continue;
            };
            for sectors in &left.sectors {
                let (offset, length) = place(sectors);
                match &entry.before {
                    Some(stored) => put_back(contents, stored, offset, length)?,
                    None => contents.discard(offset, length)?,
                }
            }
        }
        if class == Class::Dead {
            // Nobody can read what is left.
            return Ok(cut);
        }
        if let Some(wiped) = &cut.wiped {
            let (offset, length) = place(wiped);
            contents.discard(offset, length)?;
        }
        for flip in std::mem::take(&mut cut.flips) {
            let (at, mut byte) = (flip.sector * SECTOR_BYTES + u64::from(flip.bit / 8), [0]);
            contents.read(at, &mut byte)?;
            contents.write(at, &[byte[0] ^ 1 << (flip.bit % 8)])?;
        }
        Ok(cut)
    }
}

/// Whether no cut from `now` on takes anything of an event, but of a drive that breaks its promises.
fn is_safe(event: &Event, now: Nanos) -> bool {
    match event.op {
        Op::Read | Op::Flush => true,
        Op::Write | Op::Trim => {
            (event.failed || event.promised <= now)
                && event.units.iter().all(|unit| unit.persisted <= now)
        }
    }
}

/// Where sectors are: offset and length, bytes.
fn place(sectors: &Range<u64>) -> (u64, u64) {
    (sectors.start * SECTOR_BYTES, (sectors.end - sectors.start) * SECTOR_BYTES)
}

/// Stores a range of what was kept, holes as holes.
fn put_back(contents: &mut Contents, kept: &Memory, offset: u64, length: u64) -> io::Result<()> {
    let (mut at, end) = (offset, offset + length);
    while at < end {
        let (hole, until) = kept.alike(at, end);
        let until = until.min(end).min(at + PIECE);
        if hole {
            contents.discard(at, until - at)?;
        } else {
            let mut piece = vec![0; (until - at) as usize];
            kept.read(at, &mut piece);
            contents.write(at, &piece)?;
        }
        at = until;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use fourcorners_drive::config::SsdConfig;
    use fourcorners_drive::{Lba, Ssd};

    use super::*;

    #[test]
    fn what_nobody_flushes_takes_no_more_memory_than_it_may_and_the_oldest_counts_as_safe() {
        const MOST: u64 = 1 << 20;
        let drive = Ssd::new(&SsdConfig::default()).expect("a drive");
        let mut ledger = Ledger::new(&drive, Flushes::Kept, MOST);
        let mut contents = Contents::Memory(Memory::new(u64::MAX));
        for n in 0..1000u64 {
            let (at, io) = (n * 4096, Io::write(Lba(n * 8), 8));
            contents.write(at, &[1; 4096]).expect("there is memory");
            let before = contents.part(at, 4096, u64::MAX).expect("it is in memory");
            contents.write(at, &[2; 4096]).expect("there is memory");
            ledger.begin(Nanos(n), LedgerEvent { io, zeroes: false, before });
            ledger.submitted(true);
            assert!(ledger.bytes <= MOST);
        }
        let cut = ledger.cut((Class::Honest, Nanos(1000), 1), &mut contents).expect("in memory");
        let byte = |contents: &Contents, n: u64| {
            let mut byte = [0];
            contents.read(n * 4096, &mut byte).map(|_| byte[0]).expect("it is in memory")
        };
        // Nothing was ever told to be on the NAND: what is not in the ledger any more stays.
        assert_eq!((byte(&contents, 0), byte(&contents, 999)), (2, 1));
        let taken = (0..1000).filter(|n| byte(&contents, *n) == 1).count() as u64;
        assert!((150..256).contains(&taken) && cut.settled > 0, "{taken}");
    }

    /// Writes that a flush promised and a cut right after it takes, and sectors that were answered and are lost without a promise.
    fn promised_and_lost(failed: bool) -> [u64; 2] {
        let drive = Ssd::new(&SsdConfig::default()).expect("a drive");
        let mut ledger = Ledger::new(&drive, Flushes::Ignored, 1 << 20);
        let mut contents = Contents::Memory(Memory::new(u64::MAX));
        contents.write(0, &[1; 4096]).expect("there is memory");
        let before = contents.part(0, 4096, u64::MAX).expect("it is in memory");
        let ios = [(Io::write(Lba(0), 8), failed), (Io::FLUSH, false)];
        for ((io, failed), at) in ios.into_iter().zip([1, 3]) {
            let event = LedgerEvent { io, zeroes: false, before: before.clone() };
            ledger.begin(Nanos(at), event);
            let number = ledger.submitted(io.op == Op::Write);
            ledger.answered(number, Nanos(at + 1), failed);
        }
        let cut = (Class::LostFlush, Nanos(5), 1);
        let cut = ledger.cut(cut, &mut contents).expect("in memory");
        [cut.promised_lost, cut.answered_lost_sectors]
    }

    #[test]
    fn what_was_answered_with_an_error_is_promised_by_nothing() {
        assert_eq!(promised_and_lost(false), [1, 0]);
        assert_eq!(promised_and_lost(true), [0, 0]);
    }
}
