//! Where an array's sectors lie on its members.

use std::ops::Range;

use fourcorners_drive::{Geometry, SECTOR_BYTES};

/// How members make an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Level {
    /// One behind the other, without chunks.
    Concat,
    /// Striped: no copy of anything.
    Raid0,
    /// Mirrored: all members hold the same.
    Raid1,
    /// Striped, with a chunk of parity in each stripe, on another member from stripe to stripe (left-symmetric, as
    /// Linux md has it unless told otherwise).
    Raid5,
    /// Stripes over mirrored pairs.
    Raid10,
}

impl Level {
    /// All of them.
    pub const ALL: [Level; 5] =
        [Level::Concat, Level::Raid0, Level::Raid1, Level::Raid5, Level::Raid10];

    /// Its name, as it is typed.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Concat => "concat",
            Level::Raid0 => "raid0",
            Level::Raid1 => "raid1",
            Level::Raid5 => "raid5",
            Level::Raid10 => "raid10",
        }
    }

    /// Fewest members.
    pub const fn fewest(self) -> usize {
        match self {
            Level::Concat | Level::Raid0 | Level::Raid1 => 2,
            Level::Raid5 => 3,
            Level::Raid10 => 4,
        }
    }

    /// Whether it goes on without one of its members.
    pub const fn is_redundant(self) -> bool {
        matches!(self, Level::Raid1 | Level::Raid5 | Level::Raid10)
    }

    /// Whether addresses go round its members chunk by chunk.
    pub const fn is_striped(self) -> bool {
        matches!(self, Level::Raid0 | Level::Raid5 | Level::Raid10)
    }
}

/// Why there is no such array.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LayoutError {
    /// There are too few or too many members, or an odd number where pairs are needed.
    #[error("{} of {given} drives: it takes {}", level.name(), takes(*level))]
    Members {
        /// The level.
        level: Level,
        /// How many members were given.
        given: usize,
    },
    /// Chunks that do not hold whole blocks.
    #[error("a chunk of {bytes} bytes: a power of two from 4096 bytes to 16 MiB is needed")]
    Chunk {
        /// The chunk.
        bytes: u64,
    },
    /// A member is smaller than a chunk.
    #[error("drive {number} holds {bytes} bytes, less than a chunk")]
    Small {
        /// Which, from 1.
        number: usize,
        /// What it holds.
        bytes: u64,
    },
}

fn takes(level: Level) -> &'static str {
    match level {
        Level::Concat | Level::Raid0 | Level::Raid1 => "2 to 64",
        Level::Raid5 => "3 to 64",
        Level::Raid10 => "an even number from 4 to 64",
    }
}

/// Most members of an array.
pub const MOST_MEMBERS: usize = 64;
/// The chunk unless another is named: that of Linux md before version 1.1 of its metadata, and of most controllers.
pub const CHUNK_BYTES: u64 = 128 << 10;
const CHUNKS: Range<u64> = 4096..(16 << 20) + 1;

/// The address map of an array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    level: Level,
    members: usize,
    chunk: u64,
    /// Sectors used of each member of a striped or mirrored array.
    each: u64,
    /// Where each member of a concatenation ends.
    ends: Vec<u64>,
    sectors: u64,
}

/// A range of an array that lies in one piece on a member (on each of a pair, of a mirrored one).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    /// Which member, or which pair.
    pub(crate) on: usize,
    /// First sector there.
    pub(crate) lba: u64,
    /// How many.
    pub(crate) sectors: u64,
}

impl Piece {
    pub(crate) fn end(self) -> u64 {
        self.lba + self.sectors
    }
}

impl Layout {
    /// The map of an array of these members, in this order.
    ///
    /// # Errors
    /// [`LayoutError`].
    pub fn new(
        level: Level,
        chunk_bytes: u64,
        members: &[Geometry],
    ) -> Result<Layout, LayoutError> {
        let given = members.len();
        let even = level != Level::Raid10 || given.is_multiple_of(2);
        if given < level.fewest() || given > MOST_MEMBERS || !even {
            return Err(LayoutError::Members { level, given });
        }
        if !CHUNKS.contains(&chunk_bytes) || !chunk_bytes.is_power_of_two() {
            return Err(LayoutError::Chunk { bytes: chunk_bytes });
        }
        // Whole chunks of each, and so whole blocks.
        let chunk = chunk_bytes / SECTOR_BYTES;
        let whole: Vec<u64> = members.iter().map(|it| it.sectors / chunk * chunk).collect();
        if let Some(small) = whole.iter().position(|&sectors| sectors == 0) {
            let bytes = members[small].bytes();
            return Err(LayoutError::Small { number: small + 1, bytes });
        }
        let each = whole.iter().copied().min().unwrap_or(0);
        let ends: Vec<u64> = whole
            .iter()
            .scan(0, |end, sectors| {
                *end += sectors;
                Some(*end)
            })
            .collect();
        let n = given as u64;
        let sectors = match level {
            Level::Concat => ends[given - 1],
            Level::Raid0 => each * n,
            Level::Raid1 => each,
            Level::Raid5 => each * (n - 1),
            Level::Raid10 => each * n / 2,
        };
        Ok(Layout { level, members: given, chunk, each, ends, sectors })
    }

    /// The level.
    pub fn level(&self) -> Level {
        self.level
    }

    /// How many members there are.
    pub fn members(&self) -> usize {
        self.members
    }

    /// Bytes of a chunk.
    pub fn chunk_bytes(&self) -> u64 {
        self.chunk * SECTOR_BYTES
    }

    /// Sectors of the array.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Sectors of a chunk.
    pub(crate) fn chunk(&self) -> u64 {
        self.chunk
    }

    /// Chunks of data in a stripe: one where there are no stripes.
    pub(crate) fn width(&self) -> u64 {
        match self.level {
            Level::Concat | Level::Raid1 => 1,
            Level::Raid0 => self.members as u64,
            Level::Raid5 => self.members as u64 - 1,
            Level::Raid10 => self.members as u64 / 2,
        }
    }

    /// Stripes of an array that has them.
    pub(crate) fn stripes(&self) -> u64 {
        self.each / self.chunk
    }

    /// The member that holds the parity of a stripe (RAID 5).
    pub(crate) fn parity_of(&self, stripe: u64) -> usize {
        let members = self.members as u64;
        (members - 1 - stripe % members) as usize
    }

    /// The member that holds a chunk of data of a stripe, or the pair.
    pub(crate) fn holder(&self, stripe: u64, number: u64) -> usize {
        match self.level {
            Level::Raid5 => {
                ((self.parity_of(stripe) as u64 + 1 + number) % self.members as u64) as usize
            }
            _ => number as usize,
        }
    }

    /// The members that hold a piece, each all of it.
    pub(crate) fn copies(&self, on: usize) -> Range<usize> {
        match self.level {
            Level::Raid1 => 0..self.members,
            Level::Raid10 => 2 * on..2 * on + 2,
            Level::Concat | Level::Raid0 | Level::Raid5 => on..on + 1,
        }
    }

    /// The pieces of a range of the array, in order; those that follow each other on a member are one.
    pub(crate) fn pieces(&self, from: u64, sectors: u64) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        let (mut at, end) = (from, from + sectors);
        while at < end {
            let piece = self.piece(at, end);
            at += piece.sectors;
            match pieces.iter_mut().rfind(|before| before.on == piece.on) {
                Some(before) if before.end() == piece.lba => before.sectors += piece.sectors,
                _ => pieces.push(piece),
            }
        }
        pieces
    }

    /// The piece that begins at a sector of the array, no further than `end`.
    pub(crate) fn piece(&self, at: u64, end: u64) -> Piece {
        match self.level {
            Level::Raid1 => Piece { on: 0, lba: at, sectors: end - at },
            Level::Concat => {
                let on = self.ends.partition_point(|&end| end <= at);
                let begins = if on == 0 { 0 } else { self.ends[on - 1] };
                Piece { on, lba: at - begins, sectors: end.min(self.ends[on]) - at }
            }
            Level::Raid0 | Level::Raid5 | Level::Raid10 => {
                let (chunk, within) = (at / self.chunk, at % self.chunk);
                let (stripe, number) = (chunk / self.width(), chunk % self.width());
                let sectors = (self.chunk - within).min(end - at);
                let lba = stripe * self.chunk + within;
                Piece { on: self.holder(stripe, number), lba, sectors }
            }
        }
    }

    /// The stripes that lie wholly within a range of the array.
    pub(crate) fn whole_stripes(&self, from: u64, sectors: u64) -> Range<u64> {
        let stripe = self.chunk * self.width();
        let first = from.div_ceil(stripe);
        first..((from + sectors) / stripe).max(first)
    }
}
