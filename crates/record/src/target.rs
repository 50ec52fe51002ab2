//! What was measured: a model, a device or a file, and what it says of itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of target it was.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A model.
    Virtual,
    /// A Linux block device.
    Device,
    /// A file on a file system.
    File,
}

/// What was measured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TargetInfo {
    /// Catalogue name, or the path as given.
    pub name: String,
    /// The name a reader knows it by.
    pub title: String,
    /// Virtual, device or file.
    pub kind: TargetKind,
    /// Addressable bytes.
    pub capacity_bytes: u64,
    /// Smallest I/O in bytes.
    pub logical_block_bytes: u32,
    /// A real target: whether I/O bypassed the page cache. If not, memory was measured too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct: Option<bool>,
    /// A real target: what is known to answer in place of a drive, in a clause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_memory: Option<String>,
    /// Titles of the drives that an array or a cache is made of, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drives: Vec<String>,
    /// Model as the device tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Serial number as the device tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// Firmware revision as the device tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// A virtual drive's profile: SHA-256 of its values, first 16 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile_hash: Option<String>,
    /// Program/erase cycles that a virtual SSD's flash is rated for, where its profile says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated_cycles: Option<u32>,
    /// What else its profile says of its flash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash: Option<FlashRating>,
    /// A virtual drive's parameters that were fitted to measurements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fitted: Vec<String>,
    /// How it is known by how much the times of a virtual drive vary; without it they do not, or it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variation: Option<Variation>,
    /// A virtual drive's parameters that were given with `--set`, as `key=value`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// The host controller a virtual drive was put behind with `--host`, by its name; without one
    /// it has the host of its own profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_controller: Option<String>,
    /// What that host controller does with a TRIM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_trim: Option<HostTrim>,
    /// A virtual drive that was not new: first 16 hexadecimal digits of the SHA-256 of the state
    /// it was loaded from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded_state: Option<String>,
}

/// So much of the id of a state tells it from others.
const SHORT_ID: usize = 7;

impl TargetInfo {
    /// A target with nothing known but these; its title is its name.
    pub fn new(
        name: String,
        kind: TargetKind,
        capacity_bytes: u64,
        logical_block_bytes: u32,
    ) -> TargetInfo {
        TargetInfo {
            title: name.clone(),
            name,
            kind,
            capacity_bytes,
            logical_block_bytes,
            direct: None,
            in_memory: None,
            drives: Vec::new(),
            model: None,
            serial: None,
            firmware: None,
            profile_hash: None,
            rated_cycles: None,
            flash: None,
            fitted: Vec::new(),
            variation: None,
            set: Vec::new(),
            host_controller: None,
            host_trim: None,
            loaded_state: None,
        }
    }

    /// Its title, or its name where it has none.
    pub fn title_or_name(&self) -> &str {
        match self.title.trim() {
            "" => &self.name,
            title => title,
        }
    }

    /// How a virtual drive differs from its profile, fresh: what was set, its host controller, the state that was loaded.
    pub fn changes(&self) -> Vec<String> {
        let state = self.loaded_state.iter().map(|state| {
            let is_id = state.len() > SHORT_ID && state.bytes().all(|it| it.is_ascii_hexdigit());
            format!("state {}", if is_id { &state[..SHORT_ID] } else { state })
        });
        self.set.iter().chain(&self.host_controller).cloned().chain(state).collect()
    }

    /// Its title, and the changes of a virtual drive: "Crucial m4 256 GB (nand.dies=4)". Of more than three
    /// changes it has the first two, and says how many more there are.
    pub fn title_as_set_up(&self) -> String {
        let title = self.title_or_name();
        match &self.changes()[..] {
            [] => title.into(),
            [first, second, more @ ..] if more.len() > 1 => {
                format!("{title} ({first}, {second} and {} more)", more.len())
            }
            changes => format!("{title} ({})", changes.join(", ")),
        }
    }
}

/// How it is known by how much the times of a virtual drive vary from page to page, command to command and
/// second to second.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Variation {
    /// From other drives of its class.
    Inferred,
    /// From measurements of this model.
    Fitted,
}

/// What a host controller does with a TRIM.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HostTrim {
    /// Hands it to the drive.
    Passed,
    /// Answers it, and the drive never sees it.
    Dropped,
    /// Answers it with an error.
    Refused,
    /// Nobody has shown which.
    Unknown,
}

impl HostTrim {
    /// What it does, in words.
    pub fn words(self) -> &'static str {
        match self {
            HostTrim::Passed => "passes TRIM",
            HostTrim::Dropped => "drops TRIM",
            HostTrim::Refused => "refuses TRIM",
            HostTrim::Unknown => "not known to pass TRIM",
        }
    }
}

/// What the flash of a virtual SSD is rated for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FlashRating {
    /// `SLC`, `MLC`, `TLC` or `QLC`.
    pub cells: String,
    /// TB (10^12 bytes) that its maker lets a host write to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated_tb: Option<f64>,
    /// How long it keeps data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<Retention>,
}

/// How long data is kept without power on flash that has had its rated writes.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Retention {
    /// Days.
    pub days: f64,
    /// Storage temperature, degrees Celsius.
    pub celsius: f64,
    /// Activation energy for other temperatures, electron volts.
    pub activation_ev: f64,
}
