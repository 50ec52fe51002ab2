//! Huge pages for large allocations.
//!
//! A virtual drive's map is some hundred megabytes that are read and written anywhere. With pages
//! of 4 KiB nearly every look-up misses the processor's TLB as well as its caches. Linux gives huge
//! pages where it is asked to (`transparent_hugepage=madvise`, the usual setting), and an allocator
//! is the only place that sees every large allocation, whoever makes it.
//!
//! This and `uring` are the crate's only unsafe code.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

use rustix::mm::{Advice, madvise};

/// Below this an allocation holds hardly a whole huge page (2 MiB on x86-64 and most of AArch64).
const LARGE: usize = 4 << 20;

/// The system's allocator, which asks for huge pages for what is large.
#[derive(Clone, Copy, Debug, Default)]
pub struct HugePages;

// SAFETY: every method hands its arguments to the system's allocator as they are and returns what
// that returns; `advise` changes neither content nor ownership of the memory.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps this function's contract, which is that one's.
        advise(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above. Large zeroed memory comes from the kernel untouched, so the advice is
        // in time.
        advise(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        advise(unsafe { System.realloc(block, layout, size) }, size)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Asks for huge pages for the whole pages of a large block of memory. Where the system has none the
/// block is as good as before.
#[inline]
fn advise(block: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !block.is_null() {
        let page = rustix::param::page_size();
        let skipped = block.align_offset(page);
        let length = (size - skipped) / page * page;
        // SAFETY: the range lies in a block that was just allocated and nobody uses yet, and
        // LinuxHugepage leaves its content alone.
        let _ =
            unsafe { madvise(block.wrapping_add(skipped).cast(), length, Advice::LinuxHugepage) };
    }
    block
}
