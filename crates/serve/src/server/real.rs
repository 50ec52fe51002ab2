//! A real drive behind the loop: it answers when it does, and the loop is told so.

use std::os::fd::OwnedFd;

use fourcorners_drive::{Clock, Nanos, Target};
use fourcorners_linux::clock;

use super::Server;
use crate::turn::Answer;

/// With something in flight a drive is looked at so often though nothing is heard of it: a kernel that was short of
/// memory may not have taken an I/O yet.
const LOOK_EVERY: Nanos = Nanos(100_000_000);

impl<T: Target> Server<T> {
    /// Whether the drive is a real one.
    pub(super) const IS_REAL: bool = matches!(T::CLOCK, Clock::Wall);

    /// A real drive may have an answer whenever this can be read ([`fourcorners_linux::Uring::readiness`]).
    pub fn look_at_drive_when(&mut self, readiness: OwnedFd) {
        self.readiness = Some(readiness);
    }

    /// A real drive has told that it may have an answer. It is looked at after this, so nothing is missed.
    pub(super) fn hear_drive(&self) {
        if let Some(readiness) = &self.readiness {
            let _ = rustix::io::read(readiness, &mut [0; 8]);
        }
    }

    /// By when a real drive is looked at next; `None`: when it says so.
    pub(super) fn look_at_drive_by(&self) -> Option<Nanos> {
        (Self::IS_REAL && !self.turn.is_idle()).then(|| clock() + LOOK_EVERY)
    }

    /// Hands over what is queued for a real drive, and takes what it has answered.
    pub(super) fn look_at_drive(&mut self) {
        if self.turn.is_idle() {
            return;
        }
        let mut answers = std::mem::take(&mut self.answers);
        self.turn.pass_until(clock(), &mut answers);
        self.hand_out(&mut answers);
        self.answers = answers;
    }

    /// Waits until a real drive has answered all.
    pub(super) fn wait_for_drive(&mut self, answers: &mut Vec<Answer>) {
        if Self::IS_REAL && !self.turn.is_idle() {
            self.turn.pass_until(Nanos::MAX, answers);
        }
    }
}
