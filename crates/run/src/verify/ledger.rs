//! The ledger: the last write of every block of a span.

use super::Sequence;

/// The last write of each block, by its place. What is not known, because it was never written here,
/// was trimmed or failed, has none.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    start_bytes: u64,
    block_bytes: u64,
    /// As [`Sequence::number`] has it; 0 is none.
    blocks: Vec<u64>,
}

impl Ledger {
    /// Of a span in blocks; its ends are multiples of a block.
    pub(super) fn new(start_bytes: u64, bytes: u64, block_bytes: u32) -> Ledger {
        let block_bytes = u64::from(block_bytes);
        let blocks = usize::try_from(bytes / block_bytes).unwrap_or(usize::MAX);
        Ledger { start_bytes, block_bytes, blocks: vec![0; blocks] }
    }

    /// The blocks of an I/O that lie within the span, and their places.
    fn range(&self, offset_bytes: u64, bytes: u64) -> std::ops::Range<usize> {
        let place = |at: u64| {
            let place = at.saturating_sub(self.start_bytes) / self.block_bytes;
            usize::try_from(place).unwrap_or(usize::MAX).min(self.blocks.len())
        };
        place(offset_bytes)..place(offset_bytes + bytes)
    }

    /// Notes what a range was written by, or that this is not known.
    pub(super) fn note(&mut self, offset_bytes: u64, bytes: u64, by: Option<Sequence>) {
        let range = self.range(offset_bytes, bytes);
        self.blocks[range].fill(by.map_or(0, Sequence::number));
    }

    /// What the block at an offset was written by.
    pub(super) fn at(&self, offset_bytes: u64) -> Option<Sequence> {
        let known = self.range(offset_bytes, self.block_bytes).next();
        Sequence::of(self.blocks[known?])
    }

    /// The next run of blocks at or after an offset and before `end_bytes` that `wanted` says yes to,
    /// no longer than `most_bytes`: its offset and length.
    pub(super) fn next_run(
        &self,
        from_bytes: u64,
        end_bytes: u64,
        most_bytes: u64,
        wanted: impl Fn(Sequence) -> bool,
    ) -> Option<(u64, u64)> {
        let range = self.range(from_bytes, end_bytes.saturating_sub(from_bytes));
        let is_wanted = |number: &u64| Sequence::of(*number).is_some_and(&wanted);
        let first = range.start + self.blocks[range.clone()].iter().position(is_wanted)?;
        let most = (most_bytes / self.block_bytes).max(1) as usize;
        let count = self.blocks[first..range.end].iter().take(most).take_while(|it| is_wanted(it));
        let bytes = count.count() as u64 * self.block_bytes;
        Some((self.start_bytes + first as u64 * self.block_bytes, bytes))
    }

    /// The blocks around an offset that the same write left, offset and length; no further than
    /// `most_bytes` on either side.
    pub(super) fn same_write(&self, offset_bytes: u64, most_bytes: u64) -> (u64, u64) {
        let place = self.range(offset_bytes, self.block_bytes).start;
        let Some(&number) = self.blocks.get(place) else { return (offset_bytes, 0) };
        let most = (most_bytes / self.block_bytes) as usize;
        let (before, after) = (&self.blocks[..place], &self.blocks[place..]);
        let same = |it: &&u64| **it == number;
        let back = before.iter().rev().take(most).take_while(same).count() as u64;
        let on = after.iter().take(most).take_while(same).count() as u64;
        (offset_bytes - back * self.block_bytes, (back + on) * self.block_bytes)
    }
}
