//! Who may use which units of the disk's address space meanwhile: readers side by side, a writer alone, first come first
//! served.

use std::collections::VecDeque;
use std::ops::Range;

/// Units that a job uses.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) job: u32,
    pub(super) units: Range<u64>,
    /// It shares them with nobody.
    pub(super) alone: bool,
}

impl Claim {
    fn conflicts(&self, other: &Claim) -> bool {
        (self.alone || other.alone)
            && self.units.start < other.units.end
            && other.units.start < self.units.end
    }
}

/// The claims of all jobs. There are a few hundred at most, so they are looked through.
#[derive(Clone, Default)]
pub(super) struct Ranges {
    held: Vec<Claim>,
    waiting: VecDeque<Claim>,
}

impl Ranges {
    /// Whether a claim holds at once; else it waits for those before it.
    pub(super) fn take(&mut self, claim: Claim) -> bool {
        let free = !self.held.iter().chain(&self.waiting).any(|other| claim.conflicts(other));
        match free {
            true => self.held.push(claim),
            false => self.waiting.push_back(claim),
        }
        free
    }

    /// Ends the claim of a job. The jobs whose claims hold from now on, in the order in which they came.
    pub(super) fn release(&mut self, job: u32) -> Vec<u32> {
        self.held.retain(|claim| claim.job != job);
        let mut granted = Vec::new();
        let mut still = VecDeque::new();
        for claim in std::mem::take(&mut self.waiting) {
            match self.held.iter().chain(&still).any(|other| claim.conflicts(other)) {
                true => still.push_back(claim),
                false => {
                    granted.push(claim.job);
                    self.held.push(claim);
                }
            }
        }
        self.waiting = still;
        granted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(job: u32, units: Range<u64>, alone: bool) -> Claim {
        Claim { job, units, alone }
    }

    #[test]
    fn readers_share_and_a_writer_waits_for_them_and_holds_up_who_comes_after() {
        let mut ranges = Ranges::default();
        assert!(ranges.take(claim(1, 0..4, false)));
        assert!(ranges.take(claim(2, 2..6, false)), "two readers");
        assert!(!ranges.take(claim(3, 3..4, true)), "a writer of what is read");
        assert!(ranges.take(claim(4, 6..9, true)), "a writer of something else");
        assert!(!ranges.take(claim(5, 0..4, false)), "a reader does not overtake a writer");
        assert_eq!(ranges.release(1), [0; 0], "one reader is left");
        assert_eq!(ranges.release(2), [3]);
        assert_eq!(ranges.release(3), [5]);
        assert_eq!(ranges.release(4), [0; 0]);
    }
}
