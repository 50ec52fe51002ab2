//! What a drive draws: the optional section `[power]`. A drive without it has no energy.

use serde::{Deserialize, Serialize};

use super::{ConfigError, within};

/// Most watts of a drive.
const MOST_W: f64 = 1000.0;

/// What an SSD draws: two levels of power by time, and energy by operation on top of them.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerSection {
    /// Watts with no command in the drive: controller, DRAM, link and NAND idle.
    pub idle_w: f64,
    /// Watts of the same while the drive has a command; at least `idle_w`. What its operations
    /// take comes on top.
    pub active_w: f64,
    /// Microjoules to read a page from the array into its register.
    pub read_uj: f64,
    /// Microjoules to program a page, mean over lower and upper pages.
    pub program_uj: f64,
    /// Microjoules to erase a block of one plane.
    pub erase_uj: f64,
    /// Nanojoules for a byte over a channel, to a die or from it, both ends together.
    pub transfer_nj_per_byte: f64,
    /// Picojoules for a bit of the host's data over the link; what its coding adds is in it.
    pub link_pj_per_bit: f64,
}

/// What a hard disk draws, by what the arm does. Each is all of the drive, motor and electronics
/// included.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HddPowerSection {
    /// Watts while it spins and the arm has nothing to do, ready at once ("performance idle"):
    /// the model has no deeper state.
    pub idle_w: f64,
    /// Watts while the arm moves or changes heads; at least `idle_w`.
    pub seek_w: f64,
    /// Watts while a head on its track waits for the sectors of a read, reads them or reads on
    /// after them; at least `idle_w`.
    pub read_w: f64,
    /// Watts while a head on its track waits for the sectors of a write or writes them; at least
    /// `idle_w`.
    pub write_w: f64,
}

impl PowerSection {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        within("power.idle_w", self.idle_w, 0.0..=MOST_W)?;
        within("power.active_w", self.active_w, self.idle_w..=MOST_W)?;
        within("power.read_uj", self.read_uj, 0.0..=1e6)?;
        within("power.program_uj", self.program_uj, 0.0..=1e6)?;
        within("power.erase_uj", self.erase_uj, 0.0..=1e9)?;
        within("power.transfer_nj_per_byte", self.transfer_nj_per_byte, 0.0..=1e6)?;
        within("power.link_pj_per_bit", self.link_pj_per_bit, 0.0..=1e6)
    }
}

impl HddPowerSection {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        within("power.idle_w", self.idle_w, 0.0..=MOST_W)?;
        let at_least_idle = self.idle_w..=MOST_W;
        within("power.seek_w", self.seek_w, at_least_idle.clone())?;
        within("power.read_w", self.read_w, at_least_idle.clone())?;
        within("power.write_w", self.write_w, at_least_idle)
    }
}
