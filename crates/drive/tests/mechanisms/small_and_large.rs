//! Writes smaller than a unit of the map, joined or not, and I/Os larger than a command can move.

use crate::common::{Shape, closed_loop, io, make, set_effective_op, ssd, times};
use fourcorners_drive::config::SsdConfig;
use fourcorners_drive::{Io, Lba, Nanos, Op, Ssd};

const UNITS: u64 = 256;

fn profile(join: Option<bool>) -> SsdConfig {
    let shape = Shape { dies: 4, blocks_per_die: 64, pages_per_block: 16, effective_op: 0.2 };
    let mut profile = ssd(shape);
    // Rows of 32 KiB.
    profile.nand.planes = 8;
    profile.buffer.write_kib = 4096;
    set_effective_op(&mut profile, 0.2);
    profile.buffer.join = join;
    profile
}

/// A drive whose first units are on the NAND.
fn written(profile: &SsdConfig) -> Ssd {
    let mut drive = make(profile);
    closed_loop(&mut drive, 1, times(UNITS, |unit| io(Op::Write, unit, 1)));
    drive.settle();
    drive
}

/// Writes of so many sectors, one at a time and each where `place` says; the mean latency, and what was programmed.
fn writes(drive: &mut Ssd, sectors: u32, count: u64, place: impl Fn(u64) -> u64) -> (f64, u64) {
    let before = drive.counters();
    let command = |number| Io::write(Lba(place(number)), sectors);
    let latencies = closed_loop(drive, 1, times(count, command));
    drive.check_map().unwrap_or_else(|error| panic!("{error}"));
    let after = drive.counters();
    let placed = |it: &fourcorners_drive::SsdCounters| it.host_units - it.absorbed_units;
    let mean = latencies.iter().map(|it| it.0 as f64).sum::<f64>() / count as f64;
    (mean, placed(&after) - placed(&before))
}

#[test]
fn small_writes_in_order_are_one_write_a_unit_and_wait_for_nothing() {
    for (sectors, of_a_unit) in [(1, 8), (2, 4), (4, 2)] {
        let in_order = |join| {
            let mut drive = written(&profile(join));
            writes(&mut drive, sectors, 64 * of_a_unit, |number| number * u64::from(sectors))
        };
        let (joined, placed) = in_order(Some(true));
        // A unit that fills its row is programmed before all of it is there, and takes a place again.
        assert!((64..=64 + 64 / 7 + 1).contains(&placed), "{sectors} sectors: {placed}");
        let (alone, each) = in_order(None);
        assert_eq!(each, 64 * of_a_unit, "{sectors} sectors");
        assert!(joined * 1.5 < alone, "{sectors} sectors: {joined} and {alone} ns");
        assert_eq!(in_order(Some(false)), (alone, each));
    }
}

#[test]
fn small_writes_at_random_wait_for_the_rest_of_their_unit() {
    let at_random = |join, sectors| {
        let mut drive = written(&profile(join));
        writes(&mut drive, sectors, 64, |number| number * 37 % UNITS * 8)
    };
    let whole = at_random(Some(true), 8);
    let in_part = at_random(Some(true), 1);
    assert!(in_part.0 > whole.0 + 50_000.0, "{in_part:?} and {whole:?}");
    // Nothing is joined of them.
    assert_eq!(at_random(None, 1), in_part);
    // What was never written has no rest.
    let mut new = make(&profile(Some(true)));
    let (fresh, _) = writes(&mut new, 1, 64, |number| number * 37 % UNITS * 8);
    assert!(fresh < whole.0 * 1.1, "{fresh} and {whole:?}");
}

#[test]
fn an_io_is_as_many_commands_as_it_takes() {
    let latency = |op, transfer_kib| {
        let mut profile = profile(None);
        profile.capacity.transfer_kib = transfer_kib;
        profile.controller.read_command_us = 2000.0;
        profile.controller.write_command_us = 2000.0;
        let mut drive = written(&profile);
        closed_loop(&mut drive, 1, times(1, |_| io(op, 0, 128)))[0]
    };
    for op in [Op::Read, Op::Write] {
        let one = latency(op, None);
        assert_eq!(latency(op, Some(512)), one, "{op:?}: as large as a command can be");
        // The last of four commands of 128 KiB, and of eight of 64, is handled after all others.
        for (parts, kib) in [(4, 128), (8, 64)] {
            let (latency, command) = (latency(op, Some(kib)), Nanos(2_000_000 * parts));
            assert!(latency > command && latency < command + one, "{op:?}, {parts}: {latency:?}");
        }
    }
    assert!(latency(Op::Read, None) < Nanos(4_000_000));
}
