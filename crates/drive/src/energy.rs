//! The energy of a drive: joules from what was counted and the time it was on.
//!
//! Nothing is integrated step by step. Operations are counted where they are ordered, and a reading
//! multiplies the counts: an idle hour costs one multiplication, and a drive without `[power]`
//! counts nothing but what it counted before.
//!
//! Resources are charged when a command is issued (see [`crate::lane`]), and so is energy: an
//! operation counts as soon as it is ordered, though it may end later. What depends on time
//! alone (idle, a command being in the drive, reading on) is exact at every moment. An operation that
//! crosses the end of a second therefore counts in the first of the two.
//!
//! An SSD draws `idle_w`, `active_w` while a command is in the drive, and a fixed energy for each page
//! read or programmed, block erased, byte on a channel and bit on the link. A hard disk draws according to
//! its arm; the spindle never stops. The run loop reads the meter when a job begins and ends, and at the
//! end of each second. Data in a hard disk's cache at the end of a job is not in the figure. Low-power
//! states of link and drive, and spin-up, are not modelled. How warm an SSD gets by it: [`crate::heat`].

use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::config::{HddPowerSection, NandSection, PowerSection};
use crate::nand::NandCounts;
use crate::state::{LATEST, MOST_COUNTED};

/// The joules of a virtual SSD since it was made, by where they went.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct SsdEnergy {
    /// Idle power over all of the time.
    pub idle_j: f64,
    /// What the controller took beyond it while the drive had commands.
    pub controller_j: f64,
    /// Pages read from the array.
    pub read_j: f64,
    /// Pages programmed.
    pub program_j: f64,
    /// Blocks erased.
    pub erase_j: f64,
    /// Pages moved over the channels.
    pub transfer_j: f64,
    /// Data over the host's link.
    pub link_j: f64,
}

impl SsdEnergy {
    /// All of it.
    pub fn total_j(&self) -> f64 {
        self.idle_j
            + self.controller_j
            + self.read_j
            + self.program_j
            + self.erase_j
            + self.transfer_j
            + self.link_j
    }
}

/// The joules of a virtual hard disk since it was made, by where they went.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct HddEnergy {
    /// Idle power over all of the time.
    pub idle_j: f64,
    /// What moving the arm took beyond it.
    pub seek_j: f64,
    /// What reading took beyond it, waiting for the sectors and reading on included.
    pub read_j: f64,
    /// What writing took beyond it, waiting for the sectors included.
    pub write_j: f64,
}

impl HddEnergy {
    /// All of it.
    pub fn total_j(&self) -> f64 {
        self.idle_j + self.seek_j + self.read_j + self.write_j
    }
}

/// Counts what the energy of an SSD depends on beyond its NAND operations.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct SsdMeter {
    idle_w: f64,
    /// Beyond `idle_w`.
    active_w: f64,
    read_j: f64,
    program_j: f64,
    erase_j: f64,
    page_transfer_j: f64,
    link_j_per_byte: f64,
    planes: u64,
    link_bytes: u64,
    /// Time with a command in the drive, without the stretch that was begun last.
    active: Nanos,
    /// That stretch: from when there was always a command, and until when as far as is known.
    active_from: Nanos,
    active_until: Nanos,
}

impl SsdMeter {
    pub(crate) fn new(power: &PowerSection, nand: &NandSection) -> SsdMeter {
        SsdMeter {
            idle_w: power.idle_w,
            active_w: power.active_w - power.idle_w,
            read_j: power.read_uj * 1e-6,
            program_j: power.program_uj * 1e-6,
            erase_j: power.erase_uj * 1e-6,
            page_transfer_j: power.transfer_nj_per_byte * 1e-9 * f64::from(nand.page_bytes),
            link_j_per_byte: power.link_pj_per_bit * 8.0 * 1e-12,
            planes: u64::from(nand.planes),
            link_bytes: 0,
            active: Nanos::ZERO,
            active_from: Nanos::ZERO,
            active_until: Nanos::ZERO,
        }
    }

    /// Whether a loaded meter is one that `made`, which is new, could have become.
    pub(crate) fn fits(&self, made: &SsdMeter) -> bool {
        let SsdMeter { link_bytes, active, active_from, active_until, .. } = *self;
        let anew = SsdMeter {
            link_bytes: 0,
            active: Nanos::ZERO,
            active_from: Nanos::ZERO,
            active_until: Nanos::ZERO,
            ..self.clone()
        };
        anew == *made
            && link_bytes <= MOST_COUNTED
            && active.max(active_from).max(active_until) <= LATEST
    }

    /// A command is in the drive from `arrives` to `answered` and moves `bytes` over the link.
    /// Commands come in the order of their arrival.
    #[inline]
    pub(crate) fn command(&mut self, arrives: Nanos, answered: Nanos, bytes: u64) {
        self.link_bytes += bytes;
        if arrives > self.active_until {
            self.active += self.active_until.since(self.active_from);
            self.active_from = arrives;
        }
        self.active_until = self.active_until.max(answered);
    }

    /// The energy until `at` of a drive whose NAND has done `nand`.
    pub(crate) fn energy(&self, at: Nanos, nand: NandCounts) -> SsdEnergy {
        let pages_programmed = nand.rows_programmed * self.planes + nand.single_pages_programmed;
        let active = self.active + self.active_until.min(at).since(self.active_from);
        SsdEnergy {
            idle_j: self.idle_w * at.as_secs(),
            controller_j: self.active_w * active.as_secs(),
            read_j: self.read_j * nand.pages_read as f64,
            program_j: self.program_j * pages_programmed as f64,
            erase_j: self.erase_j * (nand.blocks_erased * self.planes) as f64,
            transfer_j: self.page_transfer_j * (nand.pages_read + pages_programmed) as f64,
            link_j: self.link_j_per_byte * self.link_bytes as f64,
        }
    }
}

/// Counts what the energy of a hard disk depends on.
#[derive(Clone, Debug)]
pub(crate) struct HddMeter {
    idle_w: f64,
    /// These three beyond `idle_w`.
    seek_w: f64,
    read_w: f64,
    write_w: f64,
    seeking: Nanos,
    reading: Nanos,
    writing: Nanos,
}

impl HddMeter {
    pub(crate) fn new(power: &HddPowerSection) -> HddMeter {
        let idle_w = power.idle_w;
        HddMeter {
            idle_w,
            seek_w: power.seek_w - idle_w,
            read_w: power.read_w - idle_w,
            write_w: power.write_w - idle_w,
            seeking: Nanos::ZERO,
            reading: Nanos::ZERO,
            writing: Nanos::ZERO,
        }
    }

    /// The arm serves a transfer for `busy` in all, of which it moves for `seek`.
    pub(crate) fn transfer(&mut self, write: bool, seek: Nanos, busy: Nanos) {
        let on_track = busy.since(seek);
        self.seeking += seek;
        if write {
            self.writing += on_track;
        } else {
            self.reading += on_track;
        }
    }

    /// The energy until `at` of a drive that has read on for `read_on` besides.
    pub(crate) fn energy(&self, at: Nanos, read_on: Nanos) -> HddEnergy {
        HddEnergy {
            idle_j: self.idle_w * at.as_secs(),
            seek_j: self.seek_w * self.seeking.as_secs(),
            read_j: self.read_w * (self.reading + read_on).as_secs(),
            write_j: self.write_w * self.writing.as_secs(),
        }
    }
}
