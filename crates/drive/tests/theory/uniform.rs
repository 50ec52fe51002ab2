//! Write amplification of writes anywhere, 4 KiB each, by victim policy.

use fourcorners_drive::config::{Pacing, VictimPolicy};

use crate::published::UNIFORM_OPS;
use crate::{
    Comparison, closed_forms, drive, published, uniform_write_amplification,
    uniform_write_amplification_over,
};

const PAGES_PER_BLOCK: [u32; 2] = [64, 256];

/// Holds a policy against `expected` by effective over-provisioning and pages a block.
fn hold(policy: VictimPolicy, choices: u32, expected: impl Fn(f64, u32) -> f64) {
    let mut comparison = Comparison::default();
    for pages in PAGES_PER_BLOCK {
        for op in UNIFORM_OPS {
            let mut profile = drive(policy, pages, op);
            profile.gc.choices = choices;
            let measured = uniform_write_amplification(&profile);
            let what = format!("{policy:?} of {choices}, {pages} pages, op {op}");
            comparison.add(what, measured, expected(op, pages), 0.015);
        }
    }
    comparison.finish();
}

#[test]
fn greedy_is_its_mean_field() {
    let table = published::load();
    for (op, pages) in [(0.05, 64), (0.25, 256)] {
        let solved = closed_forms::greedy(1.0 + op, pages);
        assert!((solved / table.greedy(op, pages) - 1.0).abs() < 1e-3, "{solved}");
    }
    hold(VictimPolicy::Greedy, 1, |op, pages| table.greedy(op, pages));
}

#[test]
fn fifo_is_its_closed_form() {
    let table = published::load();
    let solved = closed_forms::fifo(1.07);
    assert!((solved / table.fifo(0.07) - 1.0).abs() < 1e-3, "{solved}");
    hold(VictimPolicy::Fifo, 1, |op, _| table.fifo(op));
}

#[test]
fn the_better_of_two_is_its_fixed_point() {
    let table = published::load();
    hold(VictimPolicy::DChoices, 2, |op, pages| table.choices(2, op, pages));
}

#[test]
fn the_best_of_ten_is_its_fixed_point() {
    let table = published::load();
    hold(VictimPolicy::DChoices, 10, |op, pages| table.choices(10, op, pages));
}

#[test]
fn a_random_victim_is_as_full_as_all_blocks() {
    let mut comparison = Comparison::default();
    for op in UNIFORM_OPS {
        // Chance decides how full a victim is, so more of them are needed for the same accuracy.
        let profile = drive(VictimPolicy::Random, 64, op);
        let measured = uniform_write_amplification_over(&profile, [10, 10]);
        comparison.add(format!("random, op {op}"), measured, closed_forms::random(1.0 + op), 0.015);
    }
    comparison.finish();
}

#[test]
fn age_gains_nothing_where_all_data_is_alike() {
    let mut comparison = Comparison::default();
    for op in [0.12, 0.28] {
        let measured = uniform_write_amplification(&drive(VictimPolicy::CostBenefit, 64, op));
        let (least, most) = (closed_forms::greedy(1.0 + op, 64), closed_forms::fifo(1.0 + op));
        comparison.add(
            format!("cost-benefit, op {op}, greedy to FIFO"),
            measured,
            (least + most) / 2.0,
            (most - least) / (most + least) + 0.005,
        );
    }
    comparison.finish();
}

/// The spare that counts is what [`fourcorners_drive::Ssd::effective_op`] says, whatever the
/// reserve, the pacing and the number of blocks: a drive of 250 blocks tells half a block from none.
#[test]
fn effective_over_provisioning_is_exact() {
    let mut comparison = Comparison::default();
    for start_free_blocks in [2, 8] {
        for blocks in [250, 1000] {
            let mut profile = drive(VictimPolicy::Greedy, 64, 0.07);
            profile.nand.blocks_per_plane = blocks;
            profile.gc.start_free_blocks = start_free_blocks;
            crate::common::set_effective_op(&mut profile, 0.07);
            let said = crate::make(&profile).effective_op();
            assert!((said - 0.07).abs() < 1e-3, "{said}");
            comparison.add(
                format!("{blocks} blocks, {start_free_blocks} free"),
                uniform_write_amplification(&profile),
                closed_forms::greedy(1.0 + said, 64),
                0.01,
            );
        }
    }
    // Half a block more is 0.7 % of the spare here.
    let mut delayed = drive(VictimPolicy::Greedy, 64, 0.07);
    delayed.gc.pacing = Pacing::Delayed;
    let measured = uniform_write_amplification(&delayed);
    comparison.add("delayed", measured, closed_forms::greedy(1.07, 64), 0.01);
    comparison.finish();
}
