//! What happened inside a virtual SSD.

/// What happened inside a drive since it was made, in units of 4 KiB unless named otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SsdCounters {
    /// Written by the host.
    pub host_units: u64,
    /// Moved by garbage collection.
    pub moved_units: u64,
    /// Left empty in rows that were programmed before they were full.
    pub padded_units: u64,
    /// In rows that are not full yet, and so in the buffer only.
    pub pending_units: u64,
    /// Programmed: host + moved + padded - pending, counted at the NAND.
    pub programmed_units: u64,
    /// Blocks erased (one a plane counts as one).
    pub blocks_erased: u64,
}

impl SsdCounters {
    /// NAND writes over host writes since `before`; `None` when the host wrote nothing.
    pub fn write_amplification_since(&self, before: &SsdCounters) -> Option<f64> {
        let host = self.host_units - before.host_units;
        let nand = host
            + (self.moved_units - before.moved_units)
            + (self.padded_units - before.padded_units);
        (host > 0).then(|| nand as f64 / host as f64)
    }
}
