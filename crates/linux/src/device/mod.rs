//! What a real drive tells and takes beside reads and writes: its health, commands that erase all of
//! it, and what the machine draws meanwhile.
//!
//! The kernel has no files for most of that, and commands of one's own to a drive want code that has
//! seen many drives: it is left to smartctl, nvme-cli and hdparm where they are installed. Nothing
//! here is needed for a measurement; what is missing is said with its reason.

mod disk_counters;
mod erase;
mod health;
mod hwmon;
mod meter;
mod smartctl;
mod tool;

pub use disk_counters::DiskCounters;
pub use erase::{Erase, EraseWith};
pub use health::{notes, read};
pub use meter::{Meter, MeterReading};
