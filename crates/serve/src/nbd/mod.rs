//! The protocol of network block devices (NBD), without any I/O: bytes in, requests out; replies in, bytes out.
//!
//! Names and numbers are those of the protocol's document, `doc/proto.md` of the NBD project. A [`Session`] is one
//! connection: the fixed newstyle handshake, then requests. Whatever a client sends in whatever pieces, a session gives
//! a [`Request`] that fits the [`Export`], answers what is wrong by itself, or ends with the reason. Encryption is not done
//! here: a session only says when it begins ([`Step::StartTls`]), and takes plain bytes before and after.

mod handshake;
mod reply;
mod request;
mod session;
mod wire;

pub use reply::{Extent, Reply};
pub use request::{Command, Request};
pub use session::{Session, Step};

/// What is offered to clients.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Export {
    /// Its name. An empty name, which asks for the default, means it, too.
    pub name: String,
    /// What LIST and INFO say of it beside the name.
    pub description: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Smallest request and alignment, a power of two.
    pub block_bytes: u32,
    /// No writes.
    pub read_only: bool,
    /// Takes TRIM.
    pub trims: bool,
    /// Has moving parts.
    pub rotational: bool,
}

/// Most bytes of one READ or WRITE, as `NBD_INFO_BLOCK_SIZE` says.
pub const MOST_PAYLOAD: u32 = 32 << 20;

/// Most bytes of an option of the handshake.
pub(crate) const MOST_OPTION: u32 = 64 << 10;

/// Errors that a reply can have, by their numbers on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u32)]
pub enum Errno {
    /// The export is read-only.
    Perm = 1,
    /// The drive failed.
    Io = 5,
    /// A request that makes no sense here.
    Inval = 22,
    /// No space for contents.
    NoSpc = 28,
    /// A reply that is larger than the protocol allows.
    Overflow = 75,
    /// Not to be had here, or not fast.
    NotSup = 95,
    /// The server is ending.
    Shutdown = 108,
}

/// Why a session ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Closing {
    /// The client said goodbye.
    #[error("the client disconnected")]
    Disconnected,
    /// A request that does not begin like one.
    #[error("a request began with {found:#010x}, not with {expected:#010x}")]
    RequestMagic {
        /// The first four bytes.
        found: u32,
        /// What they must be.
        expected: u32,
    },
    /// An option that does not begin like one.
    #[error("an option began with {0:#018x}, not with IHAVEOPT")]
    OptionMagic(u64),
    /// Flags of the handshake that are not known.
    #[error("the client's flags {0:#x} have bits that this server did not offer")]
    ClientFlags(u32),
    /// An option that is too long.
    #[error("an option of {0} bytes; at most 65536 are taken")]
    OptionTooLong(u32),
    /// A write that is too long.
    #[error("a payload of {0} bytes; at most {MOST_PAYLOAD} are taken")]
    PayloadTooLong(u64),
    /// An old client asked for an export that is not there, which has no other answer.
    #[error("NBD_OPT_EXPORT_NAME asked for an export that is not here")]
    NoSuchExport,
    /// An old client asked for the export without TLS, which has no other answer.
    #[error("NBD_OPT_EXPORT_NAME came without TLS, which is required here")]
    TlsRequired,
    /// Bytes came unencrypted behind the request for TLS, from the client or from somebody between.
    #[error("{0} bytes came behind NBD_OPT_STARTTLS before TLS began")]
    BytesBeforeTls(usize),
}
