//! Replies as bytes: simple ones, structured chunks, and the same with extended headers.

use super::wire::{self, chunk};
use super::{Errno, Request};

/// Which replies a client has asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Dialect {
    #[default]
    Simple,
    Structured,
    /// 64-bit lengths; structured, too.
    Extended,
}

/// A part of the export of which all is alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// Bytes.
    pub length: u64,
    /// Nothing is stored there, and it reads as zero.
    pub hole: bool,
}

/// Bits of `base:allocation`: a hole that reads as zero.
const HOLE_AND_ZERO: u32 = 0b11;

/// What a request is answered with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reply<'a> {
    /// It is done; there is nothing to say.
    Done,
    /// The data of a read, all of it.
    Data(&'a [u8]),
    /// A read of nothing but zeros that are not stored.
    Hole,
    /// Block status from the request's offset on.
    Status(&'a [Extent]),
    /// It failed; a sentence why.
    Failed(Errno, &'a str),
}

impl Dialect {
    /// Writes the reply to a request.
    pub(super) fn reply(self, request: &Request, reply: Reply<'_>, out: &mut Vec<u8>) {
        let Request { cookie, offset, length, .. } = *request;
        if self == Dialect::Simple {
            let error = match reply {
                // Never sent to a client that has no structured replies, and refused before.
                Reply::Status(_) => Errno::Inval as u32,
                Reply::Failed(errno, _) => errno as u32,
                Reply::Done | Reply::Data(_) | Reply::Hole => 0,
            };
            out.extend_from_slice(&wire::SIMPLE_REPLY_MAGIC.to_be_bytes());
            out.extend_from_slice(&error.to_be_bytes());
            out.extend_from_slice(&cookie.to_be_bytes());
            match reply {
                Reply::Data(data) => out.extend_from_slice(data),
                Reply::Hole => out.resize(out.len() + length as usize, 0),
                Reply::Done | Reply::Status(_) | Reply::Failed(..) => {}
            }
            return;
        }
        let mut begin = |kind: u16, bytes: usize| self.begin(request, kind, bytes, out);
        match reply {
            Reply::Done => begin(chunk::NONE, 0),
            Reply::Data(data) => {
                begin(chunk::OFFSET_DATA, 8 + data.len());
                out.extend_from_slice(&offset.to_be_bytes());
                out.extend_from_slice(data);
            }
            Reply::Hole => {
                begin(chunk::OFFSET_HOLE, 12);
                out.extend_from_slice(&offset.to_be_bytes());
                // A read is never longer than this number can say.
                out.extend_from_slice(&(length as u32).to_be_bytes());
            }
            Reply::Status(extents) => self.status(request, extents, out),
            Reply::Failed(errno, why) => {
                // The protocol takes messages of at most 4096 bytes.
                let why = &why.as_bytes()[..why.len().min(4096)];
                begin(chunk::ERROR, 6 + why.len());
                out.extend_from_slice(&(errno as u32).to_be_bytes());
                out.extend_from_slice(&(why.len() as u16).to_be_bytes());
                out.extend_from_slice(why);
            }
        }
    }

    /// The head of the one chunk that a reply has here.
    fn begin(self, request: &Request, kind: u16, bytes: usize, out: &mut Vec<u8>) {
        let magic = match self {
            Dialect::Extended => wire::EXTENDED_REPLY_MAGIC,
            Dialect::Simple | Dialect::Structured => wire::STRUCTURED_REPLY_MAGIC,
        };
        out.extend_from_slice(&magic.to_be_bytes());
        out.extend_from_slice(&chunk::DONE.to_be_bytes());
        out.extend_from_slice(&kind.to_be_bytes());
        out.extend_from_slice(&request.cookie.to_be_bytes());
        if self == Dialect::Extended {
            out.extend_from_slice(&request.offset.to_be_bytes());
            out.extend_from_slice(&(bytes as u64).to_be_bytes());
        } else {
            out.extend_from_slice(&(bytes as u32).to_be_bytes());
        }
    }

    fn status(self, request: &Request, extents: &[Extent], out: &mut Vec<u8>) {
        let flags = |extent: &Extent| if extent.hole { HOLE_AND_ZERO } else { 0 };
        if self == Dialect::Extended {
            self.begin(request, chunk::BLOCK_STATUS_EXT, 8 + 16 * extents.len(), out);
            out.extend_from_slice(&wire::ALLOCATION_ID.to_be_bytes());
            out.extend_from_slice(&(extents.len() as u32).to_be_bytes());
            for extent in extents {
                out.extend_from_slice(&extent.length.to_be_bytes());
                out.extend_from_slice(&u64::from(flags(extent)).to_be_bytes());
            }
            return;
        }
        // A length of 32 bits: what is longer is told in part, in whole blocks, and asked for again.
        const MOST: u64 = 1 << 31;
        let cut = extents.iter().position(|extent| extent.length > MOST);
        let told = &extents[..cut.map_or(extents.len(), |long| long + 1)];
        self.begin(request, chunk::BLOCK_STATUS, 4 + 8 * told.len(), out);
        out.extend_from_slice(&wire::ALLOCATION_ID.to_be_bytes());
        for extent in told {
            out.extend_from_slice(&(extent.length.min(MOST) as u32).to_be_bytes());
            out.extend_from_slice(&flags(extent).to_be_bytes());
        }
    }
}
