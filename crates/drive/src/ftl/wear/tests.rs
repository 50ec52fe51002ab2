//! Which block is next, which data is cold, and how long blocks last.

use super::*;

fn section(levelling: Levelling, sigma_percent: f64) -> WearSection {
    WearSection {
        endurance_cycles: 1000,
        endurance_sigma_percent: sigma_percent,
        seed: 1,
        levelling,
        threshold_cycles: 3,
        interval_blocks: 2,
    }
}

/// Blocks with this many erases, all free in this order.
fn worn(levelling: Levelling, erases: &[u32]) -> (DieWear, VecDeque<Block>) {
    let blocks = erases.len() as u32;
    let mut wear = DieWear::new(blocks, &section(levelling, 0.0), &mut SplitMix64::new(1));
    wear.erases = erases.to_vec();
    (wear, (0..blocks).collect())
}

#[test]
fn the_least_worn_free_block_is_next_unless_nothing_is_levelled() {
    for (levelling, next) in [(Levelling::None, 0), (Levelling::Dynamic, 1), (Levelling::Static, 1)]
    {
        let (wear, free) = worn(levelling, &[9, 4, 7, 4]);
        assert_eq!(wear.next_free(&free), Some(next), "{levelling:?}");
        assert_eq!(wear.next_free(&VecDeque::new()), None);
    }
}

#[test]
fn cold_data_rests_in_a_worn_block_but_not_in_one_far_ahead() {
    // Two thresholds beyond the 4 erases of block 1 are 10.
    let (wear, mut free) = worn(Levelling::Static, &[12, 4, 9, 10, 8]);
    free.retain(|&block| block != 1);
    assert_eq!(wear.resting_free(&free, 1).map(|place| free[place]), Some(3));
    free.retain(|&block| block == 0);
    assert_eq!(wear.resting_free(&free, 1).map(|place| free[place]), Some(0));
}

#[test]
fn cold_is_what_stayed_for_two_turns_of_the_die() {
    // Hot data takes turns in three blocks: their k-th erases are complete after 3 k closings
    // more than the first. With a threshold of 3 the fifth erase of one is needed, the 14th
    // closing; with 1 the third, at the 8th, but two turns of four blocks end with the 9th.
    for (threshold, expected) in [(3, 14), (1, 9)] {
        let mut section = section(Levelling::Static, 0.0);
        section.threshold_cycles = threshold;
        let wear = DieWear::new(4, &section, &mut SplitMix64::new(1));
        let mut blocks = DieBlocks::all_free(wear);
        let cold = blocks.open().expect("four are free");
        blocks.add_valid(cold, 1);
        blocks.close(cold);
        while blocks.wear().cold_block(&blocks).is_none() {
            let hot = blocks.open().expect("three take turns");
            blocks.close(hot);
            assert!(blocks.release(hot) && blocks.closings() < 100);
        }
        let found = blocks.wear().cold_block(&blocks);
        assert_eq!((found, blocks.closings()), (Some(cold), expected));
        // One block ago, and the interval is two.
        blocks.wear_mut().levelled_at = expected - 1;
        assert_eq!(blocks.wear().cold_block(&blocks), None);
    }
}

#[test]
fn endurance_is_drawn_with_its_mean_and_deviation() {
    let mut random = SplitMix64::new(3);
    let section = section(Levelling::None, 10.0);
    let drawn: Vec<f64> =
        (0..100_000).map(|_| f64::from(draw_endurance(&section, &mut random))).collect();
    let mean = drawn.iter().sum::<f64>() / 1e5;
    let deviation = (drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e5).sqrt();
    // Standard errors are 0.3 and 0.2.
    assert!((mean - 1000.0).abs() < 1.5 && (deviation - 100.0).abs() < 1.0, "{mean} {deviation}");
    let within = drawn.iter().filter(|&x| (x - 1000.0).abs() <= 100.0).count();
    assert!(within.abs_diff(68_270) < 1000, "{within} within one standard deviation");
}

#[test]
fn a_block_bears_what_it_bears_and_fails_once() {
    let (mut wear, _) = worn(Levelling::None, &[998, 999, 1000]);
    wear.erased(1);
    assert_eq!([0, 1, 2, 2].map(|block| wear.survives(block)), [true, false, false, false]);
    assert_eq!(wear.retired, 2);
    let mut lasting = DieWear::lasting(1);
    (0..2000).for_each(|_| lasting.erased(0));
    assert!(lasting.survives(0) && !lasting.is_worn_out(0));
}
