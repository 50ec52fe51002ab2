//! The checksums that a verified block can carry, by fio's names.

use super::crc64::crc64;
use md5::Md5;
use sha1::Sha1;
use sha2::digest::Digest as _;
use sha2::{Sha256, Sha512};
use std::hash::Hasher;
use twox_hash::XxHash64;

/// Longest checksum, bytes.
pub(super) const MOST_BYTES: usize = 64;

/// The checksum of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// CRC-32C (Castagnoli), by the processor's instruction where it has one.
    Crc32c,
    /// CRC-32 of IEEE 802.3.
    Crc32,
    /// XXH64.
    Xxhash,
    /// MD5.
    Md5,
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
    /// None: every byte is compared with what it has to be instead.
    Meta,
    /// CRC-64/XZ.
    Crc64,
}

/// A name of a checksum that cannot be had.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UnknownChecksum {
    /// fio has it, and we do not.
    #[error("that checksum is not there; there are {}", Kind::ALL.map(Kind::name).join(", "))]
    NotHere,
    /// fio does not have it either.
    #[error("fio has no such checksum; there are {}", Kind::ALL.map(Kind::name).join(", "))]
    NotFios,
}

/// Names of fio with no counterpart here.
const WITHOUT: &[&str] =
    &["crc16", "crc7", "sha3-224", "sha3-256", "sha3-384", "sha3-512", "pattern", "pattern_hdr"];

impl Kind {
    /// All there are; the place is the number in a block's header.
    pub const ALL: [Kind; 9] = [
        Kind::Crc32c,
        Kind::Crc32,
        Kind::Xxhash,
        Kind::Md5,
        Kind::Sha1,
        Kind::Sha256,
        Kind::Sha512,
        Kind::Meta,
        // A block that was written before it was there has the number it had.
        Kind::Crc64,
    ];

    /// By the name that `verify=` has; `None` for the names that ask for no verification.
    ///
    /// # Errors
    /// [`UnknownChecksum`] for a name that cannot be had.
    pub fn named(name: &str) -> Result<Option<Kind>, UnknownChecksum> {
        if ["0", "none", "null"].contains(&name) {
            return Ok(None);
        }
        // fio's way to ask for the instruction that is always taken here.
        let plain = if name == "crc32c-intel" { "crc32c" } else { name };
        if let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.name() == plain) {
            return Ok(Some(kind));
        }
        Err(match WITHOUT.contains(&name) {
            true => UnknownChecksum::NotHere,
            false => UnknownChecksum::NotFios,
        })
    }

    /// fio's name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Crc32c => "crc32c",
            Kind::Crc32 => "crc32",
            Kind::Xxhash => "xxhash",
            Kind::Md5 => "md5",
            Kind::Sha1 => "sha1",
            Kind::Sha256 => "sha256",
            Kind::Sha512 => "sha512",
            Kind::Meta => "meta",
            Kind::Crc64 => "crc64",
        }
    }

    /// Its number in a header.
    pub(super) fn number(self) -> u8 {
        self as u8
    }

    /// The checksum of two pieces, as if they were one; what it does not fill stays zero.
    pub(super) fn of(self, head: &[u8], rest: &[u8]) -> [u8; MOST_BYTES] {
        let mut out = [0; MOST_BYTES];
        let mut put = |bytes: &[u8]| out[..bytes.len()].copy_from_slice(bytes);
        match self {
            Kind::Crc32c => {
                put(&crc32c::crc32c_append(crc32c::crc32c(head), rest).to_le_bytes());
            }
            Kind::Crc32 => {
                let mut crc = crc32fast::Hasher::new();
                crc.update(head);
                crc.update(rest);
                put(&crc.finalize().to_le_bytes());
            }
            Kind::Xxhash => {
                let mut hash = XxHash64::with_seed(0);
                hash.write(head);
                hash.write(rest);
                put(&hash.finish().to_le_bytes());
            }
            Kind::Md5 => put(&Md5::new().chain_update(head).chain_update(rest).finalize()),
            Kind::Sha1 => put(&Sha1::new().chain_update(head).chain_update(rest).finalize()),
            Kind::Sha256 => put(&Sha256::new().chain_update(head).chain_update(rest).finalize()),
            Kind::Sha512 => put(&Sha512::new().chain_update(head).chain_update(rest).finalize()),
            Kind::Crc64 => put(&crc64(head, rest).to_le_bytes()),
            Kind::Meta => {}
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Check values over "123456789": the CRC catalogue of Greg Cook, RFC 1321 and FIPS 180 by
    /// `md5sum` and `shasum`, XXH64 by `xxhsum -H1`.
    #[test]
    fn checksums_have_the_values_that_everyone_knows() {
        let known = [
            (Kind::Crc32c, "839206e3"),
            (Kind::Crc32, "2639f4cb"),
            (Kind::Crc64, "fa3919dfbbc95d99"),
            (Kind::Md5, "25f9e794323b453885f5181f1b624d0b"),
            (Kind::Sha1, "f7c3bc1d808e04732adf679965ccc34ca7ae3441"),
            (Kind::Sha256, "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225"),
        ];
        for (kind, hex) in known {
            for cut in [0, 3, 9] {
                let (head, rest) = b"123456789".split_at(cut);
                let bytes = kind.of(head, rest);
                let found: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                assert!(found.starts_with(hex), "{kind:?}: {found}");
                assert!(found[hex.len()..].chars().all(|digit| digit == '0'));
            }
        }
        // XXH64 of nothing with seed 0 (the specification's own example).
        assert_eq!(Kind::Xxhash.of(b"", b"")[..8], 0xef46_db37_51d8_e999u64.to_le_bytes());
    }

    #[test]
    fn names_are_fios_and_others_are_told_apart() {
        for kind in Kind::ALL {
            assert_eq!(Kind::named(kind.name()), Ok(Some(kind)));
            assert_eq!(Kind::ALL[usize::from(kind.number())], kind);
        }
        assert_eq!(Kind::named("crc32c-intel"), Ok(Some(Kind::Crc32c)));
        assert_eq!(Kind::named("null"), Ok(None));
        assert!(Kind::named("crc16").is_err_and(|why| why == UnknownChecksum::NotHere));
        assert!(Kind::named("md55").is_err_and(|why| why == UnknownChecksum::NotFios));
    }
}
