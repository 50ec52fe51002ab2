//! Where reads go and what writes are made of: memory set up once, so that an I/O only picks an
//! address.

use std::io::IoSlice;

use io_uring::Submitter;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::UringError;
use super::memory::{ALIGNMENT, Mapping, aligned};

/// Random bytes to write from. Write sources rotate through it, so 4 KiB blocks recur only after
/// 8192 others. It takes 10-15 ms to make, once.
const POOL_BYTES: usize = 32 << 20;

/// The share of repeating bytes is kept in every block of this size, the unit in which drives
/// compress and map.
const SHARE_BYTES: usize = 4096;

/// The repeated byte. Not 0, which thin provisioning and some drives store as a hole.
const REPEATED: u8 = 0x55;

/// Longest buffer that can be registered (`io_buffer_validate` in the kernel's io_uring/rsrc.c).
const MAX_REGISTERED_BYTES: usize = 1 << 30;

/// Pools by compressible percent, 0 to 100.
const POOLS: usize = 101;

/// Memory for one I/O.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    pub(super) address: *mut u8,
    /// Its index among the registered buffers, if it is one.
    pub(super) registered: Option<u16>,
}

/// What the buffers are for.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) queue_depth: u32,
    pub(super) max_block_bytes: u32,
    /// Whether anything will be written; otherwise no data is made for it.
    pub(super) writes: bool,
    /// Whether to register buffers, where the kernel allows it.
    pub(super) register: bool,
}

/// All memory of a ring's I/Os.
pub(super) struct Buffers {
    /// One slot a tag.
    reads: Mapping,
    slot_bytes: usize,
    slots_a_region: usize,
    /// Indexes of the registered read regions.
    read_regions: Vec<Option<u16>>,
    pools: Box<[Option<Pool>]>,
    /// Whether the kernel has a table of registered buffers to put more into.
    table: bool,
    max_block_bytes: usize,
}

/// Bytes that writes take turns to start in.
struct Pool {
    memory: Mapping,
    registered: Option<u16>,
    next: usize,
}

impl Buffers {
    /// Makes the read slots and, for writing, the incompressible and the repeating pool.
    ///
    /// Buffers are registered as far as the limit on locked memory (`RLIMIT_MEMLOCK`) allows; the
    /// others work too, at the cost of having their pages looked up by every I/O.
    pub(super) fn new(shape: Shape, submitter: &Submitter<'_>) -> Result<Buffers, UringError> {
        let depth = shape.queue_depth as usize;
        let max_block_bytes = shape.max_block_bytes as usize;
        let total = aligned(max_block_bytes.max(1)).and_then(|slot| slot.checked_mul(depth));
        let reads = Mapping::new(total.unwrap_or(usize::MAX))?;
        let slot_bytes = reads.bytes() / depth;
        let slots_a_region = (MAX_REGISTERED_BYTES / slot_bytes).max(1);
        let regions = depth.div_ceil(slots_a_region);
        // Sparse tables came with Linux 5.19. Before, nothing is registered.
        let table =
            shape.register && submitter.register_buffers_sparse((POOLS + regions) as u32).is_ok();
        let mut buffers = Buffers {
            reads,
            slot_bytes,
            slots_a_region,
            read_regions: Vec::with_capacity(regions),
            pools: (0..POOLS).map(|_| None).collect(),
            table,
            max_block_bytes,
        };
        for region in 0..regions {
            let first = region * slots_a_region;
            let slots = slots_a_region.min(depth - first);
            let bytes = slots * slot_bytes;
            let memory = &buffers.reads;
            // SAFETY: slot `first` is below `depth`, so it lies inside the mapping.
            let address = unsafe { memory.address().add(first * slot_bytes) };
            // SAFETY: `bytes` from there end within the mapping, which outlives the ring's use.
            let registered =
                buffers.table && unsafe { register(submitter, POOLS + region, address, bytes) };
            buffers.read_regions.push(registered.then_some((POOLS + region) as u16));
        }
        if shape.writes {
            buffers.prepare(0, submitter)?;
            buffers.prepare(100, submitter)?;
        }
        Ok(buffers)
    }

    /// Where the read of `tag`, below the queue depth, goes.
    #[inline]
    pub(super) fn read_slot(&self, tag: u32) -> Buffer {
        let tag = tag as usize;
        debug_assert!((tag + 1) * self.slot_bytes <= self.reads.bytes());
        Buffer {
            address: self.reads.address().wrapping_add(tag * self.slot_bytes),
            registered: self.read_regions[tag / self.slots_a_region],
        }
    }

    /// The next source of a write of `bytes`, at most a block of the largest size; `None` until
    /// [`Buffers::prepare`] made that percentage.
    #[inline]
    pub(super) fn write_source(&mut self, percent: u8, bytes: u32) -> Option<Buffer> {
        let pool = self.pools[usize::from(percent.min(100))].as_mut()?;
        let bytes = (bytes as usize).next_multiple_of(ALIGNMENT);
        if pool.next + bytes > pool.memory.bytes() {
            pool.next = 0;
        }
        let address = pool.memory.address().wrapping_add(pool.next);
        pool.next += bytes;
        Some(Buffer { address, registered: pool.registered })
    }

    /// Makes the data of which compression would remove `percent` %, unless it is there.
    pub(super) fn prepare(
        &mut self,
        percent: u8,
        submitter: &Submitter<'_>,
    ) -> Result<(), UringError> {
        let slot = usize::from(percent.min(100));
        if self.pools[slot].is_some() {
            return Ok(());
        }
        // Repeating bytes look the same from wherever they start.
        let bytes = match percent {
            100.. => self.max_block_bytes,
            _ => POOL_BYTES.max(2 * self.max_block_bytes),
        };
        let mut memory = Mapping::new(bytes)?;
        // SAFETY: the memory was mapped just now, no I/O knows it.
        fill(unsafe { memory.as_mut_slice() }, percent);
        // SAFETY: the range is the whole mapping, which lives as long as the ring is used.
        let registered =
            self.table && unsafe { register(submitter, slot, memory.address(), memory.bytes()) };
        let registered = registered.then_some(slot as u16);
        self.pools[slot] = Some(Pool { memory, registered, next: 0 });
        Ok(())
    }

    /// Whether all read slots are registered.
    pub(super) fn reads_registered(&self) -> bool {
        self.read_regions.iter().all(Option::is_some)
    }

    /// Whether all write pools that were made are registered.
    pub(super) fn writes_registered(&self) -> bool {
        self.pools.iter().flatten().all(|pool| pool.registered.is_some())
    }
}

/// Registers one buffer, if the kernel agrees.
///
/// # Safety
/// `bytes` from `address` are mapped and stay so while the ring is used.
unsafe fn register(
    submitter: &Submitter<'_>,
    index: usize,
    address: *mut u8,
    bytes: usize,
) -> bool {
    if bytes > MAX_REGISTERED_BYTES {
        return false;
    }
    // SAFETY: the caller says that it is mapped; the slice lives only for this call, in which the
    // kernel takes the address and the length and touches no byte.
    let buffer = [IoSlice::new(unsafe { std::slice::from_raw_parts(address, bytes) })];
    // SAFETY: the standard library guarantees `IoSlice` the layout of `iovec`; the caller
    // guarantees the memory.
    unsafe {
        let iovecs = std::slice::from_raw_parts(buffer.as_ptr().cast(), buffer.len());
        submitter.register_buffers_update(index as u32, iovecs, None).is_ok()
    }
}

/// Every block of [`SHARE_BYTES`] begins with `percent` % repeating bytes; the rest is random.
/// A pool's seed is its percentage, so the bytes are the same on every run.
fn fill(memory: &mut [u8], percent: u8) {
    let repeating = SHARE_BYTES * usize::from(percent.min(100)) / 100;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(u64::from(percent));
    for block in memory.chunks_mut(SHARE_BYTES) {
        let (repeated, incompressible) = block.split_at_mut(repeating.min(block.len()));
        repeated.fill(REPEATED);
        random.fill_bytes(incompressible);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use io_uring::IoUring;

    /// Order-0 entropy of the bytes, in bits a byte.
    fn entropy(bytes: &[u8]) -> f64 {
        let mut counts = [0u32; 256];
        bytes.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
        let shares = counts.iter().map(|&count| f64::from(count) / bytes.len() as f64);
        -shares.filter(|&share| share > 0.0).map(|share| share * share.log2()).sum::<f64>()
    }

    #[test]
    fn incompressible_is_random_and_repeating_repeats() {
        let mut memory = vec![0; 1 << 20];
        fill(&mut memory, 0);
        // A million uniform bytes have 8 - 255 / (2 ln 2 * 2^20) = 7.9998 bits a byte.
        assert!(entropy(&memory) > 7.999, "{}", entropy(&memory));
        let blocks: std::collections::HashSet<&[u8]> = memory.chunks(512).collect();
        assert_eq!(blocks.len(), 2048, "no sector occurs twice");
        fill(&mut memory, 100);
        assert!(memory.iter().all(|&byte| byte == REPEATED));
    }

    #[test]
    fn each_block_holds_its_share_of_repeating_bytes() {
        let mut memory = vec![0; 1 << 20];
        fill(&mut memory, 40);
        for block in memory.chunks(4096) {
            let (repeated, rest) = block.split_at(4096 * 40 / 100);
            assert!(repeated.iter().all(|&byte| byte == REPEATED));
            assert!(entropy(rest) > 7.8);
        }
    }

    #[test]
    fn consecutive_sources_differ_stay_inside_and_are_aligned() {
        let ring = IoUring::new(8).expect("io_uring");
        let shape =
            Shape { queue_depth: 4, max_block_bytes: 1 << 20, writes: true, register: true };
        let mut buffers = Buffers::new(shape, &ring.submitter()).expect("memory");
        assert!(buffers.write_source(50, 512).is_none(), "not made yet");
        let pool = buffers.pools[0].as_ref().expect("made at set-up");
        let range = pool.memory.address() as usize..=pool.memory.address() as usize + POOL_BYTES;
        let mut last = 0;
        for turn in 0..200u32 {
            let bytes = [512, 4096, 5000, 1 << 20][turn as usize % 4];
            let address = buffers.write_source(0, bytes).expect("made").address as usize;
            assert!(address.is_multiple_of(ALIGNMENT) && address != last);
            assert!(range.contains(&address) && range.contains(&(address + bytes as usize)));
            last = address;
        }
    }
}
