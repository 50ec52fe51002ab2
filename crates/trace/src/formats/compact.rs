//! fourcorners' own form: what an I/O differs in from the one before it, in blocks with a checksum.
//! Described byte by byte in docs/TRACES.md.

mod encoder;

use fourcorners_drive::{Nanos, Op};

use crate::error::{Bad, Place, Reason};
use crate::fields;
use crate::input::Input;
use crate::io::{IoFlags, MOST_TIME, TraceIo};

pub(crate) use encoder::Encoder;

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
/// Bytes of the last block's content: the number of I/Os in all.
const TOTAL_BYTES: usize = 8;
/// Most bytes of a block's content.
const MOST_BLOCK: usize = 64 << 10;
/// Most bytes of text that are kept until they are taken: a trace may be nothing but text.
const MOST_TEXTS: usize = 1 << 20;
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
/// What times and offsets may be, for a message.
const POSSIBLE_TIMES: &str = "from 0 to 73 years in nanoseconds";
const POSSIBLE_OFFSETS: &str = "from 0 to below 2^62 bytes";
const KNOWN_IN_1: u8 = OP | NEXT | SAME_LENGTH | SAME_DEVICE | DURATION;

/// Further flags: the write was one of zeros.
const ZEROES: u8 = 1;
/// The drive failed it.
const FAILED: u8 = 2;

/// Whether a trace of this format begins like this.
pub(crate) fn begins(head: &[u8]) -> bool {
    head.starts_with(&MAGIC)
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

/// CRC-32 over the number of I/Os and the content.
fn checksum(ios: u32, content: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&ios.to_le_bytes());
    crc.update(content);
    crc.finalize()
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
    /// Where somebody asks for them, the blocks of text that were read and not yet taken.
    texts: Option<Texts>,
}

/// Blocks of text about a trace, of at most [`MOST_TEXTS`] bytes.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    /// What is in each, in the order of the trace.
    pub(crate) blocks: Vec<Box<[u8]>>,
    bytes: usize,
    /// Whether there were more of them.
    pub(crate) too_many: bool,
}

impl Texts {
    fn add(&mut self, content: &[u8]) {
        // An empty one takes memory, too.
        self.bytes += content.len().max(BLOCK_HEAD);
        match self.bytes <= MOST_TEXTS {
            true => self.blocks.push(content.into()),
            false => self.too_many = true,
        }
    }
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
            texts: None,
        }
    }

    /// Keeps the blocks of text from here on, until they are taken.
    pub(crate) fn keep_texts(&mut self) {
        self.texts.get_or_insert_default();
    }

    /// The blocks of text since this was asked last.
    #[inline]
    pub(crate) fn take_texts(&mut self) -> Texts {
        self.texts.as_mut().map(std::mem::take).unwrap_or_default()
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
                        self.at = self.length;
                        Err(Bad { place: Place::Byte(self.place), reason, goes_on: true })
                    }
                });
            }
            if self.at < self.length {
                return Some(Err(self.not_used_up()));
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
            if let Some(texts) = &mut self.texts {
                texts.add(&self.content[..length]);
            }
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

    /// The checksum covers the number of I/Os, so whoever wrote the block counted wrong, and I/Os would be lost silently.
    #[cold]
    fn not_used_up(&mut self) -> Bad {
        let (used, length) = (self.at, self.length);
        (self.at, self.damaged) = (length, true);
        let reason = Reason::Other(format!(
            "the I/Os that the block counts end after {used} of its {length} bytes: its number of I/Os is wrong"
        ));
        Bad { place: Place::Byte(self.place), reason, goes_on: true }
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
            return Err(fatal(Reason::Version { found: version, newest: VERSION }));
        }
        self.input.pass(HEAD);
        self.version = version;
        Ok(())
    }

    /// The block of no I/Os: the total has to be what was read.
    fn end(&mut self) -> Result<(), Reason> {
        self.ended = true;
        self.at = self.length;
        let content = &self.content[..self.length];
        if content.len() > TOTAL_BYTES {
            let length = content.len();
            return Err(Reason::Other(format!(
                "its last block has {length} bytes, not the {TOTAL_BYTES} of the number of I/Os: its number of I/Os is wrong"
            )));
        }
        let total = content.first_chunk().map(|total| u64::from_le_bytes(*total));
        match total {
            Some(total) if total == self.read || self.damaged => Ok(()),
            Some(total) => Err(Reason::Other(format!(
                "its number of I/Os is {total} by its end, and {} by its blocks: a part is missing",
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
        let since = self.signed()?;
        let at = before.at.checked_add_signed(since);
        let at = at.ok_or_else(|| impossible("time", before.at, since, POSSIBLE_TIMES))?;
        let (mut offset, mut bytes) = (before.end, before.bytes);
        if op == Op::Flush {
            (offset, bytes) = (0, 0);
        } else {
            if flags & NEXT == 0 {
                let from = self.signed()?;
                let there = offset.checked_add_signed(from);
                offset =
                    there.ok_or_else(|| impossible("offset", offset, from, POSSIBLE_OFFSETS))?;
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

/// What a field is whose value, told as a difference, is below 0 or beyond 2^64.
#[cold]
fn impossible(field: &'static str, before: u64, difference: i64, expected: &'static str) -> Reason {
    let value = i128::from(before) + i128::from(difference);
    Reason::field(field, value.to_string().as_bytes(), expected)
}
