//! `--set section.key=value`: what changes a profile before it is checked.

use std::num::IntErrorKind;

use toml::{Table, Value};

use super::error::CatalogueError;
use super::outline::{Key, Section, Takes, outline};

/// Applies every `section.key=value` to a profile's table, in their order. A key that the profile
/// leaves out is put in, and a section that it does not have is begun.
pub(super) fn apply(table: &mut Table, set: &[String]) -> Result<(), CatalogueError> {
    if set.is_empty() {
        return Ok(());
    }
    let outline = outline(table.get("kind").and_then(Value::as_str).unwrap_or_default());
    let mut begun = Vec::new();
    for given in set {
        begun.extend(apply_one(table, given, &outline)?.map(|section| (section, given)));
    }
    // Several settings may fill a section together, so what it lacks is known after the last.
    for (section, given) in begun {
        complete(table, section, given)?;
    }
    Ok(())
}

/// Applies one. The section that was begun for it, if one was.
fn apply_one<'a>(
    table: &mut Table,
    given: &str,
    outline: &'a [Section],
) -> Result<Option<&'a Section>, CatalogueError> {
    let error = |message: String| CatalogueError::Set { given: given.into(), message };
    let (path, text) = given
        .split_once('=')
        .ok_or_else(|| error("write it as section.key=value, for example link.gbps=3".into()))?;
    let (path, text) = (path.trim(), text.trim());
    let parted = path.split_once('.').filter(|(section, _)| *section != "sources");
    let there = parted.and_then(|(section, key)| table.get(section)?.get(key));
    let known = parted.and_then(|(section, key)| {
        let section = outline.iter().find(|known| known.name == section)?;
        Some((section, section.keys.iter().find(|known| known.name == key)?))
    });
    let (Some((section, key)), true) = (parted, there.is_some() || known.is_some()) else {
        let near = nearest(path, table, outline);
        let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        return Err(error(format!("this drive has no parameter \"{path}\"{near}")));
    };
    let takes = known.map_or(Takes::Text, |(_, key)| key.takes);
    let takes = match there.map(Value::as_table) {
        Some(Some(entry)) => like(entry.get("value")).unwrap_or(takes),
        Some(None) => return Err(error(format!("{path} is not written as a value"))),
        None => takes,
    };
    let value = taken(takes, text).map_err(|why| error(format!("\"{text}\" for {path}: {why}")))?;
    let begun = known.map(|(section, _)| section).filter(|_| !table.contains_key(section));
    let content = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
    let content = content.as_table_mut();
    let content = content.ok_or_else(|| error(format!("{section} is not written as a section")))?;
    content.insert(key.into(), sourced(value));
    Ok(begun)
}

/// What the number or flag that is there takes: a file may have a whole number where any is taken,
/// and another would be another profile by its hash.
fn like(old: Option<&Value>) -> Option<Takes> {
    match old? {
        Value::Float(_) => Some(Takes::Number),
        Value::Integer(_) => Some(Takes::Whole),
        Value::Boolean(_) => Some(Takes::Flag),
        _ => None,
    }
}

/// A value as its key takes it.
fn taken(takes: Takes, text: &str) -> Result<Value, String> {
    let value = match takes {
        Takes::Number => text.parse().ok().map(Value::Float),
        Takes::Whole => match text.parse() {
            Ok(whole) => Some(Value::Integer(whole)),
            Err(error) => match error.kind() {
                IntErrorKind::PosOverflow => {
                    return Err(format!("it is too large; {} is the largest", i64::MAX));
                }
                IntErrorKind::NegOverflow => {
                    return Err(format!("it is too small; {} is the smallest", i64::MIN));
                }
                _ => None,
            },
        },
        Takes::Flag => text.parse().ok().map(Value::Boolean),
        Takes::OneOf(names) => names.contains(&text).then(|| Value::String(text.into())),
        Takes::Text => Some(Value::String(text.into())),
    };
    value.ok_or_else(|| format!("it must be {takes}"))
}

fn sourced(value: Value) -> Value {
    let mut entry = Table::new();
    entry.insert("value".into(), value);
    entry.insert("standing".into(), Value::String("set".into()));
    entry.insert("source".into(), Value::String("--set on the command line".into()));
    Value::Table(entry)
}

/// Whether a section that was begun for `given` has all it must have.
fn complete(table: &Table, section: &Section, given: &str) -> Result<(), CatalogueError> {
    let name = section.name;
    let there = |key: &&Key| table.get(name).and_then(|section| section.get(key.name)).is_some();
    let missing = section.keys.iter().filter(|key| key.required && !there(key));
    let missing: Vec<String> =
        missing.map(|key| format!("{name}.{} ({})", key.name, key.takes)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let missing = missing.join(", ");
    let message =
        format!("this drive has no section {name}; to give it one, set {missing} as well");
    Err(CatalogueError::Set { given: given.into(), message })
}

/// The parameter that is most like a path, of those the drive has and those it could have.
fn nearest(path: &str, table: &Table, outline: &[Section]) -> Option<String> {
    let there = table.iter().filter(|(name, _)| *name != "sources");
    let there = there
        .filter_map(|(section, content)| Some((section, content.as_table()?)))
        .flat_map(|(section, content)| content.keys().map(move |key| format!("{section}.{key}")));
    let could = outline.iter().flat_map(|section| {
        section.keys.iter().map(move |key| format!("{}.{}", section.name, key.name))
    });
    there
        .chain(could)
        .max_by(|a, b| strsim::jaro_winkler(path, a).total_cmp(&strsim::jaro_winkler(path, b)))
}
