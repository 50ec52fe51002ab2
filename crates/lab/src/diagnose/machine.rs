//! The machine that reads a real drive: what a read takes that has no drive behind it.

use fourcorners_drive::{Io, Lba, SECTOR_BYTES};
use fourcorners_linux::{Setup, Uring, UringError};

use super::probe::{Stopped, UNIT, alone};

/// Bytes of memory that are read; more than a processor's cache nearby, and little of any machine.
const BYTES: u64 = 16 << 20;

/// Memory of the machine, read as a real drive is.
pub(super) struct MachineMemory(Uring);

impl MachineMemory {
    pub(super) fn new() -> Result<MachineMemory, UringError> {
        let setup = Setup { queue_depth: 1, max_block_bytes: UNIT as u32 };
        Ok(MachineMemory(Uring::memory(BYTES, setup)?))
    }

    /// A read of a unit of it, chosen by a number by chance: its place, bytes, and how long it took, microseconds.
    pub(super) fn read(&mut self, chance: u64) -> Result<[f64; 2], Stopped> {
        let place = chance % (BYTES / UNIT) * UNIT;
        let io = Io::read(Lba(place / SECTOR_BYTES), (UNIT / SECTOR_BYTES) as u32);
        Ok([place as f64, alone(&mut self.0, io)?.as_micros()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_of_memory_are_timed_wherever_chance_puts_them() {
        let mut memory = MachineMemory::new().expect("tests need io_uring");
        for chance in [0, 1, BYTES / UNIT - 1, BYTES / UNIT, u64::MAX] {
            let [place, us] = memory.read(chance).expect("memory can be read");
            assert!((place as u64).is_multiple_of(UNIT) && place < BYTES as f64, "{place}");
            assert!(us > 0.0, "{us} us");
        }
    }
}
