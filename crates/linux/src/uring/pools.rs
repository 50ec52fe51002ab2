//! What writes are made of: random bytes, made once, so that making data costs no CPU time while
//! measuring.
//!
//! Two things are wanted of them that go against each other. A drive that removes duplicates or
//! compresses is to find nothing, so no block may come again; and what is measured is to be the drive
//! and not the memory, so the bytes have to be in a processor's cache, whose size does not do for
//! many blocks. So there are few of them, and each is given a number of its own before it is written
//! again, as fio does (`scramble_buffers`). Only what is not in flight may be changed: a file system
//! or a RAID that computes checksums would otherwise store a wrong one. Hence each tag has blocks of
//! its own.

use io_uring::Submitter;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::buffers::{Buffer, populated, register};
use super::error::UringError;
use crate::memory::{ALIGNMENT, Mapping, aligned};
use crate::ours::{REPEATED, mixed, sign};

/// Random bytes of all tags together, if their blocks are not longer: less than a processor's second
/// cache, and far more than a drive compresses as one.
const HOT_BYTES: usize = 1 << 20;

/// Where the blocks of all tags would be longer than this, they take turns in so many bytes, which
/// come again as they are.
const MOST_BYTES: usize = 32 << 20;

/// The share of repeating bytes is kept in every block of this size, the unit in which drives
/// compress and map.
const SHARE_BYTES: usize = 4096;

/// Step of a Weyl sequence over all 64-bit numbers (SplitMix64).
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Bytes that writes take turns to start in.
pub(super) struct Pool {
    memory: Mapping,
    registered: Option<u16>,
    /// Bytes at the beginning of each block of [`SHARE_BYTES`] that stay as they are.
    repeating: usize,
    /// Whether each tag has a part of the memory, so that its blocks may be changed; otherwise there
    /// is one part for all.
    own: bool,
    /// Where the next write begins in each part.
    next: Box<[usize]>,
    part_bytes: usize,
    /// The last number that a block was given.
    number: u64,
    /// What was handed out and has no number yet: where it begins, and its length.
    unnumbered: Vec<(usize, u32)>,
}

impl Pool {
    /// Data of which compression would remove `percent` %, for writes of up to `max_block_bytes`.
    pub(super) fn new(
        percent: u8,
        depth: usize,
        max_block_bytes: usize,
    ) -> Result<Pool, UringError> {
        let block = aligned(max_block_bytes.max(1)).unwrap_or(usize::MAX);
        let all = block.saturating_mul(depth.max(1));
        let (own, parts, part_bytes) = match percent {
            // Repeating bytes look the same from wherever they start.
            100.. => (false, 1, block),
            _ if all > MOST_BYTES => (false, 1, MOST_BYTES.max(block.saturating_mul(2))),
            _ => (true, depth.max(1), block * (HOT_BYTES / all).max(1)),
        };
        let mut memory = populated(parts.saturating_mul(part_bytes))?;
        // SAFETY: the memory was mapped just now, no I/O knows it.
        fill(unsafe { memory.as_mut_slice() }, percent);
        Ok(Pool {
            memory,
            registered: None,
            repeating: repeating_bytes(percent),
            own,
            next: vec![0; parts].into_boxed_slice(),
            part_bytes,
            number: u64::from(percent),
            unnumbered: Vec::with_capacity(if own { parts } else { 0 }),
        })
    }

    /// Registers it as the buffer of an index, if the kernel agrees.
    pub(super) fn register(&mut self, submitter: &Submitter<'_>, index: u16) {
        let (address, bytes) = (self.memory.address(), self.memory.bytes());
        // SAFETY: the range is the whole mapping, which lives as long as the ring is used.
        let registered = unsafe { register(submitter, usize::from(index), address, bytes) };
        self.registered = registered.then_some(index);
    }

    pub(super) fn is_registered(&self) -> bool {
        self.registered.is_some()
    }

    /// What the next write of `tag`, which is not in flight, is made of: `bytes`, at most a block of the
    /// largest size. It has to be numbered before the kernel gets it.
    #[inline]
    pub(super) fn source(&mut self, tag: u32, bytes: u32) -> Buffer {
        let whole = (bytes as usize).next_multiple_of(ALIGNMENT);
        let part = if self.own { tag as usize } else { 0 };
        let mut start = self.next[part];
        if start + whole > self.part_bytes {
            start = 0;
        }
        self.next[part] = start + whole;
        let start = part * self.part_bytes + start;
        debug_assert!(start + whole <= self.memory.bytes());
        if self.own {
            self.unnumbered.push((start, bytes));
        }
        Buffer { address: self.memory.address().wrapping_add(start), registered: self.registered }
    }

    /// Numbers the blocks of all that was handed out.
    ///
    /// The processor that copied a block for the drive has its bytes, and fetching them back holds up
    /// what is next in the line. So this is done for several writes at once, just before the kernel is
    /// entered.
    #[inline]
    pub(super) fn number(&mut self) {
        while let Some((start, bytes)) = self.unnumbered.pop() {
            self.number_blocks(start, bytes as usize);
        }
    }

    /// Makes each block from `start` one that was not written before, by its last eight bytes.
    #[inline]
    fn number_blocks(&mut self, start: usize, bytes: usize) {
        let mut block = 0;
        while block < bytes {
            let place = (bytes - block).min(SHARE_BYTES) - size_of::<u64>();
            if place >= self.repeating {
                self.number = self.number.wrapping_add(STEP);
                let number = self.memory.address().wrapping_add(start + block + place);
                // SAFETY: a write of so many bytes from `start` lies within this tag's part of the
                // mapping, and the tag is not in flight, so the kernel reads nothing of it now.
                unsafe { number.cast::<u64>().write_unaligned(mixed(self.number)) };
            }
            block += SHARE_BYTES;
        }
    }
}

fn repeating_bytes(percent: u8) -> usize {
    SHARE_BYTES * usize::from(percent.min(100)) / 100
}

/// Every block of [`SHARE_BYTES`] begins with `percent` % repeating bytes; the rest is random.
/// A pool's seed is its percentage, so the bytes are the same on every run. All of it is signed: numbering
/// changes the ends of blocks only.
fn fill(memory: &mut [u8], percent: u8) {
    let repeating = repeating_bytes(percent);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(u64::from(percent));
    for block in memory.chunks_mut(SHARE_BYTES) {
        let (repeated, incompressible) = block.split_at_mut(repeating.min(block.len()));
        repeated.fill(REPEATED);
        random.fill_bytes(incompressible);
    }
    sign(memory);
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::ours::is_ours;

    /// Order-0 entropy of the bytes, in bits a byte.
    fn entropy(bytes: &[u8]) -> f64 {
        let mut counts = [0u32; 256];
        bytes.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
        let shares = counts.iter().map(|&count| f64::from(count) / bytes.len() as f64);
        -shares.filter(|&share| share > 0.0).map(|share| share * share.log2()).sum::<f64>()
    }

    /// What a write would carry to the drive.
    fn written(pool: &mut Pool, tag: u32, bytes: u32) -> Vec<u8> {
        let source = pool.source(tag, bytes);
        pool.number();
        // SAFETY: the source is that long, and no I/O uses it.
        unsafe { std::slice::from_raw_parts(source.address, bytes as usize) }.to_vec()
    }

    #[test]
    fn incompressible_is_random_and_repeating_repeats() {
        let mut memory = vec![0; 1 << 20];
        fill(&mut memory, 0);
        // A million uniform bytes have 8 - 255 / (2 ln 2 * 2^20) = 7.9998 bits a byte.
        assert!(entropy(&memory) > 7.999, "{}", entropy(&memory));
        let blocks: HashSet<&[u8]> = memory.chunks(512).collect();
        assert_eq!(blocks.len(), 2048, "no sector occurs twice");
        fill(&mut memory, 100);
        assert!(memory.iter().all(|&byte| byte == REPEATED));
    }

    #[test]
    fn each_block_holds_its_share_of_repeating_bytes_also_when_it_comes_again() {
        let mut pool = Pool::new(40, 4, 1 << 16).expect("memory");
        for turn in 0..64 {
            for block in written(&mut pool, turn % 4, 1 << 16).chunks(4096) {
                let (repeated, rest) = block.split_at(4096 * 40 / 100);
                assert!(repeated.iter().all(|&byte| byte == REPEATED));
                assert!(entropy(rest) > 7.8);
            }
        }
        let mut pool = Pool::new(100, 4, 1 << 16).expect("memory");
        assert!(
            (0..8).all(|tag| written(&mut pool, tag % 4, 65536).iter().all(|&b| b == REPEATED))
        );
    }

    #[test]
    fn whatever_is_written_is_known_as_ours() {
        for percent in [0, 1, 13, 50, 99, 100] {
            let mut pool = Pool::new(percent, 4, 1 << 16).expect("memory");
            for turn in 0..256u32 {
                let bytes = [512, 4096, 5120, 1 << 16][turn as usize % 4];
                let written = written(&mut pool, turn % 4, bytes);
                assert!(is_ours(&written), "{percent} % of {bytes} bytes");
            }
        }
    }

    #[test]
    fn no_block_is_written_twice_whatever_the_sizes_of_writes() {
        let mut pool = Pool::new(0, 4, 1 << 16).expect("memory");
        let mut seen = HashSet::new();
        let mut blocks = 0;
        for turn in 0..2_000u32 {
            let bytes = [512, 4096, 5120, 1 << 16][turn as usize % 4];
            for block in written(&mut pool, turn * 7 % 4, bytes).chunks(4096) {
                blocks += 1;
                seen.insert(block.to_vec());
            }
        }
        assert_eq!(seen.len(), blocks);
        // Nor anything longer than its number within what a drive may compress as one.
        let mut alone = Pool::new(0, 1, 4096).expect("memory");
        let written: Vec<Vec<u8>> = (0..256).map(|_| written(&mut alone, 0, 4096)).collect();
        let beginnings: HashSet<&[u8]> = written.iter().map(|block| &block[..64]).collect();
        assert_eq!(beginnings.len(), 256, "1 MiB of one tag's writes");
    }

    #[test]
    fn sources_stay_inside_are_aligned_and_never_touch_what_another_tag_writes() {
        for (depth, block) in [(4, 1 << 20), (32, 4096), (64, 1 << 20), (1, 512)] {
            let mut pool = Pool::new(0, depth, block).expect("memory");
            let (first, bytes) = (pool.memory.address() as usize, pool.memory.bytes());
            let shared = depth * block > MOST_BYTES;
            assert_eq!(shared, !pool.own);
            let mut owners = vec![u32::MAX; bytes / ALIGNMENT];
            for turn in 0..1_000u32 {
                let tag = turn * 5 % depth as u32;
                let length = [512, 4096, 5120, block][turn as usize % 4].min(block);
                let start = pool.source(tag, length as u32).address as usize - first;
                assert!(start.is_multiple_of(ALIGNMENT) && start + length <= bytes);
                if !shared {
                    let pages = start / ALIGNMENT..(start + length).div_ceil(ALIGNMENT);
                    for owner in &mut owners[pages] {
                        assert!([tag, u32::MAX].contains(owner), "{depth} {block}");
                        *owner = tag;
                    }
                }
            }
        }
    }
}
