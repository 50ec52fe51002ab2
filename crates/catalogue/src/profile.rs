//! A drive as data: its parameters, and where each is from.

use std::collections::BTreeMap;

use fourcorners_drive::config::{HddConfig, LinkSection, PortTrim, SsdConfig};
use fourcorners_drive::{Geometry, SECTOR_BYTES};
use sha2::{Digest, Sha256};
use toml::Value;

use super::sourced::Standing;

/// A drive as data, read and checked.
#[derive(Clone, PartialEq, Debug)]
pub struct Profile {
    /// The name it goes by on the command line.
    pub name: String,
    /// The name a reader knows it by.
    pub title: String,
    /// Citations by key.
    pub sources: BTreeMap<String, String>,
    /// The parameters.
    pub model: Model,
    /// The host controller it was put behind.
    pub host_controller: Option<String>,
    /// What that one does with a TRIM.
    pub host_trim: Option<PortTrim>,
    /// What was changed with `--set`, as typed.
    pub set: Vec<String>,
    /// Every value with its section and key, for printing.
    pub values: Vec<ProfileValue>,
}

/// What kind of drive the parameters make.
#[derive(Clone, PartialEq, Debug)]
pub enum Model {
    /// A solid-state drive.
    Ssd(Box<SsdConfig>),
    /// A hard disk.
    Hdd(Box<HddConfig>),
}

impl Model {
    /// The word for it in a profile's `kind`.
    pub fn kind(&self) -> &'static str {
        match self {
            Model::Ssd(_) => "ssd",
            Model::Hdd(_) => "hdd",
        }
    }
}

/// One value of a profile.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct ProfileValue {
    /// Section and key: `nand.dies`.
    pub key: String,
    /// The value, as TOML writes it.
    pub value: Value,
    /// How it stands.
    pub standing: Standing,
    /// The citation.
    pub source: String,
    /// The key of the citation in `[sources]`.
    #[serde(skip)]
    pub source_key: String,
    /// What a reader needs to judge it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Profile {
    /// Addressable bytes.
    pub fn capacity_bytes(&self) -> u64 {
        match &self.model {
            Model::Ssd(ssd) => ssd.capacity.sectors * 512,
            Model::Hdd(hdd) => hdd.capacity.sectors * 512,
        }
    }

    /// The link to it, in a few words: `SATA 6 Gb/s`, `PCIe 4 x4`.
    pub fn interface(&self) -> String {
        let sata = |gbps: f64| format!("SATA {gbps} Gb/s");
        match &self.model {
            Model::Ssd(ssd) => match &ssd.link {
                LinkSection::Sata(link) => sata(link.gbps),
                LinkSection::Pcie(link) => format!("PCIe {} x{}", link.generation, link.lanes),
            },
            Model::Hdd(hdd) => sata(hdd.link.gbps),
        }
    }

    /// What a drive of it can hold and take.
    pub fn geometry(&self) -> Geometry {
        match &self.model {
            Model::Ssd(ssd) => Geometry {
                sectors: ssd.capacity.sectors,
                logical_block_bytes: SECTOR_BYTES as u32,
                queue_depth: ssd.capacity.queue_depth,
            },
            Model::Hdd(hdd) => Geometry {
                sectors: hdd.capacity.sectors,
                logical_block_bytes: hdd.capacity.logical_block_bytes,
                queue_depth: hdd.ncq.depth,
            },
        }
    }

    /// What is to be set so that the host in front of the drive takes no time, as [`built_in`](crate::built_in) takes it.
    pub fn host_to_zero(&self) -> Vec<String> {
        let host = match &self.model {
            Model::Ssd(model) => &model.host,
            Model::Hdd(model) => &model.host,
        };
        let mut set = vec!["host.command_us=0".to_string()];
        set.extend(host.read_command_us.as_ref().map(|_| "host.read_command_us=0".into()));
        set.extend(host.write_command_us.as_ref().map(|_| "host.write_command_us=0".into()));
        set.extend(host.process_us.as_ref().map(|_| "host.process_us=0".into()));
        set
    }

    /// Whether the drive takes TRIMs.
    pub fn takes_trim(&self) -> bool {
        match &self.model {
            Model::Ssd(ssd) => ssd.trim.supported,
            Model::Hdd(_) => false,
        }
    }

    /// Memory that the drive takes, bytes: 9 for each 4 KiB of a solid-state drive's flash.
    pub fn memory_bytes(&self) -> u64 {
        match &self.model {
            Model::Ssd(ssd) => ssd.raw_bytes() / 4096 * 9,
            Model::Hdd(_) => 0,
        }
    }

    /// Whether the profile says what the drive draws.
    pub fn has_power(&self) -> bool {
        match &self.model {
            Model::Ssd(ssd) => ssd.power.is_some(),
            Model::Hdd(hdd) => hdd.power.is_some(),
        }
    }

    /// Keys of the values that were fitted to measurements.
    pub fn fitted(&self) -> Vec<String> {
        let fitted = self.values.iter().filter(|value| value.standing == Standing::Fitted);
        fitted.map(|value| value.key.clone()).collect()
    }

    /// Whether values were fitted to what a source says, which is cited by its name and what was taken from it.
    pub fn is_fitted_to(&self, source: &str) -> bool {
        let cites = |value: &&ProfileValue| {
            let rest = value.source.strip_prefix(source);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(": "))
        };
        self.values.iter().filter(cites).any(|value| value.standing == Standing::Fitted)
    }

    /// First 16 hexadecimal digits of the SHA-256 of all keys and values: two profiles of equal
    /// hash are the same drive, whatever their notes say.
    pub fn hash(&self) -> String {
        let mut digest = Sha256::new();
        for value in &self.values {
            digest.update(format!("{}={}\n", value.key, value.value));
        }
        digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}
