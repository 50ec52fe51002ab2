//! The catalogue of virtual drives and the profiles users bring: from TOML to a checked profile.

mod hosts;

use std::collections::BTreeMap;
use std::path::Path;

use fourcorners_drive::profile::{HddProfile, ProfileError, SsdProfile, Standing};
use include_dir::{Dir, File, include_dir};
use sha2::{Digest, Sha256};
use toml::{Table, Value};

pub use hosts::{HostController, host, host_names};

static DRIVES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../drives");

/// A profile larger than this is no profile.
const MOST_PROFILE_BYTES: u64 = 1 << 20;

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
    /// What was changed with `--set`, as typed.
    pub set: Vec<String>,
    /// Every value with its section and key, for printing.
    pub values: Vec<ProfileValue>,
}

/// What kind of drive the parameters make.
#[derive(Clone, PartialEq, Debug)]
pub enum Model {
    /// A solid-state drive.
    Ssd(Box<SsdProfile>),
    /// A hard disk.
    Hdd(Box<HddProfile>),
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
    /// What a reader needs to judge it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Why there is no such profile.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// No drive of that name.
    #[error(
        "there is no drive \"{name}\" in the catalogue{}; `fourcorners drives` lists them",
        suggestion(nearest)
    )]
    Unknown {
        /// The name as typed.
        name: String,
        /// The most similar one there is, if one is similar.
        nearest: Option<String>,
    },
    /// No host controller of that name.
    #[error(
        "there is no host controller \"{name}\"{}; `fourcorners drives --hosts` lists them",
        suggestion(nearest)
    )]
    UnknownHost {
        /// The name as typed.
        name: String,
        /// The most similar one there is, if one is similar.
        nearest: Option<String>,
    },
    /// The file cannot be read.
    #[error("{place}: cannot read the profile: {cause}")]
    Read {
        /// The file.
        place: String,
        /// Why.
        cause: std::io::Error,
    },
    /// Not TOML, or not a profile.
    #[error("{place}: {message}")]
    Form {
        /// The file or the drive.
        place: String,
        /// What is wrong and where.
        message: String,
    },
    /// A value that makes no drive.
    #[error("{place}: {cause}")]
    Value {
        /// The file or the drive.
        place: String,
        /// Which, and what it must be.
        cause: ProfileError,
    },
    /// A `--set` that changes nothing there is.
    #[error("--set {given}: {message}")]
    Set {
        /// As typed.
        given: String,
        /// What is wrong with it.
        message: String,
    },
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default()
}

/// Names of the built-in drives, in alphabetical order.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = DRIVES.files().filter_map(name_of).collect();
    names.sort_unstable();
    names
}

fn name_of<'a>(file: &File<'a>) -> Option<&'a str> {
    file.path().file_name()?.to_str()?.strip_suffix(".toml")
}

/// The built-in drive called `name`, with `set` (`key=value`) applied.
///
/// # Errors
/// When there is none (with the nearest name), or `set` makes no drive.
pub fn built_in(name: &str, set: &[String]) -> Result<Profile, CatalogueError> {
    built_in_behind(name, None, set)
}

/// The same behind a host controller, if one is given. What is `set` comes last.
///
/// # Errors
/// As [`built_in`], and when the drive takes no host controller.
pub fn built_in_behind(
    name: &str,
    host: Option<&HostController>,
    set: &[String],
) -> Result<Profile, CatalogueError> {
    let file = DRIVES.files().find(|file| name_of(file) == Some(name));
    let Some(text) = file.and_then(|file| file.contents_utf8()) else {
        let nearest = nearest_of(names(), name);
        return Err(CatalogueError::Unknown { name: name.into(), nearest });
    };
    parse(text, name, host, set)
}

/// The profile in a file, with `set` applied.
///
/// # Errors
/// When it cannot be read, is no profile, or makes no drive.
pub fn from_file(path: &Path, set: &[String]) -> Result<Profile, CatalogueError> {
    from_file_behind(path, None, set)
}

/// The same behind a host controller, if one is given. What is `set` comes last.
///
/// # Errors
/// As [`from_file`], and when the drive takes no host controller.
pub fn from_file_behind(
    path: &Path,
    host: Option<&HostController>,
    set: &[String],
) -> Result<Profile, CatalogueError> {
    parse(&read(path)?, &path.display().to_string(), host, set)
}

/// The text of a profile.
fn read(path: &Path) -> Result<String, CatalogueError> {
    let place = path.display().to_string();
    let read = |cause| CatalogueError::Read { place: place.clone(), cause };
    let form = |message: String| CatalogueError::Form { place: place.clone(), message };
    let metadata = std::fs::metadata(path).map_err(read)?;
    // A pipe would be waited for and a device read without end.
    if !metadata.is_file() {
        return Err(form("this is not a file; a profile is one".into()));
    }
    if metadata.len() > MOST_PROFILE_BYTES {
        return Err(form(format!(
            "{} bytes is too long for a profile; is it one?",
            metadata.len()
        )));
    }
    std::fs::read_to_string(path).map_err(|cause| match cause.kind() {
        std::io::ErrorKind::InvalidData => form("this is not text; a profile is TOML".into()),
        _ => read(cause),
    })
}

/// The one of `names` that is most like `name`, if one is like it at all.
fn nearest_of(names: Vec<&str>, name: &str) -> Option<String> {
    let likeness = |known: &&str| strsim::jaro_winkler(name, known);
    let best = names.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(&best) > 0.7).then(|| best.to_string())
}

/// What every profile begins with, and the sections after it.
struct Head {
    name: String,
    title: String,
    kind: String,
    sources: BTreeMap<String, String>,
    table: Table,
}

impl Head {
    /// Takes a profile's text apart, once it is behind its host and what is `set` has been set;
    /// `place` names it in errors.
    fn parse(
        text: &str,
        place: &str,
        host: Option<&HostController>,
        set: &[String],
    ) -> Result<Head, CatalogueError> {
        let form = |message: String| CatalogueError::Form { place: place.into(), message };
        let mut table: Table =
            text.parse().map_err(|error: toml::de::Error| form(located(text, &error)))?;
        if let Some(host) = host {
            host.put_before(&mut table, place)?;
        }
        for given in set {
            apply(&mut table, given)?;
        }
        let mut text_of = |key: &str| match table.remove(key) {
            Some(Value::String(text)) => Ok(text),
            Some(other) => Err(form(format!("{key} = {other} must be a text"))),
            None => {
                Err(form(format!("{key} is missing; a profile begins with name, title and kind")))
            }
        };
        let (name, title, kind) = (text_of("name")?, text_of("title")?, text_of("kind")?);
        for (key, text) in [("name", &name), ("title", &title)] {
            // They head tables, pages and folders.
            if text.trim().is_empty() || text.chars().any(char::is_control) {
                return Err(form(format!("{key} = {text:?} must be printable and not empty")));
            }
        }
        let sources: BTreeMap<String, String> = match table.remove("sources") {
            Some(sources) => sources
                .try_into()
                .map_err(|e: toml::de::Error| form(format!("sources: {}", e.message())))?,
            None => return Err(form("the table [sources] is missing".into())),
        };
        Ok(Head { name, title, kind, sources, table })
    }
}

/// Parses the text of a profile; `place` names it in errors.
fn parse(
    text: &str,
    place: &str,
    host: Option<&HostController>,
    set: &[String],
) -> Result<Profile, CatalogueError> {
    let Head { name, title, kind, sources, table } = Head::parse(text, place, host, set)?;
    let form = |message: String| CatalogueError::Form { place: place.into(), message };
    let values = values_of(&table, &sources, place)?;
    let value = |cause| CatalogueError::Value { place: place.into(), cause };
    let model = match kind.as_str() {
        "ssd" => {
            let profile: SsdProfile = sections(table, place)?;
            profile.check().map_err(value)?;
            Model::Ssd(Box::new(profile))
        }
        "hdd" => {
            let profile: HddProfile = sections(table, place)?;
            profile.check().map_err(value)?;
            Model::Hdd(Box::new(profile))
        }
        other => return Err(form(format!("kind = \"{other}\" must be \"ssd\" or \"hdd\""))),
    };
    let host_controller = host.map(|host| host.name.clone());
    Ok(Profile { name, title, sources, model, host_controller, set: set.to_vec(), values })
}

/// A syntax error on one line, with the line it is on.
fn located(text: &str, error: &toml::de::Error) -> String {
    let message = error.message();
    match error.span().and_then(|span| text.get(..span.start)) {
        Some(before) => format!("line {}: {message}", before.matches('\n').count() + 1),
        None => message.to_string(),
    }
}

fn sections<T: serde::de::DeserializeOwned>(
    table: Table,
    place: &str,
) -> Result<T, CatalogueError> {
    serde_path_to_error::deserialize(Value::Table(table)).map_err(|error| CatalogueError::Form {
        place: place.into(),
        message: match error.path().to_string().as_str() {
            "." => error.inner().message().to_string(),
            path => format!("{path}: {}", error.inner().message()),
        },
    })
}

/// Every value with its standing and the text of its source.
fn values_of(
    table: &Table,
    sources: &BTreeMap<String, String>,
    place: &str,
) -> Result<Vec<ProfileValue>, CatalogueError> {
    let mut values = Vec::new();
    for (section, content) in table {
        let Some(content) = content.as_table() else { continue };
        for (key, entry) in content {
            let key = format!("{section}.{key}");
            let sourced: fourcorners_drive::profile::Sourced<Value> =
                serde_path_to_error::deserialize(entry.clone()).map_err(|error| {
                    let message = format!(
                        "{key}: {}; a value is written {{ value = ..., standing = \"...\", source = \"...\" }}",
                        error.inner().message()
                    );
                    CatalogueError::Form { place: place.into(), message }
                })?;
            let source = match sources.get(&sourced.source) {
                Some(citation) => citation.clone(),
                None if sourced.standing == Standing::Set => sourced.source.clone(),
                None => {
                    let message =
                        format!("{key}: source \"{}\" is not in [sources]", sourced.source);
                    return Err(CatalogueError::Form { place: place.into(), message });
                }
            };
            let (value, standing, note) = (sourced.value, sourced.standing, sourced.note);
            values.push(ProfileValue { key, value, standing, source, note });
        }
    }
    Ok(values)
}

/// Applies one `section.key=value` to a profile's table.
fn apply(table: &mut Table, given: &str) -> Result<(), CatalogueError> {
    let error = |message: String| CatalogueError::Set { given: given.into(), message };
    let (path, text) = given
        .split_once('=')
        .ok_or_else(|| error("write it as section.key=value, for example link.gbps=3".into()))?;
    let path = path.trim();
    let keys: Vec<String> = keys_of(table);
    let entry = path.split_once('.').filter(|(section, _)| *section != "sources");
    let entry = entry.and_then(|(section, key)| table.get_mut(section)?.get_mut(key));
    let Some(entry) = entry else {
        let near = keys
            .iter()
            .max_by(|a, b| strsim::jaro_winkler(path, a).total_cmp(&strsim::jaro_winkler(path, b)));
        let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        return Err(error(format!("this drive has no parameter \"{path}\"{near}")));
    };
    let entry = entry.as_table_mut();
    let entry = entry.ok_or_else(|| error(format!("{path} is not written as a value")))?;
    let old = entry.get("value");
    let text = text.trim();
    let number = |e: &dyn std::fmt::Display| error(format!("\"{text}\" for {path}: {e}"));
    let new = match old {
        Some(Value::Float(_)) => Value::Float(text.parse().map_err(|e| number(&e))?),
        Some(Value::Integer(_)) => Value::Integer(text.parse().map_err(|e| number(&e))?),
        Some(Value::Boolean(_)) => Value::Boolean(text.parse().map_err(|e| number(&e))?),
        _ => Value::String(text.into()),
    };
    entry.insert("value".into(), new);
    entry.insert("standing".into(), Value::String("set".into()));
    entry.insert("source".into(), Value::String("--set on the command line".into()));
    entry.remove("note");
    Ok(())
}

fn keys_of(table: &Table) -> Vec<String> {
    let sections = table.iter().filter(|(name, _)| *name != "sources");
    sections
        .filter_map(|(section, content)| Some((section, content.as_table()?)))
        .flat_map(|(section, content)| content.keys().map(move |key| format!("{section}.{key}")))
        .collect()
}

impl Profile {
    /// Addressable bytes.
    pub fn capacity_bytes(&self) -> u64 {
        match &self.model {
            Model::Ssd(ssd) => ssd.capacity.sectors.value * 512,
            Model::Hdd(hdd) => hdd.capacity.sectors.value * 512,
        }
    }

    /// Memory that the drive takes, bytes: 9 for each 4 KiB of a solid-state drive's flash.
    pub fn memory_bytes(&self) -> u64 {
        match &self.model {
            Model::Ssd(ssd) => ssd.raw_bytes() / 4096 * 9,
            Model::Hdd(_) => 0,
        }
    }

    /// Keys of the values that were fitted to measurements.
    pub fn fitted(&self) -> Vec<String> {
        let fitted = self.values.iter().filter(|value| value.standing == Standing::Fitted);
        fitted.map(|value| value.key.clone()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use fourcorners_drive::profile::LinkSection;

    #[test]
    fn every_built_in_drive_is_a_drive_under_its_own_name() {
        for name in names() {
            let profile = built_in(name, &[]).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(profile.name, name);
            assert!(!profile.values.is_empty());
        }
    }

    #[test]
    fn an_unknown_drive_suggests_the_nearest() {
        let error = built_in("crucial-m4-256", &[]).expect_err("no such drive");
        assert_eq!(
            error.to_string(),
            "there is no drive \"crucial-m4-256\" in the catalogue; did you mean \"crucial-m4-256gb\"?; \
             `fourcorners drives` lists them"
        );
        let error = built_in("zzzz", &[]).expect_err("no such drive");
        assert!(!error.to_string().contains("did you mean"), "{error}");
    }

    fn set(given: &str) -> Result<Profile, CatalogueError> {
        built_in("crucial-m4-256gb", &[given.to_string()])
    }

    #[test]
    fn a_file_that_is_no_profile_is_refused_with_its_line() {
        let error =
            parse("name = \"a\"\ntitle = = 3", "mine.toml", None, &[]).expect_err("not TOML");
        assert!(error.to_string().starts_with("mine.toml: line 2: "), "{error}");
        let error = parse("name = \"a\"\n", "mine.toml", None, &[]).expect_err("no profile");
        assert!(error.to_string().contains("title is missing"), "{error}");
    }

    #[test]
    fn a_value_can_be_set() {
        let profile = set("link.gbps=3").expect("3 Gb/s is a link");
        let Model::Ssd(ssd) = &profile.model else { panic!("the m4 is an SSD") };
        let LinkSection::Sata(sata) = &ssd.link else { panic!("the m4 is SATA") };
        assert_eq!((sata.gbps.value, sata.gbps.standing), (3.0, Standing::Set));
        assert_ne!(profile.hash(), built_in("crucial-m4-256gb", &[]).expect("there").hash());
    }

    #[test]
    fn a_setting_that_makes_no_drive_is_refused_by_key_value_and_range() {
        for (given, told) in [
            ("link.gbps", "write it as section.key=value"),
            ("link.gbps=4", "link.gbps = 4 is not possible: it must be 1.5, 3 or 6"),
            ("link.frame_us=x", "\"x\" for link.frame_us"),
            (
                "capacity.queue_depth=33",
                "capacity.queue_depth = 33 is not possible: it must be 1 to 32",
            ),
            ("link.gbsp=3", "did you mean link.gbps?"),
            ("link.gbps=fast", "\"fast\" for link.gbps"),
            ("nand.dies=0", "nand.dies = 0 is not possible: it must be 1 to 4096"),
            ("nand.dies=-1", "nand.dies"),
            ("nand.dies=99999999999999999999", "nand.dies"),
            ("nand.read_us=-3", "nand.read_us = -3 is not possible: it must be 0 to 1000000"),
            ("nand.read_us=NaN", "nand.read_us = NaN is not possible"),
            ("capacity.sectors=900118192", "capacity.sectors = 900118192 is not possible"),
            ("gc.pacing=sometimes", "gc.pacing"),
            ("sources.model=x", "no parameter \"sources.model\""),
        ] {
            let error = set(given).expect_err(given).to_string();
            assert!(error.contains(told), "{given}: {error}");
            assert!(!error.contains('\n'), "{given}: {error}");
        }
    }
}
