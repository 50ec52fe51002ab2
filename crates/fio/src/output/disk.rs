//! What the kernel counted at the disk below a target while jobs ran.

use serde::Serialize;

/// The work of a disk, of whoever it was.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct DiskUtil {
    /// Its name, without `/dev/`.
    pub name: String,
    /// Reads completed.
    pub read_ios: u64,
    /// Writes completed.
    pub write_ios: u64,
    /// Reads that were merged into others.
    pub read_merges: u64,
    /// Writes that were merged into others.
    pub write_merges: u64,
    /// Milliseconds that reads took together.
    pub read_ticks: u64,
    /// Milliseconds that writes took together.
    pub write_ticks: u64,
    /// Milliseconds of all that was in flight, together.
    pub in_queue: u64,
    /// Share of the time in which anything was in flight, percent.
    pub util: f64,
}
