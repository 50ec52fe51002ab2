//! A request on its way through a drive: the I/Os that it is handed over in.

use fourcorners_drive::{Io, Lba, Nanos, Op, SECTOR_BYTES};

use super::settings::TurnSettings;
use crate::faults::Strike;
use crate::nbd::{Command, Errno, Request};

/// Longest TRIM that is handed to a drive at once; longer ones are taken in pieces.
const MOST_TRIM_BYTES: u64 = 2 << 30;

/// A request on its way.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) client: u64,
    pub(super) request: Request,
    /// When it came.
    pub(super) at: Nanos,
    /// When its next I/O could be handed over, had the drive room.
    pub(super) asked: Nanos,
    /// What is not submitted yet.
    pub(super) parts: Parts,
    pub(super) in_flight: u32,
    /// Its flush is left, and what that is to cover is in flight.
    pub(super) waits_for_its_own: bool,
    pub(super) failed: Option<(Errno, String)>,
    pub(super) strike: Strike,
}

/// The I/Os of a request, in the order they are submitted in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    command: Command,
    /// Where the next part begins, and the last one ends.
    next: u64,
    end: u64,
    compressible_percent: u8,
    /// Of a read or a write at most.
    most_bytes: u64,
    zeroes_by_trim: bool,
    /// A flush is still to be submitted behind the others.
    flush_behind: bool,
}

impl Parts {
    /// Those of a request to a drive with these settings, each read and write of at most `most_bytes`. `compressible_percent` is of the data of a write.
    pub(super) fn of(
        request: &Request,
        settings: TurnSettings,
        most_bytes: u32,
        compressible_percent: u8,
    ) -> Parts {
        let zeroes_by_trim = settings.zeroes_by_trim();
        let flush_behind = match request.command {
            Command::Trim { fua } => fua,
            Command::WriteZeroes { fua, no_hole, .. } => fua && zeroes_by_trim && !no_hole,
            Command::Flush => true,
            _ => false,
        };
        Parts {
            command: request.command,
            next: request.offset,
            end: request.offset + request.length,
            compressible_percent,
            most_bytes: u64::from(most_bytes),
            zeroes_by_trim,
            flush_behind: flush_behind && !settings.ignores_flushes,
        }
    }

    /// Whether a flush comes behind what is written or trimmed.
    pub(super) fn flush_behind(&self) -> bool {
        self.flush_behind && self.command != Command::Flush
    }

    /// Whether a drive was given all of them.
    pub(super) fn is_empty(&self) -> bool {
        self.peek().is_none()
    }

    /// Whether nothing but the flush behind the others is to be submitted.
    pub(super) fn only_flush_is_left(&self) -> bool {
        matches!(self.peek(), Some((Op::Flush, _)))
    }

    /// The flush behind the others is not needed.
    pub(super) fn forget_flush(&mut self) {
        self.flush_behind = false;
    }

    /// What is to be submitted next: operation, bytes.
    fn peek(&self) -> Option<(Op, u64)> {
        let (op, most) = match self.command {
            Command::Read { .. } => (Op::Read, self.most_bytes),
            Command::Write { .. } => (Op::Write, self.most_bytes),
            Command::Trim { .. } => (Op::Trim, MOST_TRIM_BYTES),
            Command::WriteZeroes { no_hole: false, .. } if self.zeroes_by_trim => {
                (Op::Trim, MOST_TRIM_BYTES)
            }
            Command::WriteZeroes { .. } => (Op::Write, self.most_bytes),
            Command::Flush => return self.flush_behind.then_some((Op::Flush, 0)),
            Command::BlockStatus { .. } | Command::Cache => return None,
        };
        match self.end - self.next {
            0 => self.flush_behind.then_some((Op::Flush, 0)),
            left => Some((op, left.min(most))),
        }
    }
}

impl Iterator for Parts {
    type Item = Io;

    fn next(&mut self) -> Option<Io> {
        let (op, bytes) = self.peek()?;
        if op == Op::Flush {
            self.flush_behind = false;
            return Some(Io::FLUSH);
        }
        let lba = Lba(self.next / SECTOR_BYTES);
        self.next += bytes;
        let fua = match self.command {
            Command::Write { fua } => fua,
            Command::WriteZeroes { fua, .. } => fua && op == Op::Write,
            _ => false,
        };
        let compressible_percent = if op == Op::Write { self.compressible_percent } else { 0 };
        let sectors = (bytes / SECTOR_BYTES) as u32;
        Some(Io { op, lba, sectors, compressible_percent, fua })
    }
}
