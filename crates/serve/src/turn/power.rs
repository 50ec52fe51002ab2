//! The power of a served drive: what a cut takes, and the cut itself.

use fourcorners_drive::{Io, Nanos, Op, Persisted, RowProgram, Tag, Target};

use super::Turn;
use super::job::Parts;
use crate::contents::Memory;
use crate::crash::{Class, Flushes, Ledger, LedgerEvent, Persisting};
use crate::nbd::{Command, Request};

/// Bytes of what was replaced by writes that are not safe yet, and of their places: beyond that the oldest count as
/// safe. Larger than the write buffer of any drive of the catalogue.
const MOST_LEDGER_BYTES: u64 = 256 << 20;

/// What a drive tells of its NAND.
type Told = (Vec<Persisted>, Vec<RowProgram>);

/// The ledger of a drive, and how that drive is asked.
#[derive(Debug)]
pub(super) struct PowerLedger<T> {
    ledger: Ledger,
    track: fn(&mut T) -> Ledger,
    told: fn(&mut T) -> Told,
}

/// What a power cut took.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PowerCut {
    /// When, in virtual time.
    pub at: Nanos,
    /// Requests that were on their way and get no answer.
    pub unanswered: u64,
    /// Writes that were promised and are lost, in whole or in part.
    pub promised_lost: u64,
    /// Sectors of them, 512 bytes each.
    pub promised_lost_sectors: u64,
    /// Sectors that were answered, not promised, and are lost.
    pub answered_lost_sectors: u64,
}

/// Why the power is not cut.
#[derive(Debug, thiserror::Error)]
pub enum CutError {
    /// It is not known what would be lost.
    #[error("this drive does not tell what is on its NAND: power is cut on virtual SSDs only")]
    NotTracked,
    /// What flushes do cannot be changed afterwards.
    #[error(
        "{0} is of a drive that ignores flushes from the beginning: serve it with --ignore-flushes, or cut a recording \
         (fourcorners crash --fault {0})"
    )]
    FlushesKept(Class),
    /// The same, the other way round.
    #[error(
        "{0} is of a drive that does what a flush promises, and this one ignores them: give lost-flush or dead"
    )]
    FlushesIgnored(Class),
    /// What is stored cannot be changed to what is left.
    #[error("what is left could not all be stored: {0}")]
    Contents(#[from] std::io::Error),
}

impl<T: Persisting> Turn<T> {
    /// Keeps what a power cut needs from now on. Nothing may be in flight. The drive is simulated a little more slowly, at
    /// the same times, and what was replaced lately is in memory, 256 MiB at most.
    pub fn expect_power_cuts(&mut self) {
        let track = match self.settings.ignores_flushes {
            false => |drive: &mut T| tracked(drive, Flushes::Kept),
            true => |drive: &mut T| tracked(drive, Flushes::Ignored),
        };
        let ledger = track(&mut self.target);
        let told = |drive: &mut T| (drive.told().collect(), drive.programs());
        self.power = Some(PowerLedger { ledger, track, told });
    }
}

fn tracked<T: Persisting>(drive: &mut T, flushes: Flushes) -> Ledger {
    drive.track();
    Ledger::new(drive, flushes, MOST_LEDGER_BYTES)
}

impl<T: Target> PowerLedger<T> {
    /// The next event is handed to the drive. Its number.
    pub(super) fn submits(&mut self, drive: &T, io: Io) -> u64 {
        let is_counted = io.op == Op::Write && drive.geometry().refuses(io).is_none();
        self.ledger.submitted(is_counted)
    }

    /// Takes what the drive tells of its NAND.
    pub(super) fn hear(&mut self, drive: &mut T) {
        let (persisted, programs) = (self.told)(drive);
        self.ledger.told(persisted, programs);
    }

    /// A flush is answered for which nothing is done: whoever asked relies on it.
    pub(super) fn ignores_flush(&mut self, at: Nanos) {
        self.ledger.promises(at, at);
    }

    pub(super) fn answered(&mut self, event: u64, at: Nanos, failed: bool) {
        self.ledger.answered(event, at, failed);
    }
}

impl<T: Target> Turn<T> {
    /// What each part of a request is going to replace, where the power may be cut; `None` of what changes nothing, or
    /// more than is kept.
    pub(super) fn replaced(&mut self, parts: Parts) -> std::io::Result<Vec<Option<Memory>>> {
        if self.power.is_none() {
            return Ok(Vec::new());
        }
        let part = |io: Io| match io.op {
            Op::Write | Op::Trim => {
                self.contents.part(io.lba.bytes(), io.bytes(), MOST_LEDGER_BYTES)
            }
            Op::Read | Op::Flush => Ok(None),
        };
        parts.map(part).collect()
    }

    /// Notes the parts of a request, which came at a time, with what they have replaced.
    pub(super) fn begin_events(
        &mut self,
        at: Nanos,
        request: &Request,
        parts: Parts,
        before: Vec<Option<Memory>>,
    ) {
        let Some(power) = &mut self.power else { return };
        let zeroes = matches!(request.command, Command::WriteZeroes { .. });
        for (io, before) in parts.zip(before) {
            power.ledger.begin(at, LedgerEvent { io, zeroes, before });
        }
    }

    /// What is stored now counts as safe, and the drive may be another.
    pub(super) fn forget_unsafe(&mut self) {
        if let Some(power) = &mut self.power {
            power.ledger = (power.track)(&mut self.target);
        }
    }

    /// Writes and TRIMs that a power cut at a time might take, and the bytes of those writes; `None` where it is not known.
    pub(crate) fn at_risk(&self, now: Nanos) -> Option<(u64, u64)> {
        Some(self.power.as_ref()?.ledger.at_risk(now))
    }

    /// Whether a cut of a class can be had.
    ///
    /// # Errors
    /// When nothing is known of what is on the NAND, or flushes do something else.
    pub fn can_cut(&self, class: Class) -> Result<(), CutError> {
        let power = self.power.as_ref().ok_or(CutError::NotTracked)?;
        match (class.flushes(), power.ledger.flushes()) {
            _ if class == Class::Dead => Ok(()),
            (Flushes::Ignored, Flushes::Kept) => Err(CutError::FlushesKept(class)),
            (Flushes::Kept, Flushes::Ignored) => Err(CutError::FlushesIgnored(class)),
            _ => Ok(()),
        }
    }

    /// Cuts the power now: requests on their way get no answer, what is stored is what the drive would have kept, drawn by
    /// a number where anything is drawn, and the drive is at rest. Its model's map, wear and counters are as if all had been kept:
    /// only times know of them.
    ///
    /// # Errors
    /// As [`Turn::can_cut`], or when contents cannot be read or written: then they are of neither before nor after.
    pub fn cut(&mut self, class: Class, drawn_by: u64) -> Result<PowerCut, CutError> {
        self.can_cut(class)?;
        let at = self.target.now();
        let unanswered = (self.jobs.iter().flatten().count() + self.delayed.len()) as u64;
        self.jobs.clear();
        self.free_jobs.clear();
        self.waiting.clear();
        self.delayed.clear();
        self.flights.fill(None);
        self.free = (0..self.flights.len() as u32).rev().map(Tag).collect();
        while !matches!(self.target.reap(Nanos::MAX), Ok(None)) {}
        // What the drive has put off it does now, as of the time it would have; nothing is in its buffer when it comes back.
        self.target.submit(Tag(0), Io::FLUSH);
        while !matches!(self.target.reap(Nanos::MAX), Ok(None)) {}
        let Some(power) = &mut self.power else { return Err(CutError::NotTracked) };
        power.hear(&mut self.target);
        let cut = power.ledger.cut((class, at, drawn_by), &mut self.contents);
        self.forget_unsafe();
        let cut = cut?;
        Ok(PowerCut {
            at,
            unanswered,
            promised_lost: cut.promised_lost,
            promised_lost_sectors: cut.promised_lost_sectors,
            answered_lost_sectors: cut.answered_lost_sectors,
        })
    }
}
