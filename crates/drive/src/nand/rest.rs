//! The rest of a row, which flash that can read one page of a row by itself has yet to read.

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::state::LATEST;

/// The rest of the row that a die read last.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Rest {
    /// How long the array takes for it; 0 once it was asked for.
    pub(super) takes: Nanos,
    /// When it is in the page registers, if it is asked for.
    pub(super) ready: Nanos,
}

impl Rest {
    /// Whether its times are ones that can be reckoned with.
    pub(super) fn is_sane(&self) -> bool {
        let Rest { takes, ready } = *self;
        takes.max(ready) <= LATEST
    }
}
