//! `--set section.key=value`: what changes a profile before it is checked.

use std::num::IntErrorKind;

use toml::{Table, Value};

use super::error::CatalogueError;
use super::outline::{Key, Section, Takes, outline};

/// `earlier` and then `later`, without those of the first whose keys the second gives another value.
pub fn overridden(earlier: &[String], later: &[String]) -> Vec<String> {
    let again = |given: &&String| later.iter().any(|set| key_of(set) == key_of(given));
    earlier.iter().filter(|given| !again(given)).chain(later).cloned().collect()
}

/// What stands before the first `=`.
fn key_of(given: &str) -> &str {
    given.split_once('=').map_or(given, |(path, _)| path).trim()
}

/// Applies every `section.key=value` to a profile's table, in their order: of two for one key the later counts. A key that the profile
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
        let option = OPTIONS.iter().find(|(name, _)| *name == path);
        let hint = match (option, nearest(path, table, outline)) {
            (Some((_, option)), _) => format!("; use {option}"),
            (None, Some(near)) => format!("; did you mean {near}?"),
            (None, None) => "; `fourcorners drives NAME --toml` shows those it has".into(),
        };
        return Err(error(format!("this drive has no parameter \"{path}\"{hint}")));
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

/// Names that are options of the command and no values of a drive.
const OPTIONS: [(&str, &str); 2] =
    [("spare", "--spare, the share of a drive that a review leaves untouched"), ("seed", "--seed")];

/// The parameter that a path means, of those the drive has and those it could have: the one of that key, if a section was left out, else
/// the most like one, if it is like it.
fn nearest(path: &str, table: &Table, outline: &[Section]) -> Option<String> {
    let there = table.iter().filter(|(name, _)| *name != "sources");
    let there = there
        .filter_map(|(section, content)| Some((section, content.as_table()?)))
        .flat_map(|(section, keys)| keys.keys().map(move |key| format!("{section}.{key}")));
    let could = outline.iter().flat_map(|section| {
        section.keys.iter().map(move |key| format!("{}.{}", section.name, key.name))
    });
    let known: Vec<String> = there.chain(could).collect();
    let known = || known.iter().map(String::as_str);
    let is_key = |name: &&str| name.split_once('.').is_some_and(|(_, key)| key == path);
    known().find(is_key).or_else(|| fourcorners_words::nearest(path, known())).map(str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in;

    fn refused(set: &[&str]) -> String {
        let set: Vec<String> = set.iter().map(|given| given.to_string()).collect();
        let error = built_in("crucial-m4-256gb", &set).expect_err(&set.join(" "));
        error.to_string()
    }

    #[test]
    fn a_parameter_is_suggested_only_where_one_is_like_what_was_typed() {
        for (given, told) in [
            ("seed=1", "; use --seed"),
            ("spare=7", "; use --spare"),
            ("gbps=3", "; did you mean link.gbps?"),
            ("link.gbs=3", "; did you mean link.gbps?"),
            ("host.command=3", "; did you mean host.command_us?"),
        ] {
            let said = refused(&[given]);
            assert!(said.contains(told), "{given}: {said}");
        }
        let long = format!("{}=1", "gc.idle_ms".repeat(100));
        for given in ["=3", "speed=1", "ftl.over_provisioning=1", &long] {
            let said = refused(&[given]);
            assert!(!said.contains("did you mean"), "{given}: {said}");
            assert!(
                said.ends_with("; `fourcorners drives NAME --toml` shows those it has"),
                "{said}"
            );
        }
    }

    #[test]
    fn of_two_values_for_a_key_the_later_counts() {
        let set = |given: &[&str]| given.iter().map(|it| it.to_string()).collect::<Vec<_>>();
        let value = |given: &[&str]| built_in("crucial-m4-256gb", &set(given)).expect("it can be");
        let last = value(&["link.gbps=6", "nand.read_us=50", "link.gbps = 3"]);
        assert_eq!(last.values, value(&["nand.read_us=50", "link.gbps=3"]).values);
        assert_ne!(last.values, value(&["nand.read_us=50", "link.gbps=6"]).values);
        let (ours, typed) = (set(&["host.command_us=0", "a.b=1"]), set(&["host.command_us=7"]));
        assert_eq!(overridden(&ours, &typed), set(&["a.b=1", "host.command_us=7"]));
        assert_eq!(overridden(&ours, &[]), ours);
    }

    #[test]
    fn a_number_is_told_as_it_was_typed() {
        let said = refused(&["link.gbps=1e300"]);
        assert!(said.contains("link.gbps = 1e300 is not possible"), "{said}");
        let said = refused(&["link.gbps=12.5"]);
        assert!(said.contains("link.gbps = 12.5 is not possible"), "{said}");
    }
}
