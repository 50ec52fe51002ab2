//! Power cuts: what is left of a recording when a drive loses its power.
//!
//! A [`History`] is a recording played on a drive: what was asked and answered when, and since when each written unit is on
//! the NAND. A cut is a moment of it and a [`Class`] of how drives lose data; [`Cut`] says which writes are left. The same history,
//! moment, class and seed give the same cut, and with a log of the data the same [`Image`], to the bit.
//!
//! Whoever asked may rely on a write when a flush that was asked for after its answer was answered, when it was forced
//! (force unit access) and answered, or, on a drive with capacitors, when it was answered. That is a write's promise, and a cut
//! is judged by it. Once a TRIM is answered nobody relies on what was there before, also where the cut undoes the TRIM.

mod bits;
mod cut;
mod history;
mod image;
mod ledger;
#[cfg(test)]
mod live_tests;
#[cfg(test)]
mod tests;

use fourcorners_drive::{Persisted, RowProgram, Ssd, Target};

pub use bits::Flip;
pub use cut::{Class, Cut, Left, UnknownClass};
pub use history::{Event, Flushes, History, PlayError, Unit};
pub use image::{Image, ImageError, Images};
pub(crate) use ledger::{Ledger, LedgerEvent};

/// A drive that tells what of its writes is on the NAND.
pub trait Persisting: Target {
    /// Begins to tell.
    fn track(&mut self);

    /// What was told since this was asked last.
    fn told(&mut self) -> impl Iterator<Item = Persisted> + use<Self>;

    /// The rows that were programmed since this was asked last.
    fn programs(&mut self) -> Vec<RowProgram>;

    /// Sectors of a unit, the least that is kept or lost.
    fn unit_sectors(&self) -> u32;

    /// Whether what was answered is kept, by capacitors.
    fn is_protected(&self) -> bool;
}

impl Persisting for Ssd {
    fn track(&mut self) {
        self.track_persistence();
    }

    fn told(&mut self) -> impl Iterator<Item = Persisted> + use<> {
        self.persisted()
    }

    fn programs(&mut self) -> Vec<RowProgram> {
        self.row_programs()
    }

    fn unit_sectors(&self) -> u32 {
        Ssd::unit_sectors(self)
    }

    fn is_protected(&self) -> bool {
        self.is_power_loss_protected()
    }
}
