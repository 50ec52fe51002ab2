//! The end of a drive's life: so many blocks have failed that what is left cannot hold its data.

use super::die::DieSpace;
use super::wear::DieWear;
use crate::config::SsdConfig;

/// When a drive stops taking writes.
#[derive(Clone, Debug)]
pub(super) struct EndOfLife {
    rated_cycles: Option<u32>,
    /// Blocks that a die needs to hold its share of the user's data, what is kept open or free or for
    /// an SLC buffer, and a spare of 1 %: what the config's check asks of a new drive.
    least_blocks_per_die: u64,
    reached: bool,
}

impl EndOfLife {
    pub(super) fn new(config: &SsdConfig) -> EndOfLife {
        let nand = &config.nand;
        let granule = u64::from(config.granule_bytes());
        let [block_bytes, unit_bytes] = config.sure_bytes();
        let block_on_every_die = block_bytes * u64::from(nand.dies) / granule;
        let user = config.user_units() * (unit_bytes / granule);
        let kept = config.gc.start_free_blocks
            + config.open_blocks_per_die()
            + config.slc_blocks_per_die();
        EndOfLife {
            rated_cycles: config.wear.as_ref().map(|wear| wear.endurance_cycles),
            least_blocks_per_die: u64::from(kept)
                + (user + user / 100).div_ceil(block_on_every_die),
            reached: false,
        }
    }

    /// That of a drive that has these loaded dies, and has `reached` it or not. `None` when both
    /// cannot be: too few blocks are left and it writes on, or blocks do not wear out.
    pub(super) fn restored(mut self, reached: bool, dies: &[DieSpace]) -> Option<EndOfLife> {
        dies.iter().for_each(|space| self.note_failure(space.blocks.wear()));
        let can_be = if reached { self.rated_cycles.is_some() } else { !self.reached };
        can_be.then_some(EndOfLife { reached, ..self })
    }

    pub(super) fn rated_cycles(&self) -> Option<u32> {
        self.rated_cycles
    }

    pub(super) fn is_reached(&self) -> bool {
        self.reached
    }

    /// Whether a row of host data found a die to take it.
    pub(super) fn note_room(&mut self, found: bool) {
        self.reached |= !found;
    }

    /// A block of this die has failed.
    pub(super) fn note_failure(&mut self, wear: &DieWear) {
        self.reached |= u64::from(wear.blocks() - wear.retired) < self.least_blocks_per_die;
    }
}
