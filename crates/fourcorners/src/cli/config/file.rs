//! The text of a config file: which keys it has, and what is wrong with it, by line.

use std::env;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use fourcorners_lab::campaign::{ChosenMethod, author_name};
use fourcorners_words::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::args::WhichReferences;
use super::{Key, Setting, Settings};

/// A config file has some hundred bytes; what is longer is another file.
const MOST_BYTES: u64 = 64 << 10;

/// Reads a file; `None` if there is none.
pub(super) fn read(path: &Path) -> Result<Option<Settings>, String> {
    let shown = path.display();
    let failed = |why: std::io::Error| format!("{shown}: cannot be read: {why}");
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("{shown}: it is longer than {MOST_BYTES} bytes: it is no config file"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = line_of_bytes(error.as_bytes(), valid);
        format!("{shown}, line {line}: it is not UTF-8")
    })?;
    let folder = path.parent().unwrap_or(Path::new("."));
    settings(&text, folder)
        .map(Some)
        .map_err(|Mistake { line, why }| format!("{shown}, line {line}: {why}"))
}

/// What is wrong with a text, and where.
#[derive(PartialEq, Eq, Debug)]
struct Mistake {
    line: usize,
    why: String,
}

fn line_of_bytes(text: &[u8], at: usize) -> usize {
    1 + text.iter().take(at).filter(|byte| **byte == b'\n').count()
}

/// What a text sets. Paths that are relative are so to `folder`.
fn settings(text: &str, folder: &Path) -> Result<Settings, Mistake> {
    let line = |at: usize| line_of_bytes(text.as_bytes(), at);
    let table = DeTable::parse(text).map_err(|error| Mistake {
        line: line(error.span().map_or(0, |span| span.start)),
        // A message may have lines; an error here is one.
        why: error.message().lines().collect::<Vec<_>>().join(": "),
    })?;
    let mut found = Settings::new();
    for (name, value) in table.get_ref() {
        let at = line(name.span().start);
        let is_section = Key::ALL.iter().any(|key| section(*key) == Some(&**name.get_ref()));
        let Some(within) = value.get_ref().as_table().filter(|_| is_section) else {
            let key = key_of(name.get_ref(), None).map_err(|why| Mistake { line: at, why })?;
            found.insert(key, setting(key, value, at, folder)?);
            continue;
        };
        for (inner, value) in within {
            let at = line(inner.span().start);
            let key = key_of(inner.get_ref(), Some(name.get_ref()));
            let key = key.map_err(|why| Mistake { line: at, why })?;
            found.insert(key, setting(key, value, at, folder)?);
        }
    }
    Ok(found)
}

/// The section that a key is in, if it is in one.
fn section(key: Key) -> Option<&'static str> {
    key.name().split_once('.').map(|(section, _)| section)
}

/// What a name stands for, or the name that was probably meant.
fn key_of(name: &str, section: Option<&str>) -> Result<Key, String> {
    let written = section.map_or(name.to_string(), |section| format!("{section}.{name}"));
    if let Some(key) = Key::ALL.into_iter().find(|key| key.name() == written) {
        return Ok(key);
    }
    let last = |key: &Key| key.name().rsplit('.').next().unwrap_or_default();
    // A key in the wrong place has the right name already.
    let misplaced = Key::ALL.into_iter().find(|key| last(key) == name).map(Key::name);
    let keys = Key::ALL.into_iter().map(Key::name);
    let sections = Key::ALL.into_iter().filter_map(self::section);
    let near = misplaced.or_else(|| nearest(&written, keys.chain(sections)));
    let near = near.map(|near| match Key::ALL.into_iter().any(|key| key.name() == near) {
        true => near.to_string(),
        false => format!("[{near}]"),
    });
    let known = || Key::ALL.map(Key::name).join(", ");
    Err(match near {
        Some(near) => format!("there is no key {written:?}; did you mean {near}?"),
        None => format!("there is no key {written:?}; there are {}", known()),
    })
}

/// A value, checked.
fn setting(
    key: Key,
    value: &Spanned<DeValue<'_>>,
    line: usize,
    folder: &Path,
) -> Result<Setting, Mistake> {
    let wrong = |why: String| Mistake { line, why: format!("{} {why}", key.name()) };
    let kind = |value: &DeValue<'_>| value.type_str().to_string();
    let texts: Vec<String> = match (key, value.get_ref()) {
        (Key::Methods, DeValue::Array(list)) => {
            let texts = list.iter().map(|one| match one.get_ref() {
                DeValue::String(text) => Ok(text.to_string()),
                other => Err(wrong(format!(
                    "has {} of type {} in its list: give names in quotes, for example [\"toms\"]",
                    shown(other),
                    kind(other)
                ))),
            });
            texts.collect::<Result<_, _>>()?
        }
        (Key::Methods, other) => {
            let why = format!(
                "is {} of type {}: give a list, for example [\"four-corners\", \"toms\"]",
                shown(other),
                kind(other)
            );
            return Err(wrong(why));
        }
        (_, DeValue::String(text)) => vec![text.to_string()],
        (_, other) => {
            let why = format!("is {} of type {}: give text in quotes", shown(other), kind(other));
            return Err(wrong(why));
        }
    };
    if texts.is_empty() || texts.iter().any(|text| text.trim().is_empty()) {
        return Err(wrong("is empty: give a value, or leave the key out".into()));
    }
    let texts = match key {
        Key::Database | Key::Results => resolved(&texts[0], folder).map(|path| vec![path]),
        Key::Python if texts[0].contains('/') => resolved(&texts[0], folder).map(|path| vec![path]),
        Key::Python => Ok(texts),
        Key::Author => author_name(&texts[0])
            .map(|name| vec![name])
            .map_err(|why| format!("is no name: {why}")),
        Key::Methods => texts.iter().map(|text| method(text, folder)).collect(),
        Key::References => references(&texts[0]).map(|()| texts),
    };
    Ok(Setting { texts: texts.map_err(wrong)?, line })
}

/// A value of a wrong type, as short as it can be said.
fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(_) => "a list".into(),
        DeValue::Table(_) => "a section".into(),
    }
}

/// The path that is meant: `~` is the home folder, and what is relative is beside the config file, whatever folder a command is
/// run in.
fn resolved(text: &str, folder: &Path) -> Result<String, String> {
    let path = match text.strip_prefix("~/") {
        Some(rest) => match env::var_os("HOME") {
            Some(home) => PathBuf::from(home).join(rest),
            None => return Err(format!("is {text:?}, and there is no home folder (HOME)")),
        },
        None => folder.join(text),
    };
    let text = path.to_str().map(ToString::to_string);
    text.ok_or_else(|| format!("is {}, which is not UTF-8", path.display()))
}

/// A method by its name, or a plan file, which is only read by the review that uses it.
fn method(text: &str, folder: &Path) -> Result<String, String> {
    let name = text.trim();
    if name.contains('/') || name.ends_with(".toml") {
        return resolved(name, folder);
    }
    match ChosenMethod::named(&[name.to_string()]) {
        Ok(_) => Ok(name.to_string()),
        Err(error) => Err(format!("has a name that is none: {error}")),
    }
}

fn references(text: &str) -> Result<(), String> {
    WhichReferences::from_str(text, false).map(drop).map_err(|_| {
        let names =
            WhichReferences::value_variants().iter().filter_map(|it| it.to_possible_value());
        let names: Vec<String> = names.map(|it| it.get_name().to_string()).collect();
        format!("is {text:?}: give {}", names.join(" or "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Settings, Mistake> {
        settings(text, Path::new("/etc/lab"))
    }

    #[test]
    fn what_is_right_is_taken_with_its_line() {
        let text = "# mine\ndatabase = \"lab.db\"\n\n[review]\nmethods = [\"toms\", \"./mine.toml\"]\n\
                    references = \"mine\"\n";
        let found = of(text).expect("it is right");
        let has = |key: Key, texts: &[&str], line| {
            let texts = texts.iter().map(ToString::to_string).collect();
            assert_eq!(found.get(&key), Some(&Setting { texts, line }), "{}", key.name());
        };
        has(Key::Database, &["/etc/lab/lab.db"], 2);
        has(Key::Methods, &["toms", "/etc/lab/./mine.toml"], 5);
        has(Key::References, &["mine"], 6);
        assert_eq!(found.len(), 3);
        assert_eq!(of("").expect("nothing is set"), Settings::new());
        // A key with a dot is one of a section.
        assert_eq!(of("review.references = \"none\"").expect("it is right").len(), 1);
    }

    #[test]
    fn what_sets_nothing_is_said_with_its_line_and_what_to_give() {
        for (text, line, why) in [
            ("\ndatabse = \"x\"", 2, "did you mean database?"),
            ("[reviews]\nmethods = []", 1, "did you mean [review]?"),
            ("[review]\nmethod = [\"toms\"]", 2, "did you mean review.methods?"),
            ("methods = [\"toms\"]", 1, "did you mean review.methods?"),
            ("[review]\ndatabase = \"x\"", 2, "did you mean database?"),
            ("zzzzzzzzzzzzzzzz = 1", 1, "there are database, results, python"),
            ("database = 7", 1, "database is 7 of type integer: give text in quotes"),
            ("database = [\"x\"]", 1, "a list of type array"),
            ("database = \"\"", 1, "empty"),
            ("[database]\nx = 1", 1, "a section of type table"),
            ("review = 1", 1, "did you mean [review]?"),
            ("[review]\nmethods = \"toms\"", 2, "give a list"),
            ("[review]\nmethods = []", 2, "empty"),
            ("[review]\nmethods = [1]", 2, "1 of type integer"),
            ("[review]\nmethods = [\"tomz\"]", 2, "tomz"),
            ("[review]\nreferences = \"all\"", 2, "give catalogue or mine or none"),
            ("a = 1\na = 2", 2, "duplicate key"),
            ("x\n", 1, ""),
            ("a = \"\n", 1, ""),
        ] {
            let mistake = of(text).expect_err(text);
            assert!(mistake.line == line && mistake.why.contains(why), "{text}: {mistake:?}");
            assert!(!mistake.why.contains('\n'), "{mistake:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_too_odd(text in "[a-z\\[\\]\"=.\n#' 0-9~/\u{fc}{},-]{0,80}") {
            let _ = of(&text);
        }
    }
}
