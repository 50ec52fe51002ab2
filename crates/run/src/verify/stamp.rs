//! The stamp of a verified block, byte by byte.
//!
//! Everything in a block follows from five numbers: the run, the sequence of the write, its place, the
//! length of a block and how compressible it is. So what should be somewhere can be made again and
//! held against what is there, to the bit, without keeping any data. All numbers are little-endian.
//!
//! | bytes of a block | what |
//! |---|---|
//! | 0..8 | `4CVERIFY` |
//! | 8 | version, 1 |
//! | 9 | number of the checksum's kind |
//! | 10..12 | 0 |
//! | 12..16 | length of the block |
//! | 16..24 | first sector of the block, in 512 bytes |
//! | 24..32 | sequence of the write |
//! | 32..96 | checksum of all the block but these 64 bytes, then zeros |
//!
//! and each of its sectors of 512 bytes ends with a tag, so that a write that stopped half-way, or
//! went elsewhere, says so itself:
//!
//! | bytes of a sector | what |
//! |---|---|
//! | 480..484 | CRC-32C of the 28 bytes after it |
//! | 484..487 | `4CT` |
//! | 487 | how compressible it is, per cent |
//! | 488..496 | sequence of the write |
//! | 496..504 | the sector's number |
//! | 504..512 | the run |
//!
//! What is left begins with so many per cent of a repeated byte; the rest is random by sector,
//! sequence and run.

use super::digest::{Kind, MOST_BYTES};

/// The unit in which drives promise to write whole or not at all.
pub(super) const SECTOR: usize = 512;

/// Where a block's own bytes begin.
const HEADER: usize = DIGEST + MOST_BYTES;
const DIGEST: usize = 32;
const TAG: usize = 480;
const MAGIC: &[u8; 8] = b"4CVERIFY";
const TAG_MAGIC: &[u8; 3] = b"4CT";
/// As in what is written without being verified.
const REPEATED: u8 = 0x55;

/// What a block says of itself, and what it is made from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stamp {
    pub(super) kind: Kind,
    /// Tells one run from another.
    pub(super) run: u64,
    /// Which write.
    pub(super) sequence: u64,
    /// First sector of the block.
    pub(super) sector: u64,
    pub(super) compressible_percent: u8,
}

/// What a sector's tag says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tag {
    pub(super) run: u64,
    pub(super) sequence: u64,
    pub(super) sector: u64,
    pub(super) compressible_percent: u8,
}

impl Stamp {
    /// Fills a block, whose length is a multiple of a sector.
    pub(super) fn write(self, block: &mut [u8]) {
        for (index, sector) in block.chunks_exact_mut(SECTOR).enumerate() {
            let number = self.sector + index as u64;
            let own = if index == 0 { HEADER } else { 0 };
            self.fill(number, &mut sector[own..TAG]);
            let tag = Tag {
                run: self.run,
                sequence: self.sequence,
                sector: number,
                compressible_percent: self.compressible_percent,
            };
            tag.write(&mut sector[TAG..]);
        }
        let length = block.len() as u32;
        let header = &mut block[..HEADER];
        header[..8].copy_from_slice(MAGIC);
        header[8..12].copy_from_slice(&[1, self.kind.number(), 0, 0]);
        header[12..16].copy_from_slice(&length.to_le_bytes());
        header[16..24].copy_from_slice(&self.sector.to_le_bytes());
        header[24..32].copy_from_slice(&self.sequence.to_le_bytes());
        let digest = self.kind.of(&block[..DIGEST], &block[HEADER..]);
        block[DIGEST..HEADER].copy_from_slice(&digest);
    }

    /// Whether a block is what this stamp writes, by its checksum or, without one, byte by byte.
    /// `spare` is memory for a block.
    pub(super) fn is_in(self, block: &[u8], spare: &mut [u8]) -> bool {
        if self.kind == Kind::Meta {
            let spare = &mut spare[..block.len()];
            self.write(spare);
            return *spare == *block;
        }
        self.heads(block)
            && self.kind.of(&block[..DIGEST], &block[HEADER..])[..] == block[DIGEST..HEADER]
    }

    /// Whether header and first tag are this stamp's.
    fn heads(self, block: &[u8]) -> bool {
        let says = |at: usize, number: u64| block[at..at + 8] == number.to_le_bytes();
        let tag = Tag::of(&block[..SECTOR]);
        block[..8] == *MAGIC
            && block[8..12] == [1, self.kind.number(), 0, 0]
            && block[12..16] == (block.len() as u32).to_le_bytes()
            && says(16, self.sector)
            && says(24, self.sequence)
            && tag.is_some_and(|tag| tag.run == self.run && tag.sequence == self.sequence)
    }

    fn fill(self, sector: u64, bytes: &mut [u8]) {
        let percent = usize::from(self.compressible_percent.min(100));
        let (repeated, random) = bytes.split_at_mut(bytes.len() * percent / 100);
        repeated.fill(REPEATED);
        let mut state = mix(self.run ^ mix(self.sequence ^ mix(sector)));
        for word in random.chunks_mut(8) {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            word.copy_from_slice(&mix(state).to_le_bytes()[..word.len()]);
        }
    }
}

/// The kind of checksum and the length that a block's header names, if it is one.
pub(super) fn header(block: &[u8]) -> Option<(Kind, u32)> {
    let kind = Kind::ALL.get(usize::from(block[9])).copied()?;
    let length: [u8; 4] = block[12..16].try_into().expect("four bytes");
    (block[..8] == *MAGIC && block[8] == 1).then_some((kind, u32::from_le_bytes(length)))
}

impl Tag {
    fn write(self, bytes: &mut [u8]) {
        bytes[4..7].copy_from_slice(TAG_MAGIC);
        bytes[7] = self.compressible_percent;
        bytes[8..16].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.sector.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.run.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[4..32]);
        bytes[..4].copy_from_slice(&crc.to_le_bytes());
    }

    /// The tag of a sector; `None` if it has none that is whole.
    pub(super) fn of(sector: &[u8]) -> Option<Tag> {
        let bytes = &sector[TAG..SECTOR];
        let number = |at: usize| {
            let word: [u8; 8] = bytes[at..at + 8].try_into().expect("eight bytes");
            u64::from_le_bytes(word)
        };
        let crc = u32::from_le_bytes(bytes[..4].try_into().expect("four bytes"));
        let whole = bytes[4..7] == *TAG_MAGIC && crc32c::crc32c(&bytes[4..32]) == crc;
        whole.then(|| Tag {
            compressible_percent: bytes[7],
            sequence: number(8),
            sector: number(16),
            run: number(24),
        })
    }
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood 2014).
fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stamp(kind: Kind) -> Stamp {
        Stamp { kind, run: 7, sequence: 3, sector: 80, compressible_percent: 0 }
    }

    #[test]
    fn a_block_is_its_own_and_nobody_elses() {
        let mut spare = [0; 4096];
        for kind in Kind::ALL {
            let mut block = [0; 4096];
            stamp(kind).write(&mut block);
            assert!(stamp(kind).is_in(&block, &mut spare));
            let others = [
                Stamp { run: 8, ..stamp(kind) },
                Stamp { sequence: 2, ..stamp(kind) },
                Stamp { sector: 88, ..stamp(kind) },
            ];
            assert!(others.iter().all(|other| !other.is_in(&block, &mut spare)), "{kind:?}");
            let tag = Tag::of(&block[512..1024]).expect("it was written");
            assert_eq!((tag.sector, tag.sequence, tag.run), (81, 3, 7));
        }
    }

    #[test]
    fn shares_repeat_and_the_rest_does_not() {
        let mut block = [0; 4096];
        Stamp { compressible_percent: 100, ..stamp(Kind::Crc32c) }.write(&mut block);
        assert!(block[HEADER..TAG].iter().all(|&byte| byte == REPEATED));
        Stamp { compressible_percent: 50, ..stamp(Kind::Crc32c) }.write(&mut block);
        let repeated = block[512..512 + TAG].iter().filter(|&&byte| byte == REPEATED).count();
        assert!((240..=246).contains(&repeated), "{repeated}");
    }

    proptest! {
        #[test]
        fn every_flipped_bit_is_seen(kind in 0usize..8, bit in 0usize..4096 * 8) {
            let stamp = stamp(Kind::ALL[kind]);
            let (mut block, mut spare) = ([0; 4096], [0; 4096]);
            stamp.write(&mut block);
            block[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(!stamp.is_in(&block, &mut spare));
        }
    }
}
