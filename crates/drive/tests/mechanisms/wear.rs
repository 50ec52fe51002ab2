//! Erase counts, failing blocks and the read-only end of a virtual SSD's life.

use crate::common::*;
use fourcorners_drive::config::*;
use fourcorners_drive::{Fault, FaultCause, Io, Nanos, Op, Ssd, Tag, Target};
use proptest::prelude::*;

const SMALL: Shape = Shape { dies: 4, blocks_per_die: 64, pages_per_block: 16, effective_op: 0.15 };

/// The drive of that shape whose blocks bear `cycles`.
fn wearing(levelling: Levelling, cycles: u32) -> SsdConfig {
    let mut profile = ssd(SMALL);
    profile.wear = Some(wear(levelling, cycles));
    profile
}

fn units_of(drive: &Ssd) -> u64 {
    drive.geometry().sectors / 8
}

/// One I/O by itself: its latency, or why it failed.
fn one(drive: &mut Ssd, io: Io) -> Result<Nanos, Fault> {
    let from = drive.now();
    drive.submit(Tag(0), io);
    Ok(drive.reap(Nanos::MAX)?.expect("an I/O is in flight").at - from)
}

/// Writes single units anywhere until one is refused: why.
fn write_to_death(drive: &mut Ssd, seed: u64) -> FaultCause {
    let (mut random, units) = (Random(seed), units_of(drive));
    loop {
        if let Err(fault) = one(drive, io(Op::Write, random.below(units), 1)) {
            return fault.cause;
        }
    }
}

#[test]
fn an_erase_is_counted_when_a_block_is_opened() {
    // One die with 64 blocks of 16 units, without a section of its own.
    let mut drive = make(&ssd(Shape { dies: 1, ..SMALL }));
    assert_eq!((drive.wear().erases_max, drive.wear().erases_mean), (0, 0.0));
    closed_loop(&mut drive, 1, times(33, |i| io(Op::Write, i, 1)));
    let wear = drive.wear();
    // Units 0 to 15, 16 to 31 and 32 are in three blocks.
    assert_eq!((wear.erases_min, wear.erases_max), (0, 1));
    assert_eq!(wear.erases_mean, 3.0 / 64.0);
    let variance: f64 = 3.0 / 64.0 * (61.0 / 64.0);
    assert!((wear.erases_std - variance.sqrt()).abs() < 1e-12, "{wear:?}");
    assert_eq!((wear.endurance_used, wear.blocks_retired, wear.read_only), (None, 0, false));
}

#[test]
fn the_nand_erased_what_the_blocks_count() {
    for (pacing, waiting) in [(Pacing::Delayed, 0), (Pacing::Paced, 1)] {
        let mut profile = ssd(Shape { dies: 1, ..SMALL });
        profile.gc.pacing = pacing;
        let mut drive = make(&profile);
        let units = units_of(&drive);
        fill(&mut drive);
        let mut random = Random(5);
        let mut waited = [0; 2];
        for _ in 0..200 {
            overwrite(&mut drive, &mut random, units, units / 20);
            let counted = (drive.wear().erases_mean * 64.0) as u64;
            waited[(counted - drive.counters().blocks_erased) as usize] += 1;
        }
        // A row of one unit: no work of the only die waits for a row to be full. Only the moves of
        // a victim wait that is paced, and they begin one block at most.
        assert_eq!(waited[1] > 0, waiting > 0, "{pacing:?}: {waited:?}");
    }
}

#[test]
fn a_section_that_never_applies_changes_nothing() {
    let history = |wear: Option<WearSection>| {
        let mut profile = ssd(SMALL);
        profile.wear = wear;
        let mut drive = make(&profile);
        let units = units_of(&drive);
        fill(&mut drive);
        let latencies = overwrite(&mut drive, &mut Random(5), units, units * 6);
        (latencies, drive.counters(), drive.now())
    };
    let without = history(None);
    assert!(without == history(Some(wear(Levelling::None, 1_000_000))));
    // A choice among free blocks is another drive, if only by a little.
    assert!(without != history(Some(wear(Levelling::Dynamic, 1_000_000))));
}

#[test]
fn a_purge_does_not_make_blocks_young() {
    let mut drive = make(&wearing(Levelling::Dynamic, 1000));
    let units = units_of(&drive);
    fill(&mut drive);
    overwrite(&mut drive, &mut Random(5), units, units * 6);
    let before = drive.wear();
    drive.purge();
    assert_eq!(drive.wear(), before);
    assert!(before.erases_min > 1, "{before:?}");
    fill(&mut drive);
    assert!(drive.wear().erases_mean > before.erases_mean);
    assert_eq!(drive.wear().endurance_used, Some(drive.wear().erases_mean / 1000.0));
}

#[test]
fn a_worn_out_drive_refuses_writes_and_reads_on() {
    let mut drive = make(&wearing(Levelling::Dynamic, 30));
    let units = units_of(&drive);
    fill(&mut drive);
    assert_eq!(write_to_death(&mut drive, 3), FaultCause::WornOut);
    let worn = drive.wear();
    assert!(worn.read_only && drive.is_read_only(), "{worn:?}");
    assert!(worn.blocks_retired > 0 && worn.erases_max == 30, "{worn:?}");

    let before = drive.counters();
    for refused in [io(Op::Write, 0, 1), io(Op::Write, 0, 64), io(Op::Trim, 0, 64)] {
        let fault = one(&mut drive, refused).expect_err("read-only");
        assert_eq!((fault.io, fault.cause), (refused, FaultCause::WornOut));
    }
    assert_eq!(drive.counters(), before);
    one(&mut drive, Io::FLUSH).expect("a flush writes no more than is in the buffer");
    drive.purge();
    for unit in 0..units {
        assert!(is_mapped(&mut drive, unit), "unit {unit} is lost");
    }
    drive.check_map().unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn the_refusal_says_so() {
    assert_eq!(FaultCause::WornOut.to_string(), "the drive is worn out and read-only");
}

#[test]
fn blocks_fail_one_after_the_other_and_the_spare_shrinks_with_each() {
    let mut profile = wearing(Levelling::Dynamic, 60);
    let section = profile.wear.as_mut().expect("just given");
    section.endurance_sigma_percent = 15.0;
    let mut drive = make(&profile);
    let units = units_of(&drive);
    let (nameplate, per_block) = (drive.nameplate_op(), 16.0 / units as f64);
    let fresh = drive.effective_op();
    fill(&mut drive);
    let mut random = Random(8);
    let mut counts = vec![0];
    while !drive.is_read_only() {
        // The last one may be refused.
        let _ = one(&mut drive, io(Op::Write, random.below(units), 1));
        let retired = drive.wear().blocks_retired;
        if counts.last() != Some(&retired) {
            counts.push(retired);
        }
        let spare = fresh - f64::from(retired) * per_block;
        assert!((drive.effective_op() - spare).abs() < 1e-9, "{retired} blocks have failed");
    }
    assert_eq!(drive.nameplate_op(), nameplate);
    // Four dies of 64 blocks with 15 % spare can lose a few each.
    assert!(counts.len() > 10, "{counts:?}");
}

#[test]
fn the_endurance_of_blocks_is_drawn_from_the_seed() {
    let life = |seed, sigma| {
        let mut profile = wearing(Levelling::Dynamic, 40);
        let section = profile.wear.as_mut().expect("just given");
        section.endurance_sigma_percent = sigma;
        section.seed = seed;
        let mut drive = make(&profile);
        fill(&mut drive);
        write_to_death(&mut drive, 1);
        drive.counters().host_units
    };
    assert_eq!(life(1, 10.0), life(1, 10.0));
    assert_ne!(life(1, 10.0), life(2, 10.0));
    assert_eq!(life(1, 0.0), life(2, 0.0));
    assert!(life(1, 10.0) < life(1, 0.0), "the weakest blocks end it");
}

#[test]
fn a_purge_of_worn_blocks_can_be_the_end() {
    let mut drive = make(&wearing(Levelling::None, 1));
    // Every block is written its only time, and purged with nothing in it any more.
    fill(&mut drive);
    assert!(!drive.is_read_only());
    drive.purge();
    assert!(drive.is_read_only());
    let fault = one(&mut drive, io(Op::Write, 0, 1)).expect_err("read-only");
    assert_eq!(fault.cause, FaultCause::WornOut);
    assert_eq!(one(&mut drive, io(Op::Read, 0, 1)).expect("reads go on"), Nanos(6827));
    drive.check_map().unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn nonsense_is_refused_by_key_value_and_range() {
    let refused = |change: fn(&mut WearSection)| {
        let mut profile = wearing(Levelling::Static, 3000);
        change(profile.wear.as_mut().expect("just given"));
        profile.check().expect_err("it makes no drive").to_string()
    };
    assert_eq!(
        refused(|wear| wear.endurance_cycles = 0),
        "wear.endurance_cycles = 0 is not possible: it must be 1 to 10000000"
    );
    assert_eq!(
        refused(|wear| wear.endurance_sigma_percent = f64::NAN),
        "wear.endurance_sigma_percent = NaN is not possible: it must be 0 to 25"
    );
    assert!(refused(|wear| wear.endurance_sigma_percent = -1.0).contains("-1 is not"));
    assert!(refused(|wear| wear.threshold_cycles = 0).contains("wear.threshold_cycles = 0"));
    assert!(refused(|wear| wear.interval_blocks = 0).contains("wear.interval_blocks = 0"));
}

fn any_levelling() -> impl Strategy<Value = Levelling> {
    prop_oneof![Just(Levelling::None), Just(Levelling::Dynamic), Just(Levelling::Static)]
}

fn any_policy() -> impl Strategy<Value = VictimPolicy> {
    use VictimPolicy::*;
    prop_oneof![Just(Greedy), Just(Fifo), Just(CostBenefit), Just(DChoices), Just(Random)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever wears it out, every I/O is answered, and what was written and not trimmed is there.
    #[test]
    fn small_drives_wear_out_without_losing_a_unit(
        dies in 1u32..4, planes in 1u32..3, blocks in 16u32..40, pages_per_block in 2u32..24,
        delayed: bool, start_free in 1u32..4, policy in any_policy(), levelling in any_levelling(),
        cycles in 1u32..12, sigma in 0.0..25.0, threshold in 1u32..5, interval in 1u32..12,
        hot_percent in 5u64..=100, streams: bool, idle: bool, seed: u64,
    ) {
        let mut profile = ssd(Shape {
            dies, blocks_per_die: blocks, pages_per_block, effective_op: 0.12,
        });
        profile.nand.planes = planes;
        profile.capacity.sectors *= u64::from(planes);
        profile.gc.policy = policy;
        profile.gc.start_free_blocks = start_free;
        profile.capacity.sectors = profile.capacity.sectors * 3 / 4 / 8 * 8;
        if delayed {
            profile.gc.pacing = Pacing::Delayed;
        }
        let mut section = wear(levelling, cycles);
        section.endurance_sigma_percent = sigma;
        section.threshold_cycles = threshold;
        section.interval_blocks = interval;
        section.seed = seed;
        profile.wear = Some(section);
        if streams {
            profile.streams = Some(crate::common::streams());
        }
        if idle {
            profile.gc.idle_ms = Some(1.0);
            profile.gc.idle_free_blocks = Some(start_free + 3);
        }
        prop_assume!(profile.check().is_ok());

        let mut drive = make(&profile);
        let units = units_of(&drive);
        let span = (units * hot_percent / 100).max(1);
        let mut random = Random(seed);
        let mut holds = vec![false; units as usize];
        let mut refused = 0;
        for step in 0.. {
            let (first, most) = match step < units {
                true => (step, 1),
                false => (random.below(span), 8),
            };
            let count = (1 + random.below(most)).min(units - first) as u32;
            let op = match random.below(40) {
                0 if step >= units => Op::Trim,
                1 if step >= units => Op::Flush,
                _ => Op::Write,
            };
            let asked = if op == Op::Flush { Io::FLUSH } else { io(op, first, count) };
            let touched = first as usize..(first + u64::from(count)) as usize;
            match one(&mut drive, asked) {
                Ok(_) if op == Op::Flush => {}
                Ok(_) => holds[touched].fill(op == Op::Write),
                Err(fault) => {
                    prop_assert_eq!(fault.cause, FaultCause::WornOut);
                    prop_assert!(drive.is_read_only());
                    // Of a command that was cut off, what had no data may have some now.
                    for unit in touched.filter(|_| refused == 0 && op == Op::Write) {
                        holds[unit] |= is_mapped(&mut drive, unit as u64);
                    }
                    refused += 1;
                }
            }
            if refused > 20 {
                break;
            }
        }
        drive.check_map().map_err(|wrong| TestCaseError::fail(wrong.to_string()))?;
        let count = drive.counters();
        prop_assert_eq!(
            count.host_units + count.moved_units + count.padded_units,
            count.programmed_units + count.pending_units
        );
        // Of the command that was cut off, what had a place counts.
        prop_assert_eq!(count.host_units * 8, count.host_sectors + count.rmw_sectors);
        for unit in 0..units {
            prop_assert_eq!(is_mapped(&mut drive, unit), holds[unit as usize], "unit {}", unit);
        }
    }
}

/// Whether a read of the unit comes from the NAND. Ten seconds and a flush before, so that it does
/// not come from the buffer.
fn is_mapped(drive: &mut Ssd, unit: u64) -> bool {
    one(drive, Io::FLUSH).expect("a flush is never refused");
    drive.reap(Nanos(drive.now().0 + 10_000_000_000)).expect("nothing in flight, nothing to fail");
    let latency = one(drive, io(Op::Read, unit, 1)).expect("reads go on");
    latency >= Nanos::from_micros(50.0)
}
