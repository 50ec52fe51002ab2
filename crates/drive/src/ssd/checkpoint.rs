//! Pauses in which the firmware saves its map.

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::config::CheckpointSection;

/// When the next pause is due.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Checkpoint {
    every_writes: u32,
    pause: Nanos,
    /// Write commands until then, the one before which it comes left out.
    left: u32,
}

impl Checkpoint {
    /// Of a checked section.
    pub(super) fn new(section: &CheckpointSection) -> Checkpoint {
        let every_writes = section.every_writes;
        let pause = Nanos::from_micros(section.pause_us);
        Checkpoint { every_writes, pause, left: every_writes }
    }

    /// How long the controller pauses before it takes the next write command, which counts as `times` commands.
    #[inline]
    pub(super) fn before_write(&mut self, times: u32) -> Nanos {
        if self.left >= times {
            self.left -= times;
            return Nanos::ZERO;
        }
        self.left = (self.every_writes + self.left).saturating_sub(times);
        self.pause
    }

    /// Nothing is left to be saved.
    pub(super) fn begin_anew(&mut self) {
        self.left = self.every_writes;
    }

    /// Whether a loaded one is one that `made`, which is new, could have become.
    pub(super) fn fits(&self, made: &Checkpoint) -> bool {
        let Checkpoint { every_writes, pause, left } = *self;
        every_writes == made.every_writes && pause == made.pause && left <= every_writes
    }
}
