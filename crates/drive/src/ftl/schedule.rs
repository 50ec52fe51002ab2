//! When a drive collects, where it is not always and a little with each write: ahead of need, in batches, or a whole victim at
//! a time.

use crate::config::{GcSection, Pacing, SsdConfig, Stall};

/// How a die works ahead of need.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    /// Free blocks that it works to.
    pub(super) free_blocks: u32,
    /// Units of space won back for each that the host uses.
    pub(super) gain: u32,
}

impl Ahead {
    /// Of a config that has passed its check, if it works ahead.
    pub(super) fn new(config: &SsdConfig) -> Option<Ahead> {
        let gc = &config.gc;
        let (blocks, gain) = (gc.sequential_free_blocks?, gc.sequential_gain?);
        let works_ahead = gc.pacing == Pacing::DelayedUntilSequential;
        let free_blocks = config.free_blocks_worked_to(blocks);
        works_ahead.then_some(Ahead { free_blocks, gain })
    }
}

/// Whether a delayed drive empties one victim at a time.
pub(super) fn collects_by_victim(gc: &GcSection) -> bool {
    let delayed = matches!(gc.pacing, Pacing::Delayed | Pacing::DelayedUntilSequential);
    delayed && gc.stall == Some(Stall::Victim)
}

/// How a drive collects once one of its dies is about to run out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    /// Free blocks that dies have on average when it is over.
    pub(super) free_blocks: u32,
    /// Units moved with each unit that the host writes until then.
    pub(super) moves: u32,
}

impl Batch {
    /// Of a config that has passed its check, if it works so.
    pub(super) fn new(config: &SsdConfig) -> Option<Batch> {
        let gc = &config.gc;
        let (blocks, moves) = (gc.batch_free_blocks?, gc.batch_moves?);
        let works_so = gc.pacing == Pacing::Batched;
        let free_blocks = config.free_blocks_worked_to(blocks);
        works_so.then_some(Batch { free_blocks, moves })
    }
}
