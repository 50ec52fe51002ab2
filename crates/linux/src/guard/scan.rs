//! Reads the places of [`SIGNATURES`] on a medium. Anything that cannot be read is an error:
//! what is unknown is not free.

use std::collections::BTreeMap;
use std::fs::File;

use rustix::io::Errno;

use super::signatures::{At, BOOT_SECTOR, SIGNATURES, Signature, ZFS, ZFS_LABELS};

/// Bytes with a beginning and an end.
pub(super) trait Medium {
    /// Length in bytes.
    fn bytes(&self) -> u64;
    /// Fills `buffer` from `offset` on.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Errno>;
}

/// A device or a file of a known length, read through the page cache.
pub(super) struct Opened<'a> {
    pub(super) file: &'a File,
    pub(super) bytes: u64,
}

impl Medium for Opened<'_> {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Errno> {
        let mut done = 0;
        while done < buffer.len() {
            match rustix::io::pread(self.file, &mut buffer[done..], offset + done as u64) {
                Ok(0) => return Err(Errno::IO),
                Ok(read) => done += read,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }
}

/// Where a medium could not be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Unreadable {
    pub(super) offset: u64,
    pub(super) errno: Errno,
}

/// Names of everything that is recognised, without repetition.
pub(super) fn signatures(medium: &impl Medium) -> Result<Vec<&'static str>, Unreadable> {
    let mut blocks = Blocks { medium, read: BTreeMap::new() };
    let mut found = Vec::new();
    for signature in SIGNATURES {
        if !found.contains(&signature.name) && blocks.carry(signature)? {
            found.push(signature.name);
        }
    }
    if !found.contains(&ZFS) && blocks.carry_uberblock()? {
        found.push(ZFS);
    }
    if found.len() > 1 {
        found.retain(|name| *name != BOOT_SECTOR);
    }
    Ok(found)
}

/// The unit of reading: places of signatures share blocks, and a block is read once.
const BLOCK_BYTES: u64 = 4096;

struct Blocks<'a, M> {
    medium: &'a M,
    read: BTreeMap<u64, Vec<u8>>,
}

impl<M: Medium> Blocks<'_, M> {
    fn carry(&mut self, signature: &Signature) -> Result<bool, Unreadable> {
        for place in signature.places {
            let Some(base) = self.base(*place) else { continue };
            for magic in signature.magics {
                let end = signature.offset + magic.len();
                if self.bytes_at(base + signature.offset as u64, magic.len())? == *magic
                    && (signature.plausible)(&self.bytes_at(base, end.max(512))?)
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// ZFS On-Disk Specification, 1.3.3: a ring of 128 KiB at 128 KiB in each label, entries of
    /// 1 KiB or more, each beginning with 0x00bab10c in the writer's byte order.
    fn carry_uberblock(&mut self) -> Result<bool, Unreadable> {
        const MAGIC: u64 = 0x00ba_b10c;
        for label in ZFS_LABELS {
            let Some(base) = self.base(*label) else { continue };
            for entry in 0..128 {
                let magic = self.bytes_at(base + (128 << 10) + (entry << 10), 8)?;
                if magic == MAGIC.to_le_bytes() || magic == MAGIC.to_be_bytes() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Where a structure begins on this medium, if it is long enough to have it.
    fn base(&self, place: At) -> Option<u64> {
        let bytes = self.medium.bytes();
        match place {
            At::Start(offset) => (offset < bytes).then_some(offset),
            At::End { align, back } => (bytes - bytes % align).checked_sub(back),
        }
    }

    /// Up to `length` bytes; fewer where the medium ends.
    fn bytes_at(&mut self, offset: u64, length: usize) -> Result<Vec<u8>, Unreadable> {
        let end = offset.saturating_add(length as u64).min(self.medium.bytes());
        let mut bytes = Vec::with_capacity(length);
        let mut at = offset;
        while at < end {
            let block = self.block(at / BLOCK_BYTES)?;
            let from = (at % BLOCK_BYTES) as usize;
            let to = block.len().min(from + (end - at) as usize);
            bytes.extend_from_slice(&block[from..to]);
            at += (to - from) as u64;
        }
        Ok(bytes)
    }

    fn block(&mut self, index: u64) -> Result<&[u8], Unreadable> {
        use std::collections::btree_map::Entry;
        match self.read.entry(index) {
            Entry::Occupied(block) => Ok(block.into_mut()),
            Entry::Vacant(place) => {
                let offset = index * BLOCK_BYTES;
                let length = BLOCK_BYTES.min(self.medium.bytes() - offset);
                let mut buffer = vec![0; length as usize];
                self.medium
                    .read_at(&mut buffer, offset)
                    .map_err(|errno| Unreadable { offset, errno })?;
                Ok(place.insert(buffer))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A medium that is zero but for a few pieces, and may have a bad sector.
    #[derive(Default)]
    struct Sparse {
        bytes: u64,
        pieces: Vec<(u64, Vec<u8>)>,
        bad: Option<u64>,
    }

    impl Medium for Sparse {
        fn bytes(&self) -> u64 {
            self.bytes
        }

        fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), Errno> {
            let end = offset + buffer.len() as u64;
            assert!(end <= self.bytes, "read beyond the end");
            if self.bad.is_some_and(|bad| (offset..end).contains(&bad)) {
                return Err(Errno::IO);
            }
            buffer.fill(0);
            for (at, piece) in &self.pieces {
                for (place, byte) in (*at..).zip(piece) {
                    if (offset..end).contains(&place) {
                        buffer[(place - offset) as usize] = *byte;
                    }
                }
            }
            Ok(())
        }
    }

    const SIZE: u64 = (64 << 20) + 3 * 512;

    fn found(pieces: Vec<(u64, Vec<u8>)>) -> Vec<&'static str> {
        signatures(&Sparse { bytes: SIZE, pieces, bad: None }).expect("it can be read")
    }

    /// What a structure must have besides its magic, for the rows that ask for more.
    fn companions(name: &str, magic: &[u8]) -> Vec<(u64, Vec<u8>)> {
        match name {
            "HFS" => vec![(20, vec![0, 0, 2, 0])],
            "NILFS2" => vec![(0, vec![2, 0, 0, 0])],
            "MINIX" if magic != b"\x5a\x4d" => vec![(12, vec![1])],
            "Sun disk label" => vec![(0, magic.to_vec())],
            "boot sector" => vec![(0, vec![0xeb, 0x3c, 0x90])],
            _ => vec![],
        }
    }

    #[test]
    fn every_row_is_found_at_every_place_with_every_magic() {
        for row in SIGNATURES {
            for place in row.places {
                let probe = Sparse { bytes: SIZE, ..Sparse::default() };
                let blocks = Blocks { medium: &probe, read: BTreeMap::new() };
                let Some(base) = blocks.base(*place) else { continue };
                for magic in row.magics {
                    let at = base + row.offset as u64;
                    if at + magic.len() as u64 > SIZE {
                        continue;
                    }
                    let mut pieces = vec![(at, magic.to_vec())];
                    pieces.extend(
                        companions(row.name, magic)
                            .into_iter()
                            .map(|(offset, bytes)| (base + offset, bytes)),
                    );
                    let names = found(pieces);
                    assert!(names.contains(&row.name), "{} at {place:?}: {names:?}", row.name);
                }
            }
        }
    }

    #[test]
    fn a_blank_medium_holds_nothing() {
        assert_eq!(found(vec![]), Vec::<&str>::new());
    }

    #[test]
    fn zfs_is_found_by_its_last_uberblock_alone() {
        let last = (256 << 10) + (128 << 10) + (127 << 10);
        for magic in [0x00ba_b10c_u64.to_le_bytes(), 0x00ba_b10c_u64.to_be_bytes()] {
            assert_eq!(found(vec![(last, magic.to_vec())]), ["ZFS"]);
        }
    }

    #[test]
    fn two_byte_magics_alone_are_an_accident() {
        for (at, magic) in [
            (510, [0x55, 0xaa]),
            (1080, [0x53, 0xef]),
            (1030, [0x34, 0x34]),
            (1040, [0x7f, 0x13]),
            (1048, [0x5a, 0x4d]),
            (508, [0xda, 0xbe]),
        ] {
            // What random data has around them: no field is zero.
            let pieces = vec![(0, vec![0x5a; 2048]), (at, magic.to_vec())];
            assert_eq!(found(pieces), Vec::<&str>::new(), "at {at}");
        }
    }

    #[test]
    fn a_boot_sector_is_named_only_where_nothing_else_is_known() {
        let jump = (0, vec![0xeb, 0x3c, 0x90]);
        let mark = (510, vec![0x55, 0xaa]);
        assert_eq!(found(vec![jump.clone(), mark.clone()]), ["boot sector"]);
        let fat = (54, b"FAT16   ".to_vec());
        assert_eq!(found(vec![jump, mark, fat]), ["FAT"]);
    }

    #[test]
    fn an_unreadable_place_is_an_error_wherever_it_is() {
        for bad in [0, 1024, 4096, 65536 + 64, SIZE - 512, SIZE - 1] {
            let medium = Sparse { bytes: SIZE, bad: Some(bad), ..Sparse::default() };
            let refused = signatures(&medium).expect_err("a bad sector");
            assert_eq!(refused.errno, Errno::IO);
            assert_eq!(refused.offset, bad / BLOCK_BYTES * BLOCK_BYTES);
        }
    }

    #[test]
    fn a_file_that_ends_early_is_unreadable() {
        let file = tempfile::tempfile().expect("a temporary file");
        file.set_len(1 << 20).expect("it can be sized");
        let medium = Opened { file: &file, bytes: 2 << 20 };
        assert_eq!(signatures(&medium).map_err(|error| error.errno), Err(Errno::IO));
    }

    #[test]
    fn every_length_up_to_a_few_blocks_is_read_without_panic() {
        for bytes in (0..5000).chain([8191, 8192, 8193, 65535, 65536, 262_143, 524_288]) {
            let medium = Sparse { bytes, ..Sparse::default() };
            assert_eq!(signatures(&medium), Ok(vec![]), "{bytes} bytes");
        }
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(content in prop::collection::vec(any::<u8>(), 0..20_000)) {
            let bytes = content.len() as u64;
            let medium = Sparse { bytes, pieces: vec![(0, content)], bad: None };
            signatures(&medium).expect("it can be read");
        }
    }
}
