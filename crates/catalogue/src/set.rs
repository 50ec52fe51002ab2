//! `--set section.key=value`: what changes a profile before it is checked.

use toml::{Table, Value};

use super::CatalogueError;

/// Applies one `section.key=value` to a profile's table.
pub(super) fn apply(table: &mut Table, given: &str) -> Result<(), CatalogueError> {
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
