//! How a cache is made, and what makes none.

use fourcorners_drive::SECTOR_BYTES;

/// Bytes of a unit: what is cached or not, newer or not.
pub(super) const UNIT_BYTES: u64 = 4096;
/// Sectors of a unit.
pub(super) const UNIT_SECTORS: u64 = UNIT_BYTES / SECTOR_BYTES;
/// Of the two drives.
pub(super) const SSD: usize = 0;
pub(super) const DISK: usize = 1;

/// What a cache does with writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CacheMode {
    /// They go to the disk, and what they change leaves the cache.
    ReadOnly,
    /// They go to both, and are answered when both have them.
    WriteThrough,
    /// They go to the SSD, and later from there to the disk.
    WriteBack,
}

impl CacheMode {
    /// All of them.
    pub const ALL: [CacheMode; 3] =
        [CacheMode::ReadOnly, CacheMode::WriteThrough, CacheMode::WriteBack];

    /// As it is written in names: "write-back".
    pub fn name(self) -> &'static str {
        match self {
            CacheMode::ReadOnly => "read-only",
            CacheMode::WriteThrough => "write-through",
            CacheMode::WriteBack => "write-back",
        }
    }
}

/// Which block leaves for another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replacement {
    /// The least recently used one.
    Lru,
    /// 2Q: a block that is used once does not push out one that is used again and again.
    TwoQ,
}

impl Replacement {
    /// All of them.
    pub const ALL: [Replacement; 2] = [Replacement::Lru, Replacement::TwoQ];

    /// As it is written in names: "2q".
    pub fn name(self) -> &'static str {
        match self {
            Replacement::Lru => "lru",
            Replacement::TwoQ => "2q",
        }
    }
}

/// How a cache is made.
#[derive(Clone, PartialEq, Debug)]
pub struct CacheConfig {
    /// What it does with writes.
    pub mode: CacheMode,
    /// Which block leaves for another.
    pub replacement: Replacement,
    /// Bytes of a block: a power of two from 4 KiB to 256 KiB.
    pub block_bytes: u64,
    /// Share of the SSD's blocks that may be newer than the disk, 0 to 1: a block counts whole, whatever part of it is
    /// newer. What is written beyond it goes to the disk. A quarter of it is left alone; what is more is written back
    /// beside the work.
    pub dirty_share: f64,
    /// An I/O that continues a sequence of at least so many bytes goes past the cache; with 0, none does.
    pub bypass_bytes: u64,
    /// It begins with the first blocks of the disk, as many as fit.
    pub warm: bool,
    /// Whether a TRIM goes on to the drives that take it; else it is refused.
    pub trim: bool,
}

impl Default for CacheConfig {
    /// Write-through, as bcache and lvmcache begin; LRU; blocks of 64 KiB, lvmcache's smallest usual chunk; at most
    /// 40 % newer than the disk and 10 % of it left alone, and 4 MiB of a sequence cached, all as bcache has it
    /// (`CUTOFF_WRITEBACK`, `writeback_percent`, `sequential_cutoff`); cold.
    fn default() -> CacheConfig {
        CacheConfig {
            mode: CacheMode::WriteThrough,
            replacement: Replacement::Lru,
            block_bytes: 64 << 10,
            dirty_share: 0.4,
            bypass_bytes: 4 << 20,
            warm: false,
            trim: true,
        }
    }
}

/// Why a cache cannot be made.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum CacheError {
    /// No block of a cache.
    #[error("blocks of {bytes} bytes: give a power of two from 4k to 256k")]
    Block {
        /// The block.
        bytes: u64,
    },
    /// No share.
    #[error("dirty={}%: give a share of the SSD from 0 to 100 %", share * 100.0)]
    Dirty {
        /// The share.
        share: f64,
    },
    /// The SSD has no room for a block.
    #[error("an SSD of {bytes} bytes has no room for a block")]
    NoRoom {
        /// Its capacity.
        bytes: u64,
    },
    /// Blocks of that size are not aligned to those of a drive.
    #[error("a drive has logical blocks of {bytes} bytes: a unit of the cache has {UNIT_BYTES}")]
    LogicalBlock {
        /// The drive's.
        bytes: u32,
    },
    /// Its slots cannot be counted.
    #[error("{slots} blocks on the SSD: give larger ones")]
    Slots {
        /// How many there would be.
        slots: u64,
    },
}

impl CacheConfig {
    /// How many blocks an SSD has room for.
    pub(super) fn slots(&self, ssd_bytes: u64) -> Result<u32, CacheError> {
        let bytes = self.block_bytes;
        if !bytes.is_power_of_two() || !(UNIT_BYTES..=64 * UNIT_BYTES).contains(&bytes) {
            return Err(CacheError::Block { bytes });
        }
        if !(0.0..=1.0).contains(&self.dirty_share) {
            return Err(CacheError::Dirty { share: self.dirty_share });
        }
        match ssd_bytes / bytes {
            0 => Err(CacheError::NoRoom { bytes: ssd_bytes }),
            // The last number is that of no slot.
            slots => u32::try_from(slots)
                .ok()
                .filter(|&slots| slots < u32::MAX)
                .ok_or(CacheError::Slots { slots }),
        }
    }
}
