//! What a cache of one drive in front of another did.

use super::MemberUse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a cache did during a job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CacheUse {
    /// Reads.
    pub reads: u64,
    /// Of these: reads that the SSD answered alone.
    pub read_hits: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Of these: bytes from the SSD.
    pub read_hit_bytes: u64,
    /// Bytes read or written past the cache, since they were of a long sequence or found no room: no block that could leave, or, of
    /// what is written back, the limit of what may be newer.
    pub bypassed_bytes: u64,
    /// Bytes that reads brought from the disk to the SSD.
    pub filled_bytes: u64,
    /// Bytes written back from the SSD to the disk.
    pub written_back_bytes: u64,
    /// Bytes that are newer on the SSD than on the disk, at the end.
    pub dirty_bytes: u64,
    /// Blocks that left the cache for others.
    pub evictions: u64,
    /// The SSD, and the disk behind it.
    pub members: Vec<MemberUse>,
}
