//! Asking the processor for memory that will be needed soon.
//!
//! A random I/O on a large drive is a handful of cache misses, each dependent on the one before. A
//! load that is made early to hide a miss fills the processor's window and stalls all the same; a
//! prefetch does not. It cannot fault and changes nothing that a program can see, which is why the
//! one unsafe line of this crate is here.
#![allow(unsafe_code)]

/// Asks for `slice[index]`; an index beyond the end asks for nothing.
#[inline(always)]
pub(crate) fn prefetch<T>(slice: &[T], index: usize) {
    if let Some(item) = slice.get(index) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 processor has SSE, and a prefetch of any address is allowed.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast());
        }
        // Others have no stable way to say it; a load that nobody waits for comes close.
        #[cfg(not(target_arch = "x86_64"))]
        std::hint::black_box(std::ptr::from_ref(item));
    }
}
