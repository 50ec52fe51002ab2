//! The memory of a virtual machine.

use std::fs::File;
use std::io;

use vhost::vhost_user::message::VhostUserMemoryRegion;
use vm_memory::{
    Address, Bytes, FileOffset, GuestAddress, GuestMemory, GuestMemoryError, GuestMemoryMmap,
    GuestMemoryRegion, GuestRegionMmap, MmapRegion, Permissions,
};

/// Memory as a guest addresses it.
pub(super) type Guest = GuestMemoryMmap<()>;

/// A part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Segment {
    pub(super) address: GuestAddress,
    pub(super) bytes: u32,
}

/// What a virtual machine shares.
pub(super) struct SharedMemory {
    pub(super) guest: Guest,
    /// Where the machine's own process has each region: there it says where its rings are.
    regions: Vec<VhostUserMemoryRegion>,
}

impl SharedMemory {
    /// Maps these regions, each of the file beside it.
    ///
    /// # Errors
    /// When they overlap, one is not in its file, or it cannot be mapped.
    pub(super) fn map(regions: &[VhostUserMemoryRegion], files: Vec<File>) -> io::Result<Self> {
        let mut all = Vec::with_capacity(regions.len());
        for (region, file) in regions.iter().zip(files) {
            // Packed: a field cannot be referred to.
            let (address, bytes, offset) =
                (region.guest_phys_addr, region.memory_size, region.mmap_offset);
            let named = |why: String| {
                io::Error::other(format!("memory of {bytes:#x} bytes at {address:#x}: {why}"))
            };
            let mapped = MmapRegion::from_file(FileOffset::new(file, offset), bytes as usize);
            let mapped = mapped.map_err(|error| named(error.to_string()))?;
            let mapped = GuestRegionMmap::new(mapped, GuestAddress(address));
            all.push(mapped.ok_or_else(|| named("it ends beyond all addresses".into()))?);
        }
        all.sort_by_key(GuestMemoryRegion::start_addr);
        let guest = Guest::from_regions(all).map_err(io::Error::other)?;
        Ok(SharedMemory { guest, regions: regions.to_vec() })
    }

    /// Where a guest has what the machine's process has at `address`.
    pub(super) fn guest_address(&self, address: u64) -> Option<GuestAddress> {
        self.regions.iter().find_map(|region| {
            let inside = address.checked_sub(region.user_addr)?;
            (inside < region.memory_size).then(|| GuestAddress(region.guest_phys_addr + inside))
        })
    }
}

/// Whether all of a segment is memory.
pub(super) fn is_there(guest: &Guest, segment: &Segment) -> bool {
    guest.check_range(segment.address, segment.bytes as usize, Permissions::ReadWrite)
}

/// What segments hold, one behind the other: so many bytes from `from` on.
///
/// # Errors
/// When one is not in memory.
pub(super) fn gather(
    guest: &Guest,
    segments: &[Segment],
    from: u64,
    bytes: u64,
) -> Result<Vec<u8>, GuestMemoryError> {
    let mut data = vec![0; bytes as usize];
    let (mut rest, mut skip) = (&mut data[..], from);
    for segment in segments {
        let skipped = skip.min(segment.bytes.into());
        skip -= skipped;
        let here = (u64::from(segment.bytes) - skipped) as usize;
        let (part, behind) = rest.split_at_mut(rest.len().min(here));
        let address = segment.address.checked_add(skipped);
        guest.read_slice(part, address.ok_or(GuestMemoryError::GuestAddressOverflow)?)?;
        rest = behind;
    }
    Ok(data)
}

/// Writes `data` into segments, one behind the other, as far as they go.
///
/// # Errors
/// When one is not in memory.
pub(super) fn scatter(
    guest: &Guest,
    segments: &[Segment],
    data: &[u8],
) -> Result<(), GuestMemoryError> {
    let mut rest = data;
    for segment in segments {
        let (part, behind) = rest.split_at(rest.len().min(segment.bytes as usize));
        guest.write_slice(part, segment.address)?;
        rest = behind;
    }
    Ok(())
}
