//! What blktrace(8) writes: records of 48 bytes, each followed by what the event has to say
//! (linux/blktrace_api.h, `struct blk_io_trace`), in the byte order of the machine.

use std::path::{Path, PathBuf};

use fourcorners_drive::{Nanos, Op};

use super::{Pairing, Since};
use crate::error::{Bad, Place, Reason};
use crate::fields::{self, sectors};
use crate::input::Input;
use crate::io::TraceIo;
use crate::options::Event;

/// Bytes of a record.
const RECORD: usize = 48;
/// `BLK_IO_TRACE_MAGIC | BLK_IO_TRACE_VERSION`.
const MAGIC: u32 = 0x6561_7407;

/// `__BLK_TA_QUEUE`, `_REQUEUE`, `_ISSUE` and `_COMPLETE`: the lower half of `action`, less the flag
/// of a control group.
const QUEUE: u32 = 1;
const REQUEUE: u32 = 6;
const ISSUE: u32 = 7;
const COMPLETE: u32 = 8;
const ACTION: u32 = 0xff;

/// Categories, the upper half of `action`.
const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const NOT_DATA: u32 = (1 << (16 + 9)) | (1 << (16 + 10));
const DISCARD: u32 = 1 << (16 + 13);

/// Whether a trace of this format begins like this.
pub(crate) fn begins(head: &[u8]) -> bool {
    let magic = head.first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    magic.is_some_and(|magic| magic == MAGIC || magic.swap_bytes() == MAGIC)
}

/// A trace, of one file or of one a CPU.
pub(crate) struct Blktrace {
    files: Vec<File>,
    event: Event,
    pairing: Pairing,
    since: Since,
    /// I/Os found, and events of the kind that was not asked for.
    found: bool,
    others: u64,
    told: bool,
    /// Which of several files the last bad record is in.
    bad: Option<usize>,
}

/// The events of one CPU.
struct File {
    /// Its name, where it is one of several.
    path: Option<PathBuf>,
    input: Input,
    next: Option<Record>,
    ended: bool,
    /// What comes next is no record.
    lost: bool,
}

/// What is used of a record.
#[derive(Clone, Copy)]
struct Record {
    ns: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    device: u32,
    place: u64,
    /// Of which of the files.
    file: usize,
}

impl Blktrace {
    /// A trace in one piece.
    pub(crate) fn new(input: Input, event: Event) -> Blktrace {
        Blktrace::of(vec![File::new(None, input)], event)
    }

    /// A trace with a file for each CPU.
    pub(crate) fn of_cpus(inputs: Vec<(PathBuf, Input)>, event: Event) -> Blktrace {
        let files = inputs.into_iter().map(|(path, input)| File::new(Some(path), input));
        Blktrace::of(files.collect(), event)
    }

    fn of(files: Vec<File>, event: Event) -> Blktrace {
        Blktrace {
            files,
            event,
            pairing: Pairing::default(),
            since: Since::default(),
            found: false,
            others: 0,
            told: false,
            bad: None,
        }
    }

    /// Of several files, the one that the last bad record is in.
    pub(crate) fn bad_file(&self) -> Option<&Path> {
        self.bad.and_then(|bad| self.files[bad].path.as_deref())
    }

    pub(crate) fn next(&mut self) -> Option<Result<TraceIo, Bad>> {
        loop {
            if let Some(io) = self.pairing.next() {
                return Some(Ok(io));
            }
            match self.earliest() {
                Err(bad) => return Some(Err(bad)),
                Ok(Some(record)) => {
                    if let Err(reason) = self.take(record) {
                        let place = Place::Byte(record.place);
                        self.bad = Some(record.file);
                        return Some(Err(Bad { place, reason, goes_on: true }));
                    }
                }
                Ok(None) => {
                    self.pairing.end();
                    if let Some(io) = self.pairing.next() {
                        return Some(Ok(io));
                    }
                    return self.nothing_of_the_kind().map(Err);
                }
            }
        }
    }

    /// The next event of all CPUs.
    fn earliest(&mut self) -> Result<Option<Record>, Bad> {
        for (index, file) in self.files.iter_mut().enumerate() {
            if file.next.is_none() && !file.ended {
                let read = file.read().inspect_err(|_| self.bad = Some(index))?;
                file.next = read.map(|record| Record { file: index, ..record });
                file.ended = file.next.is_none();
            }
        }
        let times = self.files.iter().enumerate();
        let times = times.filter_map(|(index, file)| Some((file.next?.ns, index)));
        Ok(times.min().and_then(|(_, index)| self.files[index].next.take()))
    }

    #[inline]
    fn take(&mut self, record: Record) -> Result<(), Reason> {
        let Record { action, device, .. } = record;
        let kind = action & ACTION;
        if action & NOT_DATA != 0 || !matches!(kind, QUEUE | REQUEUE | ISSUE | COMPLETE) {
            return Ok(());
        }
        let offset = sectors("sector", record.sector)?;
        let at = Nanos(self.since.first(record.ns));
        let wanted = match self.event {
            Event::Issue => ISSUE,
            Event::Queue => QUEUE,
        };
        match kind {
            COMPLETE => self.pairing.complete(device, offset, at),
            REQUEUE if self.event == Event::Issue => self.pairing.requeue(device, offset),
            kind if kind == wanted => {
                let Some(op) = operation(action, record.bytes) else { return Ok(()) };
                let io = fields::io(at, op, offset, u64::from(record.bytes))?;
                self.pairing.issue(TraceIo { device, ..io });
                self.found = true;
            }
            _ => self.others += 1,
        }
        Ok(())
    }

    /// A trace that has no I/O at all, because it has the other kind of events.
    fn nothing_of_the_kind(&mut self) -> Option<Bad> {
        if self.found || self.others == 0 || self.told {
            return None;
        }
        self.told = true;
        Some(Bad { place: Place::Whole, reason: other_events(self.event), goes_on: false })
    }
}

/// Why a kernel trace has no I/Os.
pub(super) fn other_events(event: Event) -> Reason {
    Reason::Other(match event {
        Event::Issue => {
            "it has queue events (Q) and no issue events (D): set event (--event) to queue".into()
        }
        Event::Queue => "it has no queue events (Q): leave event (--event) out".into(),
    })
}

/// What an event of this action does; `None` of what moves no data and flushes nothing.
fn operation(action: u32, bytes: u32) -> Option<Op> {
    match () {
        () if bytes == 0 => (action & FLUSH != 0).then_some(Op::Flush),
        () if action & DISCARD != 0 => Some(Op::Trim),
        () if action & WRITE != 0 => Some(Op::Write),
        () if action & READ != 0 => Some(Op::Read),
        () => None,
    }
}

impl File {
    fn new(path: Option<PathBuf>, input: Input) -> File {
        File { path, input, next: None, ended: false, lost: false }
    }

    #[inline]
    fn read(&mut self) -> Result<Option<Record>, Bad> {
        if self.lost {
            self.find_record().map_err(|error| Bad::io(Place::Byte(self.input.offset()), error))?;
        }
        let place = self.input.offset();
        let io = |error| Bad::io(Place::Byte(place), error);
        let bytes = self.input.look(RECORD).map_err(io)?;
        let Some(bytes) = bytes.first_chunk::<RECORD>() else {
            let (found, place) = (bytes.len(), Place::Byte(place));
            self.ended = true;
            let reason = Reason::Truncated { expected: RECORD, found };
            return match found {
                0 => Ok(None),
                _ => Err(Bad { place, reason, goes_on: true }),
            };
        };
        let read = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[at + byte]));
        let swapped = match read(0) {
            MAGIC => false,
            magic if magic.swap_bytes() == MAGIC => true,
            magic => return Err(self.lost(place, magic)),
        };
        let half = |at: usize| if swapped { read(at).swap_bytes() } else { read(at) };
        let whole = |at: usize| {
            let (low, high) = if swapped { (at + 4, at) } else { (at, at + 4) };
            u64::from(half(low)) | u64::from(half(high)) << 32
        };
        let extra = match swapped {
            true => u16::from_be_bytes([bytes[46], bytes[47]]),
            false => u16::from_le_bytes([bytes[46], bytes[47]]),
        };
        let record = Record {
            ns: whole(8),
            sector: whole(16),
            bytes: half(24),
            action: half(28),
            device: half(36),
            place,
            file: 0,
        };
        self.input.pass(RECORD);
        if extra > 0 {
            let passed = self.input.pass_over(u64::from(extra)).map_err(io)?;
            if passed < u64::from(extra) {
                self.ended = true;
                let (expected, found) = (RECORD + usize::from(extra), RECORD + passed as usize);
                let reason = Reason::Truncated { expected, found };
                return Err(Bad { place: Place::Byte(place), reason, goes_on: true });
            }
        }
        Ok(Some(record))
    }

    /// Something does not begin like a record. The next is looked for when it is asked for: the file may be
    /// long, and something else altogether.
    #[cold]
    fn lost(&mut self, place: u64, magic: u32) -> Bad {
        self.lost = true;
        let reason = Reason::Other(format!(
            "a record begins with {magic:08x}, not with the magic {MAGIC:08x} of version 7"
        ));
        Bad { place: Place::Byte(place), reason, goes_on: true }
    }

    /// Passes over what is no record, up to one or the end.
    #[cold]
    fn find_record(&mut self) -> std::io::Result<()> {
        self.lost = false;
        loop {
            self.input.pass(1);
            let head = self.input.look(4)?;
            let (begins, left) = (begins(head), head.len());
            if begins {
                return Ok(());
            }
            if left < 4 {
                self.input.pass(left);
                return Ok(());
            }
        }
    }
}
