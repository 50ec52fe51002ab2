//! How a drive takes TRIM, and how long a secure erase lasts.

use serde::{Deserialize, Serialize};

use super::{ConfigError, within};

/// The TRIM command, and the secure erase.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrimSection {
    /// Whether the drive takes it; one that does not answers with an error.
    pub supported: bool,
    /// What it does with one; `instant` where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<TrimMode>,
    /// Microseconds of controller time for each range of a `queued` TRIM, 0 to 10^6, none where it
    /// is left out. A range has up to 65,535 sectors on SATA (ATA DATA SET MANAGEMENT) and is never
    /// split on NVMe. Other modes do not use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range_us: Option<f64>,
    /// Microseconds for which a `blocking` TRIM occupies the drive whatever its length, 0 to 10^7,
    /// none where it is left out. Other modes do not use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_us: Option<f64>,
    /// Microseconds more for each MiB of a `blocking` TRIM, 0 to 10^5, none where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub us_per_mib: Option<f64>,
    /// Of the units that a TRIM covers, the percentage that it frees, 0 to 100; all where it is left
    /// out. Which they are depends on where they lie alone, so that another TRIM frees no others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_percent: Option<f64>,
    /// Seconds after which a TRIM takes effect, 0 to 86,400; at once where it is left out. What is
    /// written meanwhile stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deferred_s: Option<f64>,
    /// Seconds a secure erase takes, 0 to 86,400; none where it is left out: blocks are erased
    /// when they are opened, and that is charged then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secure_erase_s: Option<f64>,
}

impl Default for TrimSection {
    /// Takes it, at once and for nothing.
    fn default() -> TrimSection {
        TrimSection {
            supported: true,
            mode: None,
            range_us: None,
            command_us: None,
            us_per_mib: None,
            partial_percent: None,
            deferred_s: None,
            secure_erase_s: None,
        }
    }
}

/// What a drive does with a TRIM it takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrimMode {
    /// Costs no more than a write command's handling.
    #[default]
    #[serde(rename = "instant")]
    Immediate,
    /// NCQ TRIM: takes its turn among other commands and costs controller time for each range.
    Queued,
    /// Not queued, as before SATA 3.1: waits until all earlier commands are answered, and nothing
    /// else is served until it is done itself.
    Blocking,
    /// Answered, and nothing is done.
    Ignored,
}

impl TrimSection {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        for (key, value, most) in [
            ("trim.range_us", self.range_us, 1e6),
            ("trim.command_us", self.command_us, 1e7),
            ("trim.us_per_mib", self.us_per_mib, 1e5),
            ("trim.partial_percent", self.partial_percent, 100.0),
            ("trim.deferred_s", self.deferred_s, 86_400.0),
            ("trim.secure_erase_s", self.secure_erase_s, 86_400.0),
        ] {
            value.map_or(Ok(()), |value| within(key, value, 0.0..=most))?;
        }
        Ok(())
    }
}
