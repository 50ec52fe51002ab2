//! Page-aligned memory that the kernel reads and writes while we hold no reference to it.

#![allow(unsafe_code)]

use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};

/// Buffers start at multiples of this: what `O_DIRECT` asks for on every Linux drive and file
/// system, and a page, so that no block straddles one more page than it must.
pub(crate) const ALIGNMENT: usize = 4096;

/// `bytes` rounded up to whole [`ALIGNMENT`]s, or `None` when no memory is that large.
pub(crate) fn aligned(bytes: usize) -> Option<usize> {
    bytes.checked_next_multiple_of(ALIGNMENT)
}

/// A mapping that is unmapped on drop.
pub(crate) struct Mapping {
    address: NonNull<u8>,
    bytes: usize,
}

impl Mapping {
    /// Maps at least one page of zeroed memory of our own. Pages are taken when they are touched.
    pub(crate) fn new(bytes: usize) -> Result<Mapping, Errno> {
        let bytes = aligned(bytes.max(1)).ok_or(Errno::NOMEM)?;
        // SAFETY: a new private anonymous mapping at an address of the kernel's choosing aliases
        // no other memory.
        let address = unsafe {
            mmap_anonymous(
                ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        }?;
        Ok(Mapping { address: NonNull::new(address.cast::<u8>()).ok_or(Errno::NOMEM)?, bytes })
    }

    /// The same, with all pages taken, so that no I/O pays for a page fault.
    pub(crate) fn populated(bytes: usize) -> Result<Mapping, Errno> {
        let mapping = Mapping::new(bytes)?;
        // Huge pages let the kernel pin and look up a buffer as one piece. Both advices are only
        // wishes: without them every page is faulted in on first use.
        for advice in [Advice::LinuxHugepage, Advice::LinuxPopulateWrite] {
            // SAFETY: the range is the mapping made above; neither advice changes its contents.
            let _ = unsafe { madvise(mapping.address.as_ptr().cast(), mapping.bytes, advice) };
        }
        Ok(mapping)
    }

    /// Memory that a driver shares and only it writes, from the beginning of its file.
    pub(crate) fn shared(file: BorrowedFd<'_>, bytes: usize) -> Result<Mapping, Errno> {
        let bytes = aligned(bytes.max(1)).ok_or(Errno::NOMEM)?;
        // SAFETY: a new mapping at an address of the kernel's choosing; nothing here holds a
        // reference into it, it is read by raw pointers.
        let address =
            unsafe { mmap(ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, file, 0) }?;
        Ok(Mapping { address: NonNull::new(address.cast::<u8>()).ok_or(Errno::NOMEM)?, bytes })
    }

    /// The first byte.
    pub(crate) fn address(&self) -> *mut u8 {
        self.address.as_ptr()
    }

    /// Length in bytes, a multiple of [`ALIGNMENT`].
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The bytes themselves.
    ///
    /// # Safety
    /// The memory is our own, and no I/O on it is in flight while the slice lives.
    pub(crate) unsafe fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: the mapping is `bytes` long, initialised (zeroed), and ours alone: `&mut self`
        // keeps other references away and the caller keeps the kernel away.
        unsafe { std::slice::from_raw_parts_mut(self.address.as_ptr(), self.bytes) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is exactly what `new` mapped, and whoever drops it has waited for the
        // I/Os on it. Failure would leave it mapped, which is harmless.
        let _ = unsafe { munmap(self.address.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_zeroed_aligned_and_whole_pages() {
        let mut mapping = Mapping::new(5000).expect("8 KiB");
        assert_eq!((mapping.bytes(), mapping.address() as usize % ALIGNMENT), (8192, 0));
        // SAFETY: no I/O uses it.
        assert!(unsafe { mapping.as_mut_slice() }.iter().all(|&byte| byte == 0));
    }

    #[test]
    fn an_absurd_size_is_an_error() {
        for bytes in [usize::MAX, usize::MAX / 2] {
            assert_eq!(Mapping::new(bytes).err(), Some(Errno::NOMEM));
        }
    }
}
