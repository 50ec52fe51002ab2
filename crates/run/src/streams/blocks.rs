//! The size of the next I/O.

use super::random::below;

/// The sizes of a direction's I/Os.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BlockSizes {
    /// All of one size, bytes.
    One(u32),
    /// Any multiple of the first from it to the second, alike often.
    Range(u32, u32),
    /// Sizes in bytes with their shares in parts of [`PARTS`], which add up to that.
    Split(Vec<(u32, u32)>),
}

/// The parts that the shares of a split are in.
pub const PARTS: u32 = 100_000;

impl BlockSizes {
    /// The smallest.
    pub fn least(&self) -> u32 {
        match self {
            BlockSizes::One(bytes) | BlockSizes::Range(bytes, _) => *bytes,
            BlockSizes::Split(sizes) => sizes.iter().map(|size| size.0).min().unwrap_or(0),
        }
    }

    /// The largest.
    pub fn most(&self) -> u32 {
        match self {
            BlockSizes::One(bytes) | BlockSizes::Range(_, bytes) => *bytes,
            BlockSizes::Split(sizes) => sizes.iter().map(|size| size.0).max().unwrap_or(0),
        }
    }

    /// The next, from 64 random bits where it is left to chance.
    #[inline]
    pub(super) fn next(&self, mut random: impl FnMut() -> u64) -> u32 {
        match self {
            BlockSizes::One(bytes) => *bytes,
            BlockSizes::Range(least, most) => {
                least * (1 + below(random(), u64::from(most / least)) as u32)
            }
            BlockSizes::Split(sizes) => {
                let mut part = below(random(), u64::from(PARTS)) as u32;
                for &(bytes, parts) in sizes {
                    if part < parts {
                        return bytes;
                    }
                    part -= parts;
                }
                sizes.last().map_or(0, |size| size.0)
            }
        }
    }
}
