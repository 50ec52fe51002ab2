//! The bytes of a served drive. A model has none: it knows times only.

mod file;
mod layer;
mod memory;

use std::io;

pub use file::{ContentsError, ContentsFile};
pub use layer::Layer;
pub use memory::Memory;

use crate::nbd::Extent;

/// Extents that a block status tells at most; a client asks again for the rest.
const MOST_EXTENTS: usize = 1024;

/// Where the bytes are. What never was written, and what was trimmed, reads as zero.
#[derive(Debug)]
pub enum Contents {
    /// In memory, as long as it is served.
    Memory(Memory),
    /// In a sparse file.
    File(ContentsFile),
    /// In a sparse file that stays as it was at the first snapshot, and what was written over it in memory.
    Layered(Layer),
}

/// Read at once of a range that is kept.
const PART_PIECE: u64 = 1 << 20;

/// In place of contents that are being exchanged.
const NOTHING: Contents = Contents::Memory(Memory::NONE);

/// What was stored at some moment.
#[derive(Clone, Debug)]
pub struct Snapshot(Stored);

#[derive(Clone, Debug)]
enum Stored {
    Memory(Memory),
    Over(layer::Pieces),
}

impl Contents {
    /// Reads into `data`, which is zero. Whether anything is stored there.
    ///
    /// # Errors
    /// What the file system says.
    pub fn read(&self, offset: u64, data: &mut [u8]) -> io::Result<bool> {
        match self {
            Contents::Memory(memory) => Ok(memory.read(offset, data)),
            Contents::File(file) => file.read(offset, data),
            Contents::Layered(layer) => layer.read(offset, data),
        }
    }

    /// Stores `data`.
    ///
    /// # Errors
    /// When there is no space, or what the file system says.
    pub fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        match self {
            Contents::Memory(memory) => memory.write(offset, data),
            Contents::File(file) => file.write(offset, data),
            Contents::Layered(layer) => layer.write(offset, data),
        }
    }

    /// Makes a range read as zero, and gives its space back.
    ///
    /// # Errors
    /// What the file system says.
    pub fn discard(&mut self, offset: u64, length: u64) -> io::Result<()> {
        match self {
            Contents::Memory(memory) => {
                memory.discard(offset, length);
                Ok(())
            }
            Contents::File(file) => file.discard(offset, length),
            Contents::Layered(layer) => layer.discard(offset, length),
        }
    }

    /// What is stored from `offset` on, in `length` bytes: at least one extent, or more until all is told or there
    /// are 1,024. Neighbours differ.
    ///
    /// # Errors
    /// What the file system says.
    pub fn extents(&self, offset: u64, length: u64) -> io::Result<Vec<Extent>> {
        let end = offset + length;
        let mut extents: Vec<Extent> = Vec::new();
        let mut at = offset;
        while at < end {
            let (hole, until) = match self {
                Contents::Memory(memory) => memory.alike(at, end),
                Contents::File(file) => file.alike(at, end)?,
                Contents::Layered(layer) => layer.alike(at, end)?,
            };
            let more = until.min(end) - at;
            at += more;
            let full = extents.len() == MOST_EXTENTS;
            match extents.last_mut() {
                Some(last) if last.hole == hole => last.length += more,
                _ if full => break,
                _ => extents.push(Extent { length: more, hole }),
            }
        }
        Ok(extents)
    }

    /// What is stored in a range: of contents in memory they share it, of a file it is read. `None` if that were more than
    /// `most_bytes`.
    ///
    /// # Errors
    /// What the file system says.
    pub(crate) fn part(
        &self,
        offset: u64,
        length: u64,
        most_bytes: u64,
    ) -> io::Result<Option<Memory>> {
        if let Contents::Memory(memory) = self {
            return Ok(Some(memory.part(offset, length)));
        }
        let mut part = Memory::new(u64::MAX);
        let (mut at, end) = (offset, offset + length);
        while at < end {
            for extent in self.extents(at, end - at)? {
                let until = at + extent.length;
                while at < until && !extent.hole {
                    if part.stored_bytes() > most_bytes {
                        return Ok(None);
                    }
                    let mut piece = vec![0; (until - at).min(PART_PIECE) as usize];
                    self.read(at, &mut piece)?;
                    part.write(at, &piece)?;
                    at += piece.len() as u64;
                }
                at = until;
            }
        }
        Ok(Some(part))
    }

    /// What is stored now. Copies share memory with it until one of them is written to; a file stays as it is from here
    /// on, and what is written over it is in memory, `most_bytes` at most.
    pub fn snapshot(&mut self, most_bytes: u64) -> Snapshot {
        Snapshot(match self {
            Contents::Memory(memory) => Stored::Memory(memory.clone()),
            Contents::Layered(layer) => Stored::Over(layer.pieces()),
            Contents::File(_) => {
                if let Contents::File(file) = std::mem::replace(self, NOTHING) {
                    *self = Contents::Layered(Layer::over(file, most_bytes));
                }
                Stored::Over(layer::Pieces::default())
            }
        })
    }

    /// Goes back to a snapshot of these contents, of which nothing was committed since.
    pub fn rollback(&mut self, snapshot: &Snapshot) {
        match (self, &snapshot.0) {
            (Contents::Memory(memory), Stored::Memory(stored)) => *memory = stored.clone(),
            (Contents::Layered(layer), Stored::Over(pieces)) => layer.restore(pieces),
            // They are of other contents.
            _ => {}
        }
    }

    /// Stores in the file what was written over it. Snapshots from before are of no use then.
    ///
    /// # Errors
    /// What the file system says; what is not stored then stays in memory.
    pub fn commit(&mut self) -> io::Result<()> {
        if let Contents::Layered(layer) = self {
            layer.commit()?;
            if let Contents::Layered(layer) = std::mem::replace(self, NOTHING) {
                *self = Contents::File(layer.into_file());
            }
        }
        Ok(())
    }

    /// Bytes that are stored.
    pub fn stored_bytes(&self) -> u64 {
        match self {
            Contents::Memory(memory) => memory.stored_bytes(),
            Contents::File(file) => file.stored_bytes(),
            Contents::Layered(layer) => layer.stored_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BYTES: u64 = 1 << 20;

    #[derive(Clone, Debug)]
    enum Step {
        Write(u64, u64, u8),
        Discard(u64, u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let range = (0..BYTES / 512, 1..300u64)
            .prop_map(|(at, sectors)| (at * 512, (sectors * 512).min(BYTES - at * 512)));
        let step = (range, any::<bool>(), 1..255u8).prop_map(|((at, length), writes, byte)| {
            if writes { Step::Write(at, length, byte) } else { Step::Discard(at, length) }
        });
        proptest::collection::vec(step, 1..40)
    }

    fn all_of(contents: &Contents) -> io::Result<Vec<u8>> {
        let mut all = vec![0; BYTES as usize];
        contents.read(0, &mut all).map(|_| all)
    }

    /// The same steps on contents and on a plain array.
    fn done(contents: &mut Contents, plain: &mut [u8], steps: &[Step]) -> io::Result<()> {
        for step in steps {
            let (at, length, byte) = match *step {
                Step::Write(at, length, byte) => (at, length, byte),
                Step::Discard(at, length) => (at, length, 0),
            };
            plain[at as usize..][..length as usize].fill(byte);
            match step {
                Step::Write(..) => contents.write(at, &vec![byte; length as usize])?,
                Step::Discard(..) => contents.discard(at, length)?,
            }
        }
        Ok(())
    }

    /// Against a plain array.
    fn holds(mut contents: Contents, steps: Vec<Step>) -> Result<(), TestCaseError> {
        let mut plain = vec![0u8; BYTES as usize];
        done(&mut contents, &mut plain, &steps)?;
        prop_assert!(all_of(&contents)? == plain);
        let extents = contents.extents(0, BYTES)?;
        prop_assert_eq!(extents.iter().map(|extent| extent.length).sum::<u64>(), BYTES);
        let mut at = 0;
        for pair in extents.windows(2) {
            prop_assert!(pair[0].hole != pair[1].hole, "neighbours differ");
        }
        for extent in extents {
            let part = &plain[at..][..extent.length as usize];
            prop_assert!(!extent.hole || part.iter().all(|&byte| byte == 0), "a hole is zero");
            let mut read = vec![0; part.len()];
            prop_assert!(contents.read(at as u64, &mut read)? || extent.hole);
            at += part.len();
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        #[test]
        fn memory_holds_what_a_plain_array_holds(steps in steps()) {
            holds(Contents::Memory(Memory::new(u64::MAX)), steps)?;
        }

        #[test]
        fn what_is_written_over_a_file_is_held_rolled_back_and_committed(
            before in steps(), first in steps(), second in steps(),
        ) {
            let dir = tempfile::tempdir()?;
            let made = ContentsFile::open(&dir.path().join("contents"), 16 << 20, &Default::default());
            let made = made.map_err(|error| TestCaseError::fail(error.to_string()))?;
            let mut contents = Contents::File(made);
            let mut plain = vec![0u8; BYTES as usize];
            done(&mut contents, &mut plain, &before)?;
            let (at_first, empty) = (plain.clone(), contents.snapshot(u64::MAX));
            done(&mut contents, &mut plain, &first)?;
            let (at_second, snapshot) = (plain.clone(), contents.snapshot(u64::MAX));
            done(&mut contents, &mut plain, &second)?;
            prop_assert!(all_of(&contents)? == plain);
            contents.rollback(&snapshot);
            prop_assert!(all_of(&contents)? == at_second);
            contents.rollback(&empty);
            prop_assert!(all_of(&contents)? == at_first);
            contents.rollback(&snapshot);
            contents.commit()?;
            prop_assert!(all_of(&contents)? == at_second);
            drop(contents);
            // In the file itself.
            let again = ContentsFile::open_to_read(&dir.path().join("contents"), 16 << 20);
            let again = again.map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert!(all_of(&Contents::File(again))? == at_second);
        }

        #[test]
        fn a_file_holds_what_a_plain_array_holds(steps in steps()) {
            let dir = tempfile::tempdir()?;
            // No target is smaller.
            let made = ContentsFile::open(&dir.path().join("contents"), 16 << 20, &Default::default());
            let file = made.map_err(|error| TestCaseError::fail(error.to_string()))?;
            holds(Contents::File(file), steps)?;
        }
    }
}
