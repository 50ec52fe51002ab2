//! Who asks a drive what is on the NAND.

use super::Ssd;
use super::persistence::{Persisted, RowProgram};
use crate::Lba;

impl Ssd {
    /// From now on [`Ssd::persisted`] tells when what is written is on the NAND. Times stay as they are, to the
    /// nanosecond; the drive is simulated a little more slowly. Nothing may be in flight.
    pub fn track_persistence(&mut self) {
        self.persistence = Some(Box::default());
        self.leave_the_short_way();
    }

    /// Sectors of a unit of the map, the least that is on the NAND or not.
    pub fn unit_sectors(&self) -> u32 {
        self.grain.unit_sectors()
    }

    /// Whether what was answered is safe, because capacitors keep the drive alive until it is on the NAND.
    pub fn is_power_loss_protected(&self) -> bool {
        self.power_loss_protected
    }

    /// What has got its time since this was asked last, in no order. Until a unit is told of, it is in a row
    /// that nobody has ordered to be programmed, and only the write buffer has it.
    pub fn persisted(&mut self) -> impl Iterator<Item = Persisted> + use<> {
        let told = self.persistence.as_mut().map(|tracked| tracked.take_told());
        let (unit_sectors, end) = (u64::from(self.grain.unit_sectors()), self.geometry.sectors);
        told.unwrap_or_default().into_iter().map(move |(unit, write, at, program)| {
            let first = u64::from(unit) * unit_sectors;
            let sectors = unit_sectors.min(end - first) as u32;
            Persisted { write, lba: Lba(first), sectors, at, program }
        })
    }

    /// The rows that were programmed with the host's data since this was asked last, in the order of their numbers, from 0
    /// at [`Ssd::track_persistence`].
    pub fn row_programs(&mut self) -> Vec<RowProgram> {
        self.persistence.as_mut().map(|tracked| tracked.take_rows()).unwrap_or_default()
    }
}
