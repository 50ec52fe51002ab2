//! Log-block maps: the laws of any translation layer, closed forms of write amplification, merges
//! and their times by hand, and a drive of 2009.

mod amplification;
mod indilinx;
mod laws;
mod merges;
mod refusals;

use crate::common::{Random, closed_loop, fill, io, make, sata, times};
use fourcorners_drive::config::{LogBlocksSection, LogReplacement, SsdConfig};
use fourcorners_drive::{Op, Ssd};

/// Fully associative.
const FULL: u32 = u32::MAX;

/// A drive with a log-block map, with one plane and pages of 4 KiB.
#[derive(Clone, Copy, Debug)]
struct Shape {
    dies: u32,
    stripe_dies: u32,
    pages_per_block: u32,
    /// Logical blocks, all of them whole.
    logical_blocks: u32,
    logs: u32,
    associativity: u32,
    sequential: bool,
}

/// One die with blocks of 64 units.
const ONE_DIE: Shape = Shape {
    dies: 1,
    stripe_dies: 1,
    pages_per_block: 64,
    logical_blocks: 100,
    logs: 1,
    associativity: 1,
    sequential: true,
};

fn section(shape: Shape) -> LogBlocksSection {
    LogBlocksSection {
        count: shape.logs,
        associativity: shape.associativity,
        stripe_dies: shape.stripe_dies,
        replacement: LogReplacement::Oldest,
        sequential: shape.sequential,
    }
}

fn profile(shape: Shape) -> SsdConfig {
    let groups = shape.dies / shape.stripe_dies;
    let mut profile = crate::common::ssd(crate::common::Shape {
        dies: shape.dies,
        blocks_per_die: (shape.logical_blocks + shape.logs + 1).div_ceil(groups).max(8),
        pages_per_block: shape.pages_per_block,
        effective_op: 0.15,
    });
    let units = shape.logical_blocks * shape.pages_per_block * shape.stripe_dies;
    profile.capacity.sectors = u64::from(units) * 8;
    profile.log_blocks = Some(section(shape));
    profile
}

/// Writes single units, one after the other.
fn write_units(drive: &mut Ssd, units: &[u64]) {
    let mut units = units.iter();
    closed_loop(drive, 1, || units.next().map(|&unit| io(Op::Write, unit, 1)));
}

/// A drive that was filled once, in order.
fn filled(shape: Shape) -> Ssd {
    let mut drive = make(&profile(shape));
    fill(&mut drive);
    drive
}

/// Steady write amplification of single units written anywhere in the first `span` logical blocks
/// of a full drive.
fn random_write_amplification(shape: Shape, span: u32) -> f64 {
    let mut drive = filled(shape);
    let units = u64::from(shape.pages_per_block * shape.stripe_dies);
    let mut random = Random(7);
    let mut write = |drive: &mut Ssd, count| {
        let span = units * u64::from(span);
        closed_loop(drive, 8, times(count, |_| io(Op::Write, random.below(span), 1)));
    };
    // Enough for every log block to have been merged many times.
    let log = units * u64::from(shape.logs);
    write(&mut drive, log * 20);
    let before = drive.counters();
    write(&mut drive, (log * 200).max(20_000));
    drive.check_map().unwrap_or_else(|error| panic!("{error}"));
    drive.counters().write_amplification_since(&before).expect("the host wrote")
}
