//! Requests: what a header asks for, and whether this export can do it.

use super::wire::{self, Front, command, flag};
use super::{Closing, Errno, Export, MOST_PAYLOAD};

/// What a client asks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Command {
    /// Data; `one_chunk`: in one piece (DF).
    Read {
        /// The client wants one chunk of data.
        one_chunk: bool,
    },
    /// Takes data.
    Write {
        /// Answered when it is durable.
        fua: bool,
    },
    /// Makes durable what was answered.
    Flush,
    /// The range holds nothing of value.
    Trim {
        /// Answered when it is durable.
        fua: bool,
    },
    /// The range reads as zero.
    WriteZeroes {
        /// Answered when it is durable.
        fua: bool,
        /// The space has to stay taken.
        no_hole: bool,
        /// Fail rather than be as slow as a write.
        fast: bool,
    },
    /// Which parts of the range are allocated.
    BlockStatus {
        /// The first extent only.
        one: bool,
    },
    /// The range will be read soon.
    Cache,
}

/// A request that fits the export.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// What the reply is to carry.
    pub cookie: u64,
    /// What is asked.
    pub command: Command,
    /// First byte; 0 for a flush.
    pub offset: u64,
    /// Bytes; 0 for a flush.
    pub length: u64,
    /// The data of a write, `length` bytes.
    pub data: Vec<u8>,
}

/// Bytes of a header.
const HEADER: usize = 28;
/// The same with extended headers.
const EXTENDED_HEADER: usize = 32;

/// A header as it came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    flags: u16,
    kind: u16,
    cookie: u64,
    offset: u64,
    length: u64,
    extended: bool,
}

/// What a header asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Asked {
    /// Something to be done.
    Command(Command),
    /// Goodbye.
    Disconnect,
}

impl Header {
    /// How long one is.
    pub(super) fn bytes(extended: bool) -> usize {
        if extended { EXTENDED_HEADER } else { HEADER }
    }

    /// The header at the front of `bytes`; `None` when there is not all of it.
    pub(super) fn read(bytes: &[u8], extended: bool) -> Option<Result<Header, Closing>> {
        let expected = match extended {
            true => wire::EXTENDED_REQUEST_MAGIC,
            false => wire::REQUEST_MAGIC,
        };
        let mut front = Front(bytes.get(..Header::bytes(extended))?);
        let found = front.u32()?;
        if found != expected {
            return Some(Err(Closing::RequestMagic { found, expected }));
        }
        let (flags, kind) = (front.u16()?, front.u16()?);
        let (cookie, offset) = (front.u64()?, front.u64()?);
        let length = if extended { front.u64()? } else { u64::from(front.u32()?) };
        Some(Ok(Header { flags, kind, cookie, offset, length, extended }))
    }

    /// Bytes of data that follow it.
    ///
    /// # Errors
    /// More than are taken.
    pub(super) fn payload(&self) -> Result<usize, Closing> {
        let has = match self.extended {
            true => self.flags & flag::PAYLOAD_LEN != 0,
            false => self.kind == command::WRITE,
        };
        match has {
            false => Ok(0),
            true if self.length > u64::from(MOST_PAYLOAD) => {
                Err(Closing::PayloadTooLong(self.length))
            }
            true => Ok(self.length as usize),
        }
    }

    /// What it asks of `export`.
    ///
    /// # Errors
    /// What is answered instead.
    pub(super) fn asked(&self, export: &Export, statuses: bool) -> Result<Asked, Errno> {
        let on = |bit: u16| self.flags & bit != 0;
        let fua = on(flag::FUA);
        let (asked, known, writes) = match self.kind {
            command::READ => (Command::Read { one_chunk: on(flag::DF) }, flag::DF, false),
            command::WRITE => (Command::Write { fua }, 0, true),
            command::FLUSH => (Command::Flush, 0, false),
            command::TRIM if export.trims => (Command::Trim { fua }, 0, true),
            command::WRITE_ZEROES => {
                let (no_hole, fast) = (on(flag::NO_HOLE), on(flag::FAST_ZERO));
                let known = flag::NO_HOLE | flag::FAST_ZERO;
                (Command::WriteZeroes { fua, no_hole, fast }, known, true)
            }
            command::BLOCK_STATUS if statuses => {
                (Command::BlockStatus { one: on(flag::REQ_ONE) }, flag::REQ_ONE, false)
            }
            command::CACHE => (Command::Cache, 0, false),
            command::DISC => return Ok(Asked::Disconnect),
            command::TRIM => return Err(Errno::NotSup),
            _ => return Err(Errno::Inval),
        };
        // Any command may have it; where it has no meaning it is passed over.
        let mut known = known | flag::FUA;
        if self.extended && self.kind == command::WRITE {
            known |= flag::PAYLOAD_LEN;
            if !on(flag::PAYLOAD_LEN) {
                return Err(Errno::Inval);
            }
        }
        if self.flags & !known != 0 {
            return Err(Errno::Inval);
        }
        if writes && export.read_only {
            return Err(Errno::Perm);
        }
        if asked == Command::Flush {
            // Offset and length are reserved and must be 0.
            let empty = self.offset == 0 && self.length == 0;
            return if empty { Ok(Asked::Command(asked)) } else { Err(Errno::Inval) };
        }
        let end = self.offset.checked_add(self.length).ok_or(Errno::Inval)?;
        if self.length == 0 || end > export.bytes {
            let full = end > export.bytes && writes;
            return Err(if full { Errno::NoSpc } else { Errno::Inval });
        }
        if (self.offset | self.length) & u64::from(export.block_bytes - 1) != 0 {
            return Err(Errno::Inval);
        }
        if matches!(asked, Command::Read { .. }) && self.length > u64::from(MOST_PAYLOAD) {
            return Err(Errno::Overflow);
        }
        Ok(Asked::Command(asked))
    }

    pub(super) fn request(&self, command: Command, data: Vec<u8>) -> Request {
        let Header { cookie, offset, length, .. } = *self;
        Request { cookie, command, offset, length, data }
    }
}
