//! The kernel's sensors of a drive (Documentation/hwmon/sysfs-interface.rst): `nvme` has one for each
//! controller, SATA drives have one where the module `drivetemp` is loaded.

use std::fs;
use std::path::{Path, PathBuf};

/// Temperatures in degrees Celsius.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Sensor {
    pub(super) now_c: Option<f64>,
    /// From here on it warns.
    pub(super) warning_c: Option<f64>,
}

/// The first sensor of a disk, by its directory below `block` of sysfs.
pub(super) fn sensor(disk: &Path) -> Option<Sensor> {
    let device = disk.join("device");
    // A class device has its sensor in its directory, a device of a bus in one called hwmon.
    let mut found: Vec<PathBuf> = [device.clone(), device.join("hwmon")]
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join("temp1_input").exists())
        .collect();
    found.sort();
    let folder = found.first()?;
    let celsius = |name: &str| {
        let text = fs::read_to_string(folder.join(name)).ok()?;
        let milli: f64 = text.trim().parse().ok()?;
        Some(milli / 1000.0)
    };
    let sensor = Sensor { now_c: celsius("temp1_input"), warning_c: celsius("temp1_max") };
    sensor.now_c.is_some().then_some(sensor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sensors_of_both_kinds_of_drive_are_found() {
        for place in ["device/hwmon3", "device/hwmon/hwmon1"] {
            let disk = tempfile::tempdir().expect("a temporary folder");
            assert_eq!(sensor(disk.path()), None);
            let folder = disk.path().join(place);
            fs::create_dir_all(&folder).expect("it can be made");
            fs::write(folder.join("temp1_input"), "41850\n").expect("it can be written");
            let now = Sensor { now_c: Some(41.85), warning_c: None };
            assert_eq!(sensor(disk.path()), Some(now));
            fs::write(folder.join("temp1_max"), "81850\n").expect("it can be written");
            assert_eq!(sensor(disk.path()), Some(Sensor { warning_c: Some(81.85), ..now }));
            fs::write(folder.join("temp1_input"), "none\n").expect("it can be written");
            assert_eq!(sensor(disk.path()), None);
        }
    }
}
