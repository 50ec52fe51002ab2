//! Strict reading of TOML: what is wrong has its line, and a key that nobody asked for is refused with
//! the nearest of those that somebody did ask for.

use std::fmt::Display;
use std::ops::RangeInclusive;

use fourcorners_words::{LONGEST_NAME, nearest};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What is wrong in a line of a file, and what to do.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{place}, line {line}: {what}")]
pub(crate) struct LineError {
    /// The file.
    pub(crate) place: String,
    /// The line, from 1.
    pub(crate) line: usize,
    /// What is wrong.
    pub(crate) what: String,
}

/// The text that is read, and what it is called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'t> {
    pub(crate) place: &'t str,
    pub(crate) text: &'t str,
}

impl<'t> Text<'t> {
    /// The line of a byte, from 1.
    pub(crate) fn line(self, at: usize) -> usize {
        let before = self.text.as_bytes().iter().take(at);
        before.filter(|&&byte| byte == b'\n').count() + 1
    }

    /// What is wrong in a line.
    pub(crate) fn error(self, line: usize, what: impl Display) -> LineError {
        LineError { place: self.place.into(), line, what: what.to_string() }
    }

    /// All of it, as a section.
    pub(crate) fn parse(self, what: &'static str) -> Result<Section<'t>, LineError> {
        let (table, errors) = DeTable::parse_recoverable(self.text);
        // The first: those after it may only come of it.
        let at = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
        if let Some(first) = errors.iter().min_by_key(|error| at(error)) {
            // A message of several lines says the same again in others.
            let what = first.message().lines().next().unwrap_or_default();
            return Err(self.error(self.line(at(first)), what));
        }
        Ok(self.section(what, 0, table.into_inner()))
    }

    fn section(self, what: &'static str, at: usize, table: DeTable<'t>) -> Section<'t> {
        let entry = |(key, value): (Spanned<std::borrow::Cow<'t, str>>, _)| Entry {
            at: key.span().start,
            key: key.into_inner().into_owned(),
            value,
        };
        let entries = table.into_iter().map(entry).collect();
        Section { text: self, what, line: self.line(at), entries, asked: Vec::new() }
    }
}

/// A value with the line it is in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) line: usize,
}

#[derive(Debug)]
struct Entry<'t> {
    key: String,
    at: usize,
    value: Spanned<DeValue<'t>>,
}

/// What a value must be: the end of the sentence that refuses it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Expected(String);

impl<T: Into<String>> From<T> for Expected {
    fn from(text: T) -> Expected {
        Expected(text.into())
    }
}

/// A table of which every key has to be asked for.
#[derive(Debug)]
pub(crate) struct Section<'t> {
    text: Text<'t>,
    what: &'static str,
    /// Where it begins.
    pub(crate) line: usize,
    entries: Vec<Entry<'t>>,
    asked: Vec<&'static str>,
}

/// A value of a key, of any kind.
type Found<'t> = At<Spanned<DeValue<'t>>>;

impl<'t> Section<'t> {
    fn take(&mut self, key: &'static str) -> Option<Found<'t>> {
        self.asked.push(key);
        let index = self.entries.iter().position(|entry| entry.key == key)?;
        let Entry { at, value, .. } = self.entries.remove(index);
        Some(At { value, line: self.text.line(at) })
    }

    /// What is wrong where this section begins.
    pub(crate) fn error(&self, what: impl Display) -> LineError {
        self.text.error(self.line, what)
    }

    /// What is wrong in a line of it.
    pub(crate) fn error_at(&self, line: usize, what: impl Display) -> LineError {
        self.text.error(line, what)
    }

    /// Whether a key is there that was not taken yet.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    fn wrong(&self, key: &str, line: usize, value: &DeValue<'_>, wanted: &str) -> LineError {
        self.error_at(line, format!("{key} = {} must be {wanted}", shown(value)))
    }

    /// A text that is not empty and can be printed on a line.
    pub(crate) fn text(&mut self, key: &'static str) -> Result<Option<At<String>>, LineError> {
        let Some(At { value, line }) = self.take(key) else { return Ok(None) };
        let value = value.into_inner();
        match &value {
            DeValue::String(text)
                if !text.trim().is_empty() && !text.chars().any(char::is_control) =>
            {
                Ok(Some(At { value: text.to_string(), line }))
            }
            other => Err(self.wrong(key, line, other, "a text in quotes, on one line")),
        }
    }

    /// A text that has to be there.
    pub(crate) fn needed(
        &mut self,
        key: &'static str,
        such_as: &str,
    ) -> Result<At<String>, LineError> {
        let found = self.text(key)?;
        let what = self.what;
        found.ok_or_else(|| {
            self.error(format!("{key} is missing in {what}, for example {key} = {such_as:?}"))
        })
    }

    /// One of some words.
    pub(crate) fn word<T: Copy>(
        &mut self,
        key: &'static str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, LineError> {
        let Some(At { value, line }) = self.text(key)? else { return Ok(None) };
        let found = words.iter().find(|(word, _)| *word == value);
        found.map(|&(_, meaning)| Some(meaning)).ok_or_else(|| {
            let all: Vec<&str> = words.iter().map(|&(word, _)| word).collect();
            let near = nearest(&value, all.iter().copied());
            let near = near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
            self.error_at(line, format!("{key} = {value:?}: there are {}{near}", all.join(", ")))
        })
    }

    /// Yes or no.
    pub(crate) fn flag(&mut self, key: &'static str) -> Result<Option<bool>, LineError> {
        let Some(At { value, line }) = self.take(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Boolean(flag) => Ok(Some(*flag)),
            other => Err(self.wrong(key, line, other, "true or false")),
        }
    }

    /// A whole number of a range.
    pub(crate) fn whole(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<u64>, LineError> {
        let Some(At { value, line }) = self.take(key) else { return Ok(None) };
        self.whole_of(key, line, value.get_ref(), &range).map(Some)
    }

    fn whole_of(
        &self,
        key: &str,
        line: usize,
        value: &DeValue<'_>,
        range: &RangeInclusive<u64>,
    ) -> Result<u64, LineError> {
        let whole = number(value).filter(|number| number.fract() == 0.0);
        // A whole number beyond 2^53 is beyond all ranges there are.
        let fits =
            whole.filter(|whole| (*range.start() as f64..=*range.end() as f64).contains(whole));
        fits.map(|whole| whole as u64).ok_or_else(|| {
            let wanted = format!("a whole number from {} to {}", range.start(), range.end());
            self.wrong(key, line, value, &wanted)
        })
    }

    /// A number of a range.
    pub(crate) fn number(
        &mut self,
        key: &'static str,
        range: RangeInclusive<f64>,
    ) -> Result<Option<f64>, LineError> {
        let Some(At { value, line }) = self.take(key) else { return Ok(None) };
        let fits = number(value.get_ref()).filter(|number| range.contains(number));
        fits.map(Some).ok_or_else(|| {
            let wanted = format!("a number from {} to {}", range.start(), range.end());
            self.wrong(key, line, value.get_ref(), &wanted)
        })
    }

    /// One value or a list of several, none of them twice. `of` makes of each what is wanted, or says
    /// what it must be.
    pub(crate) fn some<T: PartialEq>(
        &mut self,
        key: &'static str,
        of: impl Fn(&DeValue<'_>) -> Result<T, Expected>,
    ) -> Result<Option<Vec<T>>, LineError> {
        let Some(At { value, line }) = self.take(key) else { return Ok(None) };
        let each = |value: &DeValue<'_>| {
            of(value).map_err(|expected| self.wrong(key, line, value, &expected.0))
        };
        let DeValue::Array(list) = value.get_ref() else {
            return Ok(Some(vec![each(value.get_ref())?]));
        };
        let mut found = Vec::new();
        for item in list.iter() {
            let next = each(item.get_ref())?;
            if found.contains(&next) {
                let item = shown(item.get_ref());
                return Err(self.error_at(line, format!("{key} has {item} twice: name it once")));
            }
            found.push(next);
        }
        if found.is_empty() {
            return Err(
                self.error_at(line, format!("{key} = [] is empty: give at least one value"))
            );
        }
        Ok(Some(found))
    }

    /// One value, made by `of`.
    pub(crate) fn one<T: PartialEq>(
        &mut self,
        key: &'static str,
        of: impl Fn(&DeValue<'_>) -> Result<T, Expected>,
    ) -> Result<Option<At<T>>, LineError> {
        let Some(At { value, line }) = self.take(key) else { return Ok(None) };
        match of(value.get_ref()) {
            Ok(value) => Ok(Some(At { value, line })),
            Err(expected) => Err(self.wrong(key, line, value.get_ref(), &expected.0)),
        }
    }

    /// The table `[key]`.
    pub(crate) fn table(
        &mut self,
        key: &'static str,
        what: &'static str,
    ) -> Result<Option<Section<'t>>, LineError> {
        let Some(At { value, line }) = self.take(key) else { return Ok(None) };
        match value.into_inner() {
            DeValue::Table(table) => {
                Ok(Some(Section { line, ..self.text.section(what, 0, table) }))
            }
            other => Err(self.wrong(key, line, &other, &format!("a table, headed [{key}]"))),
        }
    }

    /// The tables `[[key]]`.
    pub(crate) fn sections(
        &mut self,
        key: &'static str,
        what: &'static str,
    ) -> Result<Vec<Section<'t>>, LineError> {
        let Some(At { value, line }) = self.take(key) else { return Ok(Vec::new()) };
        let wanted = format!("a list of tables, each headed [[{key}]]");
        let list = match value.into_inner() {
            DeValue::Array(list) => list,
            other => return Err(self.wrong(key, line, &other, &wanted)),
        };
        let mut found = Vec::new();
        for item in list {
            let at = item.span().start;
            match item.into_inner() {
                DeValue::Table(table) => found.push(self.text.section(what, at, table)),
                other => return Err(self.wrong(key, self.text.line(at), &other, &wanted)),
            }
        }
        Ok(found)
    }

    /// Nothing may be left.
    pub(crate) fn finish(self) -> Result<(), LineError> {
        let Some(Entry { key, at, .. }) = self.entries.iter().min_by_key(|entry| entry.at) else {
            return Ok(());
        };
        let what = self.what;
        let near = nearest(key, self.asked.iter().copied());
        let near = match near {
            Some(near) => format!("did you mean {near}?"),
            None => format!("there are: {}", self.asked.join(", ")),
        };
        let line = self.text.line(*at);
        let key: String = key.chars().take(LONGEST_NAME).collect();
        Err(self.error_at(line, format!("{what} has no key {key:?}; {near}")))
    }
}

/// A number, whole or not.
pub(crate) fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Integer(it) => {
            let whole = i64::from_str_radix(it.as_str(), it.radix()).ok()?;
            Some(whole as f64)
        }
        DeValue::Float(it) => it.as_str().parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    }
}

/// A value in an error.
fn shown(value: &DeValue<'_>) -> String {
    const MOST: usize = 60;
    let text = match value {
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(it) => it.to_string(),
        DeValue::Float(it) => it.as_str().to_string(),
        DeValue::Boolean(it) => it.to_string(),
        DeValue::Datetime(it) => it.to_string(),
        DeValue::Array(_) => "[...]".to_string(),
        DeValue::Table(_) => "{...}".to_string(),
    };
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
