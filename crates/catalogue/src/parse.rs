//! From a table of TOML to a checked profile.

use std::collections::BTreeMap;

use fourcorners_drive::Hdd;
use fourcorners_drive::config::{HddConfig, PortsSection, SsdConfig};
use toml::{Table, Value};

use super::error::{CatalogueError, form};
use super::hosts::HostController;
use super::outline::{Missing, has_key, missing};
use super::profile::{Model, Profile, ProfileValue};
use super::set::apply;
use super::sourced::{Sourced, Standing, plain};

/// Reads TOML; `place` names it in errors.
pub(super) fn table_of(text: &str, place: &str) -> Result<Table, CatalogueError> {
    text.parse().map_err(|error: toml::de::Error| form(place, located(text, &error)))
}

/// What every profile begins with, and the sections after it.
pub(super) struct Head {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) kind: String,
    pub(super) sources: BTreeMap<String, String>,
    pub(super) table: Table,
}

impl Head {
    /// Takes a profile's table apart; `place` names its file in errors.
    pub(super) fn of(mut table: Table, place: &str) -> Result<Head, CatalogueError> {
        let form = |message: String| form(place, message);
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

/// Makes a profile of the table of one drive, once it is behind its host and what is `set` has
/// been set; `place` names its file in errors.
pub(super) fn parse(
    mut table: Table,
    place: &str,
    host: Option<&HostController>,
    set: &[String],
) -> Result<Profile, CatalogueError> {
    let form = |message: String| form(place, message);
    if let Some(host) = host {
        host.put_before(&mut table, place)?;
    }
    apply(&mut table, set)?;
    let Head { name, title, kind, sources, table } = Head::of(table, place)?;
    let values = values_of(&table, &sources, place)?;
    let value = |cause| CatalogueError::Value { place: place.into(), cause };
    let model = match kind.as_str() {
        "ssd" => {
            let config: SsdConfig = config_of(table, place)?;
            config.check().map_err(value)?;
            Model::Ssd(Box::new(config))
        }
        "hdd" => {
            let config: HddConfig = config_of(table, place)?;
            Hdd::check(&config).map_err(value)?;
            Model::Hdd(Box::new(config))
        }
        other => return Err(form(format!("kind = \"{other}\" must be \"ssd\" or \"hdd\""))),
    };
    let host_controller = host.map(|host| host.name.clone());
    let host_trim = host.and_then(|host| host.model.ports.as_ref()).map(PortsSection::trim);
    let set = set.to_vec();
    Ok(Profile { name, title, sources, model, host_controller, host_trim, set, values })
}

/// A syntax error on one line, with the line it is on.
fn located(text: &str, error: &toml::de::Error) -> String {
    let message = error.message();
    match error.span().and_then(|span| text.get(..span.start)) {
        Some(before) => format!("line {}: {message}", before.matches('\n').count() + 1),
        None => message.to_string(),
    }
}

/// The config that sections whose entries are values with their sources have.
pub(super) fn config_of<T: serde::de::DeserializeOwned>(
    sections: Table,
    place: &str,
) -> Result<T, CatalogueError> {
    let missing = missing::<T>(&sections);
    serde_path_to_error::deserialize(Value::Table(plain(sections))).map_err(|error| {
        let message = error.inner().message();
        // One at a time would be a run for each.
        if message.starts_with("missing field") && missing.len() > 1 {
            return form(place, all_missing(&missing));
        }
        form(
            place,
            match error.path().to_string().as_str() {
                "." => message.to_string(),
                path => format!("{}: {message}", path_in_file::<T>(path)),
            },
        )
    })
}

/// What a profile lacks, and how a value is written.
fn all_missing(missing: &[Missing]) -> String {
    let said: Vec<String> = missing.iter().map(ToString::to_string).collect();
    format!(
        "{} values are missing: {}; write each in its section as key = {{ value = ..., standing = \"assumed\", \
         source = \"model\" }}, with model = \"...\" in [sources], or begin with a drive like it \
         (`fourcorners drives NAME --toml`)",
        missing.len(),
        said.join(", ")
    )
}

/// A path in a config as one in the file it was read from, where each value stands beside its source.
fn path_in_file<T: serde::de::DeserializeOwned>(path: &str) -> String {
    let known = path.split_once('.').and_then(|(section, rest)| {
        let (key, within) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
        has_key::<T>(section, key).then(|| format!("{section}.{key}.value{within}"))
    });
    known.unwrap_or_else(|| path.to_string())
}

/// Every value with its standing and the text of its source.
pub(super) fn values_of(
    table: &Table,
    sources: &BTreeMap<String, String>,
    place: &str,
) -> Result<Vec<ProfileValue>, CatalogueError> {
    let mut values = Vec::new();
    for (section, content) in table {
        let Some(content) = content.as_table() else { continue };
        for (key, entry) in content {
            let key = format!("{section}.{key}");
            let sourced: Sourced =
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
                    let message = format!(
                        "{key}: source \"{0}\" is not in [sources]; say there what it is, {0} = \"...\", or name one of {1}",
                        sourced.source,
                        sources.keys().cloned().collect::<Vec<_>>().join(", ")
                    );
                    return Err(CatalogueError::Form { place: place.into(), message });
                }
            };
            values.push(ProfileValue {
                key,
                value: sourced.value,
                standing: sourced.standing,
                source,
                source_key: sourced.source,
                note: sourced.note,
            });
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in;

    /// What is told of the m4 with another text in place of one of its own.
    fn told(old: &str, new: &str) -> String {
        let text = built_in("crucial-m4-256gb", &[]).expect("built in").to_toml();
        assert!(text.contains(old), "{old}");
        let table = table_of(&text.replacen(old, new, 1), "mine.toml").expect("TOML");
        parse(table, "mine.toml", None, &[]).expect_err(new).to_string()
    }

    #[test]
    fn a_value_of_a_source_that_is_not_listed_is_refused() {
        let told = told("source = \"model\"", "source = \"nowhere\"");
        assert!(told.contains("source \"nowhere\" is not in [sources]"), "{told}");
        assert!(told.contains("nowhere = \"...\"") && told.contains(", model"), "{told}");
    }

    #[test]
    fn all_that_is_missing_is_said_at_once() {
        let read = |text: &str| {
            let table = table_of(text, "mine.toml").expect("TOML");
            parse(table, "mine.toml", None, &[]).map(|_| ()).expect_err(text).to_string()
        };
        let bare = read("name = \"a\"\ntitle = \"A\"\nkind = \"ssd\"\n[sources]\n");
        for part in [
            "host.command_us (a number)",
            "nand.dies (a whole number)",
            "[link]",
            "gc.",
            "standing",
        ] {
            assert!(bare.contains(part), "{part}: {bare}");
        }
        assert!(!bare.contains("slc_buffer") && !bare.contains('\n'), "{bare}");
        // What is there is not asked for; one value alone is named by serde as before.
        let text = built_in("crucial-m4-256gb", &[]).expect("built in").to_toml();
        let without = |keys: &[&str]| {
            let is_one =
                |line: &&str| !keys.iter().any(|key| line.starts_with(&format!("{key} = ")));
            read(&text.lines().filter(is_one).collect::<Vec<_>>().join("\n"))
        };
        let two = without(&["dies", "erase_us"]);
        assert!(two.contains("2 values are missing: nand."), "{two}");
        assert!(without(&["dies"]).contains("missing field `dies`"));
    }

    #[test]
    fn what_is_no_config_is_refused_by_its_place_in_the_file() {
        for (old, new, message) in [
            // A value stands beside its source, and is not what its key takes.
            (
                "dies = { value = 32",
                "dies = { value = \"many\"",
                "nand.dies.value: invalid type: string",
            ),
            (
                "gbps = { value = 6.0",
                "gbps = { value = [1]",
                "link.gbps.value: invalid type: sequence",
            ),
            ("{ value = \"greedy\"", "{ value = \"x\"", "gc.policy.value: unknown variant `x`"),
            (
                "{ value = \"greedy\"",
                "{ value = { greedy = 3 }",
                "gc.policy.value.greedy: expected table",
            ),
            // The key or the section itself is none, is missing, or says nothing of its source.
            (
                "\ndies = ",
                "\ndeis = ",
                "nand.deis: unknown field `deis`, expected one of `channels`",
            ),
            ("\ngbps = ", "\ngbsp = ", "link.gbsp: unknown field `gbsp`"),
            ("[nand]", "[nnad]", "nnad: unknown field `nnad`"),
            ("{ value = 32, standing", "{ standing", "missing field `value`; a value is written {"),
        ] {
            let told = told(old, new);
            assert!(told.starts_with("mine.toml: ") && told.contains(message), "{told}");
        }
    }
}
