//! The NAND's times against closed forms: kinds of pages, cache registers, suspension.

mod cache_registers;
mod laws;
mod page_kinds;
mod refusals;
mod rest_of_a_row;
mod suspension;
mod where_it_lies;

use crate::common::{closed_loop, io, ssd, times};
use fourcorners_drive::config::*;
use fourcorners_drive::{Io, Nanos, Op, Ssd, Target};

/// A drive of one die and one plane where only the NAND takes time; a 4 KiB page crosses the
/// channel in 10.24 us and the link in `LINK`.
fn lone_die(pages_per_block: u32) -> SsdConfig {
    ssd(crate::common::Shape { dies: 1, blocks_per_die: 64, pages_per_block, effective_op: 0.15 })
}

/// 4 KiB over that link, 600 MB/s.
const LINK: Nanos = Nanos(6827);

/// 4 KiB over a channel.
const TRANSFER: Nanos = Nanos(10_240);

fn cells(kind: CellKind, order: PageOrder) -> NandCellsSection {
    NandCellsSection { kind, order, ..NandCellsSection::default() }
}

fn mlc(upper_program_ratio: f64) -> NandCellsSection {
    NandCellsSection {
        upper_program_ratio: Some(upper_program_ratio),
        ..cells(CellKind::Mlc, PageOrder::Shadow)
    }
}

/// TLC with the times of the SimpleSSD paper, as FEMU quotes them: reads of 56.5, 77.5 and 106 us,
/// programs of 820.5, 2225 and 5734 us.
fn set_tlc(profile: &mut SsdConfig) {
    profile.nand.read_us = 80.0;
    profile.nand.program_us = 2926.5;
    profile.nand_cells = Some(NandCellsSection {
        middle_program_ratio: Some(2225.0 / 820.5),
        upper_program_ratio: Some(5734.0 / 820.5),
        middle_read_ratio: Some(77.5 / 56.5),
        upper_read_ratio: Some(106.0 / 56.5),
        ..cells(CellKind::Tlc, PageOrder::Shadow)
    });
}

fn us(micros: f64) -> Nanos {
    Nanos::from_micros(micros)
}

/// Does one command; returns how long it took.
fn one(drive: &mut Ssd, command: Io) -> Nanos {
    closed_loop(drive, 1, times(1, |_| command))[0]
}

/// Lets the drive finish all it has to do.
fn idle(drive: &mut Ssd) {
    let later = drive.now() + Nanos::from_secs(100);
    drive.reap(later).expect("nothing in flight, nothing to fail");
}

/// Writes the first `units` units in order, 4 KiB a command.
fn write_in_order(drive: &mut Ssd, units: u64) {
    closed_loop(drive, 32, times(units, |unit| io(Op::Write, unit, 1)));
}

/// Whether two times are the same but for rounding parts to nanoseconds.
fn assert_near(measured: Nanos, expected: Nanos, slack_ns: u64) {
    let apart = measured.0.abs_diff(expected.0);
    assert!(apart <= slack_ns, "{} ns, expected {} ns", measured.0, expected.0);
}
