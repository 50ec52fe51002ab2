//! What lies between the host and any drive: the host's own cost and the SATA link.

use serde::{Deserialize, Serialize};

use super::{ConfigError, within};

/// The host in front of the drive. A virtual drive without it would beat every real one by the
/// time an operating system and a host controller take.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostSection {
    /// Microseconds from the job's submit to the command's arrival at the drive plus those from
    /// the drive's answer to the job's completion. Adds to latency, occupies nothing.
    pub command_us: f64,
    /// The same for a read, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_command_us: Option<f64>,
    /// The same for a write, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_command_us: Option<f64>,
    /// Microseconds of them for which the process that submits and collects the command is busy and
    /// does nothing else: one process reaches one command over this. Left out, it reaches any rate. A hard disk takes
    /// no notice: it is slower than any host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_us: Option<f64>,
    /// Processes that share the commands, each on a processor of its own, 1 to 1024; 1 where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<u32>,
}

/// A SATA link. One direction carries data at a time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SataLinkSection {
    /// Line rate in Gb/s before 8b/10b coding: 1.5, 3 or 6.
    pub gbps: f64,
    /// Microseconds the link is taken by a command's own frames (register, DMA setup, status).
    pub command_us: f64,
    /// Microseconds of handshake and turnaround for every data frame of up to 8192 bytes.
    pub frame_us: f64,
}

impl Default for SataLinkSection {
    /// 6 Gb/s, and nothing but its coding takes away from that.
    fn default() -> SataLinkSection {
        SataLinkSection { gbps: 6.0, command_us: 0.0, frame_us: 0.0 }
    }
}

impl HostSection {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        within("host.command_us", self.command_us, 0.0..=10_000.0)?;
        for (key, value) in [
            ("host.read_command_us", self.read_command_us),
            ("host.write_command_us", self.write_command_us),
        ] {
            value.map_or(Ok(()), |value| within(key, value, 0.0..=10_000.0))?;
        }
        if let Some(process_us) = self.process_us {
            let least = self.command_us.min(self.read_us()).min(self.write_us());
            if !(0.0..=least).contains(&process_us) {
                let why = format!(
                    "it is a part of what a command costs the host: set it to 0 to {least}, or host.command_us to more"
                );
                return Err(ConfigError::new("host.process_us", process_us, why));
            }
        }
        match self.processes {
            Some(processes) if self.process_us.is_none() => Err(ConfigError::new(
                "host.processes",
                processes,
                "without host.process_us a process reaches any rate: set that, too",
            )),
            Some(processes) => within("host.processes", processes, 1..=1024),
            None => Ok(()),
        }
    }

    /// Microseconds for a read.
    pub(crate) fn read_us(&self) -> f64 {
        self.read_command_us.unwrap_or(self.command_us)
    }

    /// Microseconds for a write.
    pub(crate) fn write_us(&self) -> f64 {
        self.write_command_us.unwrap_or(self.command_us)
    }
}

impl SataLinkSection {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        check_gbps("link.gbps", self.gbps)?;
        within("link.command_us", self.command_us, 0.0..=1000.0)?;
        within("link.frame_us", self.frame_us, 0.0..=1000.0)
    }
}

/// Checks a line rate of SATA: there are three (Serial ATA revision 3).
pub(crate) fn check_gbps(key: &str, gbps: f64) -> Result<(), ConfigError> {
    if [1.5, 3.0, 6.0].contains(&gbps) {
        return Ok(());
    }
    Err(ConfigError::new(key, gbps, "it must be 1.5, 3 or 6"))
}
