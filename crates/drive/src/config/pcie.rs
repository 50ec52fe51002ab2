//! The link of an SSD, SATA or PCIe, and the PCIe link itself.

use serde::{Deserialize, Serialize};

use super::{ConfigError, SataLinkSection, within};

/// The link between host and drive. In TOML both kinds are the section `[link]`, told apart by
/// their keys: `gbps` is SATA's, `generation` and `lanes` are PCIe's.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "LinkKeys", into = "LinkKeys")]
pub enum LinkSection {
    /// SATA: one direction carries data at a time, 32 commands at once.
    Sata(SataLinkSection),
    /// PCIe with NVMe: reads and writes have a direction each, 65,535 commands at once.
    Pcie(PcieLinkSection),
}

/// A PCIe link. Both directions carry data at the same time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PcieLinkSection {
    /// Generation, 1 to 5: 2.5, 5, 8, 16 and 32 GT/s a lane, with 8b/10b coding up to 2 and
    /// 128b/130b from 3 on.
    pub generation: u32,
    /// Lanes: 1, 2, 4, 8, 12 or 16.
    pub lanes: u32,
    /// Most bytes of data a transaction layer packet, a power of two from 128 to 4096. Each packet
    /// adds 24 bytes of framing, header and CRC.
    pub max_payload_bytes: u32,
    /// Percent of the link that acknowledgements and flow control credits take, 0 to 50; none
    /// where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dllp_percent: Option<f64>,
}

impl Default for PcieLinkSection {
    /// Third generation, four lanes.
    fn default() -> PcieLinkSection {
        PcieLinkSection { generation: 3, lanes: 4, max_payload_bytes: 256, dllp_percent: None }
    }
}

/// The keys of `[link]`, of whichever kind.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkKeys {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gbps: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command_us: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    frame_us: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    generation: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lanes: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_payload_bytes: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dllp_percent: Option<f64>,
}

/// Why a section is that of no link.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkKeysError {
    #[error("missing field `{0}`")]
    Missing(&'static str),
    #[error("`{sata}` is of a SATA link and `{pcie}` of a PCIe link; a drive has one of them")]
    BothLinks { sata: &'static str, pcie: &'static str },
}

impl TryFrom<LinkKeys> for LinkSection {
    type Error = LinkKeysError;

    fn try_from(keys: LinkKeys) -> Result<LinkSection, LinkKeysError> {
        let sata = [
            ("gbps", keys.gbps.is_some()),
            ("command_us", keys.command_us.is_some()),
            ("frame_us", keys.frame_us.is_some()),
        ];
        let pcie = [
            ("generation", keys.generation.is_some()),
            ("lanes", keys.lanes.is_some()),
            ("max_payload_bytes", keys.max_payload_bytes.is_some()),
            ("dllp_percent", keys.dllp_percent.is_some()),
        ];
        let first =
            |of: &[(&'static str, bool)]| of.iter().find(|(_, is)| *is).map(|(key, _)| *key);
        let missing = LinkKeysError::Missing;
        match (first(&sata), first(&pcie)) {
            (Some(sata), Some(pcie)) => Err(LinkKeysError::BothLinks { sata, pcie }),
            (_, None) => Ok(LinkSection::Sata(SataLinkSection {
                gbps: keys.gbps.ok_or_else(|| missing("gbps"))?,
                command_us: keys.command_us.ok_or_else(|| missing("command_us"))?,
                frame_us: keys.frame_us.ok_or_else(|| missing("frame_us"))?,
            })),
            (None, Some(_)) => Ok(LinkSection::Pcie(PcieLinkSection {
                generation: keys.generation.ok_or_else(|| missing("generation"))?,
                lanes: keys.lanes.ok_or_else(|| missing("lanes"))?,
                max_payload_bytes: keys
                    .max_payload_bytes
                    .ok_or_else(|| missing("max_payload_bytes"))?,
                dllp_percent: keys.dllp_percent,
            })),
        }
    }
}

impl From<LinkSection> for LinkKeys {
    fn from(section: LinkSection) -> LinkKeys {
        match section {
            LinkSection::Sata(sata) => LinkKeys {
                gbps: Some(sata.gbps),
                command_us: Some(sata.command_us),
                frame_us: Some(sata.frame_us),
                ..LinkKeys::default()
            },
            LinkSection::Pcie(pcie) => LinkKeys {
                generation: Some(pcie.generation),
                lanes: Some(pcie.lanes),
                max_payload_bytes: Some(pcie.max_payload_bytes),
                dllp_percent: pcie.dllp_percent,
                ..LinkKeys::default()
            },
        }
    }
}

impl LinkSection {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        match self {
            LinkSection::Sata(sata) => sata.check(),
            LinkSection::Pcie(pcie) => pcie.check("link"),
        }
    }

    /// Commands the link's protocol lets a drive have at once: NCQ has tags of 5 bits, an NVMe
    /// queue at most 65,536 entries, of which one stays empty.
    pub(crate) fn most_commands(&self) -> u32 {
        match self {
            LinkSection::Sata(_) => 32,
            LinkSection::Pcie(_) => 65_535,
        }
    }
}

impl PcieLinkSection {
    /// `section` is the name it goes by in the config.
    pub(crate) fn check(&self, section: &str) -> Result<(), ConfigError> {
        within(&format!("{section}.generation"), self.generation, 1..=5)?;
        let lanes = self.lanes;
        if ![1, 2, 4, 8, 12, 16].contains(&lanes) {
            let must = "it must be 1, 2, 4, 8, 12 or 16";
            return Err(ConfigError::new(&format!("{section}.lanes"), lanes, must));
        }
        let payload = self.max_payload_bytes;
        if !payload.is_power_of_two() || !(128..=4096).contains(&payload) {
            let must = "it must be 128, 256, 512, 1024, 2048 or 4096";
            let key = format!("{section}.max_payload_bytes");
            return Err(ConfigError::new(&key, payload, must));
        }
        match self.dllp_percent {
            Some(percent) => within(&format!("{section}.dllp_percent"), percent, 0.0..=50.0),
            None => Ok(()),
        }
    }

    /// Bytes a second in one direction after line coding, what DLLPs take left out.
    pub(crate) fn bytes_per_second(&self) -> f64 {
        // PCI Express Base Specification: the bits of a lane and the share of them that is data.
        let (transfers, coding) = match self.generation {
            1 => (2.5e9, 0.8),
            2 => (5e9, 0.8),
            3 => (8e9, 128.0 / 130.0),
            4 => (16e9, 128.0 / 130.0),
            _ => (32e9, 128.0 / 130.0),
        };
        let dllp = self.dllp_percent.unwrap_or(0.0);
        transfers * coding / 8.0 * f64::from(self.lanes) * (1.0 - dllp / 100.0)
    }
}
