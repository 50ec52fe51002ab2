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
    /// Microseconds from one 4 KiB to the next while the limit does not hold, 0 to 10^6: firmware that spreads what
    /// the flash can take evenly, where a buffer alone takes it in bursts. None where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fresh_us_per_4k: Option<f64>,
    /// Microseconds, 0 to 10^6, in which no write is let through after every `pause_every_kib` while the limit
    /// holds and no write waits for it: collection that has fallen behind catches up at once, where it takes part
    /// of every write when the host is at the limit. None where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_us: Option<f64>,
    /// KiB written from one pause to the next, 4 to 2^30; needed with `pause_us`, and only then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_every_kib: Option<u32>,
    /// Percent of the time since the last pause by which a pause is shorter, 0 to 100: what collection did
    /// meanwhile. None where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_recovers_percent: Option<f64>,
    /// Microseconds, 0 to 10^6, of the longest stall: once what may come at once is used up, no write is let through for
    /// a time that is drawn evenly between none and this, and then they go on as fast as they come, where without it
    /// each waits for its own time. Collection catches up meanwhile, so that the next pause is `pause_every_kib` later.
    /// `burst_kib` has to hold what is let through late, or the limit is not reached. With variation off every stall is
    /// half as long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stall_us: Option<f64>,
    /// Whether the limit, and the spacing where it does not hold, are slower and faster by `variation.write_drift`, as
    /// programs and collection are; false when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drifts: Option<bool>,
    /// Whether reads wait with the writes while the limit holds, as where commands are handled in their order; false
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads_wait: Option<bool>,
}

impl Default for WriteLimitSection {
    /// 100,000 writes of 4 KiB a second, and none ahead of its time.
    fn default() -> WriteLimitSection {
        WriteLimitSection {
            us_per_4k: 10.0,
            burst_kib: 0,
            fresh_us_per_4k: None,
            pause_us: None,
            pause_every_kib: None,
            pause_recovers_percent: None,
            stall_us: None,
            drifts: None,
            reads_wait: None,
        }
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
        if let Some(fresh) = self.fresh_us_per_4k {
            within("write_limit.fresh_us_per_4k", fresh, 0.0..=1e6)?;
        }
        self.check_pauses()?;
        if let Some(stall) = self.stall_us {
            within("write_limit.stall_us", stall, 0.0..=1e6)?;
            let most = self.us_per_4k * f64::from(self.burst_kib / 4);
            if stall > most {
                let why = format!(
                    "write_limit.burst_kib makes up for {most} us: give it more, or a shorter stall"
                );
                return Err(ConfigError::new("write_limit.stall_us", stall, why));
            }
        }
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
    fn check_pauses(&self) -> Result<(), ConfigError> {
        if let Some(pause) = self.pause_us {
            within("write_limit.pause_us", pause, 0.0..=1e6)?;
        }
        if let Some(percent) = self.pause_recovers_percent {
            within("write_limit.pause_recovers_percent", percent, 0.0..=100.0)?;
        }
        match (self.pause_us, self.pause_every_kib) {
            (Some(_), Some(every)) => within("write_limit.pause_every_kib", every, 4..=1 << 30),
            (Some(pause), None) => Err(ConfigError::new(
                "write_limit.pause_us",
                pause,
                "it needs write_limit.pause_every_kib: give it, or leave both out",
            )),
            (None, Some(every)) => Err(ConfigError::new(
                "write_limit.pause_every_kib",
                every,
                "it needs write_limit.pause_us: give it, or leave both out",
            )),
            (None, None) => Ok(()),
        }
    }
}
