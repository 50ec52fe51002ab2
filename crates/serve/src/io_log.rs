//! I/Os of a drive as a recording has them: in the order they were issued in, each with its duration.

use std::collections::VecDeque;

use fourcorners_drive::{Io, Nanos, Op};
use fourcorners_trace::{IoFlags, TraceIo};

/// I/Os in the order they were issued in, until all before them have ended.
#[derive(Debug, Default)]
pub(crate) struct IoLog {
    entries: VecDeque<Entry>,
    /// The number of the first of them.
    first: u64,
    /// The drive's time at which that of the entries begins.
    origin: Nanos,
}

#[derive(Debug)]
struct Entry {
    io: TraceIo,
    ended: bool,
}

impl IoLog {
    /// Times count from here on.
    pub(crate) fn begins_at(&mut self, origin: Nanos) {
        self.origin = origin;
    }

    /// Number of the entry; when nothing is recorded a number of none.
    pub(crate) fn begin(&mut self, records: bool, at: Nanos, io: Io, zeroes: bool) -> u64 {
        if records {
            let flush = io.op == Op::Flush;
            self.entries.push_back(Entry {
                io: TraceIo {
                    at: Nanos(at.0.saturating_sub(self.origin.0)),
                    op: io.op,
                    offset_bytes: if flush { 0 } else { io.lba.bytes() },
                    bytes: if flush { 0 } else { io.bytes() },
                    duration: None,
                    device: 0,
                    flags: IoFlags { fua: io.fua, zeroes, ..IoFlags::default() },
                },
                ended: false,
            });
        }
        match records {
            true => self.first + self.entries.len() as u64 - 1,
            false => u64::MAX,
        }
    }

    pub(crate) fn end(&mut self, entry: u64, at: Nanos, failed: bool) {
        let place = entry.checked_sub(self.first).and_then(|place| usize::try_from(place).ok());
        if let Some(entry) = place.and_then(|place| self.entries.get_mut(place)) {
            entry.io.duration = Some(Nanos(at.0.saturating_sub(self.origin.0)).since(entry.io.at));
            entry.io.flags.failed = failed;
            entry.ended = true;
        }
    }

    pub(crate) fn finished(&mut self) -> impl Iterator<Item = TraceIo> + '_ {
        std::iter::from_fn(|| {
            self.entries.front().filter(|entry| entry.ended)?;
            self.first += 1;
            self.entries.pop_front().map(|entry| entry.io)
        })
    }
}
