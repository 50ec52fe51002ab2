//! The progress of a review, saved so that it can continue after it was ended.

use fourcorners_record::Record;
use serde::{Deserialize, Serialize};

use super::Phase;

/// What is known after some of the phases.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Reached {
    /// The phase that comes next.
    pub(super) next: usize,
    /// The state the target is in.
    pub(super) state: String,
    /// Whether the record says already how the target is purged, or that it cannot be.
    pub(super) purge_refusal_told: bool,
    /// What was measured.
    pub(super) record: Record,
}

/// Two places in a plan: where the target was, and a place that does not depend on that.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Before the last purge.
    pub(super) purged: Reached,
    /// Before the phase that was, or is to be, in progress.
    pub(super) reached: Reached,
}

impl Checkpoint {
    /// Where to go on with this plan, if it is the plan of this checkpoint. A phase that only reads
    /// left its target as it was and is begun again; anything else has changed it by an unknown
    /// part, and all since the purge is done once more.
    pub(super) fn into_next(self, plan: &[Phase]) -> Option<Reached> {
        let Checkpoint { purged, reached } = self;
        let sound = purged.next <= reached.next && reached.next <= plan.len();
        let untouched = plan.get(reached.next).is_none_or(Phase::only_reads);
        sound.then_some(if untouched { reached } else { purged })
    }
}
