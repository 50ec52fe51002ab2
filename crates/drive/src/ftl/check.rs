//! Whether map, blocks and fragments agree: for tests, and for a state that is loaded.

use super::live::{self, LiveBits};
use super::{Entry, Ftl, Slot};
use crate::consistency::Inconsistency;

impl Ftl {
    /// Whether map, live bits and counts agree; the first place where they do not.
    pub(crate) fn check(&self) -> Result<(), Inconsistency> {
        let mut found = LiveBits::none(self.shape);
        for (unit, &slot) in self.map.iter().enumerate().filter(|&(_, &at)| at != Slot::NOWHERE) {
            let (place, weight) = (self.fragments.place(slot), self.fragments.weight(slot));
            let (block, within) = self.shape.block_of(place);
            let places = within..within + weight;
            if places.end > self.shape.units_per_block {
                return Err(format!("unit {unit} at {place} lies in two blocks").into());
            }
            if places.into_iter().any(|within| found.is_set(block, within)) {
                return Err(format!("unit {unit} is mapped to {place}, as another one is").into());
            }
            found.set_range(block, within, weight);
        }
        let live = self.fragments.live(self.shape);
        for block in 0..self.shape.blocks() {
            let (die, of_die) = self.shape.die_of(block);
            if found.of_block(block) != live.of_block(block) {
                return Err(
                    format!("die {die} block {of_die}: the map and its fragments differ").into()
                );
            }
            let live = live::groups_in_use(live.of_block(block), 1);
            let counted = self.dies[die as usize].blocks.valid(of_die);
            if live != counted {
                return Err(
                    format!("die {die} block {of_die}: {live} live, {counted} counted").into()
                );
            }
        }
        self.check_blocks()?;
        self.check_slc()
    }

    /// Whether every block is free, closed, open, a victim or failed, and only one of these, and
    /// none was erased more often than it bears.
    fn check_blocks(&self) -> Result<(), Inconsistency> {
        for (die, space) in self.dies.iter().enumerate() {
            let (blocks, wear) = (&space.blocks, space.blocks.wear());
            let mut roles = vec![0u32; blocks.count() as usize];
            let fronts = space.fronts.iter().flat_map(|fronts| [fronts.host, fronts.moves]);
            let written = fronts.map(|front| front.block);
            let being_emptied = space.victim.iter().map(|victim| victim.block());
            let all = blocks.free().chain(blocks.closed()).chain(written);
            let slc = space.slc.iter().flat_map(|slc| slc.roles());
            for block in all.chain(being_emptied).chain(slc).chain(wear.retired()) {
                if let Some(count) = roles.get_mut(block as usize) {
                    *count += 1;
                }
            }
            if let Some(block) = roles.iter().position(|&count| count != 1) {
                return Err(format!("die {die} block {block} has {} roles", roles[block]).into());
            }
            wear.check(die)?;
        }
        Ok(())
    }
}
