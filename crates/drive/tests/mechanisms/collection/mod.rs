//! Collection at other times than when space is short: while idle, and while the host writes in
//! order. And streams, by what holds of any drive.

mod batched;
mod idle;
mod laws;
mod refusals;
mod sequential;

use crate::common::{Random, closed_loop, fill, io, make, overwrite, set_effective_op, ssd, times};
use fourcorners_drive::config::{Pacing, SsdConfig};
use fourcorners_drive::{Nanos, Op, Ssd, Target};

const DIES: u32 = 4;
const PAGES: u32 = 64;

/// Units of a block on every die.
const BLOCKS_OF_ALL: u64 = (DIES * PAGES) as u64;

/// 4 dies of 400 blocks: 2 are kept free, and the open ones take another.
fn profile() -> SsdConfig {
    let shape = crate::common::Shape {
        dies: DIES,
        blocks_per_die: 400,
        pages_per_block: PAGES,
        effective_op: 0.12,
    };
    ssd(shape)
}

/// Filled, and overwritten at random until that makes no difference.
fn tortured(profile: &SsdConfig, random: &mut Random) -> Ssd {
    let mut drive = make(profile);
    fill(&mut drive);
    let units = drive.geometry().sectors / 8;
    overwrite(&mut drive, random, units, units * 6);
    drive
}

/// Microseconds that `count` units written at random take, each.
fn random_write_us(drive: &mut Ssd, random: &mut Random, count: u64) -> f64 {
    let (units, from) = (drive.geometry().sectors / 8, drive.now());
    overwrite(drive, random, units, count);
    (drive.now() - from).0 as f64 / 1e3 / count as f64
}

/// The same on a drive that has never anything to collect: programs with their transfers, an erase a
/// block.
fn fresh_us(profile: &SsdConfig) -> f64 {
    let nand = &profile.nand;
    let transfer_us = 4096.0 / nand.bus_mb_per_s;
    let row_us = nand.program_us + transfer_us + nand.erase_us / f64::from(PAGES);
    row_us / f64::from(DIES)
}

/// Lets time pass with nothing asked.
fn pause(drive: &mut Ssd, time: Nanos) {
    let until = drive.now() + time;
    assert_eq!(drive.reap(until), Ok(None));
    assert_eq!(drive.now(), until);
}
