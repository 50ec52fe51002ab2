//! SLC buffers: when they are used, how fast, what empties them, and what that costs.

mod dynamic;
mod fixed;
mod refusals;

use crate::common::*;
use fourcorners_drive::config::*;
use fourcorners_drive::{Io, Lba, Nanos, Op, Ssd, Target};

const DIES: u64 = 4;

/// Blocks of every die that the user's data takes.
const USER: u64 = 50;

/// Rows of a block, and of one that holds one bit a cell instead of three.
const ROWS: u64 = 192;
const SLC_ROWS: u64 = ROWS / 3;

/// 4 KiB units of a row.
const ROW: u64 = 4;

/// Units of an SLC block on every die.
const SLC_BLOCKS: u64 = DIES * SLC_ROWS * ROW;

/// SLC blocks of a die, 1 MiB each.
const FIXED: u64 = 8;

/// Units that they hold on all dies.
const BUFFER: u64 = FIXED * SLC_BLOCKS;

/// Microseconds of a die, data in or out included.
const TRANSFER: f64 = 16_384.0 / 400.0;
const PROGRAM: f64 = 1000.0 + TRANSFER;
const SLC_PROGRAM: f64 = 200.0 + TRANSFER;
const SLC_READ: f64 = 25.0 + TRANSFER;
const FOLD: f64 = SLC_READ + PROGRAM;
const ERASE: f64 = 2000.0;

/// Milliseconds without a command before it is emptied.
const AFTER_MS: f64 = 50.0;

/// A TLC drive of four dies with pages of 16 KiB and an SLC buffer, or none.
fn profile(slc: Option<SlcBufferSection>) -> SsdConfig {
    let mut profile = ssd(Shape {
        dies: DIES as u32,
        blocks_per_die: 64,
        pages_per_block: ROWS as u32,
        effective_op: 1.0,
    });
    profile.nand.page_bytes = 16_384;
    profile.nand.program_us = 1000.0;
    profile.buffer.write_kib = 16 * 16;
    profile.slc_buffer = slc;
    profile.capacity.sectors = USER * DIES * ROWS * ROW * 8;
    profile
}

/// The fixed buffer.
fn fixed_buffer() -> SlcBufferSection {
    SlcBufferSection {
        fixed_mib: Some((FIXED * DIES) as u32),
        dynamic_mib: None,
        cell_bits: 3,
        program_us: 200.0,
        read_us: 25.0,
        when_full: WhenSlcFull::Direct,
        idle_ms: AFTER_MS,
        fold_mb_per_s: None,
    }
}

/// As much as there are free blocks for.
fn dynamic_buffer() -> SlcBufferSection {
    SlcBufferSection { fixed_mib: None, dynamic_mib: Some(1 << 20), ..fixed_buffer() }
}

/// Writes `units` in order from `first` on and waits until they are on the NAND. Returns the
/// microseconds that took.
fn write(drive: &mut Ssd, first: u64, units: u64) -> f64 {
    let began = drive.now();
    let rows = units / ROW;
    closed_loop(drive, 8, times(rows, |row| io(Op::Write, first + row * ROW, ROW as u32)));
    closed_loop(drive, 1, times(1, |_| Io::FLUSH));
    (drive.now() - began).0 as f64 / 1e3
}

/// Lets so many microseconds pass, and makes a command end them that nobody waits for.
fn pause(drive: &mut Ssd, us: f64) {
    let until = drive.now() + Nanos::from_micros(us);
    assert_eq!(drive.reap(until), Ok(None));
    closed_loop(drive, 1, times(1, |_| Io::FLUSH));
    drive.settle();
}

/// Microseconds of writing so many units to SLC blocks, or to main ones, of which the first of every die
/// is begun.
fn slc_us(units: u64) -> f64 {
    let rows = units.div_ceil(DIES * ROW);
    rows as f64 * SLC_PROGRAM + rows.div_ceil(SLC_ROWS) as f64 * ERASE
}

fn direct_us(units: u64) -> f64 {
    let rows = units.div_ceil(DIES * ROW);
    rows as f64 * PROGRAM + rows.div_ceil(ROWS) as f64 * ERASE
}

/// Within a percent, and a row or two.
fn assert_about(found: f64, expected: f64, what: &str) {
    let most = expected * 0.01 + 2.0 * SLC_PROGRAM;
    assert!((found - expected).abs() <= most, "{what}: {found} us, expected {expected}");
}

fn check(drive: &Ssd) {
    drive.check_map().unwrap_or_else(|error| panic!("{error}"));
    let c = drive.counters();
    assert_eq!(
        c.host_units + c.moved_units + c.padded_units,
        c.programmed_units + c.pending_units,
        "{c:?}"
    );
}
