//! Which closed block of a die to collect.
//!
//! A choice is made once for every block's worth of space won back, so a policy may look at all
//! blocks of the die (a few KiB) when it chooses. What it must not do is ask for upkeep when a
//! unit is overwritten: that happens for every write of the host, at a random block.

use serde::{Deserialize, Serialize};

use super::blocks::{Block, DieBlocks};
use crate::config::{GcSection, VictimPolicy};
use crate::random::SplitMix64;

/// Chooses victims by one policy; deterministic for a given config.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct VictimChooser {
    policy: VictimPolicy,
    choices: u32,
    random: SplitMix64,
}

impl VictimChooser {
    pub(super) fn new(gc: &GcSection) -> VictimChooser {
        VictimChooser { policy: gc.policy, choices: gc.choices, random: SplitMix64::new(gc.seed) }
    }

    /// Whether a loaded one chooses as `made` does.
    pub(super) fn fits(&self, made: &VictimChooser) -> bool {
        let VictimChooser { policy, choices, random: _ } = self;
        (*policy, *choices) == (made.policy, made.choices)
    }

    /// The block to collect next and its valid units, of which a block holds `units_per_block` at
    /// most. `None` when no closed block would give any space.
    ///
    /// A policy that does not look at valid units may choose a block that gives none while others
    /// would: FIFO copies cold blocks for ever, and that is what it costs.
    pub(super) fn choose(
        &mut self,
        blocks: &DieBlocks,
        units_per_block: u32,
    ) -> Option<(Block, u32)> {
        let best = blocks.fewest_valid().filter(|&(_, valid)| valid < units_per_block)?;
        let block = match self.policy {
            VictimPolicy::Greedy => return Some(best),
            VictimPolicy::Fifo => blocks.closed().min_by_key(|&block| blocks.closed_at(block))?,
            VictimPolicy::CostBenefit => most_benefit(blocks, units_per_block, blocks.closed())?,
            VictimPolicy::DChoices => {
                let draws = (0..self.choices).map(|_| draw(&mut self.random, blocks));
                draws.min_by_key(|&block| blocks.valid(block))?
            }
            VictimPolicy::Random => draw(&mut self.random, blocks),
        };
        Some((block, blocks.valid(block)))
    }

    /// The same of some of the closed blocks, by number.
    pub(super) fn choose_of(
        &mut self,
        blocks: &DieBlocks,
        units_per_block: u32,
        closed: &[Block],
    ) -> Option<(Block, u32)> {
        let all = closed.iter().copied();
        let best = all.clone().min_by_key(|&block| blocks.valid(block))?;
        if blocks.valid(best) >= units_per_block {
            return None;
        }
        let mut draw = || closed[self.random.below(closed.len() as u32) as usize];
        let block = match self.policy {
            VictimPolicy::Greedy => best,
            VictimPolicy::Fifo => all.min_by_key(|&block| blocks.closed_at(block))?,
            VictimPolicy::CostBenefit => most_benefit(blocks, units_per_block, all)?,
            VictimPolicy::DChoices => {
                let draws = (0..self.choices).map(|_| draw());
                draws.min_by_key(|&block| blocks.valid(block))?
            }
            VictimPolicy::Random => draw(),
        };
        Some((block, blocks.valid(block)))
    }
}

/// The block of `closed`, which are, of the greatest age x (1 - u) / 2u, u being its share of valid units, the
/// lowest-numbered of equals (Rosenblum and Ousterhout 1992; with 2u for reading and writing back
/// what is valid, Kawaguchi, Nishioka and Motoda 1995).
///
/// Age is the number of blocks the die closed since this one. Kawaguchi takes the time since data
/// in the block was last invalidated, which would have to be written down at every overwrite.
fn most_benefit(
    blocks: &DieBlocks,
    units_per_block: u32,
    closed: impl Iterator<Item = Block>,
) -> Option<Block> {
    let benefit = |block: Block| {
        let valid = f64::from(blocks.valid(block));
        let age = blocks.closings() - blocks.closed_at(block);
        age as f64 * (f64::from(units_per_block) - valid) / (2.0 * valid)
    };
    // The first of equals, where `max_by` would take the last.
    closed
        .map(|block| (block, benefit(block)))
        .reduce(|best, other| if other.1 > best.1 { other } else { best })
        .map(|(block, _)| block)
}

/// A closed block, every one with the same chance. The caller knows there is one; few are not
/// closed when a die collects, so that few draws are in vain.
fn draw(random: &mut SplitMix64, blocks: &DieBlocks) -> Block {
    loop {
        let block = random.below(blocks.count());
        if blocks.is_closed(block) {
            return block;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::wear::DieWear;
    use super::*;

    const UNITS: u32 = 8;

    fn chooser(policy: VictimPolicy, choices: u32) -> VictimChooser {
        VictimChooser::new(&GcSection { policy, choices, ..GcSection::default() })
    }

    /// Blocks with these valid units, closed in this order; two more are free and one is open.
    fn blocks(valid: &[u32]) -> DieBlocks {
        let mut blocks = DieBlocks::all_free(DieWear::lasting(valid.len() as u32 + 3));
        for &valid in valid {
            let block = blocks.open().expect("free blocks are left");
            blocks.add_valid(block, valid);
            blocks.close(block);
        }
        blocks.open().expect("free blocks are left");
        blocks
    }

    #[test]
    fn each_policy_takes_the_block_it_says() {
        let blocks = blocks(&[7, 6, 3, 3, 8]);
        assert_eq!(chooser(VictimPolicy::Greedy, 1).choose(&blocks, UNITS), Some((2, 3)));
        assert_eq!(chooser(VictimPolicy::Fifo, 1).choose(&blocks, UNITS), Some((0, 7)));
        // Ages 5 to 1: 5/14, 8/12, 15/6, 10/6, 0.
        assert_eq!(chooser(VictimPolicy::CostBenefit, 1).choose(&blocks, UNITS), Some((2, 3)));
        // 64 draws of 5 blocks find the fewest valid but for one time in 10^14.
        let most_of_all = chooser(VictimPolicy::DChoices, 64).choose(&blocks, UNITS);
        assert_eq!(most_of_all.map(|(_, valid)| valid), Some(3));
    }

    #[test]
    fn of_some_blocks_each_policy_takes_the_one_it_says() {
        let blocks = blocks(&[7, 1, 6, 4, 5, 8]);
        let some = [2, 3, 4];
        let choose = |policy, choices| chooser(policy, choices).choose_of(&blocks, UNITS, &some);
        assert_eq!(choose(VictimPolicy::Greedy, 1), Some((3, 4)));
        assert_eq!(choose(VictimPolicy::Fifo, 1), Some((2, 6)));
        // Ages 4 to 2: 8/12, 12/8, 6/10.
        assert_eq!(choose(VictimPolicy::CostBenefit, 1), Some((3, 4)));
        assert_eq!(choose(VictimPolicy::DChoices, 64), Some((3, 4)));
        let (drawn, _) = choose(VictimPolicy::Random, 1).expect("three are closed");
        assert!(some.contains(&drawn));
        let mut greedy = chooser(VictimPolicy::Greedy, 1);
        assert_eq!(greedy.choose_of(&blocks, UNITS, &[5]), None);
        assert_eq!(greedy.choose_of(&blocks, UNITS, &[]), None);
    }

    #[test]
    fn an_old_block_is_worth_more_than_a_young_one() {
        let mut blocks = blocks(&[4, 3]);
        assert_eq!(chooser(VictimPolicy::CostBenefit, 1).choose(&blocks, UNITS), Some((0, 4)));
        // Nothing valid costs nothing.
        blocks.remove_valid(1, 3);
        assert_eq!(chooser(VictimPolicy::CostBenefit, 1).choose(&blocks, UNITS), Some((1, 0)));
    }

    #[test]
    fn fifo_takes_what_was_closed_first_not_what_was_opened_first() {
        let mut blocks = DieBlocks::all_free(DieWear::lasting(4));
        let (first, second) = (blocks.open().expect("free"), blocks.open().expect("free"));
        blocks.close(second);
        blocks.close(first);
        assert_eq!(chooser(VictimPolicy::Fifo, 1).choose(&blocks, UNITS), Some((second, 0)));
    }

    #[test]
    fn every_closed_block_is_drawn_alike_and_no_other() {
        let blocks = blocks(&[1, 2, 3, 4]);
        let mut chooser = chooser(VictimPolicy::Random, 1);
        let mut drawn = [0u32; 4];
        for _ in 0..40_000 {
            let (block, _) = chooser.choose(&blocks, UNITS).expect("four are closed");
            drawn[block as usize] += 1;
        }
        // 10,000 each, standard deviation 87.
        assert!(drawn.iter().all(|count| count.abs_diff(10_000) < 400), "{drawn:?}");
    }

    #[test]
    fn nothing_is_chosen_where_nothing_is_to_be_won() {
        use VictimPolicy::*;
        for policy in [Greedy, Fifo, CostBenefit, DChoices, Random] {
            assert_eq!(chooser(policy, 3).choose(&blocks(&[]), UNITS), None, "{policy:?}");
            assert_eq!(chooser(policy, 3).choose(&blocks(&[8, 8]), UNITS), None, "{policy:?}");
            assert!(chooser(policy, 3).choose(&blocks(&[8, 7]), UNITS).is_some(), "{policy:?}");
        }
    }
}
