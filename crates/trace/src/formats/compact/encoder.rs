//! Makes blocks of I/Os and of text.

use fourcorners_drive::Op;

use super::{
    BLOCK_HEAD, Before, DURATION, FAILED, FUA, FURTHER, IOS, MAGIC, MOST_BLOCK, NEXT, SAME_DEVICE,
    SAME_LENGTH, TEXT, VERSION, ZEROES, checksum,
};
use crate::io::TraceIo;

/// Most bytes of an I/O: flags twice and five numbers of up to ten bytes.
const MOST_RECORD: usize = 2 + 5 * 10;

fn code(op: Op) -> u8 {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Trim => 2,
        Op::Flush => 3,
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
        Encoder::text_block(&text.as_bytes()[..end])
    }

    /// The block of a text that was read, as it was: at most [`MOST_BLOCK`] bytes.
    pub(crate) fn text_block(content: &[u8]) -> Vec<u8> {
        Encoder::framed(content, 0, TEXT)
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
