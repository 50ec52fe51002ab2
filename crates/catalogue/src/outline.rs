//! The sections and keys of a profile by kind, with the values each key takes, derived from the types.
//!
//! A config's types are read by serde, and serde asks a deserializer for a type's fields before it
//! has any. So a deserializer that only listens learns them: one that is led to a section or a key
//! notes what it is asked for there and stops. Nothing has to be kept in step with the types.

use std::cell::Cell;

use fourcorners_drive::config::{HddConfig, SsdConfig};
use serde::de::value::{BorrowedStrDeserializer, Error};
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};

/// A section of a profile.
pub(super) struct Section {
    pub(super) name: &'static str,
    pub(super) keys: Vec<Key>,
}

/// A key of a section.
pub(super) struct Key {
    pub(super) name: &'static str,
    /// Whether its section must have it.
    pub(super) required: bool,
    pub(super) takes: Takes,
}

/// What values a key takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Takes {
    Number,
    Whole,
    Flag,
    OneOf(&'static [&'static str]),
    Text,
}

impl std::fmt::Display for Takes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Takes::Number => f.write_str("a number"),
            Takes::Whole => f.write_str("a whole number"),
            Takes::Flag => f.write_str("true or false"),
            Takes::OneOf(names) => write!(f, "one of {}", names.join(", ")),
            Takes::Text => f.write_str("a text"),
        }
    }
}

/// The sections of a kind of profile, in the order of its type; none of an unknown kind.
pub(super) fn outline(kind: &str) -> Vec<Section> {
    match kind {
        "ssd" => sections::<SsdConfig>(),
        "hdd" => sections::<HddConfig>(),
        _ => Vec::new(),
    }
}

/// Whether a config has such a key.
pub(super) fn has_key<T: DeserializeOwned>(section: &str, key: &str) -> bool {
    let sections = fields::<T>(&[]).iter().filter(|name| **name == section);
    sections.flat_map(|name| fields::<T>(&[name])).any(|name| *name == key)
}

/// A value that a profile must have and lacks.
pub(super) struct Missing {
    pub(super) section: &'static str,
    /// The key, and what it takes; none of a section that has several forms.
    pub(super) key: Option<(&'static str, Takes)>,
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.key {
            Some((key, takes)) => write!(f, "{}.{key} ({takes})", self.section),
            None => write!(f, "[{}]", self.section),
        }
    }
}

/// All values that a profile must have and that a table lacks.
pub(super) fn missing<T: DeserializeOwned>(table: &toml::Table) -> Vec<Missing> {
    let mut missing = Vec::new();
    for section in sections::<T>() {
        let name = section.name;
        let there = table.get(name).and_then(toml::Value::as_table);
        if there.is_none() && listen::<T>(&[name]).optional {
            continue;
        }
        let lacks = |key: &&Key| key.required && there.is_none_or(|it| !it.contains_key(key.name));
        let before = missing.len();
        let lacking = section.keys.iter().filter(lacks);
        missing
            .extend(lacking.map(|key| Missing { section: name, key: Some((key.name, key.takes)) }));
        if there.is_none() && missing.len() == before {
            missing.push(Missing { section: name, key: None });
        }
    }
    missing
}

fn sections<T: DeserializeOwned>() -> Vec<Section> {
    let section = |&name: &&'static str| Section { name, keys: keys::<T>(name) };
    fields::<T>(&[]).iter().map(section).collect()
}

fn keys<T: DeserializeOwned>(section: &'static str) -> Vec<Key> {
    let key = |&name: &&'static str| {
        let heard = listen::<T>(&[section, name]);
        let takes = match heard.asked {
            Some(Asked::For(takes)) => takes,
            Some(Asked::Fields(_)) | None => return None,
        };
        Some(Key { name, required: !heard.optional, takes })
    };
    fields::<T>(&[section]).iter().filter_map(key).collect()
}

fn fields<T: DeserializeOwned>(path: &[&'static str]) -> &'static [&'static str] {
    match listen::<T>(path).asked {
        Some(Asked::Fields(names)) => names,
        Some(Asked::For(_)) | None => &[],
    }
}

/// What a type asks for at a place in it.
#[derive(Clone, Copy)]
enum Asked {
    Fields(&'static [&'static str]),
    For(Takes),
}

#[derive(Clone, Copy, Default)]
struct Heard {
    asked: Option<Asked>,
    /// Whether the place may be left empty.
    optional: bool,
}

fn listen<T: DeserializeOwned>(path: &[&'static str]) -> Heard {
    let heard = Cell::new(Heard::default());
    // It always ends in an error: nothing is ever answered.
    let _ = T::deserialize(Listener { path, heard: &heard });
    heard.get()
}

/// Leads to the end of its path and notes what is asked for there.
#[derive(Clone, Copy)]
struct Listener<'a> {
    path: &'a [&'static str],
    heard: &'a Cell<Heard>,
}

impl Listener<'_> {
    fn note<T>(self, asked: Asked) -> Result<T, Error> {
        if self.path.is_empty() {
            self.heard.set(Heard { asked: Some(asked), ..self.heard.get() });
        }
        Err(Error::custom("heard"))
    }
}

/// A deserializer's method for a value of which only the kind matters.
macro_rules! value {
    ($($method:ident: $takes:expr;)*) => {
        $(fn $method<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
            self.note(Asked::For($takes))
        })*
    };
}

/// A method for what no profile has.
macro_rules! absent {
    ($($method:ident($($argument:ty),*);)*) => {
        $(fn $method<V: Visitor<'de>>(self, $(_: $argument,)* _: V) -> Result<V::Value, Error> {
            Err(Error::custom("no value of a profile is one"))
        })*
    };
}

impl<'de> Deserializer<'de> for Listener<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.path {
            [] => self.note(Asked::Fields(fields)),
            [name, path @ ..] => visitor.visit_map(Entry { name, value: Self { path, ..self } }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.path.is_empty() {
            self.heard.set(Heard { optional: true, ..self.heard.get() });
        }
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        self.note(Asked::For(Takes::OneOf(variants)))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    value! {
        deserialize_bool: Takes::Flag;
        deserialize_i8: Takes::Whole;
        deserialize_i16: Takes::Whole;
        deserialize_i32: Takes::Whole;
        deserialize_i64: Takes::Whole;
        deserialize_u8: Takes::Whole;
        deserialize_u16: Takes::Whole;
        deserialize_u32: Takes::Whole;
        deserialize_u64: Takes::Whole;
        deserialize_f32: Takes::Number;
        deserialize_f64: Takes::Number;
        deserialize_char: Takes::Text;
        deserialize_str: Takes::Text;
        deserialize_string: Takes::Text;
    }

    absent! {
        deserialize_any();
        deserialize_bytes();
        deserialize_byte_buf();
        deserialize_unit();
        deserialize_unit_struct(&'static str);
        deserialize_seq();
        deserialize_tuple(usize);
        deserialize_tuple_struct(&'static str, usize);
        deserialize_map();
        deserialize_identifier();
        deserialize_ignored_any();
    }
}

/// A map of the one entry on the way.
struct Entry<'a> {
    name: &'static str,
    value: Listener<'a>,
}

impl<'de> MapAccess<'de> for Entry<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        seed.deserialize(BorrowedStrDeserializer::new(self.name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{built_in, names};

    fn key(kind: &str, section: &str, key: &str) -> Option<(bool, Takes)> {
        let outline = outline(kind);
        let section = outline.iter().find(|it| it.name == section)?;
        section.keys.iter().find(|it| it.name == key).map(|it| (it.required, it.takes))
    }

    #[test]
    fn a_key_is_what_its_type_says() {
        assert_eq!(key("ssd", "gc", "idle_ms"), Some((false, Takes::Number)));
        assert_eq!(key("ssd", "gc", "start_free_blocks"), Some((true, Takes::Whole)));
        assert_eq!(key("ssd", "trim", "supported"), Some((true, Takes::Flag)));
        let modes = Takes::OneOf(&["instant", "queued", "blocking", "ignored"]);
        assert_eq!(key("ssd", "trim", "mode"), Some((false, modes)));
        // The link is of one of two kinds, and either may be the one.
        assert_eq!(key("ssd", "link", "lanes"), Some((false, Takes::Whole)));
        assert_eq!(key("hdd", "mechanics", "rpm"), Some((true, Takes::Number)));
        assert_eq!(key("hdd", "gc", "idle_ms"), None);
        assert!(outline("host").is_empty());
    }

    #[test]
    fn every_value_of_the_catalogue_is_in_it() {
        for name in names() {
            let profile = built_in(&name, &[]).expect("it is built in");
            for value in &profile.values {
                let (section, its_key) = value.key.split_once('.').expect("section and key");
                let (_, takes) = key(profile.model.kind(), section, its_key)
                    .unwrap_or_else(|| panic!("{name}: {}", value.key));
                let fits = match takes {
                    Takes::Number => value.value.is_float() || value.value.is_integer(),
                    Takes::Whole => value.value.is_integer(),
                    Takes::Flag => value.value.is_bool(),
                    Takes::OneOf(names) => names.iter().any(|it| value.value.as_str() == Some(it)),
                    Takes::Text => value.value.is_str(),
                };
                assert!(fits, "{name}: {} = {} is not {takes}", value.key, value.value);
            }
        }
    }
}
