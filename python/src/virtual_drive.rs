//! The library's drive without the real ones, which stay on the thread that opened them.

use fourcorners_drive::{Hdd, Ssd};
use fourcorners_lab::array::Several;
use fourcorners_lab::drive::Drive as LabDrive;

use crate::profile::DriveProfile;

/// A virtual drive, which may go from thread to thread.
pub(crate) enum Virtual {
    Ssd(Box<Ssd>),
    Hdd(Box<Hdd>),
    Several(Several),
}

impl Virtual {
    pub(crate) fn into_lab(self) -> LabDrive {
        match self {
            Virtual::Ssd(ssd) => LabDrive::Ssd(ssd),
            Virtual::Hdd(hdd) => LabDrive::Hdd(hdd),
            Virtual::Several(Several::Array(array)) => LabDrive::Array(array),
            Virtual::Several(Several::Cache(cache)) => LabDrive::Cache(cache),
        }
    }

    pub(crate) fn from_lab(drive: LabDrive) -> Option<Virtual> {
        match drive {
            LabDrive::Ssd(ssd) => Some(Virtual::Ssd(ssd)),
            LabDrive::Hdd(hdd) => Some(Virtual::Hdd(hdd)),
            LabDrive::Array(array) => Some(Virtual::Several(Several::Array(array))),
            LabDrive::Cache(cache) => Some(Virtual::Several(Several::Cache(cache))),
            LabDrive::Real(_) | LabDrive::Disturbed(_) => None,
        }
    }
}

/// A new drive.
pub(crate) fn new_drive(profile: &DriveProfile) -> LabDrive {
    match profile {
        DriveProfile::One(profile) => LabDrive::from_profile(profile),
        DriveProfile::Several(array) => Virtual::Several(array.several()).into_lab(),
    }
}
