//! Health of a drive: as a real one reported it before and after, and how warm a virtual one was.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A drive's own account of its health, before and after it was measured. Of a virtual drive it is the temperature.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Health {
    /// Before the first phase.
    pub before: HealthReading,
    /// After the last; `None` where the process was ended before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<HealthReading>,
    /// How warm it was in the jobs between (virtual SSDs that get warm); a real drive is not asked meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heat: Option<Heat>,
}

/// How warm a virtual drive was in a job or several, and what that cost.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Heat {
    /// Highest temperature, degrees Celsius.
    pub highest_c: f64,
    /// Seconds for which it was slowed because it was too warm.
    pub throttled_s: f64,
    /// Seconds that the jobs took.
    pub seconds: f64,
}

impl Heat {
    /// Both, one after the other.
    pub fn and(self, later: Heat) -> Heat {
        Heat {
            highest_c: self.highest_c.max(later.highest_c),
            throttled_s: self.throttled_s + later.throttled_s,
            seconds: self.seconds + later.seconds,
        }
    }
}

/// What was read at one time. What the drive did not tell is not there.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct HealthReading {
    /// Who said so: `smartctl`, `hwmon` (the kernel's sensor of the drive), or both; `model` of a virtual drive.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// What is not available, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_available: Vec<String>,
    /// Its own verdict on itself (SMART overall health).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed: Option<bool>,
    /// Temperature, degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<f64>,
    /// Temperature from which on it warns, degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_warning_c: Option<f64>,
    /// Minutes above its warning temperature in its life (NVMe).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning_temperature_minutes: Option<u64>,
    /// Minutes above its critical temperature in its life (NVMe).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critical_temperature_minutes: Option<u64>,
    /// Times it was above its highest temperature (SCT status of ATA).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_temperature_count: Option<u64>,
    /// Critical warning bits (NVMe); bit 1 is the temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critical_warning: Option<u64>,
    /// Endurance used, percent of what it is rated for; may exceed 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endurance_used_percent: Option<f64>,
    /// Spare blocks left, percent of those it had (NVMe).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare_percent: Option<f64>,
    /// Data that could not be given back (NVMe media errors; ATA reported uncorrectable).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_errors: Option<u64>,
    /// Sectors or blocks that were replaced (ATA).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reallocated: Option<u64>,
    /// Errors on the link (ATA).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_errors: Option<u64>,
    /// Bytes that hosts have written in its life; NVMe counts in 512,000 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_written_bytes: Option<u64>,
    /// Bytes that hosts have read in its life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_read_bytes: Option<u64>,
    /// Hours it was on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_on_hours: Option<u64>,
}
