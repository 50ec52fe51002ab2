//! Numbers of the protocol, all big-endian on the wire, and reading them.

pub(super) const NBD_MAGIC: u64 = 0x4e42_444d_4147_4943;
pub(super) const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
pub(super) const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
pub(super) const REQUEST_MAGIC: u32 = 0x2560_9513;
pub(super) const EXTENDED_REQUEST_MAGIC: u32 = 0x21e4_1c71;
pub(super) const SIMPLE_REPLY_MAGIC: u32 = 0x6744_6698;
pub(super) const STRUCTURED_REPLY_MAGIC: u32 = 0x668e_33ef;
pub(super) const EXTENDED_REPLY_MAGIC: u32 = 0x6e8a_278c;

/// Flags of the handshake, the same bits both ways.
pub(super) const FIXED_NEWSTYLE: u32 = 1;
pub(super) const NO_ZEROES: u32 = 2;

pub(super) mod option {
    pub(in crate::nbd) const EXPORT_NAME: u32 = 1;
    pub(in crate::nbd) const ABORT: u32 = 2;
    pub(in crate::nbd) const LIST: u32 = 3;
    pub(in crate::nbd) const STARTTLS: u32 = 5;
    pub(in crate::nbd) const INFO: u32 = 6;
    pub(in crate::nbd) const GO: u32 = 7;
    pub(in crate::nbd) const STRUCTURED_REPLY: u32 = 8;
    pub(in crate::nbd) const LIST_META_CONTEXT: u32 = 9;
    pub(in crate::nbd) const SET_META_CONTEXT: u32 = 10;
    pub(in crate::nbd) const EXTENDED_HEADERS: u32 = 11;
}

/// Replies to options.
pub(super) mod answer {
    pub(in crate::nbd) const ACK: u32 = 1;
    pub(in crate::nbd) const SERVER: u32 = 2;
    pub(in crate::nbd) const INFO: u32 = 3;
    pub(in crate::nbd) const META_CONTEXT: u32 = 4;
    const ERROR: u32 = 1 << 31;
    pub(in crate::nbd) const UNSUP: u32 = ERROR | 1;
    pub(in crate::nbd) const INVALID: u32 = ERROR | 3;
    pub(in crate::nbd) const TLS_REQD: u32 = ERROR | 5;
    pub(in crate::nbd) const UNKNOWN: u32 = ERROR | 6;
    pub(in crate::nbd) const EXT_HEADER_REQD: u32 = ERROR | 10;
}

pub(super) mod info {
    pub(in crate::nbd) const EXPORT: u16 = 0;
    pub(in crate::nbd) const NAME: u16 = 1;
    pub(in crate::nbd) const DESCRIPTION: u16 = 2;
    pub(in crate::nbd) const BLOCK_SIZE: u16 = 3;
}

/// What an export can do.
pub(super) mod can {
    pub(in crate::nbd) const HAS_FLAGS: u16 = 1;
    pub(in crate::nbd) const READ_ONLY: u16 = 1 << 1;
    pub(in crate::nbd) const FLUSH: u16 = 1 << 2;
    pub(in crate::nbd) const FUA: u16 = 1 << 3;
    pub(in crate::nbd) const ROTATIONAL: u16 = 1 << 4;
    pub(in crate::nbd) const TRIM: u16 = 1 << 5;
    pub(in crate::nbd) const WRITE_ZEROES: u16 = 1 << 6;
    pub(in crate::nbd) const DF: u16 = 1 << 7;
    pub(in crate::nbd) const MULTI_CONN: u16 = 1 << 8;
    pub(in crate::nbd) const CACHE: u16 = 1 << 10;
    pub(in crate::nbd) const FAST_ZERO: u16 = 1 << 11;
}

pub(super) mod command {
    pub(in crate::nbd) const READ: u16 = 0;
    pub(in crate::nbd) const WRITE: u16 = 1;
    pub(in crate::nbd) const DISC: u16 = 2;
    pub(in crate::nbd) const FLUSH: u16 = 3;
    pub(in crate::nbd) const TRIM: u16 = 4;
    pub(in crate::nbd) const CACHE: u16 = 5;
    pub(in crate::nbd) const WRITE_ZEROES: u16 = 6;
    pub(in crate::nbd) const BLOCK_STATUS: u16 = 7;
}

/// Flags of a command.
pub(super) mod flag {
    pub(in crate::nbd) const FUA: u16 = 1;
    pub(in crate::nbd) const NO_HOLE: u16 = 1 << 1;
    pub(in crate::nbd) const DF: u16 = 1 << 2;
    pub(in crate::nbd) const REQ_ONE: u16 = 1 << 3;
    pub(in crate::nbd) const FAST_ZERO: u16 = 1 << 4;
    pub(in crate::nbd) const PAYLOAD_LEN: u16 = 1 << 5;
}

/// Chunks of a structured reply.
pub(super) mod chunk {
    pub(in crate::nbd) const DONE: u16 = 1;
    pub(in crate::nbd) const NONE: u16 = 0;
    pub(in crate::nbd) const OFFSET_DATA: u16 = 1;
    pub(in crate::nbd) const OFFSET_HOLE: u16 = 2;
    pub(in crate::nbd) const BLOCK_STATUS: u16 = 5;
    pub(in crate::nbd) const BLOCK_STATUS_EXT: u16 = 6;
    pub(in crate::nbd) const ERROR: u16 = 1 << 15 | 1;
}

/// The one metadata context there is, and the number it has in replies.
pub(super) const ALLOCATION: &str = "base:allocation";
pub(super) const ALLOCATION_ID: u32 = 1;

/// Bytes that are read from the front; `None` when there are too few.
pub(super) struct Front<'a>(pub(super) &'a [u8]);

impl<'a> Front<'a> {
    pub(super) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(front)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (front, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*front)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// Text that is preceded by its length.
    pub(super) fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.u32()?;
        self.bytes(usize::try_from(length).ok()?)
    }
}
