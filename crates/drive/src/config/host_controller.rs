//! What stands between a computer's memory and a SATA drive, as data of its own: the same drive
//! is another one behind another controller.

use serde::{Deserialize, Serialize};

use super::{ConfigError, HostSection, PcieLinkSection, check_gbps, within};

/// An operating system with its way to submit I/Os, and the SATA host controller behind it if that is told.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostControllerConfig {
    /// What a command costs; takes the place of the drive's own section.
    pub host: HostSection,
    /// What its ports can do; left out where only what a command costs is told, whatever the drive is plugged into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ports: Option<PortsSection>,
    /// Its link to the computer; without it, that is never the slower one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<PcieLinkSection>,
}

/// The ports of a host controller.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortsSection {
    /// Fastest line rate in Gb/s: 1.5, 3 or 6.
    pub max_gbps: f64,
    /// Commands it gives a drive at once, 1 (no NCQ) to 32.
    pub queue_depth: u32,
    /// What becomes of a TRIM on the way to a drive; unknown where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim: Option<PortTrim>,
}

/// What a host controller, with its driver, does with a TRIM.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PortTrim {
    /// Hands it to the drive.
    Passed,
    /// Answers it, and the drive never sees it.
    Dropped,
    /// Answers it with an error.
    Refused,
    /// Nobody has shown which.
    #[default]
    Unknown,
}

impl HostControllerConfig {
    /// What becomes of a TRIM on the way to a drive; where no ports are told, nothing is in its way.
    pub fn trim(&self) -> PortTrim {
        self.ports.as_ref().map_or(PortTrim::Passed, PortsSection::trim)
    }
}

impl PortsSection {
    /// What becomes of a TRIM.
    pub fn trim(&self) -> PortTrim {
        self.trim.unwrap_or_default()
    }
}

impl HostControllerConfig {
    /// Whether such a controller can be.
    ///
    /// # Errors
    /// The first value that is out of its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.host.check()?;
        if let Some(ports) = &self.ports {
            check_gbps("ports.max_gbps", ports.max_gbps)?;
            within("ports.queue_depth", ports.queue_depth, 1..=32)?;
        }
        self.upstream.as_ref().map_or(Ok(()), |upstream| upstream.check("upstream"))
    }
}
