//! What the machine draws, where it says so: the energy counters of its processor packages (RAPL, by
//! Documentation/power/powercap/powercap.rst). No drive has a standard way to tell its own power.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The counters of all processor packages.
#[derive(Clone, Debug)]
pub struct Meter {
    packages: Vec<Package>,
}

#[derive(Clone, Debug)]
struct Package {
    counter: PathBuf,
    /// Where it begins again from nothing, microjoules.
    range_uj: u64,
}

/// The counters at one time.
#[derive(Clone, Debug)]
pub struct MeterReading {
    at: Instant,
    packages_uj: Vec<u64>,
}

impl Meter {
    /// That of this machine.
    ///
    /// # Errors
    /// Why there is none.
    pub fn find() -> Result<Meter, String> {
        Meter::in_sysfs(Path::new("/sys"))
    }

    fn in_sysfs(sys: &Path) -> Result<Meter, String> {
        let folder = sys.join("class/powercap");
        let entries = fs::read_dir(&folder).map_err(|_| {
            "this machine has no counter of its processors' energy (no /sys/class/powercap)"
                .to_string()
        })?;
        // `intel-rapl:0` is a package (AMD's, too), `intel-rapl:0:0` a part of it.
        let is_package = |name: &str| {
            name.strip_prefix("intel-rapl:").is_some_and(|rest| rest.parse::<u32>().is_ok())
        };
        let mut packages = Vec::new();
        for entry in entries.flatten() {
            let folder = entry.path();
            let name = entry.file_name().into_string().unwrap_or_default();
            let kind = fs::read_to_string(folder.join("name")).unwrap_or_default();
            if !is_package(&name) || !kind.starts_with("package") {
                continue;
            }
            let range = fs::read_to_string(folder.join("max_energy_range_uj")).ok();
            let range_uj = range.and_then(|range| range.trim().parse().ok()).unwrap_or(u64::MAX);
            packages.push(Package { counter: folder.join("energy_uj"), range_uj });
        }
        packages.sort_by(|a, b| a.counter.cmp(&b.counter));
        if packages.is_empty() {
            return Err("this machine has no energy counter of a processor package (RAPL)".into());
        }
        let meter = Meter { packages };
        // Since Linux 5.10 only root may read it.
        meter.read().map(|_| meter)
    }

    /// The counters now.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read(&self) -> Result<MeterReading, String> {
        let read = |package: &Package| {
            let place = package.counter.display();
            let text = fs::read_to_string(&package.counter);
            let text = text.map_err(|error| format!("cannot read {place}: {error}; root can"))?;
            text.trim().parse().map_err(|_| format!("{place} holds no number"))
        };
        let packages_uj = self.packages.iter().map(read).collect::<Result<_, String>>()?;
        Ok(MeterReading { at: Instant::now(), packages_uj })
    }

    /// Mean power since `before`, watts. A counter that began again from nothing did so once.
    pub fn watts(&self, before: &MeterReading, now: &MeterReading) -> f64 {
        let each = self.packages.iter().zip(&before.packages_uj).zip(&now.packages_uj);
        let used = each.map(|((package, &before), &now)| match now.checked_sub(before) {
            Some(used) => used,
            None => package.range_uj.saturating_sub(before).saturating_add(now),
        });
        let seconds = now.at.duration_since(before.at).as_secs_f64().max(1e-9);
        used.map(|used| used as f64).sum::<f64>() / 1e6 / seconds
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn packages_are_counted_and_what_is_in_them_is_not() {
        let machine = tempfile::tempdir().expect("a temporary folder");
        let write = |zone: &str, name: &str, text: &str| {
            let folder = machine.path().join("class/powercap").join(zone);
            fs::create_dir_all(&folder).expect("it can be made");
            fs::write(folder.join(name), text).expect("it can be written");
        };
        assert!(Meter::in_sysfs(machine.path()).expect_err("none").contains("powercap"));
        write("intel-rapl", "enabled", "1");
        write("intel-rapl:0:0", "name", "core\n");
        write("intel-rapl:0:0", "energy_uj", "999999999");
        assert!(Meter::in_sysfs(machine.path()).expect_err("none").contains("RAPL"));
        for (zone, energy) in [("intel-rapl:0", "5000000\n"), ("intel-rapl:1", "9000000\n")] {
            write(zone, "name", "package-0\n");
            write(zone, "max_energy_range_uj", "10000000\n");
            write(zone, "energy_uj", energy);
        }
        let meter = Meter::in_sysfs(machine.path()).expect("there are two");
        let before = meter.read().expect("they can be read");
        // 3 J of one; the other began again: 1 J to its end and 2 J after it.
        write("intel-rapl:0", "energy_uj", "8000000");
        write("intel-rapl:1", "energy_uj", "2000000");
        let mut now = meter.read().expect("they can be read");
        now.at = before.at + Duration::from_secs(2);
        assert!((meter.watts(&before, &now) - 3.0).abs() < 1e-9);
        write("intel-rapl:1", "energy_uj", "much");
        assert!(Meter::in_sysfs(machine.path()).expect_err("it is none").contains("no number"));
    }
}
