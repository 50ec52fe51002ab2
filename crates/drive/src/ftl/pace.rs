//! How much of a die's collection is due with each row the host writes.

use serde::{Deserialize, Serialize};

/// Debts are counted in sixteenths of a unit, so that one can be worked off a little faster than
/// it grows.
const PARTS: u64 = 16;

/// The space of one die that the host has used and paced collection has to win back.
///
/// What a row has earned and no victim has taken is carried over to the next victim. A pace set
/// once a victim loses a part of a row with each, and with it, block by block, the die's reserve.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Pace {
    owed: u64,
}

impl Pace {
    /// The host has used `units`. A die that is `behind`, with less space left than its reserve,
    /// works a sixteenth more: a die that holds too much to keep its reserve (others may be emptier) is
    /// not worn out by trying.
    pub(super) fn owe(&mut self, units: u32, behind: bool) {
        self.owed += u64::from(units) * (PARTS + u64::from(behind));
    }

    /// Whether a loaded debt can be reckoned with.
    pub(super) fn is_sane(self) -> bool {
        self.owed <= 1 << 38
    }

    /// Whole units of space that are owed.
    pub(super) fn owed_units(self) -> u64 {
        self.owed / PARTS
    }

    /// `units` of space have been won back, in whatever way.
    pub(super) fn won(&mut self, units: u32) {
        self.owed = self.owed.saturating_sub(u64::from(units) * PARTS);
    }

    /// How many units of a victim should have been moved by now. It had `valid` when it was chosen;
    /// moving all of them wins `space` units. All at once is due from a victim that wins nothing.
    pub(super) fn moves_due(self, valid: u32, space: u32) -> u32 {
        let due = match (self.owed, space) {
            (0, _) => 0,
            (_, 0) => u64::from(valid),
            (owed, space) => owed * u64::from(valid) / (u64::from(space) * PARTS),
        };
        due.min(u64::from(valid)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_victim_is_empty_when_what_it_frees_is_used_up() {
        let mut pace = Pace::default();
        assert_eq!(pace.moves_due(6, 2), 0);
        pace.owe(1, false);
        assert_eq!(pace.moves_due(6, 2), 3);
        pace.owe(1, false);
        assert_eq!(pace.moves_due(6, 2), 6);
        pace.won(2);
        assert_eq!((pace.owed_units(), pace.moves_due(6, 2)), (0, 0));
    }

    #[test]
    fn what_one_victim_does_not_take_is_due_from_the_next() {
        let mut pace = Pace::default();
        pace.owe(4, false);
        pace.won(3);
        assert_eq!(pace.moves_due(6, 2), 3);
    }

    #[test]
    fn a_die_behind_works_a_sixteenth_more() {
        let mut pace = Pace::default();
        (0..16).for_each(|_| pace.owe(1, true));
        assert_eq!(pace.owed_units(), 17);
    }

    #[test]
    fn a_victim_that_wins_nothing_is_moved_at_once_or_not_at_all() {
        let mut pace = Pace::default();
        assert_eq!(pace.moves_due(8, 0), 0);
        pace.owe(1, false);
        assert_eq!(pace.moves_due(8, 0), 8);
    }
}
