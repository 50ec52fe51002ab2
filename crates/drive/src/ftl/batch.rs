//! Collection in batches, for the whole drive: none at all, then the same work with every write.

use super::Ftl;
use super::die::DieSpace;
use super::schedule::Batch;

impl Ftl {
    /// Whether dies have so many free blocks on average. If each had to, those that are done would
    /// wait for the last.
    fn have_room(&self, free_blocks: u32) -> bool {
        let room = |die: &DieSpace| die.room(self.shape.units_per_block);
        let enough = self.reserve(free_blocks) * u64::from(self.shape.dies);
        self.dies.iter().map(room).sum::<u64>() > enough
    }

    /// Does the part of a batch that is due with the row just filled, and begins or ends it.
    pub(super) fn collect_in_batch(&mut self, die: u32, batch: Batch) {
        let (units, row) = (self.shape.units_per_block, self.shape.units_per_row);
        let reserve = self.reserve(self.start_free_blocks);
        if !self.in_batch {
            if self.dies[die as usize].room(units) > reserve {
                return;
            }
            self.in_batch = true;
        }
        // Where this is too little to win what the host uses, it is made up for at its pace.
        let mut left = batch.moves.saturating_mul(row);
        self.dies[die as usize].pace.owe(row, false);
        loop {
            if self.dies[die as usize].victim.is_none() {
                self.in_batch = !self.have_room(batch.free_blocks);
                if self.in_batch {
                    self.choose_victim(die);
                }
            }
            let space = &mut self.dies[die as usize];
            let Some(victim) = space.victim else {
                // There is space enough, or none to be won.
                space.pace = Default::default();
                return;
            };
            let owed = space.pace.moves_due(victim.valid(), units.saturating_sub(victim.valid()));
            let owed = owed.saturating_sub(victim.valid() - victim.uncharged());
            let due = owed.max(left).min(victim.uncharged());
            self.charge(die, due);
            left = left.saturating_sub(due);
            if self.dies[die as usize].victim.is_some() {
                return;
            }
        }
    }
}
