//! How fast the firmware takes host writes while collection moves data.

use serde::{Deserialize, Serialize};

use super::{ConfigError, Pacing, within};

/// A limit on host writes in the steady state.
///
/// Firmware for servers does not take writes as fast as the flash happens to be free, but as fast as it can
/// promise to, so that each waits for as long as the others. The limit holds while two fifths of what
/// collection empties, or more, are valid: not on a drive with space left, nor while blocks die as a whole, as they do when the
/// host writes in order. Absent: nothing but the flash limits them. With `gc.pacing = paced` only, and neither
/// with `[slc_buffer]` nor with `[log_blocks]`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteLimitSection {
    /// Microseconds from one 4 KiB to the next, 0.01 to 10^6.
    pub us_per_4k: f64,
    /// KiB that may come at once after a pause, 0 to 2^22: what was not used of the limit before.
    pub burst_kib: u32,
}

impl Default for WriteLimitSection {
    /// 100,000 writes of 4 KiB a second, and none ahead of its time.
    fn default() -> WriteLimitSection {
        WriteLimitSection { us_per_4k: 10.0, burst_kib: 0 }
    }
}

impl WriteLimitSection {
    /// On a drive with this pacing, that merges log blocks or folds an SLC buffer.
    pub(super) fn check(
        &self,
        pacing: Pacing,
        merges: bool,
        folds: bool,
    ) -> Result<(), ConfigError> {
        within("write_limit.us_per_4k", self.us_per_4k, 0.01..=1e6)?;
        within("write_limit.burst_kib", self.burst_kib, 0..=1 << 22)?;
        let other = if merges {
            "merges are not paced: leave out [write_limit] or [log_blocks]"
        } else if folds {
            "what is folded is not told from what is collected: leave out [write_limit] or [slc_buffer]"
        } else if pacing != Pacing::Paced {
            "it is for a drive that always collects a little: set gc.pacing = paced, or leave it out"
        } else {
            return Ok(());
        };
        Err(ConfigError::new("write_limit.us_per_4k", self.us_per_4k, other))
    }
}
