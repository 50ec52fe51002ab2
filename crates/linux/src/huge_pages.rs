//! Huge pages for large allocations.
//!
//! A virtual drive's map is some hundred megabytes that are read and written anywhere. With pages
//! of 4 KiB nearly every look-up misses the processor's TLB as well as its caches. Linux gives huge
//! pages where it is asked to (`transparent_hugepage=madvise`, the usual setting), and an allocator
//! is the only place that sees every large allocation, whoever makes it.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::mm::{Advice, madvise};

/// Below this an allocation holds hardly a whole huge page (2 MiB on x86-64 and most of AArch64).
const LARGE: usize = 4 << 20;

/// The system's allocator, which asks for huge pages for what is large. Where there is no memory left
/// the process says so and exits with 1, as it does for other reasons that are not its fault.
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
    if block.is_null() {
        exhausted();
    }
    if size >= LARGE {
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

/// Ends the process. It cannot go on, and unwinding would take memory.
#[cold]
fn exhausted() {
    const WORDS: &[u8] =
        b"fourcorners: there is no memory left: end other programs, raise the limit \
                           (ulimit -v), or take fewer drives at a time\n";
    static ENDING: AtomicBool = AtomicBool::new(false);
    if ENDING.swap(true, Ordering::Relaxed) {
        // By what is done at the end, or in another thread: the first one ends all.
        return;
    }
    // Nobody may be there to read it.
    let _ = rustix::io::write(rustix::stdio::stderr(), WORDS);
    std::process::exit(1);
}
