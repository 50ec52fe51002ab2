//! What lies between the host and any drive: the host's own cost and the SATA link.

use serde::{Deserialize, Serialize};

use super::{ProfileError, Sourced, within};

/// The host in front of the drive. A virtual drive without it would beat every real one by the
/// time an operating system and a host controller take.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostSection {
    /// Microseconds from the job's submit to the command's arrival at the drive plus those from
    /// the drive's answer to the job's completion. Adds to latency, occupies nothing.
    pub command_us: Sourced<f64>,
}

/// A SATA link. One direction carries data at a time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSection {
    /// Line rate in Gb/s before 8b/10b coding: 1.5, 3 or 6.
    pub gbps: Sourced<f64>,
    /// Microseconds the link is taken by a command's own frames (register, DMA setup, status).
    pub command_us: Sourced<f64>,
    /// Microseconds of handshake and turnaround for every data frame of up to 8192 bytes.
    pub frame_us: Sourced<f64>,
}

impl HostSection {
    pub(crate) fn check(&self) -> Result<(), ProfileError> {
        within("host.command_us", &self.command_us, 0.0..=10_000.0)
    }
}

impl LinkSection {
    pub(crate) fn check(&self) -> Result<(), ProfileError> {
        within("link.gbps", &self.gbps, 0.1..=1000.0)?;
        within("link.command_us", &self.command_us, 0.0..=1000.0)?;
        within("link.frame_us", &self.frame_us, 0.0..=1000.0)
    }
}
