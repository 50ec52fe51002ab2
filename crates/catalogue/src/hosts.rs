//! Hosts, with a controller or without: what a virtual drive can be put behind, with `--host`.

use std::collections::BTreeMap;
use std::path::Path;

use fourcorners_drive::config::{HostControllerConfig, PortTrim};
use include_dir::File;
use toml::{Table, Value};

use super::error::{CatalogueError, form, nearest_of};
use super::files::{DRIVES, name_of, read};
use super::parse::{Head, config_of, table_of, values_of};
use super::profile::ProfileValue;

/// A host controller as data, read and checked.
#[derive(Clone, PartialEq, Debug)]
pub struct HostController {
    /// The name it goes by on the command line.
    pub name: String,
    /// The name a reader knows it by.
    pub title: String,
    /// The parameters.
    pub model: HostControllerConfig,
    /// Every value with its section and key, for printing.
    pub values: Vec<ProfileValue>,
    sources: BTreeMap<String, String>,
    table: Table,
}

fn files() -> impl Iterator<Item = &'static File<'static>> {
    DRIVES.get_dir("hosts").into_iter().flat_map(|folder| folder.files())
}

/// Names of the built-in host controllers, in alphabetical order.
pub fn host_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = files().filter_map(name_of).collect();
    names.sort_unstable();
    names
}

/// The host controller called `name`: a built-in one, or a file if the name ends in `.toml`.
///
/// # Errors
/// When there is none (with the nearest name), or it is no host controller.
pub fn host(name: &str) -> Result<HostController, CatalogueError> {
    if name.ends_with(".toml") {
        return HostController::parse(&read(Path::new(name))?, name);
    }
    let file = files().find(|file| name_of(file) == Some(name));
    match file.and_then(File::contents_utf8) {
        Some(text) => HostController::parse(text, name),
        None => Err(CatalogueError::UnknownHost {
            name: name.into(),
            nearest: nearest_of(host_names(), name),
        }),
    }
}

impl HostController {
    fn parse(text: &str, place: &str) -> Result<HostController, CatalogueError> {
        let Head { name, title, kind, sources, table } = Head::of(table_of(text, place)?, place)?;
        if kind != "host" {
            let message = format!("kind = \"{kind}\" must be \"host\"; is it a drive?");
            return Err(form(place, message));
        }
        let values = values_of(&table, &sources, place)?;
        let model: HostControllerConfig = config_of(table.clone(), place)?;
        model.check().map_err(|cause| CatalogueError::Value { place: place.into(), cause })?;
        Ok(HostController { name, title, model, values, sources, table })
    }

    /// Puts a drive behind it: the host's cost takes the place of the drive's own, its upstream
    /// link comes in front, and the drive's link and queue become no more than the ports have.
    ///
    /// What is wrong with the drive's table otherwise is for its own parsing to say.
    pub(super) fn put_before(&self, drive: &mut Table, place: &str) -> Result<(), CatalogueError> {
        let pcie = drive.get("link").is_some_and(|link| link.get("lanes").is_some());
        if pcie && (self.model.ports.is_some() || self.model.upstream.is_some()) {
            let message = format!(
                "the drive has a PCIe link and takes no SATA host controller: name a host without ports, \
                 or leave --host {} out",
                self.name
            );
            return Err(form(place, message));
        }
        for section in ["host", "upstream"] {
            // Of an upstream link of the drive's own nothing is left, either.
            drive.remove(section);
            if let Some(content) = self.table.get(section) {
                drive.insert(section.into(), self.cited(content));
            }
        }
        let limits = [
            ("link", "gbps", "max_gbps"),
            ("capacity", "queue_depth", "queue_depth"),
            ("ncq", "depth", "queue_depth"),
        ];
        for (section, key, port) in limits {
            let limit = self.table.get("ports").and_then(|ports| ports.get(port));
            let entry = drive.get_mut(section).and_then(|section| section.get_mut(key));
            if let (Some(limit), Some(entry)) = (limit, entry)
                && number(limit) < number(entry)
            {
                *entry = self.cited(limit);
            }
        }
        if let Some(trim) = self.table.get("ports").and_then(|ports| ports.get("trim"))
            && let Some(Value::Table(section)) = drive.get_mut("trim")
        {
            // A drive that takes none keeps refusing it.
            let takes = section.get("supported").and_then(|it| it.get("value")?.as_bool());
            match self.model.trim() {
                PortTrim::Dropped if takes == Some(true) => {
                    section.insert("mode".into(), self.worth(trim, "ignored".into()));
                }
                PortTrim::Refused => {
                    section.insert("supported".into(), self.worth(trim, false.into()));
                }
                _ => {}
            }
        }
        if let Some(Value::Table(sources)) = drive.get_mut("sources") {
            for (key, citation) in &self.sources {
                sources.insert(self.source_key(key), Value::String(citation.clone()));
            }
        }
        Ok(())
    }

    /// The key of one of its sources among those of a drive.
    fn source_key(&self, key: &str) -> String {
        format!("{}/{key}", self.name)
    }

    /// What an entry of its own makes of one of the drive's, as sure as it is itself.
    fn worth(&self, entry: &Value, value: Value) -> Value {
        let mut entry = self.cited(entry);
        if let Some(table) = entry.as_table_mut() {
            table.insert("value".into(), value);
        }
        entry
    }

    /// An entry, or a section of them, whose sources are looked up in a drive's.
    fn cited(&self, content: &Value) -> Value {
        let mut content = content.clone();
        let Some(table) = content.as_table_mut() else { return content };
        for (key, entry) in table.iter_mut() {
            match entry {
                Value::String(source) if key == "source" => *source = self.source_key(source),
                Value::Table(_) => *entry = self.cited(entry),
                _ => {}
            }
        }
        content
    }
}

/// The value of an entry, for comparing; what is no number is less than any.
fn number(entry: &Value) -> Option<f64> {
    let value = entry.get("value")?;
    value.as_float().or(value.as_integer().map(|whole| whole as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Model, built_in, built_in_behind, parse};
    use fourcorners_drive::config::{LinkSection, SsdConfig, TrimMode};

    fn ssd(drive: &str, host: &HostController, set: &[String]) -> SsdConfig {
        let profile = built_in_behind(drive, Some(host), set).expect("a drive");
        let Model::Ssd(ssd) = profile.model else { panic!("{drive} is an SSD") };
        *ssd
    }

    #[test]
    fn a_host_without_ports_takes_any_drive_and_one_with_ports_none_on_pcie() {
        let (linux, intel) = (host("linux-kernel").expect("built in"), host("intel-6gbps"));
        let pcie = built_in_behind("samsung-990-pro-1000gb", Some(&linux), &[]).expect("a drive");
        let Model::Ssd(ssd) = &pcie.model else { panic!("an SSD") };
        assert_eq!((ssd.host.command_us, ssd.host.process_us), (9.5, linux.model.host.process_us));
        assert_eq!(pcie.host_trim, None);
        let sata = built_in_behind("crucial-m4-256gb", Some(&linux), &[]).expect("a drive");
        let Model::Ssd(m4) = &sata.model else { panic!("an SSD") };
        assert!(matches!(&m4.link, LinkSection::Sata(link) if link.gbps == 6.0));
        let intel = intel.expect("built in");
        let refused = built_in_behind("samsung-990-pro-1000gb", Some(&intel), &[]);
        let refused = refused.expect_err("PCIe has no SATA port").to_string();
        assert!(refused.contains("--host intel-6gbps"), "{refused}");
    }

    #[test]
    fn every_built_in_host_controller_is_one_under_its_own_name() {
        assert!(host_names().len() >= 3);
        for name in host_names() {
            let host = host(name).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(host.name, name);
            let profile = built_in_behind("seagate-momentus-5400.6", Some(&host), &[]);
            let profile = profile.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(profile.host_controller.as_deref(), Some(name));
        }
    }

    #[test]
    fn a_drive_becomes_no_more_than_its_port_and_says_by_whom() {
        let slow = host("intel-ich10r-3gbps").expect("built in");
        let plain = built_in("crucial-m4-256gb", &[]).expect("built in");
        let behind = built_in_behind("crucial-m4-256gb", Some(&slow), &[]).expect("a drive");
        assert_ne!(plain.hash(), behind.hash());
        let found = |values: &[ProfileValue], key: &str| {
            values.iter().find(|value| value.key == key).expect("it is there").clone()
        };
        let gbps = found(&behind.values, "link.gbps");
        let port = found(&slow.values, "ports.max_gbps");
        let (key, source_key) =
            (gbps.key.clone(), format!("intel-ich10r-3gbps/{}", port.source_key));
        assert_eq!(gbps, ProfileValue { key, source_key, ..port });
        assert_eq!(gbps.value, Value::Float(3.0));
        let m4 = ssd("crucial-m4-256gb", &slow, &[]);
        assert_eq!(m4.host.command_us, slow.model.host.command_us);
        assert_eq!(m4.upstream.map(|upstream| upstream.lanes), Some(4));
        // A 3 Gb/s drive on a 6 Gb/s port stays one.
        let fast = host("intel-6gbps").expect("built in");
        let x25 = ssd("intel-x25-m-g2-160gb", &fast, &[]);
        assert!(matches!(x25.link, LinkSection::Sata(sata) if sata.gbps == 3.0));
    }

    /// The built-in one, with another word on what becomes of a TRIM.
    fn with_trim(word: &str) -> HostController {
        let text = files().find(|file| name_of(file) == Some("intel-6gbps"));
        let text = text.and_then(File::contents_utf8).expect("built in");
        let with = text.replacen(
            "trim = { value = \"passed\"",
            &format!("trim = {{ value = \"{word}\""),
            1,
        );
        assert_eq!(word == "passed", with == text, "it says that it passes TRIM");
        HostController::parse(&with, "mine.toml").unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn a_trim_that_does_not_get_through_is_one_that_the_drive_ignores_or_refuses() {
        let trim = |drive: &str, word: &str| {
            let SsdConfig { trim, .. } = ssd(drive, &with_trim(word), &[]);
            (trim.supported, trim.mode.unwrap_or_default())
        };
        let m4 = "crucial-m4-256gb";
        assert_eq!(trim(m4, "passed"), (true, TrimMode::Blocking));
        assert_eq!(trim(m4, "unknown"), (true, TrimMode::Blocking));
        assert_eq!(trim(m4, "dropped"), (true, TrimMode::Ignored));
        assert!(!trim(m4, "refused").0);
        let without = "intel-x25-m-g1-80gb";
        for word in ["passed", "dropped", "refused", "unknown"] {
            assert!(!trim(without, word).0, "no controller gives {without} a TRIM");
        }
        let disk = built_in_behind("seagate-momentus-5400.6", Some(&with_trim("dropped")), &[]);
        assert_eq!(disk.expect("a disk").host_trim, Some(PortTrim::Dropped));
        let set = ["trim.mode=instant".to_string()];
        let by_hand = ssd(m4, &with_trim("dropped"), &set).trim.mode.expect("it was set");
        assert_eq!(by_hand, TrimMode::Immediate);
    }

    #[test]
    fn a_drive_written_out_behind_its_host_is_the_same_drive() {
        let slow = host("intel-ich10r-3gbps").expect("built in");
        let behind = built_in_behind("crucial-m4-256gb", Some(&slow), &[]).expect("a drive");
        let table = table_of(&behind.to_toml(), "mine.toml").expect("TOML");
        let again = parse(table, "mine.toml", None, &[]).expect("a drive");
        assert_eq!(again, crate::Profile { host_controller: None, host_trim: None, ..behind });
    }

    #[test]
    fn a_host_controller_is_no_drive_of_the_catalogue() {
        let drives = crate::names();
        for name in host_names() {
            assert!(!drives.iter().any(|drive| drive == name), "{name}");
        }
    }

    #[test]
    fn what_is_set_by_hand_comes_last() {
        let host = host("marvell-9128").expect("built in");
        let set = ["upstream.lanes=4".to_string(), "host.command_us=1".to_string()];
        let m4 = ssd("crucial-m4-256gb", &host, &set);
        assert_eq!(m4.upstream.map(|upstream| upstream.lanes), Some(4));
        assert_eq!(m4.host.command_us, 1.0);
    }

    #[test]
    fn an_unknown_host_controller_suggests_the_nearest() {
        let told = |name| host(name).expect_err("there is none").to_string();
        assert_eq!(
            told("marvel-9128"),
            "there is no host controller \"marvel-9128\"; did you mean \"marvell-9128\"? \
             `fourcorners drives --hosts` lists them"
        );
        assert!(!told("zzzz").contains("did you mean"));
        assert!(told("no/such.toml").starts_with("no/such.toml: cannot read"));
    }

    #[test]
    fn what_is_no_host_controller_is_refused() {
        let text = files().find(|file| name_of(file) == Some("marvell-9128"));
        let text = text.and_then(File::contents_utf8).expect("built in");
        let with = |old: &str, new: &str| {
            assert!(text.contains(old), "{old}");
            let error = HostController::parse(&text.replacen(old, new, 1), "mine.toml");
            error.expect_err("it is none").to_string()
        };
        let told = with("kind = \"host\"", "kind = \"ssd\"");
        assert_eq!(told, "mine.toml: kind = \"ssd\" must be \"host\"; is it a drive?");
        let told = with("max_gbps = { value = 6.0", "max_gbps = { value = 7.0");
        assert_eq!(told, "mine.toml: ports.max_gbps = 7 is not possible: it must be 1.5, 3 or 6");
        let told = with("lanes = { value = 1", "lanes = { value = 5");
        assert!(told.contains("upstream.lanes = 5 is not possible"), "{told}");
        let told = with("queue_depth = { value = 32", "queue_depth = { value = 33");
        assert!(told.contains("ports.queue_depth = 33 is not possible"), "{told}");
        assert!(with("[ports]", "[port]").contains("port"));
    }

    #[test]
    fn a_drive_on_pcie_takes_none() {
        let sata = built_in("crucial-m4-256gb", &[]).expect("built in");
        let mut table: Table = sata.to_toml().parse().expect("TOML");
        let mut link = Table::new();
        for (key, value) in [("generation", 3), ("lanes", 4), ("max_payload_bytes", 256)] {
            let mut entry = Table::new();
            entry.insert("value".into(), Value::Integer(value));
            entry.insert("standing".into(), Value::String("set".into()));
            entry.insert("source".into(), Value::String("test".into()));
            link.insert(key.into(), Value::Table(entry));
        }
        table.insert("link".into(), Value::Table(link));
        let host = host("intel-6gbps").expect("built in");
        let told = parse(table.clone(), "nvme.toml", Some(&host), &[]);
        let told = told.expect_err("no SATA").to_string();
        assert!(told.contains("leave --host intel-6gbps out"), "{told}");
        let alone = parse(table, "nvme.toml", None, &[]).expect("a drive on PCIe");
        assert!(alone.values.iter().any(|value| value.key == "link.lanes"));
    }
}
