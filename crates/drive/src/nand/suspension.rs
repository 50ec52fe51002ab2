//! Programs and erases that make way for reads.

use serde::{Deserialize, Serialize};

use super::agenda::Operation;
use crate::Nanos;
use crate::config::NandSuspendSection;

/// How a die suspends an operation for reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Suspension {
    /// What a read waits at most for a program; `None` when programs are not suspended.
    pub(super) program: Option<Nanos>,
    /// The same for an erase.
    pub(super) erase: Option<Nanos>,
    /// By how much the operation is longer for having been suspended, beside the reads.
    pub(super) resume: Nanos,
    /// How often one operation is suspended.
    pub(super) most: u32,
    /// What a write may wait before programs are not suspended.
    pub(super) patience: Option<Nanos>,
}

impl Suspension {
    pub(super) fn new(section: &NandSuspendSection) -> Suspension {
        let nanos = |value: f64| Nanos::from_micros(value);
        Suspension {
            program: section.program_suspend_us.map(nanos),
            erase: section.erase_suspend_us.map(nanos),
            resume: nanos(section.resume_us),
            most: section.most_suspensions,
            patience: section.patience_us.map(nanos),
        }
    }

    /// Replaces both waits by what one read waits, which `varied` makes of the mean.
    #[inline(always)]
    pub(super) fn vary(&mut self, varied: impl Fn(Nanos) -> Nanos) {
        self.program = self.program.map(&varied);
        self.erase = self.erase.map(&varied);
    }

    /// What a read waits at most for the operation in progress; `None` when it is not suspended.
    #[inline]
    pub(super) fn wait(&self, operation: Operation) -> Option<Nanos> {
        match operation {
            Operation::Read => None,
            Operation::Program => self.program,
            Operation::Erase => self.erase,
        }
    }
}
