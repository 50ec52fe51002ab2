//! What a cache did, as counts.

/// Bytes that a drive was asked to read and to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemberBytes {
    /// Read from it.
    pub read: u64,
    /// Written to it.
    pub written: u64,
}

/// What a cache did since it was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CacheCounts {
    /// Reads it was asked for.
    pub reads: u64,
    /// Of these: reads that the SSD answered alone.
    pub read_hits: u64,
    /// Bytes it was asked to read.
    pub read_bytes: u64,
    /// Of these: bytes from the SSD.
    pub read_hit_bytes: u64,
    /// Bytes it was asked to write.
    pub written_bytes: u64,
    /// Bytes read or written that went past the cache, since they were of a long sequence or found no room: no slot
    /// that may leave, or, of what is written back, the limit of what may be newer.
    pub bypassed_bytes: u64,
    /// Bytes that a read brought from the disk to the SSD.
    pub filled_bytes: u64,
    /// Bytes written back from the SSD to the disk.
    pub written_back_bytes: u64,
    /// Blocks that left for others.
    pub evictions: u64,
    /// Reads of the SSD that failed, and were answered by the disk.
    pub repaired_reads: u64,
    /// Bytes that are newer on the SSD than on the disk, now.
    pub dirty_bytes: u64,
    /// What the SSD did for all of this.
    pub ssd: MemberBytes,
    /// What the disk did.
    pub disk: MemberBytes,
}
