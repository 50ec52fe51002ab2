//! Wear levelling and the end of life: how far blocks differ, what levelling costs, and how much
//! can be written before the drive is worn out.

use fourcorners_drive::config::{Levelling, SsdConfig, VictimPolicy};
use fourcorners_drive::{Nanos, Op, Ssd, Tag, Target};

use crate::common::{Random, fill, io, make, overwrite, wear};
use crate::{Comparison, closed_forms, drive, uniform_write_amplification};

const PAGES: u32 = 64;

/// A drive of 500 blocks that data can occupy, which a few hundred drive writes wear out.
fn wearing(levelling: Levelling, endurance_cycles: u32, effective_op: f64) -> SsdConfig {
    let mut profile = drive(VictimPolicy::Greedy, PAGES, effective_op);
    profile.nand.blocks_per_plane = 503;
    crate::common::set_effective_op(&mut profile, effective_op);
    profile.wear = Some(wear(levelling, endurance_cycles));
    profile
}

fn units_of(profile: &SsdConfig) -> u64 {
    profile.capacity.sectors / 8
}

/// The whole share of blocks that hold data which is never written again.
fn cold_share(profile: &SsdConfig, span: u64) -> f64 {
    let blocks = f64::from(profile.nand.blocks_per_plane * PAGES);
    (units_of(profile) - span) as f64 / blocks
}

/// Write amplification of greedy where only the first `span` units are written: blocks of the rest
/// are all valid and never chosen, so the spare is all the span's.
fn pinned(profile: &SsdConfig, effective_op: f64, span: u64) -> f64 {
    let part = span as f64 / units_of(profile) as f64;
    closed_forms::greedy((1.0 + effective_op - (1.0 - part)) / part, PAGES)
}

#[test]
fn levelling_costs_nothing_where_all_data_is_alike() {
    let mut comparison = Comparison::default();
    for op in [0.07, 0.25] {
        for levelling in [Levelling::None, Levelling::Dynamic, Levelling::Static] {
            let mut profile = drive(VictimPolicy::Greedy, PAGES, op);
            profile.wear = Some(wear(levelling, 1_000_000));
            let measured = uniform_write_amplification(&profile);
            let what = format!("{levelling:?}, op {op}");
            comparison.add(what, measured, closed_forms::greedy(1.0 + op, PAGES), 0.015);
        }
    }
    comparison.finish();
}

#[test]
fn writes_anywhere_wear_all_blocks_alike() {
    for levelling in [Levelling::Dynamic, Levelling::Static] {
        let mut drive = make(&wearing(levelling, 1_000_000, 0.07));
        let units = drive.geometry().sectors / 8;
        fill(&mut drive);
        overwrite(&mut drive, &mut Random(11), units, units * 40);
        let wear = drive.wear();
        let (least, most) = (f64::from(wear.erases_min), f64::from(wear.erases_max));
        assert!(wear.erases_mean > 200.0, "{wear:?}");
        assert!(wear.erases_std < 0.04 * wear.erases_mean, "{levelling:?}: {wear:?}");
        assert!(least > 0.85 * wear.erases_mean, "{levelling:?}: {wear:?}");
        assert!(most < 1.15 * wear.erases_mean, "{levelling:?}: {wear:?}");
    }
}

/// Half of the data is written once, the other half overwritten anywhere. A block of cold data is
/// moved whenever the most worn one is a threshold ahead of it. All blocks being worn alike in the
/// end, that is once in threshold x blocks closings, so that levelling adds cold blocks / (threshold x
/// blocks) to what is written.
#[test]
fn static_levelling_wears_cold_blocks_too_for_a_share_of_the_writes() {
    let mut comparison = Comparison::default();
    for op in [0.07, 0.25] {
        let run = |levelling, threshold| {
            let mut profile = wearing(levelling, 1_000_000, op);
            let section = profile.wear.as_mut().expect("just given");
            section.threshold_cycles = threshold;
            let mut drive = make(&profile);
            let span = units_of(&profile) / 2;
            let mut random = Random(7);
            fill(&mut drive);
            // Twice the threshold brings the cold blocks up.
            let closings = u64::from(2 * threshold * 500 * PAGES);
            overwrite(&mut drive, &mut random, span, closings / 2);
            let before = drive.counters();
            overwrite(&mut drive, &mut random, span, units_of(&profile) * 20);
            let amplification = drive.counters().write_amplification_since(&before);
            drive.check_map().unwrap_or_else(|error| panic!("{error}"));
            (amplification.expect("the host wrote"), drive.wear(), profile)
        };
        for levelling in [Levelling::None, Levelling::Dynamic] {
            let (amplification, wear, profile) = run(levelling, 20);
            let expected = pinned(&profile, op, units_of(&profile) / 2);
            comparison.add(format!("{levelling:?}, op {op}"), amplification, expected, 0.015);
            assert_eq!(wear.erases_min, 1, "cold blocks were written once: {wear:?}");
            assert!(f64::from(wear.erases_max) > 1.5 * wear.erases_mean, "{wear:?}");
        }
        for threshold in [10, 20, 50] {
            let (amplification, wear, profile) = run(Levelling::Static, threshold);
            let span = units_of(&profile) / 2;
            let moved = cold_share(&profile, span) / f64::from(threshold);
            let expected = pinned(&profile, op, span) * (1.0 + moved);
            let what = format!("static beyond {threshold}, op {op}");
            comparison.add(what, amplification, expected, 0.015);
            let spread = wear.erases_max - wear.erases_min;
            assert!(spread <= threshold + 5, "{spread} beyond {threshold}: {wear:?}");
        }
    }
    comparison.finish();
}

/// Writes single units of the first `span` until the drive takes no more: how many it took.
fn write_to_death(drive: &mut Ssd, span: u64) -> u64 {
    let mut random = Random(99);
    fill(drive);
    loop {
        drive.submit(Tag(0), io(Op::Write, random.below(span), 1));
        if drive.reap(Nanos::MAX).is_err() {
            break;
        }
    }
    assert!(drive.is_read_only());
    drive.check_map().unwrap_or_else(|error| panic!("{error}"));
    drive.counters().host_units
}

/// Total bytes written = user x (1 + op) x cycles / (write amplification x WLF), WLF being most over
/// mean erases: 1 where wear is levelled. At the end the spare shrinks, and the blocks that are left
/// when it is used up had cycles to go.
#[test]
fn what_can_be_written_is_cycles_over_write_amplification() {
    let mut comparison = Comparison::default();
    let (cycles, op) = (300, 0.25);
    let total = |profile: &SsdConfig| f64::from(profile.nand.blocks_per_plane * PAGES * cycles);
    for levelling in [Levelling::Dynamic, Levelling::Static] {
        let profile = wearing(levelling, cycles, op);
        let mut drive = make(&profile);
        let written = write_to_death(&mut drive, units_of(&profile)) as f64;
        let expected = total(&profile) / closed_forms::greedy(1.0 + op, PAGES);
        comparison.add(format!("{levelling:?}, anywhere"), written, expected, 0.04);
        let wear = drive.wear();
        assert_eq!(wear.erases_max, cycles, "{wear:?}");
        assert!(wear.endurance_used.is_some_and(|used| used > 0.95), "{wear:?}");
    }

    // Half of it cold: only the other blocks are worn, unless the cold ones take turns.
    let profile = wearing(Levelling::Dynamic, cycles, op);
    let span = units_of(&profile) / 2;
    let (pinned, cold) = (pinned(&profile, op, span), cold_share(&profile, span));
    let written = write_to_death(&mut make(&profile), span) as f64;
    let of_hot_blocks = total(&profile) * (1.0 - cold) / pinned;
    comparison.add("Dynamic, half cold", written, of_hot_blocks, 0.04);
    let written = write_to_death(&mut make(&wearing(Levelling::Static, cycles, op)), span) as f64;
    let of_all_blocks = total(&profile) / (pinned * (1.0 + cold / 20.0));
    comparison.add("Static, half cold", written, of_all_blocks, 0.04);
    assert!(of_all_blocks > 1.5 * of_hot_blocks);
    comparison.finish();
}

/// Where blocks bear more or less, the weak ones fail first and the spare shrinks with each: what
/// can be written is the integral of the blocks that are left over the write amplification of the
/// spare that is left, up to the failure that leaves too little.
#[test]
fn blocks_of_different_endurance_use_up_the_spare_one_by_one() {
    let mut comparison = Comparison::default();
    let (cycles, op) = (300, 0.25);
    for sigma_percent in [5.0, 15.0] {
        let mut profile = wearing(Levelling::Dynamic, cycles, op);
        let section = profile.wear.as_mut().expect("just given");
        section.endurance_sigma_percent = sigma_percent;
        let mut drive = make(&profile);
        let fresh_op = drive.effective_op();
        let written = write_to_death(&mut drive, units_of(&profile)) as f64;

        let (blocks, user_blocks) = (503.0, units_of(&profile) as f64 / f64::from(PAGES));
        // Two open blocks, two free and 1 % spare.
        let least = 4.0 + (1.01 * user_blocks).ceil();
        let (mut expected, mut failed) = (0.0, 0.0);
        for erases in 1.. {
            let left: f64 = blocks * (1.0 - failed);
            if left < least {
                break;
            }
            let a = (left - 3.0) / user_blocks;
            expected += left * f64::from(PAGES) / closed_forms::greedy(a, PAGES);
            let sigma = f64::from(cycles) * sigma_percent / 100.0;
            let deviations = (f64::from(erases) - f64::from(cycles)) / sigma;
            failed += (-deviations * deviations / 2.0).exp() / sigma / std::f64::consts::TAU.sqrt();
        }
        comparison.add(format!("{sigma_percent} % of {cycles}"), written, expected, 0.02);
        let wear = drive.wear();
        // The failure that was one too many, and others in the course of the same write.
        let too_many = f64::from(wear.blocks_retired) - (blocks - least);
        assert!((1.0..=10.0).contains(&too_many), "{too_many}: {wear:?}");
        let spare = (blocks - 3.0 - f64::from(wear.blocks_retired)) / user_blocks - 1.0;
        assert!(fresh_op > 0.2499 && (drive.effective_op() - spare).abs() < 1e-9, "{spare}");
    }
    comparison.finish();
}
