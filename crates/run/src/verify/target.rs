//! The target that stamps what is written and checks what is read.

use std::collections::VecDeque;

use fourcorners_drive::{
    Clock, Done, Fault, FaultCause, Geometry, Io, Nanos, Op, SECTOR_BYTES, Tag, Target,
};

use super::damage::{Damage, diagnose, diagnose_unknown};
use super::findings::{Finding, Findings};
use super::ledger::Ledger;
use super::stamp::Stamp;
use super::{Contents, Sequence, Spec};

/// `EILSEQ` of asm-generic/errno.h: what fio says of data that is wrong.
const EILSEQ: i32 = 84;

/// A target whose writes are stamped and whose reads are checked.
pub struct Verifying<'a, T> {
    pub(super) target: &'a mut T,
    pub(super) spec: Spec,
    pub(super) ledger: Ledger,
    pub(super) findings: Findings,
    /// Whose I/O comes next.
    stream: u32,
    /// Writes of each stream so far.
    counts: Vec<u64>,
    /// Whether any stream of the plan changes anything.
    changes: bool,
    /// What the target has.
    active: Vec<Flight>,
    /// What waits for something in the target, in order.
    held: VecDeque<Flight>,
    /// Memory for a block.
    pub(super) spare: Vec<u8>,
}

/// An I/O on its way.
#[derive(Clone, Copy)]
struct Flight {
    tag: Tag,
    io: Io,
    stream: u32,
    /// Of a write.
    sequence: Option<Sequence>,
}

impl Flight {
    /// Whether the two must not be in the target at a time.
    fn meets(&self, other: &Flight) -> bool {
        let changes = |op: Op| matches!(op, Op::Write | Op::Trim);
        let places = |op: Op| op != Op::Flush;
        places(self.io.op)
            && places(other.io.op)
            && (changes(self.io.op) || changes(other.io.op))
            && self.io.lba.0 < other.io.end()
            && other.io.lba.0 < self.io.end()
    }
}

impl<'a, T: Contents> Verifying<'a, T> {
    /// Stands in front of `target`. `changes` says whether anything will be written: what was not
    /// written here and is only read is held to what it says of itself.
    pub fn new(target: &'a mut T, spec: Spec, changes: bool) -> Verifying<'a, T> {
        Verifying {
            target,
            ledger: Ledger::new(spec.start_bytes, spec.bytes, spec.block_bytes),
            findings: Findings::default(),
            stream: 0,
            counts: vec![0; spec.wanted.len()],
            changes,
            active: Vec::new(),
            held: VecDeque::new(),
            spare: vec![0; spec.block_bytes as usize],
            spec,
        }
    }

    /// The I/Os that are submitted from now on are of this stream.
    pub fn is_of(&mut self, stream: u32) {
        self.stream = stream;
    }

    /// What was found wrong, put together.
    pub fn into_findings(mut self) -> Findings {
        let ledger = &self.ledger;
        self.findings.conclude(|offset, expected| {
            let known = ledger.at(offset) == Some(expected);
            known.then(|| ledger.same_write(offset, u64::from(u32::MAX)))
        });
        self.findings
    }

    /// The write that comes next of a stream is noted as done, with nothing asked of the target.
    pub fn note(&mut self, stream: u32, io: Io) {
        match io.op {
            Op::Write => {
                let sequence = self.next_of(stream);
                self.ledger.note(io.lba.bytes(), io.bytes(), Some(sequence));
            }
            Op::Trim => self.ledger.note(io.lba.bytes(), io.bytes(), None),
            Op::Read | Op::Flush => {}
        }
    }

    fn next_of(&mut self, stream: u32) -> Sequence {
        let count = &mut self.counts[stream as usize];
        *count += 1;
        Sequence::new(stream, *count)
    }

    fn start(&mut self, flight: Flight) {
        let Flight { tag, io, .. } = flight;
        self.active.push(flight);
        match (io.op, flight.sequence) {
            (Op::Write, Some(sequence)) => {
                self.ledger.note(io.lba.bytes(), io.bytes(), Some(sequence));
                let first = stamp(&self.spec, sequence, io.lba.0);
                let block_bytes = self.spec.block_bytes as usize;
                self.target.submit_filled(tag, io, |bytes| {
                    let sectors = block_bytes as u64 / SECTOR_BYTES;
                    for (index, block) in bytes.chunks_exact_mut(block_bytes).enumerate() {
                        let sector = first.sector + index as u64 * sectors;
                        Stamp { sector, ..first }.write(block);
                    }
                });
            }
            (Op::Trim, _) => {
                self.ledger.note(io.lba.bytes(), io.bytes(), None);
                self.target.submit(tag, io);
            }
            _ => self.target.submit(tag, io),
        }
    }

    /// An I/O is in the target no more: those that waited for it may go.
    fn end(&mut self, tag: Tag) -> Option<Flight> {
        let place = self.active.iter().position(|flight| flight.tag == tag)?;
        let flight = self.active.swap_remove(place);
        let mut index = 0;
        while let Some(&held) = self.held.get(index) {
            let mut before = self.active.iter().chain(self.held.iter().take(index));
            if before.any(|other| other.meets(&held)) {
                index += 1;
            } else {
                self.held.remove(index);
                self.start(held);
            }
        }
        Some(flight)
    }

    /// Whether a block of what was read is wrong.
    fn check(&mut self, flight: Flight) -> bool {
        let stream = flight.stream as usize;
        if !self.spec.wanted.get(stream).copied().unwrap_or(false) {
            return false;
        }
        let Verifying { target, spec, ledger, spare, changes, .. } = self;
        let content = target.content(flight.tag, flight.io.bytes() as usize);
        let block_bytes = spec.block_bytes as usize;
        let mut wrong: Vec<(u64, Option<Sequence>, Damage)> = Vec::new();
        for (index, block) in content.chunks_exact(block_bytes).enumerate() {
            let offset = flight.io.lba.bytes() + (index * block_bytes) as u64;
            let sector = offset / SECTOR_BYTES;
            let expected = ledger.at(offset);
            let damage = match expected {
                Some(sequence) => {
                    let stamp = stamp(spec, sequence, sector);
                    (!stamp.is_in(block, spare)).then(|| diagnose(stamp, block, spare))
                }
                None if *changes => None,
                None => diagnose_unknown(sector, block, spare),
            };
            wrong.extend(damage.map(|damage| (offset, expected, damage)));
        }
        for &(offset_bytes, expected, damage) in &wrong {
            let bytes = block_bytes as u64;
            self.findings.add(Finding { stream, offset_bytes, bytes, expected, damage });
        }
        !wrong.is_empty()
    }
}

/// What a write leaves in the block at a sector.
fn stamp(spec: &Spec, sequence: Sequence, sector: u64) -> Stamp {
    let percents = &spec.compressible_percent;
    Stamp {
        kind: spec.kind,
        run: spec.run,
        sequence: sequence.number(),
        sector,
        compressible_percent: percents.get(sequence.stream()).copied().unwrap_or(0),
    }
}

impl<T: Contents> Target for Verifying<'_, T> {
    const CLOCK: Clock = T::CLOCK;

    fn geometry(&self) -> Geometry {
        self.target.geometry()
    }

    fn now(&self) -> Nanos {
        self.target.now()
    }

    fn submit(&mut self, tag: Tag, io: Io) {
        let stream = self.stream;
        let sequence = (io.op == Op::Write).then(|| self.next_of(stream));
        let flight = Flight { tag, io, stream, sequence };
        if self.active.iter().chain(&self.held).any(|other| other.meets(&flight)) {
            self.held.push_back(flight);
        } else {
            self.start(flight);
        }
    }

    fn reap(&mut self, until: Nanos) -> Result<Option<Done>, Fault> {
        match self.target.reap(until) {
            Ok(Some(done)) => {
                let flight = self.active.iter().find(|flight| flight.tag == done.tag).copied();
                // Before others may use its memory.
                let wrong = flight.filter(|flight| flight.io.op == Op::Read && self.check(*flight));
                self.end(done.tag);
                match wrong {
                    Some(Flight { io, .. }) if self.spec.fatal => {
                        let cause = FaultCause::Os { errno: EILSEQ };
                        Err(Fault { tag: done.tag, io, at: done.at, cause })
                    }
                    _ => Ok(Some(done)),
                }
            }
            Ok(None) => Ok(None),
            Err(fault) => {
                // Nobody knows what is there now. Noted before those that waited for it go.
                if let Some(flight) = self.active.iter().find(|flight| flight.tag == fault.tag)
                    && flight.sequence.is_some()
                {
                    let io = flight.io;
                    self.ledger.note(io.lba.bytes(), io.bytes(), None);
                }
                self.end(fault.tag);
                Err(fault)
            }
        }
    }

    fn due(&mut self) -> Option<Nanos> {
        self.target.due()
    }

    fn energy_j(&self, at: Nanos) -> Option<f64> {
        self.target.energy_j(at)
    }
}

/// The fault that says that so many blocks are wrong, the first of them here.
pub(super) fn wrong_data(finding: &Finding, at: Nanos) -> Fault {
    let io = Io {
        op: Op::Read,
        lba: fourcorners_drive::Lba(finding.offset_bytes / SECTOR_BYTES),
        sectors: u32::try_from(finding.bytes / SECTOR_BYTES).unwrap_or(u32::MAX),
        ..Io::FLUSH
    };
    Fault { tag: Tag(0), io, at, cause: FaultCause::Os { errno: EILSEQ } }
}
