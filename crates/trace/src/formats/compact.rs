//! fourcorners' own form: what an I/O differs in from the one before it, in blocks with a checksum.
//! Described byte by byte in docs/TRACES.md.

use fourcorners_drive::{Nanos, Op};

use crate::error::{Bad, Place, Reason};
use crate::fields;
use crate::input::Input;
use crate::io::{IoFlags, MOST_TIME, TraceIo};

/// The first bytes: one that is no text, the name, and the ends of line that a transfer as text
/// would change.
pub(crate) const MAGIC: [u8; 12] = *b"\x89FCTRACE\r\n\x1a\n";
/// The version that is written. Version 1, which is read as well, knows no flags of an I/O beyond [`DURATION`] and no
/// blocks of text.
pub(crate) const VERSION: u32 = 2;
/// Bytes of magic and version.
const HEAD: usize = 16;
/// Bytes before each block: length, I/Os, checksum, and what is in it.
const BLOCK_HEAD: usize = 16;
/// Most bytes of a block's content.
const MOST_BLOCK: usize = 64 << 10;
/// Most bytes of an I/O: flags twice and five numbers of up to ten bytes.
const MOST_RECORD: usize = 2 + 5 * 10;
/// What is in a block: I/Os, or, since version 2, text about the trace.
const IOS: u32 = 0;
const TEXT: u32 = 1;

/// Flags of an I/O. The lowest two bits are what it does.
const OP: u8 = 0b11;
/// It begins where the one before it ended.
const NEXT: u8 = 1 << 2;
/// It is as long as the one before it.
const SAME_LENGTH: u8 = 1 << 3;
/// It is of the device of the one before it.
const SAME_DEVICE: u8 = 1 << 4;
/// It has a duration.
const DURATION: u8 = 1 << 5;
/// Force unit access; since version 2.
const FUA: u8 = 1 << 6;
/// A byte of [`ZEROES`] and [`FAILED`] follows the flags; since version 2.
const FURTHER: u8 = 1 << 7;
const KNOWN_IN_1: u8 = OP | NEXT | SAME_LENGTH | SAME_DEVICE | DURATION;

/// Further flags: the write was one of zeros.
const ZEROES: u8 = 1;
/// The drive failed it.
const FAILED: u8 = 2;

/// Whether a trace of this format begins like this.
pub(crate) fn begins(head: &[u8]) -> bool {
    head.starts_with(&MAGIC)
}

fn code(op: Op) -> u8 {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Trim => 2,
        Op::Flush => 3,
    }
}

/// The I/O before, as both sides know it; it begins anew with each block, so that a block that is
/// damaged harms no other.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    at: u64,
    end: u64,
    bytes: u64,
    device: u32,
}

impl Before {
    fn after(io: &TraceIo) -> Before {
        Before { at: io.at.0, end: io.end_bytes(), bytes: io.bytes, device: io.device }
    }
}

/// Makes the blocks of a trace.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    content: Vec<u8>,
    ios: u32,
    before: Before,
    total: u64,
}

impl Encoder {
    /// What stands at the beginning of a trace.
    pub(crate) fn head() -> Vec<u8> {
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&VERSION.to_le_bytes());
        head
    }

    /// Takes an I/O; a block is to be written when one is full.
    pub(crate) fn put(&mut self, io: &TraceIo) -> Option<Vec<u8>> {
        let before = self.before;
        let mut flags = code(io.op);
        let addressed = io.op != Op::Flush;
        let next = io.offset_bytes == before.end;
        flags |= if addressed && next { NEXT } else { 0 };
        flags |= if addressed && io.bytes == before.bytes { SAME_LENGTH } else { 0 };
        flags |= if io.device == before.device { SAME_DEVICE } else { 0 };
        flags |= if io.duration.is_some() { DURATION } else { 0 };
        flags |= if io.flags.fua { FUA } else { 0 };
        let further = if io.flags.zeroes { ZEROES } else { 0 };
        let further = further | if io.flags.failed { FAILED } else { 0 };
        flags |= if further != 0 { FURTHER } else { 0 };
        let content = &mut self.content;
        content.push(flags);
        if further != 0 {
            content.push(further);
        }
        put_signed(content, io.at.0.wrapping_sub(before.at) as i64);
        if addressed && !next {
            put_signed(content, io.offset_bytes.wrapping_sub(before.end) as i64);
        }
        if addressed && io.bytes != before.bytes {
            put_number(content, io.bytes);
        }
        if io.device != before.device {
            put_number(content, u64::from(io.device));
        }
        if let Some(duration) = io.duration {
            put_number(content, duration.0);
        }
        self.before = Before::after(io);
        self.ios += 1;
        (self.content.len() + MOST_RECORD > MOST_BLOCK).then(|| self.block())
    }

    /// What is left, and the end: a block of no I/Os that says how many there are in all.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        let mut rest = if self.ios > 0 { self.block() } else { Vec::new() };
        self.content.extend_from_slice(&self.total.to_le_bytes());
        rest.extend(self.block());
        rest
    }

    /// A block of text about the trace, cut at 64 KiB; it may stand before any other.
    pub(crate) fn text(text: &str) -> Vec<u8> {
        let mut end = text.len().min(MOST_BLOCK);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Encoder::framed(&text.as_bytes()[..end], 0, TEXT)
    }

    fn framed(content: &[u8], ios: u32, what: u32) -> Vec<u8> {
        let mut block = Vec::with_capacity(BLOCK_HEAD + content.len());
        block.extend_from_slice(&(content.len() as u32).to_le_bytes());
        block.extend_from_slice(&ios.to_le_bytes());
        block.extend_from_slice(&checksum(ios, content).to_le_bytes());
        block.extend_from_slice(&what.to_le_bytes());
        block.extend_from_slice(content);
        block
    }

    fn block(&mut self) -> Vec<u8> {
        let content = std::mem::take(&mut self.content);
        let block = Encoder::framed(&content, self.ios, IOS);
        self.total += u64::from(self.ios);
        (self.ios, self.before) = (0, Before::default());
        block
    }
}

/// CRC-32 over the number of I/Os and the content.
fn checksum(ios: u32, content: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&ios.to_le_bytes());
    crc.update(content);
    crc.finalize()
}

/// Seven bits a byte, the lowest first; the highest bit says that there are more.
fn put_number(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// The sign in the lowest bit.
fn put_signed(to: &mut Vec<u8>, value: i64) {
    put_number(to, (value << 1 ^ value >> 63) as u64);
}

/// Reads a trace of this form.
pub(crate) struct Compact {
    input: Input,
    content: Box<[u8]>,
    at: usize,
    length: usize,
    left: u32,
    before: Before,
    /// Where the block is that is being read.
    place: u64,
    /// 0 until the beginning was read.
    version: u32,
    ended: bool,
    read: u64,
    /// Whether a block was left out, so that the total at the end cannot be met.
    damaged: bool,
}

impl Compact {
    pub(crate) fn new(input: Input) -> Compact {
        Compact {
            input,
            content: vec![0; MOST_BLOCK].into_boxed_slice(),
            at: 0,
            length: 0,
            left: 0,
            before: Before::default(),
            place: 0,
            version: 0,
            ended: false,
            read: 0,
            damaged: false,
        }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Option<Result<TraceIo, Bad>> {
        loop {
            if self.left > 0 {
                self.left -= 1;
                return Some(match self.io() {
                    Ok(io) => {
                        self.before = Before::after(&io);
                        self.read += 1;
                        Ok(io)
                    }
                    Err(reason) => {
                        // What follows in the block counts from what was not understood.
                        (self.left, self.damaged) = (0, true);
                        Err(Bad { place: Place::Byte(self.place), reason, goes_on: true })
                    }
                });
            }
            if self.ended {
                return None;
            }
            if let Err(bad) = self.block() {
                self.damaged = true;
                return Some(Err(bad));
            }
        }
    }

    /// Reads the next block.
    fn block(&mut self) -> Result<(), Bad> {
        if self.version == 0 {
            self.begin()?;
        }
        self.place = self.input.offset();
        let place = Place::Byte(self.place);
        let io = |error| Bad::io(place, error);
        let bad = |reason| Bad { place, reason, goes_on: true };
        let head = self.input.look(BLOCK_HEAD).map_err(io)?;
        let Some(head) = head.first_chunk::<BLOCK_HEAD>().copied() else {
            let found = head.len();
            self.ended = true;
            return Err(bad(match found {
                0 => Reason::Other("it ends without its last block: the rest was cut off".into()),
                found => Reason::Truncated { expected: BLOCK_HEAD, found },
            }));
        };
        let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| head[at + byte]));
        let (length, ios, expected) = (word(0) as usize, word(4), word(8));
        let what = word(12);
        let most = if self.version == 1 { IOS } else { TEXT };
        if length > MOST_BLOCK || what > most {
            self.ended = true;
            return Err(bad(Reason::Other("a block's beginning is damaged".into())));
        }
        self.input.pass(BLOCK_HEAD);
        let content = self.input.look(length).map_err(io)?;
        if content.len() < length {
            let found = BLOCK_HEAD + content.len();
            self.ended = true;
            return Err(bad(Reason::Truncated { expected: BLOCK_HEAD + length, found }));
        }
        self.content[..length].copy_from_slice(&content[..length]);
        self.input.pass(length);
        let found = checksum(ios, &self.content[..length]);
        if found != expected {
            return Err(bad(Reason::Checksum { expected, found }));
        }
        if what == TEXT {
            return Ok(());
        }
        (self.at, self.length, self.left, self.before) = (0, length, ios, Before::default());
        if ios == 0 {
            self.end().map_err(bad)?;
            return match self.input.look(1).map_err(io)?.is_empty() {
                true => Ok(()),
                false => Err(bad(Reason::Other(
                    "there is more after its last block: a file holds one trace, so give each a file of its own".into(),
                ))),
            };
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<(), Bad> {
        let place = Place::Byte(0);
        let fatal = |reason| Bad { place, reason, goes_on: false };
        let head = self.input.look(HEAD).map_err(|error| Bad::io(place, error))?;
        let Some(head) = head.first_chunk::<HEAD>().copied() else {
            return Err(fatal(Reason::Truncated { expected: HEAD, found: head.len() }));
        };
        if !begins(&head) {
            return Err(fatal(Reason::Other("it does not begin like one".into())));
        }
        let version = u32::from_le_bytes([12, 13, 14, 15].map(|at| head[at]));
        if !(1..=VERSION).contains(&version) {
            return Err(fatal(Reason::Other(format!(
                "it is of version {version}; this fourcorners reads versions 1 to {VERSION}"
            ))));
        }
        self.input.pass(HEAD);
        self.version = version;
        Ok(())
    }

    /// The block of no I/Os: the total has to be what was read.
    fn end(&mut self) -> Result<(), Reason> {
        self.ended = true;
        let total =
            self.content[..self.length].first_chunk().map(|total| u64::from_le_bytes(*total));
        match total {
            Some(total) if total == self.read || self.damaged => Ok(()),
            Some(total) => Err(Reason::Other(format!(
                "its end counts {total} I/Os, and {} were read: a part is missing",
                self.read
            ))),
            None => Err(Reason::Missing { field: "total" }),
        }
    }

    #[inline]
    fn io(&mut self) -> Result<TraceIo, Reason> {
        let flags = *self.content[..self.length].get(self.at).ok_or_else(too_short)?;
        self.at += 1;
        if self.version == 1 && flags & !KNOWN_IN_1 != 0 {
            return Err(Reason::Other(format!("an I/O with unknown flags {flags:#04x}")));
        }
        let mut more = IoFlags { fua: flags & FUA != 0, ..IoFlags::default() };
        if flags & FURTHER != 0 {
            let further = *self.content[..self.length].get(self.at).ok_or_else(too_short)?;
            self.at += 1;
            if further & !(ZEROES | FAILED) != 0 {
                return Err(Reason::Other(format!("an I/O with unknown flags {further:#04x}")));
            }
            (more.zeroes, more.failed) = (further & ZEROES != 0, further & FAILED != 0);
        }
        let op = match flags & OP {
            0 => Op::Read,
            1 => Op::Write,
            2 => Op::Trim,
            _ => Op::Flush,
        };
        let before = self.before;
        let at = before.at.wrapping_add_signed(self.signed()?);
        let (mut offset, mut bytes) = (before.end, before.bytes);
        if op == Op::Flush {
            (offset, bytes) = (0, 0);
        } else {
            if flags & NEXT == 0 {
                offset = offset.wrapping_add_signed(self.signed()?);
            }
            if flags & SAME_LENGTH == 0 {
                bytes = self.number()?;
            }
        }
        let device = match flags & SAME_DEVICE {
            0 => u32::try_from(self.number()?)
                .map_err(|_| Reason::Other("a device beyond 2^32".into()))?,
            _ => before.device,
        };
        let duration = match flags & DURATION {
            0 => None,
            _ => Some(Nanos(self.number()?)),
        };
        if duration.is_some_and(|duration| duration > MOST_TIME) {
            return Err(Reason::Other("an I/O that takes more than 73 years".into()));
        }
        let io = fields::io(Nanos(at), op, offset, bytes)?;
        Ok(TraceIo { duration, device, flags: more, ..io })
    }

    #[inline]
    fn signed(&mut self) -> Result<i64, Reason> {
        let value = self.number()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    #[inline]
    fn number(&mut self) -> Result<u64, Reason> {
        let mut value = 0u64;
        let mut shift = 0;
        loop {
            let byte = *self.content[..self.length].get(self.at).ok_or_else(too_short)?;
            self.at += 1;
            if shift >= 63 && byte > 1 {
                return Err(Reason::Other("a number of more than 64 bits".into()));
            }
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
            shift += 7;
        }
    }
}

#[cold]
fn too_short() -> Reason {
    Reason::Other("a block that is shorter than its I/Os".into())
}
