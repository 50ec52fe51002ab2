//! The drive behind a door: a virtual one as its profile has it, and without the profile's host; or a real one.

use std::path::Path;

use fourcorners_catalogue::{Model, Profile, overridden};
use fourcorners_drive::Ssd;
use fourcorners_drive::config::SsdConfig;
use fourcorners_lab::array::{ArrayNameError, ArrayProfile};
use fourcorners_lab::state;
use fourcorners_linux::guard::RealTarget;

use super::outcome::Failure;
use super::targets::{self, VirtualDrive};

/// A drive by its name or profile.
pub(super) struct ServedDrive {
    /// As its profile has it, with what was set.
    pub(super) as_sold: Box<Profile>,
    /// The same with a `[host]` of 0, but for what of it was set: the real host is in front of the drive now.
    pub(super) bare: Box<Profile>,
}

/// What is served: a drive, or several as one.
pub(super) enum ServedTarget {
    Drive(ServedDrive),
    /// A device or a file that is there.
    Real(Box<RealTarget>),
    /// The drives with a `[host]` of 0.
    Several(Box<ArrayProfile>),
}

impl ServedTarget {
    pub(super) fn find(name: &str, set: &[String]) -> Result<ServedTarget, Failure> {
        let usage = |error: ArrayNameError| Failure::Usage(error.to_string());
        let as_sold = ArrayProfile::find(name, None, set).transpose().map_err(usage)?;
        let Some(as_sold) = as_sold else {
            if let Some(real) = targets::find_real(name) {
                return Ok(ServedTarget::Real(real));
            }
            return Ok(ServedTarget::Drive(ServedDrive::find(name, set)?));
        };
        // All drives are told the same; what one of them has not is 0 in it, too.
        let without_host: Vec<String> =
            as_sold.members.iter().flat_map(Profile::host_to_zero).collect();
        let bare = as_sold.again(None, &overridden(&without_host, set)).map_err(usage)?;
        Ok(ServedTarget::Several(Box::new(bare)))
    }
}

impl ServedDrive {
    pub(super) fn find(name: &str, set: &[String]) -> Result<ServedDrive, Failure> {
        let find = |set: &[String]| {
            let drive = VirtualDrive { name, host: None, set, why: "served" };
            targets::find_virtual(&drive).map_err(Failure::Usage)
        };
        let as_sold = find(set)?;
        // A host that is asked for is kept, as where a recording is replayed.
        let bare = find(&overridden(&as_sold.host_to_zero(), set))?;
        Ok(ServedDrive { as_sold, bare })
    }
}

/// What a client, the page and a recording are told of what is served.
pub(super) struct ServedAs {
    pub(super) name: String,
    pub(super) title: String,
    /// Of a profile.
    pub(super) hash: Option<String>,
    pub(super) rotational: bool,
}

impl ServedAs {
    pub(super) fn drive(profile: &Profile) -> ServedAs {
        ServedAs {
            name: profile.name.clone(),
            title: profile.title.clone(),
            hash: Some(profile.hash()),
            rotational: matches!(profile.model, Model::Hdd(_)),
        }
    }

    pub(super) fn several(profile: &ArrayProfile) -> ServedAs {
        ServedAs {
            name: profile.name.clone(),
            title: profile.title.clone(),
            hash: Some(profile.hash()),
            rotational: !profile.is_flash(),
        }
    }
}

/// The SSD of a bare model, in a state if one is named, which is one of the drive as sold.
pub(super) fn ssd(
    model: &SsdConfig,
    as_sold: &Profile,
    in_state: Option<&Path>,
) -> Result<Ssd, Failure> {
    let usage = |error: &dyn std::fmt::Display| Failure::Usage(error.to_string());
    let Some(path) = in_state else { return Ssd::new(model).map_err(|error| usage(&error)) };
    let loaded = state::load_as(path, as_sold, model).map_err(|error| usage(&error))?;
    Ok(loaded.ssd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_in_front_of_a_served_drive_only_if_it_is_asked_for() {
        for name in ["crucial-m4-64gb", "raid0:2xcrucial-m4-64gb"] {
            let hosts = |set: &[&str]| -> Vec<f64> {
                let set: Vec<String> = set.iter().map(|set| set.to_string()).collect();
                let profiles = match ServedTarget::find(name, &set) {
                    Ok(ServedTarget::Drive(drive)) => vec![*drive.bare],
                    Ok(ServedTarget::Several(array)) => array.members,
                    _ => panic!("{name}"),
                };
                let host = |profile: &Profile| match &profile.model {
                    Model::Ssd(ssd) => ssd.host.command_us,
                    Model::Hdd(hdd) => hdd.host.command_us,
                };
                profiles.iter().map(host).collect()
            };
            assert!(hosts(&[]).iter().all(|&us| us == 0.0), "{name}");
            assert!(hosts(&["host.command_us=7"]).iter().all(|&us| us == 7.0), "{name}");
        }
    }
}
