//! A recording played on a drive, for what was on the NAND when.

use std::ops::Range;

use fourcorners_drive::{Io, Lba, Nanos, Op, RowProgram, SECTOR_BYTES, Tag};
use fourcorners_trace::TraceIo;

use super::Persisting;

/// What the drive does with a flush.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flushes {
    /// What it promises.
    Kept,
    /// Nothing: it answers at once, and forces no write either.
    Ignored,
}

/// An I/O of the recording, on this drive.
#[derive(Clone, Debug)]
pub struct Event {
    /// What was asked.
    pub op: Op,
    /// The sectors; none of a flush.
    pub sectors: Range<u64>,
    /// Whether a write stores zeros.
    pub zeroes: bool,
    /// Whether a write was to be answered only when it is safe.
    pub forced: bool,
    /// When it was asked.
    pub asked: Nanos,
    /// When it was answered; [`Nanos::MAX`] of what the drive refused, and of what was answered with an error.
    pub answered: Nanos,
    /// Whether it was answered with an error: it promises nothing, and nobody counts on it.
    pub failed: bool,
    /// From when on whoever asked may rely on it; [`Nanos::MAX`] if never. Of writes and TRIMs.
    pub promised: Nanos,
    /// The units of a write, in order.
    pub units: Vec<Unit>,
}

/// A unit of the map as a write left it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unit {
    /// Its first sector.
    pub first: u64,
    /// Since when it is on the NAND; [`Nanos::MAX`] if it never got there.
    pub persisted: Nanos,
    /// The program that put it there, among [`History::programs`], if it was one row's.
    pub program: Option<usize>,
}

/// What a drive did of a recording.
#[derive(Clone, Debug)]
pub struct History {
    /// In the recording's order.
    pub events: Vec<Event>,
    /// Sectors of a unit.
    pub unit_sectors: u64,
    /// Sectors of the drive.
    pub sectors: u64,
    /// When the last of it was answered.
    pub end: Nanos,
    /// The rows that were programmed, in the order they were told to be.
    pub programs: Vec<RowProgram>,
    /// Whether capacitors let programs that have begun come to their ends.
    pub protected: bool,
}

/// Why a recording cannot be played.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlayError {
    /// Who waited for what follows from durations.
    #[error(
        "I/O {0} has no duration: power can be cut only in a recording that tells when its I/Os were answered, as serve --record makes it"
    )]
    NoDuration(usize),
    /// The drive does not take it.
    #[error(
        "I/O {index} ends at {end} bytes, the drive at {drive}: choose a drive at least as large as the one that was recorded"
    )]
    Beyond {
        /// Which I/O, from 0.
        index: usize,
        /// Where it ends.
        end: u64,
        /// Where the drive ends.
        drive: u64,
    },
    /// It is none of a drive's.
    #[error(
        "I/O {index}: {bytes} bytes at {offset} are no whole sectors of 512 bytes, at most 2 TiB"
    )]
    NotWhole {
        /// Which I/O, from 0.
        index: usize,
        /// Its place.
        offset: u64,
        /// Its length.
        bytes: u64,
    },
}

impl Event {
    /// An event that was asked for and is not answered. `forced` is of writes only.
    pub(super) fn new(
        op: Op,
        sectors: Range<u64>,
        unit_sectors: u64,
        (zeroes, forced): (bool, bool),
        asked: Nanos,
    ) -> Event {
        let units = match op {
            Op::Write if !sectors.is_empty() => {
                let first = sectors.start / unit_sectors;
                let last = (sectors.end - 1) / unit_sectors;
                let unit = |unit| Unit {
                    first: unit * unit_sectors,
                    persisted: Nanos::MAX,
                    program: None,
                };
                (first..=last).map(unit).collect()
            }
            _ => Vec::new(),
        };
        Event {
            op,
            sectors,
            zeroes,
            forced: forced && op == Op::Write,
            asked,
            answered: Nanos::MAX,
            failed: false,
            promised: Nanos::MAX,
            units,
        }
    }
}

impl History {
    /// Plays a recording on a drive with nothing in flight, as the program would have gone on with it: an I/O that was
    /// asked for after others were answered is asked for after they are answered here, with the same time between.
    ///
    /// # Errors
    /// When the recording has no durations, or an I/O is none for this drive.
    pub fn play<T: Persisting>(
        drive: &mut T,
        ios: &[TraceIo],
        flushes: Flushes,
    ) -> Result<History, PlayError> {
        drive.track();
        let mut ends = Vec::with_capacity(ios.len());
        for (index, io) in ios.iter().enumerate() {
            let duration = io.duration.ok_or(PlayError::NoDuration(index))?;
            ends.push((io.at.saturating_add(duration), index));
        }
        ends.sort_unstable();
        let mut play = Play {
            unit_sectors: u64::from(drive.unit_sectors()),
            free: (0..drive.geometry().queue_depth).rev().map(Tag).collect(),
            flights: vec![0; drive.geometry().queue_depth as usize],
            drive,
            flushes,
            events: Vec::with_capacity(ios.len()),
            writes: Vec::new(),
            programs: Vec::new(),
        };
        let (mut next_end, mut last_answer, mut answered_until) = (0, Nanos::ZERO, Nanos::ZERO);
        let (mut asked_before, mut recorded_before) = (play.drive.now(), Nanos::ZERO);
        let began = asked_before;
        for (index, io) in ios.iter().enumerate() {
            let event = play.event(index, io)?;
            // An I/O that took no time has ended when it was asked for, but not before itself.
            let ended = |&(end, of): &(Nanos, usize)| end <= io.at && of < index;
            while let Some(&(end, of)) = ends.get(next_end).filter(|next| ended(next)) {
                answered_until = answered_until.max(play.wait_for(of));
                last_answer = end;
                next_end += 1;
            }
            let base = asked_before.max(answered_until).max(began);
            let gap = io.at.since(recorded_before.max(last_answer));
            asked_before = base.saturating_add(gap);
            recorded_before = io.at;
            play.ask(asked_before, event, io);
        }
        Ok(play.finish())
    }

    /// When the first I/O was asked for. People count from here: the clock of a drive that was used before shows any time.
    pub fn began(&self) -> Nanos {
        self.events.first().map_or(self.end, |event| event.asked)
    }

    /// The moments at which flushes were answered.
    pub fn flush_answers(&self) -> impl Iterator<Item = Nanos> + '_ {
        let flushes = self.events.iter().filter(|event| event.op == Op::Flush);
        flushes.map(|event| event.answered).filter(|at| *at < Nanos::MAX)
    }
}

struct Play<'a, T> {
    drive: &'a mut T,
    flushes: Flushes,
    unit_sectors: u64,
    free: Vec<Tag>,
    /// By tag: the event.
    flights: Vec<usize>,
    events: Vec<Event>,
    /// By the drive's number of a write: the event.
    writes: Vec<usize>,
    programs: Vec<RowProgram>,
}

impl<T: Persisting> Play<'_, T> {
    fn event(&self, index: usize, io: &TraceIo) -> Result<Event, PlayError> {
        let (offset, bytes) = (io.offset_bytes, io.bytes);
        let whole = offset.is_multiple_of(SECTOR_BYTES) && bytes.is_multiple_of(SECTOR_BYTES);
        if !whole || u32::try_from(bytes / SECTOR_BYTES).is_err() {
            return Err(PlayError::NotWhole { index, offset, bytes });
        }
        let drive = self.drive.geometry().bytes();
        let end = offset.saturating_add(bytes);
        if end > drive {
            return Err(PlayError::Beyond { index, end, drive });
        }
        let sectors = offset / SECTOR_BYTES..end / SECTOR_BYTES;
        let kind = (io.flags.zeroes, io.flags.fua);
        let event = Event::new(io.op, sectors, self.unit_sectors, kind, Nanos::ZERO);
        Ok(Event { failed: io.flags.failed, ..event })
    }

    /// When an event that was asked for is answered.
    fn wait_for(&mut self, event: usize) -> Nanos {
        while self.events[event].answered == Nanos::MAX && self.flights.contains(&event) {
            if !self.reap(Nanos::MAX) {
                break;
            }
        }
        match self.events[event].answered {
            // It was refused, at once.
            Nanos::MAX => self.events[event].asked,
            answered => answered,
        }
    }

    fn ask(&mut self, at: Nanos, mut event: Event, io: &TraceIo) {
        while at >= self.drive.now() && self.reap(at) {}
        event.asked = at;
        let index = self.events.len();
        let ignored = self.flushes == Flushes::Ignored;
        if event.op == Op::Flush && ignored {
            event.answered = at;
            self.events.push(event);
            return;
        }
        let io = Io {
            op: event.op,
            lba: Lba(event.sectors.start),
            sectors: (event.sectors.end - event.sectors.start) as u32,
            compressible_percent: if event.zeroes { 100 } else { io.flags.compressible_percent },
            fua: event.forced && !ignored,
        };
        self.events.push(event);
        let tag = loop {
            match self.free.pop() {
                Some(tag) => break tag,
                None if self.reap(Nanos::MAX) => {}
                None => return,
            }
        };
        self.flights[tag.0 as usize] = index;
        if io.op == Op::Write && self.drive.geometry().refuses(io).is_none() {
            self.writes.push(index);
        }
        self.drive.submit(tag, io);
        self.take_told();
    }

    /// Takes one answer until a time; whether there was one.
    fn reap(&mut self, until: Nanos) -> bool {
        let (tag, answered) = match self.drive.reap(until) {
            Ok(None) => return false,
            Ok(Some(done)) => (done.tag, done.at),
            Err(fault) => (fault.tag, Nanos::MAX),
        };
        self.free.push(tag);
        let event = std::mem::replace(&mut self.flights[tag.0 as usize], usize::MAX);
        if let Some(event) = self.events.get_mut(event) {
            event.answered = answered;
        }
        true
    }

    fn take_told(&mut self) {
        for told in self.drive.told() {
            let Some(&event) = self.writes.get(told.write as usize) else { continue };
            let units = &mut self.events[event].units;
            let first = units.first().map_or(0, |unit| unit.first);
            let place = told.lba.0.saturating_sub(first) / self.unit_sectors;
            if let Some(unit) = units.get_mut(place as usize) {
                unit.persisted = told.at;
                unit.program = told.program.map(|program| program as usize);
            }
        }
        self.programs.extend(self.drive.programs());
    }

    fn finish(mut self) -> History {
        while self.reap(Nanos::MAX) {}
        self.take_told();
        let mut events = self.events;
        let protected = self.drive.is_protected();
        // Of the flushes asked for at a moment or later, the first answer. What is asked for in one nanosecond is in the
        // order of the events: a flush promises nothing that comes after it.
        let flushes = events.iter().enumerate();
        let flushes = flushes.filter(|(_, event)| event.op == Op::Flush && !event.failed);
        let mut flushes: Vec<((Nanos, usize), Nanos)> =
            flushes.map(|(index, event)| ((event.asked, index), event.answered)).collect();
        flushes.sort_unstable();
        for place in (1..flushes.len()).rev() {
            flushes[place - 1].1 = flushes[place - 1].1.min(flushes[place].1);
        }
        for (index, event) in events.iter_mut().enumerate() {
            event.promised = match event.op {
                Op::Read | Op::Flush => Nanos::MAX,
                Op::Write | Op::Trim if event.failed => Nanos::MAX,
                Op::Write | Op::Trim if event.forced || protected => event.answered,
                Op::Write | Op::Trim => {
                    let later =
                        flushes.partition_point(|(asked, _)| *asked < (event.answered, index));
                    flushes.get(later).map_or(Nanos::MAX, |(_, answered)| *answered)
                }
            };
            if protected {
                event.units.iter_mut().for_each(|unit| unit.persisted = event.answered);
            }
            if event.failed {
                event.answered = Nanos::MAX;
            }
        }
        let end = events.iter().map(|event| event.answered).filter(|at| *at < Nanos::MAX).max();
        History {
            end: end.unwrap_or(Nanos::ZERO),
            events,
            unit_sectors: self.unit_sectors,
            sectors: self.drive.geometry().sectors,
            programs: self.programs,
            protected,
        }
    }
}
