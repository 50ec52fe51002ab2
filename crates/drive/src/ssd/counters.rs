//! What happened inside a virtual SSD.

use super::Ssd;
use crate::SECTOR_BYTES;

/// What happened inside a drive since it was made, in units of 4 KiB unless named otherwise,
/// whatever the unit of its map is; of a drive that compresses, in sectors of 512 bytes that are
/// stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SsdCounters {
    /// Bytes of a unit of these counters: 4096, or 512 of a drive that compresses.
    pub unit_bytes: u32,
    /// Sectors of 512 bytes that the host wrote.
    pub host_sectors: u64,
    /// Sectors of 512 bytes that were written along with them, because the map's unit is larger
    /// than what the host wrote: read before and written back, or empty.
    pub rmw_sectors: u64,
    /// Written for the host, in whole units of the map: host and read-modify-write sectors
    /// together; compressed, where the drive does that.
    pub host_units: u64,
    /// Those of them that took the place of what was still in the buffer, and so were given none
    /// (a buffer that coalesces only).
    pub absorbed_units: u64,
    /// Moved by garbage collection, or out of the SLC buffer.
    pub moved_units: u64,
    /// Those of them that were in the SLC buffer.
    pub folded_units: u64,
    /// Left empty in rows that were programmed before they were full, and at the end of blocks.
    pub padded_units: u64,
    /// Parity of other rows.
    pub parity_units: u64,
    /// Of the map's pages, written back when they had to leave its memory (a map with limited
    /// memory only, like the next three).
    pub map_units: u64,
    /// Of the map's pages, read because they were not in memory.
    pub map_read_units: u64,
    /// Pages of the map that commands and read-ahead needed, each once a command; not in units.
    pub map_lookups: u64,
    /// Of these, pages that were not in memory.
    pub map_misses: u64,
    /// In rows that are not full yet, and so in the buffer only.
    pub pending_units: u64,
    /// Programmed: host - absorbed + moved + padded + parity + map - pending, counted at the NAND.
    pub programmed_units: u64,
    /// Blocks erased (one a plane counts as one).
    pub blocks_erased: u64,
}

impl Default for SsdCounters {
    /// Nothing happened, in units of 4 KiB.
    fn default() -> SsdCounters {
        SsdCounters {
            unit_bytes: 4096,
            host_sectors: 0,
            rmw_sectors: 0,
            host_units: 0,
            absorbed_units: 0,
            moved_units: 0,
            folded_units: 0,
            padded_units: 0,
            parity_units: 0,
            map_units: 0,
            map_read_units: 0,
            map_lookups: 0,
            map_misses: 0,
            pending_units: 0,
            programmed_units: 0,
            blocks_erased: 0,
        }
    }
}

impl SsdCounters {
    /// Bytes written to NAND over bytes the host wrote, since `before`; `None` when the host wrote
    /// nothing.
    pub fn write_amplification_since(&self, before: &SsdCounters) -> Option<f64> {
        let host_sectors = self.host_sectors - before.host_sectors;
        let sectors = self.nand_bytes_since(before) / SECTOR_BYTES;
        (host_sectors > 0).then(|| sectors as f64 / host_sectors as f64)
    }

    /// Bytes written to NAND since `before`, for the host and beside it.
    pub fn nand_bytes_since(&self, before: &SsdCounters) -> u64 {
        let absorbed = self.absorbed_units - before.absorbed_units;
        let nand = (self.host_units - before.host_units - absorbed)
            + (self.moved_units - before.moved_units)
            + (self.padded_units - before.padded_units)
            + (self.parity_units - before.parity_units)
            + (self.map_units - before.map_units);
        nand * u64::from(self.unit_bytes)
    }
}

impl Ssd {
    /// What happened inside since the drive was made.
    pub fn counters(&self) -> SsdCounters {
        let ftl = self.ftl.counts();
        let nand = self.nand.counts();
        let shape = self.ftl.shape();
        // What is stored of a unit may be any number of sectors.
        let counted = if shape.compresses() { SECTOR_BYTES as u32 } else { 4096 };
        let each = u64::from(shape.granule_bytes() / counted);
        let page = u64::from(shape.page_bytes() / counted);
        let map = self.limited_map.as_ref().map(|map| map.counts()).unwrap_or_default();
        let rows = nand.rows_programmed * u64::from(shape.units_per_row) * each;
        SsdCounters {
            unit_bytes: counted,
            host_sectors: self.host_writes.sectors,
            rmw_sectors: self.host_writes.rmw_sectors,
            host_units: ftl.host_units * each,
            absorbed_units: ftl.absorbed_units * each,
            moved_units: ftl.moved_units * each,
            folded_units: ftl.folded_units * each,
            padded_units: ftl.padded_units * each,
            parity_units: ftl.parity_units * each,
            pending_units: self.ftl.pending_units() * each,
            map_units: map.nand_pages_written * page,
            map_read_units: map.nand_pages_read * page,
            map_lookups: map.lookups,
            map_misses: map.misses,
            programmed_units: rows + nand.single_pages_programmed * page,
            blocks_erased: nand.blocks_erased,
        }
    }
}
