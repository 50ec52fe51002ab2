//! Drives that compress: how much is stored, what that does to spare, write amplification and
//! speed, what parity costs, and what is refused.

mod laws;
mod refusals;
mod spare;
mod speed;

use crate::common::*;
use fourcorners_drive::config::*;
use fourcorners_drive::{Io, Op, Ssd, Target};

/// Stores in so many bytes, all that compresses, and nothing besides.
fn compression(granule_bytes: u32) -> CompressionSection {
    CompressionSection {
        granule_bytes,
        least_stored_percent: 1,
        overhead_bytes: 0,
        parity_rows: None,
        store_4k_us: None,
    }
}

/// A write of 4 KiB units of which compression removes so much.
fn write(unit: u64, units: u32, compressible_percent: u8) -> Io {
    Io { compressible_percent, ..io(Op::Write, unit, units) }
}

/// Writes all of the drive in order, 128 KiB a command.
fn fill_with(drive: &mut Ssd, compressible_percent: u8) {
    let units = drive.geometry().sectors / 8;
    let piece = |i: u64| write(i * 32, (units - i * 32).min(32) as u32, compressible_percent);
    closed_loop(drive, 32, times(units.div_ceil(32), piece));
}

/// Writes `count` single units anywhere.
fn overwrite_with(drive: &mut Ssd, random: &mut Random, count: u64, compressible_percent: u8) {
    let units = drive.geometry().sectors / 8;
    closed_loop(drive, 32, times(count, |_| write(random.below(units), 1, compressible_percent)));
}
