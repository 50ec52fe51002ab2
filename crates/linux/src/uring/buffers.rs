//! Where reads go and where writes come from: memory set up once, so that an I/O only picks an
//! address.

use std::io::IoSlice;

use io_uring::Submitter;
use rustix::io::Errno;

use super::error::UringError;
use super::pools::Pool;
use crate::memory::{Mapping, aligned};

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

/// Memory whose pages are all there.
pub(super) fn populated(bytes: usize) -> Result<Mapping, UringError> {
    let refused = |errno: Errno| UringError::Memory { bytes: bytes as u64, source: errno.into() };
    Mapping::populated(bytes).map_err(refused)
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
    /// Pools that were written from since they were numbered.
    unnumbered: Vec<u8>,
    /// Whether the kernel has a table of registered buffers to put more into.
    table: bool,
    depth: usize,
    max_block_bytes: usize,
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
        let reads = populated(total.unwrap_or(usize::MAX))?;
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
            unnumbered: Vec::with_capacity(POOLS),
            table,
            depth,
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

    /// The next source of a write of `tag`, which is not in flight: `bytes`, at most a block of the
    /// largest size. `None` until [`Buffers::prepare`] made that percentage.
    #[inline]
    pub(super) fn write_source(&mut self, tag: u32, percent: u8, bytes: u32) -> Option<Buffer> {
        let percent = percent.min(100);
        let pool = self.pools[usize::from(percent)].as_mut()?;
        if self.unnumbered.last() != Some(&percent) {
            self.unnumbered.push(percent);
        }
        Some(pool.source(tag, bytes))
    }

    /// To be called before the kernel gets what was written from: [`Pool::number`].
    #[inline]
    pub(super) fn number(&mut self) {
        while let Some(percent) = self.unnumbered.pop() {
            if let Some(pool) = &mut self.pools[usize::from(percent)] {
                pool.number();
            }
        }
    }

    /// Makes the data of which compression would remove `percent` %, unless it is there.
    pub(super) fn prepare(
        &mut self,
        percent: u8,
        submitter: &Submitter<'_>,
    ) -> Result<(), UringError> {
        let slot = percent.min(100);
        let place = &mut self.pools[usize::from(slot)];
        if place.is_none() {
            let mut pool = Pool::new(slot, self.depth, self.max_block_bytes)?;
            if self.table {
                pool.register(submitter, u16::from(slot));
            }
            *place = Some(pool);
        }
        Ok(())
    }

    /// Whether all read slots are registered.
    pub(super) fn reads_registered(&self) -> bool {
        self.read_regions.iter().all(Option::is_some)
    }

    /// Whether all write pools that were made are registered.
    pub(super) fn writes_registered(&self) -> bool {
        self.pools.iter().flatten().all(Pool::is_registered)
    }
}

/// Registers one buffer, if the kernel agrees.
///
/// # Safety
/// `bytes` from `address` are mapped and stay so while the ring is used.
pub(super) unsafe fn register(
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

#[cfg(test)]
mod tests {
    use super::*;
    use io_uring::IoUring;

    #[test]
    fn data_is_made_once_a_percentage() {
        let ring = IoUring::new(8).expect("io_uring");
        let shape =
            Shape { queue_depth: 4, max_block_bytes: 1 << 20, writes: true, register: true };
        let mut buffers = Buffers::new(shape, &ring.submitter()).expect("memory");
        assert!(buffers.write_source(0, 50, 512).is_none(), "not made yet");
        buffers.prepare(50, &ring.submitter()).expect("memory");
        let first = buffers.write_source(1, 50, 4096).expect("made").address;
        buffers.prepare(50, &ring.submitter()).expect("it is there");
        let second = buffers.write_source(1, 50, 4096).expect("made").address;
        assert_eq!(second as usize - first as usize, 4096, "the same memory goes on");
        assert!(buffers.reads_registered() && buffers.writes_registered());
    }
}
