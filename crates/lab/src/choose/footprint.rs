//! The places that a work touches, and how they are written before it: a read of what never was
//! written would be answered without the medium.

use fourcorners_drive::{Io, Lba, SECTOR_BYTES};
use fourcorners_run::{Due, Source};

/// Places are kept in whole units of this.
const UNIT: u64 = 4096;
/// They are written in whole blocks of this, as a file system would have done.
const BLOCK: u64 = 128 << 10;
/// Ranges in memory before those that touch are joined.
const MOST_LOOSE: usize = 1 << 20;

/// Ranges of bytes, in whole units of 4 KiB.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Footprint {
    /// Beginnings and ends; sorted and apart up to `joined`.
    ranges: Vec<(u64, u64)>,
    joined: usize,
}

impl Footprint {
    /// Adds a range.
    pub(super) fn add(&mut self, start_bytes: u64, bytes: u64) {
        if bytes == 0 {
            return;
        }
        let start = start_bytes / UNIT * UNIT;
        let end = (start_bytes.saturating_add(bytes)).next_multiple_of(UNIT);
        // What goes on where the last one ended is most of what a trace has.
        let is_loose = self.joined < self.ranges.len();
        if let Some(last) = self.ranges.last_mut()
            && is_loose
            && last.1 == start
        {
            last.1 = end;
            return;
        }
        self.ranges.push((start, end));
        if self.ranges.len() - self.joined > MOST_LOOSE.max(self.joined) {
            self.join();
        }
    }

    /// Sorts the ranges and joins those that touch.
    pub(super) fn join(&mut self) {
        self.ranges.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for &(start, end) in &self.ranges {
            match joined.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => joined.push((start, end)),
            }
        }
        self.joined = joined.len();
        self.ranges = joined;
    }

    /// Bytes in all of them, once they are joined.
    pub(super) fn bytes(&self) -> u64 {
        self.ranges.iter().map(|(start, end)| end - start).sum()
    }

    /// Writes of whole blocks, in order, on a target of so many bytes.
    pub(super) fn writes(&self, target_bytes: u64) -> Writes<'_> {
        Writes { ranges: &self.ranges, at: 0, end: target_bytes / UNIT * UNIT }
    }
}

/// The writes of a footprint, each block once.
pub(super) struct Writes<'a> {
    ranges: &'a [(u64, u64)],
    /// What is before it is done.
    at: u64,
    end: u64,
}

impl Source for Writes<'_> {
    /// Only where I/Os may have to wait does the loop ask whether there are more.
    const PACED: bool = true;

    fn next(&mut self) -> Option<(Io, Due)> {
        loop {
            let &(start, end) = self.ranges.first()?;
            let start = (start / BLOCK * BLOCK).max(self.at);
            if start >= end {
                self.ranges = &self.ranges[1..];
                continue;
            }
            if start >= self.end {
                return None;
            }
            let bytes = BLOCK.min(self.end - start);
            self.at = start + bytes;
            let sectors = (bytes / SECTOR_BYTES) as u32;
            return Some((Io::write(Lba(start / SECTOR_BYTES), sectors), Due::Now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(footprint: &Footprint, target: u64) -> Vec<(u64, u64)> {
        let mut writes = footprint.writes(target);
        std::iter::from_fn(|| writes.next()).map(|(io, _)| (io.lba.bytes(), io.bytes())).collect()
    }

    #[test]
    fn every_block_that_is_touched_is_written_once_and_in_order() {
        let mut footprint = Footprint::default();
        for (start, bytes) in [(5 * BLOCK, 1), (100, 512), (4096, 4096), (5 * BLOCK + 4096, BLOCK)]
        {
            footprint.add(start, bytes);
        }
        footprint.add(7, 0);
        footprint.join();
        // Two units at the start, which touch; a block and a unit from the fifth block on.
        assert_eq!(footprint.bytes(), 8192 + 4096 + BLOCK);
        let blocks = [(0, BLOCK), (5 * BLOCK, BLOCK), (6 * BLOCK, BLOCK)];
        assert_eq!(written(&footprint, 1 << 40), blocks);
        // The last block of a target may be a part of one.
        let cut = 5 * BLOCK + 8192;
        assert_eq!(written(&footprint, cut + 100), [(0, BLOCK), (5 * BLOCK, 8192)]);
        assert_eq!(written(&Footprint::default(), 1 << 40), []);
    }

    #[test]
    fn many_ranges_are_joined_on_the_way() {
        let mut footprint = Footprint::default();
        // The same thousand places again and again, in no order.
        for step in 0..3 * MOST_LOOSE as u64 {
            footprint.add(step * 7919 % 1000 * 8192, 4096);
        }
        assert!(footprint.ranges.len() <= MOST_LOOSE + 1000);
        footprint.join();
        assert_eq!((footprint.ranges.len(), footprint.bytes()), (1000, 4_096_000));
    }
}
