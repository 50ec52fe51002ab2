//! The virtual SSD against what must hold of any SSD, and against closed forms.

use crate::common::*;
use fourcorners_drive::config::{Pacing, VictimPolicy};
use fourcorners_drive::{FaultCause, Io, Lba, Nanos, Op, Tag, Target};
use proptest::prelude::*;

const SMALL: Shape = Shape { dies: 4, blocks_per_die: 64, pages_per_block: 16, effective_op: 0.15 };

/// Write amplification of uniform random overwrites, after `warm_up` drive writes.
fn steady_write_amplification(shape: Shape, warm_up: u64) -> f64 {
    let mut drive = make(&ssd(shape));
    let units = drive.geometry().sectors / 8;
    let mut random = Random(42);
    fill(&mut drive);
    overwrite(&mut drive, &mut random, units, units * warm_up);
    let before = drive.counters();
    overwrite(&mut drive, &mut random, units, units * 2);
    drive.counters().write_amplification_since(&before).expect("the host wrote")
}

#[test]
fn spreading_over_dies_costs_no_write_amplification() {
    let one = Shape { dies: 1, blocks_per_die: 1024, pages_per_block: 64, effective_op: 0.15 };
    let eight = Shape { dies: 8, blocks_per_die: 1024, ..one };
    let (one, eight) = (steady_write_amplification(one, 6), steady_write_amplification(eight, 6));
    assert!((eight / one - 1.0).abs() < 0.015, "{one:.3} on one die, {eight:.3} on eight");
}

#[test]
fn sequential_overwrites_move_nothing() {
    let mut drive = make(&ssd(SMALL));
    (0..5).for_each(|_| fill(&mut drive));
    let counters = drive.counters();
    // The last rows of a pass and the first of the next share blocks; nothing else is ever mixed.
    let share = counters.moved_units as f64 / counters.host_units as f64;
    assert!(share < 0.02, "{share}");
}

#[test]
fn delayed_collection_stalls_longer_than_paced() {
    let longest = |pacing| {
        let mut profile = ssd(Shape { blocks_per_die: 128, pages_per_block: 256, ..SMALL });
        profile.gc.pacing = pacing;
        let mut drive = make(&profile);
        let units = drive.geometry().sectors / 8;
        fill(&mut drive);
        let latencies = overwrite(&mut drive, &mut Random(5), units, units * 3);
        latencies.into_iter().max().expect("there were writes")
    };
    let (paced, delayed) = (longest(Pacing::Paced), longest(Pacing::Delayed));
    assert!(delayed.0 > 3 * paced.0, "paced {paced}, delayed {delayed}");
}

#[test]
fn a_lone_read_takes_the_sum_of_its_parts() {
    let mut profile = ssd(SMALL);
    profile.host.command_us = 10.0;
    profile.link = sata(6.0, 1.0, 0.5);
    profile.controller.read_command_us = 20.0;
    profile.controller.read_4k_us = 2.0;
    let mut drive = make(&profile);
    fill(&mut drive);
    drive.reap(Nanos::from_secs(100)).expect("nothing in flight, nothing to fail");
    let latency = closed_loop(&mut drive, 1, times(1, |_| io(Op::Read, 7, 1)))[0];
    // host 10 + controller 20 + 2 + tR 50 + 4096 B at 400 MB/s 10.24 + link 1 + 0.5 + 6.827.
    assert!(latency.0.abs_diff(100_567) <= 2, "{latency:?}");
}

#[test]
fn a_read_of_what_was_never_written_touches_no_nand() {
    let mut drive = make(&ssd(SMALL));
    let latency = closed_loop(&mut drive, 1, times(1, |_| io(Op::Read, 7, 1)))[0];
    assert_eq!(latency, Nanos(6827));
}

#[test]
fn a_read_of_what_is_still_in_the_buffer_touches_no_nand() {
    let mut drive = make(&ssd(SMALL));
    closed_loop(&mut drive, 1, times(1, |_| io(Op::Write, 7, 1)));
    let latency = closed_loop(&mut drive, 1, times(1, |_| io(Op::Read, 7, 1)))[0];
    assert_eq!(latency, Nanos(6827));
}

#[test]
fn a_4_kib_read_costs_the_whole_page() {
    let latency = |page_bytes| {
        let mut profile = ssd(SMALL);
        profile.nand.page_bytes = page_bytes;
        profile.nand.pages_per_block = 16 * 4096 / page_bytes;
        let mut drive = make(&profile);
        fill(&mut drive);
        drive.reap(Nanos::from_secs(100)).expect("nothing in flight, nothing to fail");
        closed_loop(&mut drive, 1, times(1, |_| io(Op::Read, 7, 1)))[0]
    };
    // 4096 bytes more at 400 MB/s are 10.24 us more.
    assert_eq!(latency(8192) - latency(4096), Nanos(10_240));
    assert_eq!(latency(16_384) - latency(8192), Nanos(20_480));
}

#[test]
fn reads_pass_waiting_programs_but_not_the_one_in_progress() {
    let mut drive = make(&ssd(Shape { dies: 1, ..SMALL }));
    fill(&mut drive);
    drive.reap(Nanos::from_secs(100)).expect("nothing in flight, nothing to fail");
    // Ten programs wait on the only die; a read of older data waits for one at most.
    closed_loop(&mut drive, 10, times(10, |i| io(Op::Write, i, 1)));
    let latency = closed_loop(&mut drive, 1, times(1, |_| io(Op::Read, 500, 1)))[0];
    assert!(latency < Nanos::from_micros(500.0 + 50.0 + 10.24 + 6.9), "{latency}");
}

#[test]
fn a_flush_waits_for_the_nand_unless_power_loss_is_covered() {
    let latency = |covered| {
        let mut profile = ssd(SMALL);
        profile.buffer.power_loss_protected = covered;
        let mut drive = make(&profile);
        closed_loop(&mut drive, 1, times(1, |_| io(Op::Write, 7, 1)));
        closed_loop(&mut drive, 1, times(1, |_| Io::FLUSH))[0]
    };
    assert!(latency(false) >= Nanos::from_micros(500.0));
    assert_eq!(latency(true), Nanos(0));
}

#[test]
fn trim_gives_the_space_back() {
    let mut drive = make(&ssd(SMALL));
    let units = drive.geometry().sectors / 8;
    let mut random = Random(3);
    fill(&mut drive);
    overwrite(&mut drive, &mut random, units, units * 3);
    let moved_by = |drive: &mut fourcorners_drive::Ssd, random: &mut Random| {
        let before = drive.counters();
        overwrite(drive, random, units / 2, units);
        drive.counters().write_amplification_since(&before).expect("the host wrote")
    };
    let full = moved_by(&mut drive, &mut random);
    closed_loop(&mut drive, 1, times(1, |_| io(Op::Trim, units / 2, (units - units / 2) as u32)));
    let trimmed = moved_by(&mut drive, &mut random);
    assert!(trimmed < 1.15 && full > 2.0, "{full:.2} before TRIM, {trimmed:.2} after");
}

#[test]
fn purge_makes_it_new_but_for_its_history() {
    let mut drive = make(&ssd(SMALL));
    let units = drive.geometry().sectors / 8;
    fill(&mut drive);
    overwrite(&mut drive, &mut Random(3), units, units * 3);
    let history = drive.counters().host_units;
    drive.purge();
    assert_eq!(closed_loop(&mut drive, 1, times(1, |_| io(Op::Read, 7, 1)))[0], Nanos(6827));
    let before = drive.counters();
    fill(&mut drive);
    assert_eq!(drive.counters().write_amplification_since(&before), Some(1.0));
    assert_eq!(drive.counters().host_units, history + units);
}

#[test]
fn a_drive_without_trim_says_so() {
    let mut profile = ssd(SMALL);
    profile.trim.supported = false;
    let mut drive = make(&profile);
    drive.submit(Tag(5), io(Op::Trim, 0, 8));
    let fault = drive.reap(Nanos::MAX).expect_err("not supported");
    assert_eq!((fault.tag, fault.cause), (Tag(5), FaultCause::Unsupported));
}

/// Any I/O a host could think of, within the drive or not.
fn any_io(sectors: u64) -> impl Strategy<Value = Io> {
    let op = prop_oneof![2 => Just(Op::Read), 6 => Just(Op::Write), 1 => Just(Op::Trim), 1 => Just(Op::Flush)];
    (op, 0..sectors + 64, 0u32..600, any::<bool>()).prop_map(|(op, lba, sectors, fua)| Io {
        op,
        lba: Lba(lba),
        sectors,
        compressible_percent: 0,
        fua,
    })
}

fn any_policy() -> impl Strategy<Value = VictimPolicy> {
    use VictimPolicy::*;
    prop_oneof![Just(Greedy), Just(Fifo), Just(CostBenefit), Just(DChoices), Just(Random)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn whatever_is_asked_is_answered_once_and_every_page_is_accounted_for(
        dies in 1u32..6, planes in 1u32..4, pages_in_4k in 1u32..5, blocks in 16u32..40,
        pages_per_block in 2u32..40, delayed: bool, coalesces: bool, policy in any_policy(),
        ios in prop::collection::vec(any_io(2000), 1..400),
    ) {
        let mut profile = ssd(Shape {
            dies, blocks_per_die: blocks, pages_per_block, effective_op: 0.12,
        });
        profile.nand.planes = planes;
        profile.nand.page_bytes = pages_in_4k * 4096;
        profile.buffer.write_kib = 256;
        profile.capacity.sectors *= u64::from(planes * pages_in_4k);
        profile.gc.policy = policy;
        if delayed {
            profile.gc.pacing = Pacing::Delayed;
        }
        profile.buffer.coalesce = Some(coalesces);
        let mut drive = make(&profile);
        let sectors = drive.geometry().sectors;
        let (mut asked, mut answered) = (0, 0);
        for round in 0..8u64 {
            for (i, io) in ios.iter().enumerate() {
                // Eight rounds at other places overwrite the small drive many times.
                let lba = Lba((io.lba.0 + round * 997 + i as u64 * 131) % (sectors + 8));
                drive.submit(Tag(i as u32 % 32), Io { lba, ..*io });
                asked += 1;
                if i % 32 == 31 {
                    answered += drain(&mut drive).map_err(TestCaseError::fail)?;
                }
            }
            answered += drain(&mut drive).map_err(TestCaseError::fail)?;
        }
        prop_assert_eq!(asked, answered);
        let count = drive.counters();
        prop_assert_eq!(
            count.host_units - count.absorbed_units + count.moved_units + count.padded_units,
            count.programmed_units + count.pending_units
        );
        drive.check_map().map_err(|wrong| TestCaseError::fail(wrong.to_string()))?;
    }
}

#[test]
fn no_more_is_admitted_than_the_buffer_holds() {
    // Two rows of four units: one fills while one programs, whatever the queue depth, so the
    // drive writes a row a program operation.
    let rate = |depth| {
        let mut profile = ssd(Shape { dies: 8, ..SMALL });
        profile.nand.page_bytes = 16_384;
        profile.nand.pages_per_block = 4;
        profile.buffer.write_kib = 32;
        let mut drive = make(&profile);
        let units = drive.geometry().sectors / 8;
        let mut random = Random(9);
        let start = drive.now();
        closed_loop(&mut drive, depth, times(4000, |_| io(Op::Write, random.below(units / 4), 1)));
        4000.0 / (drive.now() - start).as_secs()
    };
    // A row of four units each 500 us program + 40.96 us transfer (and now and then an erase).
    let expected = 4.0 / 540.96e-6;
    for depth in [1, 3, 32] {
        let measured = rate(depth);
        assert!(measured < expected * 1.01, "QD {depth}: {measured:.0} of {expected:.0} writes/s");
        assert!(measured > expected * 0.5, "QD {depth}: {measured:.0} of {expected:.0} writes/s");
    }
}

#[test]
fn a_buffer_of_less_than_two_rows_is_refused() {
    let mut profile = ssd(SMALL);
    profile.nand.planes = 4;
    profile.capacity.sectors *= 4;
    profile.buffer.write_kib = 31;
    let error = profile.check().expect_err("a row is 16 KiB");
    assert!(error.to_string().starts_with("buffer.write_kib = 31 is not possible: it must be 32"));
}

#[test]
fn more_nand_than_can_be_counted_is_refused() {
    let mut profile = ssd(SMALL);
    profile.nand.dies = 4096;
    profile.nand.planes = 16;
    profile.nand.page_bytes = 65_536;
    profile.nand.pages_per_block = 65_281;
    profile.nand.blocks_per_plane = 65_792;
    profile.buffer.write_kib = 1 << 22;
    assert!(profile.check().is_err());
}
