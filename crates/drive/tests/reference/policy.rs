//! Which closed block of a die is collected, by the definitions of the policies.

use fourcorners_drive::config::{GcSection, VictimPolicy};

use crate::common::Random;

/// A closed block as a policy sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) block: usize,
    pub(crate) valid: u64,
    /// Blocks the die has closed since this one, itself included.
    pub(crate) age: u64,
}

/// The policy and its random numbers, which all dies share.
pub(crate) struct Policy {
    kind: VictimPolicy,
    choices: u32,
    random: Random,
}

impl Policy {
    pub(crate) fn new(gc: &GcSection) -> Policy {
        Policy { kind: gc.policy, choices: gc.choices, random: Random(gc.seed) }
    }

    /// The block to collect of `closed`, which are in the order of their numbers, on a die of
    /// `blocks` blocks of `units` each. None when every closed block is all valid.
    pub(crate) fn choose(
        &mut self,
        closed: &[Candidate],
        blocks: usize,
        units: u64,
    ) -> Option<usize> {
        if closed.iter().all(|candidate| candidate.valid == units) {
            return None;
        }
        let chosen = match self.kind {
            VictimPolicy::Greedy => first_best(closed, |a, b| a.valid < b.valid),
            VictimPolicy::Fifo => first_best(closed, |a, b| a.age > b.age),
            // age (1 - u) / 2u, both sides multiplied by what they are divided by.
            VictimPolicy::CostBenefit => first_best(closed, |a, b| {
                a.age * (units - a.valid) * b.valid > b.age * (units - b.valid) * a.valid
            }),
            VictimPolicy::DChoices => {
                let drawn: Vec<_> = (0..self.choices).map(|_| self.draw(closed, blocks)).collect();
                first_best(&drawn, |a, b| a.valid < b.valid)
            }
            VictimPolicy::Random => self.draw(closed, blocks),
        };
        Some(chosen.block)
    }

    /// Draws from all blocks until it is a closed one.
    fn draw(&mut self, closed: &[Candidate], blocks: usize) -> Candidate {
        loop {
            let block = self.random.below(blocks as u64) as usize;
            if let Some(&found) = closed.iter().find(|candidate| candidate.block == block) {
                return found;
            }
        }
    }
}

/// The candidate that none is better than, the first of equals.
fn first_best(
    candidates: &[Candidate],
    better: impl Fn(&Candidate, &Candidate) -> bool,
) -> Candidate {
    let mut best = candidates[0];
    for candidate in &candidates[1..] {
        if better(candidate, &best) {
            best = *candidate;
        }
    }
    best
}
