//! Which of several transfers the arm does next.

use crate::Nanos;

use super::mechanics::{Aim, Mechanism};

/// A transfer that was chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choice {
    pub(super) index: usize,
    /// When its first sector is under the head.
    pub(super) start: Nanos,
    /// Weighted access time; the smallest goes first, the longest waiting among equals.
    rank: (u64, Nanos),
}

impl Choice {
    pub(super) fn before(&self, other: &Choice) -> bool {
        self.rank < other.rank
    }
}

/// Shortest access time first, seek and rotation together, weighted by age so that nothing waits
/// for ever: `access * (max_wait - waited)`, which is nothing at the age `max_wait`. This is the
/// weighted shortest time first of Seltzer, Chen and Ousterhout, "Disk scheduling revisited",
/// USENIX Winter 1990. Among those past that age, the oldest goes first.
#[inline]
pub(super) fn next<'a>(
    mechanism: &Mechanism,
    max_wait: Nanos,
    at: Nanos,
    aims: impl Iterator<Item = (usize, &'a Aim)>,
) -> Option<Choice> {
    let mut best: Option<Choice> = None;
    for (index, aim) in aims {
        let start = mechanism.reaches(aim, at);
        let patience = max_wait.since(at.since(aim.since));
        let rank = (start.since(at).0.saturating_mul(patience.0), aim.since);
        let choice = Choice { index, start, rank };
        if best.is_none_or(|best| choice.before(&best)) {
            best = Some(choice);
        }
    }
    best
}
